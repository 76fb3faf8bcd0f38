"""Sessions: the steps of an agent towards a goal, and the knowledge extracted from them while it works.

This package decides what a session may do and when. It reaches models, the graph and the session log only through
protocols, and knows no store and no bank.
"""

# Type checkers treat this name as true. Importing `typing` would take most of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pieria.sessions.log import MemoryLog as MemoryLog
    from pieria.sessions.log import SessionLog as SessionLog
    from pieria.sessions.log import UnfinishedSession as UnfinishedSession
    from pieria.sessions.session import Session as Session
    from pieria.sessions.session import leave as leave
    from pieria.sessions.state import SessionState as SessionState
    from pieria.sessions.surroundings import Crew as Crew
    from pieria.sessions.surroundings import Surroundings as Surroundings

__all__ = ["Crew", "MemoryLog", "Session", "SessionLog", "SessionState", "Surroundings", "UnfinishedSession", "leave"]

_HOMES = {
    "Crew": "pieria.sessions.surroundings",
    "UnfinishedSession": "pieria.sessions.log",
    "MemoryLog": "pieria.sessions.log",
    "Session": "pieria.sessions.session",
    "SessionLog": "pieria.sessions.log",
    "SessionState": "pieria.sessions.state",
    "Surroundings": "pieria.sessions.surroundings",
    "leave": "pieria.sessions.session",
}

# Hidden from type checkers, which would otherwise accept any attribute name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'pieria.sessions' has no attribute {name!r}")
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
