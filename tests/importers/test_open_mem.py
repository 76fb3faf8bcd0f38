"""open-mem: its databases with the columns of its version 0.14, its payload, and the way back."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank
from pieria.errors import TransferError
from pieria.exporters import export_to
from pieria.importers import found, import_from

ONE, TWO, OLD, GONE, SUM = (f"{number}d0c4c1e-1b1f-4f6a-8f5e-2a6b7c8d9e0f" for number in range(1, 6))
TABLES = """
CREATE TABLE sessions (_rowid INTEGER PRIMARY KEY, id TEXT, project_path TEXT, started_at TEXT, status TEXT);
CREATE TABLE observations (
    _rowid INTEGER PRIMARY KEY, id TEXT, session_id TEXT, type TEXT, title TEXT, subtitle TEXT DEFAULT '',
    facts TEXT DEFAULT '[]', narrative TEXT DEFAULT '', concepts TEXT DEFAULT '[]', files_read TEXT DEFAULT '[]',
    files_modified TEXT DEFAULT '[]', raw_tool_output TEXT, tool_name TEXT, created_at TEXT, token_count INTEGER,
    discovery_tokens INTEGER DEFAULT 0, embedding TEXT, importance INTEGER DEFAULT 3, superseded_by TEXT,
    superseded_at TEXT, scope TEXT DEFAULT 'project', revision_of TEXT, deleted_at TEXT);
CREATE TABLE session_summaries (
    _rowid INTEGER PRIMARY KEY, id TEXT, session_id TEXT, summary TEXT, key_decisions TEXT DEFAULT '[]',
    files_modified TEXT DEFAULT '[]', concepts TEXT DEFAULT '[]', created_at TEXT, token_count INTEGER,
    request TEXT DEFAULT '', investigated TEXT DEFAULT '', learned TEXT DEFAULT '', completed TEXT DEFAULT '',
    next_steps TEXT DEFAULT '');
CREATE TABLE entities (_rowid INTEGER PRIMARY KEY, id TEXT, name TEXT, entity_type TEXT);
CREATE TABLE entity_relations (
    _rowid INTEGER PRIMARY KEY, id TEXT, source_entity_id TEXT, target_entity_id TEXT, relationship TEXT,
    observation_id TEXT, created_at TEXT);
