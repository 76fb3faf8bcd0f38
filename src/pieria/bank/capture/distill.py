"""Take in captured events, and distill finished sessions into observations.

Prompts and replies become turns at once, unless a log already supplied them. Other events are kept raw and capped until
their session is distilled; then observations replace them in one transaction. The same event may arrive any number of
times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pieria.bank.capture.lessons import keep_lessons
from pieria.bank.capture.outdated import close_debts, overturn_choices
from pieria.bank.capture.sources import mined_turns
from pieria.bank.core import Core, Plan
from pieria.bank.read.get import ACTIVE_MINUTES
from pieria.bank.upkeep.automatic_sleep import later_sleep
from pieria.bank.write.remember import write_drafts
from pieria.bank.write.update import next_version, redrafted
from pieria.errors import InputError
from pieria.language.analyser import terms
from pieria.language.pasted import REPEATS, Span
from pieria.learning.distilling import pieces
from pieria.learning.distilling.calls import is_ours
from pieria.learning.distilling.pieces import Piece, State, alike, session_key, turn_id
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Write
from pieria.record.draft import Draft, NewMemory, checked
from pieria.record.event import SPOKEN, AgentEvent, capped
from pieria.record.filter import Filter, Viewer
from pieria.record.ids import new_id
from pieria.record.job import NewJob, new_job
from pieria.record.link import DRAWN_FROM, End, LinkRow
from pieria.record.memory import Memory
from pieria.record.privacy import cut_private, redact
from pieria.record.reply import Reply
from pieria.record.time import micros, moment
from pieria.record.trust import AGENT, OUTSIDE, lowered, lowest
from pieria.store.protocol import Progress, Reader, Writer
from pieria.store.rows import first_write

if TYPE_CHECKING:
    from pieria.language.repetition import Runs
    from pieria.learning.distilling.observations import Distilled, Observation
    from pieria.learning.lessons.finder import Learned

AT_ONCE = 500
"""Events per transaction."""
SILENCE = 600
"""Seconds after the last event until a session counts as idle."""
JOB = "distil"
FIX = "bugfix"
"""The type of an observation of a failure that was fixed."""
WHAT = "distil"
SECOND = 1_000_000
SPEAKER = {"prompt": ("user", "human"), "reply": ("assistant", "agent")}


@dataclass(frozen=True, slots=True)
class Observed(Reply):
    """Counts of events: new ones, turns made of them, repeated ones, ignored ones, and turns that were purged before.

    Ignored events are Pieria's own or empty.
    """

    kept: int = 0
    turns: int = 0
    repeated: int = 0
    ignored: int = 0
    purged: int = 0

    def __add__(self, other: Observed) -> Observed:
        mine, theirs = asdict(self), asdict(other)
        return Observed(**{name: mine[name] + theirs[name] for name in mine})


@dataclass(frozen=True, slots=True)
class DistilledSessions:
    """The result of distilling: sessions, consumed events, and ids of observations that are new or were met again.

    `lessons` are the ids of lessons that are new or changed. `problem` says why rules judged instead of a model.
    """

    sessions: int = 0
    events: int = 0
    ids: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    problem: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ids": list(self.ids), "lessons": list(self.lessons)}


def observed(core: Core, events: Iterable[AgentEvent | Mapping[str, Any]]) -> Observed:
    if isinstance(events, str | bytes | Mapping) or not isinstance(events, Iterable):
        raise InputError("events", "a list of events", events)
    checked_events = [event if isinstance(event, AgentEvent) else AgentEvent.from_dict(event) for event in events]
    done = Observed()
    for start in range(0, len(checked_events), AT_ONCE):
        done += _observe(core, checked_events[start : start + AT_ONCE])
    return done


def distilled_sessions(core: Core, session: str | None, progress: Progress | None) -> DistilledSessions:
    if session is not None:
        check.name(session, "session")
    with core.reading() as reader:
        found = [state for state in pieces.states(reader) if session in (None, state.session)]
    done = DistilledSessions()
    for number, state in enumerate(found, start=1):
        outcome: list[DistilledSessions] = []
        core.apply(_distilling(core, state.host, state.session, outcome, whole=True))
        for each in outcome:
            done = DistilledSessions(
                done.sessions + each.sessions,
                done.events + each.events,
                (*done.ids, *each.ids),
                tuple(dict.fromkeys((*done.lessons, *each.lessons))),
                each.problem or done.problem,
            )
        if progress is not None:
            progress(number, len(found))
    return done


def _observe(core: Core, events: Sequence[AgentEvent]) -> Observed:
    from pieria.learning.distilling.tools import trimmed

    foreign = [event for event in events if not is_ours(event)]
    kept = [_screened(core, trimmed(event.capped())) for event in foreign]
    whole = {event.id: event.text for event in foreign}
    ignored = len(events) - len(kept)
    with core.writing() as writer:
        fresh, repeated = _unknown(core, writer, kept)
        heard = list(filter(None, (pieces.heard_record(event, _clean(whole[event.id])) for event in fresh)))
        mined = list(_mined(core, writer, fresh))
        spoken = [event for event in fresh if event.id not in dict(mined)]
        turns, purged = _turns(core, writer, spoken, Heard(writer, heard))
        records = heard + [pieces.raw_record(event) for event in fresh] + [record for _, record in mined]
        ends = {event.session: micros(event.at) for event in fresh if event.what == "end"}
        records += pieces.ending(writer, ends, core.now() - ACTIVE_MINUTES * 60 * SECOND) if ends else ()
        jobs: list[NewJob] = []
        for state in _states(core, writer, fresh):
            records.append(state.record())
            jobs.append(_job(core, state))
        ids = tuple(dict.fromkeys(f"{pieces.RAW}:{session_key(event.host, event.session)}" for event in fresh))
        core.write_changes(writer, lambda _: Changeset("observe", records=records, jobs=jobs, ids=ids))
    return Observed(len(fresh), turns, repeated, ignored, purged)


def _screened(core: Core, event: AgentEvent) -> AgentEvent:
    """Redact the event and cap its text, even if the bank only flags secrets: no person checks tool output first."""
    text, length, digest = _clean(event.text), event.length, event.digest
    if event.what in SPOKEN:
        text, length, digest = capped(text, check.TEXT_LIMIT // 4)
    return replace(event, text=text, length=length, digest=digest, input=_cleaned(event.input))


def _unknown(core: Core, reader: Reader, events: Sequence[AgentEvent]) -> tuple[list[AgentEvent], int]:
    """Return the new events, each once, and the number of repeated ones."""
    fresh: dict[str, AgentEvent] = {}
    used: dict[str, set[str]] = {}
    for event in events:
        key = session_key(event.host, event.session)
        if key not in used:
            used[key] = pieces.used(reader, key)
        raw_key = pieces.raw_key(event)
        if event.id in fresh or pieces.short(event.id) in used[key] or reader.records(pieces.RAW, raw_key):
            continue
        fresh[event.id] = event
    return list(fresh.values()), len(events) - len(fresh)


def _mined(core: Core, reader: Reader, events: Sequence[AgentEvent]) -> Iterator[tuple[str, Record]]:
    """Yield events whose words a log already supplied. Each mined turn accounts for one event."""
    taken: dict[str, set[str]] = {}
    for event in events:
        if event.what not in SPOKEN or not event.text.strip():
            continue
        key = session_key(event.host, event.session)
        if key not in taken:
            taken[key] = set(pieces.mined(reader, key).values())
        _, author_type = SPEAKER[event.what]
        found = mined_turns(core, reader, event.session, author_type, event.text)
        id = next((id for id in found if id not in taken[key]), None)
        if id is not None:
            taken[key].add(id)
            yield event.id, pieces.mined_record(key, turn_id(event.id), id)


def _turns(core: Core, writer: Writer, events: Sequence[AgentEvent], heard: Heard) -> tuple[int, int]:
    """Keep prompts and replies as turns. Return the number of new turns and of purged ones."""
    said = {turn_id(event.id): event for event in events if event.what in SPOKEN and event.text.strip()}
    purged = writer.purged(list(said))
    known = writer.states(list(said))
    wanted = {id: event for id, event in said.items() if id not in purged and id not in known}
    places: dict[str, int] = {}
    drafts: list[Draft] = []
    for id, event in wanted.items():
        place = places.get(event.session)
        place = _last_place(core, writer, event.session) + 1 if place is None else place + 1
        places[event.session] = place
        author, author_type = SPEAKER[event.what]
        via, repeats = _way_of(core, event, heard)
        meta: dict[str, Any] = {"length": event.length, "digest": event.digest} if event.length else {}
        meta |= {REPEATS: [list(span) for span in repeats]} if repeats else {}
        new = NewMemory(
            event.text, id=id, kind="turn", source=event.host, author=author, author_type=author_type, meta=meta,
            session=event.session, sequence=place, at=event.at, scope=_own_scope(core), via=via, place=event.place,
        )  # fmt: skip
        drafts.append(core.screening.draft(checked(new)))
    if drafts:
        write_drafts(core, writer, drafts)
    return len(drafts), len(purged)


class Heard:
    """The output of tools in the sessions of one batch."""

    def __init__(self, reader: Reader, fresh: Sequence[Record]) -> None:
        self._reader = reader
        self._fresh = fresh
        self._runs: dict[str, Runs] = {}

    def repeated(self, event: AgentEvent) -> list[Span]:
        """Return the spans of a turn that repeat a tool's output of the same session."""
        key = session_key(event.host, event.session)
        if key not in self._runs:
            self._runs[key] = pieces.heard_runs(self._reader, key, self._fresh)
        return self._runs[key].repeated(event.text)


