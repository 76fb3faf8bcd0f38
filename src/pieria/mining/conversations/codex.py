"""Codex: a file of JSON lines for each session, `rollout-<time>-<id>.jsonl`, under `~/.codex/sessions/`.

Lines are envelopes with a time, a type and a payload. Spoken text is a `response_item` of the type `message`; its copy
as an `event_msg` is skipped. Older files have the items without envelopes. A sub-agent has its own file, in which
another agent speaks as the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pieria.language.typed import typed
from pieria.mining.conversations.records import Record, said_in_lines
from pieria.mining.said import BY_SUB_AGENTS, BY_THE_HOST, Heard, Left, Said, Turns, clean, wrong

NAME = "codex"
ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_BY_HOST = (
    "<environment_context", "<user_instructions", "# agents.md instructions", "<instructions", "<turn_aborted",
    "<user_shell_command", "<subagent_notification", "<skill>", "<codex_internal_context", "<permissions instructions",
    "<turn_context", "<collaboration_mode", "<personality_spec",
)  # fmt: skip
_PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: ([^\n\"\\]+)")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


def matches(heads: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        (head.get("type") in ENVELOPES and isinstance(head.get("payload"), dict))
        or "record_type" in head
        or ("instructions" in head and {"id", "timestamp"} <= head.keys())
        for head in heads
    )


def read(path: Path, heard: Heard) -> Iterator[Said]:
    return said_in_lines(path, heard, _Reading(path).line)


class _Reading:
    """State from earlier lines of a file that later lines need."""

    def __init__(self, path: Path) -> None:
        named = _SESSION.search(path.stem)
        self._session = named[0] if named else path.stem
        self._begun = self._is_sub_agents = False
        self._folder: str | None = None
        self._turns = Turns()

    def line(self, record: Record) -> Said | None:
        line = record.value
        if not isinstance(line, dict):
            return wrong(record.number, "an object", line)
        kind, payload = line.get("type"), line.get("payload")
        if "payload" not in line:
            return self._without_envelope(record.number, line)
        if not isinstance(payload, dict):
            return wrong(record.number, "a payload that is an object", line)
        if kind in ("session_meta", "turn_context"):
            self._about(payload, kind == "session_meta")
        elif kind == "response_item":
            return self._item(record.number, payload, line.get("timestamp"))
        elif not isinstance(kind, str):
            return wrong(record.number, "an object with a type", line)
        return None

    def _without_envelope(self, number: int, line: Mapping[str, Any]) -> Said | None:
        if "type" in line:
            return self._item(number, line, line.get("timestamp"))
        if "id" in line:
            self._about(line, True)
            return None
        return None if "record_type" in line else wrong(number, "an object with a type", line)

    def _about(self, payload: Mapping[str, Any], whole: bool) -> None:
        """Read session metadata. The first session in a file is its own; it was forked from the others."""
        if isinstance(payload.get("cwd"), str):
            self._folder = payload["cwd"]
        if whole and not self._begun and isinstance(payload.get("id"), str) and payload["id"].strip():
            self._session, self._begun = payload["id"], True
            source = payload.get("source")
            self._is_sub_agents = isinstance(source, dict) and "subagent" in {str(name).lower() for name in source}

    def _item(self, number: int, item: Mapping[str, Any], at: Any) -> Said | None:
        for name in ("input", "arguments"):
            if isinstance(called := item.get(name), str) and "*** " in called:
                self._turns.files |= dict.fromkeys(
                    path.strip() for path in _PATCHED.findall(called.replace("\\n", "\n"))
                )
        if item.get("type") != "message" or item.get("role") not in ("user", "assistant"):
            return None
        content = item.get("content")
        if not isinstance(content, list):
            return wrong(number, "a message with a list of content", item)
        is_reply = item["role"] == "assistant"
        parts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        own = parts if is_reply else [typed(part) for part in parts if not part.lstrip().lower().startswith(_BY_HOST)]
        text = clean("\n\n".join(own))
        if not text:
            return Left(BY_THE_HOST) if parts else None
        if self._is_sub_agents:
            return Left(BY_SUB_AGENTS)
        return self._turns.turn(item["role"], f"{self._session}:{number}", self._session, text, at, self._folder)
