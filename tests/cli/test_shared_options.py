"""Options of every command: --bank, --data, --json and --quiet, in any position on the line."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ask
from tests.cli.reference import leaves
from tests.learning.lessontelling import MIGRATED
from tests.learning.lessontelling import session as lived
from tests.trust import trusted_project

import pieria
from pieria.doors.cli.call import Call

Made = tuple[Path, dict[str, str]]
Line = Callable[..., list[str]]

APART = {
    f"pieria {path}"
    for path in (
        *("seal", "unseal", "rekey", "demo", "models install", "models verify", "call", "mcp", "serve", "capture"),
        *(f"token {verb}" for verb in ("create", "list", "revoke")),
        *(f"hermes {verb}" for verb in ("install", "status", "uninstall")),
        *(f"hooks {verb}" for verb in ("install", "status", "uninstall", "drain")),
    )
}
"""These use other banks, or serve callers that are not people; other tests cover them."""

pytestmark = pytest.mark.usefixtures("person")

ROWS = [row.split("\t") for row in Path(__file__).with_name("lines.tsv").read_text().splitlines()[1:]]
LINES = {path: own for path, own, _ in ([*row, "", ""][:3] for row in ROWS)}
MISSING = {path: what for path, _, what in ([*row, "", ""][:3] for row in ROWS)}
"""What each command does about a missing bank."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a data folder with a vault and a bank `mine`, which has all that the lines above name."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "vault").mkdir()
    (folder / "vault" / "note.md").write_text("A note.")
    with pieria.open("mine", data=folder / "data") as bank:
        for id in ("first", "jwt", "other", "tied", "removed"):
            bank.remember(f"{id}: JWT", id=id)
        bank.link("jwt", "tied")
        bank.remove("removed")
        fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
        bank.facts.alias("Alias", "Maya")
        entry = bank.scratchpad.write("a note")
        job = bank.jobs.add("embed")
        cancelled = bank.jobs.add("embed", key="other")
        bank.jobs.cancel(cancelled.id)
        session, ready = (bank.session("Plan", auto_commit=commits) for commits in (True, False))
        for each in (session, ready):
            each.append("It rains.", "Waited.")
        ready.close_and_wait(30)
        bank.observe(lived("s1", MIGRATED))
        [lesson] = bank.upkeep.propose().proposals
        bank.export(folder / "in.jsonl")
        run = {"source_id": "run-7", "goal": "Plan", "steps": [{"observation": "Rain.", "action": "Waited."}]}
        (folder / "run.json").write_text(json.dumps(run))
        bank.backup(folder / "in.backup")
    sessions = {"SESSION": session.id, "READY": ready.id}
    return folder, {
        "FACT": fact.id,
        "ENTRY": entry.id,
        "JOB": job.id,
        "CANCELLED": cancelled.id,
        "LESSON": lesson.id,
        **sessions,
    }


@pytest.fixture
def line(
    made: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Return a function that copies the prepared folder, and returns the arguments of a command on the copy."""
    folder, names = made

    def arguments(path: str, *, bank: str = "mine", first: bool = False) -> list[str]:
        copied = tmp_path / path.replace(" ", "-")
        shutil.copytree(folder, copied)
        monkeypatch.setenv("PIERIA_VAULT", str(copied / "vault"))
        own = LINES[path]
        for name, value in {**names, "FOLDER": str(copied)}.items():
            own = own.replace(name, value)
        shared = ["--bank", bank, "--data", str(copied / "data")]
        return [*shared, *path.split(), *own.split()] if first else [*path.split(), *own.split(), *shared]

    return arguments


@pytest.fixture
def in_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print each answer as JSON, for people and as ids, each followed by a form feed."""
    printed = Call.reply

    def reply(call: Call, *answer: Any) -> None:
        given = call.json, call.quiet
        for call.json, call.quiet in ((True, False), (False, False), (False, True)):
            printed(call, *answer)
            sys.stdout.write("\f")
        call.json, call.quiet = given

    monkeypatch.setattr(Call, "reply", reply)


def test_every_command_has_a_line() -> None:
    assert {f"pieria {path}" for path in LINES} == set(leaves()) - APART


@pytest.mark.usefixtures("in_all_ways")
def test_commands_use_the_given_bank_and_answer_in_all_ways(ask: Ask, line: Line, tmp_path: Path, home: Path) -> None:
    for number, path in enumerate(LINES):
        answer = ask(*line(path, first=number % 2 == 0), "-q")
        assert (answer.code, answer.err) == (0, ""), path
        as_json, people, ids, rest = answer.out.split("\f")
        assert json.loads(as_json) and rest == "", path
        assert people.strip() and people[0] not in "{[", path
        assert not {"{", "[", ":"} & set(ids.replace(str(tmp_path), "")), path
        copied = tmp_path / path.replace(" ", "-")
        assert {file.stem for file in (copied / "data").glob("*.db")} == {"mine"}, path
    assert (tmp_path / "export" / "out.jsonl").exists()
    assert not (home / "data").exists()


def test_reading_commands_make_no_bank_of_a_misspelt_name(
    ask: Ask, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that writes makes the bank, even if it fails later."""
    for path in LINES:
        answer = ask(*line(path, bank="mien"))
        is_made = (tmp_path / path.replace(" ", "-") / "data" / "mien.db").exists()
        assert is_made == (MISSING[path] == ""), path
        if MISSING[path] == "refused":
            assert answer.code == 1, path
            assert "bank 'mien' not found" in answer.err
            assert "Did you mean mine?" in answer.err
    data = str(tmp_path / "count" / "data")
    monkeypatch.setenv("PIERIA_BANK", "elsewhere")
    refused = ask("count", "--data", data, "--json")
    assert (refused.code, "Banks here: mine." in refused.err) == (1, True)
    assert json.loads(refused.err.splitlines()[-1])["error"]["resource"] == "bank"
    assert ask("count", "--data", data, "--bank", "MINE").code == 0


def test_options_may_stand_anywhere_and_the_last_one_counts(ask: Ask) -> None:
    ask("facts", "--bank", "mine", "add", "Maya", "works_on", "billing")
    assert ask("--json", "facts", "--bank", "mine", "stats").json["facts"] == 1
    assert ask("facts", "stats").json["facts"] == 0
    ask("--bank", "one", "remember", "x", "--bank", "two")
    assert "one" not in ask("where").json["banks"]
    assert not ask("--json", "where", "--no-json").out.startswith("{")
    assert ask("--no-json", "where", "--json").out.startswith("{")
    assert ask("remember", "x", "-q", "--json").json["text"] == "x"


def test_environment_and_project_choose_where_the_line_does_not(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted_project(Path.cwd(), 'bank = "project"\n')
    ask("remember", "x")
    monkeypatch.setenv("PIERIA_BANK", "environment")
    ask("remember", "x")
    assert ask("where").json["banks"] == ["environment", "project"]


def test_wrong_shared_options_and_settings_are_named(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    for option, value in (("--bank", "../x"), ("--session", ""), ("--channel", "")):
        refused = ask("get", "jwt", option, value)
        assert refused.code == 2
        assert f"error: {option}" in refused.err
    monkeypatch.setenv("PIERIA_DURABILITY", "none")
    refused = ask("list")
    assert (refused.code, "PIERIA_DURABILITY" in refused.err) == (2, True)
