"""When facts begin and end: undated facts, whole days of a zone, ends that never erase, and one value at a time."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.errors import InputError, NotFoundError
from pieria.record.changeset import Changeset, Record
from pieria.record.days import end_text, read_given, start_text
from pieria.record.ids import derived_id
from pieria.record.zones import rules_of

Opened = Callable[..., Bank]
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TOKYO, HONOLULU = "Asia/Tokyo", "Pacific/Honolulu"


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOON)


def held(bank: Bank, *days: str | None, **asked: Any) -> list[list[str]]:
    """Return Maya's values as of each day; None is now."""
    return [[fact.object for fact in bank.facts.query("Maya", valid_at=day, **asked)] for day in days]


def add(bank: Bank, object: str, predicate: str = "reports_to", **times: Any) -> str:
    return bank.facts.add("Maya", predicate, object, **times).id


def test_undated_fact_holds_from_when_it_was_stated(kept: Kept, clock: HandClock) -> None:
    with kept.opened("undated", clock=clock, settings={"time_zone": "UTC"}) as bank:
        add(bank, "Carol")
        clock.move(days=2)
        add(bank, "Dana")
        assert held(bank, "1999-01-01", "2026-05-31", "2026-06-01", "2026-06-02", "2026-06-03", None) == [
            [], [], ["Carol"], ["Carol"], ["Dana"], ["Dana"],
        ]  # fmt: skip
        carol, dana = bank.facts.timeline("Maya")
        assert (carol.valid_from, carol.valid_until, dana.valid_from) == (NOON, dana.valid_from, clock())
        assert [bank.recall("who does Maya report to?", valid_at=day).hits for day in ("1999-01-01", "2026-05-31")] == [
            (), (),
        ]  # fmt: skip
        [hit] = bank.recall("who does Maya report to?", valid_at="2026-06-02")
        assert hit.memory.id == carol.id
        # A past end without a start: the start is unknown.
        add(bank, "golf", "played", valid_until="2020-12-31")
        assert held(bank, "2020-12-31", "2021-01-01", predicate="played") == [["golf"], []]
        assert bank.facts.query("Maya", "played", history=True)[0].valid_from is None


def test_undated_fact_of_a_memory_holds_from_when_that_was_said(bank: Bank) -> None:
    said = bank.remember("Maya reports to Carol.", at="2025-03-01T10:00:00Z").id
    since = bank.remember("Maya likes tea.", at="2025-03-01", valid_from="2024-01-01").id
    over = bank.remember("Maya sold pens.", at="2025-03-01", valid_until="2022-12-31").id
    facts = [
        bank.facts.add("Maya", *each, memory=memory)
        for memory, each in ((said, ("reports_to", "Carol")), (since, ("likes", "tea")), (over, ("sold", "pens")))
    ]
    assert [fact.valid_from and fact.valid_from.isoformat()[:10] for fact in facts] == [
        "2025-03-01",
        "2024-01-01",
        None,
    ]
    assert held(bank, "2022-12-31", "2023-12-31", "2024-06-01", "2025-03-01") == [
        ["pens"], [], ["tea"], ["tea", "Carol"],
    ]  # fmt: skip


def test_days_are_whole_days_of_the_zone(opened: Opened) -> None:
    for zone, begins in ((TOKYO, "2026-02-28T15:00:00+00:00"), (HONOLULU, "2026-03-01T10:00:00+00:00")):
        bank = opened(f"days-{zone.rpartition('/')[2].lower()}", time_zone=zone)
        fact = bank.facts.add("Maya", "visits", "Oslo", valid_from="2026-03-01", valid_until=date(2026, 3, 1))
        assert fact.valid_from is not None and fact.valid_until is not None
        assert (fact.valid_from.isoformat(), fact.valid_until - fact.valid_from) == (begins, timedelta(days=1))
        assert held(bank, "2026-02-28", "2026-03-01", "2026-03-02") == [[], ["Oslo"], []]
        told = fact.as_dict(bank.zone)
        assert (told["valid_from"], told["valid_until"]) == ("2026-03-01", "2026-03-01")
        [hit] = bank.recall("what does Maya visit?")
        assert hit.memory.text == "Maya visits Oslo (from 2026-03-01 until 2026-03-01)."
        exact = bank.facts.add(
            "Maya", "calls", "Ada", valid_from="2026-03-01T09:30:00Z", valid_until="2026-03-01T10:15Z"
        )
        assert exact.as_dict(bank.zone)["valid_until"] == "2026-03-01T10:15:00Z"
        assert held(bank, "2026-03-01T09:29:59Z", "2026-03-01T10:14:59Z", "2026-03-01T10:15Z", predicate="calls") == [
            [], ["Ada"], [],
        ]  # fmt: skip


