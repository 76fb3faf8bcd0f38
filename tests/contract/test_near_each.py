"""Of each kind of memory what is nearest to several vectors, in one look: as if each were looked for by itself."""

import numpy as np
import pytest
from tests.contract.making import ALL, apply, memory, standing
from tests.contract.test_vectors import drawn, enter, passage, put, unit

from pieria.errors import InputError
from pieria.record.filter import Filter, Viewer
from pieria.store.protocol import Store
from pieria.store.sqlite import codes

KINDS = ("note", "drawer", "turn")
Wants = list[tuple[tuple[str, ...], int]]
WANTS: list[Wants] = [[(("note",), 4), (("drawer", "turn"), 7)], [(("turn",), 90), (("note",), 0), (("diary",), 3)]]


def filled(store: Store, count: int = 60) -> list[int]:
    """Memories of three kinds with one to three passages each, of which not everybody sees everything."""
    writes = [
        memory(f"text {n}", f"m{n}", kind=KINDS[n % 3], scope="session" if n % 7 == 3 else "bank", session=f"s{n % 2}")
        for n in range(count)
    ]
    rows = apply(store, *writes).rows
    enter(store)
    vectors = iter(drawn(5, 3 * count))
    put(store, *(passage(row, next(vectors), n) for row in rows for n in range(1 + row % 3)))
    apply(store, *(standing(writes[n], rows[n], ended="removed") for n in range(0, count, 9)))
    return rows


def one_by_one(store: Store, filter: Filter, wants: Wants, seeds: tuple[int, ...]) -> list[int]:
    with store.reading() as reader:
        return list(
            dict.fromkeys(
                near.row
                for kinds, want in wants
                for seed in seeds
                for near in reader.near(drawn(seed)[0], filter.having(kinds=kinds), want).candidates
            )
        )


@pytest.mark.parametrize("by_heart", [codes.BY_HEART, 10])
def test_of_each_kind_the_nearest_come_as_if_they_were_looked_for_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, by_heart: int
) -> None:
    monkeypatch.setattr(codes, "BY_HEART", by_heart)
    filled(store)
    for filter in (ALL, ALL.having(viewer=Viewer(session="s1"))):
        for wants in WANTS:
            asked = filter.having(kinds=tuple(kind for kinds, _ in wants for kind in kinds))
            with store.reading() as reader:
                found = reader.near_each([drawn(seed)[0] for seed in (1, 2, 3)], asked, wants)
            assert found == one_by_one(store, filter, wants, (1, 2, 3))
            assert len(found) > 10


def test_of_what_is_as_near_the_latest_comes_first(store: Store) -> None:
    rows = apply(store, *(memory(f"text {n}", f"m{n}", kind=KINDS[n % 2]) for n in range(8))).rows
    enter(store)
    put(store, *(passage(row, unit(1)) for row in rows))
    with store.reading() as reader:
        assert reader.near_each([unit(1)], ALL, [(("note", "drawer"), 3)]) == rows[:4:-1]


def test_without_vectors_nothing_is_near_and_one_of_another_length_is_refused(store: Store) -> None:
    wants = [(("note",), 3)]
    with store.reading() as reader:
        assert reader.near_each([unit(1)], ALL, wants) == []
    enter(store)
    with store.reading() as reader:
        assert reader.near_each([unit(1)], ALL, wants) == []
    filled(store, 3)
    with store.reading() as reader:
        assert reader.near_each([], ALL, wants) == []
        with pytest.raises(InputError):
            reader.near_each([np.ones(5, dtype=np.float32)], ALL, wants)


def test_a_writer_finds_what_it_has_put(store: Store) -> None:
    [row] = apply(store, memory()).rows
    enter(store)
    with store.writing() as writer:
        writer.put_vectors(1, [passage(row, unit(1))], writer.head().seq)
        assert writer.near_each([unit(1)], ALL, [(("note",), 3)]) == [row]


@pytest.mark.parametrize("by_heart", [codes.BY_HEART, 10])
def test_looks_in_one_transaction_find_what_each_would_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, by_heart: int
) -> None:
    monkeypatch.setattr(codes, "BY_HEART", by_heart)
    filled(store)
    filters = (ALL, ALL.having(kinds=("turn",)), ALL.having(viewer=Viewer(session="s1")), ALL)
    asked = [(drawn(seed)[0], filter) for seed in (1, 2) for filter in filters]
    alone = []
    for vector, filter in asked:
        with store.reading() as reader:
            alone.append(reader.near(vector, filter, 12))
    with store.reading() as reader:
        assert [reader.near(vector, filter, 12) for vector, filter in asked] == alone
