"""Random histories of facts, with the clock moved both ways, compared with a model that knows only days.

The model keeps for every triple the set of days on which it is true. It has no intervals, ids or versions: a stretch
is a run of days. After every change it keeps a copy of its state by known time, for questions about the past.
"""

import itertools
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.contract.store_helpers import HandClock

import pieria
from pieria.errors import InputError, NotFoundError
from pieria.record.fact import Fact

pytestmark = pytest.mark.timeout(600)  # shrinking a failing history takes minutes

SHORT, LONG = 15, 100  # histories in every run, and in the slow tests: one of 50 steps takes a third of a second
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 12
EVER, AFTER = -1, DAYS
"""The days before the first and after the last. Open intervals include them."""

SUBJECTS = {"maya": ("Maya", "MAYA", "Ｍaya", "Em"), "ada": ("Ada", " ada ")}
PREDICATES = {"lives in": ("lives_in", "Lives In"), "likes": ("likes", "LIKES")}
OBJECTS = {"rome": ("Rome", "ROME"), "oslo": ("Oslo", "oslo"), "maya": ("maya", "em")}
SINGLE = "lives in"
MEANT = {
    spelling.strip().casefold(): name
    for table in (SUBJECTS, PREDICATES, OBJECTS)
    for name, spellings in table.items()
    for spelling in spellings
}


class Triple(NamedTuple):
    subject: str
    predicate: str
    object: str


class Run(NamedTuple):
    begin: int
    end: int


Days = dict[Triple, frozenset[int]]


def runs(days: frozenset[int]) -> list[Run]:
    """Return the runs of consecutive days, each as its first day and the day after its last."""
    found: list[Run] = []
    for day in sorted(days):
        if found and found[-1].end == day:
            found[-1] = Run(found[-1].begin, day + 1)
        else:
            found.append(Run(day, day + 1))
    return found


def run_with(days: frozenset[int], day: int) -> Run | None:
    return next((run for run in runs(days) if run.begin <= day < run.end), None)


@dataclass
class Model:
    days: Days = field(default_factory=lambda: defaultdict(frozenset))
    undated: set[Triple] = field(default_factory=set)
    """Those that were ever stated without a start."""

    def others(self, triple: Triple) -> list[Triple]:
        return [other for other in self.days if other[:2] == triple[:2] and other != triple]

    def add(self, triple: Triple, begin: int | None, end: int | None, today: int) -> None:
        same = self.days[triple]
        others = self.others(triple) if triple.predicate == SINGLE else []
        is_dated = begin is not None
        if begin is None:
            known = run_with(same, today)
            if known is not None:
                begin = known.begin
            else:
                begin = today
                self.undated.add(triple)
        following = min(
            (run.begin for other in others for run in runs(self.days[other]) if run.begin > begin), default=AFTER + 1
        )
        until = following if end is None else end
        known = run_with(same, max(begin, today))
        if end is None and known is not None and max(begin, today) < following:
            until = min(known.end, following)
        elif end is None and is_dated:
            over = [run for run in runs(same) if run.end <= today and run.begin > begin]
            known = run_with(same, begin) or next(iter(over), None)
            until = following if known is None else min(known.end, following)
        stated = frozenset(range(begin, until))
        if not stated <= same or len({run_with(same, day) for day in stated}) > 1:
            for other in others:
                for run in runs(self.days[other]):
                    if stated & set(range(*run)):
                        gone = range(begin, AFTER + 1) if end is None else stated
                        self.days[other] = self.days[other] - (set(range(*run)) & set(gone))
        self.days[triple] = same | stated

    def end(self, triple: Triple, at: int) -> bool:
        holding = run_with(self.days[triple], at)
        if holding:
            self.days[triple] = self.days[triple] - set(range(at, holding.end))
        return holding is not None

    def supersede(self, triple: Triple, at: int) -> None:
        for other in self.others(triple):
            if at in self.days[other]:
                self.end(other, at)

    def copy(self) -> Days:
        return {triple: days for triple, days in self.days.items() if days}


def instant(day: int) -> datetime:
    return FIRST + timedelta(days=day)


def day_of(moment: datetime | None, missing: int) -> int:
    if moment is None:
        return missing
    day, rest = divmod(moment - FIRST, timedelta(days=1))
    assert rest == timedelta(0)
    return day


def told(facts: list[Fact]) -> Days:
    """Return the bank's facts as days, without those that ended when they began.

    Check that no two facts with the same words overlap or touch.
    """
    found: dict[Triple, list[Run]] = {}
    for fact in facts:
        triple = Triple(*(MEANT[name.casefold()] for name in (fact.subject, fact.predicate, fact.object)))
        run = Run(day_of(fact.valid_from, EVER), day_of(fact.valid_until, AFTER + 1))
        if run.begin == run.end:
            continue
        assert run.begin < run.end
        found.setdefault(triple, []).append(run)
    for stretches in found.values():
        for one, following in itertools.pairwise(stretches):
            assert one.end < following.begin
    return {triple: frozenset(day for run in stretches for day in range(*run)) for triple, stretches in found.items()}


day = st.integers(0, DAYS - 1)
maybe = st.none() | day


def spelt(table: Mapping[str, tuple[str, ...]]) -> st.SearchStrategy[tuple[str, str]]:
    return st.sampled_from([(name, spelling) for name, spellings in table.items() for spelling in spellings])


