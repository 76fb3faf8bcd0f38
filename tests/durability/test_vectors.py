"""Vectors under stress: killed during a write, erased, shared, damaged and repaired."""

import random
import sqlite3
import threading
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.making import ALL, HOUR, NOW, apply, memory
from tests.durability.processes import working

from pieria.errors import CorruptError
from pieria.record.changeset import NewVector, Write
from pieria.record.time import iso, moment
from pieria.store.protocol import Embedded
from pieria.store.rows import terms_of
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.blocks import SIZE as BLOCK
from pieria.store.vectors import packed, signs, turned

SIZE = 128
MOMENT = 0.05
Vectors = NDArray[np.float32]


def drawn(seed: int, count: int) -> Vectors:
    return np.random.default_rng(seed).standard_normal((count, SIZE)).astype(np.float32)


def written(seed: int, count: int, name: str = "m") -> list[Write]:
    return [
        memory(f"{name} {n}", f"{name}{n}", session="s", at=iso(moment(NOW + n * HOUR)))._replace(
            vectors=[NewVector(0, 5, vector)]
        )
        for n, vector in enumerate(drawn(seed, count))
    ]


def filled(path: Path, count: int) -> list[int]:
    with closing(SQLiteStore(path, durability="off")) as store:
        with store.writing() as writer:
            writer.set_space("test", SIZE)
        return apply(store, *written(1, count), space=1).rows


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


def holding(folder: Path, vector: NDArray[np.float32]) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if any(trace in path.read_bytes() for trace in traces(vector)))


def in_a_block(path: Path, vector: NDArray[np.float32]) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return any(traces(vector)[1] in codes for (codes,) in connection.execute("SELECT codes FROM codes"))


@pytest.mark.parametrize("erased", [3, BLOCK + 7])
def test_of_an_erased_memory_no_file_holds_the_vector_or_its_code(tmp_path: Path, erased: int) -> None:
    """Erase from a full block, and from the entries after the last full block."""
    path = tmp_path / "b.db"
    rows = filled(path, BLOCK + 40)
    with closing(SQLiteStore(path)) as store:
        windows(store, rows, 2)
        passage, window = drawn(1, len(rows))[erased], drawn(2, len(rows))[erased]
        beside = drawn(2, len(rows))[erased - 2]
        assert all(holding(tmp_path, vector) for vector in (passage, window, beside))
        assert in_a_block(path, passage)
        apply(store, erase=[f"m{erased}"])
        assert store.scrub() == []
        assert [holding(tmp_path, vector) for vector in (passage, window, beside)] == [[], [], []]
        assert holding(tmp_path, drawn(1, len(rows))[erased + 1])
        well(store)
    assert holding(tmp_path, passage) == []


