"""`pieria export`, `import`, `backup`, `restore`, `stats`, `doctor`, `where`, `seal`, `remove-bank` and `vault`."""

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask, Run
from tests.trust import trusted_project

import pieria
from pieria import Bank


def test_bank_goes_through_a_file_or_folder_into_another(ask: Ask, bank: Bank, person: None, tmp_path: Path) -> None:
    report = ask("export", str(tmp_path / "out.jsonl")).json
    assert Path(report["path"]).exists()
    taken = ask("import", str(tmp_path / "out.jsonl"), "--bank", "copy", "--trusted").json
    assert taken["replayed"] is True
    assert ask("history", "jwt", "--bank", "copy").json == ask("history", "jwt").json
    written = ask("export", str(tmp_path), "-q").out.strip()
    assert Path(written).parent == tmp_path
    assert Path(written).name.startswith("default.")


def test_bank_goes_through_a_pipe_into_another(run: Run, ask: Ask, bank: Bank) -> None:
    exported = run("export", "-")
    assert exported.returncode == 0
    assert json.loads(exported.stdout.splitlines()[0])["pieria"] == "export"
    taken = ask("import", "-", "--bank", "copy", stdin=exported.stdout).json
    assert (taken["added"]["memories"], taken["path"]) == (3, "standard input")
    assert set(ask("list", "-q", "--bank", "copy").ids) == {"jwt", "maya", "queue"}


