"""claude-mem: its database, with the observations, summaries and prompts of all projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.errors import TransferError
from pieria.importers import Importer, database
from pieria.importers.items import Item, MemoryItem, Problem
from pieria.importers.observations import PARTS, observation, summary, written
from pieria.importers.source import Source
from pieria.importers.values import name_of, text_of, without_nothing
from pieria.mining.said import excerpt
from pieria.record.draft import NewMemory
from pieria.record.place_name import place_name

EXPECTS = "the database of claude-mem, or its folder"
FILE = "claude-mem.db"
_TABLES = ("observations", "session_summaries", "user_prompts")
_ROWS = """
SELECT one.*, session.content_session_id AS session, session.custom_title, session.platform_source
FROM {} AS one LEFT JOIN sdk_sessions AS session ON session.memory_session_id = one.memory_session_id ORDER BY one.id
"""
_PROMPTS = """
SELECT one.*, one.content_session_id AS session, session.project, session.platform_source
FROM user_prompts AS one LEFT JOIN sdk_sessions AS session ON session.id = (
    SELECT max(id) FROM sdk_sessions WHERE content_session_id = one.content_session_id) ORDER BY one.id
"""
_KEPT = ("prompt_number", "agent_type", "agent_id", "custom_title", "platform_source", "merged_into_project")


def read(source: Source) -> Iterator[Item]:
    path = source.path / FILE if source.path.is_dir() else source.path
    if not database.is_database(path):
        raise TransferError(path, "it is no database", hint=f"Expected {EXPECTS}.")
    with database.opened(path) as base:
        tables = base.tables()
        if not {"observations", "sdk_sessions"} <= tables or "memory_session_id" not in base.columns("observations"):
            raise TransferError(path, "it is no store of claude-mem", hint=f"Expected {EXPECTS}.")
        source.total = sum(base.count(table) for table in _TABLES if table in tables)
        for row in base.query(_ROWS.format("observations")):
            yield _item("observation", row, observation(row, **_given(row, "observation")))
        for row in base.query(_ROWS.format("session_summaries")) if "session_summaries" in tables else ():
            yield _item("summary", row, summary(row, (*PARTS, "notes"), **_given(row, "summary")))
        for row in base.query(_PROMPTS) if "user_prompts" in tables else ():
            yield _item("prompt", row, _prompt(row))


def _given(row: Mapping[str, Any], room: str) -> dict[str, Any]:
    project = name_of(row.get("project"))
    return {
        "session": name_of(row.get("session")) or name_of(row.get("memory_session_id")),
        "at": written(row),
        "place": f"{place_name(Path(project).name)}/{room}" if project else None,
        "meta": without_nothing({"project": project, **{name: row.get(name) for name in _KEPT}}),
    }


def _prompt(row: Mapping[str, Any]) -> NewMemory | None:
    text = text_of(row.get("prompt_text"))
    number = row.get("prompt_number")
    given = _given(row, "claude-code")
    sequence = number if isinstance(number, int) and number >= 0 else None
    return None if text is None else NewMemory(
        text, kind="turn", author="user", author_type="human", sequence=sequence, **given
    )  # fmt: skip


def _item(what: str, row: Mapping[str, Any], new: NewMemory | None) -> Item:
    where = f"{what} {row.get('id')}"
    return Problem(where, "expected a text", excerpt(dict(row))) if new is None else MemoryItem(where, new)


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    named = environment.get("CLAUDE_MEM_DATA_DIR")
    path = (Path(named).expanduser() if named else home / ".claude-mem") / FILE
    return path if database.is_database(path) else None


IMPORTER = Importer("claude-mem", "claude-mem", EXPECTS, read, find)
