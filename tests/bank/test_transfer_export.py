"""Export: one moment of the bank, in a file that appears complete and only its owner can read."""

import hashlib
import json
import sqlite3
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bank.transfer_files import of, read

import pieria
from pieria.bank import Bank
from pieria.errors import ClosedError, CorruptError, DiskFullError, InputError, ReadOnlyError

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("notes", data=tmp_path / "data", clock=lambda: NOON) as opened:
        yield opened


def test_the_lines_are_as_the_page_says(bank: Bank, tmp_path: Path) -> None:
    kept = bank.remember("JWT for all.", title="Auth", tags=["auth"], meta={"n": [1, 2.5]}, valid_from="2026-01-01")
    bank.update(kept.id, text="JWT, rotated.")
    bank.touch(kept.id, reward=0.5)
    bank.scratchpad.write("to do")
    report = bank.export(tmp_path / "out.jsonl")
    lines = read(report.path)
    assert [line.get("line", "header") for line in lines] == [
        *("header", "change", "content", "state", "change", "content", "state", "usage", "change", "change"),
        *("record", "end"),
    ]
    assert lines[0] == {
        "pieria": "export", "format": 1, "bank": "notes", "exported_at": "2026-03-01T12:00:00Z", "seq": 4,
        "contents": 2, "analyser": lines[0]["analyser"],
    }  # fmt: skip
    assert of(lines, "change") == {
        "line": "change", "seq": 1, "at": "2026-03-01T12:00:00Z", "who": "python", "what": "remember", "ids": [kept.id],
    }  # fmt: skip
    assert of(lines, "content") == {
        "line": "content", "id": kept.id, "version": 1, "title": "Auth", "text": "JWT for all.", "tags": ["auth"],
        "meta": {"n": [1, 2.5]},
    }  # fmt: skip
    first, second = of(lines, "state"), of(lines, "state", 1)
    assert first["known_until"] == second["known_from"] == "2026-03-01T12:00:00.000001Z"
    assert "known_until" not in second
    assert (first["valid_from"], first["pinned"], first["ended"]) == ("2026-01-01T00:00:00Z", False, "")
    assert of(lines, "usage") == {
        "line": "usage", "id": kept.id, "accesses": 1, "last_access": "2026-03-01T12:00:00Z", "reviews": 0,
        "crossings": 0, "rewards": 0.5, "rewarded": 1, "spaced": 0.0,
    }  # fmt: skip
    counts = {"change": 4, "content": 2, "state": 2, "usage": 1, "record": 1}
    assert lines[-1]["counts"] == counts == report.counts
    before_the_end = report.path.read_bytes().rpartition(b'{"line":"end"')[0]
    assert lines[-1]["sha256"] == hashlib.sha256(before_the_end).hexdigest() == report.sha256
    assert report.bytes == report.path.stat().st_size
    assert json.loads(json.dumps(report.as_dict()))["path"] == str(tmp_path / "out.jsonl")


def test_an_empty_bank_is_a_header_and_an_end(bank: Bank, tmp_path: Path) -> None:
    bank.export(tmp_path / "out.jsonl")
    assert len(read(tmp_path / "out.jsonl")) == 2


