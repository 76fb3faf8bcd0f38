"""The verbs that read by id, list and count, and those for history and the journal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import inf
from typing import Any, Self

from pieria.bank.core import Core, missing
from pieria.bank.delete.quarantine_records import quarantine_error
from pieria.bank.filters import Asked, Names, for_lists, shared
from pieria.bank.read.pages import after_in, cursor_after, mark_of
from pieria.bank.read.revisions import REVISES, reached
from pieria.bank.results.general import Page
from pieria.errors import ClosedError, InputError
from pieria.record import check
from pieria.record.analyser import terms
from pieria.record.change import Change
from pieria.record.draft import Instant, NewMemory, Problems, checked
from pieria.record.end import End
from pieria.record.filter import Filter
from pieria.record.ids import parse_reference
from pieria.record.memory import Memory
from pieria.record.patience import given_up
from pieria.record.time import micros
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


class Reading(Core):
    def get(
        self,
        reference: str,
        *,
        version: int | None = None,
        known_at: Instant | None = None,
        include_removed: bool = False,
    ) -> Memory | None:
        """Return the memory under an id, of any status, or None. `id@version` gives that version.

        An existing id that ends like a version takes precedence. With `version`, the whole reference is the id.
        """
        check.identifier(reference, "reference")
        check.flag(include_removed, "include_removed")
        if version is not None:
            check.whole(version, "version", 1)
            return self._holder(reference)._version(reference, version, known_at, include_removed)
        holder = self._holder(reference)
        with holder._reading() as reader:
            exact = bool(reader.states([reference]))
        if not exact:
            holder = self._holder(parse_reference(reference)[0])
        return holder._opened(reference, known_at, include_removed)

    def _opened(self, reference: str, known_at: Instant | None, include_removed: bool) -> Memory | None:
        filter = self._filter(known_at=known_at)
        with self._reading() as reader:
            open_by_id = filter.having(ids=(reference,)).anything()
            held = reader.states([reference], open_by_id).get(reference)
            if held is not None:
                if held.state.ended == "removed" and not include_removed:
                    return None
                return reader.memories([held.state.row], filter).get(held.state.row)
            self._check_free(reader, reference, filter)
        id, version = parse_reference(reference)
        return None if version is None else self._version(id, version, known_at, include_removed)

    def _check_free(self, reader: Reader, id: str, filter: Filter) -> None:
        """Raise `QuarantinedError` if only quarantine hides the id from this viewer."""
        hidden = filter.having(ids=(id,), known_at=None, quarantined=True).anything()
        held = quarantine_error(reader, id)
        if held is not None and reader.states([id], hidden):
            raise held

    def _version(self, id: str, version: int, known_at: Instant | None, include_removed: bool) -> Memory | None:
        """Return the last state of one version."""
        filter = self._filter(known_at=known_at)
        with self._reading() as reader:
            if not reader.states([id], filter.having(ids=(id,), known_at=None).anything()):
                self._check_free(reader, id, filter)
                return None
            stretches = [
                memory
                for memory in reader.version(id, version)
                if (filter.known_at is None or micros(memory.known_from) <= filter.known_at)
                and (include_removed or not memory.removed)
                and self.viewer.sees(memory)
            ]
            return stretches[-1] if stretches else None

    def list(
        self,
        *,
        order: str = "newest",
        limit: int = 50,
        offset: int = 0,
        cursor: str | None = None,
        include: Names = (),
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        pinned: bool | None = None,
    ) -> Page:
        """Return memories of this bank in order; with scope `user` alone, the user's own.

        `cursor` continues a page of the same order and filters, unaffected by later writes. `offset` skips a number of
        current memories.
        """
        problems = Problems()
        filter = problems.of(
            self._filter,
            Asked(
                kinds, types, tags, entities, files, author, author_type, channel, session, scope, source, place, meta,
                since, until, valid_at, known_at, status, include, pinned, used_since,
            ),
        )  # fmt: skip
        problems.of(check.one_of, order, "order", ORDERS)
        problems.of(check.whole, limit, "limit", 1, 10_000)
        problems.of(check.whole, offset, "offset", 0, MOST_PASSED_OVER)
        if cursor is not None and offset:
            problems.found.append(InputError("offset", "0, together with a cursor", offset))
        problems.settle()
        filter = for_lists(filter)
        keeper = self._keeper(filter)
        mark = mark_of(keeper.name, order, filter)
        after = None if cursor is None else after_in(cursor, mark, order)
        with keeper._reading() as reader:
            if offset:
                rows = reader.rows(filter, order, offset + limit + 1)[offset:]
                held = reader.memories(rows, filter)
                found = [held[row] for row in rows]
            else:
                found = reader.select(filter, order, limit + 1, after)
        page = tuple(found[:limit])
        return Page(page, cursor_after(page[-1], mark, order) if len(found) > limit else None)

    def list_each(
        self,
        by: str,
        values: str | End | Iterable[str | End],
        *,
        order: str = "newest",
        limit: int = 50,
        include: Names = (),
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        pinned: bool | None = None,
    ) -> dict[str | End, Page]:
        """Return the `list` for each of these values, by the given values, from one read. `limit` applies to each.

        `list` continues from each cursor. `by` is `tags`, `entities`, `files`, or `place` with places written
        wing/room.
        """
        problems = Problems()
        filter = problems.of(
            self._filter,
            Asked(
                kinds, types, tags, entities, files, author, author_type, channel, session, scope, source, place, meta,
                since, until, valid_at, known_at, status, include, pinned, used_since,
            ),
        )  # fmt: skip
        problems.of(check.one_of, order, "order", ORDERS)
        problems.of(check.whole, limit, "limit", 1, 10_000)
        common = problems.of(shared, by, values)
        problems.settle()
        filter = for_lists(filter)
        field, named = common
        if getattr(filter, field) is not None:
            raise InputError(field, "nothing, where memories are listed by it", getattr(filter, field))
        keeper = self._keeper(filter)
        with keeper._reading() as reader:
            rows = reader.rows_each(filter, field, tuple(dict.fromkeys(named.values())), order, limit + 1)
            held = reader.memories(sorted({row for found in rows.values() for row in found[:limit]}), filter)
        pages: dict[str | End, Page] = {}
        for value, wanted in named.items():
            page = tuple(held[row] for row in rows[wanted][:limit])
            more = len(rows[wanted]) > limit
            mark = mark_of(keeper.name, order, filter.having_shared(field, wanted)) if more else ""
            pages[value] = Page(page, cursor_after(page[-1], mark, order) if more else None)
        return pages

    def count(
        self,
        *,
        by: str | None = None,
        include: Names = (),
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        pinned: bool | None = None,
    ) -> Any:
        """Return the number of memories; with `by`, the number for each kind, place, tag and so on, most first."""
        problems = Problems()
        filter = problems.of(
            self._filter,
            Asked(
                kinds, types, tags, entities, files, author, author_type, channel, session, scope, source, place, meta,
                since, until, valid_at, known_at, status, include, pinned, used_since,
            ),
        )  # fmt: skip
        if by is not None:
            problems.of(check.one_of, by, "by", COUNTED)
        problems.settle()
        with self._keeper(filter)._reading() as reader:
            counts = reader.count(for_lists(filter), by)
        return counts["total"] if by is None else counts

    def twins(self, text: str, *, kinds: Names | None = None, scope: Names | None = None) -> tuple[Memory, ...]:
        """Return the memories with exactly this text after screening, oldest first.

        With scope `user` alone, the user's own.
        """
        kept = self._screening.draft(checked(NewMemory(text))).text
        filter = for_lists(self._filter(kinds=kinds, scope=scope))
        with self._keeper(filter)._reading() as reader:
            return tuple(sorted(reader.twins(kept, terms(kept), filter), key=lambda memory: memory.row))

    def _keeper(self, filter: Filter) -> Self:
        """Return the bank to read: the user's memories alone are in `@me`."""
        if self.is_user_bank or filter.scopes is None or "user" not in filter.scopes:
            return self
        if len(filter.scopes) > 1:
            raise InputError(
                "scope", "user alone, or only others", filter.scopes, hint="They are in two banks: ask twice."
            )
        user: Self | None = self._me(False)
        return self if user is None else user

    def history(self, id: str, *, revisions: bool = False) -> tuple[Memory, ...]:
        """Return every interval of known time of a memory, oldest first: its versions, and each change of its status.

        With `revisions`, also those of earlier and later revisions.
        """
        check.identifier(id, "id")
        check.flag(revisions, "revisions")
        holder = self._holder(id)
        with holder._reading() as reader:
            if not reader.states([id], holder._filter().having(ids=(id,)).anything()):
                raise missing(reader, id)
            ids = reached(reader, [id], lambda link, _: link.relation == REVISES) if revisions else [id]
            held = reader.quarantines(ids)
            free = [each for each in ids if each not in held]
            stretches = [memory for each in free for memory in reader.history(each) if holder.viewer.sees(memory)]
        return tuple(sorted(stretches, key=lambda memory: (memory.known_from, memory.row)))

    def changes(self, since: int = 0, limit: int | None = None, *, last: int | None = None) -> tuple[Change, ...]:
        """Return the journal after a sequence number, oldest first; with `last`, only the newest entries."""
        check.whole(since, "since")
        if limit is not None:
            check.whole(limit, "limit", 1)
        with self._reading() as reader:
            if last is not None:
                since = max(since, reader.head().seq - check.whole(last, "last", 1))
            return tuple(reader.changes(since, limit))

    def wait(self, since: int, seconds: float) -> bool:
        """Wait for a change after a sequence number, by any process. Return False on timeout."""
        check.whole(since, "since")
        until = time.monotonic() + check.number(seconds, "seconds", 0.0, LONGEST_WAIT)
        while True:
            self._check_open()
            left = until - time.monotonic()
            if self.store.wait(since, max(0.0, min(left, PATIENCE))):
                return True
            if left <= PATIENCE or given_up():
                return False

    def follow(self, since: int | None = None, *, seconds: float | None = None) -> Iterator[Change]:
        """Yield the changes after a sequence number (default: now), oldest first, then each new one.

        It ends when the bank closes or after `seconds`. After a retryable error no change is lost: follow from the last
        one received.
        """
        begun = time.monotonic()
        until = inf if seconds is None else begun + check.number(seconds, "seconds", 0.0, LONGEST_WAIT)
        with self._reading() as reader:
            head = reader.head().seq
        if since is not None and check.whole(since, "since") > head:
            raise InputError("since", f"a number up to {head}", since, hint="It is that of another bank.")
        return self._followed(head if since is None else since, until)

    def _followed(self, since: int, until: float) -> Iterator[Change]:
        while True:
            try:
                found = self.changes(since, FOLLOWED)
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
                self.wait(since, min(left, LONGEST_WAIT))
