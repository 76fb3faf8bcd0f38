"""The log of sessions in a bank's records: each step is on disk before a mind judges it.

Every write checks in its transaction who holds the session. A process that lost its lease therefore changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pieria.bank.sessions.records import (
    HELD,
    HOLDERS,
    NODES,
    PURGED,
    SESSIONS,
    STATELESS,
    STEPS,
    TOUCHED,
    WAITING,
    is_there,
    without_state,
    without_words,
)
from pieria.bank.upkeep.automatic_sleep import later_sleep
from pieria.bank.write.remember import drafted
from pieria.errors import CorruptError, InputError, PieriaError
from pieria.graph.changeset import Changeset, read, written
from pieria.graph.edge import Edge
from pieria.graph.memories import memory_of
from pieria.graph.nodes import Episodic, Source
from pieria.learning.steps import Step
from pieria.record import check
from pieria.record.changeset import Changeset as Change
from pieria.record.changeset import Record
from pieria.record.ids import new_id
from pieria.record.privacy import cut_private, redact
from pieria.runtime.background import LAST_STEP, background
from pieria.sessions.log import UnfinishedSession, held_elsewhere, unknown
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank import Bank

SECOND = 1_000_000
DAY = 86_400 * SECOND
KEPT_IDLE = DAY
"""How long a session without an episode is kept for another episode."""
SWEPT = DAY // 24
"""The shortest time between two searches for such sessions."""
BEAT_PATIENCE = 0.5
"""Seconds to wait for another writer when only the lease is renewed."""
SOON = 1.0
ANY_ID = "step"

T = TypeVar("T")
Records = Callable[[Writer], Iterable[Record]]


class BankLog:
    """The log of one open bank. Thread-safe."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._lease = int(bank.core.session_lease * SECOND)
        self._swept: int | None = None
        self._beating = _Beating(self)
        self._token = new_id()
        self._held: set[str] = set()
        self._kept: dict[str, tuple[Changeset, ...]] = {}
        """Of held sessions, the knowledge already written, so that each part is written once."""

    # --- records

    def begin(self, kept: UnfinishedSession) -> UnfinishedSession:
        kept = self._screened(kept)

        def records(writer: Writer) -> Iterator[Record]:
            yield from self._idle_for_long(writer)
            yield from self._of_session(writer, kept)
            yield from (Record(HELD, kept.id, self._token), *self._signed(writer))

        self._write("session begin", kept.id, records)
        self._taken(kept.id)
        self._kept[kept.id] = kept.waiting
        return kept

    def step(self, kept: UnfinishedSession, step: Step) -> Step:
        step = self._screened_step(step)
        key = _key(kept.id, step.index)

        def records(writer: Writer) -> Iterator[Record]:
            held = writer.records(STEPS, key).get(key, {})
            value = {**held, **step.as_dict()}
            yield from self._of_session(writer, kept)
            if held.get(PURGED):
                value = without_words(value)
            elif held.get(STATELESS):
                value = without_state(value)
            yield Record(STEPS, key, value)

        self._write_session("session step", kept, records)
        return step

    def withdraw(self, kept: UnfinishedSession, index: int) -> None:
        def records(writer: Writer) -> Iterator[Record]:
            yield from self._of_session(writer, kept)
            yield Record(STEPS, _key(kept.id, index), None)

        self._write_session("session withdraw", kept, records)

    def keep(self, kept: UnfinishedSession) -> UnfinishedSession:
        kept = self._screened(kept)

        def records(writer: Writer) -> Iterator[Record]:
            yield from self._of_session(writer, kept)
            if kept.episode is None:
                yield from _dropped(writer, STEPS, kept.id)
                writer.enqueue(later_sleep(self._bank.core, writer))

        self._write_session("session", kept, records)
        return kept

    def commit(self, kept: UnfinishedSession, changeset: Changeset, forget: Collection[int] = ()) -> None:
        changeset = self._fitting(changeset)
        nodes = nodes_of_steps(changeset)

        def records(writer: Writer) -> Iterator[Record]:
            yield from self._of_session(writer, kept)
            held = writer.records(STEPS, f"{kept.id}/")
            gone = set(held) if kept.episode is None else {_key(kept.id, index) for index in forget}
            for key, value in held.items():
                ids = nodes.get(value["index"], ())
                if key in gone:
                    yield Record(STEPS, key, None)
                elif ids:
                    yield Record(STEPS, key, {**value, NODES: sorted({*ids, *value.get(NODES, ())})})
            if kept.episode is None:
                writer.enqueue(later_sleep(self._bank.core, writer))

        if changeset.empty:
            self._write_session("session commit", kept, records)
        else:
            more = {id: {"session": kept.id, "sequence": index} for index, ids in nodes.items() for id in ids}
            self._bank.graph._commit(changeset, self._under_hold(kept.id, records), more)
            self._kept[kept.id] = kept.waiting

    def load(self, id: str) -> tuple[UnfinishedSession, list[Step]] | None:
        with self._bank.core.reading() as reader:
            found = reader.records(SESSIONS, id).get(id)
            steps = reader.records(STEPS, f"{id}/")
            return (
                None
                if found is None
                else (self._read(reader, id, found), [readable(id, partial(_step, value)) for value in steps.values()])
            )

    def steps(self, id: str, indices: Collection[int]) -> list[Step]:
        with self._bank.core.reading() as reader:
            found = reader.records(STEPS, keys=[_key(id, index) for index in indices])
            if not found and id not in reader.records(SESSIONS, id):
                raise unknown(id)
        return [readable(id, partial(_step, value)) for _, value in sorted(found.items())]

    def holds(self, id: str) -> bool:
        return id in self._held

    def kept(self) -> list[UnfinishedSession]:
        with self._bank.core.reading() as reader:
            return [self._read(reader, id, value) for id, value in reader.records(SESSIONS).items()]

    def _read(self, reader: Reader, id: str, value: Mapping[str, Any]) -> UnfinishedSession:
        own = {name: part for name, part in value.items() if name != TOUCHED}

        def kept() -> UnfinishedSession:
            waiting = _waiting(reader, id, own["waiting"])
            return UnfinishedSession.from_dict({**own, "waiting": waiting, "id": id, "repo": self._bank.name})

        return readable(id, kept)

    def end(self, id: str) -> None:
        def records(writer: Writer) -> Iterator[Record]:
            yield from (*_dropped(writer, STEPS, id), *_dropped(writer, WAITING, id))
            yield Record(SESSIONS, id, None)
            yield from self._freed(writer, id)

        self._write_held("session end", id, records)
        self._let_go(id)

    # --- holding

    def hold(self, id: str) -> None:
        def records(writer: Writer) -> Iterator[Record]:
            if id not in writer.records(SESSIONS, id):
                raise unknown(id)
            held = writer.records(HELD)
            holder = held.get(id)
            if holder == self._token or self._is_there(writer, holder):
                raise held_elsewhere(id)
            if holder is not None and Counter(held.values())[holder] == 1:
                yield Record(HOLDERS, holder, None)
            yield from (Record(HELD, id, self._token), *self._signed(writer))

        self._write("session hold", id, records)
        self._taken(id)

    def release(self, id: str) -> None:
        self._write_held("session release", id, lambda writer: self._freed(writer, id))
        self._let_go(id)

    def beat(self) -> float | None:
        """Renew the lease if the log holds sessions. Return the seconds until the next renewal, or None."""
        if not self._held or self._bank.core.closed:
            return None
        try:
            with self._bank.core.store.writing(BEAT_PATIENCE) as writer:
                writer.note(self._signed(writer))
        except PieriaError as problem:
            # Another process writes, or a server is away: retry soon, before the lease ends.
            if not problem.retryable:
                raise
            return SOON
        return self._lease / SECOND / 3

    def _let_go(self, id: str) -> None:
        self._held.discard(id)
        self._kept.pop(id, None)
        if not self._held:
            background.drop(self._beating)

    def _taken(self, id: str) -> None:
        self._held.add(id)
        self._kept.pop(id, None)
        background.add(self._beating, self._lease / SECOND / 3)

    def _freed(self, writer: Writer, id: str) -> Iterator[Record]:
        yield Record(HELD, id, None)
        if all(token != self._token for other, token in writer.records(HELD).items() if other != id):
            yield Record(HOLDERS, self._token, None)

    def _signed(self, writer: Writer) -> list[Record]:
        """Return the record that renews the lease, if the last renewal is old enough."""
        at = writer.records(HOLDERS, self._token).get(self._token)
        now = self._bank.core.now()
        is_new = at is not None and abs(now - at) < self._lease // 3
        return [] if is_new else [Record(HOLDERS, self._token, now)]

    def _is_there(self, reader: Reader, holder: str | None) -> bool:
        return is_there(reader, holder, self._bank.core.now(), self._lease)

    # --- writing

    def _write(self, what: str, id: str, records: Records) -> None:
        ids = (f"{SESSIONS}:{id}",)
        self._bank.core.apply(lambda writer: Change(what, records=list(records(writer)), ids=ids))

    def _write_session(self, what: str, kept: UnfinishedSession, records: Records) -> None:
        self._write_held(what, kept.id, records)
        self._kept[kept.id] = kept.waiting

    def _write_held(self, what: str, id: str, records: Records) -> None:
        self._write(what, id, self._under_hold(id, records))

    def _under_hold(self, id: str, records: Records) -> Records:
        """Return the records after a check that the session exists and this log holds it."""

        def checked(writer: Writer) -> Iterator[Record]:
            if id not in writer.records(SESSIONS, id):
                raise unknown(id)
            if writer.records(HELD, id).get(id) != self._token:
                self._held.discard(id)
                self._kept.pop(id, None)
                raise held_elsewhere(id)
            # Records that release the session come last, because they delete this one.
            yield from self._signed(writer)
            yield from records(writer)

        return checked

    def _fitting(self, changeset: Changeset) -> Changeset:
        """Return the changeset without vectors of another dimension than the bank's.

        The bank embeds these nodes again.
        """
        own = self._bank.core.embedding
        dimension = None if own.embedder is None else own.dimension()
        fits = [node.embedding is None or len(node.embedding) == dimension for node in changeset.additions]
        pairs = zip(changeset.additions, fits, strict=True)
        return replace(changeset, additions=[node if fit else replace(node, embedding=None) for node, fit in pairs])

    def _of_session(self, reader: Reader, kept: UnfinishedSession) -> Iterator[Record]:
        """Yield the record of the session, and its pending knowledge that is not written yet."""
        there = self._kept.get(kept.id)
        if there is None or not _begins_with(kept.waiting, there):
            yield from _dropped(reader, WAITING, kept.id)
            there = ()
        for number, part in enumerate(kept.waiting[len(there) :], start=len(there)):
            yield Record(WAITING, _key(kept.id, number), written(part))
        own = replace(kept, waiting=()).as_dict()
        yield Record(SESSIONS, kept.id, {**own, "waiting": len(kept.waiting), TOUCHED: self._bank.core.now()})

    def _idle_for_long(self, writer: Writer) -> Iterator[Record]:
        """Delete, from time to time, sessions that have had no episode for long."""
        now = self._bank.core.now()
        if self._swept is not None and abs(now - self._swept) < SWEPT:
            return
        self._swept = now
        held = writer.records(HELD)
        for id, value in writer.records(SESSIONS).items():
            is_old = abs(now - value[TOUCHED]) >= KEPT_IDLE
            if value["episode"] is None and is_old and not self._is_there(writer, held.get(id)):
                yield from (Record(SESSIONS, id, None), Record(HELD, id, None))
        there = {token for token in held.values() if self._is_there(writer, token)}
        yield from (Record(HOLDERS, token, None) for token in writer.records(HOLDERS) if token not in there)

    # --- privacy

    def _screened(self, kept: UnfinishedSession) -> UnfinishedSession:
        goal = self._bank.core.screen(kept.goal, "goal").text
        # Redact instead of refusing: a foreign error may quote user text, but must not fail the write.
        reason = None if kept.reason is None else redact(cut_private(kept.reason)[0])[0]
        answers = self._bank.core.screen_within(dict(kept.answers))
        return replace(kept, goal=goal, reason=reason, waiting=self._screened_waiting(kept), answers=answers)

    def _screened_waiting(self, kept: UnfinishedSession) -> tuple[Changeset, ...]:
        """Return the pending knowledge, screened. Written parts were screened before."""
        there = self._kept.get(kept.id, ())
        begun = len(there) if _begins_with(kept.waiting, there) else 0
        return (*kept.waiting[:begun], *map(self._screened_part, kept.waiting[begun:]))

    def _screened_part(self, part: Changeset) -> Changeset:
        given = written(part)
        kept = self._bank.core.screen_within(given)
        return part if kept == given else read(kept)

    def _screened_step(self, step: Step) -> Step:
        """Return the screened step. Raise now if it could never become a node, rather than at the commit."""
        check.text(step.observation, "observation")
        kept = replace(
            step,
            observation=self._bank.core.screen(step.observation, "observation").text,
            action=self._bank.core.screen(step.action, "action").text,
            subgoal=self._bank.core.screen(step.subgoal, "subgoal").text,
            state=None if step.state is None else self._bank.core.screen(step.state, "state").text,
        )
        node = Episodic(
            id=ANY_ID, observation=kept.observation, action=kept.action, subgoal=kept.subgoal, state=kept.state or ""
        )
        try:
            drafted(self._bank.core, memory_of(node), lambda: None)
        except InputError as problem:
            raise problem.renamed("step") from problem
        return kept


