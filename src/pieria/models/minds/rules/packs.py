"""The packs beside this file: what the rules know of English, read when a rule first needs it.

Exists so that another verb, technology or cue is another line of data. What follows from a word is decided by the
rules; how verbs are inflected is in `forms`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def pack(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("packs", f"{name}.toml").read_text(encoding="utf-8"))


@cache
def words(name: str, key: str) -> frozenset[str]:
    """A list of words in a pack, written as one text or as a list of them."""
    held = pack(name)[key]
    return frozenset(held.split() if isinstance(held, str) else held)


@cache
def phrases(name: str, key: str) -> tuple[str, ...]:
    """The same for phrases, told apart by a stroke."""
    return tuple(phrase.strip() for phrase in pack(name)[key].split("|") if phrase.strip())
