"""After a purge, no file of the data folder holds the text or its rare terms, or the receipt names the file."""

import errno
import itertools
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import working

import pieria
from pieria.bank import Bank
from pieria.errors import DiskFullError, ReadOnlyError, StorageError
from pieria.language.analyser import terms
from pieria.store.files import written_aside
from pieria.store.sqlite.seal_driver import mark_of

TEXT = "The zephyrquokka hid the brindlewolf under Ångströmkäfer."
WORDS = ("zephyrquokka", "brindlewolf", "ngströmkäfer", "hid the", *terms(TEXT)[1:3])
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "latin-1")


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return opened(busy_seconds=5)


def holding(folder: Path, words: Iterable[str] = WORDS) -> set[tuple[str, str]]:
    """Return (file, word) for each word found in a file, in any case and encoding.

    Another process reads them: closing a file in this one would end SQLite's locks on it.
    """
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            content = subprocess.run(["cat", path], check=True, capture_output=True).stdout.lower()
            for word in words:
                if any(word.lower().encode(encoding) in content for encoding in ENCODINGS):
                    found.add((str(path.relative_to(folder)), word))
    return found


def fill(bank: Bank, size: int = 300) -> None:
    chance = random.Random(1)
    words = [f"w{n:03}" for n in range(200)]
    bank.remember_many({"text": " ".join(chance.choices(words, k=chance.randrange(3, 60)))} for _ in range(size))


def check_erased(bank: Bank, words: Iterable[str] = WORDS) -> None:
    assert holding(bank.data, words) == set()
    assert len(bank.recall(" ".join(words))) == 0
    assert bank.doctor().well


@pytest.mark.parametrize("scope", ["bank", "user"])
def test_no_file_holds_a_purged_memory(bank: Bank, scope: str) -> None:
    fill(bank)
    memory = bank.remember(TEXT, tags=["zephyrquokka"], entities=["Brindlewolf"], title="brindlewolf title",
                           context="of the brindlewolf", source="brindlewolf.txt", author="brindlewolf", scope=scope,
                           meta={"brindlewolf": ["zephyrquokka"]}, body={"brindlewolf": 1})  # fmt: skip
    fill(bank)
    kept = "notes" if scope == "bank" else "@me"
    assert {file for file, _ in holding(bank.data)} in ({f"{kept}.db", f"{kept}.db-wal"}, {f"{kept}.db-wal"})
    receipt = bank.purge(memory.id)
    assert receipt.unreached == ()
    assert receipt.erased["memories"] == receipt.erased["versions"] == 1
    check_erased(bank)
    assert (memory.id in [id for change in bank.changes() for id in change.ids]) == (scope == "bank")
    bank.close()
    assert holding(bank.data) == set()


def test_no_file_holds_a_purged_fact(bank: Bank) -> None:
    fill(bank, 50)
    fact = bank.facts.add("Zephyrquokka", "hid_the", "brindlewolf", source="brindlewolf.txt")
    bank.facts.add("Zephyrquokka", "hid_the", "brindlewolf", valid_from="2020-01-01")
    bank.facts.remove(fact.id, reason="the zephyrquokka asked")
    fill(bank, 50)
    assert holding(bank.data)
    assert bank.facts.purge(fact.id).unreached == ()
    assert holding(bank.data, (*WORDS, "hid_the")) == set()
    assert bank.doctor().well


def test_purge_erases_every_version_and_revision(bank: Bank) -> None:
    fill(bank, 100)
    first = bank.remember("The plain heron stood.")
    bank.update(first.id, text=TEXT, reason="brindlewolf")
    bank.update(first.id, text="Another plain heron stood.")
    second = bank.revise(first.id, text=f"{TEXT} Revised.", reason="the zephyrquokka again")
    bank.remove(second.id, reason="brindlewolf")
    fill(bank, 100)
    receipt = bank.purge(first.id)
    assert {first.id, second.id} == {*receipt.ids, *receipt.also}
    assert receipt.erased["versions"] == 4
    check_erased(bank, (*WORDS, "plain heron"))
    # An undone revision keeps its text on record.
    for purged in (0, 1):
        first = bank.remember("The brindlewolf, at first.")
        second = bank.revise(first.id, text=TEXT)
        bank.undo(bank.changes()[-1].seq)
        receipt = bank.purge((first.id, second.id)[purged])
        assert {first.id, second.id} == {*receipt.ids, *receipt.also}
        check_erased(bank)


