"""Vectors in a store: exact nearest rows without hidden ones, pending embeddings, and erasure."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.conftest import Opens, on_one_of_each
from tests.contract.single_calls import read, write
from tests.contract.store_helpers import ALL, DAY, HOUR, NOW, apply, memory, next_version, standing, state_of

from pieria.errors import ConflictError, InputError
from pieria.record.changeset import NewVector, Write
from pieria.record.filter import Filter, Viewer
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
    return write(store).set_space(name, size).number


def begin(store: Store, *given: Write | str) -> list[int]:
    """Write these, or plain memories with these ids, and enter a space for them. Return their rows."""
    rows = apply(store, *(memory(each, each) if isinstance(each, str) else each for each in given)).rows
    enter(store)
    return rows


def put(store: Store, *vectors: Embedded, space: int = 1) -> int:
    return write(store).put_vectors(space, vectors, read(store).head().seq)


def passage(row: int, vector: Vector, number: int = 0) -> Embedded:
    return Embedded(row, "passage", number, 10 * number, 10 * number + 9, vector)


def window(row: int, vector: Vector, members: Sequence[int] = (), known_from: int = NOW) -> Embedded:
    return Embedded(row, "window", 0, 0, 50, vector, members, known_from)


def with_vector(write: Write, *vectors: Vector) -> Write:
    return write._replace(vectors=[NewVector(10 * n, 10 * n + 9, vector) for n, vector in enumerate(vectors)])


def near(store: Store, vector: Vector, filter: Filter = ALL, want: int = 10, what: Kind = "passage") -> VectorMatch:
    return read(store).near(vector, filter, want, what)


def rows_near(store: Store, vector: Vector, filter: Filter = ALL, want: int = 10, what: Kind = "passage") -> list[int]:
    return [found.row for found in near(store, vector, filter, want, what).candidates]


def best(store: Store, vector: Vector, what: Kind = "passage") -> float:
    return near(store, vector, what=what).candidates[0].similarity


def pending(store: Store) -> set[Pending]:
    waiting = read(store).pending(1_000)
    assert read(store).pending_count() == len(waiting)
    return set(waiting)


def windows(rows: Iterable[int]) -> set[Pending]:
    return {Pending(row, "window") for row in rows}


def nothing_pending(store: Store) -> None:
    """Write vectors for all pending rows, as an embedder does."""
    space, waiting = read(store).space(), read(store).pending(1_000)
    assert space is not None
    vectors = zip(waiting, drawn(len(waiting), len(waiting)), strict=True)
    put(store, *(Embedded(row, what, 0, 0, 1, vector) for (row, what), vector in vectors), space=space.number)


def well(store: Store) -> None:
    assert [finding for finding in store.check() if not finding.well] == []


def turn(id: str, at: int, **values: Any) -> Write:
    return memory(f"turn {id}", id, **{"session": "s", "at": NOW + at * HOUR, **values})


# --- spaces


def test_space_is_complete_when_nothing_is_pending(store: Store) -> None:
    [row] = apply(store, memory()).rows
    assert read(store).space() is None
    assert near(store, unit(1)) == VectorMatch([])
    assert not read(store).similarities(unit(1), [row])
    assert not read(store).vectors([row])
    assert read(store).stacked([row])[0] == []
    assert pending(store) == {(row, "passage")}
    well(store)
    enter(store)
    assert read(store).space() == (1, "test:1", SIZE, False)
    assert put(store, passage(row, unit(1))) == 1
    assert read(store).space() == (1, "test:1", SIZE, True)
    assert enter(store) == 1
    assert pending(store) == set()


def test_new_space_starts_empty_and_drops_old_vectors(store: Store) -> None:
    rows = begin(store, "a", turn("b", 0))
    nothing_pending(store)
    other, [vector] = enter(store, "test:2", 8), drawn(1, size=8)
    assert pending(store) == {(rows[0], "passage"), (rows[1], "passage"), (rows[1], "window")}
    assert near(store, vector).candidates == []
    with pytest.raises(InputError):
        near(store, unit(1))
    put(store, Embedded(rows[0], "passage", 0, 0, 1, vector), space=other)
    well(store)
    with store.writing() as writer:
        assert [writer.drop_old_vectors(2) for _ in range(3)] == [2, 1, 0]
    assert rows_near(store, vector) == [rows[0]]
    well(store)


def test_vectors_of_another_space_are_refused(store: Store) -> None:
    [row] = apply(store, memory()).rows
    with pytest.raises(ConflictError, match="none yet"):
        put(store, passage(row, unit(1)))
    enter(store)
    enter(store, "test:2")
    with pytest.raises(ConflictError, match="test:2"):
        put(store, passage(row, unit(1)))
    other = with_vector(memory("b", "b"), unit(1))
    with pytest.raises(ConflictError):
        apply(store, other, space=1)
    with pytest.raises(InputError):
        apply(store, other)
    assert pending(store) == {(row, "passage")}


def test_numbers_that_are_no_vector_are_refused(store: Store) -> None:
    [row] = begin(store, "a")
    bad: list[Any] = [unit(1)[:-1], unit(float("nan")), unit(float("inf")), []]
    for numbers in bad:
        with pytest.raises(InputError):
            put(store, passage(row, numbers))
        with pytest.raises(InputError):
            near(store, numbers)
    with pytest.raises(InputError):
        enter(store, "none", 0)
    assert near(store, unit(1)).candidates == []


# --- what is near


def test_nearest_come_first_with_their_best_passage(store: Store) -> None:
    a, b, c = rows = begin(store, "a", "b", "c")
    of_a = [passage(a, unit(0, 1)), passage(a, unit(2, 0.2), 1)]
    put(store, *of_a, passage(b, unit(3, 3)), passage(c, unit(-1)))
    match = near(store, unit(5))
    assert [found.row for found in match.candidates] == rows
    assert (match.candidates[0].start, match.candidates[0].stop) == (10, 19)
    assert [round(found.similarity, 2) for found in match.candidates] == [1.0, 0.71, -1.0]
    assert (match.exact, match.scanned, match.probed) == (True, 4, 3)
    assert rows_near(store, unit(5), want=1) == [a]
    similar = read(store).similarities(unit(5), [a, b, 999])
    assert {row: (span.start, span.stop) for row, span in similar.items()} == {a: (10, 19), b: (0, 9)}
    assert [similar[row].similarity for row in (a, b)] == pytest.approx([0.995, 0.707], abs=0.001)
    held = read(store).vectors(rows)
    assert [number for number, _ in held[a]] == [0, 1]
    assert np.allclose(held[b][0][1], unit(0.7071, 0.7071), atol=0.001)
    owners, lines = read(store).stacked([*rows, 999])
    assert owners == [row for row in sorted(held) for _ in held[row]]
    assert np.array_equal(lines, [line for row in sorted(held) for _, line in held[row]])


def test_length_of_a_vector_does_not_matter(store: Store) -> None:
    rows = begin(store, "a", "b")
    put(store, passage(rows[0], unit()), passage(rows[1], unit(1)))
    assert [found.similarity for found in near(store, unit(1)).candidates] == [1.0, 0.0]
    assert [found.similarity for found in near(store, unit()).candidates] == [0.0, 0.0]
    for scale in (1e-30, 1e30):
        put(store, passage(rows[1], unit(scale, scale)))
        assert best(store, unit(scale, scale)) == pytest.approx(1, abs=0.001)


def test_vectors_are_written_with_their_memory(store: Store) -> None:
    enter(store)
    first = memory("a", "a")
    rows = apply(store, with_vector(first, unit(1), unit(0, 1)), memory("b", "b"), space=1).rows
    assert pending(store) == {(rows[1], "passage")}
    assert rows_near(store, unit(0, 1)) == [rows[0]]
    [newer] = apply(store, with_vector(next_version(first, "a again"), unit(0, 0, 1)), space=1).rows
    assert rows_near(store, unit(0, 1)) == [newer]
    then = ALL.having(known_at=read(store).head().known - 1)
    assert rows_near(store, unit(0, 1), then) == [rows[0]]
    well(store)


def test_new_vectors_replace_those_before(store: Store) -> None:
    rows = begin(store, "a", turn("b", 1))
    put(store, passage(rows[0], unit(1)), passage(rows[0], unit(0, 1), 1), window(rows[1], unit(1)))
    assert best(store, unit(1)) == 1.0
    put(store, passage(rows[0], unit(0, 0, 1)), window(rows[1], unit(0, 1)))
    assert best(store, unit(1)) == best(store, unit(1), "window") == 0.0
    assert near(store, unit(1)).scanned == 1
    well(store)


def test_only_the_transaction_finds_its_vectors(store: Store) -> None:
    a, b = begin(store, "a", "b")
    put(store, passage(a, unit(1)))
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.put_vectors(1, [passage(b, unit(0, 1)), passage(a, unit(0, 0, 1))], 9)
        assert [found.row for found in writer.near(unit(0, 1), ALL, 1).candidates] == [b]
        raise ZeroDivisionError
    assert rows_near(store, unit(0, 1)) == [a]
    assert best(store, unit(1)) == 1.0
    put(store, passage(b, unit(0, 0, 0, 1)))
    assert rows_near(store, unit(0, 0, 0, 1)) == [b, a]
    assert best(store, unit(0, 1)) == 0.0


def test_vectors_of_erased_rows_are_left_out(store: Store) -> None:
    rows = begin(store, "a", turn("b", 0), turn("c", 1))
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
    questions = (centres[:20] + 0.7 * chance.standard_normal((20, 64))).astype(np.float32)
    enter(store, size=64)
    places = ["few/x" if n % 50 == 0 else "most/x" for n in range(size)]
    plain = [memory(f"m{n}", f"m{n}", place=place) for n, place in enumerate(places)]
    rows = apply(store, *map(with_vector, plain, vectors), space=1).rows
    held, inside = dict(zip(rows, vectors, strict=True)), dict(zip(rows, places, strict=True))

    def is_found_in_each_place() -> None:
        for wing in (None, "most", "few"):
            visible = {row: vector for row, vector in held.items() if wing is None or inside[row].startswith(wing)}
            shares = []
            for question in questions:
                found = set(rows_near(store, question, ALL.having(place=wing)))
                assert found <= visible.keys()
                shares.append(len(found & set(brute(visible, question, 10))) / 10)
            assert sum(shares) / len(shares) >= 0.99

    is_found_in_each_place()
    match = near(store, questions[-1], ALL.having(ids=("m7", "m11999")))
    assert match.exact
    allowed = {rows[n]: vectors[n] for n in (7, 11_999)}
    assert [one.row for one in match.candidates] == brute(allowed, questions[-1], 2)
    apply(store, erase=[f"m{n}" for n in range(0, size, 3)])
    held = {row: vector for n, (row, vector) in enumerate(held.items()) if n % 3}
    is_found_in_each_place()
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
    match = near(store, unit(1), want=5)
    assert match.exact
    assert {found.row for found in match.candidates} == set(rows)


def test_hidden_windows_are_each_probed_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most rows of the bank are visible, but few or none of those with a window."""
    monkeypatch.setattr(codes, "BY_HEART", 200)
    monkeypatch.setattr(on_postgres, "FEW", 200)
    crowd = [turn(f"h{n}", n, session=f"s{n // 20}", author="Ola") for n in range(300)]
    seen = [turn(f"s{n}", n, session="seen", author="Maya") for n in range(3)]
    rows = begin(store, *crowd, *seen, *(memory(f"p{n}", f"p{n}", author="Maya") for n in range(400)))
    put(store, *(window(row, unit(1 if n < 300 else -1, n / 50_000)) for n, row in enumerate(rows[:303])))
    for shown in (set(rows[300:303]), set[int]()):
        found = near(store, unit(1), ALL.having(author="Maya"), 10, "window")
        assert ({one.row for one in found.candidates}, found.exact, found.probed) == (shown, True, 303)
        apply(store, *(standing(each, row, author="Ola") for each, row in zip(seen, rows[300:303], strict=True)))
        put(store, *(window(row, unit(-1)) for row in rows[300:303]))


