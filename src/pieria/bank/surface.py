"""The public face of a bank as data: its groups of verbs, its plain values, and what is for internal use only.

The mirror for asyncio and the bank behind HTTP are both made from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pieria.bank.capture.hooks import Hooks
from pieria.bank.capture.sources import Sources
from pieria.bank.facts.text_analysis import BankText
from pieria.bank.facts.verbs import Facts
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.jobs.queue import Jobs
from pieria.bank.places import Places
from pieria.bank.rules import BankRules
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.sessions.verbs import BankSessions
from pieria.bank.upkeep.verbs import Upkeep
from pieria.bank.vault.verbs import Vault

GROUPS: Mapping[str, type] = MappingProxyType(
    {
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
    }
)
"""The attributes of a bank that have verbs of their own."""
VALUES = (
    *("name", "data", "clock", "zone", "who", "author", "author_type", "via", "secrets"),
    *("is_user_bank", "is_foreign", "is_remote"),
)
"""The attributes that can be read at once."""
INTERNAL = ("core", "fading", "habits", "meter", "mind", "viewer")
"""Public names for internal use."""


def public_verbs(original: type) -> dict[str, Callable[..., Any]]:
    """Return the public methods of a class, by name."""
    found = {name: inspect.getattr_static(original, name) for name in dir(original) if not name.startswith("_")}
    return {name: value for name, value in found.items() if inspect.isfunction(value)}
