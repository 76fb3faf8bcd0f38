"""Fixtures for every test that starts other processes: the server that forks them."""

import pytest
from tests.durability.processes import start_server


@pytest.fixture(scope="session", autouse=True)
def server() -> None:
    start_server()


@pytest.fixture(autouse=True)
def waiting(durable: None) -> None:
    """Make writes wait for the disk."""
