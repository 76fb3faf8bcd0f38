"""A sealed bank: no file holds a word of it, each changed byte is noticed, and a kill leaves it old or new."""

import itertools
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import keyring
import pytest
from tests.durability.processes import killed
from tests.durability.test_purge import TEXT, WORDS, fill, holding

import pieria
from pieria.bank import Bank
from pieria.capture.drain import Drain
from pieria.errors import PieriaError, SealedError
from pieria.store.sqlite import conversion as converting
from pieria.store.sqlite.seal_driver import is_sealed
from pieria.workspace import Workspace
from pieria.workspace.seal_keys import seal_at

HOOK = Path(pieria.__file__).parent / "capture"
KEY, OTHER = "ab" * 32, "cd" * 32
FLIPS = 40
LONG = [word for word in WORDS if len(word) > 7]
"""Encrypted pages hold any four letters sooner or later."""


def key_in(folder: Path, key: str = KEY, name: str = "key") -> str:
    """Write a key to a file. Return its location in the form of the setting."""
    path = folder / name
    path.touch(mode=0o600)
    path.write_text(key)
    return f"file:{path}"


def opened(data: Path, place: str | None, name: str = "notes") -> Bank:
    return pieria.open(name, data=data, settings={"seal_key": place} if place else {})


@pytest.fixture
def place(tmp_path: Path) -> str:
    return key_in(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def filled(data: Path, place: str | None) -> None:
    with opened(data, place) as bank:
        fill(bank, 50)
        bank.remember(TEXT, id="one")


def check_whole(data: Path, place: str | None, name: str = "notes") -> None:
    with opened(data, place, name) as bank:
        memory = bank.get("one")
        assert memory is not None
        assert memory.text == TEXT
        assert bank.doctor().well


def test_no_file_holds_a_word_of_a_sealed_bank(data: Path, place: str) -> None:
    filled(data, place)
    with opened(data, place) as bank:
        bank.backup(data / "copy.backup")
        bank.pin("one")
        assert (data / "notes.db-wal").stat().st_size > 0
        assert holding(data, LONG) == set()
        assert bank.doctor().well
    assert holding(data, LONG) == set()


def test_plain_bank_is_sealed_and_made_plain_again(data: Path, place: str) -> None:
    filled(data, None)
    assert holding(data, LONG)
    with opened(data, None) as bank:
        copied = bank.backup(data / "copy.backup")
    report = pieria.seal("notes", data=data, settings={"seal_key": place})
    assert (report.sealed, report.key, report.unreached) == (True, place, ("backup copy.backup",))
    copied.unlink()
    assert holding(data, LONG) == set()
    check_whole(data, place)
    with opened(data, place) as bank:
        assert [hit.memory.id for hit in bank.recall("zephyrquokka", k=1)] == ["one"]
    pieria.unseal("notes", data=data, settings={"seal_key": place})
    check_whole(data, None)


def test_purge_in_a_sealed_bank_leaves_no_page(data: Path, place: str) -> None:
    filled(data, place)
    with opened(data, place) as bank:
        assert bank.purge("one").unreached == ()
        assert bank.doctor().well
    pieria.unseal("notes", data=data, settings={"seal_key": place})
    assert holding(data, LONG) == set()


def test_hook_output_is_sealed_until_it_is_drained(data: Path, place: str) -> None:
    opened(data, place, "default").close()
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/", "prompt": TEXT, "prompt_id": "p"}
    spool = data / "spool"
    subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK / "hook.py"), "claude-code", str(spool)],
        input=json.dumps(payload).encode(), env={"HOME": str(data.parent)}, check=True,
    )  # fmt: skip
    assert (spool / "events.jsonl").stat().st_size > 0
    assert holding(data, LONG) == set()
    with Workspace(data) as workspace, pytest.raises(SealedError):
        Drain(workspace).drain()
    with Workspace(data, {"seal_key": place}) as workspace:
        assert Drain(workspace).drain().turns == 1
    assert holding(data, LONG) == set()
    with opened(data, place, "default") as bank:
        assert [memory.text for memory in bank.list(kinds="turn")] == [TEXT]


def test_another_key_opens_a_rekeyed_bank(data: Path, tmp_path: Path, place: str) -> None:
    filled(data, place)
    other = key_in(tmp_path, OTHER, "other")
    pieria.rekey("notes", to=other, data=data, settings={"seal_key": place})
    with pytest.raises(SealedError, match="does not open"):
        opened(data, place)
    check_whole(data, other)


def test_sealed_bank_stays_closed_without_its_key(data: Path, tmp_path: Path, place: str) -> None:
    opened(data, place).close()
    before = (data / "notes.db").read_bytes()
    given = (
        None, f"file:{tmp_path / 'nothing'}", key_in(tmp_path, OTHER, "another"), key_in(tmp_path, "hunter2", "no key"),
    )  # fmt: skip
    for key in given:
        with pytest.raises(SealedError) as refused:
            opened(data, key)
        assert refused.value.hint
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(SealedError, match="other users may read"):
        opened(data, place)
    assert (data / "notes.db").read_bytes() == before