def _way_of(core: Core, event: AgentEvent, heard: Heard) -> tuple[str, list[Span]]:
    """Return how a turn came in, and its spans that repeat a tool's output."""
    repeats = heard.repeated(event)
    if event.what == "prompt":
        return core.via, repeats
    return lowest(core.via, OUTSIDE if repeats else AGENT), repeats


def _last_place(core: Core, reader: Reader, session: str) -> int:
    asked = Filter(now=core.now(), viewer=Viewer(everything=True), session=session, kinds=("turn",))
    newest = reader.select(asked, "newest", 1)
    return newest[0].sequence or 0 if newest else 0


def _states(core: Core, reader: Reader, events: Sequence[AgentEvent]) -> list[State]:
    """Return the state of each session after these events."""
    found: dict[tuple[str, str], State] = {}
    for event in events:
        whose = (event.host, event.session)
        state = found.get(whose) or pieces.state_of(reader, *whose)
        closing = state.closing or event.what in pieces.CLOSING
        found[whose] = replace(state, new=state.new + 1, closing=closing, touched=core.now())
    return list(found.values())


def _job(core: Core, state: State) -> NewJob:
    """Return the job that distills a session: now if enough events have come in, otherwise when the session is idle."""
    due = None if state.is_due else moment(core.now() + SILENCE * SECOND)
    payload = {"host": state.host, "session": state.session, "seen": state.new}
    return new_job(JOB, payload, key=session_key(state.host, state.session), due=due)


