"""Sessions: an agent's run towards a goal, step by step, from which knowledge is drawn while it goes on.

What a session may do, and when, is told here, over protocols: what judges, what embeds, what keeps the graph, and what
keeps the session itself. No store and no bank is known here.
"""

# Type checkers take this name as true, wherever it comes from; `typing` itself would be most of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pieria.sessions.log import Kept as Kept
    from pieria.sessions.log import MemoryLog as MemoryLog
    from pieria.sessions.log import SessionLog as SessionLog
    from pieria.sessions.session import Session as Session
    from pieria.sessions.session import leave as leave
    from pieria.sessions.state import SessionState as SessionState
    from pieria.sessions.surroundings import Crew as Crew
    from pieria.sessions.surroundings import Surroundings as Surroundings

__all__ = ["Crew", "Kept", "MemoryLog", "Session", "SessionLog", "SessionState", "Surroundings", "leave"]

_HOMES = {
    "Crew": "pieria.sessions.surroundings",
    "Kept": "pieria.sessions.log",
    "MemoryLog": "pieria.sessions.log",
    "Session": "pieria.sessions.session",
    "SessionLog": "pieria.sessions.log",
    "SessionState": "pieria.sessions.state",
    "Surroundings": "pieria.sessions.surroundings",
    "leave": "pieria.sessions.session",
}

# Hidden from type checkers, which would otherwise take any name for one that is there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'pieria.sessions' has no attribute {name!r}")
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