def test_purge_erases_what_was_drawn_from_a_memory(bank: Bank) -> None:
    memory = bank.remember(TEXT)
    summary = bank.remember("In short: brindlewolf.", kind="summary")
    further = bank.remember("Shorter: zephyrquokka.", kind="summary")
    other = bank.remember("Another heron.")
    bank.link(summary.id, memory.id, "provenance")
    bank.link(further.id, summary.id, "provenance")
    bank.link(other.id, memory.id, "related", label="a brindlewolf label", meta={"zephyrquokka": 1})
    bank.facts.add("zephyrquokka", "hides", "brindlewolf", memory=memory.id, source="brindlewolf")
    bank.facts.add("zephyrquokka", "hunts", "at night", memory=summary.id)
    bank.touch([memory.id, summary.id])
    receipt = bank.purge(memory.id)
    assert set(receipt.also) == {summary.id, further.id}
    assert dict(receipt.erased) == {"memories": 3, "versions": 3, "links": 3, "facts": 2, "usage": 2}
    check_erased(bank)
    assert [memory.id for memory in bank.list()] == [other.id]


def test_purged_term_leaves_every_segment_of_the_index(bank: Bank) -> None:
    """Write in many transactions, so that the index has many segments, and purge from the middle."""
    words = ["zephyrquokka" + "abcdefghij"[n // 12] + "klmnopqrstuv"[n % 12] for n in range(120)]
    ids = [bank.remember(f"heron number {n} {word} by the water").id for n, word in enumerate(words)]
    purged = list(range(0, 120, 3))
    for n in purged[:5]:
        bank.purge(ids[n])
    bank.purge([ids[n] for n in purged[5:]])
    check_erased(bank, [words[n] for n in purged])
    assert all(len(bank.recall(word)) == 1 for n, word in enumerate(words) if n not in purged)


@pytest.mark.slow
def test_thousands_of_purges_leave_nothing_in_pages(bank: Bank) -> None:
    """SQLite moves rows between pages. No copy may stay at the old position."""
    chance, size = random.Random(5), 2_500
    words = [f"w{n:03}" for n in range(500)]

    def text(n: int) -> str:
        before, after = chance.randrange(5, 60), chance.randrange(300 if chance.random() < 0.1 else 20)
        return " ".join([*chance.choices(words, k=before), f"zq{n:05}xv", *chance.choices(words, k=after)])

    drafts = [{"text": text(n), "tags": [f"tagzq{n:05}xv"], "id": f"id{n}"} for n in range(size)]
    for start in range(0, size, 37):
        bank.remember_many(drafts[start : start + 37])
    gone = chance.sample(range(size), size // 2)
    for start in range(0, len(gone), 250):
        assert bank.purge([f"id{n}" for n in gone[start : start + 250]]).unreached == ()
    content = b"".join(path.read_bytes() for path in bank.data.iterdir())
    assert [n for n in gone if f"zq{n:05}xv".encode() in content] == []


def test_cut_and_cleared_words_are_in_no_file(opened: Callable[..., Bank]) -> None:
    bank = opened(secrets="redact")
    secret = "sk-ant-api03-" + "Zq7" * 30
    bank.remember(f"Told <private>{TEXT}</private> and the key {secret} too.")
    bank.scratchpad.write(f"<private>{TEXT}</private> rest")
    assert holding(bank.data, (*WORDS, secret)) == set()
    bank.scratchpad.write(TEXT)
    assert bank.scratchpad.clear() == 2
    bank.purge(bank.remember("another").id)
    check_erased(bank)


def test_purged_id_is_not_imported_or_given_again(bank: Bank) -> None:
    memory = bank.remember(TEXT, id="gone")
    exported = bank.data / "exports" / "notes.jsonl"
    bank.export(exported)
    bank.purge(memory.id)
    with pytest.raises(pieria.errors.ConflictError):
        bank.remember("another text", id="gone")
    bank.import_(exported, mode="merge")
    assert bank.get("gone") is None
    exported.unlink()
    check_erased(bank)


def hold_a_read(pipe: Connection, folder: str) -> None:
    with pieria.open("notes", data=folder) as bank, bank.core.store.reading() as reader:
        pipe.send(reader.head().documents)
        assert pipe.recv() == "let go"


def files_left(bank: Bank, id: str) -> set[str]:
    """Purge the memory. Return the files that still hold its words; the receipt must name them."""
    unreached = bank.purge(id).unreached
    left = {file for file, _ in holding(bank.data)}
    assert left <= {"notes.db", "notes.db-wal"}
    assert all(any(line.startswith(file) for line in unreached) for file in left), unreached
    return left


@pytest.mark.slow
def test_receipt_names_files_that_a_reader_keeps(bank: Bank) -> None:
    fill(bank, 50)
    memory = bank.remember(TEXT)
    with working(hold_a_read, str(bank.data)) as reader:
        assert reader.receive() == 51
        assert files_left(bank, memory.id)
        assert bank.get(memory.id) is None
        reader.pipe.send("let go")
        reader.finish()
    assert bank.purge(bank.remember("another heron").id).unreached == ()
    check_erased(bank)
    memory = bank.remember(TEXT)
    with bank.core.store.reading() as own:
        assert own.head().documents == 51
        files_left(bank, memory.id)
    memory = bank.remember(TEXT)
    with working(hold_a_read, str(bank.data)) as reader:
        reader.receive()
        bank.purge(memory.id)
        reader.pipe.send("let go")
        reader.finish()
    bank.close()
    assert holding(bank.data) == set()


def test_receipt_names_every_copy_in_the_data_folder(opened: Callable[..., Bank], bank: Bank) -> None:
    data = bank.data
    opened("other").remember("another heron")
    memory = bank.remember(TEXT)
    (data / "pieria.toml").write_text("")
    bank.export(data / "here.jsonl")
    bank.export(data / "deep" / "down" / "out.txt")
    bank.backup(data / "deep" / "copy.db")
    copy = bank.backup(data / "notes.1.backup")
    for name in ("notes.1.backup-wal", ".notes.2.backup.77.88.part", ".notes.2.backup.77.88.part-journal"):
        (data / name).write_bytes(copy.read_bytes())
    (data / "gone.db-wal").write_bytes(copy.read_bytes())
    (data / "packed.gz").write_bytes(copy.read_bytes()[::-1])
    (data / "deep" / "unrelated.md").write_text("of another program")
    unreached = bank.purge(memory.id).unreached
    assert sorted(unreached) == [
        "backup deep/copy.db",
        "backup notes.1.backup",
        "backup notes.1.backup-wal",
        "export deep/down/out.txt",
        "export here.jsonl",
        "file packed.gz",
        "log gone.db-wal",
        "unfinished copy .notes.2.backup.77.88.part",
        "unfinished copy .notes.2.backup.77.88.part-journal",
    ]
    assert {file for file, _ in holding(data)} <= {line.rpartition(" ")[2] for line in unreached}


def test_purge_leaves_other_banks_alone(tmp_path: Path) -> None:
    """The others are closed, open, restored but unopened, named like a backup, or in a subfolder."""
    for name in ("closed", "kept.backup", "deep"):
        with pieria.open(name, data=tmp_path / "team" if name == "deep" else tmp_path) as other:
            other.remember("another heron")
            backup = other.backup(tmp_path.parent / f"{tmp_path.name}.aside")
    pieria.restore(backup, data=tmp_path, name="restored")
    with pieria.open("open", data=tmp_path) as other, pieria.open("notes", data=tmp_path) as bank:
        other.remember("one more")
        (tmp_path / "not a bank's name.db").write_bytes(backup.read_bytes())
        with closing(sqlite3.connect(tmp_path / "others.db")) as foreign:
            foreign.execute("CREATE TABLE theirs (x)")
        memory = bank.remember(TEXT)
        before = {path for path in tmp_path.rglob("*") if not path.name.startswith("notes.db")}
        assert sorted(bank.purge(memory.id).unreached) == ["backup not a bank's name.db", "file others.db"]
        assert {path for path in tmp_path.rglob("*") if not path.name.startswith("notes.db")} == before
        other.remember("still whole")
        assert other.doctor().well


@pytest.mark.parametrize("look", range(1, 7))
def test_copy_that_goes_during_a_purge(bank: Bank, monkeypatch: pytest.MonkeyPatch, look: int) -> None:
    copy, gone = bank.data / "notes.1.backup", bank.data / "gone"
    stat_of, entries_of, looks = Path.stat, os.scandir, itertools.count(1)

    def stat(path: Path, **how: Any) -> os.stat_result:
        if path == copy and next(looks) == look:
            copy.unlink()
        return stat_of(path, **how)

    def scandir(path: Any = ".") -> Any:
        if str(path) == str(gone):
            gone.rmdir()
        return entries_of(path)

    memory = bank.remember("heron")
    bank.backup(copy)
    gone.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", stat)
        patched.setattr(os, "scandir", scandir)
        purged = bank.purge(memory.id)
    assert not gone.exists()
    assert any(copy.name in line for line in purged.unreached) == copy.exists()
    assert not any("gone" in line for line in purged.unreached)


def test_looking_at_a_file_keeps_its_locks(tmp_path: Path) -> None:
    """If a process opens and closes a database file directly, it loses the locks of its own connections."""
    path = tmp_path / "live.db"
    code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with closing(sqlite3.connect(path, isolation_level=None)) as live:
        for statement in ("PRAGMA application_id = 5", "BEGIN IMMEDIATE"):
            live.execute(statement)
        assert mark_of(path) == 5
        tried = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "database is locked" in tried.stderr


def test_doctor_names_leftovers_and_open_file_modes(bank: Bank) -> None:
    [before] = [finding for finding in bank.doctor().findings if finding.check == "leftovers"]
    assert (before.well, before.remedy) == (True, None)
    (bank.data / ".notes.backup.77.88.part").write_bytes(b"12345")
    diagnosis = bank.doctor()
    [finding] = [finding for finding in diagnosis.findings if finding.check == "leftovers"]
    assert finding.well and diagnosis.well
    assert "of 5 bytes: .notes.backup.77.88.part" in finding.detail
    assert "delete" in str(finding.remedy)
    (bank.data / "notes.db").chmod(0o644)
    assert [(f.check, f.detail) for f in bank.doctor().findings if not f.well] == [("file mode", "644")]


@pytest.mark.slow
def test_rewriting_uses_a_nameless_file_in_the_folder(tmp_path: Path) -> None:
    """Use a small cache to force a temporary file, and look at the open files during the work."""
    data, files = tmp_path / "the bank's", Path("/proc/self/fd")
    seen: set[str] = set()

    def look() -> int:
        for name in os.listdir(files):
            try:
                seen.add(os.readlink(files / name))
            except FileNotFoundError:
                continue
        return 0

    with pieria.open("notes", data=data) as bank:
        fill(bank, 2_000)
        memory = bank.remember(TEXT)
        writer = bank.core.store._connections.writer()  # type: ignore[attr-defined]
        writer.execute("PRAGMA cache_size = -64")
        if files.exists():
            writer.set_progress_handler(look, 1_000)
        assert bank.purge(memory.id).unreached == ()
        writer.set_progress_handler(None, 0)
        assert writer.execute("PRAGMA temp_store_directory").fetchone() is None
        assert holding(data) == set()
        assert {path.name for path in data.iterdir()} == {f"notes.db{of}" for of in ("", "-shm", "-turn", "-wal")}
    temporary = {name for name in seen if "etilqs" in name}
    assert all(name.startswith(f"{data}/") and name.endswith(" (deleted)") for name in temporary)
    assert temporary or not files.exists()


ERRORS = {
    errno.ENOSPC: DiskFullError,
    errno.EDQUOT: DiskFullError,
    errno.EACCES: ReadOnlyError,
    errno.EIO: StorageError,
    errno.EMFILE: StorageError,
}


def test_failed_copy_raises_a_typed_error_and_leaves_nothing(tmp_path: Path) -> None:
    for number, error in ERRORS.items():
        with (
            pytest.raises(StorageError) as raised,
            written_aside(tmp_path / "new" / "copy", "backup", ("-log",)) as written,
        ):
            written.with_name(written.name + "-log").write_bytes(b"1")
            assert written.exists()
            raise OSError(number, os.strerror(number))
        assert type(raised.value) is error
        assert ("Allow this user" in str(raised.value.hint)) == (error is ReadOnlyError)
        assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_new_bank_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    real = os.open

    def refuse(path: Any, *how: Any, **more: Any) -> int:
        if str(path).endswith("notes.db"):
            raise OSError(number, os.strerror(number))
        return real(path, *how, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageError) as raised:
        pieria.open("notes", data=tmp_path)
    assert type(raised.value) is ERRORS[number]
