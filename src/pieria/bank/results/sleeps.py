"""The log of a bank's sleeps. It holds ids, counts and reasons, and no text of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pieria.record.reply import Listed, Reply


@dataclass(frozen=True, slots=True)
class SleepRun(Reply):
    """One sleep. `by` names its starter, and `made` counts its summaries.

    `summaries` are the ids of those that the reader may see. `stopped` is the code of the error that ended the sleep
    early. `goes_on` says that the next sleep continues soon.
    """

    at: datetime
    by: str
    seconds: float
    mind: str
    examined: int
    consolidated: int
    made: int
    summaries: tuple[str, ...]
    settled: int
    repeated: int
    shortened: int
    failed: int
    left: int
    goes_on: bool
    stopped: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SleepLog(Listed[SleepRun]):
    """The last sleeps, newest first. `held_back` says why the bank does not sleep automatically.

    It sleeps automatically from `next_at` on; None means that it does not.
    """

    runs: tuple[SleepRun, ...]
    held_back: str | None
    next_at: datetime | None
