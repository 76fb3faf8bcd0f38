"""Count the uses of memories off the read path: readers note what they found, the background thread writes it.

So reads never write and never wait for a writer. Counts are written a few seconds later in one change, and also by
`sync` and when the bank closes. A killed process loses the counts of its last seconds.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pieria.errors import BusyError, ClosedError, PieriaError
from pieria.record.changeset import Changeset
from pieria.record.decay import Wear, spaced
from pieria.record.time import Clock, micros, moment
from pieria.record.usage import UNUSED, Usage, Use
from pieria.runtime.background import LAST_STEP, Background
from pieria.store.parts import Told
from pieria.store.protocol import Reader, Store, Writer

log = logging.getLogger(__name__)

PAUSE = 2.0
"""Seconds that counts are collected before they are written, and the pause before a retry."""
AT_THE_END = 0.25
"""Seconds of the last wait for another process when the bank closes; then the counts are dropped."""
MANY = 500
"""Number of counted memories that triggers a write before the pause ends."""
MOST_TOLD = 50_000
"""Entries kept about what sessions were shown; older ones are dropped."""
WHO = "pieria"
WHAT = "recalled"


@dataclass(eq=False, slots=True)
class Batch:
    """The counts written by one change. `seq` is the number of that change once it is written."""

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By id: the count, and the time of the last use."""
    seq: int | None = None
    told: dict[tuple[str, str], tuple[int, int, int]] = field(default_factory=dict)
    """By id and session: the count, and the times of the first and last showing."""

    @property
    def size(self) -> int:
        return max(len(self.counts), len(self.told))


class Noted(NamedTuple):
    """Unwritten counts of one memory."""

    batch: Batch
    accesses: int
    last: int


