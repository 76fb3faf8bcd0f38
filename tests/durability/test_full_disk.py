"""A full disk: a typed error, an intact bank, and writes again as soon as there is space."""

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import done

import pieria
from pieria.errors import DiskFullError, PieriaError

FILLING = "heron " * 500
"""About one page, so that a small disk fills quickly."""


def mounted(folder: Path, size: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a disk of 3 MB, or skip. The test with a limited file runs everywhere."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted(folder, "3m"):
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def refusal(act: Callable[[], Any]) -> str:
    try:
        act()
    except PieriaError as error:
        assert error.hint
        return type(error).__name__
    return "nothing"


def fill_up(bank: pieria.Bank) -> list[str]:
    """Write until there is no space, and check that the bank holds all that was acknowledged."""
    kept: list[str] = []
    with pytest.raises(DiskFullError) as refused:
        while len(kept) < 10_000:
            kept.append(bank.remember(f"{FILLING} {len(kept)}").id)
    assert refused.value.hint and not refused.value.retryable
    for _ in range(3):
        assert refusal(lambda: bank.remember_many([{"text": FILLING}] * 50)) == "DiskFullError"
    changes = bank.changes()
    assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
    assert bank.count() == len(kept) > 10
    assert all(bank.get(id) for id in kept)
    assert len(bank.recall("heron", k=1_000)) == len(kept)
    return kept


def check_space_again(data: Path, kept: list[str]) -> None:
    with pieria.open("notes", data=data) as bank:
        kept.append(bank.remember("after there was space again").id)
        assert bank.count() == len(kept)
        assert [hit.memory.id for hit in bank.recall("space")] == kept[-1:]
        assert [change.what for change in bank.changes()].count("remember") == len(kept)
        assert {finding.check for finding in bank.doctor().findings if not finding.well} <= {"disk"}


def test_file_that_may_not_grow_keeps_the_bank(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        connection: sqlite3.Connection = bank.core.store._connections.writer()  # type: ignore[attr-defined]
        connection.execute("PRAGMA max_page_count = 150")
        kept = fill_up(bank)
        assert bank.doctor().well
    check_space_again(tmp_path, kept)


def fill_the_disk(pipe: Connection, folder: str) -> None:
    """Write until the disk is full, check the bank, free space, and write again."""
    ballast, data = Path(folder, "ballast"), Path(folder, "data")
    ballast.write_bytes(b"\xff" * (1 << 19))
    with pieria.open("notes", data=data) as bank:
        kept = fill_up(bank)
        # Removing memories frees no space, but reading and reopening must still work.
        ballast.unlink()
        kept.append(bank.remember("after the ballast was gone").id)
    check_space_again(data, kept)


def reopen_on_a_full_disk(pipe: Connection, folder: str) -> None:
    """A bank on a full disk opens for reading or raises `DiskFullError`. Its file must not change."""
    data, ballast = Path(folder, "data"), Path(folder, "ballast")
    with pieria.open("notes", data=data) as bank:
        bank.remember("heron")
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\xff" * 4096)
    before = Path(data, "notes.db").read_bytes()
    assert refusal(lambda: pieria.open("notes", data=data).close()) in ("nothing", "DiskFullError")
    assert refusal(lambda: pieria.open("new", data=data).remember("x")) == "DiskFullError"
    ballast.unlink()
    for left in data.glob("*-wal"):
        assert left.stat().st_size == 0, left
    assert Path(data, "notes.db").read_bytes() == before
    for name in ("notes", "new"):
        with pieria.open(name, data=data) as bank:
            bank.remember("space again")
            assert bank.recall("space")


@pytest.mark.slow
@pytest.mark.parametrize("work", [fill_the_disk, reopen_on_a_full_disk])
def test_full_disk_keeps_the_bank(small_disk: Path, work: Callable[..., None]) -> None:
    assert done(work, str(small_disk)) == []


@pytest.mark.slow
def test_copy_without_space_leaves_nothing_behind(tmp_path: Path, small_disk: Path) -> None:
    with pieria.open("notes", data=tmp_path / "data") as bank:
        bank.remember_many({"text": f"{FILLING} {n}"} for n in range(1_000))
        assert refusal(lambda: bank.backup(small_disk / "copy.backup")) == "DiskFullError"
        assert refusal(lambda: bank.export(small_disk / "notes.jsonl")) == "DiskFullError"
        assert list(small_disk.iterdir()) == []
        assert bank.doctor().well
