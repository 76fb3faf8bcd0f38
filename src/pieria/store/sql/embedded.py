"""Stores vectors, and marks as pending what is to be embedded next.

Both happen in the transaction of the change that causes them, so that no crash leaves them inconsistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pieria.errors import ConflictError, InputError
from pieria.record.changeset import Changeset, NewVector, State
from pieria.store.protocol import WINDOW_REACH, Embedded, Pending
from pieria.store.sql.session import Session
from pieria.store.sql.vectors import LOOKED_THROUGH
from pieria.store.sql.visibility import company
from pieria.store.vectors import packed

SPACE_ENTRIES = 1_024
"""Entries of a space start at a multiple of this in every store, so that copied banks are numbered alike."""

REPLACED = {"passage": ("passage", "rule", "lead")}
"""Kinds that are replaced together with another kind's vectors."""


class Turn(NamedTuple):
    """The values that a window shows of a member or that decide which windows may hold it."""

    row: int
    session: str
    scope: str
    at: int
    author: str | None
    channel: str | None
    status: str
    valid_from: int | None
    valid_until: int | None
    ended: str

    @property
    def stands(self) -> bool:
        return not self.ended

    @property
    def company(self) -> tuple[str | int | None, ...]:
        """Values that two turns must share to be in each other's windows."""
        return self.session, self.scope, self.status, self.channel, self.valid_from, self.valid_until


