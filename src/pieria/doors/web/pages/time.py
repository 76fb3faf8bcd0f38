"""Time: the journal, change by change; sessions; and facts over their validity."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from pieria.doors.http.schemas import flag, text, whole
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View, day
from pieria.doors.web.zones import END, LAST
from pieria.errors import AccessError, InputError, NotFoundError, QuarantinedError
from pieria.record.time import is_over
from pieria.toolsets import Access

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.results.general import SessionSeen
    from pieria.record.changeset import Change
    from pieria.record.fact import Fact

CHANGES, SESSIONS, FACTS = 40, 15, 100
WITHOUT_VERSIONS = ("facts declare", "hooks", "lift", "purge", "recalled", "scratchpad", "session")
"""First words of changes that keep no version to return to."""
OF_A_SESSION = "sessions:"
"""The journal's prefix for ids of sessions."""
NAMED = 3
"""Most memories of a change that are shown by their text."""
ENDED, NEVER = "ended", "never"
"""Corrections of a fact: it has ended, or it never was true."""
STATED = {
    "subject": text("The subject."),
    "predicate": text("The predicate."),
    "object": text("The object."),
    "valid_from": day("The first day on which it is true."),
    "valid_until": day("The last day on which it is true.", END),
    "supersede": flag("Whether all other values end."),
}
CORRECTED = {
    "id": text("Which fact."),
    "how": text("Whether it was ever true.", enum=[ENDED, NEVER]),
    "at": day("The last day on which it was true.", END),
    "reason": text("Why."),
}
MARGIN = timedelta(hours=1)
"""Shortest span shown if all facts began at one moment."""
LEAST = 0.006
"""Smallest share of a line for a bar, so that short ones are visible."""
FAR = 100
"""How many times farther from the middle than its neighbour a moment must be to fall beyond the line's edge."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a change was about, in words, and the address that shows it."""

    words: str
    to: str
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A change with the items that it was about, as far as they can still be shown."""

    change: Change
    about: tuple[Named, ...]

    @property
    def more(self) -> int:
        return len(self.change.ids) - len(self.about)

    @property
    def is_final(self) -> bool:
        return self.change.what.startswith(WITHOUT_VERSIONS)


@dataclass(frozen=True, slots=True)
class Bar:
    """A position on a line from 0 to 1; open if the end is unknown."""

    start: float
    width: float
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Moments on a line from 0 to 1; `is_cut` says that some lie beyond its edges."""

    first: datetime
    last: datetime
    is_cut: bool = False

    @staticmethod
    def over(moments: Iterable[datetime]) -> Scale:
        """Return the scale around the median moment, up to the first large gap: a date in the year 1 would squeeze
        all others.
        """
        every = sorted(set(moments))
        middle = every[len(every) // 2]
        away = sorted(abs(moment - middle) for moment in every)
        leaps = (near for near, far in pairwise(away[len(every) // 2 :]) if far > FAR * max(near, MARGIN))
        reach = next(leaps, away[-1])
        kept = [moment for moment in every if abs(moment - middle) <= reach]
        return Scale(kept[0], kept[-1], len(kept) < len(every))

    def at(self, moment: datetime) -> float:
        return min(1.0, max(0.0, (moment - self.first) / max(self.last - self.first, MARGIN)))

    def bar(self, begin: datetime, end: datetime | None) -> Bar:
        start, stop = self.at(begin), 1.0 if end is None else self.at(end)
        width = max(stop - start, LEAST)
        return Bar(min(start, 1.0 - width), width, end is None)


@dataclass(frozen=True, slots=True)
class Held:
    """A fact as shown: how long it was valid, and whether another fact contradicts it at the same time."""

    fact: Fact
    bar: Bar
    is_against: bool
    is_over: bool


def _overview(asked: Asked) -> Answer:
    bank, given = asked.bank, asked.given
    before = _bound(asked)
    entries = _entries(asked, before)
    seen = bank.sessions.list(limit=SESSIONS)
    oldest = entries[-1].change.seq if entries else 1
    sessions, scale = _spans([each for each in seen if each.id is not None])
    values = {
        "days": [(day, [*group]) for day, group in groupby(entries, key=lambda entry: asked.zone.day(entry.change.at))],
        "older": oldest if oldest > 1 else None,
        "goes_on": before is not None,
        "before": before,
        "until": given.get("until"),
        "today": asked.today,
        "sessions": sessions,
        "scale": scale,
        "has_more": seen.cursor is not None,
    }
    return Shown("time/time.html", values, part="now")


def _bound(asked: Asked) -> int | None:
    """Return the number of the first change that is left out, from a number or a day."""
    given = asked.given
    bounds = [given["before"]] if "before" in given else []
    if "until" in given:
        bounds.append(_first_after(asked.bank, asked.moments["until"]))
    return min(bounds, default=None)


def _first_after(bank: Bank, moment: datetime) -> int:
    """Return the number of the first change at that moment or later, or of the next change. Known times never
    decrease, so a binary search finds it.
    """
    newest = bank.changes(last=1)
    low, high = 1, newest[0].seq + 1 if newest else 1
    while low < high:
        middle = (low + high) // 2
        [change] = bank.changes(middle - 1, 1)
        low, high = (change.seq + 1, high) if change.at < moment else (low, middle)
    return low


def _entries(asked: Asked, before: int | None) -> list[Entry]:
    """Return the newest changes, or those before a number, newest first."""
    bank = asked.bank
    found = bank.changes(last=CHANGES) if before is None else bank.changes(max(0, before - 1 - CHANGES), CHANGES)
    wanted = [each for each in found if before is None or each.seq < before]
    return [Entry(change, tuple(_about(asked, change))) for change in reversed(wanted)]


def _about(asked: Asked, change: Change) -> Iterator[Named]:
    for id in change.ids[:NAMED]:
        # No page shows what is in quarantine.
        with suppress(QuarantinedError):
            yield from _named(asked, change, id)


def _named(asked: Asked, change: Change, id: str) -> Iterator[Named]:
    memory = asked.bank.get(id, include_removed=True)
    if memory is not None and memory.is_stored:
        yield Named(memory.title or memory.text, asked.path("memory", id=id), memory.ended)
    elif memory is not None or change.what.startswith("facts"):
        yield from _fact(asked, id)
    elif id.startswith(OF_A_SESSION):
        yield from _session(asked, id.removeprefix(OF_A_SESSION))


def _session(asked: Asked, id: str) -> Iterator[Named]:
    """Yield the session by its goal. If the session is gone, link to its memories, for callers who may list them."""
    standing = asked.bank.sessions.status(id)
    if standing is not None:
        yield Named(standing.goal or id, asked.path("sessions/one", id=id))
    elif asked.may_name(id):
        yield Named(id, asked.path("memories", session=id))


def _fact(asked: Asked, id: str) -> Iterator[Named]:
    """Yield the latest version of the fact, if it exists."""
    with suppress(NotFoundError):
        fact = asked.bank.facts.history(id)[-1]
        told = f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}"
        yield Named(told, asked.path("time/facts", entity=fact.subject), fact.ended)


def _spans(seen: Sequence[SessionSeen]) -> tuple[list[tuple[SessionSeen, Bar]], Scale | None]:
    if not seen:
        return [], None
    scale = Scale.over(moment for each in seen for moment in (each.first, each.last))
    return [(each, scale.bar(each.first, each.last)) for each in seen], scale


def _facts(asked: Asked) -> Answer:
    facts, given = asked.bank.facts, asked.given
    entity, known_at, contradicted = given.get("entity"), given.get("known_at"), given.get("contradicted", False)
    if contradicted and known_at:
        raise InputError("contradicted", "no value together with known_at", contradicted)
    # Conflicts are known for today only; a past day has no marks.
    conflicts = [] if known_at else facts.conflicts(entity if contradicted else None)
    against = {fact.id: fact for conflict in conflicts for fact in conflict.facts}
    if contradicted:
        found: Sequence[Fact] = [*against.values()]
    else:
        found = facts.timeline(entity, known_at=asked.moments.get("known_at"), limit=FACTS + 1)
    held, scale = _held(found[-FACTS:], against, asked.bank.clock())
    values = {
        "entity": entity,
        "known_at": known_at,
        "contradicted": contradicted,
        # Lazy: a request for a part of the page does not need the names.
        "names": lambda: [each.name for each in facts.entities()[:FACTS]],
        "held": held,
        "scale": scale,
        "is_cut": len(found) > FACTS,
        "contradictions": len(conflicts),
        "today": asked.today,
    }
    return Shown("time/facts.html", values, part="facts")


def _held(found: Sequence[Fact], against: Container[str], now: datetime) -> tuple[list[Held], Scale | None]:
    if not found:
        return [], None
    moments = [moment for fact in found for moment in (_since(fact), fact.valid_until) if moment is not None]
    scale = Scale.over([*moments, now])
    held = [
        Held(
            fact,
            scale.bar(_since(fact), fact.valid_until),
            fact.id in against,
            is_over(fact.valid_until, now),
        )
        for fact in found
    ]
    return sorted(held, key=lambda each: (each.fact.subject, each.fact.predicate, _since(each.fact))), scale


def _since(fact: Fact) -> datetime:
    """Return when the fact became valid, or else when it became known."""
    return fact.valid_from or fact.known_from


def _stated(asked: Asked) -> Answer:
    times = {name: _time(asked, name) for name in asked.moments}
    return Moved(asked.path("time/facts", entity=asked.bank.facts.state(**{**asked.given, **times}).fact.subject))


def _time(asked: Asked, name: str) -> date | datetime:
    """Return the day that was given, or, where the reader's zone is not the bank's, the moment that it means."""
    return date.fromisoformat(asked.given[name]) if asked.zone.rules == asked.bank.zone else asked.moments[name]


def _corrected(asked: Asked) -> Answer:
    facts, given = asked.bank.facts, asked.given
    fact, reason = facts.history(given["id"])[-1], given.get("reason")
    if given["how"] == NEVER:
        facts.remove(fact.id, reason=reason)
    else:
        at = _time(asked, "at") if "at" in asked.moments else None
        facts.invalidate(fact.subject, fact.predicate, fact.object, at=at, reason=reason)
    return Moved(asked.path("time/facts", entity=fact.subject))


def _undone(asked: Asked) -> Answer:
    bank, seq = asked.bank, asked.given["seq"]
    if all(seq != held.number for held in bank.quarantines()):
        bank.undo(seq)
    elif asked.may("admin"):
        bank.lift(seq)
    else:
        raise AccessError("not_admin")
    return Moved(asked.path("time", before=asked.given.get("before")))


BEFORE = {"before": whole("Changes before this journal entry.", 1, 2**53)}
PAGE = Page(
    name="time",
    title="Time",
    key="t",
    about="changes, sessions, and how long facts were true",
    views=(
        View("GET time", _overview, {**BEFORE, "until": day("Changes on that day or earlier.", END)}),
        View(
            "GET time/facts",
            _facts,
            {
                "entity": text("A person or a thing."),
                "known_at": day("As known on that day.", LAST),
                "contradicted": flag("Only those that contradict each other."),
            },
        ),
        View("POST time/facts/state", _stated, STATED, ("subject", "predicate", "object"), Access.write),
        View("POST time/facts/correct", _corrected, CORRECTED, ("id", "how"), Access.write),
        View("POST time/undo", _undone, {**BEFORE, "seq": whole("Which change.", 1, 2**53)}, ("seq",), Access.write),
    ),
    css=("time/time.css",),
)
