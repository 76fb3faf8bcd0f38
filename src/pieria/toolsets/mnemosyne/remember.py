"""The tool `remember`: store a text once. Repeating it only ever raises what is stored."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.record.ids import new_id
from pieria.record.memory import Memory
from pieria.record.time import instant, is_over
from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.words import SCOPE_WORDS, SCOPES, here, stamp, triple, veracity

PREVIEW = 100
"""Length of the preview in a reply, in characters."""
IMPORTANCE = 0.5
EVERYBODY = ("bank", "user")
"""The scopes that all sessions see; `user` occurs in the user's own bank."""


def remember(
    call: Call,
    content: str,
    source: str | None = None,
    importance: float | None = None,
    scope: str | None = None,
    valid_until: str | None = None,
    extract_entities: bool = False,
    extract: bool = False,
    author_id: str | None = None,
    author_type: str | None = None,
    channel_id: str | None = None,
) -> dict[str, Any]:
    bank = call.bank
    asked: dict[str, Any] = {"source": source, "author": author_id, "author_type": author_type, "channel": channel_id}
    own = new_id()
    memory = _known(call, bank, content, scope) or bank.remember(
        content,
        id=own,
        importance=IMPORTANCE if importance is None else importance,
        scope=SCOPES[scope or "global"],
        valid_until=valid_until,
        unless_exists="text",
        **asked,
    )
    duplicate = memory.id != own
    warnings: list[str] = []
    if duplicate:
        memory, warnings = _raised(bank, memory, scope, importance, valid_until)
        warnings += _kept_as_they_were(memory, asked)
    told = {
        "status": "stored",
        "memory_id": memory.id,
        "content_preview": memory.text[:PREVIEW],
        "duplicate": duplicate,
        "scope": SCOPE_WORDS[memory.scope],
        "importance": memory.importance,
        "veracity": veracity(memory),
        "valid_until": stamp(memory.valid_until),
        "expires_in": _seconds_left(bank, memory),
        "warnings": [*warnings, *_noticed(bank, memory)],
        **here(call, bank),
    }
    if extract or extract_entities:
        told["extracted"] = _extracted(bank, memory, extract_entities, extract)
    return told


def _known(call: Call, bank: Bank, content: str, scope: str | None) -> Memory | None:
    """Return a shared memory of the same text. Unless `scope` is session, the session's own one counts, too: it is
    widened.
    """
    twins = bank.identical(content, kinds="note")
    told = [memory for memory in twins if memory.scope in EVERYBODY]
    if scope != "session":
        told += [memory for memory in twins if memory.scope == "session" and memory.session == call.host.session]
    return next(iter(told), None)


def _raised(
    bank: Bank, memory: Memory, scope: str | None, importance: float | None, valid_until: str | None
) -> tuple[Memory, list[str]]:
    """Raise the memory to the wanted values. Never narrow its scope, importance or end."""
    until = None if valid_until is None else instant(valid_until, "valid_until", end_of_day=True)
    wanted: dict[str, Any] = {}
    if scope != "session" and memory.scope == "session":
        wanted["scope"] = "bank"
    if importance is not None and importance > memory.importance:
        wanted["importance"] = importance
    if until is not None and memory.valid_until is not None and until > memory.valid_until:
        wanted["valid_until"] = valid_until
    if wanted:
        # Other callers may raise it at the same time; `widen` never lowers.
        memory = bank.widen(memory.id, **wanted)
    warnings = []
    if scope == "session" and memory.scope != "session":
        warnings.append("scope: it is global already, and stays so.")
    if importance is not None and importance < memory.importance:
        warnings.append(f"importance: it stays at {memory.importance}; mnemosyne_update lowers it.")
    if until is not None and memory.valid_until != until:
        warnings.append(f"valid_until: it stays {stamp(memory.valid_until) or 'open'}.")
    return memory, warnings


def _kept_as_they_were(memory: Memory, asked: dict[str, Any]) -> list[str]:
    spelt = {"source": "source", "author": "author_id", "author_type": "author_type", "channel": "channel_id"}
    return [
        f"{spelt[name]}: it was remembered before, with {getattr(memory, name) or 'none'}, and keeps that."
        for name, value in asked.items()
        if value is not None and value != getattr(memory, name)
    ]


def _seconds_left(bank: Bank, memory: Memory) -> int | None:
    if memory.valid_until is None:
        return None
    return max(0, int((memory.valid_until - bank.clock()).total_seconds()))


def _noticed(bank: Bank, memory: Memory) -> list[str]:
    noticed = []
    if is_over(memory.valid_until, bank.clock()):
        noticed.append("valid_until: the time is past, so the memory is not recalled.")
    for flag in memory.flags:
        what, _, kind = flag.partition(":")
        noticed.append(
            f"content: it seems to contain a secret ({kind}); mnemosyne_forget erases it."
            if what == "secret"
            else "content: a part marked <private> was cut."
        )
    return noticed


def _extracted(bank: Bank, memory: Memory, entities: bool, statements: bool) -> dict[str, Any]:
    drawn = bank.extract(memory.id, entities=entities, statements=statements)
    return {
        "engine": drawn.engine,
        "entities": list(drawn.entities),
        "facts": [triple(fact) for fact in drawn.facts],
        "queued": drawn.queued,
        "left": drawn.left,
    }
