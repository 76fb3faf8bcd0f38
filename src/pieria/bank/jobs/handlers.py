"""The handlers of jobs, by kind.

To add a kind, write a handler and add it to the table, or pass it to a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.bank.delete.purge import SCRUB, SCRUB_TRIES
from pieria.bank.facts.extraction import checked_payload, extracted_for
from pieria.errors import BusyError, InputError, UnavailableError
from pieria.record import check
from pieria.record.changeset import Changeset
from pieria.record.job import SLEEP_STARTERS as STARTERS
from pieria.record.job import TRIES, Later
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank.jobs.run import Work

Payload = Mapping[str, Any]
Plan = Callable[[Writer], Changeset]
Effect = Changeset | Plan | None
"""The effect of a job: a changeset, a function that plans one in the write transaction, or None for no write."""


def plan_of(effect: Effect) -> Plan:
    """Return the effect as a plan."""
    if callable(effect):
        return effect
    return lambda writer: Changeset("job") if effect is None else effect


def nothing_to_check(payload: Payload) -> None:
    """Accept any payload."""


@dataclass(frozen=True, slots=True)
class Handler:
    """How jobs of a kind are done.

    `run` may be slow and call models; its effect and the end of the job are one transaction. `check` raises for an
    invalid payload. `digest` returns a digest of the input: a job whose input has changed is stale. `tries` is the most
    attempts.
    """

    run: Callable[[Work], Effect | Later]
    check: Callable[[Payload], object] = nothing_to_check
    digest: Callable[[Reader, Payload], str] | None = None
    tries: int = TRIES


Handlers = Mapping[str, Handler]


def takes_nothing(payload: Payload) -> None:
    if payload:
        raise InputError("payload", "no payload for this kind of job", payload)


def embed(work: Work) -> None:
    """Embed all pending texts."""

    def told(done: int, whole: int) -> None:
        work.progress(done, whole, "texts")
        work.check()

    if not work.bank.sync(progress=told):
        raise UnavailableError(
            "embedder",
            "this worker cannot embed for the bank",
            hint="pieria doctor says why; then replay the job.",
        )


def sleep(work: Work) -> Later | None:
    """Run a sleep. When the day's budget is spent, it is postponed and continues the next day.

    One that the bank started automatically has a `by` in its payload, and keeps to its limits.
    """
    if by := work.payload.get("by"):
        from pieria.bank.upkeep.automatic_sleep import sleep_automatically

        return sleep_automatically(work, by)

    def told(done: int, whole: int) -> None:
        work.progress(done, whole, "groups")
        work.check()

    work.bank.upkeep._sleep_as_job(told, "job")
    work.check()
    return None


def says_who_started(payload: Payload) -> None:
    if payload and payload.keys() != {"by"}:
        raise InputError("payload", "nothing, or as `by` who started the sleep", payload)
    if payload:
        check.one_of(payload["by"], "payload.by", STARTERS)


def session_summary(work: Work) -> None:
    """Summarize a session in its current state."""
    work.bank.upkeep.summarize(work.payload["session"])


def names_a_session(payload: Payload) -> None:
    if payload.keys() != {"session"}:
        raise InputError("payload", "the name of a session, as `session`, and nothing else", payload)
    check.name(payload["session"], "payload.session")


def distil(work: Work) -> Effect:
    """Replace a session's raw events by observations."""
    from pieria.bank.capture.distill import as_job

    return as_job(work.bank.core, work.payload["host"], work.payload["session"])


def names_a_hosts_session(payload: Payload) -> None:
    if not {"host", "session"} <= payload.keys() <= {"host", "session", "seen"}:
        raise InputError("payload", "a host and a session of it, as `host` and `session`", payload)
    check.name(payload["host"], "payload.host")
    check.name(payload["session"], "payload.session")


def archive(work: Work) -> None:
    """Archive fading memories."""
    work.bank.upkeep.archive(progress=lambda done, whole: work.progress(done, whole, "memories"))


def extract(work: Work) -> Effect:
    """Extract facts from a version of a memory."""
    return extracted_for(work.bank.core, work)


def scrub(work: Work) -> None:
    """Erase from the store's files what a purge had to leave there."""
    if left := work.bank.core.store.scrub():
        raise BusyError("scrub", "; ".join(left), hint="`pieria doctor --repair` tries again, and waits longer.")


HANDLERS: Handlers = {
    "embed": Handler(embed, takes_nothing),
    "extract": Handler(extract, checked_payload),
    "sleep": Handler(sleep, says_who_started),
    "session_summary": Handler(session_summary, names_a_session),
    "distil": Handler(distil, names_a_hosts_session),
    "archive": Handler(archive, takes_nothing),
    SCRUB: Handler(scrub, takes_nothing, tries=SCRUB_TRIES),
}
