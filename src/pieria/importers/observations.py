"""Observations as open-mem and claude-mem keep them, with the names of columns. Both grew from one design."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pieria.importers.values import moment_of, name_of, names_of, text_of, without_nothing
from pieria.record.draft import NewMemory

TYPED = "observation"
PARTS = ("request", "investigated", "learned", "completed", "next_steps")
"""The parts of a session's summary."""


def listed(value: object) -> list[str]:
    """Return the texts of a list, which a database may hold as JSON or as lines."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if isinstance(value, str):
        value = value.split("\n")
    texts = [each.strip() for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return list(dict.fromkeys(text for text in texts if text))


def observation(row: Mapping[str, Any], **more: Any) -> NewMemory | None:
    """Return the memory of an observation; None if it has no text at all."""
    title, facts = text_of(row.get("title")), listed(row.get("facts"))
    text = text_of(row.get("narrative")) or text_of(row.get("text")) or "\n".join(facts) or title
    if text is None:
        return None
    read, modified = listed(row.get("files_read")), listed(row.get("files_modified"))
    body = {
        "type": name_of(row.get("type")), "subtitle": text_of(row.get("subtitle")), "facts": facts,
        "files_read": read, "files_modified": [file for file in modified if file in read],
        "discovery_tokens": row.get("discovery_tokens") or None,
    }  # fmt: skip
    return NewMemory(
        text,
        title=None if title is None else title[:300],
        kind=TYPED,
        body=without_nothing(body),
        tags=names_of(listed(row.get("concepts"))),
        files=list(dict.fromkeys((*modified, *read))),
        author_type="agent",
        **more,
    )


def summary(row: Mapping[str, Any], parts: tuple[str, ...] = PARTS, **more: Any) -> NewMemory | None:
    """Return the memory of a session's summary; None if it has no text at all."""
    said = {name: text_of(row.get(name)) for name in parts}
    told = [f"{name.replace('_', ' ').capitalize()}: {text}" for name, text in said.items() if text is not None]
    text = text_of(row.get("summary")) or "\n".join(told)
    if not text:
        return None
    body = {"type": "session", "key_decisions": listed(row.get("key_decisions")), **said}
    return NewMemory(
        text,
        kind="summary",
        body=without_nothing(body),
        tags=names_of(listed(row.get("concepts"))),
        files=listed(row.get("files_modified") or row.get("files_edited")),
        author_type="agent",
        **more,
    )


def written(row: Mapping[str, Any]) -> Any:
    """Return the time of a row: the text, else the number."""
    return moment_of(row.get("created_at")) or moment_of(row.get("created_at_epoch"))
