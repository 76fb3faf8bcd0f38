"""Shared runs of words: which part of a text repeats another text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pieria.record.pasted import Span, merged

RUN = 6
"""Words in a row that nobody says by chance."""
LONGEST = 1 << 20
"""Characters of a text that are looked through."""
_WORD = re.compile(r"[^\W_]+(?:['’_.-][^\W_]+)*|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


class Runs:
    """The runs of some texts, to look for them in others."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._held = {run for text in texts for run, _ in _runs(text)}

    def __bool__(self) -> bool:
        return bool(self._held)

    def repeated(self, text: str) -> list[Span]:
        """Return the spans of the text that repeat a run, in order and apart from each other."""
        return merged(span for run, span in _runs(text) if run in self._held) if self._held else []


def _runs(text: str) -> Iterable[tuple[int, Span]]:
    words = [(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text[:LONGEST])]
    for place in range(len(words) - RUN + 1):
        run = words[place : place + RUN]
        yield hash(tuple(word for word, _, _ in run)), (run[0][1], run[-1][2])
