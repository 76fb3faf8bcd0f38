"""Fixtures for tests of the server alone. The tests in `contract` cover what all stores share."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from tests.contract.store_helpers import HandClock
from tests.servers import Server, own_server

from pieria.store.postgres import PostgresStore

Opened = Callable[..., PostgresStore]
Admin = psycopg.Connection[tuple[object, ...]]
PASSWORD = "osprey-on-the-weir"
CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'pieria' AND datname = current_database()
"""
TABLES_ONLY = (
    "GRANT USAGE ON SCHEMA pieria TO {user}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pieria TO {user}",
)
"""The rights of a user who may read and write the tables, and owns none."""


def as_user(url: str, user: str, password: str = PASSWORD) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{parts.netloc.rpartition('@')[2]}"))


def made_user(admin: Admin, *rights: str) -> str:
    name = f"pieria_{uuid4().hex[:8]}"
    admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    for right in rights:
        admin.execute(right.format(user=name))
    return name


@pytest.fixture
def opened(bare_database: str, clock: HandClock) -> Iterator[Opened]:
    """Return a function that opens banks in a new database."""
    stores: list[PostgresStore] = []

    def open_store(bank: str = "bank", url: str = bare_database, **options: Any) -> PostgresStore:
        stores.append(PostgresStore(url, bank, clock=clock, **options))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


@pytest.fixture
def admin(bare_database: str) -> Iterator[Admin]:
    with psycopg.connect(bare_database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner(admin: Admin, bare_database: str) -> Iterator[str]:
    """Yield the address for an ordinary user who owns the database."""
    admin.execute("CREATE EXTENSION vector SCHEMA public")
    user = made_user(admin, f"ALTER DATABASE {admin.info.dbname} OWNER TO {{user}}")
    yield as_user(bare_database, user)
    admin.execute(f"ALTER DATABASE {admin.info.dbname} OWNER TO postgres")
    admin.execute(f"DROP OWNED BY {user} CASCADE")
    admin.execute(f"DROP ROLE {user}")


@pytest.fixture
def deputy(admin: Admin, bare_database: str) -> Iterator[Callable[[], str]]:
    """Yield a function that makes a user who may read and write the tables, and returns the user's address."""
    users: list[str] = []

    def made() -> str:
        users.append(made_user(admin, *TABLES_ONLY))
        return as_user(bare_database, users[-1])

    yield made
    for user in users:
        admin.execute(f"DROP OWNED BY {user}; DROP ROLE {user}")


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """Yield a server that the tests of a module may stop. None of them is about a power cut."""
    with own_server({"fsync": "off", "max_prepared_transactions": "2"}) as server:
        yield server
