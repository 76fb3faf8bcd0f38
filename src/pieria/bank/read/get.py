"""The verbs that read by id, by time and in pages, that count, and those for history and the journal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import inf
from typing import Any, Unpack

from pieria.bank.core import Core, known_ids
from pieria.bank.delete.quarantine_records import quarantine_error
from pieria.bank.facts.drawn_facts import fact_history, open_fact, seen_versions
from pieria.bank.filters import ListFilters, Names, for_lists, shared
from pieria.bank.read.lineage import REVISES, reached
from pieria.bank.results.general import Around, Page, Sessions, SessionSeen
from pieria.errors import ClosedError, InputError
from pieria.language.analyser import terms
from pieria.record import check
from pieria.record.changeset import FOREVER, Change
from pieria.record.cursor import foreign, is_share, is_whole, mark_of, parts_of, written
from pieria.record.draft import Instant, NewMemory, Problems, checked
from pieria.record.fact import Fact
from pieria.record.filter import Filter
from pieria.record.ids import parse_reference
from pieria.record.memory import End, Memory
from pieria.record.time import micros, moment
from pieria.runtime.patience import given_up
from pieria.store.parts import SessionSpan
from pieria.store.protocol import ORDERS, Reader

COUNTED = (
    "kind", "type", "place", "scope", "session", "channel", "author", "author_type", "source", "status", "tier",
    "tags", "entities", "files",
)  # fmt: skip
MOST_PASSED_OVER = 1_000_000_000
LONGEST_WAIT = 86_400.0
PATIENCE = 1.0
"""Seconds of one wait in the store, so that a caller soon notices a closed bank or a cancelled wait."""
FOLLOWED = 500
"""Changes read at once."""
MOST = 1_000
ACTIVE_MINUTES = 30
"""Minutes without a new memory after which a session is no longer active, if its host does not tell of its end."""
ENDED = ("removed", "revised")
"""Removed and revised memories still count for the times of their session."""
EXPECTED = "the cursor of a page of sessions, with the same filters"


def get(
    core: Core, reference: str, *, version: int | None, known_at: Instant | None, include_removed: bool
) -> Memory | None:
    check.identifier(reference, "reference")
    check.flag(include_removed, "include_removed")
    if version is not None:
        check.whole(version, "version", 1)
        return _version(core.holder(reference), reference, version, known_at, include_removed)
    holder = core.holder(reference)
    with holder.reading() as reader:
        exact = bool(known_ids(reader, [reference]))
    if not exact:
        holder = core.holder(parse_reference(reference)[0])
    return _opened(holder, reference, known_at, include_removed)


def _opened(core: Core, reference: str, known_at: Instant | None, include_removed: bool) -> Memory | None:
    filter = core.filter(known_at=known_at)
    with core.reading() as reader:
        open_by_id = filter.having(ids=(reference,)).anything()
        held = reader.states([reference], open_by_id).get(reference)
        if held is not None:
            if held.state.ended == "removed" and not include_removed:
                return None
            return reader.memories([held.state.row], filter).get(held.state.row)
        _check_free(core, reader, reference, filter)
        fact = open_fact(core, reader, reference, None, filter, include_removed=include_removed)
    if fact is not None:
        return fact
    id, version = parse_reference(reference)
    return None if version is None else _version(core, id, version, known_at, include_removed)


def _check_free(core: Core, reader: Reader, id: str, filter: Filter) -> None:
    """Raise `QuarantinedError` if only quarantine hides the id from this viewer."""
    hidden = filter.having(ids=(id,), known_at=None, quarantined=True).anything()
    held = quarantine_error(reader, id)
    if held is not None and reader.states([id], hidden):
        raise held


def _version(core: Core, id: str, version: int, known_at: Instant | None, include_removed: bool) -> Memory | None:
    """Return the last state of one version."""
    filter = core.filter(known_at=known_at)
    with core.reading() as reader:
        if not reader.states([id], filter.having(ids=(id,), known_at=None).anything()):
            _check_free(core, reader, id, filter)
            return open_fact(core, reader, id, version, filter, include_removed=include_removed)
        stretches = [
            memory
            for memory in reader.version(id, version)
            if (filter.known_at is None or micros(memory.known_from) <= filter.known_at)
            and (include_removed or not memory.removed)
            and core.viewer.sees(memory)
        ]
        return stretches[-1] if stretches else None


def list_memories(
    core: Core, *, order: str, limit: int, offset: int, cursor: str | None, **filters: Unpack[ListFilters]
) -> Page:
    check.keywords(filters, ListFilters, "list")
    problems = Problems()
    filter = problems.of(core.filter, filters)
    problems.of(check.one_of, order, "order", ORDERS)
    problems.of(check.whole, limit, "limit", 1, 10_000)
    problems.of(check.whole, offset, "offset", 0, MOST_PASSED_OVER)
    if cursor is not None and offset:
        problems.found.append(InputError("offset", "0 together with a cursor", offset))
    problems.settle()
    filter = for_lists(filter)
    held_by = keeper(core, filter)
    mark = mark_of(held_by.name, order, filter.having(now=0))
    after = None if cursor is None else after_in(cursor, mark, order)
    with held_by.reading() as reader:
        if offset:
            rows = reader.rows(filter, order, offset + limit + 1)[offset:]
            held = reader.memories(rows, filter)
            found = [held[row] for row in rows]
        else:
            found = reader.select(filter, order, limit + 1, after)
    page = tuple(found[:limit])
    return Page(page, cursor_after(page[-1], mark, order) if len(found) > limit else None)


def list_each(
    core: Core,
    by: str,
    values: str | End | Iterable[str | End],
    *,
    order: str,
    limit: int,
    **filters: Unpack[ListFilters],
) -> dict[str | End, Page]:
    check.keywords(filters, ListFilters, "list_each")
    problems = Problems()
    filter = problems.of(core.filter, filters)
    problems.of(check.one_of, order, "order", ORDERS)
    problems.of(check.whole, limit, "limit", 1, 10_000)
    common = problems.of(shared, by, values)
    problems.settle()
    filter = for_lists(filter)
    field, named = common
    if getattr(filter, field) is not None:
        raise InputError(field, "no filter by it, since the order uses it", getattr(filter, field))
    held_by = keeper(core, filter)
    with held_by.reading() as reader:
        rows = reader.rows_each(filter, field, tuple(dict.fromkeys(named.values())), order, limit + 1)
        held = reader.memories(sorted({row for found in rows.values() for row in found[:limit]}), filter)
    pages: dict[str | End, Page] = {}
    for value, wanted in named.items():
        page = tuple(held[row] for row in rows[wanted][:limit])
        more = len(rows[wanted]) > limit
        mark = mark_of(held_by.name, order, filter.having_shared(field, wanted).having(now=0)) if more else ""
        pages[value] = Page(page, cursor_after(page[-1], mark, order) if more else None)
    return pages


def count(core: Core, *, by: str | None, **filters: Unpack[ListFilters]) -> Any:
    check.keywords(filters, ListFilters, "count")
    problems = Problems()
    filter = problems.of(core.filter, filters)
    if by is not None:
        problems.of(check.one_of, by, "by", COUNTED)
    problems.settle()
    with keeper(core, filter).reading() as reader:
        counts = reader.count(for_lists(filter), by)
    return counts["total"] if by is None else counts


def identical(core: Core, text: str, *, kinds: Names | None, scope: Names | None) -> tuple[Memory, ...]:
    kept = core.screening.draft(checked(NewMemory(text))).text
    filter = for_lists(core.filter(kinds=kinds, scope=scope))
    with keeper(core, filter).reading() as reader:
        return tuple(sorted(reader.twins(kept, terms(kept), filter), key=lambda memory: memory.row))


def keeper(core: Core, filter: Filter) -> Core:
    """Return the bank to read: the user's memories alone are in `@me`."""
    if core.is_user_bank or filter.scopes is None or "user" not in filter.scopes:
        return core
    if len(filter.scopes) > 1:
        raise InputError(
            "scope",
            "only user, or only other scopes",
            filter.scopes,
            hint="The scopes are in two banks: use two calls.",
        )
    user: Core | None = core.user_core(False)
    return core if user is None else user


