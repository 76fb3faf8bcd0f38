"""A full disk: a typed error, an intact bank, and writes again as soon as there is space."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.durability import places
from tests.durability.processes import done

import pieria
from pieria.errors import DiskFullError


def mounted(folder: Path, size: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """Yield a disk of 3 MB. If none can be mounted, yield None: the test then limits the file instead."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted(folder, "3m"):
        yield None
        return
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_refuses_a_write_and_keeps_the_bank(tmp_path: Path, small_disk: Path | None) -> None:
    if small_disk is None:
        with_the_file_limited(tmp_path)
        return
    refused, batches, kept = done(places.fill_the_disk, str(small_disk))
    assert refused == ("refused", False, True)
    assert batches == ["DiskFullError"] * 3
    assert kept > 10


def test_a_bank_on_a_full_disk_opens_or_says_why_not(tmp_path: Path, small_disk: Path | None) -> None:
    if small_disk is None:
        with_the_file_limited(tmp_path)
        return
    assert done(places.reopen_on_a_full_disk, str(small_disk)) == ["done"]


def test_a_file_that_may_not_grow_keeps_the_bank(tmp_path: Path) -> None:
    with_the_file_limited(tmp_path)


def with_the_file_limited(folder: Path) -> None:
    with places.limit_the_pages(folder, 150) as bank:
        kept: list[str] = []
        with pytest.raises(DiskFullError) as refused:
            while True:
                kept.append(bank.remember(f"{places.FILLING} {len(kept)}").id)
        assert refused.value.hint
        with pytest.raises(DiskFullError):
            bank.remember_many({"text": places.FILLING} for _ in range(50))
        assert bank.count() == len(kept)
        assert all(bank.get(id) for id in kept)
        assert len(bank.recall("heron", k=1_000)) == len(kept)
        assert [finding.check for finding in bank.doctor().findings if not finding.well] == []
    with pieria.open("notes", data=folder) as bank:
        bank.remember("after there was space again")
        assert bank.count() == len(kept) + 1
        assert [change.what for change in bank.changes()].count("remember") == len(kept) + 1
        assert bank.doctor().well


def test_a_copy_that_finds_no_space_leaves_nothing_behind(tmp_path: Path, small_disk: Path | None) -> None:
    """Without a small disk, `/dev/full` takes its place. It is not a folder, so the error differs."""
    target, refusal = (small_disk, DiskFullError) if small_disk else (Path("/dev/full/folder"), pieria.PieriaError)
    with pieria.open("notes", data=tmp_path / "data") as bank:
        bank.remember_many({"text": f"{places.FILLING} {n}"} for n in range(1_000))
        with pytest.raises(refusal):
            bank.backup(target / "copy.backup")
        assert small_disk is None or list(small_disk.iterdir()) == []
        with pytest.raises(refusal):
            bank.export(target / "notes.jsonl")
        assert small_disk is None or list(small_disk.iterdir()) == []
        assert bank.doctor().well
