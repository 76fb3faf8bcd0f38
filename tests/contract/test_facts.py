"""Facts in a store: found by their keys, and visible only where their source memory is."""

import itertools
from collections.abc import Mapping
from contextlib import closing
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.conftest import Opens
from tests.contract.making import ALL, DAY, NOW, apply, memory, standing, tie, triple

from pieria.record.check import NAME_LIMIT
from pieria.record.fact import Fact, FactQuery, FactRow
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import End
from pieria.record.time import iso, micros, moment
from pieria.store.facts import FactSpan
from pieria.store.protocol import Store

WRITTEN = ALL.having(valid_at=ANY_TIME)


def found(store: Store, filter: Filter = ALL, **asked: Any) -> list[str]:
    return [fact.id for fact in facts(store, filter, **asked)]


def facts(store: Store, filter: Filter = ALL, **asked: Any) -> list[Fact]:
    with store.reading() as reader:
        return reader.facts(FactQuery(**asked), filter)


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


def test_names_may_be_as_long_as_names_may_be(store: Store) -> None:
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


def test_facts_come_by_the_time_they_held_from(store: Store) -> None:
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


def test_a_fact_comes_back_as_it_was_written(store: Store) -> None:
    apply(store, memory("source", "m"))
    values = {"valid_from": NOW - 1, "valid_until": NOW + 1, "confidence": 0.25, "memory": "m", "source": "mail"}
    made = apply(store, facts=[triple("f", "Ma'ya 鷺", "works_on", 'O"Brien', reason="why", **values)]).change
    expected = Fact(
        "f", "Ma'ya 鷺", "works_on", "O\"Brien", made.at, None, moment(NOW - 1), moment(NOW + 1), 0.25, "m", "mail",
        "", "why",
    )  # fmt: skip
    assert facts(store) == facts(store, WRITTEN) == [expected]


def test_an_ended_fact_is_shown_only_on_request_and_was_there_before(store: Store) -> None:
    made = apply(store, facts=[triple("f", "x", "is", "y")]).change
    ended = apply(store, facts=[triple("f", "x", "is", "y", ended="removed")]).change
    assert found(store) == []
    assert [fact.ended for fact in facts(store, include_ended=True)] == ["removed"]
    assert found(store, ALL.having(known_at=micros(made.at))) == ["f"]
    assert found(store, ALL.having(known_at=micros(made.at) - 1)) == []
    assert found(store, ALL.having(known_at=micros(ended.at))) == []
    every = facts(store, every_version=True, include_ended=True)
    assert [(fact.known_from, fact.known_until) for fact in every] == [(made.at, ended.at), (ended.at, None)]


