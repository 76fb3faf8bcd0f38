"""A sealed bank: no file holds a word of it, each changed byte is noticed, and a kill leaves it old or new."""

import json
import os
import random
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import working
from tests.durability.sealing import KEY, OTHER, key_in, opened
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
FLIPS = 200


@pytest.fixture
def place(tmp_path: Path) -> str:
    return key_in(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def plain(data: Path) -> None:
    with opened(data, None) as bank:
        fill(bank, 50)
        bank.remember(TEXT, id="one")
    assert holding(data, WORDS)


def told(bank: Bank) -> str | None:
    memory = bank.get("one")
    return None if memory is None else memory.text


def test_no_file_holds_a_word(data: Path, place: str) -> None:
    with opened(data, place) as bank:
        fill(bank, 50)
        bank.remember(TEXT, id="one")
        bank.backup(data / "copy.backup")
        assert (data / "notes.db-wal").stat().st_size > 0
        assert holding(data, WORDS) == set()
        assert bank.doctor().well
    assert holding(data, WORDS) == set()


def test_a_plain_bank_is_sealed_and_made_plain_again(data: Path, place: str) -> None:
    plain(data)
    report = pieria.seal("notes", data=data, settings={"seal_key": place})
    assert (report.sealed, report.key, report.unreached) == (True, place, ())
    assert holding(data, WORDS) == set()
    with opened(data, place) as bank:
        assert told(bank) == TEXT
        assert [hit.memory.id for hit in bank.recall("zephyrquokka")] == ["one"]
        assert bank.doctor().well
    pieria.unseal("notes", data=data, settings={"seal_key": place})
    with opened(data, None) as bank:
        assert told(bank) == TEXT


def test_what_is_still_in_plain_is_named(data: Path, place: str) -> None:
    plain(data)
    with opened(data, None) as bank:
        bank.backup(data / "copy.backup")
    report = pieria.seal("notes", data=data, settings={"seal_key": place})
    assert report.unreached == ("backup copy.backup",)


def test_another_key_opens_it_from_then_on(data: Path, tmp_path: Path, place: str) -> None:
    with opened(data, place) as bank:
        bank.remember(TEXT, id="one")
    other = key_in(tmp_path, OTHER, "other")
    pieria.rekey("notes", to=other, data=data, settings={"seal_key": place})
    with pytest.raises(SealedError, match="does not open"):
        opened(data, place)
    with opened(data, other) as bank:
        assert told(bank) == TEXT


@pytest.mark.parametrize("given", [None, "absent", "another", "no key"])
def test_without_its_key_it_stays_closed_and_says_so(data: Path, tmp_path: Path, place: str, given: str | None) -> None:
    with opened(data, place) as bank:
        bank.remember(TEXT)
    places = {
        "absent": f"file:{tmp_path / 'nothing'}",
        "another": key_in(tmp_path, OTHER, "another"),
        "no key": key_in(tmp_path, "hunter2", "no key"),
    }
    before = (data / "notes.db").read_bytes()
    with pytest.raises(SealedError) as refused:
        opened(data, None if given is None else places[given])
    assert refused.value.hint
    assert (data / "notes.db").read_bytes() == before


def test_a_key_that_others_may_read_is_refused(data: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(SealedError, match="other users may read"):
        opened(data, place)


def test_no_changed_byte_goes_unnoticed(data: Path, place: str) -> None:
    """A changed byte raises an error or changes no answer."""
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


def test_backups_are_sealed_and_come_back(data: Path, place: str) -> None:
    with opened(data, place) as bank:
        bank.remember(TEXT, id="one")
        copied = bank.backup(data / "copy.backup")
    assert is_sealed(copied)
    with pytest.raises(SealedError):
        pieria.restore(copied, data, name="again")
    assert not (data / "again.db").exists()
    os.environ["PIERIA_SEAL_KEY"] = place
    try:
        pieria.restore(copied, data, name="again")
    finally:
        del os.environ["PIERIA_SEAL_KEY"]
    with opened(data, place, "again") as bank:
        assert told(bank) == TEXT


def test_a_plain_backup_comes_back_sealed(data: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain(data)
    with opened(data, None) as bank:
        copied = bank.backup(data.parent / "copy.backup")
    monkeypatch.setenv("PIERIA_SEAL_KEY", place)
    pieria.restore(copied, data, name="again")
    assert is_sealed(data / "again.db")
    with opened(data, place, "again") as bank:
        assert told(bank) == TEXT


def test_a_purge_leaves_no_page_behind(data: Path, place: str) -> None:
    with opened(data, place) as bank:
        fill(bank, 100)
        bank.remember(TEXT, id="one")
        assert bank.purge("one").unreached == ()
        assert bank.doctor().well
    pieria.unseal("notes", data=data, settings={"seal_key": place})
    assert holding(data, WORDS) == set()


@pytest.mark.parametrize("step", ["write_anew", "replace", "_wipe", "after"])
def test_a_crash_while_it_is_sealed_leaves_one_whole_bank_and_no_word_for_long(
    data: Path, place: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(data)
    child = os.fork()
    if child == 0:
        die_at(step, monkeypatch)
        pieria.seal("notes", data=data, settings={"seal_key": place})
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with opened(data, place) as bank:
        assert told(bank) == TEXT
        assert bank.doctor().well
    if is_sealed(data / "notes.db"):
        assert step in ("_wipe", "after")
        assert holding(data, WORDS) == set()
    else:
        pieria.seal("notes", data=data, settings={"seal_key": place})
        assert holding(data, WORDS) == set()


def test_a_crash_while_it_is_made_plain_leaves_no_word(data: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(data, place) as bank:
        bank.remember(TEXT, id="one")
    child = os.fork()
    if child == 0:
        die_at("replace", monkeypatch)
        pieria.unseal("notes", data=data, settings={"seal_key": place})
        os._exit(3)
    os.waitpid(child, 0)
    assert holding(data, WORDS)
    with opened(data, place) as bank:
        assert told(bank) == TEXT
    assert holding(data, WORDS) == set()


def die_at(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the process exit at this step without cleanup, as after a power cut or `kill -9`."""

    def end(*_: object, **__: object) -> None:
        os._exit(9)

    if step == "write_anew":
        monkeypatch.setattr(converting, "_compare", end)
    elif step == "replace":
        monkeypatch.setattr(os, "replace", end)
    elif step == "_wipe":
        monkeypatch.setattr(converting, "_wipe", end)
    else:
        wipe = converting._wipe

        def wipe_and_end(path: Path) -> None:
            wipe(path)
            end()

        monkeypatch.setattr(converting, "_wipe", wipe_and_end)


def write_until_killed(pipe: Connection, data: str, place: str) -> None:
    with opened(Path(data), place) as bank:
        number = 0
        while True:
            pipe.send(bank.remember(f"brindlewolf {number}").id)
            number += 1


def test_nothing_acknowledged_is_lost_when_writers_are_killed(data: Path, place: str) -> None:
    said: set[str] = set()
    for _ in range(5):
        with working(write_until_killed, str(data), place) as writer:
            for _ in range(20):
                said.add(str(writer.receive()))
            writer.process.kill()
        assert holding(data, ["brindlewolf"]) == set()
    with opened(data, place) as bank:
        assert said <= {memory.id for memory in bank.list(limit=10_000)}
        assert bank.doctor().well


def test_what_a_hook_writes_is_sealed_until_it_is_handed_over(data: Path, place: str) -> None:
    opened(data, place, "default").close()
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/", "prompt": TEXT, "prompt_id": "p"}
    spool = data / "spool"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK / "hook.py"), "claude-code", str(spool)],
        input=json.dumps(payload).encode(), env={"HOME": str(data.parent)}, check=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert (spool / "events.jsonl").stat().st_size > 0
    assert holding(data, WORDS) == set()
    with Workspace(data) as workspace, pytest.raises(SealedError):
        Drain(workspace).drain()
    with Workspace(data, {"seal_key": place}) as workspace:
        assert Drain(workspace).drain().turns == 1
    assert holding(data, WORDS) == set()
    with opened(data, place, "default") as bank:
        assert [memory.text for memory in bank.list(kinds="turn")] == [TEXT]


def test_places_of_keys(tmp_path: Path) -> None:
    expected = bytes.fromhex(KEY)
    assert seal_at("env:NAME", {"NAME": KEY}).key() == expected
    assert seal_at(f"command:printf {KEY}", {"PATH": os.environ["PATH"]}).key() == expected
    with pytest.raises(SealedError, match="gave no key"):
        seal_at("command:false", {"PATH": os.environ["PATH"]}).key()
    assert KEY not in repr(seal_at("env:NAME", {"NAME": KEY}))
