"""The summary of a session: one for each, made anew when something was said, changed or taken back since.

Only what everybody may see goes into it. A mind words it; what it is drawn from is worked out here.
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
from pieria.upkeep.selection import SAID
from pieria.upkeep.sleep import SUMMARY, said

TYPE = "session"
WORDS = 120
MOST = 500
"""Of a longer session the newest memories: no summary has room for more."""
LABELS = 8
NOTHING_LEFT = "nothing of the session is left"


@dataclass(frozen=True, slots=True)
class Lived:
    """A session as it stands: what its summary is drawn from, oldest first, out of how many; and the summary it has."""

    session: str
    scope: str
    sources: tuple[Memory, ...]
    of: int
    summary: Memory | None

    @property
    def digest(self) -> str:
        """Another one where anything that goes into the summary is another."""
        told = "\n".join([str(self.of), *(memory.reference for memory in self.sources)])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    @property
    def is_summed_up(self) -> bool:
        return self.summary is not None and self.summary.body.get("digest") == self.digest

    @property
    def is_current(self) -> bool:
        """The same of a summary that came from elsewhere, which can be told only by its time."""
        if self.summary is None or "digest" in self.summary.body:
            return self.is_summed_up
        return not self.sources or self.sources[-1].at <= self.summary.at

    def worded(self, mind: Mind) -> str:
        return mind.summarize([_said(memory) for memory in self.sources], WORDS).strip()

    def content(self, text: str) -> dict[str, Any]:
        """The content of the summary, by the names of the record."""
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
    """Of an observation that quotes what was said, which is told of besides, the title is what it adds."""
    entry = said(memory)
    if memory.kind != "observation" or not memory.title or "“" not in memory.text:
        return entry
    return replace(entry, text=f"{memory.title.rstrip('.…')}.")


def lived(reader: Reader, session: str, scope: str, now: int) -> Lived:
    asked = Filter(now=now, viewer=Viewer(everything=True), session=session, scopes=(scope,), kinds=SAID)
    newest = reader.select(asked, "newest", MOST)
    # It ends with the first of its sources that does, until it is made anew.
    summaries = asked.having(kinds=(SUMMARY,), types=(TYPE,), valid_at=ANY_TIME, status=None)
    held = next(iter(reader.select(summaries, "changed", 1)), None)
    return Lived(session, scope, tuple(newest[::-1]), sum(reader.count(asked).values()), held)


def free_id(reader: Reader, session: str) -> str | None:
    """The id of a first summary; None where somebody took one away, which is not to come back.

    One that was purged went with something it was drawn from, and leaves its id behind; so does one of a session of
    which nothing was left for a while.
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
    """To what it is drawn from now, and the end of those to what it was drawn from before."""
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
