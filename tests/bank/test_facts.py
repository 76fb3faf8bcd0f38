"""`bank.facts`: adding, single values, replacing, ending, and queries by validity and by known time."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from tests.contract.making import HandClock

import pieria
from pieria.errors import InputError, NotFoundError
from pieria.record.fact import Fact


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 6, 1, 12, tzinfo=UTC))


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[pieria.Bank]:
    with pieria.open("notes", data=tmp_path, clock=clock, settings={"durability": "off"}) as bank:
        yield bank


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def objects(facts: Iterable[Fact]) -> list[str]:
    return [fact.object for fact in facts]


def times(facts: Iterable[Fact]) -> list[tuple[str, datetime | None, datetime | None]]:
    return [(fact.object, fact.valid_from, fact.valid_until) for fact in facts]


# --- adding


def test_a_fact_is_found_by_each_of_its_names(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", confidence=0.7, source="chat")
    assert (
        bank.facts.query("Maya")
        == bank.facts.query(predicate="works on")
        == bank.facts.query(object="BILLING")
        == [fact]
    )
    assert (fact.subject, fact.predicate, fact.object) == ("Maya", "works_on", "billing")
    assert (fact.valid_from, fact.valid_until, fact.confidence, fact.source) == (day("2026-01-10"), None, 0.7, "chat")
    assert fact.known_until is None


def test_adding_twice_is_adding_once(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", confidence=0.7)
    changes = len(bank.changes())
    for again in (
        bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", confidence=0.7),
        bank.facts.add("MAYA", "works on", "Billing"),
        bank.facts.add(
            "maya", "works_on", "billing", valid_from="2026-02-01", valid_until="2026-03-01", confidence=0.1
        ),
    ):
        assert again == fact
    assert len(bank.changes()) == changes
    assert len(bank.facts.history(fact.id)) == 1


def test_the_higher_confidence_is_kept(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "likes", "tea")
    assert bank.facts.add("Maya", "likes", "tea", confidence=0.4).confidence == 0.4
    surer = bank.facts.add("Maya", "likes", "tea", confidence=0.9)
    assert (surer.id, surer.confidence) == (fact.id, 0.9)
    assert bank.facts.add("Maya", "likes", "tea", confidence=0.5) == surer
    assert [version.confidence for version in bank.facts.history(fact.id)] == [None, 0.4, 0.9]


def test_a_statement_that_overlaps_or_touches_widens_the_fact(bank: pieria.Bank) -> None:
    add = bank.facts.add
    fact = add("Maya", "works_on", "billing", valid_from="2026-02-01", valid_until="2026-02-28")
    touching = add("Maya", "works_on", "billing", valid_from="2026-03-01", valid_until="2026-03-31")
    earlier = add("Maya", "works_on", "billing", valid_from="2026-01-10", valid_until="2026-02-10")
    assert touching.id == earlier.id == fact.id
    assert times(bank.facts.timeline()) == [("billing", day("2026-01-10"), day("2026-04-01"))]


def test_the_same_fact_over_a_separate_time_is_another_fact(bank: pieria.Bank) -> None:
    first = bank.facts.add("Maya", "works_on", "billing", valid_from="2024-01-01", valid_until="2024-12-31")
    second = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01")
    assert first.id != second.id
    bridged = bank.facts.add("Maya", "works_on", "billing", valid_from="2024-06-01", valid_until="2026-02-01")
    assert bridged.id == first.id
    assert times(bank.facts.timeline()) == [("billing", day("2024-01-01"), None)]
    joined = bank.facts.history(second.id)[-1]
    assert (joined.ended, first.id in str(joined.reason)) == ("removed", True)


def test_an_end_that_is_known_stays_when_the_fact_is_said_again(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01", valid_until="2026-12-31")
    assert bank.facts.add("Maya", "works_on", "billing") == fact
    assert bank.facts.add("Maya", "works_on", "billing", valid_from="2026-02-01") == fact


def test_what_had_ended_begins_anew_when_it_is_said_again(bank: pieria.Bank, clock: HandClock) -> None:
    bank.facts.add("Maya", "likes", "tea")
    bank.facts.invalidate("Maya", "likes", "tea", at="2026-03-01")
    bank.facts.add("Maya", "likes", "tea")
    assert times(bank.facts.timeline()) == [("tea", None, day("2026-03-01")), ("tea", clock(), None)]


def test_many_values_close_nothing(bank: pieria.Bank) -> None:
    for language in ("German", "Japanese", "English"):
        bank.facts.add("Maya", "speaks", language)
    assert objects(bank.facts.query("Maya", "speaks")) == ["German", "Japanese", "English"]


def test_a_date_is_its_whole_day(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "visits", "Oslo", valid_from=date(2026, 3, 1), valid_until="2026-03-01")
    assert (fact.valid_from, fact.valid_until) == (day("2026-03-01"), day("2026-03-02"))
    assert bank.facts.query("Maya", valid_at="2026-03-01") == [fact]
    assert (
        bank.facts.query("Maya", valid_at="2026-03-02T00:00:00Z")
        == bank.facts.query("Maya", valid_at="2026-02-28")
        == []
    )


def test_what_became_true_during_a_day_is_found_on_that_day(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-03-01T09:30:00+02:00")
    assert bank.facts.query("Maya", valid_at="2026-03-01") == [fact]
    assert bank.facts.query("Maya", valid_at="2026-03-01T07:29:59Z") == []
    assert bank.facts.query("Maya", valid_at="2026-03-01T07:30:00Z") == [fact]


def test_an_end_in_the_future_is_still_current(bank: pieria.Bank, clock: HandClock) -> None:
    fact = bank.facts.add("Maya", "rents", "a flat", valid_until="2026-07-31")
    assert bank.facts.query("Maya") == [fact]
    clock.move(days=61)
    assert bank.facts.query("Maya") == []


# --- one value at a time


def test_a_new_value_ends_the_one_before(bank: pieria.Bank, clock: HandClock) -> None:
    bank.facts.declare("lives_in")
    berlin = bank.facts.add("Maya", "lives_in", "Berlin", valid_from="2024-05-01")
    clock.move(days=1)
    lisbon = bank.facts.add("Maya", "LIVES IN", "Lisbon", valid_from="2026-03-01")
    assert times(bank.facts.timeline("Maya")) == [
        ("Berlin", day("2024-05-01"), day("2026-03-01")),
        ("Lisbon", day("2026-03-01"), None),
    ]
    assert objects(bank.facts.query("Maya")) == ["Lisbon"]
    assert objects(bank.facts.query("Maya", known_at=berlin.known_from)) == ["Berlin"]
    old, new = bank.facts.history(berlin.id)
    assert (old.valid_until, old.known_until, new.known_from) == (None, lisbon.known_from, lisbon.known_from)


def test_a_back_dated_value_does_not_become_the_current_one(bank: pieria.Bank) -> None:
    bank.facts.declare("assigned_to")
    current = bank.facts.add("Maya", "assigned_to", "billing")
    old = bank.facts.add("Maya", "assigned_to", "search", valid_from="2020-01-01")
    assert old.valid_until == current.valid_from
    assert bank.facts.query("Maya") == [current]
    assert bank.facts.query("Maya", valid_at="2023-01-01") == [old]


def test_a_back_dated_value_fits_between_two_others(bank: pieria.Bank) -> None:
    bank.facts.declare("lives_in")
    for city, since in (("Porto", "2020-01-01"), ("Lisbon", "2026-03-01"), ("Berlin", "2024-05-01")):
        bank.facts.add("Maya", "lives_in", city, valid_from=since)
    assert times(bank.facts.timeline()) == [
        ("Porto", day("2020-01-01"), day("2024-05-01")),
        ("Berlin", day("2024-05-01"), day("2026-03-01")),
        ("Lisbon", day("2026-03-01"), None),
    ]


def test_a_value_for_a_time_in_the_middle_splits_the_other(bank: pieria.Bank) -> None:
    bank.facts.declare("lives_in")
    rome = bank.facts.add("Maya", "lives_in", "Rome", valid_from="2015-01-01", confidence=0.8, source="letter")
    bank.facts.add("Maya", "lives_in", "Oslo", valid_from="2018-01-01", valid_until="2019-12-31")
    assert times(bank.facts.timeline()) == [
        ("Rome", day("2015-01-01"), day("2018-01-01")),
        ("Oslo", day("2018-01-01"), day("2020-01-01")),
        ("Rome", day("2020-01-01"), None),
    ]
    before, _, after = bank.facts.timeline()
    assert before.id == rome.id != after.id
    assert (after.confidence, after.source) == (0.8, "letter")


def test_a_value_that_never_held_after_all_is_removed_but_not_forgotten(bank: pieria.Bank, clock: HandClock) -> None:
    bank.facts.declare("born_in")
    wrong = bank.facts.add("Maya", "born_in", "Paris", valid_from="1990-05-01")
    clock.move(hours=1)
    bank.facts.add("Maya", "born_in", "Nantes", valid_from="1990-05-01")
    assert objects(bank.facts.timeline()) == ["Nantes"]
    assert objects(bank.facts.timeline(known_at=wrong.known_from)) == ["Paris"]
    last = bank.facts.history(wrong.id)[-1]
    assert last.ended == "removed"
    assert last.reason


def test_a_value_without_a_time_holds_from_now(bank: pieria.Bank, clock: HandClock) -> None:
    bank.facts.declare("lives_in")
    first = bank.facts.add("Maya", "lives_in", "Berlin")
    moved = clock.now = clock() + timedelta(days=30)
    bank.facts.add("Maya", "lives_in", "Lisbon")
    assert times(bank.facts.timeline()) == [("Berlin", first.valid_from, moved), ("Lisbon", moved, None)]
    assert first.valid_from == moved - timedelta(days=30)


def test_a_clock_set_back_leaves_no_overlap(bank: pieria.Bank, clock: HandClock) -> None:
    bank.facts.declare("lives_in")
    bank.facts.add("Maya", "lives_in", "Berlin")
    later = clock()
    clock.move(days=-10)
    bank.facts.add("Maya", "lives_in", "Lisbon")
    assert times(bank.facts.timeline()) == [("Lisbon", clock(), later), ("Berlin", later, None)]


def test_declaring_changes_nothing_and_reports_what_is_against_it(bank: pieria.Bank) -> None:
    add = bank.facts.add
    add("Maya", "lives_in", "Berlin", valid_from="2020-01-01")
    add("Maya", "lives_in", "Lisbon", valid_from="2024-01-01")
    add("Maya", "lives_in", "Oslo", valid_from="2010-01-01", valid_until="2011-01-01")
    add("Ada", "lives_in", "London")
    assert bank.facts.conflicts() == []
    [conflict] = bank.facts.declare("Lives In")
    assert (conflict.subject, conflict.predicate, objects(conflict.facts)) == ("Maya", "lives_in", ["Berlin", "Lisbon"])
    assert len(bank.facts.timeline()) == 4
    assert bank.facts.conflicts("Maya", "lives in") == bank.facts.conflicts() == [conflict]
    assert bank.facts.conflicts("Ada") == bank.facts.conflicts(predicate="likes") == []
    bank.facts.supersede("Maya", "lives_in", "Lisbon")
    assert objects(bank.facts.query("Maya")) == ["Lisbon"]


def test_a_value_from_before_the_declaration_counts_from_when_it_was_learnt(
    bank: pieria.Bank, clock: HandClock
) -> None:
    current = bank.facts.add("Maya", "assigned_to", "billing")
    bank.facts.declare("assigned_to")
    old = bank.facts.add("Maya", "assigned_to", "search", valid_from="2020-01-01")
    assert old.valid_until == clock()
    assert current.valid_from is None
    assert objects(bank.facts.query("Maya")) == ["billing"]
    assert objects(bank.facts.query("Maya", valid_at="2021-01-01")) == ["search"]


def test_saying_again_what_is_known_settles_no_contradiction(bank: pieria.Bank) -> None:
    rome = bank.facts.add("Maya", "lives_in", "Rome", valid_from="2020-01-01")
    bank.facts.add("Maya", "lives_in", "Oslo", valid_from="2020-01-01")
    bank.facts.declare("lives_in")
    changes = bank.changes()
    assert bank.facts.add("Maya", "lives_in", "Rome", valid_from="2020-01-01") == rome
    assert bank.changes() == changes
    assert len(bank.facts.conflicts()) == 1


def test_a_value_ends_what_began_before_it_even_where_others_contradict(bank: pieria.Bank) -> None:
    bank.facts.add("Maya", "lives_in", "Oslo", valid_from="2010-01-01", valid_until="2023-12-31")
    bank.facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01")
    bank.facts.declare("lives_in")
    bank.facts.add("Maya", "lives_in", "Rome", valid_from="2015-01-01")
    assert times(bank.facts.timeline()) == [
        ("Oslo", day("2010-01-01"), day("2015-01-01")),
        ("Rome", day("2015-01-01"), day("2020-01-01")),
        ("Berlin", day("2020-01-01"), None),
    ]
    assert bank.facts.conflicts() == []


def test_predicates_are_listed_with_their_facts(bank: pieria.Bank) -> None:
    bank.facts.add("Maya", "Likes", "tea")
    bank.facts.add("Ada", "likes", "tea")
    bank.facts.declare("lives_in")
    shown = [(one.name, one.single_valued, one.facts) for one in bank.facts.predicates()]
    assert shown == [("Likes", False, 2), ("lives_in", True, 0)]
    changes = len(bank.changes())
    assert bank.facts.declare("lives_in") == []
    assert len(bank.changes()) == changes
    assert bank.facts.declare("lives_in", single_valued=False) == []
    assert [one.name for one in bank.facts.predicates()] == ["Likes"]


# --- replacing and ending


def test_superseding_works_for_any_predicate_and_leaves_no_overlap(bank: pieria.Bank, clock: HandClock) -> None:
    add = bank.facts.add
    add("Maya", "leads", "search", valid_from="2020-01-01", valid_until="2021-01-01")
    add("Maya", "leads", "billing", valid_from="2024-01-01")
    add("Maya", "leads", "payments", valid_from="2025-01-01")
    add("Maya", "leads", "moon base", valid_from="2030-01-01")
    fact = bank.facts.supersede("Maya", "leads", "platform", at="2026-02-01")
    assert times(bank.facts.timeline("Maya")) == [
        ("search", day("2020-01-01"), day("2021-01-02")),
        ("billing", day("2024-01-01"), day("2026-02-01")),
        ("payments", day("2025-01-01"), day("2026-02-01")),
        ("platform", day("2026-02-01"), None),
        ("moon base", day("2030-01-01"), None),
    ]
    assert bank.facts.query("Maya", valid_at="2026-02-01") == [fact]
    assert len({version.known_from for one in bank.facts.query("Maya", history=True)[1:4] for version in [one]}) == 1
    again = bank.changes()
    assert bank.facts.supersede("Maya", "leads", "platform", at="2026-02-01") == fact
    assert bank.changes() == again
    clock.move(days=1)
    bank.facts.supersede("Maya", "leads", "billing")
    assert objects(bank.facts.query("Maya")) == ["billing"]


def test_a_superseding_value_ends_where_the_next_one_begins(bank: pieria.Bank) -> None:
    bank.facts.declare("lives_in")
    bank.facts.add("Maya", "lives_in", "Rome", valid_from="2015-01-01")
    bank.facts.add("Maya", "lives_in", "Lisbon", valid_from="2026-03-01")
    bank.facts.supersede("Maya", "lives_in", "Oslo", at="2020-01-01")
    assert times(bank.facts.timeline()) == [
        ("Rome", day("2015-01-01"), day("2020-01-01")),
        ("Oslo", day("2020-01-01"), day("2026-03-01")),
        ("Lisbon", day("2026-03-01"), None),
    ]


def test_invalidating_ends_a_fact_at_the_moment(bank: pieria.Bank, clock: HandClock) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
    [ended] = bank.facts.invalidate("maya", "works on", "Billing", at="2026-03-01", reason="reorganised")
    assert (ended.id, ended.valid_until, ended.reason) == (fact.id, day("2026-03-01"), "reorganised")
    assert bank.facts.history(fact.id)[-1] == ended
    assert bank.facts.query("Maya") == []
    assert objects(bank.facts.query("Maya", valid_at="2026-02-28")) == ["billing"]
    bank.facts.add("Maya", "likes", "tea")
    assert bank.facts.invalidate("Maya", "likes", "tea")[0].valid_until == clock()


def test_what_ended_before_it_began_never_held(bank: pieria.Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
    [ended] = bank.facts.invalidate("Maya", "works_on", "billing", at="2025-12-01")
    assert (ended.id, ended.ended, bool(ended.reason)) == (fact.id, "removed", True)
    assert bank.facts.timeline() == []
    same_moment = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
    assert bank.facts.invalidate("Maya", "works_on", "billing", at="2026-01-10")[0].ended == "removed"
    assert same_moment.id != fact.id


def test_only_the_stretch_that_holds_is_ended(bank: pieria.Bank) -> None:
    bank.facts.add("Maya", "works_on", "billing", valid_from="2024-01-01", valid_until="2024-12-31")
    bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01")
    bank.facts.invalidate("Maya", "works_on", "billing", at="2024-06-01")
    assert times(bank.facts.timeline()) == [
        ("billing", day("2024-01-01"), day("2024-06-01")),
        ("billing", day("2026-01-01"), None),
    ]


@pytest.mark.parametrize(
    ("triple", "hint"),
    [
        (("Maya", "works_on", "search"), "billing"),
        (("Maya", "leads", "billing"), "works_on"),
        (("Mya", "works_on", "billing"), "Maya"),
        (("Quentin", "works_on", "billing"), "entities"),
        (("Maya", "likes", "tea"), "2026-03-01"),
    ],
)
def test_nothing_to_end_is_an_error_that_says_what_there_is(
    bank: pieria.Bank, triple: tuple[str, str, str], hint: str
) -> None:
    bank.facts.add("Maya", "works_on", "billing")
    bank.facts.add("Maya", "likes", "tea", valid_until="2026-02-28")
    changes = bank.changes()
    with pytest.raises(NotFoundError) as caught:
        bank.facts.invalidate(*triple)
    assert hint in str(caught.value.hint)
    assert bank.changes() == changes


def test_removing_takes_a_fact_out_of_every_answer(bank: pieria.Bank, clock: HandClock) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing")
    clock.move(hours=1)
    removed = bank.facts.remove(fact.id, reason="a joke")
    assert (removed.id, removed.ended, removed.reason) == (fact.id, "removed", "a joke")
    assert bank.facts.timeline() == []
    assert bank.facts.query("Maya", known_at=fact.known_from)[0].id == fact.id
    assert bank.facts.history(fact.id)[-1] == removed
    with pytest.raises(NotFoundError, match=fact.id) as caught:
        bank.facts.remove(fact.id)
    assert "removed" in str(caught.value.hint)
    assert bank.facts.add("Maya", "works_on", "billing").id != fact.id


def test_undoing_puts_facts_back(bank: pieria.Bank) -> None:
    bank.facts.declare("lives_in")
    bank.facts.add("Maya", "lives_in", "Rome", valid_from="2015-01-01")
    before = times(bank.facts.timeline())
    bank.facts.add("Maya", "lives_in", "Oslo", valid_from="2018-01-01", valid_until="2019-12-31")
    bank.undo(bank.changes()[-1].seq)
    assert times(bank.facts.timeline()) == before


# --- asking


def test_an_entity_is_found_on_the_side_that_is_asked_for(bank: pieria.Bank) -> None:
    bank.facts.add("Maya", "knows", "Ada")
    bank.facts.add("Ada", "knows", "Grace")
    bank.facts.add("Ada", "admires", "ada")
    bank.facts.add("Grace", "knows", "Maya")

    def asked(**values: str) -> list[str]:
        return [f"{fact.subject}-{fact.object}" for fact in bank.facts.query(**values)]  # type: ignore[arg-type]

    assert asked(entity="ADA") == ["Maya-Ada", "Ada-Grace", "Ada-Ada"]
    assert asked(entity="Ada", direction="out") == ["Ada-Grace", "Ada-Ada"]
    assert asked(entity="Ada", direction="in") == ["Maya-Ada", "Ada-Ada"]
    assert asked(entity="Ada", direction="in", subject="Ada") == ["Ada-Ada"]
    assert asked(entity="Ada", direction="out", subject="Maya") == []
    assert asked(entity="Ada", predicate="knows") == ["Maya-Ada", "Ada-Grace"]
    assert asked(subject="Ada", object="Grace") == ["Ada-Grace"]
    assert asked(entity="Nobody") == []


def test_the_timeline_is_in_the_order_in_which_things_began(bank: pieria.Bank) -> None:
    for thing, since in (("c", "2026-01-01"), ("a", None), ("b", "2020-01-01"), ("d", "2030-01-01")):
        bank.facts.add("Maya", "has", thing, valid_from=since)
    assert objects(bank.facts.timeline("Maya")) == ["a", "b", "c", "d"]
    assert objects(bank.facts.timeline("Maya", limit=2)) == ["c", "d"]
    assert objects(bank.facts.query("Maya", limit=2)) == ["b", "c"]
    assert bank.facts.timeline("Ada") == []


def test_both_times_are_asked_for_together(bank: pieria.Bank, clock: HandClock) -> None:
    bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
    known = bank.changes()[-1].at
    clock.move(days=5)
    bank.facts.invalidate("Maya", "works_on", "billing", at="2026-02-01")
    assert bank.facts.query("Maya", valid_at="2026-03-01") == []
    assert objects(bank.facts.query("Maya", valid_at="2026-03-01", known_at=known)) == ["billing"]
    assert bank.facts.query("Maya", valid_at="2026-03-01", known_at="2026-05-01") == []


def test_stats_count_what_query_would_show(bank: pieria.Bank) -> None:
    bank.facts.declare("lives_in")
    bank.facts.add("Maya", "lives_in", "Rome", valid_from="2015-01-01")
    bank.facts.add("maya", "lives_in", "Oslo", valid_from="2020-01-01")
    bank.facts.add("Maya", "visits", "Oslo", valid_from="2030-01-01")
    bank.facts.alias("Em", "Maya")
    bank.facts.add("Em", "visits", "Rome")
    assert bank.facts.stats().as_dict() == {
        "entities": 3,
        "facts": 4,
        "current": 2,
        "ended": 1,
        "upcoming": 1,
        "predicates": {"lives_in": 2, "visits": 2},
        "single_valued": ["lives_in"],
    }


# --- what is refused


@pytest.mark.parametrize(
    ("values", "parameter"),
    [
        ({"subject": " "}, "subject"),
        ({"subject": "a\0"}, "subject"),
        ({"object": "\ud83d"}, "object"),
        ({"object": "x" * 501}, "object"),
        ({"predicate": "__"}, "predicate"),
        ({"predicate": 5}, "predicate"),
        ({"valid_from": "2026-02-30"}, "valid_from"),
        ({"valid_from": "soon"}, "valid_from"),
        ({"valid_from": "2026-03-02", "valid_until": "2026-03-01"}, "valid_until"),
        ({"valid_from": "2026-03-01T10:00", "valid_until": "2026-03-01T10:00"}, "valid_until"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"memory": ""}, "memory"),
        ({"source": "\n"}, "source"),
    ],
)
def test_a_bad_statement_is_refused(bank: pieria.Bank, values: dict[str, object], parameter: str) -> None:
    given: dict[str, object] = {"subject": "Maya", "predicate": "likes", "object": "tea", **values}
    with pytest.raises(InputError) as caught:
        bank.facts.add(**given)  # type: ignore[arg-type]
    assert caught.value.parameter == parameter
    assert bank.changes() == ()


def test_everything_wrong_is_said_at_once(bank: pieria.Bank) -> None:
    with pytest.raises(InputError) as caught:
        bank.facts.add("", "_", "x\0", valid_from="2026-02-30", confidence=4)
    problems = [caught.value, *caught.value.errors]
    assert [getattr(one, "parameter", None) for one in problems] == [
        "subject", "predicate", "object", "valid_from", "confidence",
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        bank.facts.query("", direction="sideways", valid_at="never", known_at="never", limit=0)
    problems = [caught.value, *caught.value.errors]
    assert {getattr(one, "parameter", None) for one in problems} == {
        "subject", "direction", "valid_at", "known_at", "limit",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "parameter"),
    [
        ({"direction": "out"}, "direction"),
        ({"history": True, "valid_at": "2026-01-01"}, "valid_at"),
        ({"history": 1}, "history"),
        ({"limit": -1}, "limit"),
        ({"limit": True}, "limit"),
        ({"predicate": " "}, "predicate"),
    ],
)
def test_a_bad_question_is_refused(bank: pieria.Bank, values: dict[str, object], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        bank.facts.query(**values)  # type: ignore[arg-type]
    assert caught.value.parameter == parameter


def test_other_verbs_refuse_bad_input_too(bank: pieria.Bank) -> None:
    refused = (
        lambda: bank.facts.supersede("Maya", "likes", "tea", at="2026-13-01"),
        lambda: bank.facts.invalidate("Maya", "likes", "", at="2026-01-01"),
        lambda: bank.facts.invalidate("Maya", "likes", "tea", at="noon"),
        lambda: bank.facts.remove(""),
        lambda: bank.facts.history(" "),
        lambda: bank.facts.declare("__"),
        lambda: bank.facts.declare("likes", single_valued="yes"),  # type: ignore[arg-type]
        lambda: bank.facts.alias("", "Maya"),
        lambda: bank.facts.entities(5),  # type: ignore[arg-type]
        lambda: bank.facts.timeline(limit=0),
    )
    for call in refused:
        with pytest.raises(InputError):
            call()
    for missing in (lambda: bank.facts.remove("nothing"), lambda: bank.facts.history("nothing")):
        with pytest.raises(NotFoundError):
            missing()
    assert bank.changes() == ()


def test_one_of_several_values_is_replaced(bank: pieria.Bank) -> None:
    bank.facts.add("Maya", "leads", "search", valid_from="2024-01-01")
    bank.facts.add("Maya", "leads", "billing", valid_from="2024-01-01")
    new = bank.facts.supersede("Maya", "leads", "platform", replaces="SEARCH", at="2026-02-01")
    assert times(bank.facts.timeline("Maya")) == [
        ("billing", day("2024-01-01"), None),
        ("search", day("2024-01-01"), day("2026-02-01")),
        ("platform", day("2026-02-01"), None),
    ]
    before = bank.changes()
    with pytest.raises(NotFoundError, match="Maya leads ads") as caught:
        bank.facts.supersede("Maya", "leads", "moon base", replaces="ads")
    assert caught.value.hint == "What holds then is: billing, platform."
    with pytest.raises(NotFoundError):
        bank.facts.supersede("Maya", "sells", "moon base", replaces="ads")
    with pytest.raises(InputError):
        bank.facts.supersede("Maya", "leads", "moon base", replaces=" ")
    assert bank.changes() == before
    assert new.object == "platform"
