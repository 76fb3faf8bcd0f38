"""Copying a whole bank from any store to any other: every row, or nothing."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.contract.conftest import ENGINES, SERVERS, postgres
from tests.contract.making import ALL, DAY, NOW, HandClock, apply, memory, next_version, standing
from tests.contract.test_vectors import drawn, enter, near, passage, put, turn, unit, well, window, with_vector

from pieria.errors import ConflictError
from pieria.record.changeset import Record
from pieria.record.fact import FactRow
from pieria.record.job import NewJob, Spent
from pieria.record.link import LinkRow
from pieria.record.quarantine import HELD, QUARANTINES
from pieria.record.usage import Use
from pieria.store.copy import copy, copy_from_file, copy_to_file
from pieria.store.parts import Told
from pieria.store.protocol import Reader, Store
from pieria.store.sqlite import SQLiteStore

Made = Callable[[str, str], Store]
"""A function that opens a bank by name in a store of that kind."""
EVERY = ("sqlite", *SERVERS)


@pytest.fixture
def made(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> Made:
    def make(name: str, bank: str) -> Store:
        engine = ENGINES[name] if name in ENGINES else postgres(request.getfixturevalue("database"))
        store = engine(tmp_path, bank, clock)
        request.addfinalizer(store.close)
        return store

    return make


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
    link = LinkRow("l", "memory", "m0", "about", "memory", "m1", 0.25, "because", '{"b":2}', "")
    fact = FactRow("f", "Ola", "ola", "likes", "likes", "tea", "tea", NOW, None, None, "m1", None, "", None)
    apply(
        store,
        links=[link],
        facts=[fact],
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


KEPT = ("seq", "known", "row", "entry", "documents", "terms", "analyser", "vector_entry")


@pytest.mark.parametrize("first", EVERY)
@pytest.mark.parametrize("second", EVERY)
def test_a_copy_of_a_copy_is_the_bank_line_by_line(made: Made, first: str, second: str) -> None:
    stores = [made(first, "bank"), made(second, "other"), made(first, "again")]
    lived_in(stores[0])
    told: list[tuple[int, int]] = []
    for source, target in pairwise(stores):
        lines = copy(source, target, lambda done, whole: told.append((done, whole)))
        assert min(lines.values()) >= 1
        assert told[-1] == (sum(lines.values()),) * 2
    for store in stores:
        well(store)
    moments = []
    for store in stores:
        with store.reading() as reader:
            moments.append(held(reader))
    assert moments[0] == moments[1] == moments[2]
    question = drawn(3)[0]
    assert near(stores[0], question).candidates == near(stores[1], question).candidates
    with stores[1].reading() as reader:
        assert [each.row for each in reader.text(["again"], ALL, 5, 100).candidates] == [reader.counters()["row"]]


@pytest.mark.parametrize("engine", EVERY)
def test_what_is_written_to_a_copy_goes_on_where_the_bank_stood(made: Made, engine: str) -> None:
    source, target = made("sqlite", "bank"), made(engine, "other")
    lived_in(source)
    copy(source, target)
    for store in (source, target):
        apply(store, memory("later", "later"), next_version(memory("plain", "m1"), "newer"))
    with source.reading() as one, target.reading() as other:
        assert held(one) == held(other)


@pytest.mark.parametrize("engine", EVERY)
def test_a_bank_that_holds_anything_is_no_target(made: Made, engine: str) -> None:
    source, target = made("sqlite", "bank"), made(engine, "other")
    lived_in(source)
    apply(target, memory("mine", "mine"))
    with target.reading() as reader:
        before = held(reader)
    with pytest.raises(ConflictError, match="is not empty"):
        copy(source, target)
    with target.reading() as reader:
        assert held(reader) == before


class Stopped(Exception):
    pass


@pytest.mark.parametrize("engine", EVERY)
def test_a_copy_that_is_broken_off_leaves_nothing(made: Made, engine: str) -> None:
    source, target = made("sqlite", "bank"), made(engine, "other")
    lived_in(source)

    def stop(done: int, whole: int) -> None:
        if done > whole // 2:
            raise Stopped

    with pytest.raises(Stopped):
        copy(source, target, stop)
    with target.reading() as reader:
        assert not any(reader.tables().values())
        assert reader.head().seq == 0
    copy(source, target)
    well(target)


@pytest.mark.parametrize("engine", EVERY)
def test_a_bank_goes_to_a_file_and_comes_back(made: Made, engine: str, tmp_path: Path) -> None:
    source, target = made(engine, "bank"), made(engine, "other")
    lived_in(source)
    file = tmp_path / "kept.backup"
    copy_to_file(source, file)
    assert sorted(path.name for path in tmp_path.glob("*kept*")) == ["kept.backup"]
    opened = SQLiteStore(file)
    try:
        well(opened)
    finally:
        opened.close()
    copy_from_file(file, target)
    with source.reading() as one, target.reading() as other:
        assert held(one) == held(other)
