"""Standing rules: which memories lay them down, in which words, and which wait for a person.

What makes a sentence a rule is decided in `record.standing`; whose rules count, in `record.trust`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from pieria.recall.context.lines import SEARCHED
from pieria.record.filter import Filter
from pieria.record.index_terms import UNSURE
from pieria.record.lesson import PROCEDURE
from pieria.record.memory import Memory
from pieria.record.pasted import is_surely_own, overlaps, repeats_of
from pieria.record.risk import lowers_security
from pieria.record.standing_rules import said_as, standing
from pieria.record.trust import ACCEPTED, AGENT, DECLINED_RULES, PERSON, RULING, TRUST
from pieria.store.protocol import Reader

KINDS = ("rule", "preference", "profile")
MOST = 60
CLAIMING = (AGENT,)
"""The ways in whose rules a person is asked about."""


class Words(NamedTuple):
    """What a memory lays down: what is told of it, and what waits for a person's hand."""

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
    """Return whether a person declined it in these words: new wording is asked about anew."""
    return memory.id in declined and declined[memory.id].get("wording") == wording_digest(memory)


def wording_digest(memory: Memory) -> str:
    """Return the digest of all that can say something to an agent; tags and the like are none of it."""
    wording = json.dumps([memory.title, memory.text, memory.body, memory.context], default=dict, sort_keys=True)
    return blake2b(wording.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def words_of(memory: Memory, without: Collection[str] = ()) -> Words:
    """Return the sentences of a memory that lay something down. `without` are those that stand elsewhere."""
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
    """Return whether a rule of a person waits for their hand, since somebody else may have written it.

    Where pasted material begins and ends is a guess. A prompt is typed in passing, so there what may do harm waits too.
    """
    if memory.via != PERSON:
        return False
    if memory.kind == "turn":
        return not is_surely_own(memory.text) or lowers_security(sentence)
    return memory.trust < TRUST[PERSON] and lowers_security(sentence)
