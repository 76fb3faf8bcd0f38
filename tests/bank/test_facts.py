"""`bank.facts`: adding, single values, replacing, ending, and queries by validity and by known time."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from tests.contract.store_helpers import HandClock

from pieria import Bank
from pieria.errors import InputError, NotFoundError
from pieria.record.fact import Fact


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 6, 1, 12, tzinfo=UTC))


def day(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def objects(facts: Iterable[Fact]) -> list[str]:
    return [fact.object for fact in facts]


def told(bank: Bank, *facts: str) -> list[Fact]:
    """Add Maya's facts: predicate and object, and from and until when, with `-` for an open end."""

    def add(predicate: str, object: str, *bounds: str) -> Fact:
        since, until = (None if bound == "-" else bound for bound in [*bounds, "-", "-"][:2])
        return bank.facts.add("Maya", predicate, object, valid_from=since, valid_until=until)

    return [add(*fact.split(" ")) for fact in facts]


def timeline(bank: Bank) -> list[str]:
    """Return the object of each fact of Maya, and from and until when it holds."""

    def shown(at: datetime | None) -> str:
        return at.date().isoformat() if at else "-"

    facts = bank.facts.timeline("Maya")
    return [f"{fact.object} {shown(fact.valid_from)} {shown(fact.valid_until)}" for fact in facts]


