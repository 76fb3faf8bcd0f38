"""The same filter, asked repeatedly while the bank changes: a store's caches must not hide a row."""

import pytest
from tests.contract.conftest import Opens
from tests.contract.making import ALL, NOW, HandClock, apply, memory, open_state, standing
from tests.contract.test_vectors import drawn, enter, near, put, rows_near, unit, window, with_vector

from pieria.errors import ConflictError
from pieria.record.changeset import Changeset, Write
from pieria.record.filter import Filter
from pieria.record.link import LinkRow
from pieria.store.protocol import Store

MINE = ALL.having(place="mine/box")
COUNT = 40


def kept(id: str, place: str) -> Write:
    return with_vector(memory(f"one word {id}", id, place=place), unit(1, int(id[1:]) / COUNT))


@pytest.fixture
def rows(store: Store) -> list[int]:
    """Write forty memories and return the rows of four. Ask twice, so that a store may cache them."""
    space = enter(store)
    made = apply(
        store, *(kept(f"m{n}", "mine/box" if n % 10 == 0 else "other/box") for n in range(COUNT)), space=space
    ).rows
    mine = made[::10]
    for _ in range(2):
        assert both(store) == set(mine)
    return mine


def both(store: Store, filter: Filter = MINE) -> set[int]:
    """Return the rows found by vector, and check that words find the same rows."""
    near = set(rows_near(store, unit(1), filter, 100))
    with store.reading() as reader:
        said = {candidate.row for candidate in reader.text(["word"], filter, 3, 8).candidates}
        widely = {candidate.row for candidate in reader.text(["word"], filter, 100, 1_000).candidates}
    assert near == widely
    assert said <= widely
    return near


def move(store: Store, id: str, place: str) -> int:
    held = open_state(store, id)
    assert held.row is not None
    apply(store, Write(held._replace(place=place)))
    return held.row


def test_what_is_written_later_is_found(store: Store, rows: list[int]) -> None:
    new = apply(store, kept("m41", "mine/box"), kept("m42", "other/box"), space=1).rows
    assert both(store) == {*rows, new[0]}


def test_what_is_moved_there_is_found_and_what_is_moved_away_is_not(store: Store, rows: list[int]) -> None:
    came = move(store, "m1", "mine/box")
    gone = move(store, "m0", "other/box")
    assert both(store) == {*rows, came} - {gone}


def test_what_was_there_is_found_as_of_then(store: Store, rows: list[int], clock: HandClock) -> None:
    clock.move(hours=1)
    gone = move(store, "m0", "other/box")
    assert both(store) == set(rows) - {gone}
    assert gone in both(store, MINE.having(known_at=NOW + 100_000_000))


def test_what_another_process_moved_there_is_found(opens: Opens, store: Store, rows: list[int]) -> None:
    came = move(opens(), "m1", "mine/box")
    assert both(store) == {*rows, came}


@pytest.mark.slow
def test_after_many_changes_nothing_is_missing(store: Store, rows: list[int]) -> None:
    new = [apply(store, kept(f"m{100 + n}", "mine/box"), space=1).rows[0] for n in range(600)]
    with store.reading() as reader:
        found = {candidate.row for candidate in reader.text(["word"], MINE, 1_000, 10_000).candidates}
    assert found == {*rows, *new}
    assert set(rows_near(store, unit(1), MINE, 1_000)) == {*rows, *new}


def test_what_never_came_to_be_leaves_no_trace(store: Store, rows: list[int]) -> None:
    held = open_state(store, "m1")
    assert held.row is not None
    with pytest.raises(ConflictError), store.writing() as writer:
        writer.apply(Changeset("move", writes=[standing(kept("m1", "other/box"), held.row, place="mine/box")]))
        assert held.row in {near.row for near in writer.near(unit(1), MINE, 100).candidates}
        assert held.row in {candidate.row for candidate in writer.text(["word"], MINE, 100, 1_000).candidates}
        raise ConflictError("not after all")
    assert both(store) == set(rows)
    link = LinkRow("l", "memory", "m2", "related", "memory", "m3", 1.0, None, None, "")
    apply(store, links=[link])
    came = move(store, "m1", "mine/box")
    assert both(store) == {*rows, came}


@pytest.mark.slow
def test_of_many_windows_none_is_known_too_early_however_often_all_were_seen(store: Store) -> None:
    """There are more windows than the store keeps in memory. The first search may fill a cache."""
    rows = apply(store, *(memory(f"turn {n}", f"t{n}") for n in range(10_500))).rows
    with store.reading() as reader:
        known = reader.head().known
    space = enter(store)
    put(
        store,
        *(window(row, unit(1, 0.5 + n / 20), [], known + 5 * (n % 2)) for n, row in enumerate(rows)),
        space=space,
    )
    for _ in range(2):
        assert rows_near(store, unit(1), want=20, what="window") == rows[:20]
        early = rows_near(store, unit(1), ALL.having(known_at=known + 4), want=20, what="window")
        assert early == rows[:40:2]
    [other] = rows_near(store, unit(1), want=1, what="window")
    put(store, window(other, unit(-1), [], known), space=space)
    assert rows_near(store, unit(1), want=20, what="window") == rows[1:21]


@pytest.mark.slow
def test_of_many_vectors_the_answer_is_the_same_each_time(store: Store) -> None:
    space = enter(store)
    vectors = drawn(5, 10_500)
    apply(store, *(with_vector(memory("word", f"w{n}"), vector) for n, vector in enumerate(vectors)), space=space)
    [question] = drawn(6)
    first = near(store, question, want=30)
    assert near(store, question, want=30) == first
    with store.reading() as reader:
        exactly = reader.similarities(question, [found.row for found in first.candidates])
    assert {found.row: (found.start, found.stop) for found in first.candidates} == {
        row: (span.start, span.stop) for row, span in exactly.items()
    }
    assert [found.similarity for found in first.candidates] == pytest.approx(
        sorted((span.similarity for span in exactly.values()), reverse=True), abs=1e-6
    )
