"""Fixtures for the stores that keep the contract. A new store needs an entry in ENGINES and no change to a test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from tests.contract.store_helpers import HandClock
from tests.postgres.ahead import OF_TOMORROW, further, take
from tests.servers import made_database

from pieria.record.time import Clock
from pieria.store.postgres import PostgresStore
from pieria.store.protocol import Store
from pieria.store.seal import Seal
from pieria.store.sqlite import SQLiteStore


class Opens(Protocol):
    """Open the same bank on each call. Another name opens another bank."""

    def __call__(self, clock: Clock = ..., name: str = "bank") -> Store: ...


Engine = Callable[[Path, str, Clock], Store]


def sqlite(folder: Path, name: str, clock: Clock) -> Store:
    return SQLiteStore(folder / f"{name}.db", durability="off", clock=clock)


def sqlite_sealed(folder: Path, name: str, clock: Clock) -> Store:
    seal = Seal("a test", lambda: bytes(range(32)))
    return SQLiteStore(folder / f"{name}.db", durability="off", clock=clock, seal=seal)


def postgres(url: str) -> Engine:
    def open_store(folder: Path, name: str, clock: Clock) -> Store:
        # An erasure waits for writers in other databases of the server, such as other tests.
        return PostgresStore(url, f"{folder}/{name}", clock=clock, busy_seconds=60)

    return open_store


ENGINES: dict[str, Engine] = {"sqlite": sqlite, "sqlite-sealed": sqlite_sealed}
SERVERS = ("postgres", "postgres-ahead")
"""Stores on a server, with each bank under its own name. "postgres-ahead" has a schema newer than this Pieria."""
ALIKE = ("sqlite-sealed", "postgres-ahead")
"""Stores that differ from another one below the statements. All tests run on them too, but in the slow tier."""
STORES = [
    pytest.param(name, marks=pytest.mark.slow) if name in ALIKE else pytest.param(name) for name in (*ENGINES, *SERVERS)
]
on_one_of_each = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
"""For tests of thousands of rows, which the stores that are alike need not repeat."""


@pytest.fixture(scope="module")
def without_vector_indexes(database: str) -> str:
    """Drop vector indexes left by other tests, because a purge leaves a table with such an index to a repair."""
    with psycopg.connect(database, autocommit=True) as connection:
        left = connection.execute(
            "SELECT schemaname, indexname FROM pg_indexes WHERE indexname LIKE 'embedded\\_near\\_%'"
        ).fetchall()
        for schema, name in left:
            connection.execute(SQL("DROP INDEX IF EXISTS {}").format(Identifier(schema, name)))
    return database


@pytest.fixture(scope="session")
def database_ahead(server: str) -> Iterator[str]:
    with made_database(server) as url:
        take(url, further(OF_TOMORROW))
        yield url


@pytest.fixture(params=STORES)
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param in ENGINES:
        return ENGINES[request.param]
    ahead = request.param == "postgres-ahead"
    return postgres(request.getfixturevalue("database_ahead" if ahead else "without_vector_indexes"))


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