# --- windows and neighbours


def test_window_is_known_when_its_last_member_is(store: Store) -> None:
    rows = begin(store, turn("a", 0), turn("b", 1))
    known = read(store).head().known
    put(store, window(rows[0], unit(1), rows, known + 5), window(rows[1], unit(0, 1), rows, known))
    assert rows_near(store, unit(1), what="window") == rows
    assert rows_near(store, unit(1), ALL.having(known_at=known + 4), what="window") == rows[1:]
    assert rows_near(store, unit(1), ALL.having(known_at=known + 5), what="window") == rows
    assert rows_near(store, unit(1)) == []


def test_new_turn_renews_the_windows_of_its_neighbours(store: Store) -> None:
    rows = begin(store, *(turn(f"t{n}", 2 * n) for n in range(6)), "no turn")
    assert {item for item in pending(store) if item.what == "window"} == windows(rows[:6])
    nothing_pending(store)
    written = turn("new", 5)
    for newest in (written, next_version(written, "otherwise")):
        [new] = apply(store, newest).rows
        assert pending(store) == {(new, "passage"), *windows([new, *rows[1:5]])}
        nothing_pending(store)
    apply(store, turn("elsewhere", 5, session="other"), turn("own", 5, scope="session"))
    assert not {row for row, _ in pending(store)} & {new, *rows}
    nothing_pending(store)
    well(store)


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"ended": "removed"}, "1245"), ({"session": "other"}, "12345"), ({"session": None}, "1245"),
    ({"at": NOW + 20 * HOUR}, "123456"), ({"author": "Maya"}, "12345"), ({"status": "archived"}, "12345"),
    ({"scope": "session"}, "12345"), ({"valid_until": NOW - DAY}, "12345"),
    ({"pinned": 1, "importance": 0.9, "channel": "c"}, "12345"), ({"pinned": 1, "importance": 0.9}, ""),
]  # fmt: skip
"""Changes of the turn in the middle of seven, and the turns whose windows must be renewed."""


