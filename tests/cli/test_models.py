"""`pieria models`: installed models are listed and checked, and a bank moves to another embedder."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask

import pieria

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
NAME = "all-MiniLM-L6-v2"


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "models"


def test_models_are_listed_for_programs_and_people(ask: Ask, folder: Path, terminal: Callable[..., Answer]) -> None:
    listed = ask("models", "list").json
    [model] = listed["models"]
    assert listed["folder"] == str(folder)
    assert (model["name"], model["state"], model["dimension"]) == (NAME, "missing", 384)
    assert not folder.exists()
    told = terminal("models", "list", env={"PIERIA_MODELS": str(INSTALLED), "NO_COLOR": "1"}, width=140)
    assert told.code == 0
    assert all(part in told.out for part in (NAME, "installed", "Apache-2.0"))


def test_model_is_installed_from_a_folder_and_verified(ask: Ask, folder: Path) -> None:
    answer = ask("models", "verify")
    assert (answer.code, json.loads(answer.out)["state"]) == (1, "missing")
    first, again = (ask("models", "install", "--from", str(INSTALLED / NAME)).json for _ in range(2))
    assert (first["state"], first["fetched"], first["path"]) == ("installed", True, str(folder / NAME))
    assert (again["state"], again["fetched"]) == ("installed", False)
    assert ask("models", "list").json["models"][0]["state"] == "installed"
    assert ask("models", "verify").json["state"] == "installed"
    (folder / NAME / "config.json").write_text("{}")
    damaged = ask("models", "verify")
    [problem] = json.loads(damaged.out)["problems"]
    assert (damaged.code, "config.json" in problem) == (1, True)
    assert "pieria models install" in ask("models", "verify", "--no-json").out


def test_bank_is_moved_to_another_embedder(ask: Ask, folder: Path) -> None:
    ask("remember", "an apple", "--bank", "notes")
    used = ask("models", "use", "hashing", "--bank", "notes")
    assert (used.json["bank"], used.json["pending"]) == ("notes", 0)
    assert used.json["space"].startswith("hashing:384@")
    assert "set embedder to hashing" in used.err
    with pieria.open("notes", settings={"embedder": "hashing"}) as bank:
        assert bank.sync(0)
    shutil.copytree(INSTALLED / NAME, folder / NAME)
    assert ask("models", "use", "local", "--bank", "notes").json["space"].startswith(f"local:{NAME}@")


@pytest.mark.usefixtures("person")
def test_person_who_creates_a_bank_hears_of_the_model_once(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("remember", "without an embedder", "--bank", "none").err == ""
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    said = [ask("remember", text).err for text in ("one", "two")]
    assert ("pieria models install" in said[0], said[1]) == (True, "")
