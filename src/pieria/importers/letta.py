"""Letta: an agent file (.af), or a server with its agents' blocks, archival memory and messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pieria.errors import TransferError
from pieria.importers import Importer, server
from pieria.importers.files import Found, json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import moment_of, name_of, names_of, object_of, text_of, without_nothing
from pieria.mining.passage_cutter import cut
from pieria.mining.said import excerpt
from pieria.record.draft import NewMemory

EXPECTS = "an agent file (.af), a JSON file with passages, or the address of a server of Letta"
KEY = "LETTA_API_KEY"
PAGE = 100
LONGEST = 200_000
_BLOCK_KEPT = ("label", "limit", "read_only", "template_name")
_PASSAGE_KEPT = ("archive_id", "source_id", "file_id", "updated_at")
_SPEAKERS = {"user": ("user", "human"), "assistant": ("assistant", "agent"),
             "user_message": ("user", "human"), "assistant_message": ("assistant", "agent")}  # fmt: skip
_LEFT = {"tools": "tools", "mcp_servers": "MCP servers", "groups": "groups of agents", "sources": "names of sources",
         "skills": "skills"}  # fmt: skip
_UNSAID = "system prompts, thoughts, and calls and results of tools"
_SAYS = "send_message"
"""The tool by which older agents speak."""


def read(source: Source) -> Iterator[Item]:
    if source.is_server:
        yield from _served(source)
        return
    path = source.path
    if not path.is_file():
        raise TransferError(path, "it is a folder", hint=f"Expected {EXPECTS}.")
    agent = path.stem
    for found in json_values(source, path):
        if not isinstance(found, Found):
            yield found
        elif found.key == "agents":
            agent = name_of(found.value.get("name")) or agent if isinstance(found.value, Mapping) else agent
            yield from _agent(found.value, agent, found.where)
        elif found.key == "blocks":
            yield _block(found.value, agent, found.where)
        elif found.key == "files":
            yield from _file(found.value, agent)
        elif found.key in ("", "passages"):
            yield _passage(found.value, agent, found.where)
        elif found.key in _LEFT:
            yield Left(_LEFT[found.key])


def _agent(agent: Any, name: str, where: str) -> Iterator[Item]:
    messages = agent.get("messages") if isinstance(agent, Mapping) else None
    if not isinstance(messages, list):
        yield Problem(where, "expected an agent with messages", excerpt(agent))
        return
    for number, message in enumerate(messages):
        yield _message(message, name, number, f"{where}, messages[{number}]")


def _block(row: Any, agent: str, where: str) -> Item:
    """Return a block of core memory. It is pinned: an agent of Letta sees it at all times."""
    if not isinstance(row, Mapping) or not isinstance(row.get("value"), str):
        return Problem(where, "expected a block with label and value", excerpt(row))
    if not row["value"].strip():
        return Left("blocks without text")
    label = name_of(row.get("label")) or "block"
    new = NewMemory(
        row["value"], title=label, context=text_of(row.get("description")), pinned=True, tags=names_of(row.get("tags")),
        at=moment_of(row.get("created_at")),
        meta=object_of(row.get("metadata")) | without_nothing({name: row.get(name) for name in _BLOCK_KEPT}),
    )  # fmt: skip
    return MemoryItem(_origin(row, agent, f"block {label}"), new)


def _passage(row: Any, agent: str, where: str) -> Item:
    text = text_of(row.get("text")) if isinstance(row, Mapping) else None
    if text is None:
        return Problem(where, "expected a passage with text", excerpt(row))
    if row.get("is_deleted"):
        return Left("passages deleted in Letta")
    new = NewMemory(
        text, tags=names_of(row.get("tags")), source=name_of(row.get("file_name")), at=moment_of(row.get("created_at")),
        meta=object_of(row.get("metadata"))
        | without_nothing({"agent": agent, **{name: row.get(name) for name in _PASSAGE_KEPT}}),
    )  # fmt: skip
    return MemoryItem(_origin(row, agent, f"passage {text}"), new)


def _message(row: Any, agent: str, number: int, where: str) -> Item:
    if not isinstance(row, Mapping):
        return Problem(where, "expected a message", excerpt(row))
    speaker = _SPEAKERS.get(str(row.get("role") or row.get("message_type")))
    text = None if speaker is None else _said(row)
    if speaker is None or text is None:
        return Left(_UNSAID)
    author, kind = speaker
    new = NewMemory(
        text, kind="turn", author=name_of(row.get("name")) or (agent if kind == "agent" else author), author_type=kind,
        session=agent, sequence=number, at=moment_of(row.get("created_at") or row.get("date")),
    )  # fmt: skip
    return MemoryItem(_origin(row, agent, f"message {number}"), new)


def _said(row: Mapping[str, Any]) -> str | None:
    """Return the words of a message: its text, or what an older agent said by calling a tool."""
    content = row.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    text = "\n\n".join(part for part in texts if isinstance(part, str) and part.strip())
    for call in row.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and function.get("name") == _SAYS:
            text = text_of(object_of(function.get("arguments")).get("message")) or text
    return _unwrapped(text)


def _unwrapped(text: str) -> str | None:
    """Return a user's words without the JSON that Letta wraps them in; None for an event of the system."""
    if text.startswith('{"type"') or text.startswith("{\n"):
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(told, dict) and "type" in told:
            return text_of(told.get("message")) if told["type"] == "user_message" else None
    return text_of(text)


def _file(row: Any, agent: str) -> Iterator[Item]:
    text = text_of(row.get("content")) if isinstance(row, Mapping) else None
    if text is None:
        yield Left("files without their text")
        return
    name = name_of(row.get("file_name") or row.get("original_file_name")) or "file"
    for number, part in enumerate(cut(text, limit=LONGEST), 1):
        new = NewMemory(part, title=name, kind="drawer", source=name, at=moment_of(row.get("created_at")))
        yield MemoryItem(f"{agent}/{name}/{number}", new)


def _origin(row: Mapping[str, Any], agent: str, otherwise: str) -> str:
    """Return the record's id. Agent files number their records, so the agent's name comes before those numbers."""
    id = name_of(row.get("id"))
    return id if id is not None and len(id) > 30 else f"{agent}/{id or otherwise}"


def _served(source: Source) -> Iterator[Item]:
    with server.opened(source, "letta", KEY) as api:
        for agent in _pages(api, "/v1/agents/"):
            id, name = name_of(agent.get("id")), name_of(agent.get("name"))
            if id is None or (source.user is not None and source.user not in (id, name)):
                continue
            at, called = f"/v1/agents/{server.quoted(id)}", name or id
            for number, row in enumerate(api.rows(api.get(f"{at}/core-memory/blocks"), "blocks")):
                yield _block(row, called, f"{called}, blocks[{number}]")
            for number, row in enumerate(_pages(api, f"{at}/archival-memory", ascending="true")):
                yield _passage(row, called, f"{called}, passages[{number}]")
            for number, row in enumerate(_pages(api, f"{at}/messages", order="asc")):
                yield _message(row, called, number, f"{called}, messages[{number}]")


def _pages(api: server.Server, path: str, **query: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of every page. The next one begins after the id of the last row."""
    after: str | None = None
    while True:
        rows = [
            row for row in api.rows(api.get(path, limit=PAGE, after=after, **query), "data") if isinstance(row, Mapping)
        ]
        yield from rows
        last = name_of(rows[-1].get("id")) if rows else None
        if len(rows) < PAGE or last is None or last == after:
            return
        after = last


IMPORTER = Importer("letta", "Letta", EXPECTS, read, servers=True, token=KEY)