def test_midnights_of_utc_stay_instants_in_another_zone() -> None:
    berlin, utc = rules_of("Europe/Berlin"), UTC
    assert berlin is not None
    midnight = datetime(2026, 3, 30, tzinfo=UTC)
    assert [start_text(midnight, zone) for zone in (utc, berlin)] == ["2026-03-30", "2026-03-30T00:00:00Z"]
    assert [end_text(midnight, zone) for zone in (utc, berlin)] == ["2026-03-29", "2026-03-30T00:00:00Z"]
    day = read_given("2026-03-29", "at", berlin)
    assert day.end - day.begin == 23 * 3_600_000_000, "clocks are moved that day"
    for value in ("0001-01-01", "9999-12-31"):
        ends = read_given(value, "at", berlin)
        assert ends.begin <= ends.last


@pytest.mark.parametrize("end", [None, NOON, "2026-06-01"])
def test_end_on_the_first_day_leaves_a_fact_of_that_day(bank: Bank, clock: HandClock, end: object) -> None:
    id = add(bank, "Carol")
    [ended] = bank.facts.invalidate("Maya", "reports_to", "Carol", at=end)  # type: ignore[arg-type]
    assert (ended.id, ended.ended) == (id, "")
    assert held(bank, "2026-05-31", "2026-06-01", "2026-06-02") == [[], ["Carol"], []]
    assert [fact.id for fact in bank.facts.timeline("Maya")] == [id]
    assert held(bank, None) == ([["Carol"]] if isinstance(end, str) else [[]])
    [hit] = bank.recall("who does Maya report to?")
    assert hit.memory.text == "Maya reports to Carol (until 2026-06-01)."
    assert bank.facts.conflicts() == []
    clock.move(hours=3)
    add(bank, "Dana")
    assert held(bank, "2026-06-01", None) == [["Dana"], ["Dana"]], "a day has the value of its end"


def test_today_may_be_tomorrow_in_utc(opened: Opened, clock: HandClock) -> None:
    clock.now = datetime(2026, 6, 1, 20, tzinfo=UTC)
    bank = opened(time_zone=TOKYO)
    id = add(bank, "Carol")
    [ended] = bank.facts.invalidate("Maya", "reports_to", "Carol", at="2026-06-02")
    assert (ended.id, ended.ended, held(bank, "2026-06-01", "2026-06-02", "2026-06-03")) == (
        id,
        "",
        [[], ["Carol"], []],
    )


def test_end_before_the_beginning_is_refused(bank: Bank) -> None:
    add(bank, "Carol", valid_from="2026-01-10")
    add(bank, "tea", "likes")
    add(bank, "Dana", valid_from="2030-01-01")
    changes = bank.changes()
    for predicate, object, at, began in (
        ("reports_to", "Carol", "2026-01-09", "2026-01-10"),
        ("likes", "tea", "2026-05-31", "2026-06-01T12:00:00Z"),
        ("reports_to", "Dana", None, "2030-01-01"),
    ):
        with pytest.raises(InputError) as caught:
            bank.facts.invalidate("Maya", predicate, object, at=at)
        assert (caught.value.parameter, began in str(caught.value), "state it again" in str(caught.value.hint)) == (
            "at", True, True,
        )  # fmt: skip
    with pytest.raises(InputError, match="already ends"):
        bank.facts.invalidate("Maya", "reports_to", "Carol", at="2031-01-01")
    with pytest.raises(NotFoundError):
        bank.facts.invalidate("Maya", "reports_to", "Nobody", at="2026-01-09")
    with pytest.raises(InputError, match="valid_until"):
        add(bank, "Oslo", "visits", valid_from="2026-03-01", valid_until="2026-02-28")
    assert bank.changes() == changes


