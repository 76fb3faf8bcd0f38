"""What every test with other processes needs: the server they are forked from."""

import pytest
from tests.durability.processes import start_server


@pytest.fixture(scope="session", autouse=True)
def server() -> None:
    start_server()


@pytest.fixture(autouse=True)
def waiting(durable: None) -> None:
    """What is written waits for the disk."""
