"""Facts in a store: found by their keys, and visible only where their source memory is."""

from random import Random
from typing import Any

from tests.contract.making import ALL, DAY, NOW, apply, memory, standing, tie, triple

from pieria.record.check import NAME_LIMIT
from pieria.record.fact import Fact, FactQuery
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import End
from pieria.record.time import iso, micros, moment
from pieria.store.facts import FactSpan
from pieria.store.protocol import Store

WRITTEN = ALL.having(valid_at=ANY_TIME)


def facts(store: Store, filter: Filter = ALL, **asked: Any) -> list[Fact]:
    """Return the facts, and check that their spans are found by the same question."""
    with store.reading() as reader:
        found = reader.facts(FactQuery(**asked), filter)
        assert reader.spans(FactQuery(**asked), filter) == [span_of(fact) for fact in found], (filter, asked)
    return found


def found(store: Store, filter: Filter = ALL, **asked: Any) -> list[str]:
    return [fact.id for fact in facts(store, filter, **asked)]


def span_of(fact: Fact) -> FactSpan:
    return FactSpan(
        id=fact.id,
        subject_key=fact.subject.casefold(),
        predicate=fact.predicate,
        predicate_key=fact.predicate.casefold(),
        object_key=fact.object.casefold(),
        valid_from=None if fact.valid_from is None else micros(fact.valid_from),
        valid_until=None if fact.valid_until is None else micros(fact.valid_until),
        memory=fact.memory,
        known_from=micros(fact.known_from),
    )


def test_facts_are_found_by_each_of_their_keys(store: Store) -> None:
    apply(
        store,
        facts=[
            triple("1", "Maya", "works_on", "Billing"),
            triple("2", "Billing", "uses", "Kafka"),
            triple("3", "Ola", "works_on", "Kafka"),
            triple("4", "Maya", "manages", "Ola"),
        ],
    )
    assert found(store) == ["1", "2", "3", "4"]
    assert found(store, ids=("2", "nobody")) == ["2"]
    assert found(store, subject_keys=("maya",)) == ["1", "4"]
    assert found(store, subject_keys=("Maya",)) == []
    assert found(store, predicate_keys=("works_on", "uses")) == ["1", "2", "3"]
    assert found(store, object_keys=("kafka",)) == ["2", "3"]
    assert found(store, either_keys=("billing",)) == ["1", "2"]
    assert found(store, either_keys=("ola", "billing")) == ["1", "2", "3", "4"]
    assert found(store, subject_keys=("maya",), predicate_keys=("manages",), object_keys=("ola",)) == ["4"]
    assert found(store, subject_keys=("maya",), object_keys=("kafka",)) == []
    assert found(store, subject_keys=()) == []


def test_names_may_be_as_long_as_the_limit(store: Store) -> None:
    """Use long names of random characters, so that indexes cannot share or compress prefixes."""
    characters = Random(6)
    names = ["".join(chr(characters.randint(0x20000, 0x2A6DF)) for _ in range(NAME_LIMIT)) for _ in range(4)]
    one, other, relation, alike = *names[:3], names[2][:-1] + "x"
    apply(
        store,
        memory("heron", one, tags=[other], author=other, source=relation),
        memory("stork", other),
        facts=[triple("1", one, relation, other), triple("2", other, alike, one)],
        links=[tie("l", one, other, relation), tie("m", other, one, relation)],
    )
    assert found(store, subject_keys=(one, other), predicate_keys=(relation,)) == ["1"]
    assert found(store, object_keys=(one, other), predicate_keys=(relation, alike)) == ["1", "2"]
    with store.reading() as reader:
        assert [link.id for link in reader.links(between=(End("memory", one), End("memory", other)))] == ["l", "m"]
        assert [link.id for link in reader.links([End("memory", other)], relation)] == ["l", "m"]
        assert reader.tied([one], ALL, 10) == {one: [2, 2]}


def test_facts_are_sorted_by_the_time_they_held_from(store: Store) -> None:
    apply(
        store,
        facts=[
            triple("late", "x", "is", "a", valid_from=NOW),
            triple("ever", "x", "is", "b"),
            triple("early", "x", "is", "c", valid_from=NOW - DAY, valid_until=NOW),
            triple("early too", "x", "is", "d", valid_from=NOW - DAY),
        ],
    )
    for filter in (ALL, WRITTEN):
        assert found(store, filter) == ["ever", "early", "early too", "late"]


def test_fact_comes_back_as_it_was_written(store: Store) -> None:
    apply(store, memory("source", "m"))
    values = {"valid_from": NOW - 1, "valid_until": NOW + 1, "confidence": 0.25, "memory": "m", "source": "mail"}
    made = apply(store, facts=[triple("f", "Ma'ya 鷺", "Works_On", 'O"Brien', reason="why", **values)]).change
    expected = Fact(
        "f", "Ma'ya 鷺", "Works_On", "O\"Brien", made.at, None, moment(NOW - 1), moment(NOW + 1), 0.25, "m", "mail",
        "", "why",
    )  # fmt: skip
    assert facts(store) == facts(store, WRITTEN) == [expected]
    span = span_of(expected)
    assert [span.holds_at(at) for at in (NOW - 2, NOW - 1, NOW, NOW + 1)] == [False, True, True, False]
    assert span._replace(valid_from=None, valid_until=None).holds_at(NOW)


