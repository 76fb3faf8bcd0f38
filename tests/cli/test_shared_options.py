"""Options of every command: --bank, --data, --json and --quiet, in any position on the line."""

import json
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Ask
from tests.cli.reference import leaves
from tests.learning.lessontelling import MIGRATED
from tests.learning.lessontelling import session as lived
from tests.trust import trusted_project

import pieria

APART = {
    "pieria seal",
    "pieria unseal",
    "pieria rekey",
    "pieria demo",
    "pieria models install",
    "pieria models verify",
    "pieria call",
    "pieria mcp",
    "pieria serve",
    *(f"pieria token {verb}" for verb in ("create", "list", "revoke")),
    *(f"pieria hermes {verb}" for verb in ("install", "status", "uninstall")),
    *(f"pieria hooks {verb}" for verb in ("install", "status", "uninstall", "drain")),
    "pieria capture",
}
"""These use other banks, or serve callers that are not people; other tests cover them."""

pytestmark = pytest.mark.usefixtures("person")

LINES = {
    "remember": "a text",
    "recall": "JWT",
    "get": "jwt",
    "list": "",
    "count": "",
    "update": "jwt --importance 0.1",
    "revise": "jwt other",
    "invalidate": "jwt",
    "forget": "jwt",
    "unforget": "removed",
    "pin": "jwt",
    "unpin": "jwt",
    "link": "jwt other",
    "unlink": "jwt tied",
    "neighbors": "jwt",
    "facts add": "Ben works_on search",
    "facts supersede": "Maya works_on search",
    "facts invalidate": "Maya works_on billing",
    "facts remove": "FACT",
    "facts query": "",
    "facts timeline": "",
    "facts history": "FACT",
    "facts conflicts": "",
    "facts declare": "works_on",
    "facts predicates": "",
    "facts alias": "M Maya",
    "facts unalias": "Alias",
    "facts aliases": "",
    "facts entities": "",
    "facts stats": "",
    "history": "jwt",
    "changes": "",
    "undo": "1",
    "context": "",
    "wake-up": "--session S --keep",
    "scratchpad write": "a note",
    "scratchpad update": "ENTRY another",
    "scratchpad read": "",
    "scratchpad clear": "",
    "upkeep sleep": "",
    "upkeep gc": "",
    "upkeep archive": "",
    "upkeep promote": "jwt",
    "trace": "jwt",
    "quarantine": "--list",
    "rules list": "",
    "rules explain": "jwt",
    "rules accept": "jwt",
    "rules decline": "jwt",
    "upkeep proposals": "",
    "upkeep propose": "",
    "upkeep accept": "LESSON",
    "upkeep decline": "LESSON",
    "upkeep clusters": "",
    "upkeep duplicates": "",
    "upkeep merge": "jwt other",
    "upkeep validate": "",
    "upkeep repair": "",
    "upkeep graph consolidate": "",
    "upkeep graph prune": "",
    "upkeep graph validate": "",
    "upkeep graph repair": "",
    "review": "",
    "decay": "jwt",
    "worker": "--once",
    "jobs list": "",
    "jobs show": "JOB",
    "jobs replay": "CANCELLED",
    "jobs cancel": "JOB",
    "touch": "jwt",
    "export": "FOLDER/out.jsonl",
    "import": "FOLDER/in.jsonl",
    "mine": "FOLDER",
    "backup": "FOLDER/my.backup",
    "restore": "FOLDER/in.backup --replace",
    "copy": "--to FOLDER/copies",
    "remove-bank": "--dry-run",
    "vault sync": "",
    "vault status": "",
    "vault promote": "jwt",
    "session start": "Plan",
    "session append": "SESSION saw did",
    "session close": "SESSION",
    "session commit": "READY",
    "session discard": "READY",
    "session state": "SESSION",
    "session list": "",
    "session show": "SESSION",
    "session resume": "SESSION",
    "ingest": "FOLDER/run.json",
    "stats": "",
    "doctor": "",
    "maintenance stats": "",
    "maintenance compact": "",
    "where": "",
    "trust": "--list",
    "models list": "",
    "models use": "hashing",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
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
def prepared(made: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Copy the prepared folder and return the names for the lines."""
    folder, names = made
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PIERIA_VAULT", str(tmp_path / "vault"))
    return {**names, "FOLDER": str(tmp_path)}


def arguments(line: str, names: dict[str, str]) -> list[str]:
    for name, value in names.items():
        line = line.replace(name, value)
    return line.split()


def test_every_command_has_a_line() -> None:
    assert {f"pieria {path}" for path in LINES} == set(leaves()) - APART


@pytest.mark.parametrize("shared_first", [True, False])
@pytest.mark.parametrize("path", LINES)
def test_bank_and_data_are_those_of_the_line_and_the_answer_is_json(
    ask: Ask, prepared: dict[str, str], tmp_path: Path, home: Path, path: str, shared_first: bool
) -> None:
    shared = ["--bank", "mine", "--data", str(tmp_path / "data"), "--json"]
    own = [*path.split(), *arguments(LINES[path], prepared)]
    answer = ask(*shared, *own) if shared_first else ask(*own, *shared)
    if path == "export":
        assert (tmp_path / "out.jsonl").exists()
    assert answer.json
    assert not (home / "data").exists()
    assert {file.stem for file in (tmp_path / "data").glob("*.db")} == {"mine"}


@pytest.mark.parametrize("path", LINES)
def test_every_command_speaks_to_people_and_to_scripts(
    ask: Ask, prepared: dict[str, str], tmp_path: Path, path: str
) -> None:
    shared = ["--bank", "mine", "--data", str(tmp_path / "data")]
    own = [*path.split(), *arguments(LINES[path], prepared)]
    people = ask(*own, *shared, "--no-json")
    assert people.code == 0
    assert people.out.strip()
    with pytest.raises(json.JSONDecodeError):
        json.loads(people.out)


@pytest.mark.parametrize("path", LINES)
def test_quiet_prints_ids_alone(ask: Ask, prepared: dict[str, str], tmp_path: Path, path: str) -> None:
    answer = ask(
        *path.split(), *arguments(LINES[path], prepared), "-q", "--bank", "mine", "--data", str(tmp_path / "data")
    )
    assert answer.code == 0
    assert answer.err == ""
    assert not {"{", "[", ":"} & set(answer.out.replace(str(tmp_path), ""))


READING = (
    "recall", "get", "list", "count", "neighbors", "history", "changes", "export", "backup", "copy", "stats",
    "doctor", "context", "wake-up",
    "scratchpad read", "facts query", "facts timeline", "facts history", "facts conflicts", "facts entities",
    "facts predicates", "facts aliases", "facts stats", "jobs list", "jobs show", "upkeep validate",
    "upkeep sleep", "upkeep gc", "upkeep archive", "upkeep promote", "upkeep repair",
    "upkeep clusters", "upkeep duplicates", "upkeep merge", "review", "upkeep proposals", "upkeep propose",
    "upkeep accept", "upkeep decline", "decay", "trace", "quarantine", "rules list", "rules explain", "rules accept",
    "rules decline",
    "upkeep graph consolidate", "upkeep graph prune", "upkeep graph validate", "upkeep graph repair",
    "vault status", "vault promote", "maintenance stats", "maintenance compact",
    *(f"session {verb}" for verb in ("append", "close", "commit", "discard", "state", "list", "show", "resume")),
)  # fmt: skip


@pytest.mark.parametrize("path", READING)
def test_what_only_goes_over_a_bank_makes_none_under_a_name_that_may_be_misspelt(
    ask: Ask, prepared: dict[str, str], tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = [*path.split(), *arguments(LINES[path], prepared), "--data", str(tmp_path / "data")]
    refused = ask(*line, "--bank", "mien")
    assert refused.code == 1
    assert "bank 'mien' not found" in refused.err
    assert "Did you mean mine?" in refused.err
    monkeypatch.setenv("PIERIA_BANK", "elsewhere")
    refused = ask(*line, "--json")
    assert refused.code == 1
    assert "Banks here: mine." in refused.err
    assert json.loads(refused.err.splitlines()[-1])["error"]["resource"] == "bank"
    assert {file.stem for file in (tmp_path / "data").glob("*.db")} == {"mine"}
    assert ask(*line, "--bank", "MINE").code == 0


def test_every_command_that_makes_no_bank_is_listed_above(ask: Ask, prepared: dict[str, str], tmp_path: Path) -> None:
    """A command that writes makes the bank, even if it fails later."""
    for path, line in LINES.items():
        data = tmp_path / "made" / path.replace(" ", "-")
        ask(*path.split(), *arguments(line, prepared), "--data", str(data), "--bank", "new")
        assert (data / "new.db").exists() == (
            path not in (*READING, "where", "trust", "models list", "worker", "remove-bank")
        ), path


def test_options_may_stand_between_group_and_command(ask: Ask) -> None:
    ask("facts", "--bank", "mine", "add", "Maya", "works_on", "billing")
    assert ask("--json", "facts", "--bank", "mine", "stats").json["facts"] == 1
    assert ask("facts", "stats").json["facts"] == 0


def test_the_last_one_on_the_line_counts(ask: Ask) -> None:
    ask("--bank", "one", "remember", "x", "--bank", "two")
    assert ask("where").json["banks"] == ["two"]
    assert not ask("--json", "where", "--no-json").out.startswith("{")
    assert ask("--no-json", "where", "--json").out.startswith("{")


def test_json_wins_over_quiet(ask: Ask) -> None:
    assert ask("remember", "x", "-q", "--json").json["text"] == "x"


def test_the_environment_and_the_project_choose_where_the_line_does_not(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted_project(Path.cwd(), 'bank = "project"\n')
    ask("remember", "x")
    monkeypatch.setenv("PIERIA_BANK", "environment")
    ask("remember", "x")
    assert ask("where").json["banks"] == ["environment", "project"]


def test_a_setting_that_is_wrong_is_told_with_its_place(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_DURABILITY", "none")
    refused = ask("list")
    assert refused.code == 2
    assert "PIERIA_DURABILITY" in refused.err


@pytest.mark.parametrize("option", [("--bank", "../x"), ("--session", ""), ("--channel", "")])
def test_shared_options_that_are_wrong_are_told_by_their_name(ask: Ask, option: tuple[str, str]) -> None:
    refused = ask("get", "jwt", *option)
    assert refused.code == 2
    assert f"error: {option[0]}" in refused.err
