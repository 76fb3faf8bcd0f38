"""Removing a bank while others have it open, or with a kill in the middle."""

import errno
import itertools
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import PATIENCE, working

import pieria
from pieria import Workspace
from pieria.errors import BusyError, NotFoundError, PieriaError, StorageError
from pieria.store.sqlite import SQLiteStore

pytestmark = pytest.mark.slow
MEMORIES = 20


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
    """Write to the bank. Send the id of the acknowledged write, or the error."""
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


def test_another_process_that_has_it_open_is_in_the_way_and_loses_nothing(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("file", ["notes.db", "notes.db-turn"])
def test_where_a_file_may_not_be_deleted_it_is_said_which_and_the_bank_is_whole(tmp_path: Path, file: str) -> None:
    fill(tmp_path)
    with working(remove_where_one_file_may_not_go, str(tmp_path), str(tmp_path / file)) as remover:
        message, hint = remover.receive()
        assert f"{tmp_path / file} cannot be deleted (Operation not permitted); the bank is still there" in message
        assert str(tmp_path) in hint
        assert remover.receive() == (MEMORIES, [])
        assert remover.receive() == ()
        remover.finish()
    assert list(tmp_path.glob("notes*")) == []


def test_a_link_that_may_not_be_deleted_is_told_when_what_it_led_to_is_gone(tmp_path: Path) -> None:
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


def test_a_bank_that_is_made_anew_as_soon_as_the_old_one_is_gone_stays(tmp_path: Path) -> None:
    fill(tmp_path)
    with working(remove_where_it_is_made_anew_at_once, str(tmp_path)) as remover:
        assert remover.receive() == (True, True)
    with pieria.open("notes", data=tmp_path, create=False) as bank:
        assert bank.count() == 0


def test_killed_at_any_step_it_is_whole_or_gone(tmp_path: Path) -> None:
    ends = []
    for step in itertools.count():
        folder = tmp_path / str(step)
        fill(folder)
        with working(remove_until_killed, str(folder), step) as remover:
            remover.process.join(PATIENCE)
            killed = remover.process.exitcode == -signal.SIGKILL
        with Workspace(folder) as workspace:
            there = workspace.banks() == ["notes"]
            with workspace.open("notes") as bank:
                assert bank.count() == (MEMORIES if there else 0)
                assert bool(bank.recall("heron")) == there
                assert all(finding.well for finding in bank.doctor().findings)
        ends.append(there)
        if not killed:
            break
    # The bank is whole up to one step, and gone from then on.
    assert ends == sorted(ends, reverse=True)
    assert ends.count(True) > 1 and ends.count(False) > 1


def test_whoever_opens_it_meanwhile_is_told_or_has_a_new_one_that_keeps_what_it_acknowledges(tmp_path: Path) -> None:
    for n in range(10):
        folder = tmp_path / str(n)
        fill(folder)
        with working(open_and_write, str(folder)) as opener:
            opener.receive()
            try:
                pieria.remove_bank("notes", data=folder)
                removed = True
            except BusyError:
                removed = False
            said = opener.receive()
            opener.finish()
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