def test_changed_turn_renews_windows_where_it_was_and_is(store: Store) -> None:
    for case, (change, expected) in enumerate(CHANGES):
        turns = [turn(f"{case} t{n}", 2 * n, session=f"s{case}") for n in range(7)]
        rows = begin(store, *turns)
        nothing_pending(store)
        renewed = windows(rows[int(n)] for n in expected)
        apply(store, standing(turns[3], rows[3], **change))
        assert pending(store) == renewed, change
        apply(store, standing(turns[3], rows[3]))
        assert pending(store) >= renewed, change
        nothing_pending(store)
    well(store)


PARTING: list[dict[str, Any]] = [
    {"status": "archived"}, {"valid_until": NOW - DAY}, {"valid_from": NOW + DAY}, {"valid_until": NOW + DAY},
    {"scope": "session"}, {"session": "other"}, {"session": None}, {"ended": "removed"},
]  # fmt: skip


def test_window_ends_with_the_company_of_its_members(store: Store) -> None:
    """Before any window is rebuilt, and without a filter: a removed member is in no window and has none."""
    for case, change in enumerate(PARTING):
        turns = [turn(f"{case} t{n}", n, session=f"s{case}") for n in range(4)]
        rows = begin(store, *turns)
        nothing_pending(store)
        put(store, *(window(row, unit(1), rows[max(0, n - 1) : n + 2]) for n, row in enumerate(rows)))
        apply(store, standing(turns[1], rows[1], **change))
        kept = {rows[1], rows[3]} if change == {"ended": "removed"} else {rows[3]}
        assert set(rows_near(store, unit(1), EVERYTHING, 100, "window")) & set(rows) == kept, change
        assert read(store).similarities(unit(1), rows, "window").keys() == kept, change
    well(store)


