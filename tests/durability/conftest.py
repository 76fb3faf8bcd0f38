"""What every test with other processes needs: the server they are forked from."""

import pytest
from tests.durability.processes import start_server


@pytest.fixture(scope="session", autouse=True)
def server() -> None:
    start_server()
