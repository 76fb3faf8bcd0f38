"""Reads the store's SQL from its files, once a process. `@content` and its like stand for the columns of a table but
the bank, with the alias before it at each: what is found must come in the very order that the shared code knows.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from pieria.record.changeset import Content, State
from pieria.store.sql.session import parsed

COLUMNS = {
    "content": ("row", *Content._fields),
    "state": ("row", "known_from", "known_until", *State._fields[1:]),
    "link": (
        "entry", "id", "source_is", "source", "relation", "target_is", "target", "weight", "label", "meta", "ended",
        "known_from", "known_until",
    ),
    "fact": (
        "entry", "id", "subject", "subject_key", "predicate", "predicate_key", "object", "object_key", "valid_from",
        "valid_until", "confidence", "memory", "source", "ended", "reason", "known_from", "known_until",
    ),
    "usage": (
        "id", "accesses", "last_access", "reviews", "last_review", "crossings", "rewards", "rewarded",
        "spaced",
    ),
    "journal": ("seq", "at", "who", "what", "ids"),
    "job": (
        "entry", "id", "kind", "key", "payload", "memory", "version", "digest", "priority", "state", "due", "attempts",
        "tries", "takeovers", "lease", "until", "worker", "made", "begun", "ended", "done", "whole", "what", "code",
        "message",
    ),
}  # fmt: skip
_NAMED = re.compile(r"(\w+\.)?@(\w+)")


@cache
def statements(file: str) -> dict[str, str]:
    """Every block of the file by its name."""
    written = files("pieria.store.postgres").joinpath(file).read_text(encoding="utf-8")
    return {name: _NAMED.sub(_columns, block) for name, block in parsed(written).items()}


def _columns(found: re.Match[str]) -> str:
    alias, table = found.groups(default="")
    return ", ".join(f"{alias}{column}" for column in COLUMNS[table])
