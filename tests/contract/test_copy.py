"""Copying a whole bank from any store to any other: every row, or nothing."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.conftest import ENGINES, Opens
from tests.contract.single_calls import read
from tests.contract.store_helpers import ALL, DAY, NOW, HandClock, apply, memory, next_version, standing, tie, triple
from tests.contract.test_vectors import drawn, enter, near, passage, put, turn, unit, well, window, with_vector

from pieria.errors import ConflictError
from pieria.record.changeset import Record
from pieria.record.job import NewJob, Spent
from pieria.record.quarantine import HELD, QUARANTINES
from pieria.record.usage import Use
from pieria.store.copy import copy, copy_from_file, copy_to_file
from pieria.store.parts import Told
from pieria.store.protocol import Reader, Store
from pieria.store.sqlite import SQLiteStore

KEPT = ("seq", "known", "row", "entry", "documents", "terms", "analyser", "vector_entry")


def lived_in(store: Store) -> None:
    """Fill every table: current and past versions, erased rows and pending work."""
    turns = [turn(f"t{n}", n) for n in range(4)]
    texts = [memory("Ünïcode 日本語 and \\ \t tabs\nlines", "m0", tags=["tag"], meta={"a": 1.5}), memory("plain", "m1")]
    rows = apply(store, *turns, *texts).rows
    enter(store, "test:0")
    put(store, *(passage(row, vector) for row, vector in zip(rows[:3], drawn(1, 3), strict=True)))
    space = enter(store, "test:1")
    with_vectors = [with_vector(memory(f"v{n}", f"v{n}"), vector) for n, vector in enumerate(drawn(2, 1_100))]
    apply(store, *with_vectors, space=space)
    put(store, passage(rows[0], unit(-0.0, 1e-7, 3)), passage(rows[0], unit(0, 1), 1), space=space)
    put(store, window(rows[1], unit(1), rows[:3]), space=space)
    apply(store, next_version(texts[0], "again", valid_until=NOW + DAY))
    apply(store, standing(texts[1], rows[5], pinned=1))
    apply(
        store,
        links=[tie("l", "m0", "m1", "about", weight=0.25, label="because", meta='{"b":2}')],
        facts=[triple("f", "Ola", "likes", "tea", valid_from=NOW, memory="m1")],
        usage=[Use("m0", 2, NOW, 1, NOW, 0, 0.5, 1)],
        records=[Record("settings", "x", {"y": [1, None]})],
        jobs=[NewJob("j", "note", "k", "{}", "m0", 1)],
    )
    with store.writing() as writer:
        writer.add_told([Told("m0", "monday", 2, NOW, NOW)], 10)
        writer.charge("2026-03-01", [Spent("step", "model", 3, 1, 20, 30, 0.125)])
    of = {"at": NOW, "who": "tests", "reason": None, "selectors": {"ids": ["m1"]}}
    held = {"of": of, "memories": ["m1"], "facts": ["f"]}
    apply(store, records=[Record(QUARANTINES, "8", of), Record(HELD, "8", held)])
    apply(store, erase=["t3"])


def held(reader: Reader) -> dict[str, Any]:
    return {
        "counters": {name: value for name, value in reader.counters().items() if name in KEPT},
        **{table: [tuple(line) for line in reader.lines(table)] for table in reader.tables()},
    }


def held_by(store: Store) -> dict[str, Any]:
    with store.reading() as reader:
        return held(reader)


@pytest.fixture
def source(tmp_path: Path, clock: HandClock) -> Iterator[Store]:
    """Yield a bank in a file, with rows in every table."""
    with closing(ENGINES["sqlite"](tmp_path, "source", clock)) as store:
        lived_in(store)
        yield store


def test_copy_equals_its_source_line_by_line(source: Store, opens: Opens) -> None:
    target, progress = opens(), list[tuple[int, int]]()
    lines = copy(source, target, lambda done, whole: progress.append((done, whole)))
    assert min(lines.values()) >= 1
    assert progress[-1] == (sum(lines.values()),) * 2
    well(target)
    assert held_by(target) == held_by(source)
    [question] = drawn(3)
    assert near(target, question).candidates == near(source, question).candidates
    [found] = read(target).text(["again"], ALL, 5, 100).candidates
    assert found.row == read(target).counters()["row"]
    for store in (source, target):
        apply(store, memory("later", "later"), next_version(memory("plain", "m1"), "newer"))
    assert held_by(target) == held_by(source)


def test_bank_goes_to_a_file_and_comes_back(opens: Opens, tmp_path: Path) -> None:
    store, again, file = opens(), opens(name="again"), tmp_path / "kept.backup"
    lived_in(store)
    copy_to_file(store, file)
    assert list(tmp_path.glob("*kept*")) == [file]
    with closing(SQLiteStore(file)) as opened:
        well(opened)
    copy_from_file(file, again)
    assert held_by(again) == held_by(store)


def test_copy_is_made_as_a_whole_or_not_at_all(source: Store, opens: Opens) -> None:
    used, target = opens(name="used"), opens()
    apply(used, memory("mine", "mine"))
    before = held_by(used)
    with pytest.raises(ConflictError, match="is not empty"):
        copy(source, used)
    assert held_by(used) == before

    def stop(done: int, whole: int) -> None:
        if done > whole // 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        copy(source, target, stop)
    assert not any(read(target).tables().values())
    assert read(target).head().seq == 0
    copy(source, target)
    well(target)
