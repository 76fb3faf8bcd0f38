"""The stores that keep the contract. Another one is a name in ENGINES and a way to open it: no test changes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from tests.contract.making import HandClock

from pieria.record.time import Clock
from pieria.store.protocol import Store
from pieria.store.sqlite import SQLiteStore


class Opens(Protocol):
    """Opens one and the same bank, as often as it is called; a name opens another bank."""

    def __call__(self, clock: Clock = ..., name: str = "bank") -> Store: ...


Engine = Callable[[Path, str, Clock], Store]


def sqlite(folder: Path, name: str, clock: Clock) -> Store:
    return SQLiteStore(folder / f"{name}.db", clock=clock)


def sqlite_without_waiting_for_the_disk(folder: Path, name: str, clock: Clock) -> Store:
    return SQLiteStore(folder / f"{name}.db", durability="off", clock=clock)


ENGINES: dict[str, Engine] = {"sqlite": sqlite, "sqlite-off": sqlite_without_waiting_for_the_disk}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


@pytest.fixture
def opens(engine: Engine, tmp_path: Path, clock: HandClock) -> Iterator[Opens]:
    opened: list[Store] = []

    def open_store(clock: Clock = clock, name: str = "bank") -> Store:
        opened.append(engine(tmp_path, name, clock))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def store(opens: Opens) -> Store:
    return opens()