def test_private_turns_of_two_channels_share_no_window(store: Store) -> None:
    own = {"scope": "session", "channel": "one"}
    writes = [turn("t0", 0, **own), turn("t1", 1, **{**own, "channel": "two"}), turn("t2", 2, **own), turn("t3", 3)]
    rows = begin(store, *writes)
    found = read(store).around(rows, EVERYTHING, 2, company=True)
    assert found == {rows[0]: [(1, rows[2])], rows[1]: [], rows[2]: [(-1, rows[0])], rows[3]: []}
    nothing_pending(store)
    put(store, window(rows[0], unit(1), [rows[2]]), window(rows[2], unit(1), [rows[0]]))
    apply(store, standing(writes[0], rows[0], channel="two"))
    assert set(rows_near(store, unit(1), EVERYTHING, what="window")) == {rows[1], rows[3]}
    assert pending(store) == windows(rows[:3])


def test_company_is_valid_at_least_as_long(store: Store) -> None:
    periods = [(None, None), (NOW, None), (NOW, NOW + DAY), (None, NOW + DAY), (NOW - DAY, NOW + 2 * DAY)]
    writes = [turn(f"t{n}", n, valid_from=since, valid_until=until) for n, (since, until) in enumerate(periods)]
    rows = apply(store, *writes).rows
    found = read(store).around(rows, EVERYTHING, 5, company=True)
    company = {n: {rows.index(other) for _, other in found[row]} for n, row in enumerate(rows)}
    assert company == {0: set(), 1: {0}, 2: {0, 1, 3, 4}, 3: {0}, 4: {0}}


