"""Facts in a store: found by their keys, and visible only where their source memory is."""

from random import Random
from typing import Any

from tests.contract.single_calls import read
from tests.contract.store_helpers import ALL, DAY, NOW, apply, memory, standing, tie, triple

from pieria.record.check import NAME_LIMIT
from pieria.record.fact import Fact, FactQuery
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import End
from pieria.record.time import micros, moment
from pieria.store.facts import FactSpan
from pieria.store.protocol import Store

WRITTEN = ALL.having(valid_at=ANY_TIME)


def facts(store: Store, filter: Filter = ALL, **asked: Any) -> list[Fact]:
    """Return the facts, and check that their spans are found by the same question."""
    found = read(store).facts(FactQuery(**asked), filter)
    assert read(store).spans(FactQuery(**asked), filter) == [span_of(fact) for fact in found], (filter, asked)
    return found


def found(store: Store, filter: Filter = ALL, **asked: Any) -> list[str]:
    return [fact.id for fact in facts(store, filter, **asked)]


def span_of(fact: Fact) -> FactSpan:
    keys = (fact.subject.casefold(), fact.predicate, fact.predicate.casefold(), fact.object.casefold())
    since, until = (None if at is None else micros(at) for at in (fact.valid_from, fact.valid_until))
    return FactSpan(fact.id, *keys, since, until, fact.memory, micros(fact.known_from))


def test_facts_are_found_by_each_of_their_keys(store: Store) -> None:
    named = ["Maya works_on Billing", "Billing uses Kafka", "Ola works_on Kafka", "Maya manages Ola"]
    apply(store, facts=[triple(str(n), *fact.split()) for n, fact in enumerate(named, 1)])
    assert found(store) == ["1", "2", "3", "4"]
    assert found(store, ids=("2", "nobody")) == ["2"]
    assert found(store, subject_keys=("maya",)) == ["1", "4"]
    assert found(store, predicate_keys=("works_on", "uses")) == ["1", "2", "3"]
    assert found(store, object_keys=("kafka",)) == ["2", "3"]
    assert found(store, either_keys=("billing",)) == ["1", "2"]
    assert found(store, either_keys=("ola", "billing")) == ["1", "2", "3", "4"]
    assert found(store, subject_keys=("maya",), predicate_keys=("manages",), object_keys=("ola",)) == ["4"]
    assert found(store, subject_keys=("maya",), object_keys=("kafka",)) == []
    assert found(store, subject_keys=("Maya",)) == found(store, subject_keys=()) == []


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
    assert [link.id for link in read(store).links(between=(End("memory", one), End("memory", other)))] == ["l", "m"]
    assert [link.id for link in read(store).links([End("memory", other)], relation)] == ["l", "m"]
    assert read(store).tied([one], ALL, 10) == {one: [2, 2]}


def test_facts_are_sorted_by_the_time_they_held_from(store: Store) -> None:
    begun = {"late": NOW, "ever": None, "early": NOW - DAY, "early too": NOW - DAY}
    ends = {"early": NOW}
    apply(store, facts=[triple(id, "x", "is", id, valid_from=at, valid_until=ends.get(id)) for id, at in begun.items()])
    assert found(store) == ["early", "early too", "late", "ever"]
    assert found(store, WRITTEN) == ["ever", "early", "early too", "late"]


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
    write, fact = memory("source", "m"), triple("f", "x", "is", "y")
    first = apply(store, write, facts=[fact, triple("g", "x", "is", "z", memory="m")])
    gone = standing(write, first.rows[0], ended="removed")
    made, ended = first.change.at, apply(store, gone, facts=[fact._replace(ended="removed")]).change.at
    assert found(store) == []
    assert [fact.ended for fact in facts(store, include_ended=True)] == ["removed"]
    assert found(store, ALL.having(known_at=micros(made))) == ["f", "g"]
    assert found(store, ALL.having(known_at=micros(made) - 1)) == []
    assert found(store, ALL.having(known_at=micros(ended))) == []
    every = facts(store, every_version=True, include_ended=True)
    assert [(fact.known_from, fact.known_until) for fact in every] == [(made, ended), (ended, None)]
    apply(store, erase=["m"])
    assert set(found(store, include_ended=True, every_version=True)) == {"f"}


def test_fact_is_seen_by_those_who_see_its_memory(store: Store) -> None:
    apply(
        store,
        memory("a", "open", kind="diary"),
        memory("b", "theirs", scope="session", session="s"),
        memory("c", "gone", state={"ended": "removed"}),
        memory("d", "archived", state={"status": "archived"}),
        memory("e", "over", valid_until=NOW - 1),
        facts=[triple(f"of {id}", "x", "is", id, memory=id) for id in ("open", "theirs", "gone", "archived", "over")]
        + [triple("of nobody", "x", "is", "y"), triple("of a stranger", "x", "is", "y", memory="not in this bank")],
    )
    seen = {"of nobody", "of open", "of archived", "of over"}
    diaries = {"kinds": ("diary",)}
    assert set(found(store)) == set(found(store, WRITTEN)) == seen
    assert set(found(store, ALL.having(viewer=Viewer(session="s")))) == seen | {"of theirs"}
    assert set(found(store, ALL.having(viewer=Viewer(everything=True)))) == seen | {"of theirs"}
    assert set(found(store, ALL.having(**diaries))) == {"of nobody", "of open"}
    assert set(found(store, WRITTEN.having(**diaries))) == {"of nobody", "of open"}
    assert found(store, memory="open") == ["of open"]
    assert found(store, memory="theirs") == []
    assert {name.key for name in read(store).names(ALL)} == {"x", "y", "open", "archived", "over"}


def test_fact_holds_no_longer_than_its_memory(store: Store) -> None:
    begins, ends = NOW - DAY, NOW + DAY
    within, wider = (NOW, NOW + 1), (NOW - 9 * DAY, NOW + 9 * DAY)
    written = {"open": (None, None), "wider": wider, "within": within, "outside": (ends, None)}
    source = memory("source", "m", valid_from=begins, valid_until=ends)
    made = [triple(id, "x", "is", id, memory="m", valid_from=at, valid_until=to) for id, (at, to) in written.items()]
    apply(store, source, facts=[*made, triple("free", "x", "is", "e", valid_from=wider[0])])
    held = {"open": (begins, ends), "wider": (begins, ends), "within": within, "free": (wider[0], None)}
    assert {fact.id: (fact.valid_from, fact.valid_until) for fact in facts(store)} == {
        id: (moment(at), to and moment(to)) for id, (at, to) in held.items()
    }
    unbound = {fact.id: fact.valid_from for fact in facts(store, WRITTEN)}
    assert unbound["open"] is None
    assert "outside" in unbound


def test_names_are_counted_in_the_spelling_first_seen(store: Store) -> None:
    apply(store, facts=[triple("1", "Maya", "likes", "Tea"), triple("2", "MAYA", "likes", "maya")])
    apply(store, facts=[triple("3", "tea", "is", "hot"), triple("4", "gone", "is", "gone", ended="removed")])
    assert list(read(store).names(ALL)) == [("hot", "hot", 1), ("maya", "Maya", 2), ("tea", "Tea", 2)]
    spelling = read(store).spelling
    assert [spelling(key) for key in ("maya", "likes", "nobody")] == ["Maya", None, None]
    assert spelling("tea") in {"tea", "Tea"}
    assert spelling("likes", predicate=True) == "likes"
