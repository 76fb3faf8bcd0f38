"""Exports of hosted chats: the file `conversations.json` of ChatGPT, and that of Claude.ai.

Both are an array of conversations; ChatGPT may export a single one. A conversation of ChatGPT is a tree of messages,
its `mapping`: a repeated answer or an edited question starts a branch. Only the branch that leads to `current_node` is
read; messages of other branches are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pieria.mining.conversations.records import Record, json_elements
from pieria.mining.said import BY_THE_HOST, SPEAKERS, Heard, Left, Said, Turn, clean, titled, wrong
from pieria.record.ids import derived_id

CHATGPT, CLAUDE = "chatgpt", "claude"
OTHER_BRANCHES = "in branches that were not taken"
_CLAUDE_SPEAKERS = {"human": SPEAKERS["user"], **SPEAKERS}
_TEXTS = ("text", "multimodal_text")


def is_chatgpt(head: Mapping[str, Any]) -> bool:
    return isinstance(head.get("mapping"), dict)


def is_claude(head: Mapping[str, Any]) -> bool:
    return "chat_messages" in head


def _read(conversation: Callable[[Record], Iterator[Said]], path: Path, heard: Heard) -> Iterator[Said]:
    for record in json_elements(path, heard):
        if isinstance(record, Record):
            yield from conversation(record)
        else:
            yield record


# --- ChatGPT


def _of_chatgpt(record: Record) -> Iterator[Said]:
    told = record.value
    mapping = told.get("mapping") if isinstance(told, dict) else None
    if not isinstance(mapping, dict):
        yield wrong(record.number, "a conversation with a mapping", told)
        return
    session = _session_of(told, mapping)
    title = titled(told.get("title"))
    sequence = 0
    way = _way(mapping, told.get("current_node"))
    for node in way:
        said = _message(record.number, mapping[node], f"{session}:{node}")
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


def _session_of(told: Mapping[str, Any], mapping: Mapping[str, Any]) -> str:
    """Return the conversation's id. Without one, derive it from its begin, which stays when it grows."""
    for name in ("conversation_id", "id"):
        if isinstance(told.get(name), str) and told[name].strip():
            return str(told[name])
    begin = next(iter(_way(mapping, told.get("current_node"))), "")
    return derived_id("chatgpt_", str(told.get("create_time")), str(told.get("title")), begin)


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
    speaker = SPEAKERS.get(str(author.get("role")))
    about = message.get("metadata")
    if speaker is None or message.get("recipient") not in (None, "all") or content.get("content_type") not in _TEXTS:
        return None
    parts = content.get("parts")
    if not isinstance(parts, list):
        return wrong(number, "a message with a list of parts", message)
    text = clean("\n\n".join(part for part in map(_part, parts) if part.strip()))
    if not text:
        return None
    if isinstance(about, dict) and about.get("is_visually_hidden_from_of_chatgpt"):
        return Left(BY_THE_HOST)
    unit = message.get("id")
    named = unit if isinstance(unit, str) and unit else name
    return Turn(named, "", 0, *speaker, text, message.get("create_time"))


def _part(part: Any) -> str:
    """Return the text or transcribed speech of a part; pictures and sounds give nothing."""
    if isinstance(part, dict):
        part = part.get("text")
    return part if isinstance(part, str) else ""


# --- Claude.ai


def _of_claude(record: Record) -> Iterator[Said]:
    told = record.value
    messages = told.get("chat_messages") if isinstance(told, dict) else None
    if not isinstance(messages, list) or not isinstance(told.get("uuid"), str):
        yield wrong(record.number, "a conversation with a uuid and a list of chat_messages", told)
        return
    sequence = 0
    for message in messages:
        speaker = _CLAUDE_SPEAKERS.get(str(message.get("sender"))) if isinstance(message, dict) else None
        if speaker is None:
            yield wrong(record.number, "chat_messages whose sender is human or assistant", message)
            continue
        text = clean(_text(message))
        if not text:
            continue
        sequence += 1
        unit = message.get("uuid")
        yield Turn(
            unit=unit if isinstance(unit, str) and unit else f"{told['uuid']}:{sequence}",
            session=told["uuid"],
            sequence=sequence,
            author=speaker[0],
            author_type=speaker[1],
            text=text,
            at=message.get("created_at") or told.get("created_at"),
            title=titled(told.get("name")),
        )


def _text(message: Mapping[str, Any]) -> str:
    """Return the text blocks, followed by the texts of attached files."""
    content = message.get("content")
    blocks = [
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    said = "\n\n".join(block for block in blocks if block.strip())
    if not said and isinstance(message.get("text"), str):
        said = message["text"]
    attached = message.get("attachments")
    for one in attached if isinstance(attached, list) else ():
        if isinstance(one, dict) and isinstance(one.get("extracted_content"), str) and one["extracted_content"].strip():
            said += f"\n\n[{one.get('file_name') or 'attached'}]\n{one['extracted_content']}"
    return said


read_chatgpt = partial(_read, _of_chatgpt)
read_claude = partial(_read, _of_claude)
