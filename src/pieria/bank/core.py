"""What every verb of a bank works with: the store, the models, who reads and writes, the settings, and how to write.

Verbs write through `apply`, `apply_with` or `write_changes`, which hold a changeset to the rules of the bank. New
memories (`bank.write.remember`), counts of uses and imports call the store's `apply` themselves: they say which rules
they need.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pieria.bank.delete.quarantine_records import hold_to_quarantines, quarantine_error
from pieria.bank.embedding.queue import Embedding
from pieria.bank.facts.statements import Speaker, find_fact, hold_to_statements, ids_of_facts
from pieria.bank.filters import asked_filter
from pieria.bank.jobs.budget import BankMeter
from pieria.bank.read.usage import Uses
from pieria.bank.write.derived import hold_to_sources
from pieria.bank.write.privacy import Screen, Screened
from pieria.bank.write.reversals import hold_to_corrections, hold_to_reversals
from pieria.errors import ClosedError, ConflictError, InputError, NotFoundError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.learning.models import Thinker
from pieria.notifier import Event
from pieria.record import check
from pieria.record.changeset import Change, Changeset, State, Stored
from pieria.record.decay import Fading
from pieria.record.draft import Instant, Problems
from pieria.record.draft import moment as read_moment
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import FADES, PROPOSAL_STATUSES, Memory
from pieria.record.time import Clock, iso, micros, moment
from pieria.record.trust import AGENT, lowest
from pieria.record.usage import Habits
from pieria.runtime import forks
from pieria.runtime.lazy import cached_property
from pieria.store.protocol import Finding, Reader, Store, Writer
from pieria.store.rows import terms_of

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models import Reranker
    from pieria.models.mind import Mind, Namer
    from pieria.sessions.opened import Judging

log = logging.getLogger(__name__)

REASON_LIMIT = 4_000
ACCEPT_ABOVE = 0.75
"""Lessons above this confidence are accepted automatically by default."""
UNLESS = "unless_changed_since"
EVERYTHING = Viewer(everything=True)
Plan = Callable[[Writer], Changeset]
T = TypeVar("T")


@dataclass(eq=False)
class Core:
    """What the verbs of one bank share. A workspace makes it; a forked child may not use it."""

    name: str
    store: Store
    _: KW_ONLY
    embedding: Embedding
    uses: Uses
    meter: BankMeter
    data: Path
    clock: Clock
    # Models
    thinker: Thinker = field(default_factory=Thinker)
    reranker: Reranker | None = None
    namer: Namer | None = None
    judging: Judging | None = None
    # Who reads and writes
    who: str = "python"
    viewer: Viewer = field(default_factory=Viewer)
    author: str | None = None
    author_type: str | None = None
    via: str = AGENT
    """How texts come in through this bank: its writes get at most the trust of this way."""
    is_foreign: bool = False
    """Whether another user may have made the bank: it is read as hearsay and never written."""
    # Settings
    secrets: str = "flag"
    text_budget: int = 5_000
    given_zone: tzinfo | None = None
    count_uses: bool = True
    sleep: str = "idle"
    """When the bank sleeps automatically: `off`, `idle` or `model`."""
    fades: tuple[str, ...] = FADES
    fading: Fading = field(default_factory=Fading)
    habits: Habits = field(default_factory=Habits)
    session_lease: float = 60.0
    accept_above: float = ACCEPT_ABOVE
    config: Config | None = None
    remarks: Sequence[Finding] = ()
    origins: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    # The workspace
    user_core: Callable[[bool], Core | None] = lambda create: None
    knows_user: bool = True
    notify: Callable[[str, Event], object] | None = None
    on_close: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._process = os.getpid()
        self.llm = self.thinker.llm
        self.screening = Screen(self.secrets)
        self.bank: object = None
        """The bank over this core. A dropped bank is closed, so whoever still uses its core has to keep it."""
        self.closed = False
        if self.is_foreign:
            return
        # Embed texts that an earlier process left pending.
        self.embedding.wake()
        self.bring_index_up_to_date()

    def close(self) -> None:
        """Close this bank. Safe to call twice."""
        if not self.closed:
            self.closed = True
            self.on_close()

    @cached_property
    def mind(self) -> Mind:
        """The mind that judges and writes: the configured language model, metered, or rules if there is none."""
        return self.thinker.mind(self.meter, self.namer)

    @property
    def is_user_bank(self) -> bool:
        return self.name == "@me"

    @property
    def zone(self) -> tzinfo:
        """The time zone of "yesterday" and "last week"; by default that of the clock."""
        return self.given_zone or self.clock().tzinfo or UTC

    def now(self) -> int:
        return micros(self.clock())

    def filter(self, asked: Mapping[str, Any] | None = None, /, **values: Any) -> Filter:
        filter = asked_filter(values if asked is None else asked, self.now(), self.viewer)
        if not self.knows_user and filter.scopes is not None and "user" in filter.scopes:
            # Raise rather than answer without the user's memories.
            self.user_core(True)
        return filter

    def everything(self) -> Filter:
        """Return the filter for opening any memory by id: of any status or session, in quarantine or not."""
        return self.filter().having(viewer=EVERYTHING, quarantined=True).anything()

    def opening(self, ids: Iterable[str], *, quarantined: bool = False, known_at: int | None = None) -> Filter:
        """Return the filter for opening these ids as this viewer may see them, of any status."""
        return self.filter().having(ids=tuple(ids), quarantined=quarantined, known_at=known_at).anything()

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[Reader]:
        self.check_open()
        with self.store.reading(seconds) as reader:
            yield reader

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        self.check_open()
        with self.store.writing() as writer:
            yield writer
        self.embedding.wake()

    def expect_questions(self) -> None:
        """Load in the background what the first query needs."""
        self.embedding.expect()

    def apply(self, plan: Plan) -> Change | None:
        """Run the plan in the write transaction, so that nothing changes between read and write.

        An empty changeset writes nothing; the result is then None.
        """
        with self.writing() as writer:
            return self.write_changes(writer, plan)

    def apply_with(
        self, plan: Callable[[Writer], tuple[Changeset, T]], via: str | None = None
    ) -> tuple[T, Change | None]:
        """Apply a plan that also returns a value, and return the value with the change. For `via` see
        `write_changes`.
        """
        with self.writing() as writer:
            changeset, value = plan(writer)
            return value, self.write_changes(writer, lambda _: changeset, via)

    def write_changes(self, writer: Writer, plan: Plan, via: str | None = None) -> Change | None:
        """Write the plan's changeset within a transaction, held to the rules of the bank.

        Its facts came in through the bank's `via`, or through `via` if that is trusted less.

        The order matters: statements of facts come first, because they add memories that the other rules check. Holds
        for quarantine come last, because they cover what the earlier rules add.
        """
        changeset = plan(writer)
        if changeset.empty:
            # Queueing a job is not a change for the journal.
            writer.enqueue(changeset.jobs)
            return None
        changeset.who = changeset.who or self.who
        said_at = self.now() if changeset.said_at is None else changeset.said_at
        hold_to_statements(writer, changeset, self.speaker(via), said_at)
        hold_to_corrections(writer, changeset, self.now())
        hold_to_sources(writer, changeset)
        hold_to_reversals(writer, changeset, self.now())
        hold_to_quarantines(writer, changeset)
        return writer.apply(changeset).change

    def speaker(self, via: str | None = None) -> Speaker:
        """Return the author, `via` and channel of facts stated through this bank, or through a less trusted `via`."""
        way = self.via if via is None else lowest(self.via, via)
        scope, screen = "user" if self.is_user_bank else "bank", self.screening.draft
        channel = self.viewer.channel
        return Speaker(self.name, scope, way, self.author, self.author_type, channel, screen, self.zone)

    def changed(self, id: str, plan: Plan) -> Memory:
        """Apply the plan, and return the memory as read in the same transaction."""
        with self.writing() as writer:
            self.write_changes(writer, plan)
            return self.at_hand(writer, id)

    def at_hand(self, reader: Reader, id: str) -> Memory:
        """Return an existing memory by id, of any status. The caller has checked that the id exists."""
        [memory] = self.all_at_hand(reader, [id])
        return memory

    def all_at_hand(self, reader: Reader, ids: Sequence[str]) -> list[Memory]:
        held = reader.states(ids)
        rows = [held[id].state.row for id in ids]
        found = reader.memories(rows, self.filter().having(viewer=EVERYTHING, quarantined=True))
        return [found[row] for row in rows]

    def holder(self, id: str) -> Core:
        """Return the bank that holds the id; see `holders`."""
        [holder] = self.holders([id])
        return holder

    def holders(self, ids: Sequence[str]) -> dict[Core, list[str]]:
        """Group the ids of memories and facts by the bank that holds them: this one or the user's bank `@me`.

        Unknown ids belong to this bank.
        """
        with self.reading() as reader:
            here = known_ids(reader, ids)
        beyond = [id for id in ids if id not in here]
        user: Core | None = self.user_core(False) if beyond and not self.is_user_bank else None
        there: set[str] = set()
        if user is not None:
            with user.reading() as reader:
                there = known_ids(reader, beyond)
        found: dict[Core, list[str]] = {}
        for id in ids:
            found.setdefault(user if user is not None and id in there else self, []).append(id)
        return found

    def standing(self, reader: Reader, id: str) -> Stored:
        """Return the state of an id that this viewer may see and change, or raise."""
        [held] = self.all_standing(reader, [id])
        return held

    def all_standing(self, reader: Reader, ids: Sequence[str]) -> list[Stored]:
        """Return the states of several ids, in their order, or raise."""
        found = reader.states(ids, self.opening(ids))
        return [self._in_force(reader, id, found.get(id)) for id in ids]

    def _in_force(self, reader: Reader, id: str, held: Stored | None) -> Stored:
        if held is None:
            raise self.missing(reader, id)
        check_in_force(id, held.state.ended)
        if held.state.ended == "revised":
            head = held.state.superseded_by
            raise ConflictError(f"it was revised as {head}", ids=(id,), hint=f"Use {head} instead.")
        return held

    def missing(self, reader: Reader, id: str) -> NotFoundError | ConflictError:
        """Return the error for an id under which no memory is visible."""
        held = quarantine_error(reader, id)
        if held is not None:
            return held
        if reader.purged([id]):
            return NotFoundError("memory", id, hint="The memory was purged: its content is erased for good.")
        fact = find_fact(reader, id, self.filter())
        if fact is not None and fact.memory is not None:
            hint = f"This works only on memories: use {fact.memory}."
            return ConflictError(f"it is a fact drawn from the memory {fact.memory}", ids=(id,), hint=hint)
        return NotFoundError("memory", id, hint="`list` and `recall` return ids.")

    def newest_revision(self, reader: Reader, id: str, known_at: int | None = None) -> str:
        """Return the newest revision of an id, now or at `known_at`; an id without revisions is its own."""
        seen = {id}
        while True:
            held = self.known(reader, id, known_at)
            if held is None or held.state.ended != "revised" or held.state.superseded_by is None:
                return id
            id = held.state.superseded_by
            if id in seen:
                raise ConflictError("its revisions lead in a circle", ids=tuple(seen))
            seen.add(id)

    def known(self, reader: Reader, id: str, known_at: int | None = None) -> Stored | None:
        """Return the state of an id, of any status, now or at `known_at`."""
        return reader.states([id], self.opening([id], known_at=known_at)).get(id)

    def check_unchanged(self, reader: Reader, id: str, since: int | None) -> None:
        """Raise `ConflictError` if the memory has changed since the caller read it."""
        if since is None:
            return
        newest = self.newest_revision(reader, id)
        stands = self.known(reader, newest)
        if stands is None:
            raise self.missing(reader, newest)
        before = self.known(reader, self.newest_revision(reader, id, since), since)
        check_since(
            id, since, self.now(), stands.known_from, _as_of(stands), None if before is None else _as_of(before)
        )

    def check_known(self, reader: Reader, ids: Sequence[str], *, quarantined: bool = False) -> None:
        """Raise unless every id exists and is visible, in any status."""
        seen = reader.states(ids, self.opening(ids, quarantined=quarantined))
        for id in ids:
            if id not in seen:
                self.standing(reader, id)

    def tell(self, name: str, **payload: Any) -> None:
        """Send an event about a write to the notifier, if there is one. Never call it within the transaction."""
        if self.notify is not None:
            self.notify(self.name, Event(name, payload))

    def screen(self, text: str, parameter: str) -> Screened:
        return self.screening.text(text, parameter)

    def screen_within(self, value: Any) -> Any:
        """Screen every text in a JSON value."""
        if isinstance(value, str) and value.strip():
            return self.screen(value, "value").text
        if isinstance(value, dict):
            return {key: self.screen_within(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.screen_within(item) for item in value]
        return value

    def reason(self, reason: str | None) -> str | None:
        """Return the reason of a verb, checked and screened."""
        if reason is None:
            return None
        return self.screen(check.text(reason, "reason", REASON_LIMIT, "shorten it"), "reason").text

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked after the bank was opened. Files and connections are then the parent's."""
        return self._process != os.getpid()

    def check_process(self) -> None:
        """Raise `ForkedError` in a forked child. Call it before taking a lock."""
        forks.check(self._process, "bank", self.name)

    def check_open(self) -> None:
        self.check_process()
        if self.closed:
            raise ClosedError(f"bank {self.name}")

    def bring_index_up_to_date(self) -> None:
        with self.store.reading() as reader:
            head = reader.head()
        if head.documents and head.analyser != ANALYSER_VERSION:
            log.info("bank %s: building the text index again for a new analyser", self.name)
            self.store.reindex(terms_of, ANALYSER_VERSION, if_older=True)


