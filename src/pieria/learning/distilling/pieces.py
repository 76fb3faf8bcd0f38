"""A piece of a session in the bank: its raw events, what is to be written of it, and what is left for the next piece.

Raw events are records of the bank. Of what was said they hold no word: that is a turn, and goes when the turn does.

- collection `events`, key `SESSION/EVENT`: an event that is still to be distilled, or that the next piece needs;
- collection `events.told`, key `SESSION/EVENT`: short forms of the ids that a piece has used up, so that an event that
  is told again is known;
- collection `events.sessions`, key SESSION: how much there is, and since when;
- collection `events.heard`, key `SESSION/EVENT`: digests of the words that a tool put out, until the session ends;
- collection `events.mined`, key `SESSION/TURN`: which memory stands for the turn of an event, where what was said had
  come from a log before.

SESSION is the key of a host's session, EVENT the short form of an event's id.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from pieria.record.changeset import Record
from pieria.record.event import SPOKEN, Event
from pieria.record.ids import derived_id
from pieria.record.repetition import Runs, digests_of
from pieria.store.protocol import Reader

RAW, USED, SESSIONS, MINED = "events", "events.told", "events.sessions", "events.mined"
HEARD = "events.heard"
WAITING = "waiting"
"""Said of a raw event that a piece has told of and the next one needs."""
ALIKE = 0.8
"""Of the terms of two observations that are one: the share which they have in common."""
ENOUGH = 150
"""Raw events after which a session is distilled while it goes on."""
CLOSING = ("end", "compact")
_SHORT = 14


@dataclass(frozen=True, slots=True)
class State:
    """Of a session: how many raw events are new, and whether it came to an end or a compaction since."""

    host: str
    session: str
    new: int = 0
    closing: bool = False
    touched: int = 0
    """When the latest came in, in microseconds."""

    @property
    def is_due(self) -> bool:
        return self.closing or self.new >= ENOUGH

    def record(self) -> Record:
        key = session_key(self.host, self.session)
        value = {"host": self.host, "session": self.session, "new": self.new, "closing": self.closing}
        return Record(SESSIONS, key, {**value, "touched": self.touched})


@dataclass(frozen=True, slots=True)
class Piece:
    """Raw events in the order in which they happened; `waiting` are the ids of those that were told of before."""

    key: str
    events: tuple[Event, ...]
    waiting: frozenset[str]

    @property
    def fresh(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.id not in self.waiting)

    @property
    def ends(self) -> bool:
        return any(event.what == "end" for event in self.events)

    def with_words(self, said: Mapping[str, str]) -> Piece:
        """`said` are the words of turns by the ids of their events."""
        return replace(self, events=tuple(replace(event, text=said.get(event.id, event.text)) for event in self.events))

    def without_last_task(self) -> Piece:
        """What is still worked on stays for the next piece, unless it is all there is."""
        prompts = [event for event in self.fresh if event.what == "prompt"]
        if not prompts:
            return self
        last = prompts[-1]
        kept = tuple(event for event in self.events if event.at < last.at or event.id in self.waiting)
        return replace(self, events=kept) if any(event.id not in self.waiting for event in kept) else self


def runs_of(events: Iterable[Event]) -> Runs:
    """Return the runs of what tools put out: texts that nobody in the session wrote."""
    return Runs(digests_of(event.text) for event in events if event.what not in SPOKEN)


def heard_record(event: Event, text: str) -> Record | None:
    """Return what is kept of the words that a tool put out; `None` where it said next to nothing."""
    found = digests_of(text) if event.what not in SPOKEN else b""
    return Record(HEARD, raw_key(event), b64encode(found).decode()) if found else None


def heard_runs(reader: Reader, key: str, fresh: Iterable[Record] = ()) -> Runs:
    """Return the runs that tools put out in a session, those of `fresh` records among them."""
    kept = [*reader.records(HEARD, f"{key}/").values()]
    kept += [record.value for record in fresh if record.key.startswith(f"{key}/")]
    # What an import brought may be anything.
    return Runs(b64decode(each) for each in kept if isinstance(each, str) and each.isascii())


def heard_of(reader: Reader, key: str) -> list[Record]:
    """Return the records that take away what is known of the words of a session's tools."""
    return [Record(HEARD, name, None) for name in reader.records(HEARD, f"{key}/")]


def session_key(host: str, session: str) -> str:
    return derived_id("", host, session)[:_SHORT]


def turn_id(event_id: str) -> str:
    """Of the memory that a prompt or a reply is kept as."""
    return derived_id("turn", event_id)


def alike(one: Set[str], other: Set[str]) -> bool:
    """Whether two texts say the same, or nearly, by their terms."""
    if min(len(one), len(other)) < ALIKE * max(len(one), len(other)):
        return False
    return len(one & other) >= ALIKE * len(one | other)


def mined(reader: Reader, key: str) -> dict[str, str]:
    """Which memories stand for which turns of a session."""
    return {name.partition("/")[2]: id for name, id in reader.records(MINED, f"{key}/").items()}


def mined_record(key: str, turn: str, id: str) -> Record:
    return Record(MINED, f"{key}/{turn}", id)


def short(event_id: str) -> str:
    return derived_id("", event_id)[:_SHORT]


def raw_key(event: Event) -> str:
    return f"{session_key(event.host, event.session)}/{short(event.id)}"


def raw_record(event: Event, *, waiting: bool = False) -> Record:
    told = event.as_dict()
    if event.what in SPOKEN:
        told.pop("text", None)
    return Record(RAW, raw_key(event), {**told, WAITING: True} if waiting else told)


def state_of(reader: Reader, host: str, session: str) -> State:
    key = session_key(host, session)
    held = reader.records(SESSIONS, key).get(key)
    return State(host, session) if held is None else State(**held)


def states(reader: Reader) -> list[State]:
    """Of every session of which something is still raw."""
    return [State(**value) for value in reader.records(SESSIONS).values()]


def piece_of(reader: Reader, host: str, session: str) -> Piece:
    """As it stands, without the words of turns."""
    key = session_key(host, session)
    events, waiting = [], []
    for value in reader.records(RAW, f"{key}/").values():
        is_waiting = value.pop(WAITING, False)
        event = Event.from_dict(value)
        events.append(event)
        if is_waiting:
            waiting.append(event.id)
    return Piece(key, tuple(sorted(events, key=lambda event: (event.at, event.id))), frozenset(waiting))


def is_there(reader: Reader, piece: Piece) -> bool:
    """Whether all of its raw events are still to be distilled."""
    held = reader.records(RAW, f"{piece.key}/").keys()
    return all(raw_key(event) in held for event in piece.events)


def used(reader: Reader, key: str) -> set[str]:
    """The short ids of a session's events that were told of."""
    return {each for chunk in reader.records(USED, f"{key}/").values() for each in chunk.split()}


def settling(piece: Piece, waiting: Iterable[Event], state: State) -> list[Record]:
    """What becomes of a piece's records once it is told of: nothing of it is left but what the next one needs."""
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


def said_in(events: Iterable[Any]) -> list[str]:
    """The ids of events whose words are turns."""
    return [event.id for event in events if event.what in SPOKEN]
