"""Removing a bank while others have it open, open it in between, or kill the process that removes it."""

import errno
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.contract.store_helpers import apply, memory
from tests.durability.processes import PATIENCE, working

import pieria
from pieria import Workspace
from pieria.errors import BusyError, NotFoundError, PieriaError, ReadOnlyError, StorageError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.alone import nobody_using

MEMORIES = 20


@contextmanager
def profiled(watch: Callable[[FrameType, str, Any], object]) -> Iterator[None]:
    """Call `watch` at every call in the block, until it removes itself."""
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("step", [1, 2])
def test_bank_opened_between_two_steps_loses_nothing(tmp_path: Path, step: int) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()
    opened: list[SQLiteStore] = []
    steps = itertools.count(1)

    def open_before(frame: FrameType, event: str, called: Any) -> None:
        is_step = (event, frame.f_code.co_name) == ("c_call", nobody_using.__name__) and called.__name__ == "execute"
        if is_step and next(steps) == step:
            sys.setprofile(None)
            opened.append(SQLiteStore(path))

    with profiled(open_before), pytest.raises(BusyError, match="open"), nobody_using(path, "remove"):
        pass
    [held] = opened
    apply(held, memory("theirs"))
    held.close()
    with nobody_using(path, "remove") as connection:
        assert connection.execute("SELECT count(*) FROM state").fetchone() == (1,)


@pytest.mark.parametrize("step", ["_check_file", "_prepare"])
@pytest.mark.parametrize("create", [True, False])
def test_bank_removed_while_it_is_opened(tmp_path: Path, create: bool, step: str) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()

    def take_away_before(frame: FrameType, event: str, _: Any) -> None:
        if (event, frame.f_code.co_name) == ("call", step):
            sys.setprofile(None)
            path.unlink()

    with profiled(take_away_before):
        if create:
            with closing(SQLiteStore(path)) as store:
                apply(store, memory("mine"))
        else:
            with pytest.raises(NotFoundError):
                SQLiteStore(path, create=False)
    assert path.exists() == create


def test_bank_made_anew_while_it_is_opened_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()
    real = os.access

    def access(file: Path, mode: int) -> bool:
        monkeypatch.setattr(os, "access", real)
        path.unlink()
        found = real(file, mode)
        SQLiteStore(path).close()
        return found

    monkeypatch.setattr(os, "access", access)
    with closing(SQLiteStore(path)) as store:
        apply(store, memory("mine"))


def test_link_and_the_file_it_leads_to_are_removed(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    kept, link = elsewhere / "kept.db", folder / "notes.db"
    folder.mkdir()
    link.symlink_to(kept)
    with pytest.raises(ReadOnlyError):
        SQLiteStore(link)
    SQLiteStore(kept).close()
    store = SQLiteStore(link)
    apply(store, memory("a secret"))
    store.remove(lambda reader: None)
    assert os.listdir(folder) == []
    assert not [path for path in elsewhere.iterdir() if path.stat().st_size]


def hold_open(pipe: Connection, folder: str) -> None:
    with pieria.open("notes", data=folder) as bank:
        bank.remember("theirs")
        pipe.send("open")
        pipe.recv()
        pipe.send(bank.remember("and more").id)


def remove_until_killed(pipe: Connection, folder: str, step: int) -> None:
    """Remove the bank, and die right before step number `step` that touches a file of the folder."""
    left = step

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in ("sqlite3.connect", "os.remove", "open") and folder in str(arguments[0]):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    with Workspace(folder) as workspace:
        sys.addaudithook(count)
        workspace.remove_bank("notes")


def open_and_write(pipe: Connection, folder: str) -> None:
    pipe.send("ready")
    try:
        with pieria.open("notes", data=folder) as bank:
            pipe.send(bank.remember("meanwhile", id="mine").id)
    except PieriaError as refused:
        pipe.send((refused.code, refused.hint))


def remove_where_one_file_may_not_go(pipe: Connection, folder: str, file: str) -> None:
    """Remove twice. One file resists the first time. Send the outcome of both tries."""
    refuses = True

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if refuses and event == "os.remove" and str(arguments[0]) == file:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), file)

    sys.addaudithook(refuse)
    for _ in range(2):
        try:
            pipe.send(pieria.remove_bank("notes", data=folder).unreached)
        except StorageError as refused:
            pipe.send((refused.message, str(refused.hint)))
            with pieria.open("notes", data=folder, create=False) as bank:
                pipe.send((bank.count(), [finding.check for finding in bank.doctor().findings if not finding.well]))
        refuses = False