def test_fact_is_found_by_each_of_its_names(bank: Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", confidence=0.7, source="chat")
    for found in (bank.facts.query("Maya"), bank.facts.query(predicate="works on"), bank.facts.query(object="BILLING")):
        assert found == [fact]
    assert (fact.subject, fact.predicate, fact.object) == ("Maya", "works_on", "billing")
    assert (fact.valid_from, fact.valid_until, fact.confidence, fact.source) == (day("2026-01-10"), None, 0.7, "chat")
    assert fact.known_until is None


def test_adding_again_changes_nothing_but_a_higher_confidence(bank: Bank) -> None:
    add = bank.facts.add
    [fact] = told(bank, "likes tea 2026-01-10")
    [ending] = told(bank, "leads billing 2026-01-01 2026-12-31")
    changes = len(bank.changes())
    assert add("MAYA", "Likes", "Tea") == add("Maya", "likes", "tea", valid_from="2026-01-10") == fact
    assert add("maya", "likes", "tea", valid_from="2026-02-01", valid_until="2026-03-01") == fact
    # An end that is known stays.
    assert told(bank, "leads billing", "leads billing 2026-02-01") == [ending, ending]
    assert len(bank.changes()) == changes
    assert add("Maya", "likes", "tea", confidence=0.4).confidence == 0.4
    surer = add("Maya", "likes", "tea", confidence=0.9)
    assert (surer.id, surer.confidence) == (fact.id, 0.9)
    assert add("Maya", "likes", "tea", confidence=0.5) == surer
    assert [version.confidence for version in bank.facts.history(fact.id)] == [None, 0.4, 0.9]


def test_same_fact_at_a_separate_time_is_another_until_bridged(bank: Bank) -> None:
    first, second = told(bank, "leads billing 2024-01-01 2024-12-31", "leads billing 2026-01-01")
    assert first.id != second.id
    bridged = bank.facts.add("Maya", "leads", "billing", valid_from="2024-06-01", valid_until="2026-02-01", source="x")
    assert ((bridged.id, bridged.source), timeline(bank)) == ((first.id, "x"), ["billing 2024-01-01 -"])
    joined = bank.facts.history(second.id)[-1]
    assert (joined.ended, first.id in str(joined.reason)) == ("removed", True)


def test_dates_are_whole_days(bank: Bank, clock: HandClock) -> None:
    fact = bank.facts.add("Maya", "visits", "Oslo", valid_from=date(2026, 3, 1), valid_until="2026-03-01")
    assert (fact.valid_from, fact.valid_until) == (day("2026-03-01"), day("2026-03-02"))
    began = bank.facts.add("Maya", "leads", "billing", valid_from="2026-03-01T09:30:00+02:00", valid_until="2026-07-31")
    held = {
        "2026-02-28": [], "2026-03-01": [fact, began], "2026-03-01T07:29:59Z": [fact],
        "2026-03-01T07:30:00Z": [fact, began], "2026-03-02T00:00:00Z": [began],
    }  # fmt: skip
    assert {at: bank.facts.query("Maya", valid_at=at) for at in held} == held
    assert bank.facts.query("Maya") == [began]
    clock.move(days=61)
    assert bank.facts.query("Maya") == []


def test_new_value_ends_the_one_before(bank: Bank, clock: HandClock) -> None:
    bank.facts.declare("lives_in")
    [berlin] = told(bank, "lives_in Berlin 2024-05-01")
    clock.move(days=1)
    lisbon = bank.facts.add("Maya", "LIVES IN", "Lisbon", valid_from="2026-03-01")
    assert timeline(bank) == ["Berlin 2024-05-01 2026-03-01", "Lisbon 2026-03-01 -"]
    assert objects(bank.facts.query("Maya")) == ["Lisbon"]
    assert objects(bank.facts.query("Maya", known_at=berlin.known_from)) == ["Berlin"]
    old, new = bank.facts.history(berlin.id)
    assert (old.valid_until, old.known_until, new.known_from) == (None, lisbon.known_from, lisbon.known_from)
    told(bank, "speaks German", "speaks Japanese")
    assert objects(bank.facts.query("Maya", "speaks")) == ["German", "Japanese"], "a predicate may have many values"


def test_parts_of_a_split_or_removed_value_are_on_record(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    rome = bank.facts.add("Maya", "lives_in", "Rome", valid_from="2015-01-01", confidence=0.8, source="letter")
    [oslo] = told(bank, "lives_in Oslo 2018-01-01 2019-12-31")
    before, _, after = bank.facts.timeline()
    assert before.id == rome.id != after.id
    assert (after.confidence, after.source) == (0.8, "letter")
    stretches = ["Rome 2015-01-01 2018-01-01", "Oslo 2018-01-01 2020-01-01", "Rome 2020-01-01 -"]
    assert timeline(bank) == stretches
    told(bank, "lives_in Bern 2018-01-01 2019-12-31")
    last = bank.facts.history(oslo.id)[-1]
    assert (last.ended, bool(last.reason)) == ("removed", True)
    bank.undo(bank.changes()[-1].seq)
    assert timeline(bank) == stretches


def test_declaring_reports_contradictions_and_changes_nothing(bank: Bank) -> None:
    told(bank, "studies_in Berlin 2020-01-01", "studies_in Lisbon 2024-01-01", "studies_in Oslo 2010-01-01 2011-01-01")
    bank.facts.add("Ada", "studies_in", "London")
    assert bank.facts.conflicts() == []
    [conflict] = bank.facts.declare("Studies In")
    assert (conflict.subject, conflict.predicate) == ("Maya", "studies_in")
    assert objects(conflict.facts) == ["Berlin", "Lisbon"]
    assert len(bank.facts.timeline()) == 4
    # To state again what is known settles nothing.
    changes = bank.changes()
    told(bank, "studies_in Berlin 2020-01-01")
    assert bank.changes() == changes
    assert bank.facts.conflicts("Maya", "studies in") == bank.facts.conflicts() == [conflict]
    assert bank.facts.conflicts("Ada") == bank.facts.conflicts(predicate="likes") == []
    # A new value ends what began before it.
    told(bank, "studies_in Rome 2022-01-01")
    assert timeline(bank) == [
        "Oslo 2010-01-01 2011-01-02", "Berlin 2020-01-01 2022-01-01", "Rome 2022-01-01 2024-01-01",
        "Lisbon 2024-01-01 -",
    ]  # fmt: skip
    assert bank.facts.conflicts() == []


def test_predicates_are_listed_with_their_facts(bank: Bank) -> None:
    told(bank, "Likes tea")
    bank.facts.add("Ada", "likes", "tea")
    bank.facts.declare("sleeps_in")
    shown = [(one.name, one.single_valued, one.facts) for one in bank.facts.predicates()]
    assert shown == [("Likes", False, 2), ("sleeps_in", True, 0)]
    changes = len(bank.changes())
    assert bank.facts.declare("sleeps_in") == []
    assert len(bank.changes()) == changes
    assert bank.facts.declare("sleeps_in", single_valued=False) == []
    assert [one.name for one in bank.facts.predicates()] == ["Likes"]


def test_superseding_ends_every_other_value_of_the_moment(bank: Bank, clock: HandClock) -> None:
    told(
        bank, "leads search 2020-01-01 2021-01-01", "leads billing 2024-01-01", "leads payments 2025-01-01",
        "leads moon 2030-01-01",
    )  # fmt: skip
    fact = bank.facts.supersede("Maya", "leads", "platform", at="2026-02-01")
    assert timeline(bank) == [
        "search 2020-01-01 2021-01-02", "billing 2024-01-01 2026-02-01", "payments 2025-01-01 2026-02-01",
        "platform 2026-02-01 -", "moon 2030-01-01 -",
    ]  # fmt: skip
    assert bank.facts.query("Maya", valid_at="2026-02-01") == [fact]
    assert len({version.known_from for version in bank.facts.query("Maya", history=True)[1:4]}) == 1
    again = bank.changes()
    assert (bank.facts.supersede("Maya", "leads", "platform", at="2026-02-01"), bank.changes()) == (fact, again)
    clock.move(days=1)
    bank.facts.supersede("Maya", "leads", "billing")
    assert objects(bank.facts.query("Maya")) == ["billing"]
    # A single value ends where the next one begins.
    bank.facts.declare("leads")
    bank.facts.supersede("Maya", "leads", "ads", at="2027-01-01")
    assert timeline(bank)[-2:] == ["ads 2027-01-01 2030-01-01", "moon 2030-01-01 -"]


def test_one_of_several_values_is_replaced(bank: Bank) -> None:
    told(bank, "leads search 2024-01-01", "leads billing 2024-01-01")
    assert bank.facts.supersede("Maya", "leads", "platform", replaces="SEARCH", at="2026-02-01").object == "platform"
    assert timeline(bank) == ["billing 2024-01-01 -", "search 2024-01-01 2026-02-01", "platform 2026-02-01 -"]
    before = bank.changes()
    with pytest.raises(NotFoundError, match="Maya leads ads") as caught:
        bank.facts.supersede("Maya", "leads", "moon base", replaces="ads")
    assert caught.value.hint == "What holds then is: billing, platform."
    with pytest.raises(NotFoundError):
        bank.facts.supersede("Maya", "sells", "moon base", replaces="ads")
    with pytest.raises(InputError):
        bank.facts.supersede("Maya", "leads", "moon base", replaces=" ")
    assert bank.changes() == before


def test_invalidating_ends_the_stretch_that_holds(bank: Bank, clock: HandClock) -> None:
    past, fact = told(bank, "leads billing 2024-01-01 2024-12-31", "leads billing 2026-01-10")
    known = bank.changes()[-1].at
    clock.move(days=5)
    [ended] = bank.facts.invalidate("maya", "Leads", "Billing", at="2026-03-01", reason="reorganised")
    assert (ended.id, ended.valid_until, ended.reason) == (fact.id, day("2026-03-02"), "reorganised")
    assert bank.facts.history(fact.id)[-1] == ended
    assert bank.facts.query("Maya") == bank.facts.query("Maya", valid_at="2026-03-02") == []
    assert objects(bank.facts.query("Maya", valid_at="2026-03-01")) == ["billing"]
    assert objects(bank.facts.query("Maya", valid_at="2026-03-02", known_at=known)) == ["billing"]
    assert bank.facts.query("Maya", valid_at="2026-03-02", known_at="2026-05-01") == []
    assert [each.id for each in bank.facts.invalidate("Maya", "leads", "billing", at="2024-06-01")] == [past.id]
    assert timeline(bank) == ["billing 2024-01-01 2024-06-02", "billing 2026-01-10 2026-03-02"]
    changes = len(bank.changes())
    [again] = bank.facts.invalidate("Maya", "leads", "billing", at="2026-03-01")
    assert (again.valid_until, len(bank.changes())) == (day("2026-03-02"), changes), "it ends on that day already"


def test_error_says_what_could_be_ended_instead(bank: Bank) -> None:
    told(bank, "works_on billing", "likes tea - 2026-02-28")
    changes = bank.changes()
    hints = {
        ("Maya", "works_on", "search"): "billing",
        ("Maya", "leads", "billing"): "works_on",
        ("Mya", "works_on", "billing"): "Maya",
        ("Quentin", "works_on", "billing"): "entities",
        ("Maya", "likes", "tea"): "2026-02-28",
    }
    for triple, hint in hints.items():
        with pytest.raises(NotFoundError) as caught:
            bank.facts.invalidate(*triple)
        assert hint in str(caught.value.hint)
    assert bank.changes() == changes


def test_removing_takes_a_fact_out_of_every_answer(bank: Bank, clock: HandClock) -> None:
    [fact] = told(bank, "works_on billing")
    clock.move(hours=1)
    removed = bank.facts.remove(fact.id, reason="a joke")
    assert (removed.id, removed.ended, removed.reason) == (fact.id, "removed", "a joke")
    assert (bank.facts.timeline(), bank.facts.query("Maya", known_at=fact.known_from)[0].id) == ([], fact.id)
    assert bank.facts.history(fact.id)[-1] == removed
    with pytest.raises(NotFoundError, match=fact.id) as caught:
        bank.facts.remove(fact.id)
    assert "removed" in str(caught.value.hint)
    assert told(bank, "works_on billing")[0].id != fact.id


def test_entity_is_found_on_the_side_that_is_asked_for(bank: Bank) -> None:
    for fact in ("Maya knows Ada", "Ada knows Grace", "Ada admires ada", "Grace knows Maya"):
        bank.facts.add(*fact.split())
    found = {
        "entity=ADA": "Maya-Ada Ada-Grace Ada-Ada",
        "entity=Ada direction=out": "Ada-Grace Ada-Ada",
        "entity=Ada direction=in": "Maya-Ada Ada-Ada",
        "entity=Ada direction=in subject=Ada": "Ada-Ada",
        "entity=Ada direction=out subject=Maya": "",
        "entity=Ada predicate=knows": "Maya-Ada Ada-Grace",
        "subject=Ada object=Grace": "Ada-Grace",
        "entity=Nobody": "",
    }

    def pairs(asked: str) -> str:
        given: dict[str, Any] = dict(each.split("=") for each in asked.split())
        return " ".join(f"{fact.subject}-{fact.object}" for fact in bank.facts.query(**given))

    assert {asked: pairs(asked) for asked in found} == found


def test_timeline_and_numbers_follow_the_times(bank: Bank) -> None:
    told(bank, "has c 2026-01-01", "has a", "has b 2020-01-01", "has d 2030-01-01")
    assert objects(bank.facts.timeline("Maya")) == ["b", "c", "a", "d"]
    assert objects(bank.facts.timeline("Maya", limit=2)) == ["a", "d"]
    assert (objects(bank.facts.query("Maya", limit=2)), bank.facts.timeline("Ada")) == (["c", "a"], [])
    bank.facts.declare("lives_in")
    told(bank, "lives_in Rome 2015-01-01", "lives_in Oslo 2020-01-01")
    bank.facts.alias("Em", "Maya")
    bank.facts.add("Em", "has", "a")
    assert bank.facts.stats().as_dict() == {
        "entities": 7, "facts": 6, "current": 4, "ended": 1, "upcoming": 1, "predicates": {"has": 4, "lives_in": 2},
        "single_valued": ["lives_in"],
    }  # fmt: skip