def test_ended_fact_is_shown_on_request_and_in_the_past(store: Store) -> None:
    write = memory("source", "m")
    first = apply(store, write, facts=[triple("f", "x", "is", "y"), triple("g", "x", "is", "z", memory="m")])
    ended = apply(
        store, standing(write, first.rows[0], ended="removed"), facts=[triple("f", "x", "is", "y", ended="removed")]
    ).change
    made = first.change
    assert found(store) == []
    assert [fact.ended for fact in facts(store, include_ended=True)] == ["removed"]
    assert found(store, ALL.having(known_at=micros(made.at))) == ["f", "g"]
    assert found(store, ALL.having(known_at=micros(made.at) - 1)) == []
    assert found(store, ALL.having(known_at=micros(ended.at))) == []
    every = facts(store, every_version=True, include_ended=True)
    assert [(fact.known_from, fact.known_until) for fact in every] == [(made.at, ended.at), (ended.at, None)]
    apply(store, erase=["m"])
    assert set(found(store, include_ended=True, every_version=True)) == {"f"}


def test_fact_is_seen_by_those_who_see_its_memory(store: Store) -> None:
    apply(
        store,
        memory("a", "open", kind="diary"),
        memory("b", "theirs", scope="session", session="s"),
        memory("c", "gone", state={"ended": "removed"}),
        memory("d", "archived", state={"status": "archived"}),
        memory("e", "over", valid_until=iso(moment(NOW - 1))),
        facts=[triple(f"of {id}", "x", "is", id, memory=id) for id in ("open", "theirs", "gone", "archived", "over")]
        + [triple("of nobody", "x", "is", "y"), triple("of a stranger", "x", "is", "y", memory="not in this bank")],
    )
    seen = {"of nobody", "of open", "of archived", "of over"}
    assert set(found(store)) == set(found(store, WRITTEN)) == seen
    assert set(found(store, ALL.having(viewer=Viewer(session="s")))) == seen | {"of theirs"}
    assert set(found(store, ALL.having(viewer=Viewer(everything=True)))) == seen | {"of theirs"}
    narrow = set(found(store, ALL.having(kinds=("diary",))))
    assert narrow == set(found(store, WRITTEN.having(kinds=("diary",))))
    assert narrow == {"of nobody", "of open"}
    assert found(store, memory="open") == ["of open"]
    assert found(store, memory="theirs") == []
    with store.reading() as reader:
        assert {name.key for name in reader.names(ALL)} == {"x", "y", "open", "archived", "over"}


def test_fact_holds_no_longer_than_its_memory(store: Store) -> None:
    begins, ends = iso(moment(NOW - DAY)), iso(moment(NOW + DAY))
    whole = {"valid_from": moment(NOW - DAY), "valid_until": moment(NOW + DAY)}
    apply(
        store,
        memory("source", "m", valid_from=begins, valid_until=ends),
        facts=[
            triple("open", "x", "is", "a", memory="m"),
            triple("wider", "x", "is", "b", memory="m", valid_from=NOW - 9 * DAY, valid_until=NOW + 9 * DAY),
            triple("within", "x", "is", "c", memory="m", valid_from=NOW, valid_until=NOW + 1),
            triple("outside", "x", "is", "d", memory="m", valid_from=NOW + DAY),
            triple("free", "x", "is", "e", valid_from=NOW - 9 * DAY),
        ],
    )
    held = {fact.id: {"valid_from": fact.valid_from, "valid_until": fact.valid_until} for fact in facts(store)}
    assert held == {
        "open": whole,
        "wider": whole,
        "within": {"valid_from": moment(NOW), "valid_until": moment(NOW + 1)},
        "free": {"valid_from": moment(NOW - 9 * DAY), "valid_until": None},
    }
    written = {fact.id: fact.valid_from for fact in facts(store, WRITTEN)}
    assert written["open"] is None
    assert "outside" in written


def test_names_are_counted_in_the_spelling_first_seen(store: Store) -> None:
    apply(store, facts=[triple("1", "Maya", "likes", "Tea"), triple("2", "MAYA", "likes", "maya")])
    apply(store, facts=[triple("3", "tea", "is", "hot"), triple("4", "gone", "is", "gone", ended="removed")])
    with store.reading() as reader:
        assert [tuple(name) for name in reader.names(ALL)] == [
            ("hot", "hot", 1), ("maya", "Maya", 2), ("tea", "Tea", 2),
        ]  # fmt: skip
        assert reader.spelling("maya") == "Maya"
        assert reader.spelling("tea") in {"tea", "Tea"}
        assert reader.spelling("likes", predicate=True) == "likes"
        assert reader.spelling("likes") is None
        assert reader.spelling("nobody") is None
