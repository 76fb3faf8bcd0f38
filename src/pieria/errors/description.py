"""Received values in a few words, for messages that may be logged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import PurePath

_SHOWN_WHOLE = 40
_SHOWN_START = 12
_LONGEST_ID = 200
_TELLING = 16
"""Characters, a `_` and digits among them, in which ids end, also of what has blanks in its name. Texts seldom do."""
_LARGEST_SHOWN_INTEGER = 10**20
_NEVER_SHOWN = frozenset(
    {
        *("text", "title", "body", "content", "query"),
        *("password", "secret", "token", "api_key", "embedder_key", "llm_key", "opts"),
    }
)


def described(value: object, parameter: str = "") -> str:
    """A received value in at most about 80 characters, never giving away remembered text or a secret."""
    hidden = parameter.rpartition(".")[2].partition("[")[0] in _NEVER_SHOWN
    if isinstance(value, PurePath):
        value = str(value)
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return described_text(value, hidden)
    if isinstance(value, int) and abs(value) > _LARGEST_SHOWN_INTEGER:
        return f"an integer of {value.bit_length():,} bits"
    if isinstance(value, int | float | date) and not hidden:
        return str(value)
    return described_kind(value)


def described_id(value: object) -> str:
    """An id whole, so that whoever gave many learns which it was. What no id looks like is described as any value."""
    if not isinstance(value, str) or len(value) > _LONGEST_ID or not value.isprintable():
        return described(value)
    *before, last = value.split() or [""]
    if before and not (len(last) >= _TELLING and "_" in last and any(map(str.isdigit, last))):
        return described(value)
    return repr(value) if len(ascii(value)) <= 2 * _LONGEST_ID else described(value)


def described_text(value: str, hidden: bool) -> str:
    if not value:
        return "empty text"
    if hidden:
        blank = "blank " if value.isspace() else ""
        return f"{blank}text of {counted(len(value), 'character')}"
    if len(value) <= _SHOWN_WHOLE and len(ascii(value)) <= 80:
        return repr(value) if value.isprintable() else ascii(value)
    return f"{ascii(value[:_SHOWN_START])[:_SHOWN_WHOLE]}… ({len(value):,} characters)"


def described_kind(value: object) -> str:
    name = type(value).__name__[:_SHOWN_WHOLE]
    if isinstance(value, bytes | bytearray):
        return counted(len(value), "byte")
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return f"a {name} of {counted(len(value), 'item')}"
    return f"a value of type {name}"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
