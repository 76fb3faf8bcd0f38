"""What every store offers for jobs and for the ledger of model calls. The journal records neither.

A store keeps the queue's rules (one job per key, priorities, leases). The layers above decide what a job does and when
a failed one is retried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from pieria.record.job import Job, JobQuery, Lease, NewJob, Outcome, Progress, Spent


class QueueReader(Protocol):
    def jobs(self, query: JobQuery) -> list[Job]:
        """Return jobs, the newest first."""

    def job_counts(self) -> dict[tuple[str, str], int]:
        """Return the number of jobs of each (kind, state)."""

    def jobs_due(self, kinds: Collection[str] | None = None) -> int | None:
        """Return the earliest moment, past or future, when a job can be claimed; None if no job is open."""

    def spent(self, day: str | None = None) -> list[Spent]:
        """Return spending by step and model: on that day (like 2026-01-31), or in total."""


class QueueWriter(Protocol):
    def enqueue(self, jobs: Sequence[NewJob]) -> list[str]:
        """Return the ids of the queued jobs.

        If a job of the same kind and key is queued, its id is returned. If the content differs, it takes over the new
        content and its tries start over. If a running job has exactly this content, its id is returned.
        """

    def claim(self, lease: Lease, kinds: Collection[str] | None = None) -> Job | None:
        """Return the due job of the highest priority, of equals the oldest, now running under the lease.

        A job whose lease ran out can be claimed like any other. If its tries are used up, it becomes dead instead. No
        job is claimed while another of its kind and key runs.
        """

    def extend(self, token: str, until: int, progress: Progress | None = None) -> bool:
        """Return False if this lease no longer holds the job: it was taken over, cancelled or deleted."""

    def settle(self, token: str, outcome: Outcome) -> bool:
        """End the lease. Return False, with nothing done, if this lease no longer holds the job.

        A job to be queued again ends as stale if another of its kind and key is queued.
        """

    def replay(self, ids: Sequence[str]) -> None:
        """Queue dead and cancelled jobs again with no tries used. Raise `NotFoundError` or `ConflictError`."""

    def cancel(self, ids: Sequence[str]) -> None:
        """Cancel jobs; a worker that runs one loses its lease. Raise `NotFoundError` or `ConflictError`."""

    def prune_jobs(self, before: int, limit: int) -> int:
        """Delete up to `limit` jobs that ended before `before`, but no dead job. Return how many."""

    def charge(self, day: str, spent: Iterable[Spent]) -> None:
        """Add to the day's spending."""
