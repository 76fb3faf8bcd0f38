"""Triples from the plain sentences of a text, parsed one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from pieria.language.letters import lowered
from pieria.language.sentences import sentences
from pieria.models.mind import Triple
from pieria.models.minds.rules.clauses import Clauses
from pieria.models.minds.rules.packs import phrases, words
from pieria.models.minds.rules.statements import Statements
from pieria.models.minds.rules.times import times
from pieria.models.minds.rules.tokens import LONGEST, Sentence

_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 8, 600
"""Characters; a longer sentence is no plain statement."""


def triples(text: str) -> list[Triple]:
    low = lowered(text)
    found = times(text)
    starts = [start for start, _ in found]
    reader = Reader()
    for start, end in sentences(text):
        if end - start >= _SHORTEST_SENTENCE:
            inside = found[bisect_left(starts, start) : bisect_right(starts, end)]
            spans = [(first - start, after - start) for first, after in inside]
            reader.read_spelt(text[start:end], low[start:end], spans)
    return reader.stated.triples()


class Reader:
    """Reads sentences in order, and keeps the topic of the one before."""

    def __init__(self) -> None:
        self.stated = Statements()

    @property
    def spoken_of(self) -> str | None:
        """The current topic by name, or None."""
        topic = self.stated.topic
        if topic is None:
            return None
        return f"The {topic.text}" if topic.determiner in ("the", "a") else topic.text

    def read(self, sentence: str) -> bool:
        """Read a sentence and return whether it states anything."""
        return self.read_spelt(sentence, lowered(sentence), times(sentence))

    def read_spelt(self, text: str, low: str, spans: Iterable[tuple[int, int]]) -> bool:
        said = None if _asks_or_runs_on(text) else Sentence(text, low, spans)
        if said is None or len(said) > LONGEST or _supposes(said):
            self.stated.topic = None
            return False
        before = self.stated.count
        self.stated.topic = Clauses(said, self.stated).read() or self.stated.topic
        self.stated.end()
        return self.stated.count > before

    @staticmethod
    def is_supposed(sentence: str) -> bool:
        return _supposes(Sentence(sentence, lowered(sentence)))


def _asks_or_runs_on(text: str) -> bool:
    return len(text) > _LONGEST_SENTENCE or text.rstrip("\"')*_!”").endswith(("?", "？"))


def _supposes(sentence: Sentence) -> bool:
    """Return whether the sentence only supposes, reports or wishes."""
    supposing = words("words", "supposing")
    for at, token in enumerate(sentence.tokens):
        named = at > 0 and token.text[:1].isupper()
        if token.low in supposing and not named:
            return True
    spelt = f" {' '.join(sentence.low)} "
    return any(f" {phrase} " in spelt for phrase in phrases("words", "supposing_phrases"))
