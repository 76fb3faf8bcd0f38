"""Long-term memory for AI agents: one memory, many voices.

The names that users are promised, each loaded when it is first asked for, so that importing this costs next to
nothing. Nothing is made or decided here.
"""

# Type checkers take this name as true, wherever it comes from; `typing` itself would be most of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pieria import aio as aio
    from pieria import errors as errors
    from pieria.bank import Bank as Bank
    from pieria.bank.results.general import Neighbor as Neighbor
    from pieria.bank.results.general import Page as Page
    from pieria.bank.results.general import Receipt as Receipt
    from pieria.config import Config as Config
    from pieria.config import ExtractionProfile as ExtractionProfile
    from pieria.errors import PieriaError as PieriaError
    from pieria.models.embedding import Embedding as Embedding
    from pieria.models.embedding import EmbeddingResponse as EmbeddingResponse
    from pieria.models.llm import LLM as LLM
    from pieria.models.llm import LLMResponse as LLMResponse
    from pieria.notifier import Event as Event
    from pieria.notifier import NoopNotifier as NoopNotifier
    from pieria.notifier import Notifier as Notifier
    from pieria.notifier import safe_notify as safe_notify
    from pieria.recall.answer import Context as Context
    from pieria.recall.answer import Hit as Hit
    from pieria.recall.answer import Recall as Recall
    from pieria.record.changeset import Change as Change
    from pieria.record.draft import NewMemory as NewMemory
    from pieria.record.fact import Fact as Fact
    from pieria.record.link import Link as Link
    from pieria.record.link import Place as Place
    from pieria.record.memory import Memory as Memory
    from pieria.record.usage import Usage as Usage
    from pieria.record.value import DefaultValueFunction as DefaultValueFunction
    from pieria.record.value import ValueFunction as ValueFunction
    from pieria.sessions import Session as Session
    from pieria.sessions import SessionState as SessionState
    from pieria.workspace import Workspace as Workspace
    from pieria.workspace import copy as copy
    from pieria.workspace import open as open
    from pieria.workspace import remove_bank as remove_bank
    from pieria.workspace import restore as restore
    from pieria.workspace.seal import rekey as rekey
    from pieria.workspace.seal import seal as seal
    from pieria.workspace.seal import unseal as unseal

    __version__: str

__all__ = [
    "LLM",
    "Bank",
    "Change",
    "Config",
    "Context",
    "DefaultValueFunction",
    "Embedding",
    "EmbeddingResponse",
    "Event",
    "ExtractionProfile",
    "Fact",
    "Hit",
    "LLMResponse",
    "Link",
    "Memory",
    "Neighbor",
    "NewMemory",
    "NoopNotifier",
    "Notifier",
    "Page",
    "PieriaError",
    "Place",
    "Recall",
    "Receipt",
    "Session",
    "SessionState",
    "Usage",
    "ValueFunction",
    "Workspace",
    "aio",
    "copy",
    "errors",
    "open",
    "rekey",
    "remove_bank",
    "restore",
    "safe_notify",
    "seal",
    "unseal",
]

_HOMES = {
    "Bank": "pieria.bank",
    "Change": "pieria.record.changeset",
    "Config": "pieria.config",
    "Context": "pieria.recall.answer",
    "DefaultValueFunction": "pieria.record.value",
    "Embedding": "pieria.models.embedding",
    "EmbeddingResponse": "pieria.models.embedding",
    "Event": "pieria.notifier",
    "ExtractionProfile": "pieria.config",
    "Fact": "pieria.record.fact",
    "Hit": "pieria.recall.answer",
    "LLM": "pieria.models.llm",
    "LLMResponse": "pieria.models.llm",
    "Link": "pieria.record.link",
    "Memory": "pieria.record.memory",
    "Neighbor": "pieria.bank.results.general",
    "NewMemory": "pieria.record.draft",
    "NoopNotifier": "pieria.notifier",
    "Notifier": "pieria.notifier",
    "Page": "pieria.bank.results.general",
    "PieriaError": "pieria.errors",
    "Place": "pieria.record.link",
    "Recall": "pieria.recall.answer",
    "Receipt": "pieria.bank.results.general",
    "Session": "pieria.sessions",
    "SessionState": "pieria.sessions",
    "Usage": "pieria.record.usage",
    "ValueFunction": "pieria.record.value",
    "Workspace": "pieria.workspace",
    "copy": "pieria.workspace",
    "open": "pieria.workspace",
    "rekey": "pieria.workspace.seal",
    "remove_bank": "pieria.workspace",
    "restore": "pieria.workspace",
    "safe_notify": "pieria.notifier",
    "seal": "pieria.workspace.seal",
    "unseal": "pieria.workspace.seal",
}


# Hidden from type checkers, which would otherwise take any name for one that is there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            from importlib import import_module

            found = getattr(import_module(_HOMES[name]), name)
        elif name in ("aio", "errors"):
            from importlib import import_module

            found = import_module(f"pieria.{name}")
        elif name == "__version__":
            from importlib.metadata import version

            found = version("pieria")
        else:
            raise AttributeError(f"module 'pieria' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