def _own_scope(core: Core) -> str:
    return "user" if core.is_user_bank else "bank"


def as_job(core: Core, host: str, session: str) -> Plan:
    with core.reading() as reader:
        state = pieces.state_of(reader, host, session)
    # If the clock was set back, the age of the last event is unknown.
    resting = abs(core.now() - state.touched) >= SILENCE * SECOND
    return _distilling(core, host, session, [], whole=state.closing or resting)


def _distilling(core: Core, host: str, session: str, outcome: list[DistilledSessions], *, whole: bool) -> Plan:
    """Distill now, and return the plan that writes the result. It writes nothing if another process was faster."""
    from pieria.learning.distilling.observations import distilled

    piece = piece_of(core, host, session)
    taken = piece if whole else piece.without_last_task()
    with core.reading() as reader:
        heard = pieces.heard_runs(reader, piece.key)
    made = distilled(taken.events, core.mind, told=taken.waiting, scope=_own_scope(core), heard=heard)
    drafts = [core.screening.draft(checked(each.new)) for each in made.observations]
    # Do not wait again for a model that has just failed.
    lessons = learned_of(core, taken, made.problem)
    return partial(_distilled, core, host, session, taken, made, drafts, lessons, outcome)


def piece_of(core: Core, host: str, session: str) -> Piece:
    with core.reading() as reader:
        piece = pieces.piece_of(reader, host, session)
        return piece.with_words(_said(core, reader, piece))


def learned_of(core: Core, piece: Piece, problem: str | None = None) -> Learned:
    from pieria.learning.lessons.finder import learned
    from pieria.models.minds.rules import RuleMind

    mind = core.mind if problem is None else RuleMind()
    return learned(piece.events, mind, told=piece.waiting, scope=_own_scope(core))


