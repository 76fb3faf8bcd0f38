"""Fixtures: banks in a folder and on a server for tests of both, and quick garbage collections."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bank.kept import Kept


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
def few_objects() -> Iterator[None]:
    """Let garbage collections of the test look at its own objects only, which is quick."""
    gc.freeze()
    yield
    gc.unfreeze()
