"""Opening banks: the file of a name, what banks on one file share, and that every setting has its effect."""

import gc
import os
import sqlite3
import subprocess
import sys
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bank.background_queue import rested
from tests.bank.fading_effects import OF_MNEMEX
from tests.bank.setting_effects import EFFECTS
from tests.bank.test_vectors import letters
from tests.waiting import soon

import pieria
from pieria import Bank, Workspace
from pieria.errors import ClosedError, ConfigError, ConflictError, InputError, Invalid, StorageError
from pieria.runtime.background import background
from pieria.settings import Settings
from pieria.workspace.folders import FileSpot
from pieria.workspace.open_stores import stores

__all__ = ["EFFECTS"]

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
OF_A_SERVER = {"user", "connections", "row_security", "local", "fetch_model"}


def is_held(path: Path) -> bool:
    return stores.hold(FileSpot(path.stem, path))


def texts(bank: Bank) -> set[str]:
    return {memory.text for memory in bank.list(limit=100)}


def held_texts(name: str, data: Path) -> set[str]:
    with pieria.open(name, data=data) as bank:
        return texts(bank)


IN_PROCESSES = {"embedder_threads"}


@pytest.mark.parametrize(
    "setting", [pytest.param(name, marks=pytest.mark.slow) if name in IN_PROCESSES else name for name in EFFECTS]
)
def test_setting_has_its_effect(setting: str, tmp_path: Path) -> None:
    seen, outcomes = EFFECTS[setting]
    found = {}
    for number, value in enumerate(outcomes):
        (folder := tmp_path / str(number)).mkdir()
        found[value] = seen(folder, value)
    assert found == outcomes


def test_every_setting_is_shown_to_have_an_effect() -> None:
    """Other tests show the settings that have an effect on a server or in a toolset alone."""
    assert set(Settings.model_fields) - set(EFFECTS) == OF_A_SERVER | OF_MNEMEX
    assert [name for name, (_, outcomes) in EFFECTS.items() if len(set(map(repr, outcomes.values()))) < 2] == []


def test_name_may_differ_in_case_and_accents(tmp_path: Path) -> None:
    with pieria.open("Größe", data=tmp_path) as bank:
        bank.remember("a word")
    for form in ("NFC", "NFD"):
        (tmp_path / "Größe.db").rename(tmp_path / unicodedata.normalize(form, "Größe.db"))
        with pieria.open("gRÖßE", data=tmp_path) as bank:
            assert (bank.name, texts(bank)) == ("Größe", {"a word"})
    assert Workspace(tmp_path).banks() == ["Größe"]


def test_two_files_that_differ_in_case_are_each_found(tmp_path: Path) -> None:
    for name in ("Notes", "other"):
        with pieria.open(name, data=tmp_path) as bank:
            bank.remember(name)
    (tmp_path / "other.db").rename(tmp_path / "notes.db")
    if len(list(tmp_path.glob("*.db"))) == 2:
        assert [held_texts(name, tmp_path) for name in ("Notes", "notes")] == [{"Notes"}, {"other"}]