def test_key_comes_from_the_environment_or_a_command() -> None:
    path = {"PATH": os.environ["PATH"]}
    for place, environment in (("env:NAME", {"NAME": KEY}), (f"command:printf {KEY}", path)):
        assert seal_at(place, environment).key() == bytes.fromhex(KEY)
    with pytest.raises(SealedError, match="gave no key"):
        seal_at("command:false", path).key()
    assert KEY not in repr(seal_at("env:NAME", {"NAME": KEY}))


def test_keyring_key_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No test uses the machine's keyring.
    ring: dict[tuple[str, str], str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda *entry: ring.get(entry))
    monkeypatch.setattr(keyring, "set_password", lambda service, name, key: ring.update({(service, name): key}))
    opened(tmp_path, None).close()
    with pytest.raises(SealedError, match="no key was found"):
        opened(tmp_path, "keyring:", "other")
    report = pieria.seal("notes", data=tmp_path, settings={"seal_key": "keyring:"})
    assert (report.key_made, report.key, [*ring]) == (True, "keyring:default", [("pieria", "default")])
    opened(tmp_path, "keyring:").close()
    ring.clear()
    with pytest.raises(SealedError, match="no key was found"):
        opened(tmp_path, "keyring:")


@pytest.mark.parametrize("is_plain", [True, False])
def test_backup_is_sealed_when_restored(
    data: Path, place: str, monkeypatch: pytest.MonkeyPatch, is_plain: bool
) -> None:
    key = None if is_plain else place
    filled(data, key)
    with opened(data, key) as bank:
        copied = bank.backup(data / "copy.backup")
    assert is_sealed(copied) != is_plain
    if not is_plain:
        with pytest.raises(SealedError):
            pieria.restore(copied, data, name="again")
        assert not (data / "again.db").exists()
    monkeypatch.setenv("PIERIA_SEAL_KEY", place)
    pieria.restore(copied, data, name="again")
    assert is_sealed(data / "again.db")
    check_whole(data, place, "again")


@pytest.mark.slow
def test_no_changed_byte_of_a_sealed_bank_goes_unnoticed(data: Path, place: str) -> None:
    chance = random.Random(7)
    with opened(data, place) as bank:
        fill(bank, 200)
        texts = {memory.id: memory.text for memory in bank.list(limit=1_000)}
    file = data / "notes.db"
    whole = file.read_bytes()
    noticed = 0
    for _ in range(FLIPS):
        at = chance.randrange(len(whole))
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        try:
            with opened(data, place) as bank:
                found = {memory.id: memory.text for memory in bank.list(limit=1_000)}
                well = bank.doctor().well
        except PieriaError:
            noticed += 1
        else:
            noticed += not well
            assert found == texts
    assert noticed > FLIPS * 0.9


def end(*_: object, **__: object) -> None:
    """Exit without cleanup, as after a power cut or `kill -9`."""
    os._exit(9)


def wipe_and_end(path: Path, wipe: Callable[[Path], None] = converting._wipe) -> None:
    wipe(path)
    end()


def died_at(step: tuple[object, str, Callable[..., None]], convert: Callable[..., object], data: Path, key: str) -> int:
    """Convert the bank in a fork that dies at this step. Return its exit code."""
    child = os.fork()
    if child == 0:
        pytest.MonkeyPatch().setattr(*step)
        convert("notes", data=data, settings={"seal_key": key})
        os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


STEPS = [
    ((converting, "_compare", end), False), ((os, "replace", end), False),
    ((converting, "_wipe", end), True), ((converting, "_wipe", wipe_and_end), True),
]  # fmt: skip
"""Steps of sealing at which a process dies, and whether the bank is sealed by then."""


@pytest.mark.slow
@pytest.mark.parametrize(("step", "is_new"), STEPS, ids=["write", "replace", "wipe", "after"])
def test_killed_sealing_leaves_one_whole_bank(
    data: Path, place: str, step: tuple[object, str, Callable[..., None]], is_new: bool
) -> None:
    filled(data, None)
    assert died_at(step, pieria.seal, data, place) == 9
    check_whole(data, place)
    assert is_sealed(data / "notes.db") == is_new
    if not is_new:
        pieria.seal("notes", data=data, settings={"seal_key": place})
    assert holding(data, LONG) == set()


def test_killed_unsealing_leaves_no_word(data: Path, place: str) -> None:
    filled(data, place)
    assert died_at((os, "replace", end), pieria.unseal, data, place) == 9
    assert holding(data, LONG)
    check_whole(data, place)
    assert holding(data, LONG) == set()


def write_until_killed(pipe: Connection, data: str, place: str) -> None:
    with opened(Path(data), place) as bank:
        for number in itertools.count():
            pipe.send(bank.remember(f"brindlewolf {number}").id)


@pytest.mark.slow
def test_killed_writers_of_a_sealed_bank_lose_nothing(data: Path, place: str) -> None:
    said: set[str] = set()
    for _ in range(3):
        said.update(killed(write_until_killed, str(data), place, after=20))
        assert holding(data, ["brindlewolf"]) == set()
    with opened(data, place) as bank:
        assert said <= {memory.id for memory in bank.list(limit=10_000)}
        assert bank.doctor().well
