"""claude-mem: a database with the columns of version 13."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pieria import Bank
from pieria.errors import TransferError
from pieria.importers import found, import_from

TABLES = """
CREATE TABLE sdk_sessions (
    id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT, platform_source TEXT,
    user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT, custom_title TEXT);
CREATE TABLE observations (
    id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT,
    facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER,
    discovery_tokens INTEGER, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE session_summaries (
    id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT, investigated TEXT, learned TEXT,
    completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER,
    created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE user_prompts (
    id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at TEXT,
    created_at_epoch INTEGER);
INSERT INTO sdk_sessions VALUES
    (1, 'claude-1', 'mem-1', 'billing', 'claude', 'Fix it', '2026-01-10', 1, 'active', NULL);
INSERT INTO observations VALUES
    (1, 'mem-1', 'billing', NULL, 'bugfix', 'The clock', 'UTC', '["It was local time."]', 'The clock is UTC now.',
     '["problem-solution"]', '["src/a.py"]', '["src/queue.py"]', 1, 900, '2026-01-10T09:00:00.000Z', 1768035600000),
    (2, 'mem-1', 'billing', NULL, 'change', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, '2026-01-10', 1);
INSERT INTO session_summaries VALUES
    (1, 'mem-1', 'billing', 'Mend payments', NULL, 'Clocks differ', 'UTC everywhere', 'Watch Friday', '[]',
     '["src/queue.py"]', NULL, 1, '2026-01-10T10:00:00.000Z', 1768039200000);
INSERT INTO user_prompts VALUES (1, 'claude-1', 1, 'Why do payments fail?', '2026-01-10T08:59:00.000Z', 1768035540000);
"""


def store(folder: Path) -> Path:
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "claude-mem.db")) as base, base:
        base.executescript(TABLES)
    return folder


def test_observations_summaries_and_prompts_arrive(bank: Bank, tmp_path: Path) -> None:
    folder = store(tmp_path / ".claude-mem")
    assert import_from(bank, "claude-mem", folder, dry_run=True).memories == {"new": 3}
    report = import_from(bank, "claude-mem", folder)
    assert (report.memories, [str(one).partition(":")[0] for one in report.problems]) == (
        {"new": 3}, ["observation 2"],
    )  # fmt: skip
    [fixed] = bank.list(kinds="observation")
    assert (fixed.text, fixed.title, fixed.session, fixed.place) == (
        "The clock is UTC now.", "The clock", "claude-1", "billing/observation",
    )  # fmt: skip
    assert (fixed.files, fixed.body["type"], fixed.body["facts"], fixed.trust) == (
        ("src/queue.py", "src/a.py"), "bugfix", ["It was local time."], 0.5,
    )  # fmt: skip
    [day] = bank.list(kinds="summary")
    assert (day.body["next_steps"], "Learned: Clocks differ" in day.text) == ("Watch Friday", True)
    [asked] = bank.list(kinds="turn")
    assert (asked.text, asked.author_type, asked.sequence) == ("Why do payments fail?", "human", 1)
    assert import_from(bank, "claude-mem", folder / "claude-mem.db").memories == {"unchanged": 3}


def test_store_is_found_and_others_are_refused(bank: Bank, tmp_path: Path) -> None:
    assert "claude-mem" not in found({}, tmp_path)
    folder = store(tmp_path / ".claude-mem")
    assert found({}, tmp_path)["claude-mem"] == folder / "claude-mem.db"
    moved = store(tmp_path / "moved")
    assert found({"CLAUDE_MEM_DATA_DIR": str(moved)}, tmp_path / "x")["claude-mem"] == moved / "claude-mem.db"
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0 and nothing more")
    for name in ("broken.db", "absent", "."):
        with pytest.raises(TransferError):
            import_from(bank, "claude-mem", tmp_path / name)
