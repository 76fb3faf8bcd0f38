"""The tools that remember, find and show memories."""

from __future__ import annotations

from pieria.bank import Bank
from pieria.bank.read.answer import is_by_words
from pieria.bank.read.times import moments
from pieria.errors import NotFoundError
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.pieria.words import (
    BY_WORDS,
    DATA,
    LONGEST,
    WHERE_IDS_ARE,
    brief,
    change_that_made,
    done,
    excerpt,
    in_words,
    line,
    noticed,
    present,
    stretch,
    whole,
)

LISTED = 50
"""How many sources `get` lists, and how many memories and facts that were drawn from the memory."""


def remember(
    call: Call,
    text: str,
    kind: str | None = None,
    tags: list[str] | None = None,
    importance: float | None = None,
    scope: str | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
) -> Spoken:
    bank, own = call.bank, new_id()
    memory = bank.remember(
        text,
        id=own,
        kind=kind or "note",
        tags=tags or (),
        importance=0.5 if importance is None else importance,
        scope=scope or call.host.scope,
        valid_from=valid_from,
        valid_until=valid_until,
        unless_exists="text",
    )
    if memory.id != own:
        given = {"tags": tags, "importance": importance, "valid_from": valid_from, "valid_until": valid_until}
        unused = [name for name, value in given.items() if value not in (None, [])]
        warnings = [f"Not applied to what was known: {', '.join(unused)}."] if unused else []
        said = f"Known already as {memory.id}: nothing was changed."
        return done(said, id=memory.id, known=True, warnings=warnings)
    change = change_that_made(bank, memory)
    return done(f"Remembered as {memory.id}.", id=memory.id, change=change, warnings=noticed(memory))


def recall(
    call: Call,
    query: str,
    k: int = 5,
    kind: str | None = None,
    tags: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    when: str | None = None,
    as_of: str | None = None,
    why: bool = False,
) -> Spoken:
    times = moments(call.bank.core, when=when, as_of=as_of)
    found = call.bank.recall(
        query, k=k, kinds=kind, tags=tags, since=since, until=until, valid_at=times["when"], known_at=times["as_of"]
    )
    sure = round(found.confidence, 2)
    hits = [brief(hit, why=why) for hit in found]
    warnings = [BY_WORDS] if is_by_words(found) else []
    doubt = ", so probably no answer" if found.is_doubtful else ""
    said = [f"Confidence {sure}{doubt}. {DATA}", *map(line, hits)] if hits else ["Nothing is known about this."]
    told = {"memories": hits, "confidence": sure, **present({"warnings": warnings})}
    return Spoken(told, "\n\n".join([*said, *warnings]))


def context(call: Call, query: str | None = None, files: list[str] | None = None, budget: int = 2_000) -> Spoken:
    found = call.bank.context(query, files=files or (), budget_tokens=budget)
    told = {"text": found.text, **present({"left_out": dict(found.left_out)})}
    return Spoken(told, found.text or "There is nothing yet.")


def get_(call: Call, id: str) -> Spoken:
    bank = call.bank
    memory = bank.get(id, include_removed=True)
    if memory is None:
        raise NotFoundError("memory", id, hint=WHERE_IDS_ARE)
    told = _whole(bank, memory)
    return Spoken(told, in_words(told))


def _whole(bank: Bank, memory: Memory) -> dict[str, object]:
    made = {change.at: change for change in bank.changes(of=memory.id)}
    history = [
        stretch(held, None if held.text == memory.text else held.text[:LONGEST], made.get(held.known_from), held.scope)
        for held in bank.history(memory.id)
    ]
    drawn = bank.trace(memory.id, limit=LISTED).items
    lists = {
        "history": history,
        "sources": [excerpt(one) for one in _sources(bank, memory)],
        "drawn": [{"id": one.id, "text": one.excerpt} for one in drawn if one.id != memory.id],
    }
    return {**whole(memory, bank.zone), **present(lists)}


def _sources(bank: Bank, memory: Memory) -> list[Memory]:
    if memory.drawn_from is not None:
        source = bank.get(memory.drawn_from)
        return [] if source is None else [source]
    if memory.removed or not memory.is_stored:
        # A removed memory has no neighbours.
        return []
    found = bank.neighbors(memory.id, relation=DRAWN_FROM, direction="out", limit=LISTED)
    return [one.memory for one in found if one.memory is not None]
