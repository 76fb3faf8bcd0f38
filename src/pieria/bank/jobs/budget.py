"""Count model calls in the bank's ledger, and refuse them once the day's budget is spent.

The counts are in the bank's file, so that all processes share one budget. A day is one of the bank's clock, in UTC.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pieria.errors import BudgetError, PieriaError, ReadOnlyError
from pieria.models.meter import Meter
from pieria.record import check
from pieria.record.job import Spent
from pieria.record.time import Clock
from pieria.store.protocol import Reader, Store

log = logging.getLogger(__name__)

Waiting = dict[tuple[str, str, str], Spent]

NOTE_PATIENCE = 2.0
"""Seconds that a reply may wait for another writer of the bank."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """The limits per day; None means no limit."""

    tokens: int | None = None
    calls: int | None = None

    def __bool__(self) -> bool:
        return self.tokens is not None or self.calls is not None

    def as_dict(self) -> dict[str, int | None]:
        return {"tokens_per_day": self.tokens, "calls_per_day": self.calls}


class BankMeter:
    """The `Meter` of one bank.

    With a budget, a call is counted when it is allowed, so that two processes cannot share the last one. Without, it is
    counted when it is noted.
    """

    def __init__(self, store: Store, clock: Clock, budgets: Budgets) -> None:
        self._store = store
        self._clock = clock
        self.budgets = budgets
        self._lock = threading.Lock()
        self._unwritten: Waiting = {}
        """By day, step and model: pending counts, while the bank cannot be written or a reader must not wait."""
        self._being_written: list[Waiting] = []

    @property
    def of_readers(self) -> Meter:
        """The meter for calls that a reader waits for: it never waits for writers. `flush` writes its counts."""
        return _ReaderMeter(self)

    def allow(self, step: str, model: str) -> None:
        step, model = check.name(step, "step"), check.name(model, "model")
        if not self.budgets:
            return
        now = self._clock().astimezone(UTC)
        with self._store.writing() as writer:
            with self._lock:
                self._check([*writer.spent(day_of(now)), *self._waiting(day_of(now))], now)
            writer.charge(day_of(now), [Spent(step, model, calls=1)])

    def allow_reader(self, step: str, model: str) -> None:
        """Allow a reader's call without writing: other processes see the call a moment later."""
        called = Spent(check.name(step, "step"), check.name(model, "model"), calls=1)
        now = self._clock().astimezone(UTC)
        spent: list[Spent] = []
        if self.budgets:
            with self._store.reading() as reader:
                spent = reader.spent(day_of(now))
        with self._lock:
            self._check([*spent, *self._waiting(day_of(now))], now)
            self._add(day_of(now), called)

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        """Count a reply.

        If the bank cannot be written now, the caller still gets its reply, and the next write counts it.
        """
        self.keep(_spent(step, model, usage, seconds, failed, calls=0 if self.budgets else 1))
        self.flush()

    def keep(self, spent: Spent) -> None:
        """Keep a count for the next write."""
        with self._lock:
            self._add(day_of(self._clock()), spent)

    def flush(self, patience: float = NOTE_PATIENCE) -> None:
        """Write pending counts. Those that cannot be written stay pending, and count for this process anyway."""
        with self._lock:
            mine, self._unwritten = self._unwritten, {}
            self._being_written.append(mine)
        try:
            self._write(mine, patience)
        finally:
            with self._lock:
                self._being_written.remove(mine)

    def _write(self, mine: Waiting, patience: float) -> None:
        if not mine:
            return
        try:
            with self._store.writing(patience) as writer:
                for (day, _, _), each in mine.items():
                    writer.charge(day, [each])
        except PieriaError as problem:
            models = ", ".join(sorted({model for _, _, model in mine}))
            told = logging.INFO if isinstance(problem, ReadOnlyError) else logging.WARNING
            log.log(told, "calls of %s could not be counted yet: %s", models, problem.message)
            with self._lock:
                for (day, _, _), each in mine.items():
                    self._add(day, each)

    def _add(self, day: str, spent: Spent) -> None:
        key = (day, spent.step, spent.model)
        held = self._unwritten.get(key)
        self._unwritten[key] = spent if held is None else held.plus(spent)

    def _waiting(self, day: str) -> list[Spent]:
        """Return counts not written or just being written. Counting a call twice for a moment is harmless."""
        held = [self._unwritten, *self._being_written]
        return [spent for waiting in held for (of, _, _), spent in waiting.items() if of == day]

    def told(self, reader: Reader) -> dict[str, Any]:
        """Return the calls of today and in total, by step and model, and the day's limits."""
        today = day_of(self._clock())
        return {
            "day": today,
            "today": [one.as_dict() for one in reader.spent(today)],
            "total": [one.as_dict() for one in reader.spent()],
            "budgets": self.budgets.as_dict(),
        }

    def _check(self, spent: list[Spent], now: datetime) -> None:
        used = {
            "budget_tokens_per_day": (self.budgets.tokens, sum(one.tokens for one in spent)),
            "budget_calls_per_day": (self.budgets.calls, sum(one.calls for one in spent)),
        }
        for budget, (limit, so_far) in used.items():
            if limit is not None and so_far >= limit:
                raise BudgetError(budget, limit, so_far, next_day(now))


class _ReaderMeter:
    """Counts calls at once in memory, without writing."""

    def __init__(self, whole: BankMeter) -> None:
        self._whole = whole

    def allow(self, step: str, model: str) -> None:
        self._whole.allow_reader(step, model)

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        self._whole.keep(_spent(step, model, usage, seconds, failed, calls=0))


def _spent(step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool, calls: int) -> Spent:
    return Spent(
        check.name(step, "step"),
        check.name(model, "model"),
        calls=calls,
        failures=int(failed),
        input_tokens=_tokens(usage, "input_tokens"),
        output_tokens=_tokens(usage, "output_tokens"),
        seconds=max(0.0, float(seconds)),
    )


def day_of(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


def next_day(moment: datetime) -> datetime:
    """Return the beginning of the next day in UTC."""
    now = moment.astimezone(UTC)
    return datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)


def _tokens(usage: Mapping[str, int], name: str) -> int:
    return check.whole(usage.get(name, 0), f"usage.{name}")
