"""The vector index of a bank too large for a full comparison: built on request, and never with too few results."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from tests.contract.store_helpers import ALL, HandClock, apply, memory
from tests.contract.test_vectors import Vector, brute, enter, near, well, with_vector

from pieria.store.postgres import PostgresStore
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.protocol import Finding

SIZE, DIMENSION = 4_000, 48
PLACES = {"one/x": 1_000, "hundredth/x": 100, "tenth/x": 10}


@pytest.fixture
def store(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    monkeypatch.setattr(indexing, "OUTGROWN", 500)
    opened = PostgresStore(database, f"{tmp_path}", clock=HandClock())
    yield opened
    opened.close()


def filled(store: PostgresStore, size: int = 600) -> dict[int, Vector]:
    chance = np.random.default_rng(4)
    centres = chance.standard_normal((40, DIMENSION))
    vectors = (centres[chance.integers(0, 40, size)] + 0.6 * chance.standard_normal((size, DIMENSION))).astype("f4")
    enter(store, size=DIMENSION)
    writes = [with_vector(memory(f"m{n}", f"m{n}", place=place_of(n)), vector) for n, vector in enumerate(vectors)]
    rows = apply(store, *writes, space=1).rows
    return dict(zip(rows, vectors, strict=True))


def place_of(n: int) -> str:
    return next((place for place, every in PLACES.items() if n % every == 0), "other/x")


def found(store: PostgresStore) -> Finding:
    [finding] = [finding for finding in store.check() if finding.check == indexing.CHECK]
    return finding


def index_of(database: str, store: PostgresStore) -> list[tuple[str, bool]]:
    with psycopg.connect(database) as connection:
        return connection.execute(
            "SELECT c.relname::text, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE c.relname LIKE %s",
            (f"embedded\\_near\\_{store.number}\\_%",),
        ).fetchall()


@pytest.mark.slow
def test_index_finds_as_much_as_a_scan_under_any_filter(store: PostgresStore, database: str) -> None:
    vectors = filled(store, SIZE)
    assert found(store).remedy
    assert store.repair(store.check(), lambda _: ()) == [indexing.CHECK]
    assert found(store).remedy is None
    assert [valid for _, valid in index_of(database, store)] == [True]
    assert store.repair(store.check(), lambda _: ()) == []
    first = min(vectors)
    chance = np.random.default_rng(5)
    for place in (None, *PLACES):
        seen = {row: vector for row, vector in vectors.items() if place in (None, place_of(row - first))}
        shares = []
        for row in chance.choice(list(vectors), 15):
            question = (vectors[int(row)] + 0.1 * chance.standard_normal(DIMENSION)).astype("f4")
            match = {one.row for one in near(store, question, ALL.having(place=place)).candidates}
            expected = brute(seen, question / np.linalg.norm(question), 10)
            assert len(match) == min(10, len(seen)) and match <= seen.keys()
            shares.append(len(match & set(expected)) / len(expected))
        assert sum(shares) / len(shares) >= 0.99
    assert not near(store, question).exact
    well(store)


@pytest.mark.slow
def test_rows_behind_thousands_of_hidden_ones_are_found(store: PostgresStore) -> None:
    """More rows are visible than are compared one by one, and the index returns none of them first."""
    enter(store, size=DIMENSION)
    chance = np.random.default_rng(6)
    crowd = 1.0 + 0.01 * chance.standard_normal((3_000, DIMENSION)).astype("f4")
    shown = -1.0 + 0.5 * chance.standard_normal((2_100, DIMENSION)).astype("f4")
    apply(
        store,
        *(with_vector(memory("h", f"h{n}", state={"status": "archived"}), vector) for n, vector in enumerate(crowd)),
        *(with_vector(memory("s", f"s{n}"), vector) for n, vector in enumerate(shown)),
        space=1,
    )
    store.repair(store.check(), lambda _: ())
    match = near(store, np.ones(DIMENSION, dtype="f4"), want=20)
    assert len(match.candidates) == 20


def test_unfinished_and_former_indexes_are_removed(store: PostgresStore, database: str) -> None:
    filled(store)
    findings = store.check()
    with psycopg.connect(database, autocommit=True) as other:
        # One builds at a time. A server notices a closed connection late, so unlock explicitly.
        other.execute("SELECT pg_advisory_lock(%s, %s)", (indexing.BUILDING, store.number))
        assert store.repair(findings, lambda _: ()) == []
        other.execute("SELECT pg_advisory_unlock(%s, %s)", (indexing.BUILDING, store.number))
        assert store.repair(findings, lambda _: ()) == [indexing.CHECK]
        enter(store, "test:2", 8)
        assert "former" in found(store).detail
        store.repair(store.check(), lambda _: ())
        assert index_of(database, store) == []
        name = f"embedded_near_{store.number}_2_passage"
        other.execute(f"CREATE INDEX {name} ON pieria.embedded (row) WHERE bank = {store.number}".encode())
        other.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (f"pieria.{name}",))
    assert "unfinished" in found(store).detail
    store.repair(store.check(), lambda _: ())
    assert index_of(database, store) == []
    well(store)