def test_windows_that_span_invalid_turns_are_renewed_too(store: Store) -> None:
    """The neighbours of t0 are t3 and t4, since t1 and t2 are valid for one day only."""
    rows = begin(store, *(turn(f"t{n}", n, valid_until=NOW + DAY if n in (1, 2) else None) for n in range(7)))
    assert read(store).around([rows[0]], EVERYTHING, 2, company=True) == {rows[0]: [(1, rows[3]), (2, rows[4])]}
    nothing_pending(store)
    [new] = apply(store, turn("new", 3)).rows
    assert pending(store) == {(new, "passage"), *windows([new, *rows[:6]])}


Leave = Callable[[Store, list[Write], list[int]], object]
LEAVING: list[Leave] = [
    lambda store, turns, rows: apply(store, standing(turns[1], rows[1], ended="removed")),
    lambda store, turns, rows: apply(store, standing(turns[1], rows[1], status="archived")),
    lambda store, turns, rows: apply(store, standing(turns[1], rows[1], scope="session")),
    lambda store, turns, rows: apply(store, next_version(turns[1], "otherwise")),
    lambda store, turns, rows: apply(store, erase=[turns[1].state.id]),
]


def test_window_is_refused_if_a_member_left_meanwhile(store: Store) -> None:
    for case, leave in enumerate(LEAVING):
        turns = [turn(f"{case} t{n}", n, session=f"s{case}") for n in range(3)]
        rows = begin(store, *turns)
        nothing_pending(store)
        seen = read(store).head().seq
        leave(store, turns, rows)
        assert write(store).put_vectors(1, [window(rows[0], unit(1), [rows[1]]), window(rows[2], unit(1))], seen) == 1
        found = read(store).similarities(unit(1), rows, "window")
        assert found[rows[0]].similarity < 0.9 < found[rows[2]].similarity, case
        assert (rows[0], "window") in pending(store), case
    well(store)


def test_rows_noted_again_while_embedded_stay_pending(store: Store) -> None:
    rows = begin(store, turn("a", 0), turn("b", 1))
    seen = read(store).head().seq
    apply(store, turn("c", 2))
    empty = [Pending(rows[0], "window"), Pending(rows[1], "passage")]
    embedded = [passage(rows[0], unit(1)), window(rows[1], unit(1))]
    assert write(store).put_vectors(1, embedded, seen, empty) == 2
    assert {item for item in pending(store) if item.row in rows} == windows(rows)


