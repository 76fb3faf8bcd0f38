"""Vectors in a store: exact nearest rows without hidden ones, pending embeddings, and erasure."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.conftest import Opens, on_one_of_each
from tests.contract.making import ALL, DAY, HOUR, NOW, apply, memory, next_version, standing

from pieria.errors import ConflictError, InputError
from pieria.record.changeset import NewVector, Write
from pieria.record.filter import Filter, Viewer
from pieria.record.time import iso, moment
from pieria.store.postgres import near as on_postgres
from pieria.store.protocol import Embedded, Kind, Pending, Store, VectorMatch
from pieria.store.sqlite import codes

SIZE = 24
EVERYTHING = ALL.having(viewer=Viewer(everything=True)).anything()
Vector = NDArray[np.float32]


def drawn(seed: int, count: int = 1, size: int = SIZE) -> list[Vector]:
    return list(np.random.default_rng(seed).standard_normal((count, size)).astype(np.float32))


def unit(*numbers: float) -> Vector:
    """Return a vector that begins with these numbers."""
    return np.array([*numbers, *[0.0] * (SIZE - len(numbers))], dtype=np.float32)


def enter(store: Store, name: str = "test:1", size: int = SIZE) -> int:
    with store.writing() as writer:
        return writer.set_space(name, size).number


def put(store: Store, *vectors: Embedded, space: int = 1) -> int:
    with store.writing() as writer:
        return writer.put_vectors(space, vectors, writer.head().seq)


def passage(row: int, vector: Vector, number: int = 0) -> Embedded:
    return Embedded(row, "passage", number, 10 * number, 10 * number + 9, vector)


def window(row: int, vector: Vector, members: Sequence[int] = (), known_from: int = NOW) -> Embedded:
    return Embedded(row, "window", 0, 0, 50, vector, members, known_from)


def with_vector(write: Write, *vectors: Vector) -> Write:
    return write._replace(vectors=[NewVector(10 * n, 10 * n + 9, vector) for n, vector in enumerate(vectors)])


def near(store: Store, vector: Vector, filter: Filter = ALL, want: int = 10, what: Kind = "passage") -> VectorMatch:
    with store.reading() as reader:
        return reader.near(vector, filter, want, what)


def rows_near(store: Store, vector: Vector, filter: Filter = ALL, want: int = 10, what: Kind = "passage") -> list[int]:
    return [found.row for found in near(store, vector, filter, want, what).candidates]


def pending(store: Store) -> set[tuple[int, str]]:
    with store.reading() as reader:
        assert reader.pending_count() == len(reader.pending(1_000))
        return {(row, what) for row, what in reader.pending(1_000)}


def nothing_pending(store: Store) -> None:
    """Write vectors for all pending rows, as an embedder does."""
    with store.writing() as writer:
        space = writer.space()
        assert space is not None
        waiting = writer.pending(1_000)
        vectors = drawn(len(waiting), len(waiting))
        writer.put_vectors(
            space.number,
            [Embedded(row, what, 0, 0, 1, vector) for (row, what), vector in zip(waiting, vectors, strict=True)],
            writer.head().seq,
        )


def turn(id: str, at: int, **values: Any) -> Write:
    return memory(f"turn {id}", id, **{"session": "s", "at": iso(moment(NOW + at * HOUR)), **values})


def well(store: Store) -> None:
    assert [finding for finding in store.check() if not finding.well] == []


# --- spaces


def test_space_is_complete_when_nothing_is_pending(store: Store) -> None:
    [row] = apply(store, memory()).rows
    with store.reading() as reader:
        assert reader.space() is None
        assert reader.near(unit(1), ALL, 10) == VectorMatch([])
        assert reader.similarities(unit(1), [row]) == {}
        assert reader.vectors([row]) == {}
        assert reader.stacked([row])[0] == []
    assert pending(store) == {(row, "passage")}
    well(store)
    enter(store)
    with store.reading() as reader:
        assert reader.space() == (1, "test:1", SIZE, False)
    assert put(store, passage(row, unit(1))) == 1
    with store.reading() as reader:
        assert reader.space() == (1, "test:1", SIZE, True)
    assert enter(store) == 1
    assert pending(store) == set()


def test_new_space_starts_empty_and_drops_old_vectors(store: Store) -> None:
    rows = apply(store, memory("a", "a"), turn("b", 0)).rows
    enter(store)
    nothing_pending(store)
    other = enter(store, "test:2", 8)
    assert pending(store) == {(rows[0], "passage"), (rows[1], "passage"), (rows[1], "window")}
    assert near(store, drawn(1, size=8)[0]).candidates == []
    with pytest.raises(InputError):
        near(store, unit(1))
    put(store, Embedded(rows[0], "passage", 0, 0, 1, drawn(1, size=8)[0]), space=other)
    well(store)
    with store.writing() as writer:
        assert [writer.drop_old_vectors(2), writer.drop_old_vectors(2)] == [2, 1]
        assert writer.drop_old_vectors(2) == 0
    assert rows_near(store, drawn(1, size=8)[0]) == [rows[0]]
    well(store)


def test_vectors_of_another_space_are_refused(store: Store) -> None:
    [row] = apply(store, memory()).rows
    with pytest.raises(ConflictError, match="none yet"):
        put(store, passage(row, unit(1)))
    enter(store)
    enter(store, "test:2")
    with pytest.raises(ConflictError, match="test:2"):
        put(store, passage(row, unit(1)))
    with pytest.raises(ConflictError):
        apply(store, with_vector(memory("b", "b"), unit(1)), space=1)
    with pytest.raises(InputError):
        apply(store, with_vector(memory("b", "b"), unit(1)))
    assert pending(store) == {(row, "passage")}


def test_numbers_that_are_no_vector_are_refused(store: Store) -> None:
    [row] = apply(store, memory()).rows
    enter(store)
    bad: list[Any] = [unit(1)[:-1], unit(float("nan")), unit(float("inf")), []]
    for numbers in bad:
        with pytest.raises(InputError):
            put(store, passage(row, numbers))
        with pytest.raises(InputError):
            near(store, numbers)
    with pytest.raises(InputError), store.writing() as writer:
        writer.set_space("none", 0)
    assert near(store, unit(1)).candidates == []


# --- what is near


def test_nearest_come_first_with_their_best_passage(store: Store) -> None:
    rows = apply(store, memory("a", "a"), memory("b", "b"), memory("c", "c")).rows
    enter(store)
    put(
        store,
        passage(rows[0], unit(0, 1)),
        passage(rows[0], unit(2, 0.2), 1),
        passage(rows[1], unit(3, 3)),
        passage(rows[2], unit(-1)),
    )
    match = near(store, unit(5))
    assert [found.row for found in match.candidates] == rows
    best = match.candidates[0]
    assert (best.start, best.stop) == (10, 19)
    assert [round(found.similarity, 2) for found in match.candidates] == [1.0, 0.71, -1.0]
    assert match.exact
    assert rows_near(store, unit(5), want=1) == rows[:1]
    assert (match.scanned, match.probed) == (4, 3)
    with store.reading() as reader:
        similar = reader.similarities(unit(5), [*rows[:2], 999])
        held = reader.vectors(rows)
        owners, lines = reader.stacked([*rows, 999])
    assert owners == [row for row in sorted(held) for _ in held[row]]
    assert np.array_equal(lines, [line for row in sorted(held) for _, line in held[row]])
    assert {row: (span.start, span.stop) for row, span in similar.items()} == {rows[0]: (10, 19), rows[1]: (0, 9)}
    assert [similar[row].similarity for row in rows[:2]] == pytest.approx([0.995, 0.707], abs=0.001)
    assert [number for number, _ in held[rows[0]]] == [0, 1]
    assert np.allclose(held[rows[1]][0][1], unit(0.7071, 0.7071), atol=0.001)


def test_length_of_a_vector_does_not_matter(store: Store) -> None:
    rows = apply(store, memory("a", "a"), memory("b", "b")).rows
    enter(store)
    put(store, passage(rows[0], unit()), passage(rows[1], unit(1)))
    assert [found.similarity for found in near(store, unit(1)).candidates] == [1.0, 0.0]
    assert [found.similarity for found in near(store, unit()).candidates] == [0.0, 0.0]
    for scale in (1e-30, 1e30):
        put(store, passage(rows[1], unit(scale, scale)))
        assert near(store, unit(scale, scale)).candidates[0].similarity == pytest.approx(1, abs=0.001)


def test_vectors_are_written_with_their_memory(store: Store) -> None:
    enter(store)
    first = memory("a", "a")
    rows = apply(store, with_vector(first, unit(1), unit(0, 1)), memory("b", "b"), space=1).rows
    assert pending(store) == {(rows[1], "passage")}
    assert rows_near(store, unit(0, 1)) == [rows[0]]
    [newer] = apply(store, with_vector(next_version(first, "a again"), unit(0, 0, 1)), space=1).rows
    assert rows_near(store, unit(0, 1)) == [newer]
    with store.reading() as reader:
        then = ALL.having(known_at=reader.head().known - 1)
    assert rows_near(store, unit(0, 1), then) == [rows[0]]
    well(store)


def test_new_vectors_replace_those_before(store: Store) -> None:
    rows = apply(store, memory("a", "a"), turn("b", 1)).rows
    enter(store)
    put(store, passage(rows[0], unit(1)), passage(rows[0], unit(0, 1), 1), window(rows[1], unit(1)))
    assert near(store, unit(1)).candidates[0].similarity == 1.0
    put(store, passage(rows[0], unit(0, 0, 1)), window(rows[1], unit(0, 1)))
    assert near(store, unit(1)).candidates[0].similarity == 0.0
    assert near(store, unit(1), what="window").candidates[0].similarity == 0.0
    assert near(store, unit(1)).scanned == 1
    well(store)


def test_only_the_transaction_finds_its_vectors(store: Store) -> None:
    rows = apply(store, memory("a", "a"), memory("b", "b")).rows
    enter(store)
    put(store, passage(rows[0], unit(1)))
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.put_vectors(1, [passage(rows[1], unit(0, 1)), passage(rows[0], unit(0, 0, 1))], 9)
        assert [found.row for found in writer.near(unit(0, 1), ALL, 1).candidates] == [rows[1]]
        raise ZeroDivisionError
    assert rows_near(store, unit(0, 1)) == rows[:1]
    assert near(store, unit(1)).candidates[0].similarity == 1.0
    put(store, passage(rows[1], unit(0, 0, 0, 1)))
    assert rows_near(store, unit(0, 0, 0, 1)) == [rows[1], rows[0]]
    assert near(store, unit(0, 1)).candidates[0].similarity == 0.0


def test_vectors_of_erased_rows_are_left_out(store: Store) -> None:
    rows = apply(store, memory("a", "a"), turn("b", 0), turn("c", 1)).rows
    enter(store)
    apply(store, erase=["a", "c"])
    assert put(store, passage(rows[0], unit(1)), window(rows[1], unit(1), [rows[2]])) == 0
    assert pending(store) == {(rows[1], "passage"), (rows[1], "window")}
    well(store)


def brute(vectors: dict[int, Vector], question: Vector, want: int) -> list[int]:
    """Return the nearest rows by a full comparison, with vectors rounded as the store keeps them."""
    rows, every = list(vectors), np.array(list(vectors.values())).reshape(-1, question.size)
    kept = (every / np.linalg.norm(every, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
    nearest = np.argsort(-(kept * question).sum(axis=1), kind="stable")
    return [rows[at] for at in nearest[:want]]


@pytest.mark.slow
@on_one_of_each
def test_many_are_searched_as_exactly_as_few(store: Store) -> None:
    """Search more vectors than are kept in memory, in clusters, and compare with a full search."""
    size, chance = 12_000, np.random.default_rng(3)
    centres = chance.standard_normal((60, 64))
    vectors = (centres[chance.integers(0, 60, size)] + 0.7 * chance.standard_normal((size, 64))).astype(np.float32)
    enter(store, size=64)
    places = ["few/x" if n % 50 == 0 else "most/x" for n in range(size)]
    writes = [
        with_vector(memory(f"m{n}", f"m{n}", place=place), vector)
        for n, (place, vector) in enumerate(zip(places, vectors, strict=True))
    ]
    rows = apply(store, *writes, space=1).rows
    held = dict(zip(rows, vectors, strict=True))
    inside = dict(zip(rows, places, strict=True))
    questions = (centres[:20] + 0.7 * chance.standard_normal((20, 64))).astype(np.float32)

    def found_as_in(held: dict[int, Vector], wing: str | None) -> None:
        visible = {row: vector for row, vector in held.items() if wing is None or inside[row].startswith(wing)}
        shares = []
        for question in questions:
            found = set(rows_near(store, question, ALL.having(place=wing)))
            assert found <= visible.keys()
            shares.append(len(found & set(brute(visible, question, 10))) / 10)
        assert sum(shares) / len(shares) >= 0.99

    for wing in (None, "most", "few"):
        found_as_in(held, wing)
    match = near(store, questions[-1], ALL.having(ids=("m7", "m11999")))
    assert match.exact
    allowed = {rows[n]: vectors[n] for n in (7, 11_999)}
    assert [one.row for one in match.candidates] == brute(allowed, questions[-1], 2)
    apply(store, erase=[f"m{n}" for n in range(0, size, 3)])
    left = {row: vector for n, (row, vector) in enumerate(held.items()) if n % 3}
    for wing in (None, "most", "few"):
        found_as_in(left, wing)
    well(store)


def test_many_passages_of_one_memory_crowd_out_nobody(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    """With vectors in memory, and with codes for more than fit there."""
    long = with_vector(memory("long", "long"), *(unit(1, n / 1_000) for n in range(900)))
    others = [with_vector(memory("o", f"o{n}"), unit(1, 1 + n)) for n in range(30)]
    rest = [with_vector(memory("r", f"r{n}"), unit(-1, 0, n)) for n in range(100)]
    for kept in (codes.BY_HEART, 200):
        monkeypatch.setattr(codes, "BY_HEART", kept)
        store = opens(name=f"{kept} in memory")
        enter(store)
        rows = apply(store, long, *others, *rest, space=1).rows
        assert rows_near(store, unit(1), want=31) == rows[:31]
        assert rows_near(store, unit(1), want=5) == rows[:5]


def test_few_visible_rows_are_found_among_many_hidden(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearer rows are hidden, and no index serves the filter."""
    monkeypatch.setattr(codes, "BY_HEART", 200)
    enter(store)
    archived = {"state": {"status": "archived"}}
    crowd = [with_vector(memory(f"h{n}", f"h{n}", **archived), unit(1, n / 50_000)) for n in range(300)]
    shown = [with_vector(memory("shown", f"s{n}"), unit(-1, n)) for n in range(3)]
    rows = apply(store, *crowd, *shown, space=1).rows[-3:]
    assert set(rows_near(store, unit(1), want=5)) == set(rows)
    assert near(store, unit(1), want=5).exact


