"""Jobs and the ledger of model calls: their rows, and the rules for queueing and claiming jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pieria.errors import ConflictError, JobError, NotFoundError
from pieria.record.job import ENDED, OPEN, QUEUED, Job, JobQuery, Lease, NewJob, Outcome, Problem, Progress, Spent
from pieria.record.json_text import parsed
from pieria.record.time import moment
from pieria.store.sql.session import Session

Row = Mapping[str, Any]
UNKNOWN = "`jobs.list` lists the jobs. Finished jobs are deleted after a week."


class QueueRows:
    """The reader's part for jobs and the ledger."""

    _session: Session

    def jobs(self, query: JobQuery) -> list[Job]:
        if query.ids is not None:
            return [_job(row) for row in self._queue("jobs_by_id", ids=self._session.listed(query.ids))]
        asked = {"states": self._listed(query.states), "kinds": self._listed(query.kinds), "limit": query.limit}
        return [_job(row) for row in self._queue("jobs", **asked)]

    def job_counts(self) -> dict[tuple[str, str], int]:
        return {(row["kind"], row["state"]): row["number"] for row in self._queue("counts")}

    def jobs_due(self, kinds: Collection[str] | None = None) -> int | None:
        asked = ("any_waiting", "next_later", "next_lost")
        found = [row["first"] for name in asked for row in self._queue(name, kinds=self._listed(kinds))]
        return min((moment for moment in found if moment is not None), default=None)

    def spent(self, day: str | None = None) -> list[Spent]:
        return [
            Spent(*row) for row in self._session.execute(self._session.statements("queue.sql")["spent"], {"day": day})
        ]

    def _listed(self, names: Collection[str] | None) -> Any:
        return None if names is None else self._session.listed(names)

    def _queue(self, statement: str, **values: Any) -> list[Row]:
        found = self._session.execute(self._session.statements("queue.sql")[statement], values)
        rows = found.fetchall()
        columns = [column[0] for column in found.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in rows]


class QueueChanges(QueueRows):
    """The writer's part for jobs and the ledger."""

    _now: Callable[[], int]

    def enqueue(self, jobs: Sequence[NewJob]) -> list[str]:
        return [self._enqueue(job, self._now()) for job in jobs]

    def _enqueue(self, job: NewJob, now: int) -> str:
        due = now if job.due is None else job.due
        values = {**job._asdict(), "due": due, "state": "later" if due > now else "waiting", "now": now}
        for alike in self._queue("queued_alike", kind=job.kind, key=job.key):
            if not _same_content(alike, job):
                self._changed("replace", **values, held=alike["id"])
            return str(alike["id"])
        for alike in self._queue("running_alike", kind=job.kind, key=job.key):
            if _same_content(alike, job):
                return str(alike["id"])
        self._changed("insert", **values)
        return job.id

    def claim(self, lease: Lease, kinds: Collection[str] | None = None) -> Job | None:
        now = self._now()
        self._changed("now_due", now=now)
        self._changed("lost_for_good", now=now, crashed=JobError("crashed").message)
        self._changed("lost_and_superseded", now=now, superseded=JobError("superseded").message)
        self._changed("lost", now=now)
        asked = {"lease": lease.token, "until": lease.until, "worker": lease.worker, "kinds": self._listed(kinds)}
        for row in self._queue("claim", now=now, **asked):
            return _job(row)
        return None

    def extend(self, token: str, until: int, progress: Progress | None = None) -> bool:
        done, whole, what = (None, None, None) if progress is None else (progress.done, progress.whole, progress.what)
        return bool(self._changed("extend", lease=token, until=until, done=done, whole=whole, what=what))

    def settle(self, token: str, outcome: Outcome) -> bool:
        state, problem = outcome.state, outcome.problem
        if state in QUEUED and self._queue("superseded", lease=token):
            state, problem = "stale", Problem("superseded", JobError("superseded").message)
        return bool(
            self._changed(
                "settle",
                lease=token,
                state=state,
                due=outcome.due,
                uncounted=not outcome.counts,
                ended=self._now() if state in ENDED else None,
                code=problem and problem.code,
                message=problem and problem.message,
            )
        )

    def replay(self, ids: Sequence[str]) -> None:
        for job in self._standing(ids, ("dead", "cancelled"), "only dead and cancelled jobs are queued again"):
            for alike in self._queue("queued_alike", kind=job.kind, key=job.key):
                raise ConflictError("the same work is queued already", ids=(str(alike["id"]),))
            self._changed("reopen", id=job.id, now=self._now())

    def cancel(self, ids: Sequence[str]) -> None:
        for job in self._standing(ids, (*OPEN, "dead"), "the job has ended"):
            self._changed("cancel", id=job.id, now=self._now())

    def _standing(self, ids: Sequence[str], states: Collection[str], refusal: str) -> list[Job]:
        """Return the jobs in the order of the ids. Raise if one is unknown or in none of the states."""
        found = {job.id: job for job in self.jobs(JobQuery(ids=tuple(ids)))}
        for id in ids:
            if id not in found:
                raise NotFoundError("job", id, hint=UNKNOWN)
            if found[id].state not in states:
                raise ConflictError(f"{refusal}; this one is {found[id].state}", ids=(id,))
        return [found[id] for id in dict.fromkeys(ids)]

    def prune_jobs(self, before: int, limit: int) -> int:
        return self._changed("prune", before=before, limit=limit)

    def charge(self, day: str, spent: Iterable[Spent]) -> None:
        self._session.executemany(
            self._session.statements("queue.sql")["charge"],
            [
                (day, one.step, one.model, one.calls, one.failures, one.input_tokens, one.output_tokens, one.seconds)
                for one in spent
            ],
        )

    def _erase_jobs(self, id: str) -> None:
        """Delete the jobs of a memory: a payload may contain some of its text."""
        self._session.execute(self._session.statements("queue.sql")["erase"], (id,))

    def _changed(self, statement: str, **values: Any) -> int:
        return self._session.execute(self._session.statements("queue.sql")[statement], values).rowcount


def _job(row: Row) -> Job:
    has_progress = row["whole"] is not None
    return Job(
        id=row["id"],
        kind=row["kind"],
        key=row["key"],
        payload=_payload(row["payload"]),
        memory=row["memory"],
        version=row["version"],
        digest=row["digest"],
        priority=row["priority"],
        state=row["state"],
        due_at=moment(row["due"]),
        attempts=row["attempts"],
        tries=row["tries"],
        takeovers=row["takeovers"],
        worker=row["worker"],
        made_at=moment(row["made"]),
        begun_at=None if row["begun"] is None else moment(row["begun"]),
        ended_at=None if row["ended"] is None else moment(row["ended"]),
        progress=Progress(row["done"], row["whole"], row["what"]) if has_progress else None,
        problem=None if row["code"] is None else Problem(row["code"], row["message"]),
    )


def _payload(written: str) -> Mapping[str, Any] | None:
    """Return the payload, or None if it is not a JSON object: one unreadable row must not hide the others."""
    try:
        found = parsed(written)
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _same_content(row: Row, job: NewJob) -> bool:
    return all(row[name] == getattr(job, name) for name in ("payload", "memory", "version", "digest"))
