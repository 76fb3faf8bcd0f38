"""Which terms and labels of a memory are indexed. Every store uses the same ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pieria.language.analyser import terms
from pieria.language.pasted import is_surely_own
from pieria.record.changeset import Mark
from pieria.record.trust import PERSON

STANDING = "standing"
UNSURE = "unsure"
"""The label of a prompt whose rules all need a person's confirmation."""
SAID_KINDS = ("note", "observation", "drawer", "diary", "turn")
"""Kinds that hold original statements. All other kinds are derived from them or point to them."""


def indexed_terms(
    title: str | None,
    text: str,
    body: str | None = None,
    tags: Sequence[str] = (),
    entities: Sequence[str] = (),
    files: Sequence[str] = (),
) -> list[str]:
    """Return the text's terms, then the terms of other fields that the text lacks."""
    found = terms(text)
    if title:
        found += terms(title)
    if not (body or tags or entities or files):
        return found
    present = set(found)
    beside = [*_strings(json.loads(body) if body else None), *tags, *entities, *files]
    for written in beside:
        found += [term for term in terms(written) if term not in present]
    return found


def labels(
    tags: Sequence[str], entities: Sequence[str], files: Sequence[str], standing: Sequence[str] = ()
) -> list[Mark]:
    """Return the labels of a memory. Tags and entities are case-insensitive, files are not; `standing` are kinds of
    rules.
    """
    if not (tags or entities or files or standing):
        return []
    return [
        *(Mark("tag", compared(tag), tag) for tag in tags),
        *(Mark("entity", compared(entity), entity) for entity in entities),
        *(Mark("file", file, file) for file in files),
        *(Mark(STANDING, kind, kind) for kind in standing),
    ]


def stated(text: str, kind: str | None, via: str | None) -> tuple[str, ...]:
    """Return the kinds of standing rules that a text states.

    The model reads only a person's text. Readers must filter by the ways in whose rules count
    (`record.trust.RULING`).
    """
    if kind not in SAID_KINDS:
        return ()
    from pieria.language.standing_rules import said_as, standing

    found = standing(text, said_as(kind) if via == PERSON else None)
    if found and via == PERSON and kind == "turn":
        from pieria.language.risk import lowers_security

        if not is_surely_own(text) or all(lowers_security(text[rule.start : rule.end]) for rule in found):
            return (UNSURE,)
    return tuple(dict.fromkeys(rule.kind for rule in found))


def compared(label: str) -> str:
    return label.strip().casefold()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