def test_banks_are_listed_without_the_users_and_other_files(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    assert workspace.banks() == []
    for name in ("b", "a", "@me"):
        workspace.open(name).close()
    for name in ("pieria.toml", "a.before-schema-2.backup", ".hidden.db"):
        (tmp_path / "data" / name).write_text("")
    assert workspace.banks() == ["a", "b"]


def test_arguments_count_before_settings(tmp_path: Path) -> None:
    given: dict[str, Any] = {"author": "Maya", "author_type": "human", "session": "s1", "channel": "c1"}

    def spoken(bank: Bank) -> dict[str, Any]:
        memory = bank.remember("a word")
        return {name: getattr(memory, name) for name in given}

    settings = {"author": "Jun", "session": "s0"}
    with pieria.open("b", data=tmp_path, settings=settings, **given) as bank:
        assert spoken(bank) == given
    with Workspace(tmp_path, settings) as workspace:
        assert spoken(workspace.open("b", **given)) == given
        assert spoken(workspace.open("b")).items() >= settings.items()
    assert Workspace(tmp_path / "one", {"data": tmp_path / "two"}).data == tmp_path / "one"


def test_caller_clock_and_settings_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_SECRETS", "redact")
    pieria.open("Notes", data=tmp_path).close()
    with pieria.open("notes", data=tmp_path, who="gardener", session="s1", clock=lambda: NOW) as bank:
        memory = bank.remember("a word")
        assert (memory.at, memory.known_from) == (NOW, NOW)
        assert [change.who for change in bank.changes()] == ["gardener"]
        told = bank.doctor().settings
    assert set(told) == set(Settings.model_fields)
    assert (told["secrets"], told["session"]) == (("redact", "environment PIERIA_SECRETS"), ("s1", "argument"))
    assert (told["bank"], told["text_budget"]) == (("Notes", "argument"), (5_000, "default"))


BAD_NAMES: tuple[Any, ...] = ("../x", "a/b", "a\\b", "", "a\0", "dot.", "@you", "con", "x" * 101, 7)
BAD_VALUES: dict[str, list[Any]] = {
    "settings": [
        "x", ["secrets"], {"secret": "flag"}, {"no_such": 1}, {"secrets": "hide"}, {"busy_seconds": 1}
    ],
    "session": ["", "a\0"],
    "channel": ["x" * 501],
    "author": ["\ud800"],
    "author_type": ["robot"],
    "clock": ["noon", 5],
    "who": ["", " ", 5],
    "data": ["", "a\0b", 5, "mysql://db/notes"],
}  # fmt: skip
BAD_RESTORES: list[tuple[Any, dict[str, Any]]] = [("", {}), (7, {}), ("a\0b", {}), ("x.backup", {"replace": "yes"})]


def test_bad_arguments_are_refused_and_make_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    monkeypatch.setenv("PIERIA_DATA", str(data))
    for name in BAD_NAMES:
        for verb in (pieria.open, Workspace(data).open, lambda name: pieria.restore("some.backup", data, name=name)):
            with pytest.raises(InputError) as caught:
                verb(name)
            assert caught.value.parameter == "name"
    for parameter, values in BAD_VALUES.items():
        for value in values:
            with pytest.raises(Invalid, match=next(iter(value)) if isinstance(value, dict) else parameter):
                pieria.open("notes", **{parameter: value})
    for file, more in BAD_RESTORES:
        with pytest.raises(InputError):
            pieria.restore(file, data, name="notes", **more)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="data"):
        pieria.open("notes", data=tmp_path / "file")
    with pytest.raises(StorageError):
        pieria.open("notes", data=tmp_path / "file" / "below")
    (tmp_path / "pieria.toml").write_text("bnak = 1\n")
    with pytest.raises(ConfigError, match="bnak"):
        pieria.open("notes", data=tmp_path)
    assert not (tmp_path / "notes.db").exists()


def test_banks_on_one_file_share_a_store_until_all_are_closed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "data")
    path = tmp_path / "data" / "notes.db"
    one, two = pieria.open("notes", data=tmp_path / "data"), pieria.open("notes", data=tmp_path / "link")
    assert one.core.store is two.core.store
    with pieria.open("notes", data=tmp_path / "data", settings={"durability": "relaxed"}) as relaxed:
        assert relaxed.core.store is not one.core.store
        relaxed.remember("a relaxed word")
        assert texts(one) == {"a relaxed word"}
    one.close()
    one.close()
    with pytest.raises(ClosedError):
        one.remember("a word")
    assert is_held(path)
    two.remember("a word")
    two.close()
    assert not is_held(path)
    assert not path.with_name("notes.db-wal").exists()
    assert held_texts("notes", tmp_path / "data") == {"a word", "a relaxed word"}