def history(core: Core, id: str, *, revisions: bool) -> tuple[Memory, ...]:
    check.identifier(id, "id")
    check.flag(revisions, "revisions")
    holder = core.holder(id)
    with holder.reading() as reader:
        if not reader.states([id], holder.opening([id])):
            facts = fact_history(holder, reader, id)
            if not facts:
                raise holder.missing(reader, id)
            return facts
        ids = reached(reader, [id], lambda link, _: link.relation == REVISES) if revisions else [id]
        held = reader.quarantines(ids)
        free = [each for each in ids if each not in held]
        stretches = [memory for each in free for memory in reader.history(each) if holder.viewer.sees(memory)]
    return tuple(sorted(stretches, key=lambda memory: (memory.known_from, memory.row)))


def changes(core: Core, since: int, limit: int | None, *, last: int | None, of: str | None) -> tuple[Change, ...]:
    check.whole(since, "since")
    if limit is not None:
        check.whole(limit, "limit", 1)
    if last is not None:
        check.whole(last, "last", 1)
    if of is not None:
        found = [change for change in _changes_of(core, of) if change.seq > since][:limit]
        return tuple(found[-last:] if last is not None else found)
    with core.reading() as reader:
        if last is not None:
            since = max(since, reader.head().seq - last)
        return tuple(reader.changes(since, limit))


