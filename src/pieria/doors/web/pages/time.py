"""Time: what happened to the bank, change by change; its sessions; and facts, as long as each held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from pieria.doors.http.schemas import text, whole
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View
from pieria.errors import NotFoundError
from pieria.toolsets import Access

if TYPE_CHECKING:
    from pieria.bank.replies import SessionSeen
    from pieria.record.change import Change
    from pieria.record.fact import Fact

CHANGES, SESSIONS, FACTS = 40, 15, 100
NAMED = 3
"""Of what a change was about, so many are shown by their words."""
MARGIN = timedelta(hours=1)
"""How much there is to see at least, where all began at one moment."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a change was about, in words, and where that is shown."""

    words: str
    to: str
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A change with what it was about, where that can still be shown."""

    change: Change
    about: tuple[Named, ...]

    @property
    def more(self) -> int:
        return len(self.change.ids) - len(self.about)


@dataclass(frozen=True, slots=True)
class Bar:
    """From where to where something lies on a line from 0 to 1; open where no end is known."""

    start: float
    width: float
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Moments on a line from 0 to 1."""

    first: datetime
    last: datetime

    @staticmethod
    def over(moments: Sequence[datetime]) -> Scale:
        first, last = min(moments), max(moments)
        return Scale(first, max(last, first + MARGIN))

    def at(self, moment: datetime) -> float:
        return min(1.0, max(0.0, (moment - self.first) / (self.last - self.first)))

    def bar(self, begin: datetime, end: datetime | None) -> Bar:
        start = self.at(begin)
        return Bar(start, (1.0 if end is None else self.at(end)) - start, end is None)


@dataclass(frozen=True, slots=True)
class Held:
    """A fact as it is shown: how long it held, and whether another that holds at the same time is against it."""

    fact: Fact
    bar: Bar
    is_against: bool

    @property
    def until(self) -> datetime | None:
        """The last moment at which it held: its end is the first at which it did not."""
        end = self.fact.valid_until
        return None if end is None else end - timedelta(microseconds=1)


def _overview(asked: Asked) -> Answer:
    bank, before = asked.bank, asked.given.get("before")
    entries = _entries(asked, before)
    seen = bank.sessions(limit=SESSIONS)
    oldest = entries[-1].change.seq if entries else 1
    values = {
        "days": [(day, list(group)) for day, group in groupby(entries, key=_day)],
        "older": oldest if oldest > 1 else None,
        "goes_on": before is not None,
        "sessions": _spans([each for each in seen if each.id is not None]),
    }
    return Shown("time/time.html", values, part="journal")


def _entries(asked: Asked, before: int | None) -> list[Entry]:
    """The newest changes, or those before one, newest first."""
    bank = asked.bank
    found = bank.changes(last=CHANGES) if before is None else bank.changes(max(0, before - 1 - CHANGES), CHANGES)
    wanted = [each for each in found if before is None or each.seq < before]
    return [Entry(change, tuple(_about(asked, change))) for change in reversed(wanted)]


def _about(asked: Asked, change: Change) -> Iterator[Named]:
    for id in change.ids[:NAMED]:
        memory = asked.bank.get(id, include_removed=True)
        if memory is not None:
            yield Named(memory.title or memory.text, asked.path("memory", id=id), memory.ended)
        elif change.what.startswith("facts"):
            yield from _fact(asked, id)


def _fact(asked: Asked, id: str) -> Iterator[Named]:
    """The fact as it stands last, if there is one of that id."""
    with suppress(NotFoundError):
        fact = asked.bank.facts.history(id)[-1]
        told = f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}"
        yield Named(told, asked.path("time/facts", entity=fact.subject), fact.ended)


def _day(entry: Entry) -> date:
    return entry.change.at.date()


def _spans(seen: Sequence[SessionSeen]) -> list[tuple[SessionSeen, Bar]]:
    if not seen:
        return []
    scale = Scale.over([moment for each in seen for moment in (each.first, each.last)])
    return [(each, scale.bar(each.first, each.last)) for each in seen]


def _facts(asked: Asked) -> Answer:
    facts, given = asked.bank.facts, asked.given
    entity, known_at = given.get("entity"), given.get("known_at")
    found = facts.timeline(entity, known_at=known_at, limit=FACTS)
    # What is against each other today is marked; of a past day it is not known here.
    conflicts = [] if known_at else facts.conflicts()
    against = {fact.id for conflict in conflicts for fact in conflict.facts}
    held, scale = _held(found, against, asked.bank.clock())
    values = {
        "entity": entity,
        "known_at": known_at,
        "names": [each.name for each in facts.entities()[:FACTS]],
        "held": held,
        "scale": scale,
        "most": FACTS,
        "contradictions": len(conflicts),
        "today": asked.bank.clock().date(),
    }
    return Shown("time/facts.html", values, part="facts")


def _held(found: Sequence[Fact], against: set[str], now: datetime) -> tuple[list[Held], Scale | None]:
    if not found:
        return [], None
    moments = [moment for fact in found for moment in (_since(fact), fact.valid_until) if moment is not None]
    scale = Scale.over([*moments, now])
    held = [Held(fact, scale.bar(_since(fact), fact.valid_until), fact.id in against) for fact in found]
    return sorted(held, key=lambda each: (each.fact.subject, each.fact.predicate, _since(each.fact))), scale


def _since(fact: Fact) -> datetime:
    """Where nobody said since when it holds, it is shown since it was known."""
    return fact.valid_from or fact.known_from


def _undone(asked: Asked) -> Answer:
    asked.bank.undo(asked.given["seq"])
    return Moved(asked.path("time"))


PAGE = Page(
    name="time",
    title="Time",
    key="t",
    about="what happened, sessions, and facts as long as they held",
    views=(
        View("GET time", _overview, {"before": whole("Changes before this number of the journal.", 1, 2**53)}),
        View(
            "GET time/facts",
            _facts,
            {"entity": text("About whom or what."), "known_at": text("As it was known on that day.")},
        ),
        View("POST time/undo", _undone, {"seq": whole("Which change.", 1, 2**53)}, ("seq",), Access.write),
    ),
    css=("time/time.css",),
)
