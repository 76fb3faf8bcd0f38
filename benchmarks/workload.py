"""The fixed workload of the speed benchmark: texts of about 22 words, Zipf vocabulary, queries drawn from them."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate

VOCABULARY = 200_000
SHORTEST, LONGEST = 18, 26
QUESTION_TERMS = 8
SESSION, TENTH = 20, 10
"""Turns of a session; one of so many stretches of the workload is a session."""
FILTERS = {"50 %": ("half", 500), "10 %": ("tenth", 100), "1 %": ("hundredth", 10), "0.1 %": ("thousandth", 1)}
"""Each filter's wing, and how many in a thousand memories are in it."""

SHIFT = 37

_SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghjklmnprstvz" for vowel in "aeiou")


class Workload:
    """Seeded: the same texts on every machine and in every run."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._words = tuple(_word(rank) for rank in range(1, VOCABULARY + 1))
        self._cumulative = tuple(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def text(self) -> str:
        return " ".join(self._drawn() for _ in range(self._random.randint(SHORTEST, LONGEST)))

    def texts(self, count: int) -> Iterator[str]:
        return (self.text() for _ in range(count))

    def question(self, text: str) -> str:
        """Return eight different words of one text."""
        words = list(dict.fromkeys(text.split()))
        return " ".join(self._random.sample(words, min(QUESTION_TERMS, len(words))))

    def one_of(self, texts: list[str]) -> str:
        return self._random.choice(texts)

    def below(self, number: int) -> int:
        return self._random.randrange(number)

    def _drawn(self) -> str:
        return self._words[bisect(self._cumulative, self._random.random() * self._cumulative[-1])]


def place(number: int) -> str:
    """Return a memory's place. Each filter's memories are spread evenly."""
    # Shift each thousand: otherwise a filter would match only sessions, or none.
    rest = (number + number // 1_000 * SHIFT) % 1_000
    for wing, share in FILTERS.values():
        if rest < share:
            return f"{wing}/room"
        rest -= share
    return "rest/room"


def session(number: int) -> str | None:
    """Return the session of a memory; a tenth of the memories are turns of sessions."""
    stretch = number // SESSION
    return None if stretch % TENTH else f"session-{stretch}"


def _word(rank: int) -> str:
    written = ""
    while rank:
        rank, digit = divmod(rank, len(_SYLLABLES))
        written += _SYLLABLES[digit]
    return written
