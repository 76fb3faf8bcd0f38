"""Extract what a memory names and states, as facts that refer to the memory and are purged with it.

With a language model extraction is slow and may cost money, so it is a job; rules answer at once. Extraction caused by
a write is done or queued in the same transaction, so that nothing fails after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import EVERYTHING, Core, Plan
from pieria.errors import ConflictError, InputError
from pieria.record import check
from pieria.record.fact import Fact, FactQuery
from pieria.record.factnames import folded_predicate
from pieria.record.filter import Filter
from pieria.record.job import new_job
from pieria.record.memory import Memory
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank.jobs.run import Work
    from pieria.models.mind import Named, Triple

KIND = "extract"
"""The kind of its jobs."""
SOURCE = "extract"
"""The source of facts extracted by this verb."""
MENTIONS = "mentions"
UNSAID = "its memory does not say so any more"
TIMES = frozenset({"date"})
"""Kinds of names that are not entities."""
TRIES = 5
"""Tries, if other writers change the memory while it is read."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted from a memory, or the id of the job that will do it. `left` could not be kept as facts."""

    engine: str
    entities: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    queued: str | None = None
    left: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "entities": list(self.entities),
            "facts": [fact.as_dict() for fact in self.facts],
            "queued": self.queued,
            "left": self.left,
        }


class Wanted(NamedTuple):
    """What to extract from a memory."""

    entities: bool
    statements: bool


class Read:
    """What the mind finds in texts. Each text is read once, if possible before the write that needs it."""

    def __init__(self, bank: Core) -> None:
        self._bank = bank
        self._named: dict[str, tuple[Named, ...]] = {}
        self._stated: dict[str, tuple[Triple, ...]] = {}

    def ahead(self, text: str, wanted: Wanted) -> None:
        if self._bank.llm is None:
            if wanted.entities:
                self.entities(text)
            if wanted.statements:
                self.triples(text)

    def entities(self, text: str) -> tuple[Named, ...]:
        if text not in self._named:
            self._named[text] = tuple(self._bank.mind.entities(text))
        return self._named[text]

    def triples(self, text: str) -> tuple[Triple, ...]:
        if text not in self._stated:
            self._stated[text] = tuple(self._bank.mind.triples(text))
        return self._stated[text]


def extract(core: Core, id: str, *, entities: bool, statements: bool) -> Extracted:
    check.identifier(id, "id")
    check.flag(entities, "entities")
    check.flag(statements, "statements")
    if not (entities or statements):
        raise InputError("statements", "true, where entities is false", statements)
    holder = core.holder(id)
    with holder.reading() as reader:
        holder.standing(reader, id)
    return _drawn(holder, id, Wanted(entities, statements))


def _drawn(core: Core, id: str, wanted: Wanted) -> Extracted:
    if core.llm is not None:
        with core.writing() as writer:
            return Extracted(core.mind.name, queued=_queued(writer, core.at_hand(writer, id), wanted))
    from pieria.bank.facts.from_text import found_of, is_still, plans_of, told_of

    for _ in range(TRIES):
        found = found_of(core, id, wanted)
        with core.writing() as writer:
            if is_still(core, writer, found.memory):
                for plan in plans_of(core, writer, found):
                    core.applied(writer, plan)
                return told_of(core, writer, found)
    raise ConflictError("it is changed again and again", ids=(id,), hint="Try again in a moment.")


def draw(core: Core, writer: Writer, memory: Memory, wanted: Wanted, read: Read) -> None:
    """Extract in the transaction of the write that set the text."""
    if core.llm is not None:
        _queued(writer, memory, wanted)
        return
    from pieria.bank.facts.from_text import found_in, plans_of

    for plan in plans_of(core, writer, found_in(core, memory, wanted, read)):
        core.applied(writer, plan)


def draw_anew(core: Core, writer: Writer, before: str, memory: Memory, read: Read) -> None:
    """Extract again from the new text, if the memory had extracted facts."""
    wanted = was_drawn(core, writer, before)
    if wanted is not None:
        draw(core, writer, memory, wanted, read)


def was_drawn(core: Core, reader: Reader, id: str) -> Wanted | None:
    """Return what was extracted before from this id, if the facts are not removed by other means."""
    held = [
        fact
        for fact in drawn_from(reader, id, core.filter())
        if fact.source == SOURCE and (not fact.ended or fact.reason == UNSAID)
    ]
    mentions = [folded_predicate(fact.predicate) == MENTIONS for fact in held]
    return Wanted(any(mentions), not all(mentions)) if held else None


def extracted_for(core: Core, work: Work) -> Plan:
    """Run the extraction job, and return the plan of its last write.

    If the text has changed, the job is stale and the plan is dropped.
    """
    from pieria.bank.facts.from_text import found_of, plans_of

    found = found_of(core, *checked_payload(work.payload))
    work.check()
    with core.reading() as reader:
        *first, last = plans_of(core, reader, found)
    for plan in first:
        work.apply(plan)
    return last


def drawn_from(reader: Reader, id: str, filter: Filter) -> list[Fact]:
    """Return the facts that refer to the memory, of any source, removed ones included."""
    return reader.facts(FactQuery(memory=id, include_ended=True), filter.having(viewer=EVERYTHING).anything())


def _queued(writer: Writer, memory: Memory, wanted: Wanted) -> str:
    job = new_job(KIND, {"id": memory.id, **wanted._asdict()}, about=memory.reference)
    return writer.enqueue([job])[0]


def checked_payload(payload: Mapping[str, Any]) -> tuple[str, Wanted]:
    """Return the payload of an `extract` job. Raise `InputError` if it is malformed."""
    id = check.identifier(payload.get("id"), "payload.id")
    wanted = Wanted(*(check.flag(payload.get(name), f"payload.{name}") for name in Wanted._fields))
    return id, wanted
