"""Conversations in hosts' formats with invented content, for tests of the readers.

The folder `hosts` holds them as the hosts write them: a Claude Code session with tools, a sub-agent, a command and the
host's own lines, a ChatGPT tree with a regenerated first answer, a Codex session from before envelopes, and so on.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

HOSTS = Path(__file__).with_name("hosts")
SESSION = "6f1f7c2e-3b54-4c57-9a5e-0d9f5a3f8a11"
FOLDER = "/home/maya/billing"
NAMED, MARKED = ((HOSTS / name).read_text("utf-8") for name in ("named.md", "marked.txt"))


def lines(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records))
    return path


def document(path: Path, value: Any) -> Path:
    return lines(path, [json.dumps(value)])


def _copied(host: str, file: str, path: Path) -> Path:
    shutil.copytree(HOSTS / host, path, dirs_exist_ok=True, copy_function=shutil.copyfile)
    return path / file


claude_code = partial(_copied, "claude_code", f"-home-maya-billing/{SESSION}.jsonl")
codex = partial(_copied, "codex", f"2026/03/03/rollout-2026-03-03T10-00-00-{SESSION}.jsonl")
old_codex = partial(_copied, "old_codex", "rollout-2025-06-01-old.jsonl")
opencode_storage = partial(_copied, "opencode_storage", "")
opencode_export = partial(_copied, "opencode_export", "session.json")
claude = partial(_copied, "claude", "conversations.json")
chatgpt = partial(_copied, "chatgpt", "conversations.json")
gemini = partial(_copied, "gemini", "MyActivity.json")
gemini_cli = partial(_copied, "gemini_cli", "billing/chats/session-2026-03-06T08-00-0f6d8f0a.jsonl")
continue_dev = partial(_copied, "continue", "c0ffee.json")
slack = partial(_copied, "slack", "")


def opencode_database(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path / "opencode.db")) as database:
        database.executescript((HOSTS / "opencode.sql").read_text("utf-8"))
    return path / "opencode.db"


def chatgpt_conversation() -> dict[str, Any]:
    told: list[dict[str, Any]] = json.loads((HOSTS / "chatgpt" / "conversations.json").read_text("utf-8"))
    return told[0]


def claude_code_line(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "type": "message", "model": "claude-sonnet-5", "stop_reason": None}
    return {
        "parentUuid": f"line-{number - 1}" if number > 1 else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": FOLDER,
        "sessionId": SESSION,
        "version": "2.1.12",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": f"line-{number}",
        "timestamp": f"2026-03-02T09:{number:02d}:00.000Z",
        **more,
    }


def codex_line(kind: str, payload: dict[str, Any], minute: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-03-03T10:{minute:02d}:00.000Z", "type": kind, "payload": payload}


def codex_said(role: str, text: str, minute: int = 0) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    said = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return codex_line("response_item", said, minute)


def claude_message(number: int, sender: str, text: str) -> dict[str, Any]:
    [conversation] = json.loads((HOSTS / "claude" / "conversations.json").read_text("utf-8"))
    content = [{"type": "text", "text": text, "citations": []}]
    made = {"uuid": f"message-{number}", "sender": sender, "text": text, "content": content, "attachments": []}
    return {**conversation["chat_messages"][0], **made}


def claude_conversation(name: str, messages: Sequence[Any], uuid: str = "conversation-1") -> dict[str, Any]:
    [conversation] = json.loads((HOSTS / "claude" / "conversations.json").read_text("utf-8"))
    return {**conversation, "uuid": uuid, "name": name, "chat_messages": list(messages)}