def test_hidden_windows_are_each_probed_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most rows of the bank are visible, but few or none of those with a window."""
    monkeypatch.setattr(codes, "BY_HEART", 200)
    monkeypatch.setattr(on_postgres, "FEW", 200)
    enter(store)
    crowd = [turn(f"h{n}", n, session=f"s{n // 20}", author="Ola") for n in range(300)]
    seen = [turn(f"s{n}", n, session="seen", author="Maya") for n in range(3)]
    plain = [memory(f"p{n}", f"p{n}", author="Maya") for n in range(400)]
    rows = apply(store, *crowd, *seen, *plain).rows[:303]
    put(store, *(window(row, unit(1 if n < 300 else -1, n / 50_000)) for n, row in enumerate(rows)))
    for shown in (rows[300:], []):
        found = near(store, unit(1), ALL.having(author="Maya"), 10, "window")
        assert {one.row for one in found.candidates} == set(shown)
        assert found.exact
        assert found.probed == 303
        apply(store, *(standing(write, row, author="Ola") for write, row in zip(seen, rows[300:], strict=True)))
        put(store, *(window(row, unit(-1)) for row in rows[300:]))


# --- windows and neighbours


def test_window_is_known_when_its_last_member_is(store: Store) -> None:
    rows = apply(store, turn("a", 0), turn("b", 1)).rows
    with store.reading() as reader:
        known = reader.head().known
    enter(store)
    put(store, window(rows[0], unit(1), rows, known + 5), window(rows[1], unit(0, 1), rows, known))
    assert rows_near(store, unit(1), what="window") == rows
    assert rows_near(store, unit(1), ALL.having(known_at=known + 4), what="window") == rows[1:]
    assert rows_near(store, unit(1), ALL.having(known_at=known + 5), what="window") == rows
    assert rows_near(store, unit(1)) == []


def test_new_turn_renews_the_windows_of_its_neighbours(store: Store) -> None:
    rows = apply(store, *(turn(f"t{n}", 2 * n) for n in range(6)), memory("no turn", "x")).rows
    assert {row for row, what in pending(store) if what == "window"} == set(rows[:6])
    enter(store)
    nothing_pending(store)
    written = turn("new", 5)
    [new] = apply(store, written).rows
    assert pending(store) == {(new, "passage"), *((row, "window") for row in (new, *rows[1:5]))}
    nothing_pending(store)
    [new] = apply(store, next_version(written, "otherwise")).rows
    assert pending(store) == {(new, "passage"), *((row, "window") for row in (new, *rows[1:5]))}
    nothing_pending(store)
    apply(store, turn("elsewhere", 5, session="other"), turn("own", 5, scope="session"))
    assert not {row for row, _ in pending(store)} & {new, *rows}
    nothing_pending(store)
    well(store)


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"ended": "removed"}, "1245"),
    ({"session": "other"}, "12345"),
    ({"session": None}, "1245"),
    ({"at": NOW + 20 * HOUR}, "123456"),
    ({"author": "Maya"}, "12345"),
    ({"status": "archived"}, "12345"),
    ({"scope": "session"}, "12345"),
    ({"valid_until": NOW - DAY}, "12345"),
    ({"pinned": 1, "importance": 0.9, "channel": "c"}, "12345"),
    ({"pinned": 1, "importance": 0.9}, ""),
]
"""Changes of the turn in the middle of seven, and the turns whose windows must be renewed."""


def test_changed_turn_renews_windows_where_it_was_and_is(store: Store) -> None:
    enter(store)
    for case, (change, expected) in enumerate(CHANGES):
        turns = [turn(f"{case} t{n}", 2 * n, session=f"s{case}") for n in range(7)]
        rows = apply(store, *turns).rows
        nothing_pending(store)
        windows = {(rows[int(n)], "window") for n in expected}
        apply(store, standing(turns[3], rows[3], **change))
        assert pending(store) == windows, change
        apply(store, standing(turns[3], rows[3]))
        assert pending(store) >= windows, change
        nothing_pending(store)
    well(store)


PARTING: list[dict[str, Any]] = [
    {"status": "archived"}, {"valid_until": NOW - DAY}, {"valid_from": NOW + DAY}, {"valid_until": NOW + DAY},
    {"scope": "session"}, {"session": "other"}, {"session": None}, {"ended": "removed"},
]  # fmt: skip


def test_window_ends_with_the_company_of_its_members(store: Store) -> None:
    """Before any window is rebuilt, and without a filter: a removed member is in no window and has none."""
    enter(store)
    for case, change in enumerate(PARTING):
        turns = [turn(f"{case} t{n}", n, session=f"s{case}") for n in range(4)]
        rows = apply(store, *turns).rows
        nothing_pending(store)
        put(store, *(window(row, unit(1), rows[max(0, n - 1) : n + 2]) for n, row in enumerate(rows)))
        apply(store, standing(turns[1], rows[1], **change))
        kept = {rows[1], rows[3]} if change == {"ended": "removed"} else {rows[3]}
        assert set(rows_near(store, unit(1), EVERYTHING, 100, "window")) & set(rows) == kept, change
        with store.reading() as reader:
            assert reader.similarities(unit(1), rows, "window").keys() == kept, change
    well(store)


def test_private_turns_of_two_channels_share_no_window(store: Store) -> None:
    own = {"scope": "session", "channel": "one"}
    writes = [turn("t0", 0, **own), turn("t1", 1, **{**own, "channel": "two"}), turn("t2", 2, **own), turn("t3", 3)]
    rows = apply(store, *writes).rows
    with store.reading() as reader:
        found = reader.around(rows, EVERYTHING, 2, company=True)
    assert found == {rows[0]: [(1, rows[2])], rows[1]: [], rows[2]: [(-1, rows[0])], rows[3]: []}
    enter(store)
    nothing_pending(store)
    put(store, window(rows[0], unit(1), [rows[2]]), window(rows[2], unit(1), [rows[0]]))
    apply(store, standing(writes[0], rows[0], channel="two"))
    assert set(rows_near(store, unit(1), EVERYTHING, what="window")) == {rows[1], rows[3]}
    assert pending(store) == {(row, "window") for row in rows[:3]}


def test_company_is_valid_at_least_as_long(store: Store) -> None:
    periods = [(None, None), (NOW, None), (NOW, NOW + DAY), (None, NOW + DAY), (NOW - DAY, NOW + 2 * DAY)]
    writes = [
        turn(f"t{n}", n, **{"valid_from": since and iso(moment(since)), "valid_until": until and iso(moment(until))})
        for n, (since, until) in enumerate(periods)
    ]
    rows = apply(store, *writes).rows
    with store.reading() as reader:
        found = reader.around(rows, EVERYTHING, 5, company=True)
    company = {n: {rows.index(other) for _, other in found[row]} for n, row in enumerate(rows)}
    assert company == {0: set(), 1: {0}, 2: {0, 1, 3, 4}, 3: {0}, 4: {0}}


def test_windows_that_span_invalid_turns_are_renewed_too(store: Store) -> None:
    """The neighbours of t0 are t3 and t4, since t1 and t2 are valid for one day only."""
    day = {"valid_until": iso(moment(NOW + DAY))}
    rows = apply(store, *(turn(f"t{n}", n, **(day if n in (1, 2) else {})) for n in range(7))).rows
    with store.reading() as reader:
        assert reader.around([rows[0]], EVERYTHING, 2, company=True) == {rows[0]: [(1, rows[3]), (2, rows[4])]}
    enter(store)
    nothing_pending(store)
    [new] = apply(store, turn("new", 3)).rows
    assert pending(store) == {(new, "passage"), *((row, "window") for row in (new, *rows[:6]))}


Leave = Callable[[Store, list[Write], list[int]], object]
LEAVING: list[Leave] = [
    lambda store, turns, rows: apply(store, standing(turns[1], rows[1], ended="removed")),
    lambda store, turns, rows: apply(store, standing(turns[1], rows[1], status="archived")),
    lambda store, turns, rows: apply(store, standing(turns[1], rows[1], scope="session")),
    lambda store, turns, rows: apply(store, next_version(turns[1], "otherwise")),
    lambda store, turns, rows: apply(store, erase=[turns[1].state.id]),
]


def test_window_is_refused_if_a_member_left_meanwhile(store: Store) -> None:
    enter(store)
    for case, leave in enumerate(LEAVING):
        turns = [turn(f"{case} t{n}", n, session=f"s{case}") for n in range(3)]
        rows = apply(store, *turns).rows
        nothing_pending(store)
        with store.reading() as reader:
            seen = reader.head().seq
        leave(store, turns, rows)
        with store.writing() as writer:
            assert writer.put_vectors(1, [window(rows[0], unit(1), [rows[1]]), window(rows[2], unit(1))], seen) == 1
        with store.reading() as reader:
            found = reader.similarities(unit(1), rows, "window")
        assert found[rows[0]].similarity < 0.9 < found[rows[2]].similarity, case
        assert (rows[0], "window") in pending(store), case
    well(store)


def test_rows_noted_again_while_embedded_stay_pending(store: Store) -> None:
    rows = apply(store, turn("a", 0), turn("b", 1)).rows
    space = enter(store)
    with store.reading() as reader:
        seen = reader.head().seq
    apply(store, turn("c", 2))
    empty = [Pending(rows[0], "window"), Pending(rows[1], "passage")]
    with store.writing() as writer:
        put = [passage(rows[0], unit(1)), window(rows[1], unit(1))]
        assert writer.put_vectors(space, put, seen, empty) == 2
    assert {item for item in pending(store) if item[0] in rows} == {(row, "window") for row in rows}


def test_neighbours_are_visible_turns_in_order(store: Store) -> None:
    hours = [0, 4, 2, 2, 6, 8]
    writes = [turn(f"t{n}", at) for n, at in enumerate(hours)]
    writes[3] = writes[3]._replace(state=writes[3].state._replace(status="archived"))
    rows = apply(store, *writes, turn("other", 3, session="x"), turn("own", 3, scope="session"), memory("m", "m")).rows
    with store.reading() as reader:
        found = reader.around([rows[1], rows[8], 999], ALL, 2)
        assert found == {rows[1]: [(-2, rows[0]), (-1, rows[2]), (1, rows[4]), (2, rows[5])], rows[8]: [], 999: []}
        every = reader.around([rows[2]], EVERYTHING, 1)
        assert every == {rows[2]: [(-1, rows[0]), (1, rows[3])]}
        assert reader.around([rows[0]], ALL.having(since=NOW + 5 * HOUR), 1) == {rows[0]: [(1, rows[4])]}
    apply(store, standing(writes[2], rows[2], ended="removed"))
    with store.reading() as reader:
        assert reader.around([rows[1]], ALL, 1)[rows[1]] == [(-1, rows[0]), (1, rows[4])]
        then = ALL.having(known_at=reader.head().known - 1)
        assert reader.around([rows[1]], then, 1)[rows[1]] == [(-1, rows[2]), (1, rows[4])]


# --- erasing


def test_erasure_takes_vectors_and_renews_windows(store: Store) -> None:
    turns = [turn(f"t{n}", n) for n in range(6)]
    rows = apply(store, *turns).rows
    enter(store)
    nothing_pending(store)
    put(store, *(window(row, unit(1), rows[max(0, n - 2) : n + 3]) for n, row in enumerate(rows)))
    apply(store, erase=["t1", "t2"])
    assert set(rows_near(store, unit(1), EVERYTHING, what="window")) == {rows[5]}
    assert pending(store) == {(row, "window") for row in (rows[0], rows[3], rows[4])}
    with store.reading() as reader:
        assert reader.vectors(rows).keys() == {rows[0], *rows[3:]}
    well(store)


def test_erasure_reaches_vectors_of_former_spaces(store: Store) -> None:
    apply(store, memory("a", "a"))
    enter(store)
    nothing_pending(store)
    enter(store, "test:2")
    apply(store, erase=["a"])
    well(store)
    with store.writing() as writer:
        assert writer.drop_old_vectors(10) == 0


# --- several stores


def test_stores_of_one_bank_see_each_others_vectors(opens: Opens) -> None:
    one, other = opens(), opens()
    enter(one)
    rows = apply(one, *(with_vector(memory(f"m{n}", f"m{n}"), v) for n, v in enumerate(drawn(1, 40))), space=1).rows
    question = drawn(2)[0]

    def agree() -> None:
        found = near(one, question)
        assert found == near(other, question)
        assert found.candidates

    agree()
    put(other, *(passage(row, vector) for row, vector in zip(rows[:20], drawn(3, 20), strict=True)))
    agree()
    apply(one, erase=["m3", "m30"])
    agree()
    enter(other, "test:2")
    put(one, *(passage(row, vector) for row, vector in zip(rows[4:20], drawn(4, 16), strict=True)), space=2)
    agree()
    with one.reading() as reader:
        reader.head()
        apply(other, erase=["m5"])
        assert rows[5] in [found.row for found in reader.near(question, ALL, 50).candidates]
    agree()


def test_several_questions_are_compared_as_each_alone(store: Store) -> None:
    rows = apply(store, turn("a", 1), turn("b", 2), memory("alone", "c")).rows
    enter(store)
    nothing_pending(store)
    [late] = apply(store, memory("late", "d")).rows
    asked = [*rows, late, 99]
    with store.reading() as reader:
        found = reader.nearness([unit(1), unit(2)], asked, ["passage", "window"])
        for kind in ("passage", "window"):
            for column, vector in enumerate((unit(1), unit(2))):
                alone = reader.similarities(vector, asked, kind)
                told = {row: value for row, value in zip(asked, found[kind][:, column], strict=True) if value == value}
                assert told == {row: pytest.approx(span.similarity, abs=1e-6) for row, span in alone.items()}
        assert reader.nearness([], asked, ["passage"])["passage"].shape == (5, 0)
        assert reader.nearness([unit(1)], [], ["passage"])["passage"].shape == (0, 1)


def test_newest_passages_are_embedded_first(store: Store) -> None:
    rows = apply(store, turn("a", 1), turn("b", 2), turn("c", 3)).rows
    enter(store)
    with store.reading() as reader:
        assert reader.unembedded([rows[1], 99], 2) == [rows[1], rows[2]]
        assert reader.pending(10) == [(row, what) for what in ("passage", "window") for row in reversed(rows)]
        assert reader.pending(1) == [(rows[-1], "passage")]
    nothing_pending(store)
    with store.reading() as reader:
        assert reader.unembedded([rows[0]], 5) == []


# --- rules and leads: kinds of their own, replaced and erased with the passages of their text


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
