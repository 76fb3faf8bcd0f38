"""Looks into the vault before a search: what they take in, and what they say."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.bank.kept import held
from tests.contract.store_helpers import HandClock

from pieria import Bank
from pieria.store.files import alone
from pieria.vault.folder import Folder


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def bank(opened: Callable[..., Bank], vault: Path) -> Bank:
    return opened("vaulted", vault=str(vault))


def texts(bank: Bank, query: str) -> list[str]:
    return [hit.memory.text for hit in bank.recall(query)]


def test_recall_follows_a_synced_vault(bank: Bank, vault: Path, clock: HandClock) -> None:
    (vault / "Maya.md").write_text("Maya leads billing.")
    assert (texts(bank, "who leads billing?"), bank.vault.paths()) == ([], {})
    bank.vault.sync()
    (vault / "Maya.md").write_text("Maya leads sales.")
    (vault / "Omar.md").write_text("Omar leads billing.")
    clock.move(seconds=2)
    assert texts(bank, "who leads billing?")[:1] == ["Omar leads billing."]
    assert texts(bank, "who leads sales?")[:1] == ["Maya leads sales."]
    (vault / "Omar.md").unlink()
    assert "Omar leads billing." in texts(bank, "who leads billing?"), "there is one look a second"
    clock.move(seconds=2)
    assert "Omar leads billing." not in texts(bank, "who leads billing?")


def test_look_writes_no_note(bank: Bank, vault: Path, clock: HandClock) -> None:
    memory = bank.remember("We chose JWT.", title="JWT")
    bank.vault.promote(memory.id)
    bank.vault.sync()
    other = bank.remember("We chose SQLite.")
    bank.upkeep.promote(other.id)
    bank.touch(memory.id)
    [note] = vault.rglob("*.md")
    before = note.read_text()
    edited = before.replace("We chose JWT.", "We chose PASETO.")
    note.write_text(edited)
    clock.move(seconds=2)
    assert bank.vault.look() is None
    assert held(bank, memory.id).text == "We chose PASETO."
    assert (note.read_text(), list(vault.rglob("*.md"))) == (
        before.replace("We chose JWT.", "We chose PASETO."),
        [note],
    )
    note.unlink()
    clock.move(seconds=2)
    assert (bank.vault.look(), held(bank, memory.id).status) == (None, "archived")


AN_HOUR_AGO = time.time() - 3_600


@pytest.mark.parametrize(
    ("change", "then"),
    [
        (lambda vault: (vault / "team" / "Maya.md").write_text("Maya leads sales now."), ["Maya leads sales now."]),
        (lambda vault: (vault / "team" / "Maya.md").unlink(), []),
        (lambda vault: (vault / "team").rename(vault.parent / "gone"), []),
        (lambda vault: (vault / "team" / "Omar.md").write_text("Omar leads sales."), ["Omar leads sales."]),
    ],
    ids=["edited", "removed", "folder moved away", "written"],
)
def test_a_look_into_an_old_vault_sees_each_change(
    bank: Bank,
    vault: Path,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], object],
    then: list[str],
) -> None:
    (vault / "team").mkdir()
    (vault / "team" / "Maya.md").write_text("Maya leads billing.")
    for path in (vault / "team" / "Maya.md", vault / "team", vault):
        os.utime(path, (AN_HOUR_AGO, AN_HOUR_AGO))
    bank.vault.sync()
    clock.move(seconds=2)
    assert bank.vault.look() is None
    clock.move(seconds=2)
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "scan", lambda _: pytest.fail("nothing changed, so there is nothing to scan"))
        assert bank.vault.look() is None
    change(vault)
    clock.move(seconds=2)
    assert [text for text in texts(bank, "who leads sales?") if "sales" in text] == then
    assert ("Maya leads billing." in texts(bank, "who leads billing?")) == (then == ["Omar leads sales."])


def test_a_folder_that_can_be_read_again_is_seen(bank: Bank, vault: Path, clock: HandClock) -> None:
    """Neither its time nor those of its notes change with its rights."""
    (vault / "team").mkdir()
    (vault / "team" / "Maya.md").write_text("Maya leads billing.")
    for path in (vault / "team" / "Maya.md", vault / "team", vault):
        os.utime(path, (AN_HOUR_AGO, AN_HOUR_AGO))
    scandir, closed = os.scandir, {str(vault / "team")}

    def refused(path: Path) -> object:
        if str(path) in closed:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    with patch("pieria.vault.folder.os.scandir", refused):
        bank.vault.sync()
        clock.move(seconds=2)
        assert bank.vault.look() is None and texts(bank, "who leads billing?") == []
        closed.clear()
        clock.move(seconds=2)
        assert texts(bank, "who leads billing?") == ["Maya leads billing."]


def test_look_without_time_says_so_and_goes_on(bank: Bank, vault: Path, clock: HandClock) -> None:
    bank.vault.sync()
    for number in range(30):
        (vault / f"{number}.md").write_text(f"Note {number}.")
    said = []
    for _ in range(3):
        clock.move(seconds=2)
        said.append((bank.vault.look(seconds=0) or "").partition(" changed")[0])
    assert (said, len(bank.vault.paths())) == (["5", "", ""], 30)


def test_recall_says_why_the_vault_was_not_read(bank: Bank, vault: Path, clock: HandClock) -> None:
    bank.vault.sync()
    (vault / "Maya.md").write_text("Maya leads billing.")
    clock.move(seconds=2)
    with alone(bank.data / ".vaulted.vault", "vault", "another process is using the vault"):
        found = bank.recall("who leads billing?")
    assert "another process is using the vault" in found.plan["left_out"]["vault"]
    shutil.rmtree(vault)
    clock.move(seconds=2)
    assert "does not exist" in bank.recall("who leads billing?").plan["left_out"]["vault"]


def test_memory_promoted_elsewhere_adopts_its_note(bank: Bank, vault: Path, clock: HandClock) -> None:
    (vault / "STM").mkdir()
    note = vault / "STM" / "ralph.md"
    note.write_text("# ralph\n\nRalph runs billing.\n")
    bank.vault.sync()
    memory = bank.remember("Ralph runs billing.", meta={"promoted_to": "STM/ralph.md"})
    bank.update(memory.id, status="promoted")
    synced = bank.vault.sync()
    assert synced.notes == {"adopted": 1}
    assert bank.vault.paths() == {memory.id: "STM/ralph.md"}
    assert [one.text for one in bank.list()] == ["Ralph runs billing."]
    assert (bank.vault.sync().notes, list(vault.rglob("*.md"))) == ({"unchanged": 1}, [note])
    note.write_text("# ralph\n\nRalph runs sales.\n")
    clock.move(seconds=2)
    assert bank.vault.look() is None
    assert "Ralph runs sales." in held(bank, memory.id).text
