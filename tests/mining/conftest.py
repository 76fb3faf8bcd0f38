"""A bank to mine into, and a project to mine."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank
from pieria.mining import Report, mine

GUIDE = "# Guide\n\n" + "Herons stand still.\n" * 80 + "\n## Storks\n\n" + "Storks clatter.\n" * 80
OLD = 1_700_000_000
"""A time long past, so that the file counts as settled."""


def write(path: Path, text: str, at: int = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


def talk(bank: Bank, path: Path, **more: Any) -> Report:
    """Mine conversations of which none is refused."""
    report = mine(bank, path, conversations=True, **more)
    assert report.well, report.refused
    return report


def just_before(monkeypatch: pytest.MonkeyPatch, folder: Path, happens: Callable[[], None]) -> None:
    """Run `happens` just before the folder is read, for every way to read it."""

    def after(look: Callable[..., Any]) -> Callable[..., Any]:
        def looked(path: Any = ".") -> Any:
            if str(path) == str(folder):
                happens()
            return look(path)

        return looked

    monkeypatch.setattr(os, "scandir", after(os.scandir))
    monkeypatch.setattr(os, "listdir", after(os.listdir))


def shut(folder: Path) -> Callable[[], None]:
    def refuse() -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    return refuse


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
