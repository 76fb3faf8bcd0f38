"""Fixtures for the stores that keep the contract. A new store needs an entry in ENGINES and no change to a test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from tests.contract.making import HandClock
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
    return SQLiteStore(folder / f"{name}.db", clock=clock)


def sqlite_without_waiting_for_the_disk(folder: Path, name: str, clock: Clock) -> Store:
    return SQLiteStore(folder / f"{name}.db", durability="off", clock=clock)


def postgres(url: str) -> Engine:
    def open_store(folder: Path, name: str, clock: Clock) -> Store:
        # An erasure waits for writers in other databases of the server, such as other tests.
        return PostgresStore(url, f"{folder}/{name}", clock=clock, busy_seconds=60)

    return open_store


def without_vector_indexes(url: str) -> str:
    """Drop vector indexes left by earlier tests, because a purge leaves a table with such an index to a repair."""
    with psycopg.connect(url, autocommit=True) as connection:
        left = connection.execute(
            "SELECT schemaname, indexname FROM pg_indexes WHERE indexname LIKE 'embedded\\_near\\_%'"
        ).fetchall()
        for schema, name in left:
            connection.execute(SQL("DROP INDEX IF EXISTS {}").format(Identifier(schema, name)))
    return url


def sqlite_sealed(folder: Path, name: str, clock: Clock) -> Store:
    seal = Seal("a test", lambda: bytes(range(32)))
    return SQLiteStore(folder / f"{name}.db", durability="off", clock=clock, seal=seal)


ENGINES: dict[str, Engine] = {
    "sqlite": sqlite,
    "sqlite-off": sqlite_without_waiting_for_the_disk,
    "sqlite-sealed": sqlite_sealed,
}
SERVERS = ("postgres", pytest.param("postgres-ahead", marks=pytest.mark.slow))
"""Stores on a server, with each bank under its own name. "postgres-ahead" has a schema newer than this Pieria."""


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(scope="session")
def database_ahead(server: str) -> Iterator[str]:
    with made_database(server) as url:
        take(url, further(OF_TOMORROW))
        yield url


@pytest.fixture(params=[*ENGINES, *SERVERS])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param in ENGINES:
        return ENGINES[request.param]
    database = request.getfixturevalue("database" if request.param == "postgres" else "database_ahead")
    return postgres(without_vector_indexes(database))


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
