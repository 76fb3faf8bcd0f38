"""The packs: word lists for the rules, loaded on first use.

A new verb, technology or cue is a new line of data. The code of the rules decides what follows from a word; `forms`
inflects verbs.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def pack(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).with_suffix("") / f"{name}.toml").read_text("utf-8"))


@cache
def words(name: str, key: str) -> frozenset[str]:
    """Return a pack's word list, stored as one text or as a list."""
    held = pack(name)[key]
    return frozenset(held.split() if isinstance(held, str) else held)


@cache
def phrases(name: str, key: str) -> tuple[str, ...]:
    """Return a pack's phrase list, separated by `|`."""
    return tuple(phrase.strip() for phrase in pack(name)[key].split("|") if phrase.strip())
