"""What only a server has. The contract's tests hold all else."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from tests.contract.making import HandClock

from pieria.store.postgres import PostgresStore

Opened = Callable[..., PostgresStore]


@pytest.fixture(autouse=True)
def waiting(durable: None) -> None:
    """What is written waits for the disk: servers go down here."""


@pytest.fixture
def opened(empty_database: str) -> Iterator[Opened]:
    """Opens banks of a database of their own."""
    stores: list[PostgresStore] = []

    def open_store(bank: str = "bank", url: str = empty_database, **options: Any) -> PostgresStore:
        stores.append(PostgresStore(url, bank, clock=HandClock(), **options))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


@pytest.fixture
def admin(empty_database: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        yield connection
