"""Records of a session's raw events: what is pending, what was used, and what the next piece needs.

Raw events hold no spoken words: those are in turns, and disappear with them.

- collection `events`, key `SESSION/EVENT`: an event that is pending, or that the next piece needs;
- collection `events.told`, key `SESSION/EVENT`: short ids of events that a piece used, to recognise repeats;
- collection `events.sessions`, key SESSION: how many events are pending, and since when;
- collection `events.heard`, key `SESSION/EVENT`: digests of tool output, until the session ends;
- collection `events.ended`, key ID: when a session ended lately, by the short form of its id;
- collection `events.mined`, key `SESSION/TURN`: the memory that holds the turn of an event, if a log had it before.

SESSION is the key of a host's session, EVENT the short form of an event's id.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from pieria.language.repetition import Runs, digests_of
from pieria.record.changeset import Record
from pieria.record.event import SPOKEN, AgentEvent
from pieria.record.ids import derived_id
from pieria.store.protocol import Reader

RAW, USED, SESSIONS, MINED = "events", "events.told", "events.sessions", "events.mined"
HEARD, ENDED = "events.heard", "events.ended"
WAITING = "waiting"
"""Marks a raw event that a piece used and the next one needs."""
ALIKE = 0.8
"""Two observations with this share of common terms count as one."""
ENOUGH = 150
"""Raw events after which a running session is distilled."""
CLOSING = ("end", "compact")
_SHORT = 14


@dataclass(frozen=True, slots=True)
class State:
    """A session's count of pending raw events, and whether it ended or was compacted since."""

    host: str
    session: str
    new: int = 0
    closing: bool = False
    touched: int = 0
    """Time of the latest event, in microseconds."""

    @property
    def is_due(self) -> bool:
        return self.closing or self.new >= ENOUGH

    def record(self) -> Record:
        key = session_key(self.host, self.session)
        value = {"host": self.host, "session": self.session, "new": self.new, "closing": self.closing}
        return Record(SESSIONS, key, {**value, "touched": self.touched})


@dataclass(frozen=True, slots=True)
class Piece:
    """Raw events in order of time; `waiting` holds the ids that an earlier piece used."""

    key: str
    events: tuple[AgentEvent, ...]
    waiting: frozenset[str]

    @property
    def fresh(self) -> tuple[AgentEvent, ...]:
        return tuple(event for event in self.events if event.id not in self.waiting)

    @property
    def ends(self) -> bool:
        return any(event.what == "end" for event in self.events)

    def with_words(self, said: Mapping[str, str]) -> Piece:
        """Return the piece with the words of turns filled in; `said` maps event ids to words."""
        return replace(self, events=tuple(replace(event, text=said.get(event.id, event.text)) for event in self.events))

    def without_last_task(self) -> Piece:
        """Return the piece without the running task, unless it has no other."""
        prompts = [event for event in self.fresh if event.what == "prompt"]
        if not prompts:
            return self
        last = prompts[-1]
        kept = tuple(event for event in self.events if event.at < last.at or event.id in self.waiting)
        return replace(self, events=kept) if any(event.id not in self.waiting for event in kept) else self


def runs_of(events: Iterable[AgentEvent]) -> Runs:
    """Return the runs of tool output: texts that no one in the session wrote."""
    return Runs(digests_of(event.text) for event in events if event.what not in SPOKEN)


def heard_record(event: AgentEvent, text: str) -> Record | None:
    """Return the digest record of a tool's output; `None` if the output is too short."""
    found = digests_of(text) if event.what not in SPOKEN else b""
    return Record(HEARD, raw_key(event), b64encode(found).decode()) if found else None


def heard_runs(reader: Reader, key: str, fresh: Iterable[Record] = ()) -> Runs:
    """Return the runs of tool output in a session, including those of `fresh` records."""
    kept = [*reader.records(HEARD, f"{key}/").values()]
    kept += [record.value for record in fresh if record.key.startswith(f"{key}/")]
    # Imported records may hold any value.
    return Runs(b64decode(each) for each in kept if isinstance(each, str) and each.isascii())


