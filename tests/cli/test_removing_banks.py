"""`pieria remove-bank`: its question, its output, and its guard against removal by mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask

import pieria
from pieria import Bank


@pytest.fixture
def trial() -> None:
    with pieria.open("trial") as bank:
        bank.remember("We chose JWT.", id="jwt")


def test_bank_is_shown_and_then_removed(ask: Ask, bank: Bank, trial: None) -> None:
    told = ask("remove-bank", "--bank", "trial", "--dry-run").json
    assert ask("where").json["banks"] == ["default", "trial"]
    gone = ask("remove-bank", "--bank", "Trial", "--yes").json
    assert gone == {**told, "dry_run": False}
    assert gone["erased"]["memories"] == 1
    assert Path(gone["path"]).name == "trial.db"
    assert ask("where").json["banks"] == ["default"]
    assert ask("get", "jwt", "--bank", "trial").code == 1


def test_person_at_the_terminal_is_asked(terminal: Callable[..., Answer], ask: Ask, trial: None) -> None:
    for typed, code, left in (("n\n", 1, ["trial"]), ("y\n", 0, [])):
        answer = terminal("remove-bank", "--bank", "trial", typed=typed)
        assert answer.code == code, answer.out
        assert "memories 1" in answer.out and "trial.db" in answer.out
        assert ("nothing was removed" in answer.out) == bool(left)
        assert ask("where").json["banks"] == left


def test_unnamed_or_unasked_removal_is_refused(ask: Ask, trial: None, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = ask("remove-bank", "--bank", "trial")
    assert refused.code == 2 and "--yes" in refused.err and "--dry-run" in refused.err
    monkeypatch.setenv("PIERIA_BANK", "trial")
    refused = ask("remove-bank", "--yes")
    assert refused.code == 2 and "--bank" in refused.err
    missing = ask("remove-bank", "--bank", "trail", "--yes")
    assert missing.code == 1 and "Did you mean trial?" in missing.err
    assert ask("where").json["banks"] == ["trial"]


def test_bank_open_in_another_process_stays(ask: Ask, run: Callable[..., object], bank: Bank) -> None:
    bank.remember("theirs", id="theirs")
    answer = run("remove-bank", "--bank", "default", "--yes")
    assert (answer.returncode, b"Close the bank there" in answer.stderr) == (4, True), answer  # type: ignore[attr-defined]
    assert bank.get("theirs")
