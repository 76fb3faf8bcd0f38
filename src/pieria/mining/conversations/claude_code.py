"""Claude Code: a file of JSON lines for each session, under `~/.claude/projects/<folder>/`.

A line of the type `user` or `assistant` holds a message of text, of tool calls and of their results. A reply that is
interrupted by tools is several lines, each a turn of its own; the files that the tools touched go with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pieria.language.typed import typed
from pieria.mining.conversations.records import Record, said_in_lines
from pieria.mining.said import BY_SUB_AGENTS, BY_THE_HOST, Heard, Left, Said, Turns, clean, wrong

NAME = "claude-code"
TYPES = ("user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation", "progress")
_IDS = ("uuid", "leafUuid", "messageId")
_FILES = ("file_path", "notebook_path")
_COMMAND = re.compile(r"<command-name>\s*(\S*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_TYPED = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_BY_HOST_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_BY_HOST_ALONE = ("Caveat: The messages below were generated", "[Request interrupted", "No response requested.")


def matches(heads: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        isinstance(head.get("type"), str)
        and ("sessionId" in head or (head["type"] in TYPES and any(name in head for name in _IDS)))
        for head in heads
    )


def read(path: Path, heard: Heard) -> Iterator[Said]:
    return said_in_lines(path, heard, _Reading(path).line)


class _Reading:
    """State from earlier lines of a file that later lines need."""

    def __init__(self, path: Path) -> None:
        self._session = path.stem
        self._turns = Turns()

    def line(self, record: Record) -> Said | None:
        line = record.value
        if not isinstance(line, dict) or not isinstance(line.get("type"), str):
            return wrong(record.number, "an object with a type", line)
        if line["type"] == "attachment":
            line = _queued(line)
        if line["type"] not in ("user", "assistant"):
            return None
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str | list):
            return wrong(record.number, "a message with content, a text or a list", line)
        if line.get("isSidechain"):
            return Left(BY_SUB_AGENTS)
        if any(line.get(mark) for mark in _BY_HOST_MARKS):
            return Left(BY_THE_HOST)
        return self._said(record.number, line, content)

    def _said(self, number: int, line: Mapping[str, Any], content: str | list[Any]) -> Said | None:
        is_reply = line["type"] == "assistant"
        written = texts(content)
        text = clean(written if is_reply else _asked(written))
        folder = line.get("cwd")
        session = line.get("sessionId")
        session = session if isinstance(session, str) and session.strip() else self._session
        if is_reply:
            self._turns.files |= dict.fromkeys(files_of(content))
        if not text or text.startswith(_BY_HOST_ALONE):
            return Left(BY_THE_HOST) if written.strip() else None
        unit = line.get("uuid")
        unit = unit if isinstance(unit, str) and unit else f"{session}:{number}"
        folder = folder if isinstance(folder, str) else None
        return self._turns.turn(line["type"], unit, session, text, line.get("timestamp"), folder)


def _queued(line: dict[str, Any]) -> dict[str, Any]:
    """Return a prompt that a person typed while the agent worked as a normal prompt.

    Notices of the host and messages of other agents wait in the same queue, and are left out.
    """
    about = line.get("attachment")
    told: Mapping[str, Any] = about if isinstance(about, dict) else {}
    origin = told.get("origin")
    is_human = not isinstance(origin, dict) or origin.get("kind") == "human"
    if told.get("type") != "queued_command" or told.get("commandMode") != "prompt" or not is_human:
        return line
    said = {
        "type": "user",
        "message": {"content": told.get("prompt")},
        "uuid": told.get("source_uuid") or line.get("uuid"),
    }
    return {**line, **said, "isMeta": line.get("isMeta") or told.get("isMeta")}


def texts(content: str | list[Any]) -> str:
    """Return the text blocks of a message, without tool calls and results."""
    if isinstance(content, str):
        return content
    found = (block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text")
    return "\n\n".join(text for text in found if isinstance(text, str) and text.strip())


def files_of(content: str | list[Any]) -> Iterator[str]:
    """Yield the files in a message's tool calls."""
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            for name in _FILES:
                if isinstance(path := block["input"].get(name), str):
                    yield path


def _asked(text: str) -> str:
    """Return what a person typed, without what the host added. A command is kept with its text."""
    command, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    said = typed(text)
    if command:
        said = _ARGUMENTS.sub("", _COMMAND.sub("", said)).strip()
        given = arguments[1].strip() if arguments else ""
        return "\n".join(part for part in (f"{command[1]} {given}" if given else "", said) if part)
    return _TYPED.sub("", said)