def heard_of(reader: Reader, key: str) -> list[Record]:
    """Return the records that delete the digests of a session's tool output."""
    return [Record(HEARD, name, None) for name in reader.records(HEARD, f"{key}/")]


def session_key(host: str, session: str) -> str:
    return derived_id("", host, session)[:_SHORT]


def turn_id(event_id: str) -> str:
    """Return the id of the memory that holds a prompt or reply."""
    return derived_id("turn", event_id)


def alike(one: Set[str], other: Set[str]) -> bool:
    """Return whether two texts say nearly the same, by their terms."""
    if min(len(one), len(other)) < ALIKE * max(len(one), len(other)):
        return False
    return len(one & other) >= ALIKE * len(one | other)


def mined(reader: Reader, key: str) -> dict[str, str]:
    """Return the memory id of each mined turn of a session."""
    return {name.partition("/")[2]: id for name, id in reader.records(MINED, f"{key}/").items()}


def mined_record(key: str, turn: str, id: str) -> Record:
    return Record(MINED, f"{key}/{turn}", id)


def short(event_id: str) -> str:
    return derived_id("", event_id)[:_SHORT]


def raw_key(event: AgentEvent) -> str:
    return f"{session_key(event.host, event.session)}/{short(event.id)}"


def raw_record(event: AgentEvent, *, waiting: bool = False) -> Record:
    told = event.as_dict()
    if event.what in SPOKEN:
        told.pop("text", None)
    return Record(RAW, raw_key(event), {**told, WAITING: True} if waiting else told)


def state_of(reader: Reader, host: str, session: str) -> State:
    key = session_key(host, session)
    held = reader.records(SESSIONS, key).get(key)
    return State(host, session) if held is None else State(**held)


def states(reader: Reader) -> list[State]:
    """Return the state of every session with raw events."""
    return [State(**value) for value in reader.records(SESSIONS).values()]


def piece_of(reader: Reader, host: str, session: str) -> Piece:
    """Return the session's current piece, without the words of turns."""
    key = session_key(host, session)
    events, waiting = [], []
    for value in reader.records(RAW, f"{key}/").values():
        is_waiting = value.pop(WAITING, False)
        event = AgentEvent.from_dict(value)
        events.append(event)
        if is_waiting:
            waiting.append(event.id)
    return Piece(key, tuple(sorted(events, key=lambda event: (event.at, event.id))), frozenset(waiting))


def is_there(reader: Reader, piece: Piece) -> bool:
    """Return whether all raw events of the piece are still pending."""
    held = reader.records(RAW, f"{piece.key}/").keys()
    return all(raw_key(event) in held for event in piece.events)


def used(reader: Reader, key: str) -> set[str]:
    """Return the short ids of a session's events that earlier pieces used."""
    return {each for chunk in reader.records(USED, f"{key}/").values() for each in chunk.split()}


def settling(piece: Piece, waiting: Iterable[AgentEvent], state: State) -> list[Record]:
    """Return the record changes after a piece is distilled: keep only the events that the next piece needs."""
    kept = {} if piece.ends else {event.id: event for event in waiting}
    records: list[Record] = []
    for event in piece.events:
        if event.id not in kept:
            records.append(Record(RAW, raw_key(event), None))
        elif event.id not in piece.waiting:
            records.append(raw_record(event, waiting=True))
    fresh = piece.fresh
    if fresh:
        records.append(Record(USED, f"{piece.key}/{short(fresh[0].id)}", " ".join(short(event.id) for event in fresh)))
    left = state.new - len(fresh)
    after = replace(state, new=max(0, left), closing=False)
    records.append(after.record() if left > 0 or kept else Record(SESSIONS, piece.key, None))
    return records


def ending(reader: Reader, ends: Mapping[str, int], since: int) -> Iterator[Record]:
    """Yield the records of when these sessions ended, and drop those from before `since`."""
    for key, at in reader.records(ENDED).items():
        if at < since:
            yield Record(ENDED, key, None)
    for session, at in ends.items():
        yield Record(ENDED, short(session), at)


def said_in(events: Iterable[Any]) -> list[str]:
    """Return the ids of events whose words are turns."""
    return [event.id for event in events if event.what in SPOKEN]
