"""Extract what a memory names and states, as facts that refer to the memory and are purged with it.

With a language model extraction is slow and may cost money, so it is a job; rules answer at once. Extraction caused by
a write is done or queued in the same transaction, so that nothing fails after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pieria.bank.core import Core, Plan
from pieria.bank.facts.extracted import MENTIONS, SOURCE, UNSAID, Extracted, Read, Wanted, drawn_from
from pieria.errors import ConflictError, InputError
from pieria.record import check
from pieria.record.fact import (
    folded_predicate,
)
from pieria.record.job import new_job
from pieria.record.memory import Memory
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank.jobs.run import Work

KIND = "extract"
"""The kind of its jobs."""
TRIES = 5
"""Tries, if other writers change the memory while it is read."""


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
    from pieria.bank.facts.from_text import found_of, is_still, plans_of, told_of

    if core.llm is not None:
        with core.writing() as writer:
            return Extracted(core.mind.name, queued=_queued(writer, core.at_hand(writer, id), wanted))
    for _ in range(TRIES):
        found = found_of(core, id, wanted)
        with core.writing() as writer:
            if is_still(core, writer, found.memory):
                for plan in plans_of(core, writer, found):
                    core.write_changes(writer, plan)
                return told_of(core, writer, found)
    raise ConflictError("other writers keep changing it", ids=(id,), hint="Try again in a moment.")


def draw(core: Core, writer: Writer, memory: Memory, wanted: Wanted, read: Read) -> None:
    """Extract in the transaction of the write that set the text."""
    from pieria.bank.facts.from_text import found_in, plans_of

    if core.llm is not None:
        _queued(writer, memory, wanted)
        return
    for plan in plans_of(core, writer, found_in(core, memory, wanted, read)):
        core.write_changes(writer, plan)


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


def _queued(writer: Writer, memory: Memory, wanted: Wanted) -> str:
    job = new_job(KIND, {"id": memory.id, **wanted._asdict()}, about=memory.reference)
    return writer.enqueue([job])[0]


def checked_payload(payload: Mapping[str, Any]) -> tuple[str, Wanted]:
    """Return the payload of an `extract` job. Raise `InputError` if it is malformed."""
    id = check.identifier(payload.get("id"), "payload.id")
    wanted = Wanted(*(check.flag(payload.get(name), f"payload.{name}") for name in Wanted._fields))
    return id, wanted
