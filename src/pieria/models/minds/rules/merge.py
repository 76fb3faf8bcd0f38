"""Merges intents or statements that say the same, and finds contradictions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pieria.language.grammar.clauses import stated
from pieria.language.packs import words
from pieria.models.mind import Said
from pieria.models.minds.rules.pieces import clipped, sentences_of, told

_INTENT_WORDS = 30
_READ = 2_000
_ALIKE = 0.5
_VALUE = re.compile(r"\d")


def merged_intent(held: str, new: str) -> str:
    """Return the intent that contains the other, or both joined within the word limit."""
    old, added = held.strip()[:_READ], new.strip()[:_READ]
    if not old or not added:
        return old or added
    if told(added) <= told(old):
        return old
    if told(old) <= told(added):
        return added
    joined = f"{old.rstrip('.')} and {added[:1].lower() + added[1:] if added[1:2].islower() else added}"
    return joined if len(joined.split()) <= _INTENT_WORDS else clipped(old, _INTENT_WORDS)


class Claim:
    """A sentence with its statements and terms, parsed once for many comparisons."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms = told(text)
        self._values = _values(text)
        self._numbers = frozenset(term for term in self.terms if _VALUE.search(term))

    def contradicts(self, other: Claim) -> bool:
        """Return whether both give different values for one thing.

        That is another object of a single-valued predicate, or the same words with another number. A name with digits
        on each side means two different things.
        """
        theirs = other._values
        if any(key in theirs and theirs[key] != held for key, held in self._values.items()):
            return True
        mine, others = self._numbers - other._numbers, other._numbers - self._numbers
        shared = self.terms & other.terms
        differing = self.terms ^ other.terms
        alike = len(shared) >= 2 and len(shared) / max(len(self.terms), len(other.terms)) >= _ALIKE
        of_others = _names_a_thing(mine) and _names_a_thing(others)
        return bool(mine and others) and alike and differing == mine | others and not of_others


def _names_a_thing(numbers: frozenset[str]) -> bool:
    """Return whether there is a name such as `b3` beside a value. `v2.1` is no name, as `2.1` is read from it."""
    values = tuple(term for term in numbers if not term[0].isalpha())
    return bool(values) and any(term[0].isalpha() and not term.endswith(values) for term in numbers)


def _values(text: str) -> dict[tuple[str, str], frozenset[str]]:
    found: dict[tuple[str, str], frozenset[str]] = {}
    for triple in stated(text):
        if triple.predicate not in words("predicates", "several"):
            key = (triple.subject.casefold(), triple.predicate)
            found[key] = found.get(key, frozenset()) | {triple.object.casefold()}
    return found


def merged_statements(statements: Sequence[Said]) -> str:
    """Return the latest statements, without what they contradict and without sentences that others contain."""
    said = [statement for statement in statements if statement.text.strip()]
    if all(statement.at for statement in said):
        said = sorted(said, key=lambda statement: statement.at or "")
    sentences: dict[str, str] = {}
    for statement in said:
        for sentence in sentences_of(statement.text):
            sentences[sentence.casefold()] = sentences.pop(sentence.casefold(), sentence)
    claims = [Claim(sentence) for sentence in list(sentences.values())[-_COMPARED:]]
    return " ".join(_fullest(_latest(claims)))


_COMPARED = 200
"""Sentences to compare with each other, the last ones."""


def _latest(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for at, claim in enumerate(claims) if not any(claim.contradicts(later) for later in claims[at + 1 :])]


def _fullest(claims: Sequence[Claim]) -> list[str]:
    """Return the sentences whose terms are not all in another one. Of equal ones the last is kept."""
    kept = [
        claim.text
        for at, claim in enumerate(claims)
        if not any(
            claim.terms < other.terms or (claim.terms == other.terms and at < place)
            for place, other in enumerate(claims)
        )
    ]
    return kept if len(kept) == 1 else [text if text.endswith(_ENDS) else f"{text}." for text in kept]


_ENDS = (".", "!", "?", "…", "。", "！", "？", '."', ".)")
