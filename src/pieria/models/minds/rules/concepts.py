"""Terms to look a note up by: names, stems of files and short phrases."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pieria.language.commonwords import COMMON, TIMES
from pieria.language.entities import entities
from pieria.language.letters import lowered
from pieria.models.minds.rules.pieces import noun_phrases

MOST = 6
_READ = 800
_NO_CONCEPTS = frozenset({"email", "path", "host"})
_DULL = frozenset(["init", "index", "main", "mod", "lib", "test", "tests", "readme", "__init__", "package"])

_LABELS = frozenset(["open", "dead-end", "web", "rule", "preference", "cause"])
"""Labels of a note's status, which are no search terms."""


def concepts_of(texts: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return names first, then stems of files, then short phrases."""
    read = ".\n".join(text for text in texts if text)[:_READ]
    names = [each.name for each in entities(read) if each.kind not in _NO_CONCEPTS]
    stems = [stem for file in files if (stem := file.rpartition("/")[2].partition(".")[0].lower()) not in _DULL]
    phrases = [phrase for phrase in noun_phrases(read) if len(phrase) > 3]
    found: dict[str, str] = {}
    for name in (*names, *stems, *phrases):
        short = " ".join(name.strip("`'\"“”().,:;").split())
        if 1 < len(short) <= 40 and short.isprintable() and short.casefold() not in _LABELS and _is_telling(short):
            found.setdefault(short.casefold(), short)
    return tuple(found.values())[:MOST]


def _is_telling(name: str) -> bool:
    """Return whether a term is worth a label: no number, no time, and not only common words."""
    words = re.findall(r"[^\W\d_]{2,}", lowered(name))
    return not name[0].isdigit() and any(word not in COMMON and word not in TIMES for word in words)
