"""The verbs that browse by time: memories around another one, and sessions."""

from __future__ import annotations

import hashlib

from pieria.bank.core import Core
from pieria.bank.filters import Names, for_lists
from pieria.bank.read.get import keeper
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


def around(
    core: Core, id: str, *, before: int, after: int, kinds: Names | None, session: str | None, scope: Names | None
) -> Around:
    problems = Problems()
    problems.of(check.identifier, id, "id")
    problems.of(check.whole, before, "before", 0, MOST)
    problems.of(check.whole, after, "after", 0, MOST)
    filter = problems.of(lambda: core.filter(kinds=kinds, session=session, scope=scope))
    problems.settle()
    filter = for_lists(filter)
    holder = core.holder(id)
    with holder.reading() as reader:
        held = holder.standing(reader, holder.newest_revision(reader, id))
        memory = holder.at_hand(reader, held.state.id)
        place = (held.state.at, held.state.row)
        earlier = reader.select(filter, "newest", before, place) if before else []
        later = reader.select(filter, "oldest", after, place) if after else []
    return Around(tuple(earlier[::-1]), memory, tuple(later))


def sessions(
    core: Core, *, limit: int, cursor: str | None, session: str | None, kinds: Names | None, scope: Names | None
) -> Sessions:
    problems = Problems()
    filter = problems.of(lambda: core.filter(session=session, kinds=kinds, scope=scope, include=ENDED))
    problems.of(check.whole, limit, "limit", 1, MOST)
    problems.settle()
    filter = for_lists(filter)
    held_by = keeper(core, filter)
    mark = _mark(held_by.name, filter)
    place, known_at = (None, None) if cursor is None else _after(cursor, mark)
    with held_by.reading() as reader:
        found = reader.sessions(filter.having(known_at=known_at), limit + 1, place)
        known_at = known_at or reader.head().known
    page = found[:limit]
    more = len(found) > limit
    goes_on = written([mark, page[-1].first, page[-1].session or "", known_at]) if more else None
    return Sessions((_seen(core, span, filter.now) for span in page), cursor=goes_on)


def _seen(core: Core, span: SessionSpan, now: int) -> SessionSeen:
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