class Uses:
    """Counts the uses of one store's memories. Thread-safe."""

    def __init__(self, store: Store, clock: Clock, background: Background) -> None:
        self._store = store
        self._clock = clock
        self._background = background
        self._changed = threading.Condition()
        self._at_work = threading.Lock()
        self._batches = [Batch()]

    def note(self, ids: Iterable[str], session: str | None = None) -> None:
        """Count a use of each id, once per occurrence. With a session, also record for `trace` what it was shown."""
        self._note([*ids], session, uses=True)

    def note_told(self, ids: Iterable[str], session: str) -> None:
        """Record what a session was shown unasked. This is not a use."""
        self._note([*ids], session, uses=False)

    def _note(self, ids: Sequence[str], session: str | None, *, uses: bool) -> None:
        now = micros(self._clock())
        with self._changed:
            batch = self._batches[-1]
            before = batch.size
            for id in ids:
                if uses:
                    often, last = batch.counts.get(id, (0, now))
                    batch.counts[id] = (often + 1, max(last, now))
                if session is not None:
                    times, first, last = batch.told.get((id, session), (0, now, now))
                    batch.told[id, session] = (times + 1, min(first, now), max(last, now))
            after = batch.size
        if before < MANY <= after:
            self._background.hurry(self)
        elif after > before == 0:
            self._background.add(self, PAUSE)

    def noted(self, ids: Iterable[str]) -> dict[str, list[Noted]]:
        """Return the unwritten counts of these ids, for a reader whose transaction begins later: see `with_noted`."""
        found: dict[str, list[Noted]] = {}
        with self._changed:
            held = [batch for batch in self._batches if batch.counts]
            for id in ids if held else ():
                for batch in held:
                    if id in batch.counts:
                        found.setdefault(id, []).append(Noted(batch, *batch.counts[id]))
        return found

    def flush(self, seconds: float | None = None) -> bool:
        """Write the counts so far. Return False if another process held the lock longer than `seconds`.

        The counts are then retried. If the bank cannot be written at all, drop the counts: it may be readable but not
        writable.
        """
        if not self._at_work.acquire(timeout=-1 if seconds is None else seconds):
            return False
        try:
            with self._changed:
                mine = [batch for batch in self._batches if batch.size]
                self._batches = [*mine, Batch()]
            try:
                self._write(mine, seconds)
            except BusyError as problem:
                for batch in mine:
                    batch.seq = None
                log.info("uses could not be counted yet: %s", problem.message)
                return False
            except ClosedError:
                log.debug("the bank was closed; close() has logged how many uses were lost")
            except PieriaError as problem:
                log.warning("uses of %d memories were not counted: %s", _size(mine), problem.message)
            with self._changed:
                self._batches = [batch for batch in self._batches if batch not in mine]
                self._changed.notify_all()
            return True
        finally:
            self._at_work.release()

    last_step = LAST_STEP

    def step(self) -> float | None:
        return None if self.flush() else PAUSE

    def hurry(self) -> None:
        """Start writing the counts while other parts of the bank finish, because it is about to close."""
        if self._left() and not self._background.is_current():
            self._background.hurry(self)

    def close(self, seconds: float) -> None:
        """Wait until all counts are written, and drop the rest after `seconds`."""
        if self._left() and (self._background.is_current() or not self._background.hurry(self)):
            self.flush()
        with self._changed:
            self._changed.wait_for(lambda: not self._left(), seconds)
        self._background.drop(self)
        if self._left():
            # The background thread may be busy, for example with a model, while the bank is free.
            self.flush(AT_THE_END)
        left = self._left()
        if left:
            log.warning("uses of %d memories were not counted: the bank was closed while it was busy", left)

    def _left(self) -> int:
        with self._changed:
            return _size(self._batches)

    def _write(self, batches: list[Batch], seconds: float | None) -> None:
        uses = [Use(id, often, last) for batch in batches for id, (often, last) in batch.counts.items()]
        told = [Told(*key, *value) for batch in batches for key, value in batch.told.items()]
        if not uses and not told:
            return
        with self._store.writing(seconds) as writer:
            if told:
                known = writer.states({each.id for each in told})
                writer.add_told([each for each in told if each.id in known], MOST_TOLD)
            there = _standing(writer, {use.id for use in uses})
            changeset = Changeset(WHAT, WHO, usage=spaced_uses(writer, [use for use in uses if use.id in there]))
            if not changeset.empty:
                seq = writer.apply(changeset).change.seq
                for batch in batches:
                    batch.seq = seq


def with_noted(usage: Usage, noted: Iterable[Noted], seq: int) -> Usage:
    """Return the usage with the noted counts that a reader at change `seq` does not see yet."""
    for batch, accesses, last in noted:
        if batch.seq is None or batch.seq > seq:
            latest = moment(last) if usage.last_access is None else max(usage.last_access, moment(last))
            usage = replace(usage, accesses=usage.accesses + accesses, last_access=latest)
    return usage


def spaced_uses(reader: Reader, uses: Sequence[Use]) -> list[Use]:
    """Return the uses with the spacing of each from the use before it. Uses at one time count as one."""
    rows = {id: held.state for id, held in reader.states([use.id for use in uses]).items()}
    written = reader.written([state.row for state in rows.values()])
    used = reader.usage(list(rows))
    found = []
    for use in uses:
        moments = [moment for moment in (use.last_access, use.last_review) if moment is not None]
        state = rows.get(use.id)
        if not moments or state is None:
            found.append(use)
            continue
        wear = Wear(state.at, state.kind, state.strength, used.get(use.id, UNUSED), *written[state.row])
        found.append(use._replace(spaced=spaced(max(moments) - wear.last_used)))
    return found


def _standing(writer: Writer, ids: set[str]) -> set[str]:
    """Return the ids that still exist: removed, revised and purged memories get no counts."""
    return {id for id, held in writer.states(ids).items() if not held.state.ended}


def _size(batches: Iterable[Batch]) -> int:
    return len({id for batch in batches for id in (*batch.counts, *(id for id, _ in batch.told))})
