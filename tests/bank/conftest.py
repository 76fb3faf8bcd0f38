"""Fixtures: banks in a folder and on a server for tests of both, and banks whose clock is set by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.making import HandClock

import pieria
from pieria.bank import Bank


@pytest.fixture
def folder(tmp_path: Path) -> Kept:
    return Kept(str(tmp_path / "data"))


@pytest.fixture
def served(empty_database: str) -> Kept:
    return Kept(empty_database, {"user": "maya"})


@pytest.fixture(params=["folder", "served"])
def kept(request: pytest.FixtureRequest) -> Kept:
    found: Kept = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def opened(tmp_path: Path, clock: HandClock) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens a bank under these settings. One bank may be open under several."""
    workspaces = []

    def made(name: str = "notes", **settings: Any) -> Bank:
        workspaces.append(pieria.Workspace(tmp_path, {"durability": "off", **settings}, clock=clock))
        return workspaces[-1].open(name)

    yield made
    for workspace in workspaces:
        workspace.close()