class VectorRows:
    """Changes the counters it is given; the caller must write them."""

    def __init__(self, session: Session, counters: dict[str, int]) -> None:
        self._session = session
        self._counters = counters
        self._sql = session.statements("vectors.sql")

    # --- what a change of the record asks for

    def turns_closed(self, changeset: Changeset) -> list[Turn | None]:
        """Return for each write the turn that it closes, or None. Must be called before the changeset is written."""
        turns = self._turns_of([write.state.id for write in changeset.writes if not write.fresh])
        return [None if write.fresh else turns.get(write.state.id) for write in changeset.writes]

    def follow(self, changeset: Changeset, rows: Sequence[int], closed: Sequence[Turn | None]) -> None:
        """Mark as pending what the changeset makes necessary, and store the vectors it brings."""
        given: list[Embedded] = []
        pending: list[tuple[int, str]] = []
        moved: list[Turn] = []
        for write, row, before in zip(changeset.writes, rows, closed, strict=True):
            if write.content is not None:
                if write.vectors:
                    given += _numbered(row, write.vectors)
                else:
                    pending.append((row, "passage"))
            after = _turn(write.state, row)
            if after != before:
                if before is not None:
                    self._forget(before, after, row)
                pending += self._change_of_turn(before, after)
                moved += [turn for turn in (before, after) if turn is not None and turn.stands]
        self._note(pending)
        self._note_around(moved)
        if given:
            self.put(_named(changeset), given, self._counters["seq"])

    def _forget(self, before: Turn, after: Turn | None, row: int) -> None:
        """Delete windows that show a turn which their readers may no longer see. They are pending until rebuilt."""
        entries: list[int] = []
        parted = after is None or after.company != before.company
        if parted or after is None or not after.stands or after.row != before.row:
            entries += [entry for entry, _ in self._windows_with(before.row)]
        if parted and row == before.row:
            entries += self._entries("entries_of", row, "window", self._space_number())
        self._remove(entries)

    def _change_of_turn(self, before: Turn | None, after: Turn | None) -> list[tuple[int, str]]:
        """Return the turn's own window as pending. A turn that ended has no pending window."""
        row = None if after is None or not after.stands else after.row
        if before is not None and before.row != row:
            self._many("drop_pending", [(before.row, "window", self._counters["seq"])])
        return [] if row is None else [(row, "window")]

    def _windows_with(self, row: int) -> list[tuple[int, int]]:
        """Return (entry, row) of the windows of other turns that contain it."""
        return self._session.execute(self._sql["windows_with"], (row,)).fetchall()

    def _turns_of(self, ids: Sequence[str]) -> dict[str, Turn]:
        found = self._session.execute(self._sql["turns_of"], (self._session.listed(ids),)) if ids else ()
        return {id: Turn(*values) for id, *values in found}

    def _note_around(self, turns: Iterable[Turn]) -> None:
        self._note({(row, "window"): None for turn in turns for row in self._beside(turn)})

    def _beside(self, turn: Turn) -> Iterator[int]:
        """Yield the rows whose windows may contain this turn. Stops after enough neighbours that hold at all times."""
        asked = {**turn._asdict(), "seen": WINDOW_REACH * LOOKED_THROUGH}
        for way in ("beside_before", "beside_after"):
            always = 0
            for row, may_hold_it, holds_always in self._session.execute(self._sql[way], asked):
                if may_hold_it:
                    yield row
                    always += holds_always
                if always == WINDOW_REACH:
                    break

    def _note(self, pending: Iterable[tuple[int, str]]) -> None:
        self._many("add_pending", [(row, what, self._counters["seq"]) for row, what in pending])

    def erase(self, ids: Iterable[str]) -> None:
        """Delete everything derived from these memories. Must be called while they still exist."""
        erased: list[int] = []
        for id in ids:
            turn = self._turns_of([id]).get(id)
            for row, _ in self._session.execute(self._session.statements("queries.sql")["rows_of"], (id,)).fetchall():
                windows = self._windows_with(row)
                self._remove([entry for entry, _ in windows] + self._entries("entries_of_row", row))
                self._note((of, "window") for _, of in windows if self._entries("turn_of_row", of))
                erased.append(row)
            if turn is not None and turn.stands:
                self._note_around([turn])
        # Last: memories erased together were marked as each other's neighbours.
        self._many("drop_every_pending", [(row,) for row in erased])

    def hold(self, seq: int) -> None:
        """Delete windows that show this quarantine's memories, and mark them as pending."""
        found = self._session.execute(self._sql["windows_of_held"], {"seq": seq}).fetchall()
        self._remove([entry for entry, _ in found])
        self._note((row, "window") for _, row in found if self._entries("turn_of_row", row))

    def release(self, seq: int) -> None:
        """Mark the neighbours' windows of this quarantine's memories as pending, so that these return to them."""
        self._note_around([Turn(*found) for found in self._session.execute(self._sql["turns_of_held"], {"seq": seq})])

    # --- vectors

    def put(self, space: int, vectors: Sequence[Embedded], seen: int) -> int:
        dimension = self._dimension(space)
        halves = packed([each.vector for each in vectors], dimension)
        asked = self._session.listed(sorted({row for each in vectors for row in (each.row, *each.members)}))
        there = {row for (row,) in self._session.execute(self._sql["rows_there"], {"rows": asked})}
        parted = self._in_other_company(vectors)
        kept = [
            (each, half)
            for each, half in zip(vectors, halves, strict=True)
            if there.issuperset((each.row, *each.members)) and (each.what != "window" or each.row not in parted)
        ]
        keys = list(dict.fromkeys((each.row, each.what) for each, _ in kept))
        replaced: dict[str, list[int]] = {}
        for row, what in keys:
            for of in REPLACED.get(what, (what,)):
                replaced.setdefault(of, []).append(row)
        self._remove(
            [
                entry
                for what, rows in replaced.items()
                for entry in self._entries("entries_of_rows", self._session.listed(rows), what, space)
            ]
        )
        begin = self._counters["vector_entry"]
        lines: list[tuple[Any, ...]] = []
        members: list[tuple[int, int]] = []
        for entry, (each, half) in enumerate(kept, begin + 1):
            place = (entry, each.row, each.what, each.number, space, each.start, each.stop, each.known_from)
            lines.append((*place, self._held(half)))
            members += [(entry, row) for row in each.members if row != each.row]
        self._many("insert_vector", lines)
        self._many("insert_member", members)
        self._many("drop_pending", [(row, what, seen) for row, what in keys])
        self._counters["vector_entry"] = begin + len(lines)
        self._stored(begin, begin + len(lines), dimension)
        return len(lines)

    def _in_other_company(self, vectors: Sequence[Embedded]) -> set[int]:
        """Return the rows of windows with a member that no longer belongs there since the texts were read."""
        pairs = self._session.paired([each.row, row] for each in vectors for row in each.members if row != each.row)
        sql = self._sql["in_other_company"].format(company=company(self._session))
        return {row for (row,) in self._session.execute(sql, {"pairs": pairs})}

    def settle(self, pending: Sequence[Pending], seen: int) -> None:
        """Mark these as no longer pending, unless a change after `seen` marked them again."""
        self._many("drop_pending", [(item.row, item.what, seen) for item in pending])

    def _dimension(self, space: int) -> int:
        held = self._current()
        if held is None or held[0] != space:
            now = "none yet" if held is None else f"number {held[0]}, {held[1]}"
            hint = "Ask the bank for its space, and embed again with that model."
            raise ConflictError(f"the vectors are from space {space}, but the bank's space is {now}", hint=hint)
        return int(held[2])

    def _current(self) -> tuple[int, str, int, int] | None:
        found: tuple[int, str, int, int] | None = self._session.execute(self._sql["space"]).fetchone()
        return found

    def _space_number(self) -> int:
        held = self._current()
        return 0 if held is None else held[0]

    # --- spaces

    def enter(self, name: str, dimension: int) -> None:
        if dimension < 1:
            raise InputError("dimension", "a whole number from 1", dimension)
        held = self._current()
        if held is not None and held[1:3] == (name, dimension):
            return
        first = self._first_entry()
        self._session.execute(self._sql["leave_space"])
        entered = {"name": name, "dimension": dimension, "first_entry": first, "known_from": self._counters["known"]}
        self._session.execute(self._sql["enter_space"], entered)
        self._session.execute(self._sql["everything_pending"], {"seq": self._counters["seq"]})
        self._counters["vector_entry"] = first - 1

    def drop_old(self, limit: int) -> int:
        """Delete vectors of former spaces. Other processes need not follow: none searches these."""
        self._leaving()
        entries = self._entries("old_entries", limit)
        self._erase_lines(entries)
        if len(entries) < limit:
            self._session.execute(self._sql["drop_old_spaces"])
        return len(entries)

    def mend(self) -> None:
        self._many("erase_vector", [(entry,) for entry in self._entries("mend.stray_entries")])
        for statement in ("mend.pending", "mend.members", "mend.passages", "mend.windows"):
            self._session.execute(self._sql[statement], {"seq": self._counters["seq"]})

    # --- hooks of a store

    def _stored(self, before: int, last: int, dimension: int) -> None:
        """Called when entries after `before` up to `last` were stored."""

    def _first_entry(self) -> int:
        """Return the first entry of a new space."""
        return (self._counters["vector_entry"] // SPACE_ENTRIES + 1) * SPACE_ENTRIES

    def _held(self, half: bytes) -> Any:
        """Return a packed vector in the form that the store takes."""
        return half

    def _leaving(self) -> None:
        """Called before vectors of former spaces are deleted."""

    def _remove(self, entries: Sequence[int]) -> None:
        self._erase_lines(entries)

    def _erase_lines(self, entries: Sequence[int]) -> None:
        self._many("erase_vector", [(entry,) for entry in entries])
        self._many("erase_members", [(entry,) for entry in entries])

    def _entries(self, statement: str, *asked: Any) -> list[int]:
        return [entry for (entry,) in self._session.execute(self._sql[statement], asked)]

    def _many(self, statement: str, lines: Iterable[Any]) -> None:
        self._session.executemany(self._sql[statement], lines)


def _turn(state: State, row: int) -> Turn | None:
    """Return the turn of a state, or None if it belongs to no session."""
    if state.session is None:
        return None
    return Turn(
        row, state.session, state.scope, state.at, state.author, state.channel, state.status, state.valid_from,
        state.valid_until, state.ended,
    )  # fmt: skip


def _numbered(row: int, vectors: Sequence[NewVector]) -> list[Embedded]:
    return [Embedded(row, "passage", n, start, stop, vector) for n, (start, stop, vector) in enumerate(vectors)]


def _named(changeset: Changeset) -> int:
    if changeset.space is None:
        raise InputError("space", "the number of the space that the vectors are of", None)
    return changeset.space
