"""Notes and memories that others change during a sync."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.bank.test_vault import JWT, NOTE, SAME, bank, edit, events, front, held, noted, vault

from pieria import Bank
from pieria.bank.results.transfer import Synced
from pieria.errors import BusyError
from pieria.store.protocol import Store
from pieria.vault.folder import Folder, digest_of

__all__ = ["bank", "vault"]


class Interrupted:
    """A store in which another caller acts right before the first write."""

    def __init__(self, store: Store, act: Callable[[], object]) -> None:
        self._store = store
        self._acts = [act]

    def writing(self, seconds: float | None = None) -> AbstractContextManager[Any]:
        while self._acts:
            self._acts.pop()()
        return self._store.writing(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def other(opened: Callable[..., Bank], vault: Path) -> Bank:
    return opened("vaulted", vault=str(vault))


def synced_while(bank: Bank, act: Callable[[], object]) -> Synced:
    """Run a sync in which another caller acts between reading the memories and changing them."""
    store = bank.core.store
    bank.core.store = Interrupted(store, act)
    try:
        return bank.vault.sync()
    finally:
        bank.core.store = store


def test_same_part_changed_during_a_sync_is_a_conflict(bank: Bank, other: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    note = vault / NOTE
    edit(note, "all new APIs", "all APIs")
    synced = synced_while(bank, lambda: other.update(id, text="We chose tokens."))
    assert events(synced) == [(NOTE, "conflict")]
    assert synced.events[0].detail == "text; what the memory said is version 2"
    assert [one.text for one in bank.history(id)][-2:] == ["We chose tokens.", "We chose JWT for all APIs."]
    assert bank.vault.sync().memories == SAME
    # The same for a note that the bank did not know.
    said = note.read_text().replace("all APIs", "few APIs")
    note.unlink()
    bank.vault.sync()
    bank.update(id, status="active")
    note.write_text(said)
    synced = synced_while(bank, lambda: other.update(id, text="We chose both."))
    assert [event.what for event in synced.events] == ["found", "conflict"]
    assert [one.text for one in bank.history(id)][-2:] == ["We chose both.", "We chose JWT for few APIs."]
    assert bank.vault.sync().memories == SAME


def test_other_part_changed_during_a_sync_is_kept(bank: Bank, other: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    edit(vault / NOTE, JWT, "We chose JWT for all #apis.")
    synced = synced_while(bank, lambda: other.update(id, tags=["auth", "tokens"], title="Tokens"))
    assert events(synced) == [(NOTE, "edited")]
    memory = held(bank, id)
    assert (memory.title, memory.text) == ("Tokens", "We chose JWT for all #apis.")
    assert set(memory.tags) == {"auth", "tokens", "apis"}
    assert front(vault / NOTE)["title"] == "Tokens" and "tokens" in front(vault / NOTE)["tags"]
    assert bank.vault.sync().memories == SAME


def test_edited_note_of_memory_removed_during_sync_is_kept(bank: Bank, other: Bank, vault: Path) -> None:
    id = noted(bank)
    edit(vault / NOTE, "all new APIs", "all APIs")
    [problem] = synced_while(bank, lambda: other.remove(id)).problems
    assert "it was removed" in problem.reason
    assert bank.vault.sync().memories == {"kept": 1}
    assert "all APIs" in (vault / NOTE).read_text()


def test_second_sync_at_once_is_refused(bank: Bank, other: Bank, vault: Path) -> None:
    (vault / "One.md").write_text("One is a number.")
    bank.update(bank.remember(JWT).id, status="promoted")

    def meanwhile(done: int, whole: int) -> None:
        other.vault.sync(dry_run=True)
        for verb in (other.vault.sync, other.vault.promote):
            with pytest.raises(BusyError, match="another process is using the vault"):
                verb()

    assert bank.vault.sync(progress=meanwhile).memories == {"written": 1}
    assert len(list((vault / "Pieria").iterdir())) == 1
    assert bank.vault.sync().well


def test_note_deleted_during_a_sync_stops_no_other(bank: Bank, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [bank.remember(f"We chose {what}.", title=what).id for what in ("JWT", "CSV")]
    bank.vault.promote(ids)
    gone, stays = (vault / str(bank.vault.path_of(id)) for id in ids)
    for id in ids:
        bank.update(id, text="We chose neither.")
    real = os.stat

    def stat(path: Any, **how: Any) -> os.stat_result:
        if str(path) == str(gone):
            gone.unlink(missing_ok=True)
        return real(path, **how)

    monkeypatch.setattr(os, "stat", stat)
    synced = bank.vault.sync()
    [bad] = synced.problems
    assert bad.path == gone.relative_to(vault).as_posix()
    assert bad.reason.startswith("the note was changed just now")
    assert synced.memories["rewritten"] == 1
    assert "We chose neither." in stays.read_text()


def test_note_taken_at_once_by_its_owner_was_written(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder(vault, "Pieria")
    folder.settle()
    real = os.replace

    def taken(source: Any, target: Any) -> None:
        real(source, target)
        if Path(target).is_relative_to(vault):
            os.unlink(target)

    monkeypatch.setattr(os, "replace", taken)
    (vault / "Pieria").mkdir()
    (vault / "Pieria" / "Old.md").write_bytes(b"old")
    assert folder.create("Pieria/New.md", b"new").size == 3
    assert folder.replace("Pieria/Old.md", b"older", digest_of(b"old")).size == 5


def test_mode_of_new_notes_ignores_notes_that_go(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Going(list["os.DirEntry[str]"]):
        """The entries of a folder. Each file is deleted when its entry is read."""

        def __enter__(self) -> Iterator["os.DirEntry[str]"]:
            for entry in self:
                os.unlink(entry.path)
                yield entry

        def __exit__(self, *error: object) -> None:
            """Do nothing."""

    (vault / "Going.md").write_text("going")
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        return Going(real(path)) if str(path) == str(vault) else real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    Folder(vault, "Pieria").create("Pieria/New.md", b"new")
    assert (vault / "Pieria" / "New.md").stat().st_mode & 0o777 == 0o600


def test_process_forked_during_a_sync_does_not_keep_the_vault(bank: Bank, vault: Path) -> None:
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
