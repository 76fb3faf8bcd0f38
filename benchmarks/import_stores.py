"""Stores of other systems, of any size, for the benchmark of imports: a function a system that writes one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from benchmarks.workload import Workload

DAY, SECONDS = "2025-03-01T10:00:00Z", 1_740_823_200
TURNS = 40
"""Turns of a conversation."""


def _uuid(number: int) -> str:
    return f"0b000000-0000-4000-8000-{number:012d}"


def _lines(path: Path, rows: Iterable[Any]) -> Path:
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def _document(path: Path, **lists: Iterable[Any]) -> Path:
    with path.open("w") as file:
        for number, (name, rows) in enumerate(lists.items()):
            file.write(("," if number else "{") + json.dumps(name) + ": [")
            file.writelines(("," if at else "") + json.dumps(row) for at, row in enumerate(rows))
            file.write("]")
        file.write("}")
    return path


def _list(path: Path, rows: Iterable[Any]) -> Path:
    with path.open("w") as file:
        file.write("[")
        file.writelines(("," if at else "") + json.dumps(row) for at, row in enumerate(rows))
        file.write("]")
    return path


def _database(path: Path, tables: str, insert: str, rows: Iterable[tuple[Any, ...]]) -> Path:
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(tables)
        base.executemany(insert, rows)
    return path


def _jsonl(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": f"n{number}", "text": text, "at": DAY, "tags": ["note"]} for number, text in enumerate(texts))
    return _lines(folder / "notes.jsonl", rows)


def _mem0(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": _uuid(number), "memory": text, "user_id": "ida", "created_at": DAY, "metadata": {"n": number}}
            for number, text in enumerate(texts))  # fmt: skip
    return _document(folder / "mem0.json", results=rows)


def _mnemex(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": _uuid(number), "content": text, "meta": {"tags": ["t"]}, "created_at": 1_735_689_600,
             "last_used": 1_735_776_000, "use_count": number % 5, "embed": [0.5] * 384}
            for number, text in enumerate(texts))  # fmt: skip
    _lines(folder / "memories.jsonl", rows)
    ties = ({"id": _uuid(900_000_000 + number), "from_memory_id": _uuid(number), "to_memory_id": _uuid(number + 1),
             "relation_type": "related", "strength": 0.5} for number in range(30))  # fmt: skip
    _lines(folder / "relations.jsonl", ties)
    return folder


def _plugmem(folder: Path, texts: Iterable[str]) -> Path:
    begun = 1_735_689_600_000
    rows = ({"kind": "fact", "id": number, "text": text, "entity": f"e{number % 500}", "tags": ["t"],
             "recorded_at": begun, "valid_from": begun} for number, text in enumerate(texts))  # fmt: skip
    edges = ({"kind": "edge", "src": f"e{number}", "rel": "knows", "dst": f"e{number + 1}"} for number in range(499))
    return _lines(folder / "dump.jsonl", chain(rows, edges))


def _graph(folder: Path, texts: Iterable[str]) -> Path:
    """Half the records are episodes, half edges; each edge has a triple and a link, which come on top."""
    names = ({"uuid": _uuid(900_000_000 + number), "name": f"Name {number}", "summary": "", "labels": ["Entity"]}
             for number in range(500))  # fmt: skip

    def rows() -> Iterable[Any]:
        for number, text in enumerate(texts):
            if number % 2 == 0:
                yield {"uuid": _uuid(number), "content": text, "source": "text", "source_description": "chat",
                       "group_id": "ida", "valid_at": DAY}  # fmt: skip
            else:
                source, target = _uuid(900_000_000 + number % 500), _uuid(900_000_000 + number * 7 % 500)
                yield {"uuid": _uuid(number), "fact": text, "name": "KNOWS", "created_at": DAY, "valid_at": DAY,
                       "source_node_uuid": source, "target_node_uuid": target, "group_id": "ida",
                       "episodes": [_uuid(number - 1)]}  # fmt: skip

    return _lines(folder / "graph.jsonl", chain(names, rows()))


def _hindsight(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": _uuid(number), "text": text, "date": DAY, "fact_type": "world", "entities": "Ida, Vega",
             "tags": ["t"], "document_id": f"d{number % 50}"} for number, text in enumerate(texts))  # fmt: skip
    return _document(folder / "memories.json", items=rows)


def _letta(folder: Path, texts: Iterable[str]) -> Path:
    """One agent with all messages, which is the worst that an agent file can be."""
    messages = [{"id": f"message-{number}", "role": ("user", "assistant")[number % 2], "created_at": DAY,
                 "content": [{"type": "text", "text": text}]} for number, text in enumerate(texts)]  # fmt: skip
    blocks = [{"id": "block-0", "label": "human", "value": "Ida rows."}]
    return _document(folder / "sam.af", agents=[{"id": "agent-0", "name": "sam", "messages": messages}], blocks=blocks)


def _basic_memory(folder: Path, texts: Iterable[str]) -> Path:
    top = folder / "notes"
    for number, text in enumerate(texts):
        path = top / f"{number // 500:03d}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        before = f"\n- follows [[note {number - 1}]]\n" if number else ""
        path.write_text(f"---\ntitle: note {number}\ntype: note\npermalink: notes/{number}\n---\n{text}\n{before}")
    return top


def _obsidian(folder: Path, texts: Iterable[str]) -> Path:
    top = folder / "vault"
    for number, text in enumerate(texts):
        path = top / f"{number // 500:03d}" / f"Note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        before = f"\nSee [[Note {number - 1}]]. #t{number % 7}\n" if number else ""
        path.write_text(f"---\ntags: [note]\ncreated: 2025-03-01\n---\n{text}\n{before}")
    return top


def _talks(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield conversations of forty turns."""
    left = iter(texts)
    for number in count():
        turns = list(islice(left, TURNS))
        if not turns:
            return
        yield number, turns