def _distilled(
    core: Core,
    host: str,
    session: str,
    piece: Piece,
    made: Distilled,
    drafts: Sequence[Draft],
    lessons: Learned,
    outcome: list[DistilledSessions],
    writer: Writer,
) -> Changeset:
    changeset = Changeset(WHAT)
    if not piece.fresh or not pieces.is_there(writer, piece):
        return changeset
    ids: dict[str, None] = {}
    fixes: dict[str, list[str]] = {}
    mined = pieces.mined(writer, piece.key)
    for original, draft in zip(made.observations, drafts, strict=True):
        # Of a captured turn and a mined one with the same words, the mined one stays.
        each = replace(original, sources=tuple(mined.get(turn, turn) for turn in original.sources))
        id = _keep_observation(core, writer, changeset, piece.key, each, draft, ids.keys())
        ids |= {} if id is None else {id: None}
        for turn in original.sources if id is not None and each.new.body["type"] == FIX else ():
            fixes.setdefault(turn, []).append(str(id))
    closed = close_debts(core, writer, changeset, made.completions, ids.keys())
    overturn_choices(core, writer, changeset)
    learnt = keep_lessons(core, writer, changeset, lessons, fixes, mined)
    changeset.records = pieces.settling(piece, made.waiting, pieces.state_of(writer, host, session))
    changeset.ids = tuple(dict.fromkeys([*ids, *closed, *learnt, f"{pieces.RAW}:{piece.key}"]))
    if piece.ends:
        changeset.records += pieces.heard_of(writer, piece.key)
        changeset.jobs.append(new_job("session_summary", {"session": session}))
        changeset.jobs += later_sleep(core, writer)
    outcome.append(DistilledSessions(1, len(piece.fresh), tuple(ids), tuple(learnt), made.problem or lessons.problem))
    return changeset


def _keep_observation(
    core: Core, writer: Writer, changeset: Changeset, key: str, made: Observation, draft: Draft, written: Set[str]
) -> str | None:
    """Write an observation, or count it if an equal one exists. Return None if the equal one was removed."""
    for number in range(1_000):
        id = made.id(key, number)
        if id in written or writer.purged([id]):
            continue
        held = writer.states([id]).get(id)
        if held is None:
            _write_observation(core, writer, changeset, id, made, draft)
            return id
        before = core.at_hand(writer, id)
        if not alike({*terms(before.text)}, {*terms(draft.text)}):
            continue
        if held.state.ended:
            return None
        _count_again(core, writer, changeset, before, made)
        return id
    return None


def _write_observation(
    core: Core, writer: Writer, changeset: Changeset, id: str, made: Observation, draft: Draft
) -> None:
    if made.times > 1:
        draft = redrafted(core, draft, {"body": {**made.new.body, "times": made.times}})
    write = first_write(draft, id, core.now(), f"{core.name}/{draft.new.kind}")
    changeset.writes.append(write)
    _tie(core, writer, changeset, id, made, set())


def _count_again(core: Core, writer: Writer, changeset: Changeset, before: Memory, made: Observation) -> None:
    """Count an observation again: keep its text, update its count and time."""
    held = writer.states([before.id])[before.id]
    at = held.state.at if made.new.at is None else max(held.state.at, micros(made.new.at))  # type: ignore[arg-type]
    times = int(before.body.get("times", 1)) + made.times
    state = lowered(held.state._replace(at=at, reason=None), str(made.new.via))
    write = next_version(core, writer, held, state, {"body": {**before.body, "times": times}}, AGENT)
    changeset.writes.append(write or Write(state))
    own = End("memory", before.id)
    tied = {link.target.name for link in writer.links([own], DRAWN_FROM) if link.source == own}
    _tie(core, writer, changeset, before.id, made, tied)


def _tie(core: Core, writer: Writer, changeset: Changeset, id: str, made: Observation, tied: set[str]) -> None:
    """Link an observation to the existing turns whose words it contains."""
    there = writer.states(list(made.sources))
    for source in made.sources:
        if source in there and source not in tied:
            changeset.links.append(LinkRow(new_id(), "memory", id, DRAWN_FROM, "memory", source, 1.0, None, None, ""))


def _said(core: Core, reader: Reader, piece: Piece) -> dict[str, str]:
    """Return the current text of turns, by the ids of their events."""
    mined = pieces.mined(reader, piece.key)
    turns = {id: turn_id(id) for id in pieces.said_in(piece.events)}
    by_turn = {mined.get(turn, turn): id for id, turn in turns.items()}
    standing = {id: held for id, held in reader.states(list(by_turn)).items() if not held.state.ended}
    rows = {held.state.row: id for id, held in standing.items()}
    asked = core.filter().having(viewer=Viewer(everything=True)).anything()
    return {by_turn[rows[row]]: memory.text for row, memory in reader.memories(list(rows), asked).items()}


def _clean(text: str) -> str:
    return redact(cut_private(text)[0])[0] if text else text


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, Mapping):
        return {name: _cleaned_under(name, item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def _cleaned_under(name: str, value: Any) -> Any:
    """Redact a value together with its key, because some secrets are recognized only by the key."""
    if not isinstance(value, str):
        return _cleaned(value)
    kept = _clean(f"{name}: {value}")
    return kept.removeprefix(f"{name}: ") if kept.startswith(f"{name}: ") else kept