def test_import_is_tried_and_forced(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    file = str(tmp_path / "out.jsonl")
    ask("export", file)
    bank.update("maya", importance=0.1)
    bank.purge("jwt")
    assert "mode skip" in " ".join(ask("import", file, "--no-json").out.split())
    dry = ask("import", file, "--force", "--mode", "replace", "--dry-run").json
    assert (dry["dry_run"], dry["added"]["memories"], dry["changed"]["memories"]) == (True, 1, 1)
    assert ask("get", "jwt").code == 1
    ask("import", file, "--force", "--mode", "replace")
    assert ask("get", "jwt").code == 0
    assert ask("get", "maya").json["importance"] == 0.5


def test_broken_lines_are_named(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    ask("export", str(file))
    lines = file.read_text().splitlines()
    broken = next(number for number, line in enumerate(lines) if '"id":"queue"' in line and '"text"' in line)
    lines[broken] = lines[broken].replace("The retry queue holds failed payments.", " ")
    lines[-1] = json.dumps({**json.loads(lines[-1]), "sha256": None})
    file.write_text("\n".join(lines) + "\n")
    refused = ask("import", str(file), "--bank", "copy")
    assert refused.code == 1
    assert f"line {broken + 1}" in refused.err
    assert "--skip-broken" in refused.err
    assert ask("count", "--bank", "copy").json == {"count": 0}


def test_invalid_file_is_refused(ask: Ask, person: None, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in ("hello\n", ""):
        file.write_text(content)
        refused = ask("import", str(file))
        assert (refused.code, str(file) in refused.err) == (1, True)
        piped = ask("import", "-", stdin=content)
        assert (piped.code, "standard input" in piped.err) == (1, True)
    assert ask("restore", str(file)).code in (1, 3)
    wrong = ask("restore", str(file), "--bank", "../x")
    assert (wrong.code, "--bank" in wrong.err) == (2, True)
    for command in ("import", "restore"):
        for missing, code, said in ((tmp_path / "nowhere", 3, "no such file"), (tmp_path, 1, "it is a folder")):
            refused = ask(command, str(missing), "--bank", "copy")
            assert (refused.code, said in refused.err) == (code, True)


def test_backup_comes_back_as_a_bank(ask: Ask, bank: Bank, person: None, tmp_path: Path, home: Path) -> None:
    written = Path(ask("backup", "-q").out.strip())
    assert written.parent == home / "data"
    named = ask("backup", str(tmp_path / "my.backup")).json
    assert Path(named["path"]).stat().st_size == named["bytes"]
    bank.remove("jwt")
    bank.close()
    assert ask("restore", str(written), "--bank", "before").json["bank"] == "before"
    assert set(ask("list", "-q", "--bank", "before").ids) == {"jwt", "maya", "queue"}
    refused = ask("restore", str(written))
    assert refused.code == 1
    assert "--replace" in refused.err
    replaced = ask("restore", str(written), "--replace").json["replaced"]
    assert Path(replaced).exists()
    assert ask("get", "jwt").code == 0


def test_stats_and_where_count_banks_and_memories(ask: Ask, bank: Bank) -> None:
    answer = ask("stats")
    assert answer.json["counts"]["memories"] == 3
    shown = ask("stats", "--no-json").out
    assert "note 3" in shown
    for told in (answer.out, shown):
        assert "JWT" not in told
    shown = ask("stats", "--no-json").out
    assert re.search(r"last change +3: remember by python, \d{4}-\d\d-\d\d \d\d:\d\dZ \(just now\)", shown)
    assert " MB free" in ask("doctor", "--no-json").out
    ask("remember", "x", "--bank", "notes")
    assert ask("where").json["banks"] == ["default", "notes"]


def test_doctor_shows_settings_and_what_to_do(
    ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Leftovers of a killed copy do no harm, but a person has to delete them."""
    monkeypatch.setenv("PIERIA_SECRETS", "redact")
    diagnosis = ask("doctor", "--bank", "default").json
    assert diagnosis["well"] is True
    assert diagnosis["settings"]["secrets"] == {"value": "redact", "from": "environment PIERIA_SECRETS"}
    assert diagnosis["settings"]["bank"]["from"] == "argument"
    shown = ask("doctor", "--no-json").out
    assert "all checks passed" in shown
    assert "environment PIERIA_SECRETS" in shown
    assert "what to do" not in ask("doctor", "--no-json").out
    (home / "data" / ".default.backup.77.88.part").write_bytes(b"12345")
    left = ask("doctor", "--no-json")
    assert left.code == 0
    assert "all checks passed" in left.out
    assert left.out.count("what to do:") == 1
    (home / "data" / "default.db").chmod(0o644)
    found = json.loads(ask("doctor").out)["findings"]
    shown = ask("doctor", "--no-json").out
    remedies = [finding["remedy"] for finding in found if finding["remedy"]]
    assert len(remedies) == shown.count("what to do:") == 2
    for remedy in remedies:
        assert "".join(f"what to do: {remedy}".split()) in "".join(shown.split())


def test_doctor_finds_and_repairs_damage(ask: Ask, bank: Bank, home: Path) -> None:
    bank.close()
    with sqlite3.connect(home / "data" / "default.db") as connection:
        connection.execute("DELETE FROM terms WHERE row = 1")
    connection.close()
    unwell = ask("doctor", "--no-json")
    assert unwell.code == 1
    assert "FAILED" in unwell.out
    assert "--repair" in unwell.out
    assert ask("doctor", "-q").out.splitlines() == ["terms", "text index"]
    mended = ask("doctor", "--repair")
    assert mended.json["repaired"] == ["text index"]
    assert ask("doctor").code == 0
    assert ask("recall", "JWT", "-q").ids == ["jwt"]


def test_where_says_who_chose_the_bank(ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask("where").json
    assert found["bank"] == {"value": "default", "from": "default"}
    assert found["data"] == {"value": str(home / "data"), "from": "environment PIERIA_DATA"}
    assert found["exists"] is False
    assert not (home / "data").exists()
    trusted_project(Path.cwd(), 'bank = "project"\n')
    found = ask("where").json
    assert found["bank"] == {"value": "project", "from": "project .pieria.toml"}
    assert found["project"] == str(Path.cwd())
    monkeypatch.setenv("PIERIA_BANK", "env")
    assert ask("where").json["bank"]["value"] == "env"
    assert ask("where", "--bank", "arg").json["bank"] == {"value": "arg", "from": "argument"}
    assert ask("where", "--bank", "arg", "-q").ids == ["arg"]
    assert "does not exist yet" in " ".join(ask("where", "--no-json").out.split())


def test_agent_restores_no_backup(ask: Ask, bank: Bank) -> None:
    written = ask("backup", "-q").out.strip()
    refused = ask("restore", written, "--bank", "before")
    assert refused.code == 1
    assert "person" in refused.err
    assert ask("list", "--bank", "before").code == 1


def test_unwritable_file_is_named(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for command in ("export", "backup"):
        refused = ask(command, str(tmp_path / "file" / "out"))
        assert refused.code == 3
        assert "its folder could not be made" in refused.err
        assert f"Make the folder {tmp_path / 'file'}" in refused.err
        assert "data folder" not in refused.err
        refused = ask(command, "/proc/out")
        assert refused.code == 3
        assert "/proc/out cannot be written" in refused.err
        assert "write in /proc" in refused.err


def test_bank_is_sealed_rekeyed_and_unsealed(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = f"file:{tmp_path / 'one'}", f"file:{tmp_path / 'other'}"
    ask("remember", "The zephyrquokka hid.", "--bank", "mine")
    monkeypatch.setenv("PIERIA_SEAL_KEY", one)
    assert ask("seal", "--bank", "mine").json["key_made"] is True
    assert ask("where", "--bank", "mine").json["sealed"] is True
    assert ask("rekey", "--bank", "mine", "--to", other).json["key"] == other
    closed = ask("stats", "--bank", "mine")
    assert closed.code == 3
    monkeypatch.setenv("PIERIA_SEAL_KEY", other)
    assert ask("count", "--bank", "mine").code == 0
    assert ask("unseal", "--bank", "mine").json["sealed"] is False
    assert ask("where", "--bank", "mine").json["sealed"] is False


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


def test_removal_is_shown_asked_for_and_named(
    ask: Ask, trial: None, monkeypatch: pytest.MonkeyPatch, terminal: Callable[..., Answer]
) -> None:
    refused = ask("remove-bank", "--bank", "trial")
    assert refused.code == 2 and "--yes" in refused.err and "--dry-run" in refused.err
    monkeypatch.setenv("PIERIA_BANK", "trial")
    refused = ask("remove-bank", "--yes")
    assert refused.code == 2 and "--bank" in refused.err
    missing = ask("remove-bank", "--bank", "trail", "--yes")
    assert missing.code == 1 and "Did you mean trial?" in missing.err
    assert ask("where").json["banks"] == ["trial"]
    for typed, code, left in (("n\n", 1, ["trial"]), ("y\n", 0, [])):
        answer = terminal("remove-bank", "--bank", "trial", typed=typed)
        assert answer.code == code, answer.out
        assert "memories 1" in answer.out and "trial.db" in answer.out
        assert ("nothing was removed" in answer.out) == bool(left)
        assert ask("where").json["banks"] == left


def test_bank_open_in_another_process_stays(ask: Ask, run: Callable[..., object], bank: Bank) -> None:
    bank.remember("theirs", id="theirs")
    answer = run("remove-bank", "--bank", "default", "--yes")
    assert (answer.returncode, b"Close the bank there" in answer.stderr) == (4, True), answer  # type: ignore[attr-defined]
    assert bank.get("theirs")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Maya.md").write_text("Maya leads billing.")
    monkeypatch.setenv("PIERIA_VAULT", str(folder))
    return folder


def test_notes_go_both_ways(ask: Ask, vault: Path) -> None:
    [id] = ask("remember", "We chose JWT.", "--title", "JWT", "-q").ids
    assert ask("vault", "promote", id, "--dry-run", "-q").out == "Pieria/JWT.md\n"
    assert ask("vault", "promote", id).json["promoted"][0]["what"] == "written"
    assert ask("vault", "sync").json["notes"] == {"new": 1}
    note = vault / "Pieria" / "JWT.md"
    note.write_text(note.read_text().replace("JWT.", "tokens."))
    assert ask("vault", "status").json["waiting"] == {"new": 0, "changed": 1, "vanished": 0}
    assert ask("vault", "sync", "-q").out == "edited Pieria/JWT.md\n"
    assert ask("get", id).json["text"] == "We chose tokens."


def test_person_sees_counts_and_problems_of_notes(vault: Path, terminal: Callable[..., Answer]) -> None:
    (vault / "bad.md").write_text("---\ntags: [\n---\nStill a text.\n")
    said = terminal("vault", "sync", "--dry-run")
    assert said.code == 1
    for part in ("would sync", "2 new", "bad.md", "is not YAML", "its text is imported"):
        assert part in said.out
    assert "2 new" in terminal("vault", "status").out
    assert "synced" in terminal("vault", "sync").out
    assert "nothing" in terminal("vault", "status").out


def test_unreadable_note_fails_and_the_rest_is_in(ask: Ask, vault: Path) -> None:
    (vault / "image.md").write_bytes(b"\x89PNG\0\0")
    assert ask("vault", "sync").code == 1
    assert ask("vault", "sync").code == 1
    assert ask("count").json == {"count": 1}
    (vault / "image.md").unlink()
    assert ask("vault", "sync").code == 0


def test_missing_vault_says_what_to_set(ask: Ask) -> None:
    answer = ask("vault", "sync")
    assert answer.code == 2
    assert "PIERIA_VAULT" in answer.err
