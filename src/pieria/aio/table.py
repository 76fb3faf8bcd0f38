"""What of the synchronous API is mirrored, and how: one row a class.

Every public verb of a class becomes one that is awaited, under its own name and with its own signature: what opens
something and what is gone through is told by what it returns. A row says only what is otherwise. A class that a verb
returns gets a row here, and nothing else needs to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pieria.bank import Bank
from pieria.bank.capture.hooks import Hooks
from pieria.bank.capture.sources import Intake, Sources
from pieria.bank.facts.verbs import Facts
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.jobs.queue import Jobs
from pieria.bank.jobs.worker import Worker
from pieria.bank.places import Places
from pieria.bank.rules import BankRules
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.upkeep.verbs import Upkeep
from pieria.bank.vault.verbs import Vault
from pieria.sessions import Session
from pieria.workspace import Workspace, copy, open, remove_bank, restore
from pieria.workspace.seal import rekey, seal, unseal

NONE: Mapping[str, type] = MappingProxyType({})


class Mirror(NamedTuple):
    original: type
    is_made_by_users: bool = False
    """Whether it is made by its name; then it is to be awaited or entered first."""
    values: tuple[str, ...] = ()
    """Attributes that are there as they are: to read one never waits."""
    reads: tuple[str, ...] = ()
    """Attributes that are awaited, since to read one takes a look into the bank."""
    groups: Mapping[str, type] = NONE
    """Attributes whose own verbs are mirrored."""
    closes: tuple[str, ...] = ()
    """Verbs that give something back: done to the end whether anybody waits or not, and never behind other calls."""
    at_once: tuple[str, ...] = ()
    """Verbs that do no more than set something, and are called without `await`."""
    apart: tuple[str, ...] = ()
    """Public names that are the engine's own, and not mirrored."""


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
            "sources": Sources,
            "upkeep": Upkeep,
            "vault": Vault,
        },
        closes=("close",),
        at_once=("expect_questions",),
        apart=("fading", "habits", "meter", "mind", "session_lease", "store", "viewer"),
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
    Mirror(Sources),
    Mirror(Intake),
    Mirror(Upkeep),
    Mirror(Vault, values=("is_set",)),
)

FUNCTIONS: tuple[Callable[..., Any], ...] = (open, restore, copy, remove_bank, seal, unseal, rekey)
"""Of the module."""


def opens(function: Callable[..., Any]) -> bool:
    """Whether it returns what a block closes: that is entered with `async with`, or awaited."""
    kinds = {mirror.original.__name__: mirror.original for mirror in MIRRORS}
    return hasattr(kinds.get(returned(function)), "__enter__")


def iterates(function: Callable[..., Any]) -> bool:
    """Whether what it returns is gone through, with `async for`."""
    return returned(function).startswith("Iterator[")


def returned(function: Callable[..., Any]) -> str:
    return str(function.__annotations__["return"])
