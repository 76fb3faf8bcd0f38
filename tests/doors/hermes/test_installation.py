"""How Hermes finds the provider: by the entry point, or by the folder that `pieria hermes install` writes."""

import builtins
import errno
import json
import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tests.cli.conftest import ask
from tests.doors.hermes.conftest import Begin
from tests.doors.hermes.host import MemoryProvider, provider_in, registered, within_hermes

from pieria.hermes.install import install, plugin
from pieria.hermes.options import options_in

__all__ = ["ask"]
PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
Ask = Any


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def live(begin: Begin, provider: Any) -> None:
    agent = begin(provider=provider)
    agent.turn("My dog is called Biscuit.", "Noted.")
    agent.leave()


def test_hermes_finds_the_provider_by_entry_point_or_folder(ask: Ask, begin: Begin, hermes_home: Path) -> None:
    [(name, value)] = PROJECT["project"]["entry-points"]["hermes_agent.memory_providers"].items()
    point = EntryPoint(name, value, "hermes_agent.memory_providers")
    assert registered(point.load()).name == name == "pieria"
    with within_hermes():
        found = registered(point.load())
    assert isinstance(found, MemoryProvider) and found.a_hook_of_a_later_version() == "as Hermes does it"
    live(begin, found)
    written = ask("hermes", "install").json
    folder = hermes_home / "plugins" / "pieria"
    assert (written["folder"], written["was"]) == (str(folder), "missing")
    assert set(files(folder)) == {"__init__.py", "plugin.yaml"}
    assert "name: pieria\n" in files(folder)["plugin.yaml"]
    live(begin, provider_in(hermes_home, "pieria"))


