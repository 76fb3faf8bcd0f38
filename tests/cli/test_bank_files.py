"""`pieria export`, `import`, `backup`, `restore`, `stats`, `doctor`, `where`, `seal`, `remove-bank` and `vault`."""

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask, Run
from tests.trust import trusted_project

from pieria import Bank


def test_import_is_tried_and_forced(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    file = str(tmp_path / "out.jsonl")
    ask("export", file)
    bank.update("maya", importance=0.1)
    bank.purge("jwt")
    assert "mode skip" in ask("import", file, "--no-json").words
    dry = ask("import", file, "--force", "--mode", "replace", "--dry-run").json
    assert (dry["dry_run"], dry["added"]["memories"], dry["changed"]["memories"]) == (True, 1, 1)
    assert ask("get", "jwt").code == 1
    ask("import", file, "--force", "--mode", "replace")
    assert (ask("get", "jwt").code, ask("get", "maya").json["importance"]) == (0, 0.5)


def test_broken_lines_are_named(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    ask("export", str(file))
    lines = file.read_text().replace("The retry queue holds failed payments.", " ").splitlines()
    broken = next(number for number, line in enumerate(lines, 1) if '"id":"queue"' in line and '"text"' in line)
    lines[-1] = json.dumps({**json.loads(lines[-1]), "sha256": None})
    file.write_text("\n".join(lines) + "\n")
    said = ask("import", str(file), "--bank", "copy").failed(1)
    assert f"line {broken}" in said and "--skip-broken" in said
    assert ask("count", "--bank", "copy").json == {"count": 0}


def test_bank_goes_through_a_file_folder_or_pipe_into_another(
    run: Run, ask: Ask, bank: Bank, person: None, tmp_path: Path
) -> None:
    report = ask("export", str(tmp_path / "out.jsonl")).json
    assert report["path"] == str(tmp_path / "out.jsonl")
    assert ask("import", report["path"], "--bank", "copy", "--trusted").json["replayed"] is True
    assert ask("history", "jwt", "--bank", "copy").json == ask("history", "jwt").json
    written = Path(ask("export", str(tmp_path), "-q").out.strip())
    assert written.parent == tmp_path and written.name.startswith("default.")
    exported = run("export", "-").stdout
    assert json.loads(exported.splitlines()[0])["pieria"] == "export"
    taken = ask("import", "-", "--bank", "piped", stdin=exported).json
    assert (taken["added"]["memories"], taken["path"]) == (3, "standard input")
    assert set(ask("list", "-q", "--bank", "piped").ids) == {"jwt", "maya", "queue"}


def test_invalid_file_is_refused(ask: Ask, person: None, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in ("hello\n", ""):
        file.write_text(content)
        assert str(file) in ask("import", str(file)).failed(1)
        assert "standard input" in ask("import", "-", stdin=content).failed(1)
    assert ask("restore", str(file)).code in (1, 3)
    for command in ("export", "backup"):
        said = ask(command, str(file / "out")).failed(3)
        assert "its folder could not be made" in said and f"Make the folder {file}" in said


def test_backup_comes_back_as_a_bank(ask: Ask, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = ask("backup", "-q").out.strip()
    assert Path(written).parent == Path(os.environ["PIERIA_DATA"])
    named = ask("backup", str(tmp_path / "my.backup")).json
    assert Path(named["path"]).stat().st_size == named["bytes"]
    bank.remove("jwt")
    bank.close()
    assert "person" in ask("restore", written, "--bank", "before").failed(1)
    assert ask("list", "--bank", "before").code == 1
    monkeypatch.setattr("pieria.doors.cli.person.is_person", lambda: True)
    assert ask("restore", written, "--bank", "before").json["bank"] == "before"
    assert set(ask("list", "-q", "--bank", "before").ids) == {"jwt", "maya", "queue"}
    assert "--replace" in ask("restore", written).failed(1)
    assert Path(ask("restore", written, "--replace").json["replaced"]).exists()
    assert ask("get", "jwt").code == 0


def test_stats_and_where_count_banks_and_memories(ask: Ask, bank: Bank) -> None:
    answer, shown = ask("stats"), ask("stats", "--no-json").out
    assert answer.json["counts"]["memories"] == 3
    assert "JWT" not in answer.out + shown
    assert re.search(r"last change +3: remember by python, \d{4}-\d\d-\d\d \d\d:\d\dZ \(just now\)", shown)
    ask("remember", "x", "--bank", "notes")
    assert ask("where").json["banks"] == ["default", "notes"]


def test_doctor_shows_settings_and_remedies(ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Leftovers of a killed copy do no harm, but a person has to delete them."""
    monkeypatch.setenv("PIERIA_SECRETS", "redact")
    diagnosis = ask("doctor", "--bank", "default").json
    assert diagnosis["well"] is True
    assert diagnosis["settings"]["secrets"] == {"value": "redact", "from": "environment PIERIA_SECRETS"}
    assert diagnosis["settings"]["bank"]["from"] == "argument"
    shown = ask("doctor", "--no-json").out
    assert all(part in shown for part in ("all checks passed", "environment PIERIA_SECRETS", " MB free"))
    assert "what to do" not in shown
    everything = ask("doctor", "--no-json", "--all").out
    assert ("busy_seconds" in shown, "busy_seconds" in everything) == (False, True)
    assert ("more settings by default" in shown, "by default" in everything) == (True, False)
    (home / "data" / ".default.backup.77.88.part").write_bytes(b"12345")
    left = ask("doctor", "--no-json")
    assert (left.code, "all checks passed" in left.out, left.out.count("what to do:")) == (0, True, 1)
    (home / "data" / "default.db").chmod(0o644)
    remedies = [found["remedy"] for found in json.loads(ask("doctor").out)["findings"] if found["remedy"]]
    shown = ask("doctor", "--no-json").out
    assert len(remedies) == shown.count("what to do:") == 2
    for remedy in remedies:
        assert "".join(f"what to do: {remedy}".split()) in "".join(shown.split())


def test_doctor_finds_and_repairs_damage(ask: Ask, bank: Bank, home: Path) -> None:
    bank.close()
    with closing(sqlite3.connect(home / "data" / "default.db", isolation_level=None)) as connection:
        connection.execute("DELETE FROM terms WHERE row = 1")
    unwell = ask("doctor", "--no-json")
    assert (unwell.code, "FAILED" in unwell.out, "--repair" in unwell.out) == (1, True, True)
    assert ask("doctor", "-q").out.splitlines() == ["terms", "text index"]
    assert ask("doctor", "--repair").json["repaired"] == ["text index"]
    assert ask("doctor").code == 0
    assert ask("recall", "JWT", "-q").ids == ["jwt"]


def test_where_says_who_chose_the_bank(ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask("where").json
    assert (found["bank"], found["exists"]) == ({"value": "default", "from": "default"}, False)
    assert found["data"] == {"value": str(home / "data"), "from": "environment PIERIA_DATA"}
    assert not (home / "data").exists()
    trusted_project(Path.cwd(), 'bank = "project"\n')
    found = ask("where").json
    assert (found["bank"], found["project"]) == ({"value": "project", "from": "project .pieria.toml"}, str(Path.cwd()))
    monkeypatch.setenv("PIERIA_BANK", "env")
    assert ask("where").json["bank"] == {"value": "env", "from": "environment PIERIA_BANK"}
    assert ask("where", "--bank", "arg").json["bank"] == {"value": "arg", "from": "argument"}
    assert ask("where", "--bank", "arg", "-q").ids == ["arg"]
    assert "does not exist yet" in ask("where", "--no-json").words


def test_bank_is_sealed_rekeyed_and_unsealed(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = f"file:{tmp_path / 'one'}", f"file:{tmp_path / 'other'}"
    monkeypatch.setenv("PIERIA_BANK", "mine")
    ask("remember", "The zephyrquokka hid.")
    monkeypatch.setenv("PIERIA_SEAL_KEY", one)
    assert ask("seal", "--bank", "mine").json["key_made"] is True
    assert ask("where").json["sealed"] is True
    assert ask("rekey", "--bank", "mine", "--to", other).json["key"] == other
    assert ask("stats").code == 3
    monkeypatch.setenv("PIERIA_SEAL_KEY", other)
    assert ask("count").code == 0
    assert ask("unseal", "--bank", "mine").json["sealed"] is False
    assert ask("where").json["sealed"] is False


def test_removal_is_shown_asked_for_and_named(
    ask: Ask, bank: Bank, run: Run, monkeypatch: pytest.MonkeyPatch, terminal: Callable[..., Answer]
) -> None:
    answer = run("remove-bank", "--bank", "default", "--yes")
    assert (answer.returncode, b"Close the bank there" in answer.stderr) == (4, True), answer
    bank.close()
    said = ask("remove-bank", "--bank", "default").failed(2)
    assert "--yes" in said and "--dry-run" in said
    monkeypatch.setenv("PIERIA_BANK", "default")
    assert "--bank" in ask("remove-bank", "--yes").failed(2)
    assert "Did you mean default?" in ask("remove-bank", "--bank", "defult", "--yes").failed(1)
    for typed, code, left in (("n\n", 1, ["default"]), ("y\n", 0, [])):
        asked = terminal("remove-bank", "--bank", "default", typed=typed)
        assert asked.code == code, asked.out
        assert all(part in asked.out for part in ("memories 3", "default.db"))
        assert ("nothing was removed" in asked.out) == bool(left)
        assert ask("where").json["banks"] == left
    ask("remember", "We chose JWT.", "--bank", "trial")
    told = ask("remove-bank", "--bank", "trial", "--dry-run").json
    assert (told["erased"]["memories"], Path(told["path"]).name) == (1, "trial.db")
    assert ask("remove-bank", "--bank", "Trial", "--yes").json == {**told, "dry_run": False}
    assert ask("where").json["banks"] == []


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


def test_person_sees_counts_and_problems_of_notes(vault: Path, ask: Ask) -> None:
    (vault / "bad.md").write_text("---\ntags: [\n---\nStill a text.\n")
    said = ask("vault", "sync", "--dry-run", "--no-json")
    assert said.code == 1
    assert all(part in said.out for part in ("would sync", "2 new", "bad.md", "is not YAML", "its text is imported"))
    assert "2 new" in ask("vault", "status", "--no-json").out
    assert "synced" in ask("vault", "sync", "--no-json").out
    assert "nothing" in ask("vault", "status", "--no-json").out
    (vault / "image.md").write_bytes(b"\x89PNG\0\0")
    assert [ask("vault", "sync").code for _ in range(2)] == [1, 1]
    assert ask("count").json == {"count": 2}
    (vault / "image.md").unlink()
    (vault / "bad.md").write_text("A text.")
    assert ask("vault", "sync").code == 0
