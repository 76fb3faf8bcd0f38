"""A year of facts, stated out of order in five time zones, compared with a plain and slow model of what held when.

The model knows no store, no versions and no days of the code: it keeps stretches of quarter hours in a list, finds the
days of a zone by looking at every quarter hour of the year, and answers a day by its last quarter hour.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest
from tests.contract.store_helpers import HandClock

import pieria
from pieria.errors import InputError, NotFoundError

ZONES = ("Pacific/Kiritimati", "Asia/Kathmandu", "Europe/Berlin", "America/Santiago", "Pacific/Honolulu")
"""Ahead of and behind UTC, by whole hours and not, and with clocks that change; in Santiago they skip a midnight."""
SINGLE, SEVERAL, ALWAYS_DATED = ("reports_to", "lives_in"), "speaks", "leads"
SUBJECTS, OBJECTS = ("Maya", "Omar"), ("Ada", "Berlin", "Carol", "Dana")
TICK = timedelta(minutes=15)
FIRST = datetime(2025, 12, 30, tzinfo=UTC)
TICKS = 96 * 370
FOREVER = 10**9
Slot = tuple[str, str]
Stretch = tuple[int, int]


def moment(tick: int) -> datetime:
    return FIRST + tick * TICK


def days_of(zone: str) -> dict[date, Stretch]:
    """Return the first tick of each day of 2026 and the first after it."""
    rules, starts = ZoneInfo(zone), dict[date, int]()
    for tick in range(TICKS):
        starts.setdefault(moment(tick).astimezone(rules).date(), tick)
    ordered = sorted(starts.items())
    return {day: (begin, end) for (day, begin), (_, end) in pairwise(ordered) if day.year == 2026}


@dataclass
class Model:
    held: dict[Slot, list[tuple[str, Stretch]]] = field(default_factory=lambda: defaultdict(list))

    def of(self, slot: Slot, object: str) -> list[Stretch]:
        return [stretch for name, stretch in self.held[slot] if name == object]

    def add(self, slot: Slot, object: str, day: Stretch | None, end: int | None, now: int) -> None:
        same = self.of(slot, object)
        others = [held for held in self.held[slot] if held[0] != object and slot[1] in SINGLE]
        begin, last = (now, now) if day is None else (day[0], day[1] - 1)
        if day is None:
            begin = last = next((first for first, over in same if first <= now < over), now)
        elif end is None and begin <= now <= last and any(begin <= first < now for _, (first, _) in others):
            begin = now
        if end is None:
            following = [first for _, (first, _) in others if first > last]
            known = [over for first, over in same if first <= max(begin, now) < over]
            until = min([FOREVER, *following, *(known or self.past_end(same, day, now))])
        else:
            until = end
        if not any(first <= begin and until <= over for first, over in same):
            for other in others:
                name, (first, over) = other
                is_of_the_day = day is not None and begin <= first and over <= last + 1 < until
                if first < until and begin < over and not is_of_the_day:
                    gone = FOREVER if end is None and first <= last else until
                    self.held[slot].remove(other)
                    pieces = ((first, min(over, begin)), (max(first, gone), over))
                    self.held[slot] += [(name, piece) for piece in pieces if piece[0] < piece[1]]
        touching = [(first, over) for first, over in same if first <= until and begin <= over]
        for stretch in touching:
            self.held[slot].remove((object, stretch))
        whole = min([begin, *(first for first, _ in touching)]), max([until, *(over for _, over in touching)])
        self.held[slot].append((object, whole))

    def past_end(self, same: list[Stretch], day: Stretch | None, now: int) -> list[int]:
        """Return the end of an earlier stretch after that day, if one is known."""
        after = [] if day is None else sorted(stretch for stretch in same if stretch[1] > day[1])
        holding = [over for first, over in after if first <= day[1]] if day is not None else []
        return holding or [over for _, over in after if over <= now][:1]

    def supersede(self, slot: Slot, object: str, day: Stretch, now: int) -> None:
        for name, (first, over) in list(self.held[slot]):
            is_of_the_day = day[0] <= first and over <= day[1]
            if name != object and first < day[1] and day[0] < over and not is_of_the_day:
                self.held[slot].remove((name, (first, over)))
                self.held[slot] += [(name, (first, day[0]))] if first < day[0] else []
        self.add(slot, object, day, None, now)

    def end(self, slot: Slot, object: str, end: int) -> bool:
        for first, over in self.of(slot, object):
            if first < end <= over:
                self.held[slot].remove((object, (first, over)))
                self.held[slot].append((object, (first, end)))
                return True
        return False

    def at(self, tick: int) -> set[tuple[str, str, str]]:
        return {
            (*slot, name) for slot, held in self.held.items() for name, (first, over) in held if first <= tick < over
        }


def statements(random: Random, days: dict[date, Stretch], number: int) -> Iterator[tuple[str, int, date, date]]:
    """Yield what is done, at which tick, and two days of the year in order."""
    ticks = sorted(random.randrange(days[date(2026, 1, 1)][0], days[date(2026, 12, 31)][0]) for _ in range(number))
    kinds = ("day", "day", "day", "undated", "until", "one day", "end", "end", "supersede", "today")
    for tick in ticks:
        begin, end = sorted(random.sample(sorted(days), 2))
        yield random.choice(kinds), tick, begin, end


def check_year(zone: str, seed: int, number: int, every: int, data: str | Path) -> None:
    random, days, model, clock = Random(f"{seed} {zone}"), days_of(zone), Model(), HandClock(FIRST)
    with pieria.open(zone.rpartition("/")[2].lower(), data=data, clock=clock, settings={"time_zone": zone}) as bank:
        for kind, tick, begin, end in statements(random, days, number):
            clock.now = moment(tick)
            subject, object = random.choice(SUBJECTS), random.choice(OBJECTS)
            predicates = (ALWAYS_DATED,) if kind == "supersede" else (*SINGLE, SEVERAL)
            slot = (subject, random.choice(predicates))
            match kind:
                case "day":
                    bank.facts.add(*slot, object, valid_from=begin.isoformat())
                    model.add(slot, object, days[begin], None, tick)
                case "today":
                    today = next(day for day, (first, over) in days.items() if first <= tick < over)
                    bank.facts.add(*slot, object, valid_from=today)
                    model.add(slot, object, days[today], None, tick)
                case "undated":
                    bank.facts.add(*slot, object)
                    model.add(slot, object, None, None, tick)
                case "until" | "one day":
                    last = begin if kind == "one day" else end
                    bank.facts.add(*slot, object, valid_from=begin, valid_until=last.isoformat())
                    model.add(slot, object, days[begin], days[last][1], tick)
                case "supersede":
                    bank.facts.supersede(*slot, object, at=begin.isoformat())
                    model.supersede(slot, object, days[begin], tick)
                case _:
                    try:
                        bank.facts.invalidate(*slot, object, at=end.isoformat())
                    except (InputError, NotFoundError):
                        assert not model.end(slot, object, days[end][1])
                    else:
                        assert model.end(slot, object, days[end][1])
        assert bank.facts.conflicts() == []
        asked = sorted(days)[::every]
        found = {day: bank.facts.query(valid_at=day.isoformat()) for day in asked}
        told = {day: {(fact.subject, fact.predicate, fact.object) for fact in facts} for day, facts in found.items()}
        assert told == {day: model.at(days[day][1] - 1) for day in asked}


@pytest.mark.parametrize("zone", ZONES)
def test_each_day_of_a_year_has_the_facts_of_a_plain_model(tmp_path: Path, zone: str) -> None:
    check_year(zone, seed=1, number=60, every=9, data=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("seed", range(2, 4))
def test_each_day_of_many_years_has_those_facts(tmp_path: Path, zone: str, seed: int) -> None:
    check_year(zone, seed, number=200, every=1, data=tmp_path)


@pytest.mark.slow
def test_each_day_of_a_year_is_the_same_on_a_server(empty_database: str) -> None:
    for number, zone in enumerate(ZONES):
        check_year(zone, seed=number, number=200, every=1, data=empty_database)