def test_a_hermes_without_pieria_is_told_why(ask: Ask, hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("hermes", "install").code == 0
    real = builtins.__import__

    def without_pieria(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "pieria":
            raise ModuleNotFoundError("No module named 'pieria'")
        return real(name, *args, **kwargs)

    with within_hermes(), monkeypatch.context() as without:
        without.setattr(builtins, "__import__", without_pieria)
        found = provider_in(hermes_home, "pieria")
    assert isinstance(found, MemoryProvider) and found.is_available() is False
    assert "No module named 'pieria'" in found.unavailable_reason() and found.get_tool_schemas() == []
    with pytest.raises(RuntimeError, match="cannot be imported"):
        found.initialize("s")


def test_a_second_install_updates_an_old_one(ask: Ask, hermes_home: Path) -> None:
    assert ask("hermes", "install", "--dry-run", "--bank", "team").json["dry_run"] is True
    assert list(hermes_home.iterdir()) == []
    folder = hermes_home / "plugins" / "pieria"
    assert ask("hermes", "install").code == 0
    new = files(folder)
    assert ask("hermes", "uninstall", "--dry-run").json["was"] == "installed"
    assert ask("hermes", "install").json["was"] == "installed"
    (folder / "plugin.yaml").write_text(new["plugin.yaml"].replace("version: ", "version: 0."))
    assert ask("hermes", "status").json["state"] == "outdated"
    assert ask("hermes", "install").json["was"] == "outdated" and files(folder) == new


def test_a_full_disk_leaves_nothing_in_the_next_ones_way(
    ask: Ask, hermes_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.write_text

    def full(path: Path, text: str, *how: Any, **more: Any) -> int:
        if "__init__.py" in path.name:
            real(path, text[:10], *how, **more)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, text, *how, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        assert "No space left" in ask("hermes", "install").err
    assert ask("hermes", "install").code == 0
    assert sorted(path.name for path in (hermes_home / "plugins").iterdir()) == ["pieria"]
    assert sorted(files(hermes_home / "plugins" / "pieria")) == ["__init__.py", "plugin.yaml"]


def test_two_installs_at_once_succeed(hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, both = os.replace, Barrier(2)

    def at_once(source: Path, target: Path) -> None:
        both.wait(60)
        real(source, target)

    with monkeypatch.context() as patched, ThreadPoolExecutor(2) as threads:
        patched.setattr(os, "replace", at_once)
        installed = [threads.submit(install, hermes_home) for _ in range(2)]
        assert [each.result().state for each in installed] == ["missing", "missing"]
    assert plugin(hermes_home).state == "installed"
    assert [path.name for path in (hermes_home / "plugins").iterdir()] == ["pieria"]


def test_files_of_others_are_left_alone(ask: Ask, hermes_home: Path) -> None:
    folder = hermes_home / "plugins" / "pieria"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("mine")
    for command in ("install", "uninstall"):
        refused = ask("hermes", command)
        assert refused.code == 1 and "did not write" in refused.err
    assert ask("hermes", "status").json["state"] == "foreign" and files(folder) == {"__init__.py": "mine"}


def test_uninstall_leaves_options_and_files_of_others(ask: Ask, hermes_home: Path) -> None:
    ask("hermes", "install", "--bank", "team")
    folder = hermes_home / "plugins" / "pieria"
    (folder / "__pycache__").mkdir()
    assert ask("hermes", "uninstall").json["was"] == "installed" and not folder.exists()
    assert ask("hermes", "uninstall").json["was"] == "missing" and options_in(hermes_home).bank == "team"
    ask("hermes", "install")
    (folder / "notes.txt").write_text("mine")
    assert ask("hermes", "uninstall").code == 0 and files(folder) == {"notes.txt": "mine"}


def test_status_says_which_bank_and_which_options(ask: Ask, hermes_home: Path, tmp_path: Path) -> None:
    assert ask("hermes", "status").json["state"] == "missing"
    ask("hermes", "install", "--home", str(tmp_path), "--bank", "team", "--data", str(tmp_path / "banks"))
    status = ask("hermes", "status", "--home", str(tmp_path)).json
    assert (status["state"], status["bank"]) == ("installed", "team")
    assert status["options"]["data"] == str(tmp_path / "banks")
    assert ask("hermes", "status", "--no-json", "--home", str(tmp_path)).out.startswith("installed")
    assert list(hermes_home.iterdir()) == []


def test_status_lists_all_wrong_options(ask: Ask, hermes_home: Path) -> None:
    ask("hermes", "install")
    options = {"bnk": "x", "prefetch_ms": "soon", "tools": ["mnemosyne_recal"]}
    (hermes_home / "pieria.json").write_text(json.dumps(options))
    answer = ask("hermes", "status")
    status = json.loads(answer.out)
    assert (answer.code, status["state"], status["bank"], status["options"]) == (1, "installed", None, None)
    hints = ["Did you mean bank?", None, "Did you mean mnemosyne_recall?"]
    assert [problem["hint"] for problem in status["problems"]] == hints
    said = " ".join(ask("hermes", "status", "--no-json").out.split())
    assert said.startswith("installed") and said.count("wrong: ") == 3
    assert "unknown option 'bnk' Did you mean bank?" in said
    (hermes_home / "pieria.json").write_text("{")
    assert "not valid JSON" in ask("hermes", "status").out


def test_refused_installs_write_nothing(ask: Ask, hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("hermes", "install", "--bank", "a/b").code == 2
    nowhere, file = hermes_home / "nowhere", hermes_home / "file"
    monkeypatch.setenv("HERMES_HOME", str(nowhere))
    for more in ([], ["--dry-run"], ["--bank", "team"]):
        refused = ask("hermes", "install", *more)
        assert refused.code == 2 and f"Hermes was not found at {nowhere}; is HERMES_HOME right?" in refused.err
        assert f"pieria hermes install --home {nowhere}" in refused.err
    assert list(hermes_home.iterdir()) == []
    assert ask("hermes", "install", "--home", str(nowhere)).json["was"] == "missing"
    assert ask("hermes", "status").json["state"] == "installed"
    file.write_text("no folder")
    failed = ask("hermes", "install", "--home", str(file))
    assert failed.code == 3 and "cannot be written" in failed.err
