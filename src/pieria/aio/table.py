"""The parts of the synchronous API that are mirrored, and how: one row for each class.

Every public method is awaited under its own name and signature. Its return type says whether it opens something or is
iterated. A row lists only exceptions. For a class that a method returns, add a row here and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pieria.bank import Bank
from pieria.bank.capture.hooks import Hooks
from pieria.bank.capture.sources import Intake, Sources
from pieria.bank.facts.text_analysis import BankText
from pieria.bank.facts.verbs import Facts
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.jobs.queue import Jobs
from pieria.bank.jobs.worker import Worker
from pieria.bank.places import Places
from pieria.bank.rules import BankRules
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.sessions.verbs import BankSessions
from pieria.bank.upkeep.verbs import Upkeep
from pieria.bank.vault.verbs import Vault
from pieria.sessions import Session
from pieria.workspace import Workspace, copy, open, remove_bank, restore
from pieria.workspace.seal import rekey, seal, unseal

NONE: Mapping[str, type] = MappingProxyType({})


class Mirror(NamedTuple):
    original: type
    is_made_by_users: bool = False
    """Whether users call the class; its instances are then awaited or entered first."""
    values: tuple[str, ...] = ()
    """Attributes read directly: reading them never blocks."""
    reads: tuple[str, ...] = ()
    """Attributes that are awaited, since reading them reads the bank."""
    groups: Mapping[str, type] = NONE
    """Attributes with methods of their own to mirror."""
    closes: tuple[str, ...] = ()
    """Methods that release something: always finished, and never queued behind other calls."""
    at_once: tuple[str, ...] = ()
    """Methods that only set a value, called without `await`."""
    apart: tuple[str, ...] = ()
    """Public names for internal use, which are not mirrored."""


MIRRORS = (
    Mirror(
        Workspace,
        is_made_by_users=True,
        values=("data", "clock", "is_door"),
        closes=("close", "close_repo"),
        apart=("models", "place", "resolved"),
    ),
    Mirror(
        Bank,
        values=(
            "name",
            "data",
            "clock",
            "zone",
            "who",
            "author",
            "author_type",
            "via",
            "secrets",
            "is_user_bank",
            "is_foreign",
        ),
        groups={
            "facts": Facts,
            "graph": BankGraph,
            "hooks": Hooks,
            "jobs": Jobs,
            "places": Places,
            "rules": BankRules,
            "scratchpad": Scratchpad,
            "sessions": BankSessions,
            "sources": Sources,
            "text": BankText,
            "upkeep": Upkeep,
            "vault": Vault,
        },
        closes=("close",),
        at_once=("expect_questions",),
        apart=("core", "fading", "habits", "meter", "mind", "viewer"),
    ),
    Mirror(
        Session,
        values=("id", "state", "goal", "steps", "node_ids", "fault", "is_over"),
        apart=("begin", "resume"),
    ),
    Mirror(Facts),
    Mirror(BankGraph, reads=("graph",), groups={"everything": BankGraph}, apart=("tended",)),
    Mirror(Hooks),
    Mirror(Jobs),
    Mirror(Worker, values=("name", "tally", "problem", "stopping"), closes=("close",), at_once=("stop",)),
    Mirror(Places),
    Mirror(BankRules),
    Mirror(Scratchpad),
    Mirror(BankSessions, apart=("log", "opened")),
    Mirror(Sources),
    Mirror(BankText),
    Mirror(Intake),
    Mirror(Upkeep),
    Mirror(Vault, values=("is_set",)),
)

FUNCTIONS: tuple[Callable[..., Any], ...] = (open, restore, copy, remove_bank, seal, unseal, rekey)
"""The mirrored functions of the module."""


def opens(function: Callable[..., Any]) -> bool:
    """Return whether the result is a context manager, to enter with `async with` or to await."""
    kinds = {mirror.original.__name__: mirror.original for mirror in MIRRORS}
    return hasattr(kinds.get(returned(function)), "__enter__")


def iterates(function: Callable[..., Any]) -> bool:
    """Return whether the result is iterated with `async for`."""
    return returned(function).startswith("Iterator[")


def returned(function: Callable[..., Any]) -> str:
    return str(function.__annotations__["return"])
