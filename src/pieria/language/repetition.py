"""Find the parts of a text that repeat another text, by runs of words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from pieria.language.pasted import Span, merged

RUN = 6
"""Words in a row that do not repeat by chance. Twice as many characters in a script without spaces."""
LONGEST = 1 << 20
"""Most characters read of a text."""
_SIZE = 5
"""Bytes of a run's digest: few enough to store, and enough that collisions are unlikely."""
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts read by character: two characters count as a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:['’_.-][^\W_{_UNSPACED}]+)*")
_IS_SIGN = re.compile(f"[{_UNSPACED}]")


class Runs:
    """The runs of some texts, to find in others. `kept` holds the results of `digests_of` for these texts."""

    def __init__(self, kept: Iterable[bytes]) -> None:
        self._held = {each[place : place + _SIZE] for each in kept for place in range(0, len(each), _SIZE)}

    def repeated(self, text: str) -> list[Span]:
        """Return the spans of the text that repeat a run, in order and without overlaps."""
        return merged(span for run, span in _runs(text) if run in self._held) if self._held else []


def digests_of(text: str) -> bytes:
    """Return the digests of all runs of a text, concatenated. No word can be recovered from them."""
    return b"".join(dict.fromkeys(run for run, _ in _runs(text)))


def _runs(text: str) -> Iterator[tuple[bytes, Span]]:
    words = [(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text[:LONGEST])]
    weights = [1 if _IS_SIGN.match(word) else 2 for word, _, _ in words]
    end = weight = 0
    for place, (_, start, _) in enumerate(words):
        while end < len(words) and weight < 2 * RUN:
            weight += weights[end]
            end += 1
        if weight < 2 * RUN:
            return
        run = "\n".join(word for word, _, _ in words[place:end]).encode("utf-8", "surrogatepass")
        yield blake2b(run, digest_size=_SIZE).digest(), (start, words[end - 1][2])
        weight -= weights[place]