def _chatgpt(folder: Path, texts: Iterable[str]) -> Path:
    def conversation(number: int, turns: list[str]) -> Any:
        mapping = {
            f"m{at}": {"id": f"m{at}", "parent": f"m{at - 1}" if at else None,
                       "children": [f"m{at + 1}"][: len(turns) - at - 1],
                       "message": {"id": f"{number}-{at}", "author": {"role": ("user", "assistant")[at % 2]},
                                   "create_time": SECONDS + 60 * at, "recipient": "all",
                                   "content": {"content_type": "text", "parts": [text]}}}
            for at, text in enumerate(turns)
        }  # fmt: skip
        return {"title": f"Talk {number}", "create_time": SECONDS, "conversation_id": _uuid(number),
                "mapping": mapping, "current_node": f"m{len(turns) - 1}"}  # fmt: skip

    return _list(folder / "conversations.json", (conversation(number, turns) for number, turns in _talks(texts)))


def _claude(folder: Path, texts: Iterable[str]) -> Path:
    def conversation(number: int, turns: list[str]) -> Any:
        messages = [
            {"uuid": f"{number}-{at}", "text": text, "content": [{"type": "text", "text": text}],
             "sender": ("human", "assistant")[at % 2], "created_at": DAY, "attachments": [], "files": []}
            for at, text in enumerate(turns)
        ]  # fmt: skip
        return {"uuid": _uuid(number), "name": f"Talk {number}", "created_at": DAY, "chat_messages": messages}

    return _list(folder / "conversations.json", (conversation(number, turns) for number, turns in _talks(texts)))


def _gemini(folder: Path, texts: Iterable[str]) -> Path:
    left = iter(texts)
    rows = (
        {"header": "Gemini Apps", "title": f"Prompted {asked}", "products": ["Gemini Apps"],
         "time": datetime.fromtimestamp(SECONDS + 60 * number, UTC).isoformat(),
         "safeHtmlItem": [{"html": f"<p>{reply}</p>"}]}
        for number, (asked, reply) in enumerate(zip(left, left, strict=False))
    )  # fmt: skip
    return _list(folder / "MyActivity.json", rows)


