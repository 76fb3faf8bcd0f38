"""The same filter, asked repeatedly while the bank changes: a store's caches must not hide a row."""

import pytest
from tests.contract.conftest import Opens
from tests.contract.making import ALL, NOW, HandClock, apply, memory, open_state, standing, tie
from tests.contract.test_vectors import drawn, enter, near, put, rows_near, unit, window, with_vector

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
    mine = apply(store, *writes, space=enter(store)).rows[::10]
    for _ in range(2):
        assert both(store) == set(mine)
    return set(mine)


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


# --- more vectors than a store keeps in memory


@pytest.fixture
def forgetful(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(codes, "BY_HEART", 200)
    return store


def test_no_window_of_many_is_known_too_early(forgetful: Store) -> None:
    store = forgetful
    rows = apply(store, *(memory(f"turn {n}", f"t{n}") for n in range(260))).rows
    with store.reading() as reader:
        known = reader.head().known
    space = enter(store)
    windows = [window(row, unit(1, 0.5 + n / 20), [], known + 5 * (n % 2)) for n, row in enumerate(rows)]
    put(store, *windows, space=space)
    # The first search may fill a cache.
    for _ in range(2):
        assert rows_near(store, unit(1), want=20, what="window") == rows[:20]
        early = rows_near(store, unit(1), ALL.having(known_at=known + 4), want=20, what="window")
        assert early == rows[:40:2]
    put(store, window(rows[0], unit(-1), [], known), space=space)
    assert rows_near(store, unit(1), want=20, what="window") == rows[1:21]


def test_search_of_many_vectors_repeats_its_answer(forgetful: Store) -> None:
    store = forgetful
    space = enter(store)
    writes = [with_vector(memory("word", f"w{n}"), vector) for n, vector in enumerate(drawn(5, 260))]
    apply(store, *writes, space=space)
    [question] = drawn(6)
    first = near(store, question, want=30)
    assert near(store, question, want=30) == first
    with store.reading() as reader:
        exactly = reader.similarities(question, [found.row for found in first.candidates])
    assert {found.row: (found.start, found.stop) for found in first.candidates} == {
        row: (span.start, span.stop) for row, span in exactly.items()
    }
    assert [found.similarity for found in first.candidates] == pytest.approx(
        sorted((span.similarity for span in exactly.values()), reverse=True)
    )