def remove_where_it_is_made_anew_at_once(pipe: Connection, folder: str) -> None:
    """Create a new bank right after the old one is gone. Send whether the new one survives."""
    path = Path(folder, "notes.db")
    is_made = False

    def make(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal is_made
        if event in ("os.remove", "open") and not is_made and not path.exists():
            is_made = True
            SQLiteStore(path).close()

    sys.addaudithook(make)
    pieria.remove_bank("notes", data=folder)
    pipe.send((is_made, path.exists()))


def fill(folder: Path) -> None:
    with pieria.open("notes", data=folder) as bank:
        bank.remember_many([{"text": f"heron {n}"} for n in range(MEMORIES)])


def test_bank_open_in_another_process_is_not_removed(tmp_path: Path) -> None:
    with working(hold_open, str(tmp_path)) as holder:
        assert holder.receive() == "open"
        with pytest.raises(BusyError, match="another process"):
            pieria.remove_bank("notes", data=tmp_path)
        assert pieria.remove_bank("notes", data=tmp_path, dry_run=True).erased["memories"] == 1
        holder.pipe.send("go on")
        written = holder.receive()
        holder.finish()
    with pieria.open("notes", data=tmp_path) as bank:
        assert bank.get(written)
    assert pieria.remove_bank("notes", data=tmp_path).erased["memories"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("file", ["notes.db", "notes.db-turn"])
def test_file_that_cannot_be_deleted_is_named(tmp_path: Path, file: str) -> None:
    fill(tmp_path)
    with working(remove_where_one_file_may_not_go, str(tmp_path), str(tmp_path / file)) as remover:
        message, hint = remover.receive()
        assert f"{tmp_path / file} cannot be deleted (Operation not permitted); the bank is still there" in message
        assert str(tmp_path) in hint
        assert remover.finish() == [(MEMORIES, []), ()]
    assert list(tmp_path.glob("notes*")) == []


@pytest.mark.slow
def test_link_that_cannot_be_deleted_is_named(tmp_path: Path) -> None:
    link, target = tmp_path / "notes.db", tmp_path / "disk" / "kept.db"
    fill(tmp_path)
    target.parent.mkdir()
    link.rename(target)
    link.symlink_to(target)
    with working(remove_where_one_file_may_not_go, str(tmp_path), str(link)) as remover:
        [left] = remover.receive()
    assert "the dangling link notes.db" in left and "Operation not permitted" in left
    assert list(target.parent.iterdir()) == []
    with pytest.raises(NotFoundError):
        pieria.open("notes", data=tmp_path, create=False)


@pytest.mark.slow
def test_bank_made_anew_after_removal_stays(tmp_path: Path) -> None:
    fill(tmp_path)
    with working(remove_where_it_is_made_anew_at_once, str(tmp_path)) as remover:
        assert remover.receive() == (True, True)
    with pieria.open("notes", data=tmp_path, create=False) as bank:
        assert bank.count() == 0


@pytest.mark.slow
def test_killed_removal_leaves_a_whole_bank_or_none(tmp_path: Path) -> None:
    ends = []
    for step in itertools.count():
        folder = tmp_path / str(step)
        fill(folder)
        with working(remove_until_killed, str(folder), step) as remover:
            remover.process.join(PATIENCE)
            was_killed = remover.process.exitcode == -signal.SIGKILL
        with Workspace(folder) as workspace:
            there = workspace.banks() == ["notes"]
            with workspace.open("notes") as bank:
                assert bank.count() == (MEMORIES if there else 0)
                assert bool(bank.recall("heron")) == there
                assert all(finding.well for finding in bank.doctor().findings)
        ends.append(there)
        if not was_killed:
            break
    # The bank is whole up to one step, and gone from then on.
    assert ends == sorted(ends, reverse=True)
    assert ends.count(True) > 1 and ends.count(False) > 1


@pytest.mark.slow
def test_bank_opened_during_removal_keeps_what_it_says(tmp_path: Path) -> None:
    for n in range(6):
        folder = tmp_path / str(n)
        fill(folder)
        removed = False
        with working(open_and_write, str(folder)) as opener:
            opener.receive()
            with suppress(BusyError):
                pieria.remove_bank("notes", data=folder)
                removed = True
            [said] = opener.finish()
        if isinstance(said, tuple):
            assert said[0] in ("busy", "not_found") and said[1], said
            continue
        with pieria.open("notes", data=folder) as bank:
            # If the write came before the removal, it went with the bank, and this bank is new.
            gone = removed and not bank.changes()
            assert gone or bank.get("mine")
            assert bank.count() in (0, 1) if removed else bank.count() == MEMORIES + 1
    with pytest.raises(NotFoundError):
        pieria.remove_bank("none", data=tmp_path)