def test_neighbours_are_visible_turns_in_order(store: Store) -> None:
    writes = [turn(f"t{n}", at) for n, at in enumerate([0, 4, 2, 2, 6, 8])]
    writes[3] = state_of(writes[3], status="archived")
    rows = begin(store, *writes, turn("other", 3, session="x"), turn("own", 3, scope="session"), "m")

    def around(n: int, reach: int, filter: Filter = ALL) -> list[tuple[int, int]]:
        [found] = read(store).around([rows[n]], filter, reach).values()
        return [(distance, rows.index(row)) for distance, row in found]

    assert around(1, 2) == [(-2, 0), (-1, 2), (1, 4), (2, 5)]
    assert read(store).around([rows[8], 999], ALL, 2) == {rows[8]: [], 999: []}
    assert around(2, 1, EVERYTHING) == [(-1, 0), (1, 3)]
    assert around(0, 1, ALL.having(since=NOW + 5 * HOUR)) == [(1, 4)]
    apply(store, standing(writes[2], rows[2], ended="removed"))
    assert around(1, 1) == [(-1, 0), (1, 4)]
    assert around(1, 1, ALL.having(known_at=read(store).head().known - 1)) == [(-1, 2), (1, 4)]


def test_erasure_takes_vectors_and_renews_windows(store: Store) -> None:
    rows = begin(store, *(turn(f"t{n}", n) for n in range(6)))
    nothing_pending(store)
    put(store, *(window(row, unit(1), rows[max(0, n - 2) : n + 3]) for n, row in enumerate(rows)))
    apply(store, erase=["t1", "t2"])
    assert set(rows_near(store, unit(1), EVERYTHING, what="window")) == {rows[5]}
    assert pending(store) == windows([rows[0], *rows[3:5]])
    assert read(store).vectors(rows).keys() == {rows[0], *rows[3:]}
    well(store)


def test_erasure_reaches_vectors_of_former_spaces(store: Store) -> None:
    begin(store, "a")
    nothing_pending(store)
    enter(store, "test:2")
    apply(store, erase=["a"])
    well(store)
    assert write(store).drop_old_vectors(10) == 0


def test_stores_of_one_bank_see_each_others_vectors(opens: Opens) -> None:
    one, other = opens(), opens()
    rows = begin(one, *(f"m{n}" for n in range(40)))
    question = drawn(2)[0]

    def embed(store: Store, seed: int, space: int = 1) -> None:
        """Also check that both stores find the same afterwards."""
        put(store, *map(passage, rows[4:20], drawn(seed, 16)), space=space)
        agree()

    def agree() -> None:
        found = near(one, question)
        assert found == near(other, question)
        assert found.candidates

    embed(one, 1)
    embed(other, 3)
    apply(one, erase=["m3", "m13"])
    agree()
    enter(other, "test:2")
    embed(one, 4, space=2)
    with one.reading() as reader:
        reader.head()
        apply(other, erase=["m5"])
        assert rows[5] in [found.row for found in reader.near(question, ALL, 50).candidates]
    agree()


def test_several_questions_are_compared_as_each_alone(store: Store) -> None:
    rows = begin(store, turn("a", 1), turn("b", 2), "alone")
    nothing_pending(store)
    asked, questions = [*rows, *apply(store, memory("late", "d")).rows, 99], [unit(1), unit(2)]
    kinds: list[Kind] = ["passage", "window"]
    found = read(store).nearness(questions, asked, kinds)
    for kind, (column, vector) in itertools.product(kinds, enumerate(questions)):
        alone = read(store).similarities(vector, asked, kind)
        told = {row: value for row, value in zip(asked, found[kind][:, column], strict=True) if value == value}
        assert told == {row: pytest.approx(span.similarity, abs=1e-6) for row, span in alone.items()}
    assert read(store).nearness([], asked, ["passage"])["passage"].shape == (5, 0)
    assert read(store).nearness([unit(1)], [], ["passage"])["passage"].shape == (0, 1)


