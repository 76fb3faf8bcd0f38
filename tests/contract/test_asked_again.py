"""The same filter, asked repeatedly while the bank changes: a store's caches must not hide a row."""

import pytest
from tests.contract.conftest import Opens
from tests.contract.single_calls import open_state, read
from tests.contract.store_helpers import ALL, NOW, HandClock, apply, memory, standing, tie
from tests.contract.test_vectors import begin, drawn, enter, near, passage, put, rows_near, unit, window, with_vector

from pieria.errors import ConflictError
from pieria.record.changeset import Changeset, Write
from pieria.record.filter import Filter
from pieria.store.protocol import Store
from pieria.store.sql import sieves
from pieria.store.sqlite import codes

MINE = ALL.having(place="mine/box")
COUNT = 40


def kept(id: str, place: str = "mine/box") -> Write:
    return with_vector(memory(f"one word {id}", id, place=place), unit(1, int(id[1:]) / COUNT))


def filled(store: Store) -> set[int]:
    """Write forty memories and return the rows of four. Ask twice, so that a store may cache them."""
    writes = [kept(f"m{n}", "mine/box" if n % 10 == 0 else "other/box") for n in range(COUNT)]
    mine = set(apply(store, *writes, space=enter(store)).rows[::10])
    assert both(store) == both(store) == mine
    return mine


def both(store: Store, filter: Filter = MINE) -> set[int]:
    """Return the rows found by vector, and check that words find the same rows."""
    near = set(rows_near(store, unit(1), filter, 100))
    said, widely = (
        {candidate.row for candidate in read(store).text(["word"], filter, want, budget).candidates}
        for want, budget in ((3, 8), (100, 1_000))
    )
    assert said <= near == widely
    return near


def move(store: Store, id: str, place: str) -> int:
    held = open_state(store, id)
    assert held.row is not None
    apply(store, Write(held._replace(place=place)))
    return held.row


def test_repeated_question_sees_every_change(opens: Opens, clock: HandClock) -> None:
    store = opens()
    rows = filled(store)
    rows.add(apply(store, kept("m41"), kept("m42", "other/box"), space=1).rows[0])
    assert both(store) == rows
    rows.add(move(store, "m1", "mine/box"))
    assert both(store) == rows
    clock.move(hours=1)
    gone = move(store, "m0", "other/box")
    assert both(store) == rows - {gone}
    assert gone in both(store, MINE.having(known_at=NOW + 100_000_000))
    came = move(opens(), "m2", "mine/box")
    assert both(store) == (rows - {gone}) | {came}


def test_repeated_question_sees_many_changes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieves, "FOLLOWED", 20)
    rows = filled(store)
    rows |= {apply(store, kept(f"m{100 + n}"), space=1).rows[0] for n in range(30)}
    assert both(store) == rows


def test_rolled_back_change_leaves_no_trace_in_caches(store: Store) -> None:
    rows = filled(store)
    held = open_state(store, "m1")
    assert held.row is not None
    with pytest.raises(ConflictError), store.writing() as writer:
        writer.apply(Changeset("move", writes=[standing(kept("m1", "other/box"), held.row, place="mine/box")]))
        assert held.row in {near.row for near in writer.near(unit(1), MINE, 100).candidates}
        assert held.row in {candidate.row for candidate in writer.text(["word"], MINE, 100, 1_000).candidates}
        raise ConflictError("not after all")
    assert both(store) == rows
    apply(store, links=[tie("l", "m2", "m3")])
    rows.add(move(store, "m1", "mine/box"))
    assert both(store) == rows


@pytest.fixture
def forgetful(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(codes, "BY_HEART", 200)
    return store


def test_no_window_of_many_is_known_too_early(forgetful: Store) -> None:
    rows = begin(forgetful, *(f"t{n}" for n in range(260)))
    known = read(forgetful).head().known

    def nearest(filter: Filter = ALL) -> list[int]:
        return rows_near(forgetful, unit(1), filter, 20, "window")

    put(forgetful, *(window(row, unit(1, 0.5 + n / 20), [], known + 5 * (n % 2)) for n, row in enumerate(rows)))
    # The first search may fill a cache.
    for _ in range(2):
        assert nearest() == rows[:20]
        assert nearest(ALL.having(known_at=known + 4)) == rows[:40:2]
    put(forgetful, window(rows[0], unit(-1), [], known))
    assert nearest() == rows[1:21]


def test_search_of_many_vectors_repeats_its_answer(forgetful: Store) -> None:
    rows = begin(forgetful, *(f"w{n}" for n in range(260)))
    put(forgetful, *map(passage, rows, drawn(5, 260)))
    [question] = drawn(6)
    found = near(forgetful, question, want=30).candidates
    assert near(forgetful, question, want=30).candidates == found
    exactly = read(forgetful).similarities(question, [one.row for one in found])
    assert {one.row: (one.start, one.stop) for one in found} == {row: span[1:] for row, span in exactly.items()}
    similar = sorted((span.similarity for span in exactly.values()), reverse=True)
    assert [one.similarity for one in found] == pytest.approx(similar)
