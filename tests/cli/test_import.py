"""`pieria mine`, `ingest`, `maintenance` and `import --from`: memories from elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from rich.console import Console
from tests.cli.conftest import Answer, Ask, Started
from tests.mining import written

import pieria
from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.mine import show_mined, wait_for_vectors
from pieria.errors import BusyError
from pieria.mining import Report, mine


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "birds"
    folder.mkdir()
    (folder / "guide.md").write_text("# Guide\n\nHerons stand still.\n")
    (folder / "photo.jpg").write_bytes(bytes(100))
    return folder


def test_project_is_mined_after_a_dry_run_that_names_its_sources(ask: Ask, project: Path) -> None:
    told = ask("mine", str(project), "--dry-run").json
    guide = str((project / "guide.md").resolve())
    assert told["plan"] == [{"source": guide, "what": "new", "memories": {"new": 1}}]
    assert ask("count").json == {"count": 0}
    assert "brids" in ask("mine", str(project), "--dry-run", "--bank", "brids").failed(1)
    told = ask("mine", str(project)).json
    wanted = {"bank": "default", "path": str(project.resolve()), "sources": {"new": 1}, "memories": {"new": 1}}
    assert told.items() >= {**wanted, "left": {"not text": 1}}.items()
    assert told["rate"] > 0 and told["embedding_seconds"] >= 0
    assert ask("recall", "herons").json["hits"][0]["memory"]["title"] == "guide.md"
    assert ask("mine", str(project), "-q").out == "unchanged 1\n"
    written.claude_code(project / "logs")
    left = ask("mine", str(project)).json["left"]
    assert left["conversations: to be mined with --conversations"] == 1
    assert ask("mine", str(project), "--conversations").json["formats"]["claude-code"] == 1


def test_person_sees_counts_the_rate_and_a_long_wait(terminal: Callable[..., Answer], project: Path) -> None:
    said = terminal("mine", str(project), "--wing", "zoo").out
    assert all(part in said for part in ("mined", "1 new", "1 not text", "memories a second"))
    said = terminal("mine", str(project), "--dry-run").out
    assert "would mine" in said and "1 unchanged" in said

    def took(seconds: float) -> str:
        console = Console(width=100)
        with console.capture() as printed:
            console.print(*show_mined(Report("birds", seconds=0.1, embedding_seconds=seconds), "default"))
        return printed.get()

    assert "and 23.4 s to embed" in took(23.4)
    assert "embed" not in took(0.01)


def test_busy_bank_leaves_the_vectors_to_later(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def busy(**_: object) -> NoReturn:
        raise BusyError("write", "another process kept it locked")

    with pieria.open("b", data=tmp_path / "data") as bank:
        report = mine(bank, project)
        monkeypatch.setattr(bank, "sync", busy)
        wait_for_vectors(Call(), bank, report)
    assert report.embedded is False
    assert "everything is stored, but not embedded yet" in capsys.readouterr().err


def test_refused_record_fails_and_the_rest_is_in(ask: Ask, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    file.write_text(file.read_text().replace('"content": "Why do', '"contents": "Why do'))
    answer = ask("mine", str(tmp_path / "projects"), "--conversations", "--place", "talk/all")
    told = json.loads(answer.out)
    assert (answer.code, told["memories"]) == (1, {"new": 4, "refused": 1})
    [refused] = told["refused"]
    assert (refused["source"], refused["record"]) == (str(file.resolve()), 4)
    assert ask("count", "--place", "talk/all").json == {"count": 4}


@pytest.mark.slow
def test_watch_prints_each_change_and_ends_on_a_signal(started: Started, project: Path, tmp_path: Path) -> None:
    with started("mine", str(project), "--watch", "--every", "0.05", "--json") as process:
        assert json.loads(process.stdout.readline())["memories"] == {"new": 1}
        # A rename makes the file complete from its first moment.
        (tmp_path / "new.md").write_text("Storks clatter.\n")
        (tmp_path / "new.md").rename(project / "new.md")
        assert json.loads(process.stdout.readline())["memories"] == {"new": 1, "unchanged": 1}
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"", 0), err


TRIP = {
    "source_id": "run-7",
    "goal": "Plan a trip",
    "steps": [{"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}],
    "metadata": {"ticket": 7},
}


def test_trajectories_are_ingested_once(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(json.dumps({**TRIP, "source_id": name}) for name in ("run-7", "run-8")))
    first = ask("ingest", str(file)).json
    assert (first["new"], [one["source_id"] for one in first["receipts"]]) == (2, ["run-7", "run-8"])
    assert ask("ingest", str(file)).json == {**first, "new": 0}
    assert "already ingested run-7" in ask("ingest", str(file), "--no-json").out
    assert ask("ingest", str(file), "-q").out == "run-7\nrun-8\n"
    step = {"observation": "A note:\u2028two lines.\x85", "action": "Read it."}
    marked = (json.dumps({**TRIP, "source_id": name, "steps": [step]}, ensure_ascii=False) for name in ("a", "b"))
    assert ask("ingest", "-", stdin="\r\n".join(marked)).json["new"] == 2
    assert ask("ingest", "-", stdin=json.dumps([TRIP])).json["receipts"] == first["receipts"][:1]
    assert "another payload" in ask("ingest", "-", stdin=json.dumps({**TRIP, "goal": "Another"})).failed(1)


def test_wrong_file_is_refused_before_anything_is_ingested(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([TRIP, {**TRIP, "steps": [{"observation": "x"}]}]))
    assert "trajectories[1].steps[0].action" in ask("ingest", str(file)).failed(1)
    file.write_text('{"source_id": 1}\nno JSON\n')
    assert "line 2" in ask("ingest", str(file)).err
    assert ask("count").json == {"count": 0}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "jsonl"
    folder.mkdir()
    row = {"id": "abc-123", "content": "I prefer TypeScript.", "created_at": 1_767_225_600, "use_count": 1}
    (folder / "memories.jsonl").write_text(f"{json.dumps(row)}\nbroken\n")
    return folder


def test_store_is_imported_and_broken_lines_named(ask: Ask, store: Path) -> None:
    def done(*more: str) -> dict[str, Any]:
        answer = ask("import", str(store), "--from", "mnemex", *more)
        assert answer.code == 1, "a line could not be read"
        return dict(json.loads(answer.out))

    assert (done("--dry-run")["memories"], ask("count").json) == ({"new": 1}, {"count": 0})
    told = done()
    assert (told["memories"], told["problems"][0]["where"]) == ({"new": 1}, "memories.jsonl, record 2")
    assert ask("recall", "TypeScript").json["hits"][0]["memory"]["text"] == "I prefer TypeScript."
    assert done()["memories"] == {"unchanged": 1}


def test_stats_are_of_the_named_folder_or_the_originals_store(
    ask: Ask, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ask("maintenance", "--storage-path", str(store), "stats").json
    assert (found["memories"]["total_lines"], found["bad_lines"], found["system"]) == (2, 1, "mnemex")
    assert found["hint"] == f"Import it: pieria import {store} --from mnemex"
    said = ask("maintenance", "--storage-path", str(store), "stats", "--no-json").out
    assert "a store of mnemex" in said and "damaged lines" in said
    assert "pieria import" in ask("maintenance", "--storage-path", str(store), "compact").failed(2)
    assert [path.name for path in store.iterdir()] == ["memories.jsonl"]
    ask("remember", "x", "--data", str(tmp_path / "ours"))
    ours = ask("maintenance", "--storage-path", str(tmp_path / "ours"), "stats").json
    assert (ours["memories"]["active"], ours["should_compact"], "store" in ours) == (1, False, False)
    monkeypatch.delenv("PIERIA_DATA")
    monkeypatch.setenv("MNEMEX_STORAGE_PATH", str(store))
    assert ask("maintenance", "stats").json["system"] == "mnemex"
    ask("remember", "x")
    found = ask("maintenance", "stats").json
    assert (found["memories"]["active"], found["store"]["memories"]["active"]) == (1, 1)


def test_compacting_removes_nothing_else(ask: Ask) -> None:
    for text in ("x" * 500_000, "kept"):
        ask("remember", "-", stdin=text)
    done = ask("maintenance", "compact").json
    assert done["before"]["memories"] == done["after"]["memories"] == 2
    assert done["after"]["bytes"] <= done["before"]["bytes"]
    assert done["unreached"] == []
    assert "compacted" in ask("maintenance", "compact", "--no-json").out


def test_other_system_is_imported_after_a_dry_run(ask: Ask, tmp_path: Path, home: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id": "a", "text": "Herons stand still."}\n{"id": "b"}\n')
    answer = ask("import", "--from", "jsonl", str(file), "--dry-run")
    told = json.loads(answer.out)
    assert answer.code == 1 and told["memories"] == {"new": 1} and told["dry_run"]
    assert not list(home.rglob("*.db"))
    answer = ask("import", "--from", "jsonl", str(file), "--no-json")
    assert answer.code == 1 and "text: expected a text" in answer.words and "1 new" in answer.words
    file.write_text('{"id": "a", "text": "Herons stand very still."}\n')
    assert ask("import", "--from", "jsonl", str(file)).json["memories"] == {"changed": 1}
    assert ask("recall", "herons").json["hits"][0]["memory"]["text"] == "Herons stand very still."


def test_import_that_fails_at_once_makes_no_bank(ask: Ask, tmp_path: Path, home: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert "holds nothing to import" in ask("import", "--from", "jsonl", str(tmp_path / "empty.jsonl")).failed(1)
    assert "no such file" in ask("import", "--from", "mem0", str(tmp_path / "none")).failed(1)
    assert "--mode goes without --from" in ask("import", "--from", "mem0", str(tmp_path), "--mode", "merge").failed(2)
    assert "--user goes with --from" in ask("import", str(tmp_path), "--user", "x").failed(2)
    assert not list(home.rglob("*.db"))


def test_bank_is_exported_in_another_format(ask: Ask, tmp_path: Path) -> None:
    ask("remember", "Herons stand still.")
    path = tmp_path / "out.json"
    assert ask("export", "--to", "json", str(path)).json["counts"] == {"memories": 1}
    assert json.loads(path.read_text())["memories"][0]["text"] == "Herons stand still."
    assert "a new file" in ask("export", "--to", "json", str(path)).failed(2)
    assert "exported to" in ask("export", "--to", "json", str(path), "--replace", "--no-json").words
    assert "--replace goes with --to" in ask("export", str(path), "--replace").failed(2)
