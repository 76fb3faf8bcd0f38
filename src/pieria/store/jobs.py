"""What every store offers for jobs and for the ledger of model calls: both beside the record, and outside the journal.

A store keeps the queue's rules (one of a key, priorities, leases); when a failed job is tried again, and what it does,
is decided above.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from pieria.record.job import Job, JobQuery, Lease, NewJob, Outcome, Progress
from pieria.record.ledger import Spent


class QueueReader(Protocol):
    def jobs(self, query: JobQuery) -> list[Job]:
        """The newest first."""

    def job_counts(self) -> dict[tuple[str, str], int]:
        """How many there are of each kind and state."""

    def jobs_due(self, kinds: Collection[str] | None = None) -> int | None:
        """The moment from which on there is something to claim, past or to come; None where nothing is open."""

    def spent(self, day: str | None = None) -> list[Spent]:
        """By step and model: on that day, written 2026-01-31, or in all."""


class QueueWriter(Protocol):
    def enqueue(self, jobs: Sequence[NewJob]) -> list[str]:
        """Returns the ids under which they stand.

        Where one of the same kind and key is queued, that one stays, and takes over the content of the new one where
        they differ, to be tried afresh. Where one is running for the very same content, that one stands for it.
        """

    def claim(self, lease: Lease, kinds: Collection[str] | None = None) -> Job | None:
        """Of what is due the job of the highest priority, of those the oldest; now running under the lease.

        A job whose lease ran out is claimed like any other, unless it has had all its tries: then it is dead. No job
        is claimed while another of its kind and key is running.
        """

    def extend(self, token: str, until: int, progress: Progress | None = None) -> bool:
        """False where the job is not this lease's any more: taken over, cancelled or gone."""

    def settle(self, token: str, outcome: Outcome) -> bool:
        """Ends the lease. False, and nothing done, where the job is not this lease's any more.

        A job that would be queued again while another of its kind and key is queued ends as stale.
        """

    def replay(self, ids: Sequence[str]) -> None:
        """Queues dead and cancelled jobs again, as if never tried. Raises `NotFoundError` or `ConflictError`."""

    def cancel(self, ids: Sequence[str]) -> None:
        """Whoever runs one has lost it. Raises `NotFoundError` or `ConflictError`."""

    def prune_jobs(self, before: int, limit: int) -> int:
        """Deletes jobs that ended before that moment, no more than so many; never a dead one. Returns how many."""

    def charge(self, day: str, spent: Iterable[Spent]) -> None:
        """Adds to what the day has."""
