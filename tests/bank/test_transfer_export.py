"""Export: one moment of the bank, in a file that appears complete and only its owner can read."""

import hashlib
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.bank.transfer_files import of, read

from pieria.bank import Bank
from pieria.errors import ClosedError, CorruptError, DiskFullError, InputError, ReadOnlyError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "exports" / "out.jsonl"


def test_lines_are_as_documented(bank: Bank, path: Path) -> None:
    kept = bank.remember("JWT for all.", title="Auth", tags=["auth"], meta={"n": [1, 2.5]}, valid_from="2026-01-01")
    bank.update(kept.id, text="JWT, rotated.")
    bank.touch(kept.id, reward=0.5)
    bank.scratchpad.write("to do")
    report = bank.export(path)
    lines = read(report.path)
    assert [line.get("line", "header") for line in lines] == [
        *("header", "change", "content", "state", "change", "content", "state", "usage", "change", "change"),
        *("record", "end"),
    ]
    assert lines[0] == {
        "pieria": "export", "format": 1, "bank": "notes", "exported_at": "2026-03-01T12:00:00Z", "seq": 4,
        "contents": 2, "analyser": lines[0]["analyser"],
    }  # fmt: skip
    assert (of(lines, "content")["title"], of(lines, "content")["meta"]) == ("Auth", {"n": [1, 2.5]})
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
    assert json.loads(json.dumps(report.as_dict()))["path"] == str(path)


def test_paths_may_be_relative_of_a_home_or_a_folder(bank: Bank, home: Path, tmp_path: Path) -> None:
    assert bank.export("out.jsonl").path == home / "work" / "out.jsonl"
    assert bank.export("~/out.jsonl").path == home / "out.jsonl"
    report = bank.export(tmp_path)
    assert report.path == tmp_path / "notes.20260301T120000Z.jsonl"
    assert report.path.exists()


def test_only_exports_and_empty_files_are_replaced(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.touch()
    for text in ("first", "second"):
        bank.remember(text)
        bank.export(path)
        assert text in path.read_text()
    backup = bank.backup(tmp_path)
    for target in (backup, tmp_path / "notes.db"):
        before = target.read_bytes()
        with pytest.raises(InputError, match="an older export"):
            bank.export(target)
        assert target.read_bytes() == before
    for text in ("alias ll='ls -l'\n", '{"pieria":"other"}\n', "{"):
        path.write_text(text)
        with pytest.raises(InputError, match="a new file or an older export") as refused:
            bank.export(path)
        assert path.read_text() == text and "Name another file" in (refused.value.hint or "")


def test_bad_paths_are_refused(bank: Bank, tmp_path: Path) -> None:
    bad: list[Any] = ["", "a\0b", None, 3, b"bytes"]
    for path in bad:
        with pytest.raises(InputError, match="path: expected the path of a file"):
            bank.export(path)
    with pytest.raises(InputError, match="a user there is"):
        bank.export("~nobody-of-this-name/out.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(ReadOnlyError, match="cannot be written"):
        bank.export(tmp_path / "file" / "out.jsonl")


def test_failed_export_leaves_the_older_file_and_no_other(bank: Bank, path: Path) -> None:
    bank.export(path)
    before = path.read_bytes()
    bank.remember_many({"text": f"number {n}"} for n in range(600))

    def fail(done: int, whole: int) -> None:
        raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        bank.export(path, progress=fail)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]


def test_export_holds_one_moment_and_counts_to_the_whole(bank: Bank, path: Path) -> None:
    bank.remember_many({"text": f"number {n}"} for n in range(600))
    late: list[str] = []
    told: list[tuple[int, int]] = []

    def speak(done: int, whole: int) -> None:
        told.append((done, whole))
        if not late:
            late.append(bank.remember("said while it was written").id)

    bank.export(path, progress=speak)
    assert late[0] not in path.read_text()
    assert bank.get(late[0]) is not None
    assert told == sorted(told)
    assert len(told) > 1 and told[-1] == (601, 601)


def test_full_disk_is_reported(bank: Bank, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open = Path.open

    def onto_a_full_disk(path: Path, *arguments: Any, **values: Any) -> Any:
        return really_open(Path("/dev/full") if path.name.endswith(".part") else path, *arguments, **values)

    monkeypatch.setattr(Path, "open", onto_a_full_disk)
    with pytest.raises(DiskFullError, match="no space left"):
        bank.export(path)
    assert not path.exists()


def test_damaged_or_closed_bank_exports_nothing(bank: Bank, path: Path, tmp_path: Path) -> None:
    bank.remember("kept")
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection, connection:
        connection.execute("DELETE FROM journal")
    with pytest.raises(CorruptError, match="belongs to no change"):
        bank.export(path)
    bank.close()
    with pytest.raises(ClosedError):
        bank.export(path)
    assert not path.exists()
