"""The log of a bank's sleeps, in its own records: the last fifty, without texts. Dry runs are not logged."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pieria.bank.results.sleeps import SleepRun
from pieria.errors import JobError, PieriaError
from pieria.record.changeset import Record
from pieria.record.ids import new_id
from pieria.record.time import moment
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.bank.results.upkeep import Slept

log = logging.getLogger(__name__)

LOG = "sleeps"
"""The collection of records, by the time when a sleep began."""
KEPT = 50
MOST_IDS = 100
"""Ids of summaries kept of one sleep."""
MOST_REASONS = 20
PATIENCE = 2.0
"""Seconds to wait for another writer."""
SECOND = 1_000_000
CALLERS = {"cli": "command", "mcp": "tool", "hermes": "tool"}
"""Names of doors in the log; other doors keep their own."""


def write_run(core: Core, slept: Slept, began: int, by: str, stopped: PieriaError | None = None) -> None:
    """Write a sleep into the log. A failure is only reported: the changes of the sleep are on the disk.

    The log keeps the code of an error, because its message may quote a text.
    """
    if core.is_foreign:
        return
    value = {
        "by": by,
        "seconds": round((core.now() - began) / SECOND, 3),
        "mind": slept.mind,
        "examined": slept.examined,
        "consolidated": slept.consolidated,
        "made": len(slept.summaries),
        "summaries": [summary.id for summary in slept.summaries[:MOST_IDS]],
        "settled": len(slept.settled),
        "repeated": slept.repeated,
        "shortened": len(slept.shortened),
        "failed": len(slept.failed),
        "left": slept.left,
        "goes_on": slept.goes_on,
        "stopped": stopped and str(stopped.reason if isinstance(stopped, JobError) else stopped.code),
        "reasons": list(slept.reasons[:MOST_REASONS]),
    }
    try:
        with core.store.writing(PATIENCE) as writer:
            writer.note([*_outdated(writer), Record(LOG, f"{began:020d}-{new_id()}", value)])
    except PieriaError as problem:
        log.warning("a sleep of bank %s is missing in its log: %s", core.name, problem.message)


def read_runs(core: Core, reader: Reader, limit: int) -> Iterator[SleepRun]:
    """Yield the last sleeps, newest first, with the ids that this viewer may see."""
    found = sorted(reader.records(LOG).items(), reverse=True)[:limit]
    ids = [id for _, value in found for id in value["summaries"]]
    seen = reader.states(ids, core.opening(ids))
    for key, value in found:
        visible = tuple(id for id in value["summaries"] if id in seen)
        yield SleepRun(**{**value, "at": moment(_began(key)), "summaries": visible, "reasons": tuple(value["reasons"])})


def last_run(reader: Reader, now: int) -> tuple[int, Mapping[str, Any]] | None:
    """Return when the last sleep began, and its record. Ignore later ones: the clock was set back since."""
    found = {key: value for key, value in reader.records(LOG).items() if _began(key) <= now}
    if not found:
        return None
    key = max(found)
    return _began(key), found[key]


def _began(key: str) -> int:
    return int(key.partition("-")[0])


def _outdated(reader: Reader) -> Iterator[Record]:
    """Yield the deletion of the oldest records, so that there is room for one more."""
    for key in sorted(reader.records(LOG), reverse=True)[KEPT - 1 :]:
        yield Record(LOG, key, None)