def test_a_fact_is_seen_by_those_who_see_its_memory(store: Store) -> None:
    apply(
        store,
        memory("a", "open"),
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
    assert found(store, memory="open") == ["of open"]
    assert found(store, memory="theirs") == []
    with store.reading() as reader:
        assert {name.key for name in reader.names(ALL)} == {"x", "y", "open", "archived", "over"}


def test_a_fact_holds_no_longer_than_its_memory_does(store: Store) -> None:
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


def test_a_fact_follows_its_memory_through_known_time(store: Store) -> None:
    write = memory("source", "m")
    made = apply(store, write, facts=[triple("f", "x", "is", "y", memory="m")])
    apply(store, standing(write, made.rows[0], ended="removed"))
    assert found(store) == []
    assert found(store, ALL.having(known_at=micros(made.change.at))) == ["f"]


def test_a_fact_goes_with_its_memory_s_erasure(store: Store) -> None:
    apply(store, memory("source", "m"), facts=[triple("f", "x", "is", "y", memory="m"), triple("g", "x", "is", "z")])
    apply(store, erase=["m"])
    assert found(store, include_ended=True, every_version=True) == ["g"]


def test_names_are_counted_in_the_spelling_first_seen(store: Store) -> None:
    apply(store, facts=[triple("1", "Maya", "likes", "Tea"), triple("2", "MAYA", "likes", "maya")])
    apply(store, facts=[triple("3", "tea", "is", "hot"), triple("4", "gone", "is", "gone", ended="removed")])
    with store.reading() as reader:
        assert [tuple(name) for name in reader.names(ALL)] == [
            ("hot", "hot", 1),
            ("maya", "Maya", 2),
            ("tea", "Tea", 2),
        ]
        assert reader.spelling("maya") == "Maya"
        assert reader.spelling("tea") in {"tea", "Tea"}
        assert reader.spelling("likes", predicate=True) == "likes"
        assert reader.spelling("likes") is None
        assert reader.spelling("nobody") is None


def spans(store: Store, filter: Filter = ALL, **asked: Any) -> list[FactSpan]:
    with store.reading() as reader:
        return reader.spans(FactQuery(**asked), filter)


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


def test_a_span_tells_a_fact_by_its_keys_and_the_time_it_holds(store: Store) -> None:
    made = apply(
        store,
        memory("source", "m", valid_until=iso(moment(NOW + DAY))),
        facts=[triple("f", "Maya", "Works_On", "Billing", memory="m", valid_from=NOW - DAY, confidence=0.5)],
    ).change
    keys = ("f", "maya", "Works_On", "works_on", "billing")
    assert spans(store) == [FactSpan(*keys, NOW - DAY, NOW + DAY, "m", micros(made.at))]
    assert spans(store, WRITTEN) == [FactSpan(*keys, NOW - DAY, None, "m", micros(made.at))]
    assert spans(store, object_keys=("kafka",)) == []
    [span] = spans(store)
    moments = (NOW - DAY - 1, NOW - DAY, NOW + DAY - 1, NOW + DAY)
    assert [span.holds_at(at) for at in moments] == [False, True, True, False]
    assert span._replace(valid_from=None, valid_until=None).holds_at(NOW)


DAYS = st.none() | st.integers(-3, 3).map(lambda day: NOW + day * DAY)
TIMES = st.tuples(DAYS, DAYS).filter(lambda times: times[0] is None or times[1] is None or times[0] < times[1])
SOURCES = ("m0", "m1", "m2")
NAMES = st.sampled_from(["Maya", "MAYA", "Ola", "Kafka"])
SOME_KEYS = st.none() | st.lists(st.sampled_from(["maya", "ola", "kafka"]), max_size=2).map(tuple)
SOME_FACT = st.fixed_dictionaries(
    {
        "named": st.tuples(NAMES, st.sampled_from(["likes", "Likes", "is"]), NAMES),
        "times": TIMES,
        "memory": st.sampled_from([None, None, "nowhere", *SOURCES]),
        "ended": st.sampled_from(["", "", "", "removed"]),
    }
)
SOME_SOURCE = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["note", "diary"]),
        "scope": st.sampled_from(["bank", "session"]),
        "times": TIMES,
        "ended": st.sampled_from(["", "", "removed"]),
    }
)
SOME_FILTER = st.fixed_dictionaries(
    {
        "valid_at": st.sampled_from([None, ANY_TIME, NOW - DAY]),
        "viewer": st.sampled_from([Viewer(), Viewer(session="s"), Viewer(everything=True)]),
        "kinds": st.sampled_from([None, None, ("diary",)]),
    }
)
SOME_QUERY = st.builds(
    FactQuery,
    subject_keys=SOME_KEYS,
    predicate_keys=st.sampled_from([None, None, ("likes",)]),
    object_keys=SOME_KEYS,
    either_keys=SOME_KEYS,
    memory=st.sampled_from([None, None, None, *SOURCES]),
    include_ended=st.booleans(),
    every_version=st.booleans(),
)


FRESH = itertools.count()


def row(number: int, drawn: Mapping[str, Any]) -> FactRow:
    begin, end = drawn["times"]
    values = {"valid_from": begin, "valid_until": end, "memory": drawn["memory"], "ended": drawn["ended"]}
    return triple(f"f{number}", *drawn["named"], **values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sources=st.lists(SOME_SOURCE, min_size=len(SOURCES), max_size=len(SOURCES)),
    stated=st.lists(SOME_FACT, min_size=4, max_size=10),
    restated=st.lists(SOME_FACT, max_size=4),
    questions=st.lists(st.tuples(SOME_QUERY, SOME_FILTER, st.sampled_from(["now", "then"])), min_size=3, max_size=8),
)
def test_spans_are_the_facts_that_the_same_question_finds(
    opens: Opens,
    sources: list[dict[str, Any]],
    stated: list[dict[str, Any]],
    restated: list[dict[str, Any]],
    questions: list[tuple[FactQuery, dict[str, Any], str]],
) -> None:
    writes = []
    for id, drawn in zip(SOURCES, sources, strict=True):
        begin, end = (None if day is None else iso(moment(day)) for day in drawn["times"])
        values = {"kind": drawn["kind"], "scope": drawn["scope"], "session": "s", "state": {"ended": drawn["ended"]}}
        writes.append(memory(f"source {id}", id, valid_from=begin, valid_until=end, **values))
    with closing(opens(name=f"bank {next(FRESH)}")) as store:
        then = apply(store, *writes, facts=[row(number, drawn) for number, drawn in enumerate(stated)]).change
        apply(store, facts=[row(number, drawn) for number, drawn in enumerate(restated)])
        with store.reading() as reader:
            for query, drawn, known in [(FactQuery(), {}, "now"), *questions]:
                filter = ALL.having(known_at=None if known == "now" else micros(then.at), **drawn)
                assert reader.spans(query, filter) == [span_of(fact) for fact in reader.facts(query, filter)]
