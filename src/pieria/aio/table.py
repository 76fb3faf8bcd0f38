"""What of the synchronous API is mirrored, and how: one row a class.

Every public verb of a class becomes one that is awaited, under its own name and with its own signature; a row says only
what is otherwise. A class that a verb returns gets a row here, and nothing else needs to be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pieria.bank import Bank
from pieria.bank.facts import Facts
from pieria.bank.graph import BankGraph
from pieria.bank.hooks import Hooks
from pieria.bank.jobs import Jobs
from pieria.bank.keeping import Upkeep
from pieria.bank.places import Places
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.sources import Intake, Sources
from pieria.bank.vault import Vault
from pieria.bank.working import Worker
from pieria.workspace import Workspace, copy, open, restore

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
    opens: tuple[str, ...] = ()
    """Verbs whose result is awaited, or entered with `async with`."""
    closes: tuple[str, ...] = ()
    """Verbs that give something back: done to the end whether anybody waits or not, and never behind other calls."""
    iterates: tuple[str, ...] = ()
    """Verbs that are gone through with `async for`."""
    at_once: tuple[str, ...] = ()
    """Verbs that do no more than set something, and are called without `await`."""
    apart: tuple[str, ...] = ()
    """Attributes of the engine's own that are not mirrored."""


MIRRORS = (
    Mirror(
        Workspace,
        is_made_by_users=True,
        values=("data", "clock"),
        opens=("open",),
        closes=("close", "close_repo"),
        apart=("models", "place", "resolved"),
    ),
    Mirror(
        Bank,
        values=("name", "data", "clock", "who", "author", "author_type", "secrets", "is_user_bank"),
        groups={
            "facts": Facts,
            "graph": BankGraph,
            "hooks": Hooks,
            "jobs": Jobs,
            "places": Places,
            "scratchpad": Scratchpad,
            "sources": Sources,
            "upkeep": Upkeep,
            "vault": Vault,
        },
        closes=("close",),
        iterates=("follow",),
        at_once=("expect_questions",),
        apart=("fading", "habits", "meter", "mind", "session_lease", "store", "viewer"),
    ),
    Mirror(Facts),
    Mirror(BankGraph, reads=("graph",), groups={"everything": BankGraph}, apart=("tended",)),
    Mirror(Hooks),
    Mirror(Jobs),
    Mirror(Worker, values=("name", "tally", "problem", "stopping"), closes=("close",), at_once=("stop",)),
    Mirror(Places),
    Mirror(Scratchpad),
    Mirror(Sources),
    Mirror(Intake),
    Mirror(Upkeep),
    Mirror(Vault, values=("is_set",)),
)

OPENING = (open,)
FUNCTIONS = (restore, copy)
"""Of the module."""
