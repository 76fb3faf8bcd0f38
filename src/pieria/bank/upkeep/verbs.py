"""`bank.upkeep`: the verbs that keep a bank in order, each with a dry run that shows what it would do.

`pieria.upkeep` makes the plans; this module applies them, one group per transaction. An interrupted sleep keeps its
finished groups, and the next one continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from pieria.bank.capture.decisions import Deciding
from pieria.bank.core import check_decided
from pieria.bank.filters import Names
from pieria.bank.results.sleeps import SleepLog
from pieria.bank.results.upkeep import Collected, Compacted, Promoted, Slept, Storage, Validated
from pieria.bank.spans import reported
from pieria.bank.upkeep.automatic_sleep import later_sleep, sleep_log
from pieria.bank.upkeep.clusters import Clustering
from pieria.bank.upkeep.review import Ranking, Reviewing
from pieria.bank.upkeep.sleep import MOST, Sleep
from pieria.bank.upkeep.sleep_log import CALLERS, KEPT, write_run
from pieria.bank.upkeep.summaries import is_current, summed_up
from pieria.errors import ConflictError, JobError
from pieria.record import check
from pieria.record.filter import Filter, Viewer
from pieria.record.job import Job, JobQuery
from pieria.record.memory import GIVEN_KINDS, Memory
from pieria.store.parts import counts
from pieria.store.protocol import Progress, Reader
from pieria.store.rows import terms_of
from pieria.upkeep import faded as fading
from pieria.upkeep import promotion as promoting
from pieria.upkeep import sleep
from pieria.upkeep import validation as validating
from pieria.upkeep.promotion import Promotion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[int, NDArray[np.float32]]

Each = TypeVar("Each")

AT_ONCE = 500
PLACES = "upkeep"
"""The collection of records that says how far each verb has come."""
RULES = "rules"
PATIENCE_MINUTES = {RULES: 1}
ASKING_MINUTES = 10
"""Minutes between summaries of a running session: by rules, and with a model."""
COLLECTED = ("active", "archived")


@reported("upkeep")
class Upkeep(Reviewing, Ranking, Clustering, Deciding):
    def sleep(
        self,
        *,
        dry_run: bool = False,
        force: bool = False,
        limit: int = MOST,
        progress: Progress | None = None,
    ) -> Slept:
        """Summarize old memories, settle proven ones, and shorten aged summaries.

        Due are memories older than a day, and the oldest of more than five hundred; with `force`, all. Source texts are
        neither changed nor forgotten. Summaries link to their sources and rank behind them. A failed group is due
        again. `stopped` says why a sleep ended early; the next one continues there.
        """
        check.flag(dry_run, "dry_run")
        check.flag(force, "force")
        check.whole(limit, "limit", 1, 1_000_000)
        who = self._bank.core.who
        return self._as_seen(self._logged(CALLERS.get(who, who), dry_run, force, limit, progress)[0])

    def sleep_later(self) -> Job | None:
        """Queue a sleep as the end of a session does; None if the bank does not sleep automatically, or one waits."""
        core = self._bank.core
        with core.writing() as writer:
            ids = writer.enqueue(later_sleep(core, writer))
            return next(iter(writer.jobs(JobQuery(ids=tuple(ids)))), None)

    def sleep_log(self, limit: int = KEPT) -> SleepLog:
        """Return the last sleeps, newest first, and when the bank sleeps automatically. Dry runs are not logged."""
        return sleep_log(self._bank.core, check.whole(limit, "limit", 1, KEPT))

    def _sleep_as_job(self, progress: Progress, by: str) -> Slept:
        """Sleep as a job of a worker.

        Raise the error that stopped it, or that prevented every summary, so that it is retried. A pause is no error.
        """
        slept, work = self._logged(by, dry_run=False, force=False, limit=MOST, progress=progress)
        problem = work.stopped or (work.problem if not slept.consolidated else None)
        if problem is not None and not isinstance(problem, JobError):
            raise problem
        return slept

    def _logged(
        self, by: str, dry_run: bool, force: bool, limit: int, progress: Progress | None
    ) -> tuple[Slept, Sleep]:
        core = self._bank.core
        began = core.now()
        work = Sleep(self._bank, dry_run, force, limit, progress)
        slept = work.run()
        if work.stopped is not None:
            slept = replace(slept, stopped=work.stopped.message)
        if not dry_run:
            write_run(core, slept, began, by, work.stopped)
        return slept, work

    def _as_seen(self, slept: Slept) -> Slept:
        """Return the result without the texts of other sessions, which a sleep goes over too."""
        core = self._bank.core
        ids = {one.last.id for one in slept.summaries}
        ids |= {one.memory.id for one in slept.settled} | {one.memory.id for one in slept.shortened}
        with core.reading() as reader:
            seen = reader.states(ids, core.opening(ids))
        summaries = tuple(one for one in slept.summaries if one.last.id in seen)
        hidden = len(slept.summaries) - len(summaries)
        return replace(
            slept,
            summaries=summaries,
            settled=tuple(one for one in slept.settled if one.memory.id in seen),
            shortened=tuple(one for one in slept.shortened if one.memory.id in seen),
            reasons=(*slept.reasons, *([f"summaries of other sessions, not shown: {hidden}"] if hidden else [])),
        )

    def summarize(self, session: str) -> Memory | None:
        """Return the summary of a session, made again if the session has changed since.

        Return None if there is nothing to summarize, or if the summary was removed. Private memories are left out.
        """
        return summed_up(self._bank, check.name(session, "session"))

    def is_summed_up(self, session: str) -> bool:
        """Return whether the session has a summary that is up to date."""
        return is_current(self._bank, check.name(session, "session"))

    def summarize_later(self, session: str) -> Job:
        """Queue a summary as a job: at most one per minute or, with a model, one per ten minutes."""
        bank = self._bank
        wait = timedelta(minutes=PATIENCE_MINUTES.get(bank.mind.name, ASKING_MINUTES))
        payload = {"session": check.name(session, "session")}
        return bank.jobs.add("session_summary", payload, due=bank.clock() + wait)

    def gc(
        self,
        *,
        dry_run: bool = True,
        archive: bool = False,
        threshold: float | None = None,
        status: Names | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Collected:
        """Remove faded memories, the weakest first; with `archive`, archive them instead. A dry run by default.

        `restore` brings removed memories back. The default threshold is the setting `forget_threshold`. Archived
        memories are removed too, unless `status` is `active`.
        """
        threshold = self._bank.core.fading.forget if threshold is None else threshold
        statuses = COLLECTED if status is None else check.choices(status, "status", COLLECTED)
        return self._fade("gc", dry_run, archive, threshold, limit, progress, statuses)

    def archive(
        self,
        *,
        dry_run: bool = False,
        threshold: float | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Collected:
        """Archive fading memories: `include="archived"` shows them, and `update` makes them active again.

        The default threshold is twice the setting `forget_threshold`.
        """
        threshold = min(1.0, fading.DIMMED * self._bank.core.fading.forget) if threshold is None else threshold
        return self._fade("archive", dry_run, True, threshold, limit, progress)

    def promote(self, ids: str | Iterable[str] | None = None, *, dry_run: bool = False) -> Promoted:
        """Promote memories: the named ones, or by default all that were used enough."""
        check.flag(dry_run, "dry_run")
        bank = self._bank
        wanted = () if ids is None else check.identifiers(ids, "ids")
        others = tuple(
            id for holder, theirs in bank.core.holders(wanted).items() if holder is not bank.core for id in theirs
        )
        if others:
            raise ConflictError(
                "the memory is the user's own", ids=others, hint="Open the bank @me, and promote it there."
            )
        with bank.core.reading() as reader:
            chosen = self._named(reader, ids) if ids is not None else self._proven(reader)
        if chosen and not dry_run:
            bank.core.apply(
                lambda writer: promoting.changes(writer, chosen, "promote", status="promoted", tier="settled")
            )
        return Promoted(dry_run, tuple(chosen))

    def validate(self) -> Validated:
        """Check the store, the targets of links, and the sources of derived memories."""
        bank = self._bank
        with bank.core.reading() as reader:
            problems = validating.problems(reader)
        return Validated(tuple(bank.core.store.check()), tuple(problems))

    def repair(self, *, dry_run: bool = False) -> Validated:
        """Remove broken links, archive derived memories without sources, and rebuild projections."""
        check.flag(dry_run, "dry_run")
        found = self.validate()
        if dry_run or found.ok:
            return replace(found, dry_run=dry_run)
        bank = self._bank
        bank.core.apply(lambda writer: validating.repairs(writer, found.problems))
        repaired = bank.core.store.repair(list(found.findings), terms_of)
        after = self.validate()
        mended = [problem.id for problem in found.problems if problem not in after.problems]
        return Validated(after.findings, after.problems, (*repaired, *mended), dry_run=False)

    def storage(self) -> Storage:
        """Return the size of the bank, and how much of it `compact` would free."""
        bank = self._bank
        with bank.core.reading() as reader:
            there = counts(reader.tally(), reader.totals())
        held = bank.core.store.describe()
        log = held.get("log_bytes", 0)
        free = held.get("free_bytes", 0) + log
        return Storage(there["memories"], there["versions"], there["links"], held["bytes"] + log, free)

    def compact(self) -> Compacted:
        """Free the space of erased and replaced data, and empty the log. Every version stays."""
        before = self.storage()
        unreached = self._bank.core.store.scrub()
        return Compacted(before, self.storage(), tuple(unreached))

    def _fade(
        self,
        verb: str,
        dry_run: bool,
        archive: bool,
        threshold: float,
        limit: int | None,
        progress: Progress | None,
        statuses: Sequence[str] = COLLECTED,
    ) -> Collected:
        check.flag(dry_run, "dry_run")
        check.flag(archive, "archive")
        check.number(threshold, "threshold")
        if limit is not None:
            check.whole(limit, "limit", 1, 1_000_000)
        bank = self._bank
        if archive:
            # Archived memories cannot be archived again.
            statuses = [status for status in statuses if status != "archived"]
        with bank.core.reading() as reader:
            chosen, left = fading.faded(
                reader, bank.core.fading, bank.core.now(), bank.core.fades, threshold, statuses, limit
            )
        change = fading.archived if archive else fading.removed
        done = 0
        for part in () if dry_run else _parts(chosen):
            made = bank.core.apply(lambda writer, part=part: change(writer, part, verb))  # type: ignore[misc]
            if made is not None and not archive:
                bank.core.tell("nodes_deleted", node_ids=list(made.ids))
            done += len(part)
            if progress is not None:
                progress(done, len(chosen))
        return Collected(dry_run, archive, tuple(chosen), left)

    def _named(self, reader: Reader, ids: str | Iterable[str]) -> list[Promotion]:
        bank = self._bank
        wanted = check.identifiers(ids, "ids")
        states = [bank.core.standing(reader, id).state for id in wanted]
        for state in states:
            check_decided(state)
        rows = [state.row for state in states]
        memories = reader.memories(rows, bank.core.filter().having(viewer=Viewer(everything=True)))
        now = bank.core.now()
        worn = fading.worn(reader, [memories[row] for row in rows])
        return [
            Promotion(one.memory, "named", one.score(bank.core.fading, now), one.wear.used.accesses) for one in worn
        ]

    def _proven(self, reader: Reader) -> list[Promotion]:
        asked = Filter(now=self._bank.core.now(), viewer=Viewer(everything=True), kinds=GIVEN_KINDS, status=("active",))
        found: list[Promotion] = []
        for part in sleep.selected(reader, asked):
            found += promoting.worth_promoting(reader, part, self._bank.core.fading, asked.now)
        return found


def _parts(whole: Sequence[Each]) -> Iterator[Sequence[Each]]:
    for start in range(0, len(whole), AT_ONCE):
        yield whole[start : start + AT_ONCE]
