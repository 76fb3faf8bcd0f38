"""The summary of a session: one each, rewritten after a source was added, changed or removed.

It draws on one scope, so that it shows a reader nothing that the sources do not. A mind words it; the sources are
chosen here.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pieria.models.mind import Mind, Said
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.ids import derived_id, new_id
from pieria.record.link import DRAWN_FROM, End, LinkRow, row_of
from pieria.record.memory import Memory
from pieria.store.protocol import Reader
from pieria.upkeep.sleep import SAID, SUMMARY, said

TYPE = "session"
WORDS = 120
MOST = 500
"""The newest memories of a longer session: a summary has no room for more."""
LABELS = 8
NOTHING_LEFT = "nothing of the session is left"


@dataclass(frozen=True, slots=True)
class Lived:
    """The current state of a session: the summary's sources, oldest first, their total number, and the summary
    so far."""

    session: str
    scope: str
    sources: tuple[Memory, ...]
    of: int
    summary: Memory | None

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
        return mind.summarize([_said(memory) for memory in self.sources], WORDS).strip()

    def content(self, text: str) -> dict[str, Any]:
        """Return the content of the summary, by field name."""
        files = Counter(file for memory in self.sources for file in memory.files)
        entities = Counter(entity for memory in self.sources for entity in memory.entities)
        tags = Counter(tag for memory in self.sources for tag in memory.tags)
        body = {"type": TYPE, "sources": len(self.sources), "of": self.of, "digest": self.digest}
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
    return Lived(session, scope, tuple(newest[::-1]), sum(reader.count(asked).values()), held)


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
