"""Standing rules: the memories that state them, their sentences, and the rules that wait for a person.

`record.standing` decides which sentences are rules, and `record.trust` whose rules count.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from pieria.language.index_terms import UNSURE
from pieria.language.pasted import is_surely_own, overlaps, repeats_of
from pieria.language.risk import lowers_security
from pieria.language.standing_rules import said_as, standing
from pieria.recall.context.lines import SEARCHED
from pieria.record.filter import Filter
from pieria.record.lesson import PROCEDURE
from pieria.record.memory import Memory
from pieria.record.trust import ACCEPTED, AGENT, DECLINED_RULES, PERSON, RULING, TRUST
from pieria.store.protocol import Reader

KINDS = ("rule", "preference", "profile")
MOST = 60
CLAIMING = (AGENT,)
"""Channels whose rules a person has to confirm."""


class Words(NamedTuple):
    """The rules of a memory: sentences in force, and sentences that wait for a person."""

    told: str
    held_back: str


def ruling(reader: Reader, filter: Filter) -> Iterator[tuple[int, Memory]]:
    """Yield the memories that a person said or accepted, each with the place of its kind; newest first in a kind."""
    asked = filter.having(via=RULING)
    declined = declined_of(reader)
    for place, kind in enumerate(KINDS):
        rows = reader.labelled("standing", (kind,), asked, MOST)
        held = reader.memories(rows, asked)
        yield from ((place, held[row]) for row in rows if row in held and not is_declined(held[row], declined))
    accepted = filter.having(via=(ACCEPTED,), not_types=(PROCEDURE,))
    yield from ((0, one) for one in reader.select(accepted, "newest", MOST) if not is_declined(one, declined))


def claiming(reader: Reader, filter: Filter, ways: tuple[str, ...] = CLAIMING, most: int = MOST) -> list[Memory]:
    """Return the newest memories whose rules a person has to decide on: others wrote them, or may have."""
    declined = declined_of(reader)
    found = [
        memory
        for labels, vias in ((KINDS[:1], ways), ((UNSURE,), (PERSON,)))
        for asked in [filter.having(via=vias)]
        for memory in reader.memories(reader.labelled("standing", labels, asked, most), asked).values()
        if not is_declined(memory, declined)
    ]
    return sorted(found, key=lambda memory: (memory.at, memory.id), reverse=True)


def declined_of(reader: Reader) -> Mapping[str, Any]:
    return reader.records(DECLINED_RULES)


def is_declined(memory: Memory, declined: Mapping[str, Any]) -> bool:
    """Return whether a person declined this wording. A new wording is asked about again."""
    return memory.id in declined and declined[memory.id].get("wording") == wording_digest(memory)


def wording_digest(memory: Memory) -> str:
    """Return a digest of all wording that can reach an agent, without tags and other labels."""
    wording = json.dumps([memory.title, memory.text, memory.body, memory.context], default=dict, sort_keys=True)
    return blake2b(wording.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def words_of(memory: Memory, without: Collection[str] = ()) -> Words:
    """Return the rules in a memory's text. `without` are sentences covered elsewhere."""
    text = memory.text[:SEARCHED]
    repeats = repeats_of(memory.meta)
    found = standing(text, said_as(memory.kind) if memory.via in RULING else None)
    laid_down = [rule for rule in found if not overlaps(rule.start, rule.end, repeats)]
    if memory.via == ACCEPTED and not laid_down:
        return Words(memory.title or text, "")
    told: list[str] = []
    held_back: list[str] = []
    for rule in laid_down:
        sentence = text[rule.start : rule.end]
        if " ".join(sentence.split()) not in without:
            (held_back if _waits(memory, sentence) else told).append(sentence)
    return Words(" ".join(told), " ".join(held_back))


def _waits(memory: Memory, sentence: str) -> bool:
    """Return whether a rule in a person's memory waits for confirmation: another author may have written it.

    The bounds of pasted text are a guess. Prompts are typed in passing, so harmful rules in them wait as well.
    """
    if memory.via != PERSON:
        return False
    if memory.kind == "turn":
        return not is_surely_own(memory.text) or lowers_security(sentence)
    return memory.trust < TRUST[PERSON] and lowers_security(sentence)