def test_newest_passages_are_embedded_first(store: Store) -> None:
    rows = begin(store, turn("a", 1), turn("b", 2), turn("c", 3))
    assert read(store).unembedded([rows[1], 99], 2) == [rows[1], rows[2]]
    assert read(store).pending(10) == [(row, what) for what in ("passage", "window") for row in reversed(rows)]
    assert read(store).pending(1) == [(rows[-1], "passage")]
    nothing_pending(store)
    assert read(store).unembedded([rows[0]], 5) == []


# --- rules and leads: kinds of their own, replaced and erased with the passages of their text


def rule(row: int, vector: Vector, number: int = 0) -> Embedded:
    return Embedded(row, "rule", number, 100 * number, 100 * number + 50, vector)


def lead(row: int, vector: Vector) -> Embedded:
    return Embedded(row, "lead", 0, 0, 50, vector)


def numbers(store: Store, what: Kind, *rows: int) -> dict[int, list[int]]:
    return {row: [number for number, _ in held] for row, held in read(store).vectors(rows, what).items()}


def test_vectors_of_rules_are_a_kind_of_their_own(store: Store) -> None:
    a, b = begin(store, "a", "b")
    one, two, three = drawn(5, 3)
    put(store, passage(a, one), rule(a, two), rule(a, three, 1), passage(b, two))
    assert pending(store) == set()
    assert rows_near(store, two, what="rule") == [a]
    [found] = near(store, three, what="rule").candidates
    assert (found.row, found.start, found.stop) == (a, 100, 150)
    assert found.similarity == pytest.approx(1, abs=1e-3)
    assert rows_near(store, two) == [b, a]
    assert {row: span.start for row, span in read(store).similarities(three, [a, b], "rule").items()} == {a: 100}
    assert numbers(store, "rule", a, b) == {a: [0, 1]}
    assert numbers(store, "passage", a, b) == {a: [0], b: [0]}
    well(store)


def test_new_passages_replace_the_rules_before_too(store: Store) -> None:
    a, b = begin(store, "a", "b")
    one, two, three = drawn(6, 3)
    put(store, *(each for row in (a, b) for each in (passage(row, one), rule(row, two), rule(row, three, 1))))
    assert sorted(rows_near(store, two, what="rule")) == [a, b]
    put(store, rule(a, three), passage(a, two))
    assert numbers(store, "rule", a, b) == {a: [0], b: [0, 1]}
    put(store, passage(a, one))
    assert rows_near(store, two, what="rule") == [b]
    put(store, rule(b, one))
    assert numbers(store, "passage", a, b) == {a: [0], b: [0]}
    assert best(store, two, "rule") < 0.9
    well(store)


def test_leads_may_be_stored_before_their_passages(store: Store) -> None:
    a, b = begin(store, "a", "b")
    one, two, three = drawn(8, 3)
    put(store, lead(a, one), lead(b, two))
    assert rows_near(store, two, what="lead") == [b, a]
    assert rows_near(store, two) == []
    assert pending(store) == {(a, "passage"), (b, "passage")}
    put(store, passage(a, two), lead(a, three))
    assert pending(store) == {(b, "passage")}
    assert numbers(store, "lead", a, b) == {a: [0], b: [0]}
    near = read(store).nearness([three], [a, b], ["passage", "lead"])
    assert near["lead"][0, 0] == pytest.approx(1, abs=1e-3)
    assert [value == value for value in near["passage"][:, 0].tolist()] == [True, False]
    well(store)


def test_rules_of_many_are_searched_and_erased(store: Store) -> None:
    """Fill more than one block. Beyond that, processes load codes instead of vectors."""
    rows = begin(store, *(f"m{n}" for n in range(700)))
    vectors = drawn(7, 700)
    pairs = zip(rows, vectors, strict=True)
    put(store, *(each for row, vector in pairs for each in (passage(row, unit(1)), rule(row, vector))))
    assert rows_near(store, vectors[9], what="rule")[0] == rows[9]
    apply(store, erase=["m9"])
    assert set(rows_near(store, vectors[9], what="rule", want=700)) == {*rows} - {rows[9]}
    well(store)
