"""Conversations in hosts' formats with invented content, for tests of the readers."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

SESSION = "6f1f7c2e-3b54-4c57-9a5e-0d9f5a3f8a11"
FOLDER = "/home/maya/billing"


def lines(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records))
    return path


def document(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


# --- Claude Code


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


def claude_code(path: Path) -> Path:
    """Write a session with tools, a sub-agent, a command, and the host's own lines."""
    return lines(
        path / "-home-maya-billing" / f"{SESSION}.jsonl",
        [
            {"type": "summary", "summary": "Retry queue", "leafUuid": "line-9"},
            {"type": "file-history-snapshot", "messageId": "line-1", "snapshot": {}, "isSnapshotUpdate": False},
            claude_code_line(1, "user", "<local-command-caveat>Caveat: …</local-command-caveat>", isMeta=True),
            claude_code_line(2, "user", "Why do payments fail on Fridays?\n<system-reminder>brief</system-reminder>"),
            claude_code_line(3, "assistant", [{"type": "thinking", "thinking": "hm", "signature": "x"}]),
            claude_code_line(4, "assistant", [{"type": "text", "text": "I look at the retry queue."}]),
            claude_code_line(
                5, "assistant",
                [{"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": f"{FOLDER}/src/queue.py"}}],
            ),
            claude_code_line(6, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]),
            claude_code_line(7, "user", "look everywhere", isSidechain=True),
            claude_code_line(8, "assistant", [{"type": "text", "text": "The clock was in local time; it is UTC now."}]),
            claude_code_line(
                9, "user",
                "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n"
                "<command-args>the last commit</command-args>",
            ),
            claude_code_line(10, "user", "<local-command-stdout>ok</local-command-stdout>"),
            claude_code_line(11, "user", [{"type": "text", "text": "Thanks."}, {"type": "image", "source": {}}]),
            claude_code_line(12, "assistant", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True),
        ],
    )  # fmt: skip


# --- Codex


def codex_line(kind: str, payload: dict[str, Any], minute: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-03-03T10:{minute:02d}:00.000Z", "type": kind, "payload": payload}


def codex_said(role: str, text: str, minute: int = 0) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    said = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return codex_line("response_item", said, minute)


def codex(path: Path) -> Path:
    patch = "*** Begin Patch\n*** Update File: src/rates.py\n@@\n-1\n+2\n*** End Patch"
    return lines(
        path / "2026" / "03" / "03" / f"rollout-2026-03-03T10-00-00-{SESSION}.jsonl",
        [
            codex_line("session_meta", {"id": SESSION, "cwd": FOLDER, "cli_version": "0.80.0", "git": {}}),
            codex_said("developer", "<permissions instructions>…"),
            codex_said("user", "<environment_context>\n  <cwd>x</cwd>\n</environment_context>"),
            codex_said("user", "# AGENTS.md instructions for x\n\n<INSTRUCTIONS>…</INSTRUCTIONS>"),
            codex_said("user", "Which rates change in May?", 1),
            codex_line("event_msg", {"type": "user_message", "message": "Which rates change in May?"}, 1),
            codex_line("turn_context", {"cwd": FOLDER, "model": "gpt-5-codex"}, 1),
            codex_line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "x"}, 1),
            codex_line("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": patch}, 2),
            codex_said("assistant", "Only the reduced rate.", 3),
            codex_line("event_msg", {"type": "agent_message", "message": "Only the reduced rate."}, 3),
        ],
    )


def old_codex(path: Path) -> Path:
    """Write a session in the format before envelopes."""
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello, old friend."}]}
    return lines(
        path / "rollout-2025-06-01-old.jsonl",
        [
            {"id": "old-session", "timestamp": "2025-06-01T08:00:00Z", "instructions": None, "git": None},
            {"record_type": "state"},
            said,
        ],
    )


# --- OpenCode

OPEN_SESSION = {
    "id": "ses_1", "projectID": "p", "directory": FOLDER, "title": "Exports", "version": "1.2.0",
    "time": {"created": 1772560000000, "updated": 1772560900000},
}  # fmt: skip
OPEN_MESSAGES: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    (
        {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1772560100000}},
        [
            {"id": "prt_1", "type": "text", "text": "Write the export as CSV."},
            {"id": "prt_2", "type": "text", "text": "Called the Read tool …", "synthetic": True},
        ],
    ),
    (
        {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1772560200000}},
        [
            {"id": "prt_3", "type": "step-start"},
            {"id": "prt_4", "type": "tool", "tool": "edit",
             "state": {"status": "completed", "input": {"filePath": f"{FOLDER}/export.py"}}},
            {"id": "prt_5", "type": "text", "text": "It is written as CSV now."},
        ],
    ),
]  # fmt: skip
OPEN_CHILD = {"id": "ses_2", "parentID": "ses_1", "directory": FOLDER, "title": "sub", "time": {"created": 1}}


def opencode_storage(path: Path) -> Path:
    storage = path / "storage"
    document(storage / "session" / "p" / "ses_1.json", OPEN_SESSION)
    document(storage / "session" / "p" / "ses_2.json", OPEN_CHILD)
    for message, parts in OPEN_MESSAGES:
        document(storage / "message" / "ses_1" / f"{message['id']}.json", message)
        for part in parts:
            document(storage / "part" / message["id"] / f"{part['id']}.json", part)
    document(storage / "message" / "ses_2" / "msg_9.json", {"id": "msg_9", "role": "user", "time": {"created": 2}})
    document(storage / "part" / "msg_9" / "prt_9.json", {"id": "prt_9", "type": "text", "text": "find all"})
    return path


