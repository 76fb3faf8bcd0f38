"""From experience to knowledge: what is kept of what agents lived through.

It returns what is to be written and never writes. What was lived is handed in; who asks for it, and when, is decided in
`bank`.
"""

# Type checkers take this name as true, wherever it comes from; `typing` itself would be most of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pieria.learning.episode import Episode as Episode
    from pieria.learning.steps import Step as Step
    from pieria.learning.steps import Trajectory as Trajectory
    from pieria.learning.traces import EpisodeTrace as EpisodeTrace
    from pieria.learning.traces import StructuringTrace as StructuringTrace

__all__ = ["Episode", "EpisodeTrace", "Step", "StructuringTrace", "Trajectory"]

_HOMES = {
    "Episode": "pieria.learning.episode",
    "EpisodeTrace": "pieria.learning.traces",
    "Step": "pieria.learning.steps",
    "StructuringTrace": "pieria.learning.traces",
    "Trajectory": "pieria.learning.steps",
}

# Hidden from type checkers, which would otherwise take any name for one that is there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'pieria.learning' has no attribute {name!r}")
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
