"""Vectors under stress: erased, shared, damaged and repaired. `test_kill` kills their writers."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.store_helpers import ALL, HOUR, NOW, apply, memory
from tests.durability.processes import working
from tests.durability.test_damage import edit

from pieria.errors import CorruptError
from pieria.record.changeset import NewVector, Write
from pieria.record.time import iso, moment
from pieria.store.protocol import Embedded
from pieria.store.rows import terms_of
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.blocks import SIZE as BLOCK
from pieria.store.vectors import packed, signs, turned

SIZE = 128
Vectors = NDArray[np.float32]


def drawn(seed: int, count: int) -> Vectors:
    return np.random.default_rng(seed).standard_normal((count, SIZE)).astype(np.float32)


def written_vectors(seed: int, count: int, name: str = "m") -> list[Write]:
    return [
        memory(f"{name} {n}", f"{name}{n}", session="s", at=iso(moment(NOW + n * HOUR)))._replace(
            vectors=[NewVector(0, 5, vector)]
        )
        for n, vector in enumerate(drawn(seed, count))
    ]


def filled(path: Path, count: int) -> list[int]:
    with closing(SQLiteStore(path)) as store:
        with store.writing() as writer:
            writer.set_space("test", SIZE)
        return apply(store, *written_vectors(1, count), space=1).rows


def windows(store: SQLiteStore, rows: list[int], seed: int) -> None:
    vectors = [
        Embedded(row, "window", 0, 0, 9, vector, rows[max(0, n - 2) : n + 3], NOW)
        for n, (row, vector) in enumerate(zip(rows, drawn(seed, len(rows)), strict=True))
    ]
    with store.writing() as writer:
        writer.put_vectors(1, vectors, writer.head().seq)


def well(store: SQLiteStore) -> None:
    assert [finding for finding in store.check() if not finding.well] == []


def traces(vector: NDArray[np.float32]) -> tuple[bytes, bytes]:
    """Return the bytes of a vector and of its code in a file."""
    [stored] = packed([vector], SIZE)
    kept = np.frombuffer(stored, dtype="<f2").astype(np.float32)[None, :]
    return stored, signs(turned(kept)).tobytes()


def holding(folder: Path, *vectors: NDArray[np.float32]) -> list[bool]:
    """Return for each vector whether a file holds it or its code."""
    content = [path.read_bytes() for path in folder.iterdir()]
    return [any(trace in file for trace in traces(vector) for file in content) for vector in vectors]


def test_no_file_holds_erased_or_replaced_vectors(tmp_path: Path) -> None:
    """Erase from a full block, and from the entries after the last full block."""
    path = tmp_path / "b.db"
    rows = filled(path, BLOCK + 40)
    passages, around = drawn(1, len(rows)), drawn(2, len(rows))
    with closing(SQLiteStore(path)) as store:
        windows(store, rows, 2)
        with closing(sqlite3.connect(path)) as connection:
            blocks = [codes for (codes,) in connection.execute("SELECT codes FROM codes")]
        for erased in (3, BLOCK + 7):
            gone = (passages[erased], around[erased], around[erased - 2])
            assert holding(tmp_path, *gone) == [True] * 3
            assert any(traces(passages[erased])[1] in codes for codes in blocks)
            apply(store, erase=[f"m{erased}"])
            assert store.scrub() == []
            assert holding(tmp_path, *gone, passages[erased + 1]) == [False] * 3 + [True]
        windows(store, [row for row in rows if row not in (rows[3], rows[BLOCK + 7])], 3)
        assert store.scrub() == []
        assert not any(holding(tmp_path, *around[:50]))
        well(store)
    assert holding(tmp_path, passages[3]) == [False]


def ask_twice(pipe: Connection, path: str) -> None:
    with closing(SQLiteStore(Path(path))) as store:
        for seed in (5, 6):
            assert pipe.recv() == "ask"
            with store.reading() as reader:
                pipe.send(reader.near(drawn(seed, 1)[0], ALL, 10))


@pytest.mark.slow
def test_processes_agree_after_writes_and_erasures(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    rows = filled(path, BLOCK - 5)
    with closing(SQLiteStore(path)) as store, working(ask_twice, str(path)) as other:
        for seed in (5, 6):
            other.pipe.send("ask")
            theirs = other.receive()
            with store.reading() as reader:
                assert reader.near(drawn(seed, 1)[0], ALL, 10) == theirs
            apply(store, *written_vectors(9, 30, f"later{seed}"), space=1)
            apply(store, erase=[f"m{n}" for n in range(10)])
            windows(store, rows[20:60], 3)
        other.finish()


@pytest.mark.slow
def test_threads_search_while_others_write_and_erase(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    filled(path, 600)
    ended = threading.Event()
    with closing(SQLiteStore(path)) as store, ThreadPoolExecutor(3) as threads:

        def search(seed: int) -> None:
            question = drawn(seed, 1)[0]
            while not ended.is_set():
                with store.reading() as reader:
                    found = reader.near(question, ALL, 20)
                    assert len(found.candidates) == 20
                    assert len(reader.memories([one.row for one in found.candidates], ALL)) == 20

        searches = [threads.submit(search, seed) for seed in range(3)]
        for n in range(15):
            apply(store, *written_vectors(n, 60, f"t{n}m"), space=1)
            apply(store, erase=[f"t{n}m{k}" for k in range(0, 60, 2)])
        ended.set()
        assert [each.result() for each in searches] == [None] * 3
        well(store)


DAMAGES = {
    "codes": "UPDATE codes SET codes = zeroblob(length(codes)) WHERE block = 1",
    "windows": "DELETE FROM pending WHERE what = 'window' AND row = 7",
    "strays": "INSERT INTO pending VALUES (99999, 'passage', 1)",
    "passages": "DELETE FROM vector WHERE row = 5 AND what = 'passage'",
}
"""Statements by the check that notices them. The last one changes answers."""


def test_damaged_vectors_are_found_and_repaired(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    filled(path, BLOCK + 10)
    question = drawn(5, 1)[0]
    with closing(SQLiteStore(path)) as store, closing(SQLiteStore(path)) as other:
        with other.reading() as reader:
            before = reader.near(question, ALL, 10)
        for check, statement in DAMAGES.items():
            edit(path, statement)
            ill = [finding for finding in store.check() if not finding.well]
            assert check in [finding.check for finding in ill]
            assert store.repair(ill, terms_of) == ["vectors"]
            well(store)
            with other.reading() as reader, store.reading() as again:
                found = again.near(question, ALL, 10)
                assert reader.near(question, ALL, 10) == found
                assert check == "passages" or found.candidates == before.candidates


def test_damaged_vector_is_an_error_and_no_answer(tmp_path: Path) -> None:
    for table, column in (("codes", "codes"), ("vector", "vector")):
        path = tmp_path / f"{table}.db"
        filled(path, BLOCK + 10)
        edit(path, f"UPDATE {table} SET {column} = x'00'")
        with closing(SQLiteStore(path)) as store, pytest.raises(CorruptError), store.reading() as reader:
            reader.near(drawn(5, 1)[0], ALL, 10)