def test_displaced_value_stays_on_record(bank: Bank) -> None:
    carol = add(bank, "Carol", valid_from="2026-03-01")
    stated = bank.facts.state("Maya", "reports_to", "Dana", valid_from="2026-03-01")
    assert [(fact.id, fact.ended) for fact in stated.closed] == [(carol, "removed")]
    assert [fact.ended for fact in bank.facts.history(carol)] == ["", "removed"]
    assert held(bank, "2026-03-01", None) == [["Dana"], ["Dana"]]
    bank.undo(bank.changes()[-1].seq)
    assert held(bank, None) == [["Carol"]]


def test_two_values_of_today_keep_their_parts_of_the_day(bank: Bank, clock: HandClock) -> None:
    carol = add(bank, "Carol")
    clock.move(hours=2)
    for _ in range(2):
        dana = bank.facts.state("Maya", "reports_to", "Dana", valid_from="2026-06-01").fact
        assert [fact.id for fact in bank.facts.timeline("Maya")] == [carol, dana.id]
    assert (dana.valid_from, held(bank, "2026-06-01", None)) == (clock(), [["Dana"], ["Dana"]])
    erin = bank.facts.supersede("Maya", "reports_to", "Erin", at="2026-06-01", valid_until="2026-12-31")
    assert (held(bank, None, "2026-12-31", "2027-01-01"), erin.id) == ([["Erin"], ["Erin"], []], erin.id)


def test_known_predicates_have_one_value_from_the_start(kept: Kept, clock: HandClock) -> None:
    with kept.opened("single", clock=clock) as bank:
        for predicate in ("lives_in", "Reports To", "default branch", "PORT"):
            add(bank, "one", predicate, valid_from="2026-01-01")
            add(bank, "two", predicate, valid_from="2026-02-01")
            assert held(bank, None, predicate=predicate) == [["two"]], predicate
        add(bank, "German", "speaks")
        add(bank, "Dutch", "speaks")
        assert held(bank, None, predicate="speaks") == [["German", "Dutch"]]
        assert {one.name for one in bank.facts.predicates() if one.single_valued} == {
            "lives_in", "Reports To", "default branch", "PORT",
        }  # fmt: skip
        # A declaration wins, either way, also one of an earlier version.
        bank.facts.declare("lives in", single_valued=False)
        add(bank, "three", "lives_in")
        assert held(bank, None, predicate="lives_in") == [["two", "three"]]
        assert [conflict.predicate for conflict in bank.facts.declare("lives_in")] == ["lives_in"]
        old = Record("predicates", derived_id("", "speaks"), {"name": "speaks", "known": 1})
        with bank.core.store.writing() as writer:
            writer.apply(Changeset("facts declare", records=[old]))
        assert {conflict.predicate for conflict in bank.facts.conflicts()} == {"lives_in", "speaks"}
        assert bank.facts.declare("speaks", single_valued=False) == []


def test_values_that_conflict_already_end_with_the_next(bank: Bank) -> None:
    bank.facts.declare("reports_to", single_valued=False)
    add(bank, "Carol", valid_from="2026-01-01")
    add(bank, "Dana", valid_from="2026-02-01")
    assert [len(conflict.facts) for conflict in bank.facts.declare("reports_to")] == [2]
    stated = bank.facts.state("Maya", "reports_to", "Erin", valid_from="2026-03-01")
    assert ([fact.object for fact in stated.closed], stated.conflicts) == (["Carol", "Dana"], ())
    assert bank.facts.conflicts() != [] and held(bank, None) == [["Erin"]]


def test_statement_tells_what_it_closed_and_contradicts(folder: Kept) -> None:
    with folder.opened("trusted", via="person") as bank:
        add(bank, "Carol", valid_from="2026-01-10")
        again = bank.facts.state("Maya", "reports_to", "Carol", valid_from="2026-01-10")
        assert (again.is_new, again.closed, again.beside) == (False, (), ())
    with folder.opened("trusted", via="outside") as outside:
        told = outside.facts.state("Maya", "reports_to", "Mallory", valid_from="2026-02-01")
        assert ([fact.object for fact in told.conflicts], told.closed) == (["Carol"], ())
    with folder.opened("trusted", via="person") as bank:
        told = bank.facts.state("Maya", "reports_to", "Dana", valid_from="2026-03-01")
        closed = [(fact.object, end_text(fact.valid_until, UTC)) for fact in told.closed]
        assert (closed, told.conflicts) == ([("Carol", "2026-02-28"), ("Mallory", "2026-02-28")], ())
        several = [bank.facts.state("Maya", "leads", each) for each in ("ads", "search")][-1]
        assert ([fact.object for fact in several.beside], several.conflicts) == (["ads"], ())
        only = bank.facts.state("Maya", "leads", "billing", supersede=True)
        assert [fact.object for fact in only.closed] == ["ads", "search"]