def opencode_database(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    file = path / "opencode.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(
            """
            CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
                                  time_created INTEGER, time_updated INTEGER);
            CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
            CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
            """
        )
        database.execute(
            "INSERT INTO session VALUES ('ses_1', 'p', NULL, ?, 'Exports', 1772560000000, 1772560900000)", [FOLDER]
        )
        for message, parts in OPEN_MESSAGES:
            data = {"role": message["role"]}
            made = message["time"]["created"]
            database.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", [message["id"], made, json.dumps(data)])
            for part in parts:
                kept = {name: value for name, value in part.items() if name != "id"}
                database.execute(
                    "INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?)", [part["id"], message["id"], made, json.dumps(kept)]
                )
        database.commit()
    return file


def opencode_export(path: Path) -> Path:
    messages = [{"info": message, "parts": parts} for message, parts in OPEN_MESSAGES]
    return document(path / "session.json", {"info": OPEN_SESSION, "messages": messages})


# --- Claude.ai and ChatGPT


def claude_message(number: int, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"message-{number}",
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": f"2026-02-01T12:{number:02d}:00.000000Z",
        "updated_at": f"2026-02-01T12:{number:02d}:00.000000Z",
        "attachments": [],
        "files": [],
        **more,
    }


def claude_conversation(name: str, messages: Sequence[Any], uuid: str = "conversation-1") -> dict[str, Any]:
    about = {"uuid": uuid, "name": name, "account": {"uuid": "account"}}
    return {**about, "created_at": "2026-02-01T12:00:00Z", "updated_at": "2026-02-01T13:00:00Z",
            "chat_messages": list(messages)}  # fmt: skip


def claude(path: Path) -> Path:
    pasted = {"file_name": "paste.txt", "file_size": 12, "file_type": "txt", "extracted_content": "line one\nline two"}
    messages = [
        claude_message(1, "human", "Sum this up.", attachments=[pasted]),
        claude_message(2, "assistant", "Two lines.", content=[
            {"type": "thinking", "thinking": "…"},
            {"type": "text", "text": "Two lines."},
            {"type": "tool_use", "name": "artifacts", "input": {}},
        ]),
        claude_message(3, "human", "", content=[]),
    ]  # fmt: skip
    return document(path / "conversations.json", [claude_conversation("Summing up", messages)])


def chatgpt_node(
    name: str, parent: str | None, children: Sequence[str], role: str = "", text: str = "", **more: Any
) -> dict[str, Any]:
    message = None
    if role:
        message = {
            "id": f"id-{name}",
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1770000000.5 + len(name),
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "metadata": {},
            "recipient": "all",
            **more,
        }
    return {"id": name, "message": message, "parent": parent, "children": list(children)}


def chatgpt_conversation() -> dict[str, Any]:
    """Return a conversation tree with a regenerated first answer."""
    seen = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "And in blue?"]}
    mapping = {
        "root": chatgpt_node("root", None, ["system"]),
        "system": chatgpt_node("system", "root", ["ask"], "system", "", metadata={
            "is_visually_hidden_from_conversation": True}),
        "ask": chatgpt_node("ask", "system", ["first", "second"], "user", "Draw a heron."),
        "first": chatgpt_node("first", "ask", [], "assistant", "Here is a stork."),
        "second": chatgpt_node("second", "ask", ["call"], "assistant", "Here is a heron."),
        "call": chatgpt_node("call", "second", ["tool"], "assistant", "paint()", recipient="dalle.text2im"),
        "tool": chatgpt_node("tool", "call", ["again"], "tool", "done"),
        "again": chatgpt_node("again", "tool", ["think"], "user", "", content=seen),
        "think": chatgpt_node("think", "again", ["last"], "assistant", "", content={
            "content_type": "thoughts", "thoughts": []}),
        "last": chatgpt_node("last", "think", [], "assistant", "In blue, then."),
    }  # fmt: skip
    return {
        "title": "Herons", "create_time": 1770000000.0, "update_time": 1770000100.0, "mapping": mapping,
        "current_node": "last", "conversation_id": "talk-1", "id": "talk-1",
    }  # fmt: skip


def chatgpt(path: Path) -> Path:
    return document(path / "conversations.json", [chatgpt_conversation()])


# --- Slack

SLACK_USERS = [
    {"id": "U1", "name": "maya", "real_name": "Maya Lindqvist", "profile": {"display_name": "Maya"}},
    {"id": "U2", "name": "omar", "profile": {"display_name": "", "real_name": "Omar Haddad"}},
]


def slack(path: Path) -> Path:
    document(path / "users.json", SLACK_USERS)
    document(path / "channels.json", [{"id": "C1", "name": "billing", "members": ["U1", "U2"]}])
    day = [
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1772530000.000100"},
        {"type": "message", "user": "U1", "text": "<@U2> see <#C1|billing> &amp; <https://x.example/a|the page>",
         "ts": "1772530100.000200", "client_msg_id": "c1", "thread_ts": "1772530100.000200"},
        {"type": "message", "user": "U2", "text": "Reading it.", "ts": "1772530200.000300",
         "thread_ts": "1772530100.000200"},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "deploy", "text": "",
         "attachments": [{"text": "Deployed 1.4 to production", "fallback": "1.4"}], "ts": "1772530300.000400"},
        {"type": "message", "user": "U9", "user_profile": {"real_name": "Guest"}, "text": "Hi",
         "ts": "1772530400.000500"},
    ]  # fmt: skip
    document(path / "billing" / "2026-03-03.json", day)
    return path


# --- transcripts

NAMED = """\
# Call about the move

Maya: We move the queue on Friday.
And the workers on Monday.

[2026-03-04 14:05] Omar: Note: the old one stays up.

```
Maya: not said by anybody
```
[14:07] Maya: Good.
"""
MARKED = """\
> How do we
> authenticate?

With JWT, rotated daily.

> Since when?
Since May.
"""
