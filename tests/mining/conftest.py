"""A bank to mine into, and a project to mine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import pieria
from pieria import Bank

GUIDE = "# Guide\n\n" + "Herons stand still.\n" * 80 + "\n## Storks\n\n" + "Storks clatter.\n" * 80
OLD = 1_700_000_000
"""A time long past, so that the file counts as settled."""


def write(path: Path, text: str, at: int = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("talk", data=tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "birds"
    write(folder / "guide.md", GUIDE)
    write(folder / "src" / "nest.py", "def nest():\n    return 'reeds'\n")
    return folder
