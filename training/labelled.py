"""Match labelled parts of a text with its sentences, cut as the product cuts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

OVERLAP = 8
"""Characters of a labelled part that a sentence has to hold to take its label."""


class Labelled:
    """A text made of parts, with the labels of its places."""

    def __init__(self, parts: Iterable[Sequence[str]]) -> None:
        self.text = ""
        self._spans: list[tuple[int, int, str]] = []
        for part, label in parts:
            self.text += "" if not self.text or part.startswith("\n") else " "
            self._spans.append((len(self.text), len(self.text) + len(part), label))
            self.text += part

    def label(self, start: int, end: int, labels: Sequence[str]) -> str | None:
        """Return the first of `labels` that a part within `text[start:end]` has, or None."""
        found = [
            label
            for begin, stop, label in self._spans
            if min(stop, end) - max(begin, start) >= min(OVERLAP, (stop - begin) // 2)
        ]
        return min(found, key=labels.index) if found else None