class _Beating:
    """Runs the log's renewals in the background."""

    last_step = LAST_STEP

    def __init__(self, log: BankLog) -> None:
        self._log = log

    def step(self) -> float | None:
        return self._log.beat()


def nodes_of_steps(changeset: Changeset) -> dict[int, set[str]]:
    """Return the source and episodic nodes of each step in a changeset."""
    sources = {node.id: node.step_index for node in changeset.additions if isinstance(node, Source)}
    lived = {node.id for node in changeset.additions if isinstance(node, Episodic)}
    found: dict[int, set[str]] = {}
    for id, index in sources.items():
        found.setdefault(index, set()).add(id)
    for one, other, edge in changeset.ties():
        for source, node in ((one, other), (other, one)):
            if edge == Edge.PROVENANCE and source in sources and node in lived:
                found[sources[source]].add(node)
    return found


def _begins_with(waiting: tuple[Changeset, ...], there: tuple[Changeset, ...]) -> bool:
    return len(there) <= len(waiting) and all(one is other for one, other in zip(there, waiting, strict=False))


def _dropped(reader: Reader, collection: str, id: str) -> Iterator[Record]:
    return (Record(collection, key, None) for key in reader.records(collection, f"{id}/"))


def _waiting(reader: Reader, id: str, kept: Any) -> list[Any]:
    if not isinstance(kept, int):
        # Older banks keep all of it in the session's own record.
        return [] if kept is None else [kept]
    keys = [_key(id, number) for number in range(kept)]
    found = reader.records(WAITING, keys=keys) if keys else {}
    return [found[key] for key in keys]


def _key(id: str, index: int) -> str:
    return f"{id}/{index:08d}"


def _step(value: Mapping[str, Any]) -> Step:
    return Step.from_dict({name: part for name, part in value.items() if name not in (NODES, PURGED, STATELESS)})


def readable(id: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except (KeyError, TypeError, ValueError) as problem:
        hint = "A faulty import or another program wrote it. Restore a backup."
        raise CorruptError("load", f"the session {id} cannot be read", hint=hint) from problem
