"""Every command: --bank, --data, --json and --quiet in any position on the line, and lines that are refused."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ask
from tests.cli.reference import leaves
from tests.learning.lesson_events import MIGRATED
from tests.learning.lesson_events import session as lived
from tests.trust import trusted_project

import pieria
from pieria import Bank
from pieria.doors.cli.call import Call

Made = tuple[Path, dict[str, str]]
Line = Callable[..., list[str]]

APART = {
    f"pieria {path}"
    for path in (
        *("seal", "unseal", "rekey", "demo", "models install", "models verify", "call", "mcp", "serve", "capture"),
        *("setup", "completion"),
        *(f"token {verb}" for verb in ("create", "list", "revoke")),
        *(f"hermes {verb}" for verb in ("install", "status", "uninstall")),
        *(f"hooks {verb}" for verb in ("install", "status", "uninstall", "drain", "run")),
    )
}
"""These use other banks, or serve callers that are not people; other tests cover them."""

pytestmark = pytest.mark.usefixtures("person")


def table(file: str) -> list[list[str]]:
    """Return the rows below the header. Empty cells at the end may be missing in the file."""
    return [[*row.split("\t"), "", ""] for row in Path(__file__).with_name(file).read_text().splitlines()[1:]]


LINES = {path: own for path, own, *_ in table("lines.tsv")}
MISSING = {path: what for path, _, what, *_ in table("lines.tsv")}
"""What each command does about a missing bank."""
WRONG = [
    (f"{command} {one}", int(code), said)
    for command, ways, code, said, *_ in table("refused.tsv")
    for one in ways.split("|")
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a data folder with a vault and a bank `mine`, which has all that the lines above name."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "vault").mkdir()
    (folder / "vault" / "note.md").write_text("A note.")
    run = {"source_id": "run-7", "goal": "Plan", "steps": [{"observation": "Rain.", "action": "Waited."}]}
    (folder / "run.json").write_text(json.dumps(run))
    with pieria.open("mine", data=folder / "data") as bank:
        for id in ("first", "jwt", "other", "tied", "removed"):
            bank.remember(f"{id}: JWT", id=id)
        bank.link("jwt", "tied")
        bank.remove("removed")
        fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
        bank.facts.alias("Alias", "Maya")
        entry = bank.scratchpad.write("a note")
        job, cancelled = bank.jobs.add("embed"), bank.jobs.add("embed", key="other")
        bank.jobs.cancel(cancelled.id)
        session, ready = (bank.session("Plan", auto_commit=commits) for commits in (True, False))
        for each in (session, ready):
            each.append("It rains.", "Waited.")
        ready.close_and_wait(30)
        bank.observe(lived("s1", MIGRATED))
        [lesson] = bank.upkeep.propose().proposals
        bank.export(folder / "in.jsonl")
        bank.backup(folder / "in.backup")
    named: dict[str, Any] = {"FACT": fact, "ENTRY": entry, "JOB": job, "CANCELLED": cancelled, "LESSON": lesson}
    ids = {name: each.id for name, each in {**named, "SESSION": session, "READY": ready}.items()}
    return folder, ids


@pytest.fixture
def line(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
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


@pytest.mark.usefixtures("in_all_ways")
def test_commands_use_the_given_bank_and_answer_in_all_ways(ask: Ask, line: Line, tmp_path: Path, home: Path) -> None:
    assert {f"pieria {path}" for path in LINES} == set(leaves()) - APART
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
            said = answer.failed(1)
            assert "bank 'mien' not found" in said and "Did you mean mine?" in said
    data = str(tmp_path / "count" / "data")
    monkeypatch.setenv("PIERIA_BANK", "elsewhere")
    refused = ask("count", "--data", data, "--json")
    assert "Banks here: mine." in refused.failed(1)
    assert refused.error["resource"] == "bank"
    assert ask("count", "--data", data, "--bank", "MINE").code == 0


def test_options_environment_and_project_choose_in_this_order(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted_project(Path.cwd(), 'bank = "project"\n')
    ask("remember", "x")
    monkeypatch.setenv("PIERIA_BANK", "environment")
    ask("facts", "--bank", "mine", "add", "Maya", "works_on", "billing")
    assert ask("--json", "facts", "--bank", "mine", "stats").json["facts"] == 1
    assert ask("remember", "x", "-q", "--json").json["text"] == "x"
    ask("--bank", "one", "remember", "x", "--bank", "two")
    assert ask("where").json["banks"] == ["environment", "mine", "project", "two"]
    assert not ask("--json", "where", "--no-json").out.startswith("{")
    monkeypatch.setenv("PIERIA_DURABILITY", "none")
    assert "PIERIA_DURABILITY" in ask("list").failed(2)


def test_wrong_commands_say_why_and_change_nothing(ask: Ask, bank: Bank, home: Path) -> None:
    before = bank.changes()
    for line, code, said in WRONG:
        answer = ask(*(word.replace("\\udce9", "\udce9") for word in shlex.split(line)))
        assert (answer.code, answer.out) == (code, ""), (line, answer)
        assert "error: " in answer.err and said in " ".join(answer.err.split()), (line, answer.err)
    assert bank.changes() == before
    assert not [path for path in home.rglob("*") if path.name in (".claude", "tokens.json", "config.json")]
