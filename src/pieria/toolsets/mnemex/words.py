"""Translate between Mnemex's names and the bank's. A reply has `success` always, and `message` in errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.errors import AccessError, ConflictError, InputError, NotFoundError, PieriaError
from pieria.record.memory import Memory
from pieria.record.time import instant
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.registry import Tool
from pieria.toolsets.validation import violations

SECOND = 1_000_000
SCORE_DIGITS, AGE_DIGITS = 4, 1
FLAGGED = "secret:"
_OTHER = re.compile(r"[^\w/-]+")
_REPEATED = re.compile(r"([_/-])\1+")
WHERE = {"memory": "search_memory returns the ids.", "cluster": "cluster_memories returns the ids."}


def tag(given: str) -> str:
    """Return the tag as Mnemex spells it: `Machine Learning!` is machine_learning, `v3.0` v3-0. Empty if nothing is
    left.
    """
    spelt = given.strip().lower().replace(".", "-")
    return _REPEATED.sub(r"\1", _OTHER.sub("_", spelt)).strip("_-/")


def cleaned(given: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(tag, given))))


def looked_for(given: Sequence[str] | None) -> list[str] | None:
    """Return the tags as given and as spelt here: memories of other toolsets may have any spelling."""
    if not given:
        return None
    return list(dict.fromkeys([*given, *cleaned(given)]))


def seconds(moment: datetime | int) -> int:
    """Return epoch seconds. An integer is in microseconds."""
    return moment // SECOND if isinstance(moment, int) else int(moment.timestamp())


def days(begin: datetime, now: datetime) -> float:
    return round(max(0.0, (now - begin).total_seconds()) / 86_400, AGE_DIGITS)


def score(value: float) -> float:
    return round(value, SCORE_DIGITS)


def preview(text: str, length: int) -> str:
    """Return the beginning; `length` 0 means all."""
    return text if not length or len(text) <= length else f"{text[:length].rstrip()}..."


def preview_within(text: str, length: int) -> str:
    """Return the beginning, of at most `length` characters with the dots."""
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."


def promotion(memory: Memory, bank: Bank) -> dict[str, Any]:
    """Return where and when a memory was promoted; nothing for another."""
    if memory.status != "promoted":
        return {}
    path = bank.vault.path_of(memory.id) or memory.meta.get("promoted_to")
    return {"promoted_to": path, "promoted_at": seconds(_promoted_at(memory, bank))}


def _promoted_at(memory: Memory, bank: Bank) -> datetime:
    """Return when an imported memory was promoted elsewhere, or else when it was promoted here."""
    told = memory.meta.get("promoted_at")
    if isinstance(told, str):
        # A caller's own field of this name may hold anything.
        with suppress(InputError):
            return instant(told, "promoted_at")
    since = memory.known_from
    for one in reversed(bank.history(memory.id)):
        if one.status != "promoted":
            break
        since = one.known_from
    return since


def title(memory: Memory, length: int) -> str:
    return memory.title or preview(next(filter(None, map(str.strip, memory.text.splitlines())), ""), length)


def opened(bank: Bank, id: str, *, include_removed: bool = False) -> Memory:
    """Return the memory of this id. Raise `ConflictError` if it was removed, `NotFoundError` for any other id."""
    memory = bank.get(id, include_removed=include_removed)
    if memory is not None and memory.id == id:
        return memory
    if memory is None and bank.get(id, include_removed=True) is not None:
        raise ConflictError("it was removed", ids=(id,), hint="recover_memory brings it back.")
    # Raises for an unknown id, and says so if it was purged.
    bank.upkeep.retained(id)
    raise NotFoundError("memory", id)


def warned(memory: Memory, more: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return warnings about a saved memory."""
    secrets = [flag.removeprefix(FLAGGED) for flag in memory.flags if flag.startswith(FLAGGED)]
    said = [f"It seems to contain a secret: {', '.join(secrets)}."] if secrets else []
    if "private:cut" in memory.flags:
        said.append("Parts marked <private> were left out.")
    said += more
    return {"warnings": said} if said else {}


class RefusedError(ConflictError):
    """The request does not meet the tool's criteria; `told` is extra content for the reply."""

    def __init__(self, message: str, ids: tuple[str, ...], *, hint: str | None = None, **told: Any) -> None:
        self.told = told
        super().__init__(message, ids=ids, hint=hint)


class IncompleteError(InputError):
    """One of several parameters is needed; the hint says which."""


def succeeded(call: Call, value: Any) -> Any:
    if isinstance(value, Spoken):
        return replace(value, value={"success": True, **value.value})
    return {"success": True, **value}


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    told = {"success": False, "message": str(error), "code": error.code, "hint": error.hint}
    if isinstance(error, NotFoundError) and error.resource in WHERE:
        told["message"] = f"{error.resource.capitalize()} not found: {error.id}"
        told["hint"] = error.hint if "purged" in str(error.hint) else WHERE[error.resource]
    if isinstance(error, IncompleteError):
        told["message"] = error.hint
    if isinstance(error, AccessError):
        told["reason"] = error.reason
    if error.retryable:
        told["retryable"] = True
    if isinstance(error, RefusedError):
        told |= error.told
    found = violations(error)
    return {**told, "violations": found} if found else told