def test_only_the_owner_can_read_it_and_nothing_is_left_beside_it(bank: Bank, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    bank.export(folder / "out.jsonl")
    assert stat.S_IMODE((folder / "out.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == ["out.jsonl"]


def test_a_folder_gets_a_file_named_after_bank_and_time(bank: Bank, tmp_path: Path) -> None:
    report = bank.export(tmp_path)
    assert report.path == tmp_path / "notes.20260301T120000Z.jsonl"
    assert report.path.exists()


def test_a_relative_path_and_a_home_are_understood(bank: Bank, home: Path) -> None:
    assert bank.export("out.jsonl").path == home / "work" / "out.jsonl"
    assert bank.export("~/out.jsonl").path == home / "out.jsonl"


def test_an_older_export_is_replaced(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    bank.export(path)
    before = path.read_bytes()
    bank.remember("since then")
    bank.export(path)
    assert path.read_bytes() != before


def test_an_empty_file_may_become_an_export(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.touch()
    bank.export(path)
    assert read(path)[0]["pieria"] == "export"


@pytest.mark.parametrize("text", ["alias ll='ls -l'\n", '{"pieria":"other"}\n', "{"])
def test_a_file_of_somebody_else_is_never_replaced_by_an_export(bank: Bank, tmp_path: Path, text: str) -> None:
    path = tmp_path / ".bashrc"
    path.write_text(text)
    with pytest.raises(InputError, match="a new file or an older export") as refused:
        bank.export(path)
    assert path.read_text() == text and "Name another file" in (refused.value.hint or "")


@pytest.mark.parametrize("what", ["bank", "backup"])
def test_a_database_is_never_replaced_by_an_export(bank: Bank, tmp_path: Path, what: str) -> None:
    bank.remember("precious")
    path = bank.data / "notes.db" if what == "bank" else bank.backup(tmp_path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="an older export"):
        bank.export(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", ["", "a\0b", None, 3, b"bytes"])
def test_what_is_no_path_is_refused(bank: Bank, path: str) -> None:
    with pytest.raises(InputError, match="path: expected the path of a file"):
        bank.export(path)


def test_the_home_of_nobody_is_refused(bank: Bank) -> None:
    with pytest.raises(InputError, match="a user there is"):
        bank.export("~nobody-of-this-name/out.jsonl")


def test_progress_ends_at_the_whole(bank: Bank, tmp_path: Path) -> None:
    bank.remember_many({"text": f"number {n}"} for n in range(600))
    told: list[tuple[int, int]] = []
    bank.export(tmp_path / "out.jsonl", progress=lambda done, whole: told.append((done, whole)))
    assert told[-1] == (601, 601)
    assert len(told) > 1
    assert told == sorted(told)


def test_a_failing_progress_leaves_the_older_file_and_no_other(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "exports" / "out.jsonl"
    bank.export(path)
    before = path.read_bytes()
    bank.remember_many({"text": f"number {n}"} for n in range(600))

    def fail(done: int, whole: int) -> None:
        raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        bank.export(path, progress=fail)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_verb_within_progress_sees_what_is_there_but_the_export_does_not(bank: Bank, tmp_path: Path) -> None:
    bank.remember_many({"text": f"number {n}"} for n in range(600))
    late: list[str] = []

    def speak(done: int, whole: int) -> None:
        if not late:
            late.append(bank.remember("said while it was written").id)

    bank.export(tmp_path / "out.jsonl", progress=speak)
    assert late[0] not in (tmp_path / "out.jsonl").read_text()
    assert bank.get(late[0]) is not None


def test_a_path_below_a_file_is_refused(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReadOnlyError, match="cannot be written"):
        bank.export(tmp_path / "file" / "out.jsonl")


def test_a_full_disk_is_called_so(bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open = Path.open

    def onto_a_full_disk(path: Path, *arguments: Any, **values: Any) -> Any:
        return really_open(Path("/dev/full") if path.name.endswith(".part") else path, *arguments, **values)

    monkeypatch.setattr(Path, "open", onto_a_full_disk)
    with pytest.raises(DiskFullError, match="no space left"):
        bank.export(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_rows_without_a_change_are_not_left_out_silently(bank: Bank, tmp_path: Path) -> None:
    bank.remember("kept")
    with sqlite3.connect(bank.data / "notes.db") as connection:
        connection.execute("DELETE FROM journal")
    connection.close()
    with pytest.raises(CorruptError, match="belongs to no change"):
        bank.export(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_closed_bank_exports_nothing(tmp_path: Path) -> None:
    bank = pieria.open("notes", data=tmp_path)
    bank.close()
    with pytest.raises(ClosedError):
        bank.export(tmp_path / "out.jsonl")
    assert not list(tmp_path.glob("*.jsonl"))