def test_undated_value_gives_way_to_an_earlier_successor(bank: Bank) -> None:
    add(bank, "Madrid", "lives_in")
    bank.facts.supersede("Maya", "lives_in", "Porto", at="2026-02-01")
    assert held(bank, "2026-01-31", "2026-02-01", None) == [["Madrid"], ["Porto"], ["Porto"]]
    assert [fact.valid_from is None for fact in bank.facts.timeline("Maya")] == [True, False]
    # Without supersede, what is stated late for an earlier time changes nothing later.
    add(bank, "tea", "drinks")
    bank.facts.declare("drinks")
    add(bank, "mate", "drinks", valid_from="2026-01-01")
    assert held(bank, "2026-01-01", "2026-05-31", None, predicate="drinks") == [["mate"], ["mate"], ["tea"]]


def test_unknown_start_is_kept_until_a_start_is_stated(bank: Bank, clock: HandClock) -> None:
    def played(**times: Any) -> list[str]:
        add(bank, "golf", "played", **times)
        facts = [fact.as_dict(UTC) for fact in bank.facts.timeline("Maya")]
        return [f"{fact['valid_from']} {fact['valid_until']}" for fact in facts]

    assert played(valid_until="2020-12-31") == ["None 2020-12-31"]
    assert played(valid_until="2021-12-31") == ["None 2021-12-31"]
    assert played(valid_from="2021-06-01", valid_until="2021-08-01") == ["None 2021-12-31"]
    assert played() == ["None 2021-12-31", "2026-06-01T12:00:00Z None"], "it holds again, from now"
    assert played(valid_from="2021-01-01") == ["2021-01-01 None"]


def test_only_a_start_reopens_no_ended_fact(bank: Bank) -> None:
    ended = {"Acme": {"valid_until": "2020-01-01"}, "Beta": {"valid_from": "2018-01-01", "valid_until": "2020-01-01"}}
    for object, times in ended.items():
        add(bank, object, "worked_at", **times)
    spans = {"2019-01-01": {"Acme": "2019-01-01 2020-01-01", "Beta": "2018-01-01 2020-01-01"}}
    spans["2017-01-01"] = dict.fromkeys(ended, "2017-01-01 2020-01-01")
    for day, outcome in spans.items():
        facts = [bank.facts.add("Maya", "worked_at", object, valid_from=day).as_dict(UTC) for object in ended]
        assert {fact["object"]: f"{fact['valid_from']} {fact['valid_until']}" for fact in facts} == outcome
    assert bank.facts.add("Maya", "worked_at", "Beta", valid_from="2020-01-01").valid_until is None, "it began again"


def test_superseding_with_a_past_end_has_no_start(bank: Bank) -> None:
    add(bank, "coffee", "likes")
    stated = bank.facts.state("Maya", "likes", "tea", valid_until="2020-01-01", supersede=True)
    assert (stated.fact.valid_from, stated.closed, held(bank, "2020-01-01", None)) == (None, (), [["tea"], ["coffee"]])
    with pytest.raises(InputError, match="at: expected the time when it began"):
        bank.facts.supersede("Maya", "likes", "milk", replaces="coffee", valid_until="2020-01-01")


@pytest.mark.parametrize("supersede", [False, True])
def test_later_value_leaves_an_ended_fact_its_day(bank: Bank, supersede: bool) -> None:
    add(bank, "Acme", "works_at", valid_from="2026-01-05")
    bank.facts.invalidate("Maya", "works_at", "Acme", at="2026-01-05")
    add(bank, "Rome", "visited", valid_from="2026-01-05", valid_until="2026-01-05")
    for predicate, object in (("works_at", "Beta"), ("visited", "Oslo")):
        stated = bank.facts.state("Maya", predicate, object, valid_from="2026-01-05", supersede=supersede)
        assert (stated.closed, stated.conflicts, bank.facts.conflicts()) == ((), (), [])
        assert len(held(bank, "2026-01-05", predicate=predicate)[0]) == 2
    assert held(bank, "2026-01-06") == [["Beta", "Oslo"]]
