"""Vectors of standing rules and of leads: kinds of their own, written and erased with the passages of their text."""

import pytest
from tests.contract.making import apply, memory
from tests.contract.test_vectors import Vector, drawn, enter, near, passage, pending, put, rows_near, unit, well

from pieria.store.protocol import Embedded, Store


def rule(row: int, vector: Vector, number: int = 0) -> Embedded:
    return Embedded(row, "rule", number, 100 * number, 100 * number + 50, vector)


def lead(row: int, vector: Vector) -> Embedded:
    return Embedded(row, "lead", 0, 0, 50, vector)


def test_vectors_of_rules_are_a_kind_of_their_own(store: Store) -> None:
    rows = apply(store, memory("a", "a"), memory("b", "b")).rows
    enter(store)
    one, two, three = drawn(5, 3)
    put(store, passage(rows[0], one), rule(rows[0], two), rule(rows[0], three, 1), passage(rows[1], two))
    assert pending(store) == set()
    assert rows_near(store, two, what="rule") == [rows[0]]
    [found] = near(store, three, what="rule").candidates
    assert (found.row, found.start, found.stop) == (rows[0], 100, 150)
    assert found.similarity == pytest.approx(1, abs=1e-3)
    assert rows_near(store, two) == [rows[1], rows[0]]
    with store.reading() as reader:
        spans = reader.similarities(three, rows, "rule")
        assert [(row, span.start) for row, span in spans.items()] == [(rows[0], 100)]
        assert [number for number, _ in reader.vectors(rows, "rule")[rows[0]]] == [0, 1]
        assert list(reader.vectors(rows)) == rows
    well(store)


def test_new_passages_replace_the_rules_before_too(store: Store) -> None:
    rows = apply(store, memory("a", "a"), memory("b", "b")).rows
    enter(store)
    one, two, three = drawn(6, 3)
    put(store, *(each for row in rows for each in (passage(row, one), rule(row, two), rule(row, three, 1))))
    assert sorted(rows_near(store, two, what="rule")) == rows
    put(store, rule(rows[0], three), passage(rows[0], two))
    with store.reading() as reader:
        assert {row: len(held) for row, held in reader.vectors(rows, "rule").items()} == {rows[0]: 1, rows[1]: 2}
    put(store, passage(rows[0], one))
    assert rows_near(store, two, what="rule") == [rows[1]]
    put(store, rule(rows[1], one))
    with store.reading() as reader:
        assert {row: len(held) for row, held in reader.vectors(rows).items()} == {rows[0]: 1, rows[1]: 1}
        assert reader.similarities(two, rows, "rule")[rows[1]].similarity < 0.9
    well(store)


def test_leads_may_be_stored_before_their_passages(store: Store) -> None:
    rows = apply(store, memory("a", "a"), memory("b", "b")).rows
    enter(store)
    one, two, three = drawn(8, 3)
    put(store, lead(rows[0], one), lead(rows[1], two))
    assert rows_near(store, two, what="lead") == [rows[1], rows[0]]
    assert rows_near(store, two) == []
    assert {row for row, what in pending(store) if what == "passage"} == set(rows)
    put(store, passage(rows[0], two), lead(rows[0], three))
    assert {row for row, what in pending(store) if what == "passage"} == {rows[1]}
    with store.reading() as reader:
        assert {row: len(held) for row, held in reader.vectors(rows, "lead").items()} == dict.fromkeys(rows, 1)
        near = reader.nearness([three], rows, ["passage", "lead"])
    assert near["lead"][0, 0] == pytest.approx(1, abs=1e-3)
    assert [value == value for value in near["passage"][:, 0].tolist()] == [True, False]
    well(store)


def test_rules_of_many_are_searched_and_erased(store: Store) -> None:
    """Fill more than one block. Beyond that, processes load codes instead of vectors."""
    count = 700
    rows = apply(store, *(memory(f"m{n}", f"m{n}") for n in range(count))).rows
    enter(store)
    vectors = drawn(7, count)
    pairs = zip(rows, vectors, strict=True)
    put(store, *(each for row, vector in pairs for each in (passage(row, unit(1)), rule(row, vector))))
    assert rows_near(store, vectors[9], what="rule")[0] == rows[9]
    apply(store, erase=["m9"])
    assert rows[9] not in rows_near(store, vectors[9], what="rule", want=count)
    assert len(rows_near(store, vectors[9], what="rule", want=count)) == count - 1
    well(store)
