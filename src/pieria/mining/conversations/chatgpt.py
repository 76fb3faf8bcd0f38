"""ChatGPT: the file `conversations.json` of an export, an array of conversations or a single one.

A conversation is a tree of messages, its `mapping`: a repeated answer or an edited question starts a branch. Only the
branch that leads to `current_node` is read; messages of other branches are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.mining.conversations.records import Record, json_elements
from pieria.mining.said import AGENT, ASSISTANT, HUMAN, USER, Heard, Left, Said, Turn, clean, wrong

NAME = "chatgpt"
OTHER_BRANCHES = "in branches that were not taken"
BY_THE_HOST = "written by the host itself"
_SPEAKERS = {"user": (USER, HUMAN), "assistant": (ASSISTANT, AGENT)}
_TEXTS = ("text", "multimodal_text")


def matches(head: Mapping[str, Any]) -> bool:
    return isinstance(head.get("mapping"), dict)


def read(path: Path, heard: Heard) -> Iterator[Said]:
    for record in json_elements(path, heard):
        if isinstance(record, Record):
            yield from _conversation(record)
        else:
            yield record


def _conversation(record: Record) -> Iterator[Said]:
    told = record.value
    mapping = told.get("mapping") if isinstance(told, dict) else None
    session = (told.get("conversation_id") or told.get("id")) if isinstance(told, dict) else None
    if not isinstance(mapping, dict) or not isinstance(session, str) or not session.strip():
        yield wrong(record.number, "a conversation with an id and a mapping", told)
        return
    title = told.get("title")
    title = title if isinstance(title, str) and title.strip() else None
    sequence = 0
    way = _way(mapping, told.get("current_node"))
    for node in way:
        said = _message(record.number, mapping[node], node)
        if isinstance(said, Turn):
            sequence += 1
            at = said.at or told.get("create_time")
            yield said._replace(session=session, sequence=sequence, title=title, at=at)
        elif said is not None:
            yield said
    taken = set(way)
    for node, value in mapping.items():
        if node not in taken and isinstance(_message(record.number, value, node), Turn):
            yield Left(OTHER_BRANCHES)


def _way(mapping: Mapping[str, Any], current: object) -> list[str]:
    """Return the path from the root to the current message, or else to the newest message."""
    if not isinstance(current, str) or current not in mapping:
        current = max(mapping, key=lambda node: _time(mapping[node]), default=None)
    way: dict[str, None] = {}
    while isinstance(current, str) and current in mapping and current not in way:
        way[current] = None
        node = mapping[current]
        current = node.get("parent") if isinstance(node, dict) else None
    return list(way)[::-1]


def _time(node: Any) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, int | float) else -1.0


def _message(number: int, node: Any, name: str) -> Said | None:
    """Return the turn of a node; None for other speakers or without text."""
    message = node.get("message") if isinstance(node, dict) else None
    if not isinstance(node, dict) or not isinstance(message, dict | None):
        return wrong(number, "a mapping of nodes with a message", node)
    if message is None:
        return None
    author, content = message.get("author"), message.get("content")
    if not isinstance(author, dict) or not isinstance(content, dict):
        return wrong(number, "a message with author and content", message)
    speaker = _SPEAKERS.get(str(author.get("role")))
    about = message.get("metadata")
    if speaker is None or message.get("recipient") not in (None, "all") or content.get("content_type") not in _TEXTS:
        return None
    parts = content.get("parts")
    if not isinstance(parts, list):
        return wrong(number, "a message with a list of parts", message)
    text = clean("\n\n".join(part for part in map(_part, parts) if part.strip()))
    if not text:
        return None
    if isinstance(about, dict) and about.get("is_visually_hidden_from_conversation"):
        return Left(BY_THE_HOST)
    unit = message.get("id")
    named = unit if isinstance(unit, str) and unit else name
    return Turn(named, "", 0, *speaker, text, message.get("create_time"))


def _part(part: Any) -> str:
    """Return the text or transcribed speech of a part; pictures and sounds give nothing."""
    if isinstance(part, dict):
        part = part.get("text")
    return part if isinstance(part, str) else ""
