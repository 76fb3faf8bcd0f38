"""Mnemex's words for what a bank holds, and the record's words for what an agent says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError, NotFoundError
from pieria.record.memory import Memory

SECOND = 1_000_000
SCORE_DIGITS, AGE_DIGITS = 4, 1
FLAGGED = "secret:"
_OTHER = re.compile(r"[^\w/-]+")
_REPEATED = re.compile(r"([_/-])\1+")


def tag(given: str) -> str:
    """As Mnemex spells it, in any script: `Machine Learning!` is machine_learning, `v3.0` v3-0. Empty: it is none."""
    spelt = given.strip().lower().replace(".", "-")
    return _REPEATED.sub(r"\1", _OTHER.sub("_", spelt)).strip("_-/")


def cleaned(given: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(tag, given))))


def looked_for(given: Sequence[str] | None) -> list[str] | None:
    """As they are given and as they are spelt here: what other toolsets keep bears tags of any spelling."""
    if not given:
        return None
    return list(dict.fromkeys([*given, *cleaned(given)]))


def seconds(moment: datetime | int) -> int:
    """Of the epoch, as this toolset tells a time; also of a moment in microseconds."""
    return moment // SECOND if isinstance(moment, int) else int(moment.timestamp())


def days(begin: datetime, now: datetime) -> float:
    return round(max(0.0, (now - begin).total_seconds()) / 86_400, AGE_DIGITS)


def score(value: float) -> float:
    return round(value, SCORE_DIGITS)


def preview(text: str, length: int) -> str:
    """The beginning; 0 for all of it."""
    return text if not length or len(text) <= length else f"{text[:length].rstrip()}..."


def title(memory: Memory, length: int) -> str:
    return memory.title or preview(next(filter(None, map(str.strip, memory.text.splitlines())), ""), length)


def opened(bank: Bank, id: str, *, include_removed: bool = False) -> Memory:
    """The memory itself, under its own id. What it was in an earlier version can only be read."""
    memory = bank.get(id, include_removed=include_removed)
    if memory is not None and memory.id == id:
        return memory
    # This raises where nothing is there, and says so of what was purged.
    bank.upkeep.retained(id)
    if bank.get(id, include_removed=True) is not None:
        raise ConflictError("it was removed", ids=(id,), hint="recover_memory brings it back.")
    raise NotFoundError("memory", id)


def warned(memory: Memory, more: Iterable[str] = ()) -> Mapping[str, Any]:
    """What the caller should know of what was kept."""
    secrets = [flag.removeprefix(FLAGGED) for flag in memory.flags if flag.startswith(FLAGGED)]
    said = [f"It seems to hold a secret: {', '.join(secrets)}."] if secrets else []
    if "private:cut" in memory.flags:
        said.append("What is marked <private> was left out.")
    said += more
    return {"warnings": said} if said else {}
