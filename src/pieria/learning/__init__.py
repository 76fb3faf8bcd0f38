"""Turn an agent's experience into knowledge.

The functions take what happened and return changesets; they never write. `bank` decides when to call them.
"""

# Type checkers take this name as true. Importing `typing` would be most of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pieria.learning.episode import Episode as Episode
    from pieria.learning.recalled import ReasonedMemory as ReasonedMemory
    from pieria.learning.recalled import RecallResult as RecallResult
    from pieria.learning.recalled import RecallTrace as RecallTrace
    from pieria.learning.recalled import RetrievalResult as RetrievalResult
    from pieria.learning.recalled import TaggedCandidate as TaggedCandidate
    from pieria.learning.recalled import TouchedNode as TouchedNode
    from pieria.learning.steps import EpisodeTrace as EpisodeTrace
    from pieria.learning.steps import Step as Step
    from pieria.learning.steps import StructuringTrace as StructuringTrace
    from pieria.learning.steps import Trajectory as Trajectory

__all__ = [
    "Episode",
    "EpisodeTrace",
    "ReasonedMemory",
    "RecallResult",
    "RecallTrace",
    "RetrievalResult",
    "Step",
    "StructuringTrace",
    "TaggedCandidate",
    "TouchedNode",
    "Trajectory",
]

_HOMES = {
    "Episode": "pieria.learning.episode",
    "EpisodeTrace": "pieria.learning.steps",
    "ReasonedMemory": "pieria.learning.recalled",
    "RecallResult": "pieria.learning.recalled",
    "RecallTrace": "pieria.learning.recalled",
    "RetrievalResult": "pieria.learning.recalled",
    "Step": "pieria.learning.steps",
    "StructuringTrace": "pieria.learning.steps",
    "TaggedCandidate": "pieria.learning.recalled",
    "TouchedNode": "pieria.learning.recalled",
    "Trajectory": "pieria.learning.steps",
}

# Hidden from type checkers, which would otherwise accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'pieria.learning' has no attribute {name!r}")
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
