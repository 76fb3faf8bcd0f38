"""The verbs that browse by time: memories around another one, and sessions."""

from __future__ import annotations

import hashlib

from pieria.bank.filters import Names, for_lists
from pieria.bank.read.get import Reading
from pieria.bank.results.general import Around, Sessions, SessionSeen
from pieria.record import check
from pieria.record.changeset import FOREVER
from pieria.record.cursor import foreign, is_whole, parts_of, written
from pieria.record.draft import Problems
from pieria.record.filter import Filter
from pieria.record.time import moment
from pieria.store.parts import SessionSpan

MOST = 1_000
ACTIVE_MINUTES = 30
"""Minutes without a new memory after which a session is no longer active."""
ENDED = ("removed", "revised")
"""Removed and revised memories still count for the times of their session."""
EXPECTED = "the cursor of a page of sessions, with the same filters"


class Browsing(Reading):
    def around(
        self,
        id: str,
        *,
        before: int = 5,
        after: int = 5,
        kinds: Names | None = None,
        session: str | None = None,
        scope: Names | None = None,
    ) -> Around:
        """Return what was said just before and after a memory, up to the given numbers.

        A revised id leads to its newest.
        """
        problems = Problems()
        problems.of(check.identifier, id, "id")
        problems.of(check.whole, before, "before", 0, MOST)
        problems.of(check.whole, after, "after", 0, MOST)
        filter = problems.of(lambda: self._filter(kinds=kinds, session=session, scope=scope))
        problems.settle()
        filter = for_lists(filter)
        holder = self._holder(id)
        with holder._reading() as reader:
            held = holder._standing(reader, holder._newest_revision(reader, id))
            memory = holder._at_hand(reader, held.state.id)
            place = (held.state.at, held.state.row)
            earlier = reader.select(filter, "newest", before, place) if before else []
            later = reader.select(filter, "oldest", after, place) if after else []
        return Around(tuple(earlier[::-1]), memory, tuple(later))

    def sessions(
        self,
        *,
        limit: int = 20,
        cursor: str | None = None,
        session: str | None = None,
        kinds: Names | None = None,
        scope: Names | None = None,
    ) -> Sessions:
        """Return the sessions of visible memories, latest beginning first. Memories outside any session count as one.

        With scope `user` alone, the sessions of the user's own memories. Sessions without remaining memories are left
        out. In the others, revised and removed memories still count for beginning and end. `cursor` continues a page of
        the same filters from a snapshot at the first page: new memories may have any time.
        """
        problems = Problems()
        filter = problems.of(lambda: self._filter(session=session, kinds=kinds, scope=scope, include=ENDED))
        problems.of(check.whole, limit, "limit", 1, MOST)
        problems.settle()
        filter = for_lists(filter)
        keeper = self._keeper(filter)
        mark = _mark(keeper.name, filter)
        place, known_at = (None, None) if cursor is None else _after(cursor, mark)
        with keeper._reading() as reader:
            found = reader.sessions(filter.having(known_at=known_at), limit + 1, place)
            known_at = known_at or reader.head().known
        page = found[:limit]
        more = len(found) > limit
        goes_on = written([mark, page[-1].first, page[-1].session or "", known_at]) if more else None
        return Sessions((self._seen(span, filter.now) for span in page), cursor=goes_on)

    def _seen(self, span: SessionSpan, now: int) -> SessionSeen:
        active = now - span.last < ACTIVE_MINUTES * 60_000_000
        return SessionSeen(span.session, moment(span.first), moment(span.last), span.memories, active)


def _mark(bank: str, filter: Filter) -> str:
    said = repr((bank, "sessions", filter.having(now=0)))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _after(cursor: str, mark: str) -> tuple[tuple[int, str], int]:
    made_for, first, session, known_at = parts_of(cursor, EXPECTED, 4)
    is_ours = is_whole(first, -FOREVER, FOREVER) and is_whole(known_at, 1, FOREVER) and isinstance(session, str)
    if made_for != mark or not is_ours:
        raise foreign(cursor, EXPECTED)
    return (first, session), known_at