CREATE TABLE entity_observations (entity_id TEXT, observation_id TEXT);
"""


def store(folder: Path) -> Path:
    path = folder / ".open-mem" / "memory.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(TABLES)
        rows: list[dict[str, Any]] = [
            {"id": ONE, "session_id": "s1", "type": "decision", "title": "SQLite", "narrative": "One file.",
             "facts": '["No server."]', "concepts": '["storage"]', "files_modified": '["src/db.ts"]',
             "files_read": '["src/a.ts"]', "created_at": "2026-01-10T00:00:00.000Z", "importance": 5,
             "tool_name": "mem-create", "raw_tool_output": "Long."},
            {"id": TWO, "session_id": "s1", "type": "change", "title": "Only a title", "tool_name": "Edit",
             "created_at": "2026-01-11 08:00:00", "raw_tool_output": ""},
            {"id": OLD, "session_id": "s1", "type": "change", "title": "Old", "superseded_by": ONE,
             "created_at": "2026-01-01T00:00:00.000Z", "raw_tool_output": "", "tool_name": "x"},
            {"id": GONE, "session_id": "s1", "type": "change", "title": "Swordfish", "deleted_at": "2026-01-02",
             "created_at": "2026-01-01T00:00:00.000Z", "raw_tool_output": "", "tool_name": "x"},
        ]  # fmt: skip
        for row in rows:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            base.execute(f"INSERT INTO observations ({names}) VALUES ({marks})", tuple(row.values()))
        base.execute(
            "INSERT INTO session_summaries (id, session_id, summary, key_decisions, created_at) VALUES (?, ?, ?, ?, ?)",
            (SUM, "s1", "A day of storage.", '["SQLite"]', "2026-01-11T09:00:00.000Z"),
        )
        base.executescript(f"""
            INSERT INTO entities VALUES (1, 'e1', 'SQLite', 'technology'), (2, 'e2', 'cache', 'concept');
            INSERT INTO entity_relations VALUES (1, 'r1', 'e2', 'e1', 'uses', '{ONE}', '2026-01-10T00:00:00.000Z');
            INSERT INTO entity_observations VALUES ('e1', '{ONE}');
        """)
    return path


def test_project_arrives_with_sessions_summaries_and_relations(bank: Bank, tmp_path: Path) -> None:
    path = store(tmp_path / "shop")
    before = path.read_bytes()
    tried = import_from(bank, "open-mem", tmp_path / "shop", dry_run=True)
    assert (bank.count(), tried.memories, tried.facts) == (0, {"new": 3}, {"new": 1})
    report = import_from(bank, "open-mem", tmp_path / "shop")
    assert (report.memories, report.facts, report.well) == ({"new": 3}, {"new": 1}, True)
    assert sum(report.left.values()) == 2
    one, two, day = (bank.get(id) for id in (ONE, TWO, SUM))
    assert one is not None and two is not None and day is not None
    assert (one.kind, one.text, one.title, one.tags, one.session) == (
        "observation", "One file.", "SQLite", ("storage",), "s1",
    )  # fmt: skip
    assert (one.files, one.importance, one.trust, one.source) == (("src/db.ts", "src/a.ts"), 1.0, 0.5, "mem-create")
    assert (one.at.date().isoformat(), one.entities) == ("2026-01-10", ("SQLite",))
    assert (two.text, two.at.isoformat()) == ("Only a title", "2026-01-11T08:00:00+00:00")
    assert (day.kind, day.body["key_decisions"]) == ("summary", ["SQLite"])
    assert bank.facts.query(subject="cache")[0].object == "SQLite"
    again = import_from(bank, "open-mem", path)
    assert (again.memories, again.facts) == ({"unchanged": 3}, {"unchanged": 1})
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["memory.db"]


def test_payload_and_whole_reply_are_read_alike(bank: Bank, tmp_path: Path) -> None:
    row = {"id": ONE, "sessionId": "s1", "type": "decision", "title": "T", "narrative": "Text.", "importance": 4,
           "filesRead": [], "filesModified": ["a.py"], "createdAt": "2026-01-10T00:00:00Z"}  # fmt: skip
    payload = {"version": 1, "project": "p", "observations": [row, {"title": "no id"}], "summaries": []}
    for name, told in (("a", payload), ("b", {"data": {"payload": payload, "format": "json"}, "error": None})):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(told))
        report = import_from(bank, "open-mem", path)
        assert (report.memories, report.problem_count) == ({"new" if name == "a" else "unchanged": 1}, 1)


def test_other_files_and_folders_are_refused(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.json").write_text('{"version": 1}')
    (tmp_path / "b.json").write_text('{"observations": [')
    with closing(sqlite3.connect(tmp_path / "other.db")) as base:
        base.execute("CREATE TABLE notes (id)")
    for name in ("empty", "a.json", "b.json", "other.db"):
        with pytest.raises(TransferError):
            import_from(bank, "open-mem", tmp_path / name)
    assert bank.count() == 0


def test_only_the_users_store_is_found(tmp_path: Path) -> None:
    store(tmp_path / "project")
    assert "open-mem" not in found({}, tmp_path / "project")
    path = tmp_path / ".config" / "open-mem" / "user-memory.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE user_observations (id TEXT, type TEXT, title TEXT, narrative TEXT, created_at TEXT)")
    assert found({}, tmp_path)["open-mem"] == path
    named = store(tmp_path / "elsewhere")
    assert found({"OPEN_MEM_DB_PATH": str(named)}, tmp_path)["open-mem"] == named


def test_export_is_a_payload_without_what_it_cannot_carry(bank: Bank, tmp_path: Path) -> None:
    kept = bank.remember("One file.", title="SQLite", kind="observation", body={"type": "plan"}, files=["a.py"])
    bank.remember("A turn.", kind="turn")
    bank.remember("Mine.", scope="user")
    gone = bank.remember("Swordfish.")
    bank.remove(gone.id)
    bank.remember("A day.", kind="summary", session="s1", body={"type": "session"})
    bank.facts.add("cache", "uses", "SQLite")
    report = export_to(bank, "open-mem", tmp_path / "out.json")
    told = json.loads((tmp_path / "out.json").read_text())
    assert [(row["id"], row["type"], row["filesModified"]) for row in told["observations"]] == [
        (kept.id, "decision", ["a.py"]),
    ]  # fmt: skip
    assert ([row["summary"] for row in told["summaries"]], report.counts["memories"]) == (["A day."], 2)
    assert (report.left["facts"], sum(report.left.values())) == (1, 2)
    assert "Swordfish" not in (tmp_path / "out.json").read_text()
    with pieria.open("back", data=tmp_path / "data") as back:
        assert import_from(back, "open-mem", tmp_path / "out.json").memories == {"new": 2}