Said = tuple[Triple, tuple[str, str, str]]
said = st.tuples(spelt(SUBJECTS), spelt(PREDICATES), spelt(OBJECTS)).map(
    lambda words: (Triple(*(name for name, _ in words)), tuple(spelling for _, spelling in words))
)
"""A triple, and three names for it as a caller spells them."""


class FactsMachine(RuleBasedStateMachine):
    server: str | None = None  # its address, if the bank is not in a file

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = HandClock(instant(DAYS // 2))
        folder = Path(self.folder.name)
        self.bank = pieria.open(folder.name, data=self.server or folder, clock=self.clock)
        self.facts = self.bank.facts
        self.facts.declare("lives_in")
        self.facts.alias("Em", of="Maya")
        self.model = Model()
        self.past: list[tuple[datetime, Days]] = []
        self.keep()

    def today(self) -> int:
        return day_of(self.clock(), EVER)

    def keep(self) -> None:
        self.past.append((self.bank.changes()[-1].at, self.model.copy()))

    @rule(day=day)
    def move_the_clock(self, day: int) -> None:
        self.clock.now = instant(day)

    @rule(said=said, begin=maybe, end=maybe)
    def add(self, said: Said, begin: int | None, end: int | None) -> None:
        triple, names = said
        if begin is not None and end is not None and end <= begin:
            begin, end = end, begin + 1
        if begin is None and end is not None and end <= self.today():
            begin, end = end, end + 1  # else its start is unknown
        since, until = (None if bound is None else instant(bound) for bound in (begin, end))
        fact = self.facts.add(*names, valid_from=since, valid_until=until)
        self.model.add(triple, begin, end, self.today())
        assert fact in self.facts.timeline(names[0])
        self.keep()
        changes = self.bank.changes()
        assert self.facts.add(*names, valid_from=since, valid_until=until) == fact
        assert self.bank.changes() == changes

    @rule(said=said, at=maybe)
    def supersede(self, said: Said, at: int | None) -> None:
        triple, names = said
        if at is not None and at < self.today() and self.model.undated.intersection(self.model.others(triple)):
            at = None  # an undated value would give way too, with an unknown start
        self.facts.supersede(*names, at=None if at is None else instant(at))
        at = self.today() if at is None else at
        self.model.supersede(triple, at)
        self.model.add(triple, at, None, self.today())
        assert {other.object for other in self.model.others(triple) if at in self.model.days[other]} == set()
        self.keep()

    @rule(said=said, at=maybe)
    def invalidate(self, said: Said, at: int | None) -> None:
        triple, names = said
        given = None if at is None else instant(at)
        if self.model.end(triple, self.today() if at is None else at):
            ended = self.facts.invalidate(*names, at=given)
            assert all(fact.valid_until == (given or self.clock()) for fact in ended)
            self.keep()
        else:
            with pytest.raises((NotFoundError, InputError)):
                self.facts.invalidate(*names, at=given)

    @rule(number=st.integers(0, 9))
    def remove(self, number: int) -> None:
        there = [fact for fact in self.facts.timeline() if fact.valid_from != fact.valid_until]
        if not there:
            return
        fact = there[number % len(there)]
        [(triple, days)] = told([fact]).items()
        self.facts.remove(fact.id)
        self.model.days[triple] = self.model.days[triple] - days
        self.keep()

    @rule(day=day)
    def ask_for_a_moment(self, day: int) -> None:
        holding = {triple for triple, days in self.model.days.items() if day in days}
        assert set(told(self.facts.query(valid_at=instant(day)))) == holding
        assert set(told(self.facts.query(entity="em", valid_at=instant(day)))) == {
            triple for triple in holding if "maya" in (triple.subject, triple.object)
        }

    @rule(number=st.integers(0, 99), day=day)
    def ask_for_what_was_known(self, number: int, day: int) -> None:
        known, days = self.past[number % len(self.past)]
        assert told(self.facts.timeline(known_at=known)) == days
        holding = {triple for triple, held in days.items() if day in held}
        assert set(told(self.facts.query(valid_at=instant(day), known_at=known))) == holding

    @invariant()
    def the_bank_says_what_the_model_says(self) -> None:
        assert told(self.facts.timeline()) == self.model.copy()
        current = {triple for triple, days in self.model.days.items() if self.today() in days}
        assert set(told(self.facts.query())) == current

    @invariant()
    def one_value_at_a_time(self) -> None:
        assert self.facts.conflicts() == []
        for subject in SUBJECTS:
            held = [self.model.days[Triple(subject, SINGLE, object)] for object in OBJECTS]
            assert sum(map(len, held)) == len(frozenset().union(*held))

    @invariant()
    def no_version_is_empty_or_overlaps_another_in_known_time(self) -> None:
        for fact in self.facts.timeline():
            versions = self.facts.history(fact.id)
            for version in versions:
                begin, end = version.valid_from, version.valid_until
                assert begin is None or end is None or begin <= end
            assert [version.known_until for version in versions] == [*(v.known_from for v in versions[1:]), None]

    def teardown(self) -> None:
        self.bank.close()
        self.folder.cleanup()


class TestFacts(FactsMachine.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=SHORT, stateful_step_count=50)


@pytest.mark.slow
class TestFactsForLong(FactsMachine.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=LONG, stateful_step_count=50)