def test_workspace_closes_its_banks_and_opens_no_more(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        one, two = workspace.open("one"), workspace.open("two")
        two.close()
        bank = workspace.open("notes")
        bank.remember("of the user", scope="user")
        assert is_held(tmp_path / "@me.db")
        bank.close()
        assert not is_held(tmp_path / "@me.db")
    workspace.close()
    for bank in (one, two):
        with pytest.raises(ClosedError):
            bank.remember("a word")
    with pytest.raises(ClosedError, match="workspace is closed"):
        workspace.open("one")
    assert not is_held(tmp_path / "one.db")


def test_workspace_closed_during_an_opening_opens_nothing(tmp_path: Path) -> None:
    def clock() -> datetime:
        workspace.close()
        return NOW

    workspace = Workspace(tmp_path, clock=clock)
    with pytest.raises(ClosedError, match="workspace is closed"):
        workspace.open("notes")
    assert not is_held(tmp_path / "notes.db")


def test_two_openings_at_once_share_a_store(tmp_path: Path) -> None:
    during: list[Bank] = []
    asked: list[bool] = []

    def clock() -> datetime:
        if not asked:
            asked.append(True)
            during.append(workspace.open("notes"))
        return NOW

    with Workspace(tmp_path, clock=clock) as workspace:
        bank = workspace.open("notes")
        assert during[0].core.store is bank.core.store
        during[0].close()
        bank.remember("a word")
    assert not is_held(tmp_path / "notes.db")


def test_dropped_bank_gives_its_store_back(tmp_path: Path, few_objects: None) -> None:
    """Garbage collection can run anywhere: here, under the lock that the background thread needs."""
    workspace = Workspace(tmp_path, embedder=letters)
    bank = workspace.open("notes")
    bank.remember_many([{"text": "a word"}])
    bank.remember("about the user", scope="user")
    assert is_held(tmp_path / "@me.db")
    with background._lock:
        del bank
        gc.collect()
        assert is_held(tmp_path / "notes.db")
    soon(lambda: not is_held(tmp_path / "notes.db") and not is_held(tmp_path / "@me.db"))


def test_starting_thread_may_find_that_a_bank_was_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The starting thread waits for the new one, so it must hold no lock that the new one needs."""
    rested()
    begin = threading.Thread.start
    free: list[bool] = []

    def found() -> None:
        free.append(background._lock.acquire(timeout=5))
        if free[-1]:
            background._lock.release()

    def start(thread: threading.Thread) -> None:
        if thread.name == "pieria-background":
            other = threading.Thread(target=found)
            begin(other)
            other.join()
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with Workspace(tmp_path, embedder=letters) as workspace:
        workspace.open("notes").remember("a word")
        soon(lambda: bool(free))
    assert free and all(free)


def test_bank_that_cannot_be_opened_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("this is a letter and no database, " * 100)
    pieria.open("torn", data=tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "torn.db")) as connection:
        connection.execute("DROP TABLE counter")
    for name in ("notes", "torn"):
        with pytest.raises(StorageError):
            pieria.open(name, data=tmp_path)
        assert not is_held(tmp_path / f"{name}.db")


def test_file_replaced_under_an_open_bank_is_opened_anew(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as before:
        before.remember("before")
        for path in tmp_path.iterdir():
            path.unlink()
        with pieria.open("notes", data=tmp_path) as after:
            after.remember("after")
        before.close()
        assert held_texts("notes", tmp_path) == {"after"}


def test_threads_may_open_and_close_one_bank(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for step in range(4):
            with pieria.open("notes", data=tmp_path) as bank:
                bank.remember(f"word {number} {step}", scope="user" if step % 2 else "bank")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for name, steps in (("notes", (0, 2)), ("@me", (1, 3))):
        assert not is_held(tmp_path / f"{name}.db")
        assert held_texts(name, tmp_path) == {f"word {number} {step}" for number in range(8) for step in steps}


ENDING = """
import gc, pieria
kept, dropped = pieria.open("kept"), pieria.open("dropped")
kept.remember("a word")
dropped.core.uses.note([dropped.remember("a word", id="word").id])
del dropped
gc.collect()
"""
FORK = """
import os, sys, pieria
bank = pieria.open("notes")
bank.remember("by the parent", scope="user")
dropped = pieria.open("dropped")
child = os.fork()
if child == 0:
    del dropped
    with pieria.open("notes") as own:
        own.remember("by the child", scope="user")
    with bank:
        sys.exit("as any other")
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert status == 1, status
bank.remember("by the parent, later")
dropped.remember("still open")
memories = [*bank.list(), *pieria.open("@me").list()]
print(*sorted(memory.text for memory in memories), sep="|")
"""


def test_banks_are_closed_at_the_end_of_a_process(tmp_path: Path) -> None:
    environment = {**os.environ, "PIERIA_DATA": str(tmp_path)}
    subprocess.run([sys.executable, "-W", "error", "-c", ENDING], check=True, env=environment, timeout=60)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{name}.db{end}" for name in ("kept", "dropped") for end in ("", "-turn")}
    with pieria.open("dropped", data=tmp_path) as bank:
        assert bank.usage("word")["word"].accesses == 1
    command = [sys.executable, "-W", "ignore", "-c", FORK]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "as any other\n"
    assert done.stdout.strip() == "by the child|by the parent|by the parent, later"


def test_bank_of_the_user_is_made_when_needed_and_found(tmp_path: Path) -> None:
    now = [NOW]
    values: dict[str, Any] = {"author": "Maya", "session": "s1", "who": "gardener", "clock": lambda: now[0]}
    with pieria.open("notes", data=tmp_path, **values) as bank, pieria.open("late", data=tmp_path) as late:
        bank.remember("of the project")
        bank.recall("project")
        assert list(late.recall("user")) == []
        assert not (tmp_path / "@me.db").exists()
        now[0] += timedelta(days=1)
        memory = bank.remember("of the user", scope="user")
        assert (memory.author, memory.session, memory.at) == ("Maya", "s1", now[0])
        assert [hit.memory.text for hit in late.recall("user project")] == ["of the user"]
    assert not is_held(tmp_path / "@me.db")
    with pieria.open("@me", data=tmp_path) as own:
        assert [change.who for change in own.changes()] == ["gardener"]


def test_backup_is_restored_under_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("before")
        backup = bank.backup(tmp_path / "kept.backup")
        bank.remember("after")
        with pytest.raises(ConflictError, match="open in this process"):
            pieria.restore(backup, tmp_path, name="NOTES", replace=True)
    with pytest.raises(ConflictError, match="exists already"):
        pieria.restore(backup, tmp_path, name="NOTES")
    pieria.restore(str(backup), tmp_path, name="NOTES", replace=True)
    assert (Workspace(tmp_path).banks(), held_texts("notes", tmp_path)) == (["notes"], {"before"})
    monkeypatch.setenv("PIERIA_BANK", "chosen")
    assert pieria.restore(backup, tmp_path / "elsewhere").bank == "chosen"
    assert held_texts("chosen", tmp_path / "elsewhere") == {"before"}
