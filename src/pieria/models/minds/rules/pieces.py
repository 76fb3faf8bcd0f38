"""Parts of texts for several steps: clean sentences, clipped texts, informative terms, cues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pieria.language.analyser import query_terms, spans
from pieria.language.grammar.forms import forms
from pieria.language.grammar.noun_phrases import Phrases
from pieria.language.grammar.tokens import LONGEST, Sentence
from pieria.language.letters import lowered
from pieria.language.packs import pack, words
from pieria.language.sentences import sentences

_BULLET = re.compile(r"\A(?:[-*•+>#]{1,6}|\d{1,3}[.)])\s+")
_ROLE = re.compile(r"\A(?:user|assistant|human|system|ai|me)\s?:\s+", re.IGNORECASE)
_SIGNS = 20
"""Characters that count as one more word: scripts without spaces have long runs."""
_READ = 4_000
"""Characters read of a query or an action: the rest is likely pasted."""


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences, each on one line, without list marks and role names such as `user:`."""
    for start, end in sentences(text):
        said = _ROLE.sub("", bare(" ".join(text[start:end].split())))
        if said:
            yield said


def bare(line: str) -> str:
    """Return the line without a list mark."""
    return _BULLET.sub("", line)


def length(text: str) -> int:
    """Return the number of words; a very long word counts as several."""
    words = text.split()
    return len(words) + sum([len(word) // _SIGNS for word in words if len(word) >= _SIGNS])


def clipped(text: str, words: int) -> str:
    """Return at most this many words, with an ellipsis if the text was cut."""
    kept: list[str] = []
    left = words
    for word in text.split():
        cost = 1 + len(word) // _SIGNS
        if cost > left:
            if not kept and left > 0:
                kept.append(word[: left * _SIGNS - 1])
            return " ".join(kept).rstrip(",;:") + "…" if kept else ""
        kept.append(word)
        left -= cost
    return " ".join(kept)


def told(text: str) -> frozenset[str]:
    """Return the informative terms: all but stop words."""
    return frozenset(found.term for found in query_terms(text) if not found.stop)


def spelt(text: str) -> dict[str, str]:
    """Return each informative term with its first spelling in the text."""
    telling = told(text)
    found: dict[str, str] = {}
    read_to = 0
    for term, start, end in spans(text):
        if term in telling and end > read_to:
            found.setdefault(term, text[start:end])
            read_to = end
    return found


def noun_phrases(text: str, *, stating: bool = False) -> list[str]:
    """Return the short noun phrases of a text, in order: runs without verbs and function words.

    With `stating`, the text has full sentences, so `rsync runs` is no phrase. In a query, `API tests` is one.
    """
    found: dict[str, str] = {}
    for start, end in sentences(text[:_READ]):
        low = lowered(text[start:end])
        said = Sentence(text[start:end], low)
        if len(said) <= LONGEST:
            for phrase in _runs(said, stating=stating):
                found.setdefault(phrase.casefold(), phrase)
    return list(found.values())


def _runs(said: Sentence, *, stating: bool) -> Iterator[str]:
    first = None
    acting = frozenset(_acting(said)) if stating else frozenset()
    for at in range(len(said) + 1):
        if said.is_nominal(at) and not said.is_time(at) and at not in acting and not _is_verb(said, at, first):
            first = at if first is None else first
        elif first is not None:
            if at - first <= _LONGEST_PHRASE and told(said.span(first, at)):
                yield said.span(first, at)
            first = None


_LONGEST_PHRASE = 5


def _acting(said: Sentence) -> Iterator[int]:
    """Yield the places of third-person verbs."""
    phrases = Phrases(said)
    first: int | None = None
    helped = False
    for at, word in enumerate(said.low):
        if any(word in words("words", key) for key in ("conjunctions", "subordinators")) or word in (",", ";", ":"):
            first, helped = None, False
            following = forms().get(said.at(at + 1))
            if at and following is not None and "third" in following.kinds and said.tokens[at + 1].text.islower():
                yield at + 1
        elif phrases.is_auxiliary(at):
            helped = True
        elif first is not None and not helped and phrases.is_verb(at, first):
            yield at
            helped = True
        elif not said.is_nominal(at):
            first = None
        elif first is None:
            first = at


def _is_verb(said: Sentence, at: int, first: int | None) -> bool:
    form = forms().get(said.at(at))
    if form is None or (at and said.tokens[at].text[0].isupper()):
        return False
    asked = "base" in form.kinds and first is not None and words("words", "do").intersection(said.low[:at])
    opens = (first is None and at == 0) or bool(asked)
    before = said.at(at - 1) if at else ""
    behind_subject = first is None and (before in words("words", "before_verbs") or before.endswith("n't"))
    return opens or behind_subject or bool(form.kinds & {"past", "ing", "participle"} and "base" not in form.kinds)


@cache
def _cues(pack_name: str, key: str) -> re.Pattern[str]:
    section, _, name = key.partition(".")
    listed = sorted((cue.strip() for cue in pack(pack_name)[section][name].split("|")), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(cue) for cue in listed)})(?!\w)")


def cues(key: str, text: str) -> list[re.Match[str]]:
    """Return the matches of the pack's cues. The text must be in lower case."""
    return list(_cues("cues", key).finditer(text))


def has_cue(key: str, text: str) -> bool:
    return _cues("cues", key).search(text) is not None


def has_word(pack: str, key: str, text: str) -> bool:
    """Return whether the text has a cue of any pack. The text must be in lower case."""
    return _cues(pack, key).search(text) is not None


def begins_with_cue(key: str, text: str) -> bool:
    return _cues("cues", key).match(text) is not None