def _changes_of(core: Core, id: str) -> list[Change]:
    holder = core.holder(check.identifier(id, "of"))
    with holder.reading() as reader:
        stretches: list[Memory | Fact] = [one for one in reader.history(id) if holder.viewer.sees(one)]
        stretches += seen_versions(reader, id, holder.filter())
        if not stretches:
            raise holder.missing(reader, id)
        times = {micros(time) for one in stretches for time in (one.known_from, one.known_until) if time is not None}
        return reader.changes_at(sorted(times))


def wait(core: Core, since: int, seconds: float) -> bool:
    check.whole(since, "since")
    until = time.monotonic() + check.number(seconds, "seconds", 0.0, LONGEST_WAIT)
    while True:
        core.check_open()
        left = until - time.monotonic()
        if core.store.wait(since, max(0.0, min(left, PATIENCE))):
            return True
        if left <= PATIENCE or given_up():
            return False


def follow(core: Core, since: int | None, *, seconds: float | None) -> Iterator[Change]:
    begun = time.monotonic()
    until = inf if seconds is None else begun + check.number(seconds, "seconds", 0.0, LONGEST_WAIT)
    with core.reading() as reader:
        head = reader.head().seq
    if since is not None and check.whole(since, "since") > head:
        raise InputError("since", f"a number up to {head}", since, hint="The number is from another bank.")
    return _followed(core, head if since is None else since, until)


def _followed(core: Core, since: int, until: float) -> Iterator[Change]:
    while True:
        try:
            found = changes(core, since, FOLLOWED, last=None, of=None)
        except ClosedError:
            return
        for change in found:
            since = change.seq
            yield change
        left = until - time.monotonic()
        if left <= 0 or given_up():
            return
        # The next iteration notices a closed bank.
        with suppress(ClosedError):
            wait(core, since, min(left, LONGEST_WAIT))


def _order_value(memory: Memory, order: str) -> float:
    if order == "important":
        return memory.importance
    return micros(memory.known_from if order == "changed" else memory.at)


def cursor_after(last: Memory, mark: str, order: str) -> str:
    return written([mark, _order_value(last, order), last.row])


def after_in(cursor: str, mark: str, order: str) -> tuple[float, int]:
    expected = f"the cursor of a page in the order {order}, with the same filters"
    made_for, value, row = parts_of(cursor, expected, 3)
    is_value = is_share(value) if order == "important" else is_whole(value, -FOREVER, FOREVER)
    if made_for != mark or not is_value or not is_whole(row):
        raise foreign(cursor, expected)
    return value, row


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
    from pieria.learning.distilling import pieces

    problems = Problems()
    filter = problems.of(lambda: core.filter(session=session, kinds=kinds, scope=scope, include=ENDED))
    problems.of(check.whole, limit, "limit", 1, MOST)
    problems.settle()
    filter = for_lists(filter)
    held_by = keeper(core, filter)
    mark = mark_of(held_by.name, "sessions", filter.having(now=0))
    place, known_at = (None, None) if cursor is None else _after(cursor, mark)
    with held_by.reading() as reader:
        found = reader.sessions(filter.having(known_at=known_at), limit + 1, place)
        known_at = known_at or reader.head().known
        ended = reader.records(pieces.ENDED)
    page = found[:limit]
    more = len(found) > limit
    goes_on = written([mark, page[-1].first, page[-1].session or "", known_at]) if more else None
    return Sessions(
        (_seen(span, filter.now, ended.get(pieces.short(span.session or ""), 0)) for span in page), cursor=goes_on
    )


def _seen(span: SessionSpan, now: int, ended: int) -> SessionSeen:
    """A session that goes on after its end is active again."""
    active = span.last > ended and now - span.last < ACTIVE_MINUTES * 60_000_000
    return SessionSeen(span.session, moment(span.first), moment(span.last), span.memories, active)


def _after(cursor: str, mark: str) -> tuple[tuple[int, str], int]:
    made_for, first, session, known_at = parts_of(cursor, EXPECTED, 4)
    is_ours = is_whole(first, -FOREVER, FOREVER) and is_whole(known_at, 1, FOREVER) and isinstance(session, str)
    if made_for != mark or not is_ours:
        raise foreign(cursor, EXPECTED)
    return (first, session), known_at