def last_read(problems: Problems, unless_changed_since: Instant | None) -> int | None:
    """Return the time for `check_unchanged`."""
    return None if unless_changed_since is None else problems.of(read_moment, unless_changed_since, UNLESS)


def check_since(id: str, since: int, now: int, known_from: int, current: str, before: str | None) -> None:
    """Raise `ConflictError` if the current version is not the one that the caller read at `since`."""
    if since > max(known_from, now):
        expected = f"a past time, such as the known_from of the version that you read ({_when(known_from)})"
        raise InputError(UNLESS, expected, _when(since))
    if known_from > since:
        read = f"it did not exist at {_when(since)}" if before is None else f"{before} was expected"
        hint = f"Read the memory again, and repeat the call with its present known_from as {UNLESS}."
        raise ConflictError(f"the memory has changed: {read}, and {current} is current", ids=(id,), hint=hint)


def _as_of(held: Stored) -> str:
    return as_of(held.state.id, held.state.version, held.known_from)


def as_of(id: str, version: int, known_from: int) -> str:
    return f"{id}@{version} of {_when(known_from)}"


def _when(known: int) -> str:
    return iso(moment(known))


def known_ids(reader: Reader, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that memories or facts have, visible or not."""
    memories = set(reader.states(ids))
    rest = [id for id in ids if id not in memories]
    return memories | ids_of_facts(reader, rest) if rest else memories


def check_in_force(id: str, ended: str) -> None:
    """Raise `ConflictError` if it was removed."""
    if ended == "removed":
        raise ConflictError("it was removed", ids=(id,), hint="Bring it back with `restore` first.")


def check_decided(state: State) -> None:
    """Raise `ConflictError` if the memory is a proposal that is not accepted."""
    if state.status in PROPOSAL_STATUSES:
        hint = "Accept it first: upkeep.accept, or pieria upkeep accept."
        raise ConflictError(f"it is {state.status}", ids=(state.id,), hint=hint)
