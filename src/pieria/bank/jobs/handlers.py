"""What is done for a job of each kind: handlers are values, looked up by kind.

Whoever adds a kind writes a handler and puts it into the table, or hands it to a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.bank.delete.remove import SCRUB, SCRUB_TRIES
from pieria.bank.facts.extraction import checked_payload
from pieria.errors import BusyError, InputError, UnavailableError
from pieria.record import check
from pieria.record.changeset import Changeset
from pieria.record.job import TRIES
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank.jobs.run import Work

Payload = Mapping[str, Any]
Plan = Callable[[Writer], Changeset]
Effect = Changeset | Plan | None
"""What a job comes to: a changeset, or what plans one inside the write transaction; None where nothing is written."""


def plan_of(effect: Effect) -> Plan:
    """The effect in the form in which every verb of a bank writes."""
    if callable(effect):
        return effect
    return lambda writer: Changeset("job") if effect is None else effect


def nothing_to_check(payload: Payload) -> None:
    """Any payload will do."""


@dataclass(frozen=True, slots=True)
class Handler:
    """How jobs of a kind are done.

    `run` may take long and call models; its effect is applied, and the job done, in one transaction. `check` raises for
    a payload that cannot be right. `digest` tells the input by which a job is stale once it has changed. `tries` is how
    often a job is begun at the most.
    """

    run: Callable[[Work], Effect]
    check: Callable[[Payload], None] = nothing_to_check
    digest: Callable[[Reader, Payload], str] | None = None
    tries: int = TRIES


Handlers = Mapping[str, Handler]


def takes_nothing(payload: Payload) -> None:
    if payload:
        raise InputError("payload", "nothing: this kind of job takes no payload", payload)


def names_a_memory(payload: Payload) -> None:
    checked_payload(payload)


def embed(work: Work) -> None:
    """Makes the vectors of all that is still to be embedded."""

    def told(done: int, whole: int) -> None:
        work.progress(done, whole, "texts")
        work.check()

    if not work.bank.sync(progress=told):
        raise UnavailableError(
            "embedder",
            "this worker cannot embed for the bank",
            hint="pieria doctor says why; then replay the job.",
        )


def sleep(work: Work) -> None:
    """A sleep; where the day's budget is used up it is put off, and goes on from there the next day."""

    def told(done: int, whole: int) -> None:
        work.progress(done, whole, "groups")
        work.check()

    work.bank.upkeep._sleep_as_job(told)


def session_summary(work: Work) -> None:
    """The summary of a session, as the session is by now."""
    work.bank.upkeep.summarize(work.payload["session"])


def names_a_session(payload: Payload) -> None:
    if payload.keys() != {"session"}:
        raise InputError("payload", "the name of a session, as `session`, and nothing else", payload)
    check.name(payload["session"], "payload.session")


def distil(work: Work) -> Effect:
    """What is worth keeping of a session's raw events takes their place."""
    return work.bank._distil_as_job(work.payload["host"], work.payload["session"])


def names_a_hosts_session(payload: Payload) -> None:
    if not {"host", "session"} <= payload.keys() <= {"host", "session", "seen"}:
        raise InputError("payload", "a host and a session of it, as `host` and `session`", payload)
    check.name(payload["host"], "payload.host")
    check.name(payload["session"], "payload.session")


def decay(work: Work) -> None:
    """Puts away what is about to fade."""
    work.bank.upkeep.decay(progress=lambda done, whole: work.progress(done, whole, "memories"))


def extract(work: Work) -> Effect:
    """What a version of a memory names and states, as facts."""
    return work.bank._extracted_for(work)


def scrub(work: Work) -> None:
    """Erases from the store's files what a purge had to leave there."""
    if left := work.bank.store.scrub():
        raise BusyError("scrub", "; ".join(left), hint="`pieria doctor --repair` tries again, and waits longer.")


HANDLERS: Handlers = {
    "embed": Handler(embed, takes_nothing),
    "extract": Handler(extract, names_a_memory),
    "sleep": Handler(sleep, takes_nothing),
    "session_summary": Handler(session_summary, names_a_session),
    "distil": Handler(distil, names_a_hosts_session),
    "decay": Handler(decay, takes_nothing),
    SCRUB: Handler(scrub, takes_nothing, tries=SCRUB_TRIES),
}
