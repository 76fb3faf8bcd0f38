"""Claude.ai: the file `conversations.json` of an export, one array of conversations with their `chat_messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.mining.conversations.records import Record, json_elements
from pieria.mining.said import AGENT, ASSISTANT, HUMAN, USER, Heard, Said, Turn, clean, wrong

NAME = "claude"
_SPEAKERS = {"human": (USER, HUMAN), "user": (USER, HUMAN), "assistant": (ASSISTANT, AGENT)}


def matches(head: Mapping[str, Any]) -> bool:
    return "chat_messages" in head


def read(path: Path, heard: Heard) -> Iterator[Said]:
    for record in json_elements(path, heard):
        if isinstance(record, Record):
            yield from _conversation(record)
        else:
            yield record


def _conversation(record: Record) -> Iterator[Said]:
    told = record.value
    messages = told.get("chat_messages") if isinstance(told, dict) else None
    if not isinstance(messages, list) or not isinstance(told.get("uuid"), str):
        yield wrong(record.number, "a conversation with a uuid and a list of chat_messages", told)
        return
    name = told.get("name")
    sequence = 0
    for message in messages:
        speaker = _SPEAKERS.get(str(message.get("sender"))) if isinstance(message, dict) else None
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
            title=name if isinstance(name, str) and name.strip() else None,
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
