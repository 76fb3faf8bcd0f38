"""Continue, the extension for editors: a file for each session, `~/.continue/sessions/<id>.json`.

Messages have no times of their own. The list `sessions.json` beside them has the time at which a session began.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pieria.language.typed import typed
from pieria.mining.conversations.claude_code import texts
from pieria.mining.conversations.records import Record, json_elements
from pieria.mining.said import Heard, Said, Turns, clean, titled, unheard, wrong

NAME = "continue"
LIST = "sessions.json"


def matches(head: Mapping[str, Any]) -> bool:
    return isinstance(head.get("history"), list) and "sessionId" in head


def read(path: Path, heard: Heard) -> Iterator[Said]:
    for record in json_elements(path, heard):
        if isinstance(record, Record):
            yield from _session(path, record)
        else:
            yield record


def _session(path: Path, record: Record) -> Iterator[Said]:
    told = record.value
    if not isinstance(told, dict) or not isinstance(told.get("history"), list):
        yield wrong(record.number, "a session with a history", told)
        return
    given = told.get("sessionId")
    session = given if isinstance(given, str) and given.strip() else path.stem
    title, folder, begun = titled(told.get("title")), _folder(told.get("workspaceDirectory")), _begun(path, session)
    turns = Turns()
    for number, item in enumerate(told["history"]):
        message = item.get("message") if isinstance(item, dict) else None
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str):
            yield wrong(record.number, "a history of messages with a role", item)
            continue
        content = message.get("content")
        if role not in ("user", "assistant") or not isinstance(content, str | list):
            continue
        written = texts(content)
        text = clean(typed(written) if role == "user" else written)
        if text:
            own = message.get("id")
            unit = f"{session}:{own if isinstance(own, str) and own else number}"
            yield turns.turn(role, unit, session, text, begun, folder)._replace(title=title)


def _folder(given: object) -> str | None:
    """Return the path of the workspace, which may be given as the address of a file."""
    if not isinstance(given, str) or not given.strip():
        return None
    return unquote(urlsplit(given).path) if given.startswith("file://") else given


def _begun(path: Path, session: str) -> float | None:
    """Return when the session began; None if the list does not say."""
    try:
        records = list(json_elements(path.with_name(LIST), unheard))
    except OSError:
        return None
    for record in records:
        told = record.value if isinstance(record, Record) else None
        created = told.get("dateCreated") if isinstance(told, dict) and told.get("sessionId") == session else None
        if isinstance(created, int | str) and str(created).isdecimal():
            return int(created) / 1000
    return None
