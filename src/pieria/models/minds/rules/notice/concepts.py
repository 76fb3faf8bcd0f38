"""Concepts of a piece of work, for searching: the names in its texts, and its files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pieria.language.entities import entities
from pieria.models.minds.rules.pieces import noun_phrases

MOST = 6
_READ = 800
_NO_CONCEPTS = frozenset({"email", "path", "host"})
_DULL = frozenset(["init", "index", "main", "mod", "lib", "test", "tests", "readme", "__init__", "package"])

_LABELS = frozenset(["open", "dead-end", "web", "rule", "correction"])
"""Labels of a note's status, which are no search terms."""


def concepts_of(texts: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return names first, then stems of files, then short phrases."""
    read = ".\n".join(text for text in texts if text)[:_READ]
    names = [each.name for each in entities(read) if each.kind not in _NO_CONCEPTS]
    stems = [stem for file in files if (stem := _stem(file)) not in _DULL]
    phrases = [phrase for phrase in noun_phrases(read) if len(phrase) > 3]
    found: dict[str, str] = {}
    for name in (*names, *stems, *phrases):
        short = " ".join(name.strip("`'\"“”().,:;").split())
        if short.casefold() in _LABELS:
            continue
        if 1 < len(short) <= 40 and short.isprintable() and re.search(r"[^\W\d_]", short):
            found.setdefault(short.casefold(), short)
    return tuple(found.values())[:MOST]


def _stem(file: str) -> str:
    return file.rpartition("/")[2].partition(".")[0].lower()
