"""The verb `upkeep.summarize`: word the summary of a session outside of any transaction, and write it in one.

There is one for each session, rewritten after a source was added, changed or removed. It draws on one scope, so that it
shows a reader nothing that the sources do not. A mind words it; the sources are chosen here.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from pieria.bank.read.lineage import OUTGROWN
from pieria.bank.upkeep.session_parts import parts_of, render_parts
from pieria.bank.write.update import next_version
from pieria.models.mind import Mind, Said
from pieria.recall.past import find_overturning
from pieria.record.changeset import Changeset, Write
from pieria.record.draft import NewMemory, checked
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.ids import derived_id, new_id
from pieria.record.link import DRAWN_FROM, End, LinkRow, row_of
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.trust import AGENT
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import first_write
from pieria.upkeep.sleep import SAID, SUMMARY, said

if TYPE_CHECKING:
    from pieria.bank import Bank

WHAT, RULES = "summarize", "rules"
ATTEMPTS = 3
"""Tries, because an active session may change while its summary is worded."""
TYPE = "session"
WORDS = 120
MOST = 500
"""The newest memories of a longer session: a summary has no room for more."""
LABELS = 8
NOTHING_LEFT = "nothing of the session is left"


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

    def plan(writer: Writer) -> tuple[Changeset, bool]:
        now = lived(writer, seen.session, seen.scope, bank.core.now())
        if now.digest != seen.digest or (now.summary is None) != (seen.summary is None):
            return Changeset(WHAT), False
        if now.summary is None:
            return _made(bank, writer, now, text), True
        return _anew(bank, writer, now, now.summary, text), True

    return bank.core.apply_with(plan)[0]


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


@dataclass(frozen=True, slots=True)
class Lived:
    """The current state of a session: the summary's sources, oldest first, their total number, and the summary
    so far."""

    session: str
    scope: str
    sources: tuple[Memory, ...]
    of: int
    summary: Memory | None
    overturned: frozenset[str] = frozenset()
    """Ids of sources that no longer hold."""

    @property
    def parts(self) -> dict[str, list[str]]:
        return parts_of([memory for memory in self.sources if memory.id not in self.overturned])

    @property
    def digest(self) -> str:
        """Return a key that changes whenever an input of the summary changes."""
        told = "\n".join([str(self.of), *(memory.reference for memory in self.sources)])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    @property
    def is_summed_up(self) -> bool:
        return self.summary is not None and self.summary.body.get("digest") == self.digest

    @property
    def is_current(self) -> bool:
        """Return whether the summary is up to date. An imported one has no digest and is judged by its time."""
        if self.summary is None or "digest" in self.summary.body:
            return self.is_summed_up
        return not self.sources or self.sources[-1].at <= self.summary.at

    def worded(self, mind: Mind) -> str:
        """Return the text: by rules from the observations if there are any, otherwise by the mind from all sources."""
        if mind.name == RULES and any(memory.kind == "observation" for memory in self.sources):
            return render_parts(self.parts, WORDS)
        return mind.summarize([_said(memory) for memory in self.sources], WORDS).strip()

    def content(self, text: str) -> dict[str, Any]:
        """Return the content of the summary, by field name."""
        files = Counter(file for memory in self.sources for file in memory.changed_files)
        entities = Counter(entity for memory in self.sources for entity in memory.entities)
        tags = Counter(tag for memory in self.sources for tag in memory.tags)
        body = {"type": TYPE, "sources": len(self.sources), "of": self.of, "digest": self.digest}
        body |= self.parts
        return {
            "text": text,
            "body": body,
            "tags": [tag for tag, _ in tags.most_common(LABELS)],
            "entities": [entity for entity, _ in entities.most_common(LABELS)],
            "files": [file for file, _ in files.most_common(LABELS)],
        }


def _said(memory: Memory) -> Said:
    """Return the source's text. An observation that quotes other sources adds only its title."""
    entry = said(memory)
    if memory.kind != "observation" or not memory.title or "“" not in memory.text:
        return entry
    return replace(entry, text=f"{memory.title.rstrip('.…')}.")


def lived(reader: Reader, session: str, scope: str, now: int) -> Lived:
    asked = Filter(now=now, viewer=Viewer(everything=True), session=session, scopes=(scope,), kinds=SAID)
    newest = reader.select(asked, "newest", MOST)
    # A summary ends with the first of its sources that ends, until it is rewritten.
    summaries = asked.having(kinds=(SUMMARY,), types=(TYPE,), valid_at=ANY_TIME, status=None)
    held = next(iter(reader.select(summaries, "changed", 1)), None)
    over = find_overturning(reader, asked, [memory.id for memory in newest])
    return Lived(session, scope, tuple(newest[::-1]), sum(reader.count(asked).values()), held, frozenset(over))


def free_id(reader: Reader, session: str) -> str | None:
    """Return the id of a first summary; None if a user removed one, which must not come back.

    A purged summary leaves its id in use. So does one that ended because its session was empty for a while.
    """
    for number in count():
        id = derived_id("session-", session, *([str(number)] if number else []))
        held = reader.states([id]).get(id)
        if held is None and not reader.purged([id]):
            return id
        if held is not None and held.state.reason != NOTHING_LEFT:
            return None
    raise AssertionError("numbers end")


def ties(reader: Reader, id: str, sources: Sequence[Memory], ending: str) -> list[LinkRow]:
    """Return links to the new sources, and the ends of links to former sources."""
    wanted = {memory.id for memory in sources}
    tied = {
        link.target.name: link
        for link in reader.links([End("memory", id)], DRAWN_FROM)
        if link.source == End("memory", id)
    }
    ended = [row_of(link)._replace(ended=ending) for name, link in tied.items() if name not in wanted]
    new = [
        LinkRow(new_id(), "memory", id, DRAWN_FROM, "memory", memory.id, 1.0, None, None, "")
        for memory in sources
        if memory.id not in tied
    ]
    return [*ended, *new]
