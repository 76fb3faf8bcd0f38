"""Summarise prose as an AAAK entry, by rules: people, topics and key words. Loses most of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from pieria.language.analyser import terms
from pieria.language.analyser.tokenizer import STOP_WORDS
from pieria.language.entities import entities
from pieria.language.sentences import sentences
from pieria.toolsets.mempalace.aaak import Entry, Legend

MOST = 3
LONGEST = 80
CODE_LETTERS = 3
FLAGS = {
    "DECISION": "decided|chose|chosen|agreed|switched|instead",
    "ORIGIN": "began|started|created|founded|first",
    "CORE": "always|never|principle|must|rule",
    "PIVOT": "realised|realized|turned out|breakthrough|suddenly|discovered",
    "TECHNICAL": "api|server|database|deploy|deployed|code|bug|schema|token|port",
    "SENSITIVE": "secret|private|confidential|diagnosis|salary",
}
FEELINGS = {
    "joy": "happy|glad|joy|delighted",
    "fear": "afraid|scared|fear",
    "hope": "hope|hopes|hoping|hopeful",
    "doubt": "doubt|unsure|uncertain",
    "relief": "relieved|relief",
    "anger": "angry|furious|annoyed",
    "grief": "grief|mourning|sad",
    "worry": "worried|worry|anxious",
    "pride": "proud|pride",
    "love": "love|loves|loved",
    "surprise": "surprised|surprise|amazed",
}
_CUES = {name: re.compile(rf"\b(?:{cues})\b", re.IGNORECASE) for name, cues in {**FLAGS, **FEELINGS}.items()}


def brief(text: str, names: Mapping[str, str] | None = None, stars: int = 0) -> tuple[list[Legend], Entry]:
    """Return an entry for the text, and the legend of its codes. `names` maps names to known codes."""
    known = {name.casefold(): code for name, code in (names or {}).items()}
    named = Counter(found.name for found in entities(text) if found.kind in ("name", "acronym"))
    legend: dict[str, str] = {}
    for name, _ in named.most_common(MOST):
        code = known.get(name.casefold()) or _code(name, legend)
        if code:
            legend[code] = name
    return [Legend(code, name) for code, name in legend.items()], Entry(
        codes=tuple(legend),
        topics=_topics(text),
        words=_key_words(text),
        stars=stars,
        feelings=_said(text, FEELINGS),
        flags=_said(text, FLAGS),
    )


def _code(name: str, taken: Mapping[str, str]) -> str | None:
    letters = "".join(each for each in name.upper() if each.isascii() and each.isalnum())
    for length in range(CODE_LETTERS, len(letters) + 1):
        if letters[:length] not in taken and length <= 2 * CODE_LETTERS:
            return letters[:length]
    return None


def _topics(text: str) -> tuple[tuple[str, ...], ...]:
    counted = Counter(term for term in terms(text) if term.isalnum() and not term.isdigit() and term not in STOP_WORDS)
    return tuple((term,) for term, _ in counted.most_common(MOST))


def _key_words(text: str) -> str:
    """Return the sentence with most cues; among equals, the shortest."""
    spoken = [" ".join(text[found.start : found.end].split()) for found in sentences(text)]
    best = max(spoken, key=lambda each: (len(_said(each, {**FLAGS, **FEELINGS})), -len(each)), default="")
    return best if len(best) <= LONGEST else best[:LONGEST].rsplit(" ", 1)[0]


def _said(text: str, cues: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in cues if _CUES[name].search(text))[:MOST]
