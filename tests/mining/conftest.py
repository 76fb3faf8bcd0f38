"""A bank to mine into."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import pieria
from pieria import Bank


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("talk", data=tmp_path / "data") as opened:
        yield opened
