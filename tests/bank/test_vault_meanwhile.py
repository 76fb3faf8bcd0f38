"""Notes that their owner moves or deletes during a sync."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

import pieria
from pieria import Bank
from pieria.vault.folder import Folder, digest_of


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def bank(vault: Path, tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("vaulted", data=tmp_path / "data", settings={"vault": str(vault)}) as bank:
        yield bank


def just_before_stat(monkeypatch: pytest.MonkeyPatch, note: Path, happens: Callable[[], None]) -> None:
    real = os.stat

    def stat(path: Any, **how: Any) -> os.stat_result:
        if str(path) == str(note):
            happens()
        return real(path, **how)

    monkeypatch.setattr(os, "stat", stat)


class Going(AbstractContextManager["Going"]):
    """The entries of a folder. Each file is deleted when its entry is read."""

    def __init__(self, entries: list["os.DirEntry[str]"]) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator["os.DirEntry[str]"]:
        for entry in self._entries:
            os.unlink(entry.path)
            yield entry

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing."""


def test_a_note_that_goes_while_it_is_brought_up_to_date_is_told_and_all_others_are(
    bank: Bank, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [bank.remember(f"We chose {what}.", title=what).id for what in ("JWT", "CSV")]
    bank.vault.promote(ids)
    gone, stays = (vault / str(bank.vault.path_of(id)) for id in ids)
    for id in ids:
        bank.update(id, text="We chose neither.")
    just_before_stat(monkeypatch, gone, lambda: gone.unlink(missing_ok=True))
    synced = bank.vault.sync()
    [bad] = synced.problems
    assert bad.path == gone.relative_to(vault).as_posix()
    assert bad.reason.startswith("the note was changed just now")
    assert synced.memories["rewritten"] == 1
    assert "We chose neither." in stays.read_text()


def test_a_note_that_its_owner_takes_at_once_was_written_all_the_same(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def taken(source: Any, target: Any) -> None:
        real(source, target)
        if Path(target).is_relative_to(vault):
            os.unlink(target)

    monkeypatch.setattr(os, "replace", taken)
    (vault / "Pieria").mkdir()
    (vault / "Pieria" / "Old.md").write_bytes(b"old")
    folder = Folder(vault, "Pieria")
    assert folder.create("Pieria/New.md", b"new").size == 3
    assert folder.replace("Pieria/Old.md", b"older", digest_of(b"old")).size == 5


def test_who_may_read_new_notes_is_told_without_those_that_go_meanwhile(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault / "Going.md").write_text("going")
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        return Going(list(real(path))) if str(path) == str(vault) else real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    Folder(vault, "Pieria").create("Pieria/New.md", b"new")
    assert (vault / "Pieria" / "New.md").stat().st_mode & 0o777 == 0o600


def test_a_folder_of_notes_that_was_taken_away_has_nothing_to_settle(vault: Path) -> None:
    Folder(vault, "Pieria").settle()


def test_a_process_forked_during_a_sync_does_not_keep_the_vault(bank: Bank, vault: Path) -> None:
    (vault / "Mine.md").write_text("We chose JWT.")
    over, tell = os.pipe()
    children: list[int] = []

    def fork(done: int, whole: int) -> None:
        """Fork once. The child does nothing until the parent has synced again."""
        if not children:
            children.append(os.fork())
            if not children[0]:
                # End the child if it waits without end.
                signal.alarm(90)
                os.read(over, 1)
                os._exit(0)

    bank.vault.sync(progress=fork)
    assert bank.vault.sync().well
    os.write(tell, b"!")
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    for end in (over, tell):
        os.close(end)
