"""Fixtures for tests of the server alone. The tests in `contract` cover what all stores share."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from tests.contract.making import HandClock

from pieria.store.postgres import PostgresStore

Opened = Callable[..., PostgresStore]


@pytest.fixture(autouse=True)
def waiting(durable: None) -> None:
    """Make writes wait for the disk, because servers go down here."""


@pytest.fixture
def opened(bare_database: str) -> Iterator[Opened]:
    """Return a function that opens banks in a new database."""
    stores: list[PostgresStore] = []

    def open_store(bank: str = "bank", url: str = bare_database, **options: Any) -> PostgresStore:
        stores.append(PostgresStore(url, bank, clock=HandClock(), **options))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


@pytest.fixture
def admin(bare_database: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(bare_database, autocommit=True) as connection:
        yield connection
