"""English words that begin sentences and headings, and so have a capital without being names.

A capital marks a name, but the first word of a sentence always has one. The words are in `commonwords.txt`; `entities`
applies them.
"""

from __future__ import annotations

from pathlib import Path

from pieria.language.analyser.stem import IRREGULAR


def _words(section: str) -> frozenset[str]:
    return frozenset(word for line in section.splitlines() if not line.startswith("#") for word in line.split())


OPENINGS, _WORDS, TIMES = map(_words, Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n"))
COMMON = OPENINGS | TIMES | _WORDS | frozenset(IRREGULAR) | frozenset(IRREGULAR.values())
