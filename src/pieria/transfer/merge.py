"""Merges a memory that both the file and the bank have. Pure functions; they decide by time alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from pieria.language.index_terms import compared
from pieria.record.changeset import Content, State
from pieria.store.rows import names_of, written_list
from pieria.transfer.fields import written_json


class Side(NamedTuple):
    """One side's memory: its last state and content, and since when each has been in force."""

    state: State
    known_from: int
    content: Content
    since: int


class Outcome(NamedTuple):
    """The state to write, or None for no change; `content` if it is a new version."""

    state: State | None
    content: Content | None = None


def merged(ours: Side, theirs: Side, next_version: int) -> Outcome:
    """Return the later content with the labels and lists of both, and the later state. On a tie ours wins."""
    newer, older = (theirs, ours) if theirs.since > ours.since else (ours, theirs)
    content = newer.content._replace(
        body=_with_lists(newer.content.body, older.content.body),
        tags=_united(ours.content.tags, theirs.content.tags),
        entities=_united(ours.content.entities, theirs.content.entities),
        files=_united(ours.content.files, theirs.content.files, str),
    )
    state = theirs.state if theirs.known_from > ours.known_from else ours.state
    return _outcome(ours, state._replace(type=newer.state.type), content, next_version)


def replaced(ours: Side, theirs: Side, next_version: int) -> Outcome:
    """Return the file's state and content as the next version of ours."""
    return _outcome(ours, theirs.state, theirs.content, next_version)


def _outcome(ours: Side, state: State, content: Content, next_version: int) -> Outcome:
    if _same(content, ours.content):
        kept = state._replace(row=ours.state.row, version=ours.state.version)
        return Outcome(None if kept == ours.state else kept)
    return Outcome(
        state._replace(row=0, version=next_version), content._replace(id=ours.state.id, version=next_version)
    )


def _same(one: Content, other: Content) -> bool:
    """Return whether the contents are equal apart from flags: flags come from the write path and make no new
    version."""
    return one._replace(version=0, flags=None) == other._replace(version=0, flags=None)


def _with_lists(newer: str | None, older: str | None) -> str | None:
    """Return the newer body, with further items from lists of texts in the older one, such as an observation's
    facts."""
    body: dict[str, Any] = json.loads(newer or "{}")
    before: dict[str, Any] = json.loads(older or "{}")
    more = {name: held for name, held in before.items() if _are_texts(held) and _are_texts(body.get(name, []))}
    united = {name: list(dict.fromkeys((*body.get(name, ()), *held))) for name, held in more.items()}
    return written_json(body | united) if any(united[name] != body.get(name, []) for name in united) else newer


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _united(ours: str | None, theirs: str | None, key: Callable[[str], str] = compared) -> str | None:
    """Return ours first. Of labels that compare equal, keep the first spelling."""
    united: dict[str, str] = {}
    for name in (*names_of(ours), *names_of(theirs)):
        united.setdefault(key(name), name)
    return written_list(tuple(united.values()))