def test_what_is_replaced_is_in_no_file_after_the_next_scrubbing(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    rows = filled(path, 50)
    with closing(SQLiteStore(path)) as store:
        windows(store, rows, 2)
        windows(store, rows, 3)
        assert store.scrub() == []
    assert [n for n, vector in enumerate(drawn(2, 50)) if holding(tmp_path, vector)] == []


def put_until_killed(pipe: Connection, path: str, seed: int) -> None:
    """Write memories with vectors and windows, replace and erase some, and send each acknowledged round."""
    chance = random.Random(seed)
    with closing(SQLiteStore(Path(path))) as store:
        pipe.send("begun")
        for n in range(1_000_000):
            rows = apply(store, *written(seed + n, 400, f"r{seed}n{n}m"), space=1).rows
            windows(store, rows, seed + n)
            windows(store, chance.sample(rows, 100), seed + n + 1)
            apply(store, erase=[f"r{seed}n{n}m{k}" for k in chance.sample(range(400), 20)])
            pipe.send(n)


@pytest.mark.parametrize("rounds", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_in_the_middle_nothing_needs_repair(tmp_path: Path, rounds: int) -> None:
    path = tmp_path / "b.db"
    filled(path, 100)
    chance = random.Random(rounds)
    for number in range(rounds):
        with working(put_until_killed, str(path), 10_000 * (number + 1)) as writer:
            assert writer.receive() == "begun"
            for _ in range(chance.randrange(2)):
                writer.receive()
            writer.pipe.poll(chance.random() * MOMENT * 8)
            writer.process.kill()
        with closing(SQLiteStore(path)) as store:
            well(store)
            with store.reading() as reader:
                rows = [memory.row for memory in reader.select(ALL, limit=100_000)]
                held = reader.vectors(rows)
                nearest = {
                    row: reader.near(held[row][0][1], ALL, 1).candidates[0].row for row in chance.sample(rows, 10)
                }
            assert len(rows) == len(held) >= 100
            # Each stored row is found by its own vector.
            assert all(row == found for row, found in nearest.items())
    # The rounds must include writes that survived a kill.
    assert len(rows) > 100


def ask_twice(pipe: Connection, path: str) -> None:
    with closing(SQLiteStore(Path(path))) as store:
        for seed in (5, 6):
            assert pipe.recv() == "ask"
            with store.reading() as reader:
                pipe.send(reader.near(drawn(seed, 1)[0], ALL, 10))


def test_processes_agree_after_each_other_s_writes_and_erasures(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    rows = filled(path, BLOCK - 5)
    with closing(SQLiteStore(path)) as store, working(ask_twice, str(path)) as other:
        for seed in (5, 6):
            other.pipe.send("ask")
            theirs = other.receive()
            with store.reading() as reader:
                assert reader.near(drawn(seed, 1)[0], ALL, 10) == theirs
            apply(store, *written(9, 30, f"later{seed}"), space=1)
            apply(store, erase=[f"m{n}" for n in range(10)])
            windows(store, rows[20:60], 3)
        other.finish()


def test_threads_search_while_others_write_and_erase(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    filled(path, 600)
    problems: list[BaseException] = []
    ended = threading.Event()
    with closing(SQLiteStore(path, durability="off")) as store:

        def search(seed: int) -> None:
            question = drawn(seed, 1)[0]
            try:
                while not ended.is_set():
                    with store.reading() as reader:
                        found = reader.near(question, ALL, 20)
                        assert len(found.candidates) == 20
                        assert len(reader.memories([one.row for one in found.candidates], ALL)) == 20
            except BaseException as problem:
                problems.append(problem)
                raise

        searching = [threading.Thread(target=search, args=(seed,)) for seed in range(3)]
        for thread in searching:
            thread.start()
        for n in range(25):
            apply(store, *written(n, 60, f"t{n}m"), space=1)
            apply(store, erase=[f"t{n}m{k}" for k in range(0, 60, 2)])
        ended.set()
        for thread in searching:
            thread.join()
        assert problems == []
        well(store)


DAMAGES = {
    "codes": "UPDATE codes SET codes = zeroblob(length(codes)) WHERE block = 1",
    "passages": "DELETE FROM vector WHERE row = 5 AND what = 'passage'",
    "windows": "DELETE FROM pending WHERE what = 'window' AND row = 7",
    "strays": "INSERT INTO pending VALUES (99999, 'passage', 1)",
}


@pytest.mark.parametrize("check", DAMAGES)
def test_what_is_wrong_with_vectors_is_told_and_mended(tmp_path: Path, check: str) -> None:
    path = tmp_path / "b.db"
    filled(path, BLOCK + 10)
    question = drawn(5, 1)[0]
    with closing(SQLiteStore(path)) as store, closing(SQLiteStore(path)) as other:
        with other.reading() as reader:
            before = reader.near(question, ALL, 10)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(DAMAGES[check])
            connection.commit()
        ill = [finding for finding in store.check() if not finding.well]
        assert check in [finding.check for finding in ill]
        assert store.repair(ill, terms_of) == ["vectors"]
        well(store)
        with other.reading() as reader, store.reading() as again:
            assert reader.near(question, ALL, 10) == again.near(question, ALL, 10)
            if check in ("codes", "windows", "strays"):
                assert again.near(question, ALL, 10).candidates == before.candidates


@pytest.mark.parametrize("statement", ["UPDATE codes SET codes = x'00'", "UPDATE vector SET vector = x'00'"])
def test_a_damaged_vector_is_an_error_and_no_answer(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "b.db"
    filled(path, BLOCK + 10)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    with closing(SQLiteStore(path)) as store, pytest.raises(CorruptError), store.reading() as reader:
        reader.near(drawn(5, 1)[0], ALL, 10)
