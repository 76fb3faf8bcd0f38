"""The verb `upkeep.summarize`: word the summary of a session outside of any transaction, and write it in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.bank.read.revisions import OUTGROWN
from pieria.bank.write.update import next_version
from pieria.record.changeset import Changeset, Write
from pieria.record.draft import NewMemory, checked
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.trust import AGENT
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import first_write
from pieria.upkeep.sessions import NOTHING_LEFT, TYPE, Lived, free_id, lived, ties
from pieria.upkeep.sleep import SUMMARY

if TYPE_CHECKING:
    from pieria.bank import Bank

WHAT = "summarize"
ATTEMPTS = 3
"""Tries, because an active session may change while its summary is worded."""


def summed_up(bank: Bank, session: str) -> Memory | None:
    scope = "user" if bank.is_user_bank else "bank"
    for _ in range(ATTEMPTS):
        with bank.core.reading() as reader:
            seen = lived(reader, session, scope, bank.core.now())
            if seen.is_summed_up or _is_unwanted(reader, seen):
                return seen.summary
        text = seen.worded(bank.mind) if seen.sources else ""
        if _written(bank, seen, text):
            break
    with bank.core.reading() as reader:
        return lived(reader, session, scope, bank.core.now()).summary


def is_current(bank: Bank, session: str) -> bool:
    with bank.core.reading() as reader:
        return lived(reader, session, "user" if bank.is_user_bank else "bank", bank.core.now()).is_current


def _is_unwanted(reader: Reader, seen: Lived) -> bool:
    """Return whether there is nothing to summarize, or the summary was removed and must not come back."""
    if seen.summary is not None:
        return False
    return not seen.sources or free_id(reader, seen.session) is None


def _written(bank: Bank, seen: Lived, text: str) -> bool:
    """Write the summary, and return False if the session has changed meanwhile."""
    current: list[bool] = []

    def plan(writer: Writer) -> Changeset:
        now = lived(writer, seen.session, seen.scope, bank.core.now())
        current.append(now.digest == seen.digest and (now.summary is None) == (seen.summary is None))
        if not current[0]:
            return Changeset(WHAT)
        return _made(bank, writer, now, text) if now.summary is None else _anew(bank, writer, now, now.summary, text)

    bank.core.apply(plan)
    return current[0]


def _made(bank: Bank, writer: Writer, seen: Lived, text: str) -> Changeset:
    id = free_id(writer, seen.session)
    if id is None:
        return Changeset(WHAT)
    last = seen.sources[-1]
    new = NewMemory(
        kind=SUMMARY, scope=seen.scope, session=seen.session, source=TYPE, author_type="agent", at=last.at,
        importance=max(memory.importance for memory in seen.sources), **seen.content(text),
    )  # fmt: skip
    draft = bank.core.screening.draft(checked(new))
    write = first_write(draft, id, bank.core.now(), f"{bank.name}/{SUMMARY}")
    return Changeset(WHAT, writes=[write], links=ties(writer, id, seen.sources, OUTGROWN))


def _anew(bank: Bank, writer: Writer, seen: Lived, summary: Memory, text: str) -> Changeset:
    held = writer.states([summary.id])[summary.id]
    links = ties(writer, summary.id, seen.sources, OUTGROWN)
    if not seen.sources:
        gone = held.state._replace(ended="removed", reason=NOTHING_LEFT)
        return Changeset(WHAT, writes=[Write(gone)], links=links)
    last = seen.sources[-1]
    # The old bounds may come from memories that are no longer sources.
    state = held.state._replace(at=micros(last.at), valid_from=None, valid_until=None, reason=None)
    write = next_version(bank.core, writer, held, state, seen.content(text), AGENT) or Write(state)
    return Changeset(WHAT, writes=[write], links=links)