def _claude_mem(folder: Path, texts: Iterable[str]) -> Path:
    tables = """
    CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT, platform_source TEXT,
        custom_title TEXT);
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, narrative TEXT,
        created_at TEXT);
    INSERT INTO sdk_sessions VALUES (1, 'claude-1', 'mem-1', 'billing', 'claude', NULL);
    """
    rows = ((number, f"mem-{number % 50}", "billing", "change", f"Change {number}", text, DAY)
            for number, text in enumerate(texts))  # fmt: skip
    return _database(folder / "claude-mem.db", tables, "INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _open_mem(folder: Path, texts: Iterable[str]) -> Path:
    tables = """
    CREATE TABLE observations (
        id TEXT, session_id TEXT, type TEXT, title TEXT, narrative TEXT, created_at TEXT, importance INTEGER);
    """
    rows = ((_uuid(number), f"s{number % 50}", "change", f"Change {number}", text, DAY, 3)
            for number, text in enumerate(texts))  # fmt: skip
    return _database(folder / "memory.db", tables, "INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _mnemosyne(folder: Path, texts: Iterable[str]) -> Path:
    tables = """
    CREATE TABLE working_memory (
        id TEXT PRIMARY KEY, content TEXT, source TEXT, timestamp TEXT, session_id TEXT, importance REAL,
        metadata_json TEXT, veracity TEXT, scope TEXT);
    """
    rows = ((f"m{number}", text, "user", "2025-03-01T10:00:00", f"s{number % 50}", 0.5, "{}", "stated", "global")
            for number, text in enumerate(texts))  # fmt: skip
    return _database(
        folder / "mnemosyne.db", tables, "INSERT INTO working_memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
    )


def _mempalace(folder: Path, texts: Iterable[str]) -> Path:
    """Every fifth drawer lies there in two chunks."""
    tables = """
    CREATE TABLE collections (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE documents (collection_id INTEGER, id TEXT, document TEXT, metadata_json TEXT, embedding BLOB);
    INSERT INTO collections VALUES (1, 'mempalace_drawers');
    """

    def rows() -> Iterator[Any]:
        for number, text in enumerate(texts):
            id = f"drawer_{number}"
            meta = {"wing": f"w{number % 40}", "room": "notes", "added_by": "mcp", "filed_at": "2025-03-01T10:00:00"}
            if number % 5:
                yield 1, id, text, json.dumps(meta), b""
                continue
            for part, chunk in enumerate((text[:40], text[40:])):
                told = meta | {"parent_drawer_id": id, "chunk_index": part}
                yield 1, f"{id}_chunk_{part:06d}", chunk, json.dumps(told), b""

    return _database(folder / "sqlite_exact.sqlite3", tables, "INSERT INTO documents VALUES (?, ?, ?, ?, ?)", rows())


STORES: dict[str, Callable[[Path, Iterable[str]], Path]] = {
    "jsonl": _jsonl,
    "mem0": _mem0,
    "mnemex": _mnemex,
    "plugmem": _plugmem,
    "graphiti": _graph,
    "zep": _graph,
    "hindsight": _hindsight,
    "letta": _letta,
    "basic-memory": _basic_memory,
    "obsidian": _obsidian,
    "chatgpt": _chatgpt,
    "claude": _claude,
    "gemini": _gemini,
    "claude-mem": _claude_mem,
    "open-mem": _open_mem,
    "mnemosyne": _mnemosyne,
    "mempalace": _mempalace,
}
"""By system: writes a store with the texts to a folder, and returns the path to import."""


def written(system: str, folder: Path, items: int) -> Path:
    return STORES[system](folder, Workload().texts(items))
