"""A light stemmer for English: the common part of a word's forms, so that `studies` finds `study`.

It removes inflection and the few derivational endings that keep the meaning. When in doubt it keeps two forms apart:
`university` never becomes `universe`. A stem need not be a word (`arrive` becomes `arriv`); compare stems, do not
show them. Words of other languages pass through here too, so no rule may cut deeply.
"""

from __future__ import annotations

import re
from pathlib import Path

_LINES = [
    line.split(": ")
    for line in Path(__file__).with_name("irregular.txt").read_text("utf-8").splitlines()
    if ": " in line
]
IRREGULAR = {form: base for base, forms in _LINES if base != "*" for form in forms.split()}
"""Form to base."""
KEPT = frozenset(form for base, forms in _LINES if base == "*" for form in forms.split())
"""Words that look like a form of another word but are not."""

_SHORTEST, _LONGEST = 3, 24

_VOWELS = re.compile(r"[aeiouy]+")
_ONE_BEAT = re.compile(r"(?:qu|[^aeiou])?[^aeiouy]*[aeiouy][^aeiouwxy]")
"""Consonants, one vowel, one consonant: `hop`. Such a word doubles its last letter (`hopping`) or has lost an e
(`hoping`).
"""

_DOUBLED = frozenset(("bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt"))

# By last letter: the ending, its replacement, and how many letters must come before it.
_DERIVED = {
    "s": (("iness", "y", 2), ("ness", "", 3)),
    "y": (
        ("ability", "able", 0),
        ("ibility", "ible", 2),
        ("ivity", "ive", 2),
        ("bly", "ble", 3),
        ("ply", "ply", 0),
        ("fly", "fly", 0),
        ("ily", "y", 3),
        ("ly", "", 4),
    ),
    "n": (
        ("ization", "ize", 2),
        ("isation", "ize", 2),
        ("ification", "ify", 2),
        ("ation", "ate", 3),
        ("ction", "ct", 3),
    ),
}


def stem(word: str) -> str:
    """Return the stem of a lower-case word of ASCII letters."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return _regular(word) if _SHORTEST <= len(word) <= _LONGEST else word


def _regular(word: str) -> str:
    singular = _singular(word)
    if singular in _IRREGULAR:
        return _IRREGULAR[singular]
    if singular in KEPT:
        return singular
    return _ended(_derived(_base(singular)))


def _singular(word: str) -> str:
    if word[-1] != "s" or len(word) <= _SHORTEST or word in KEPT or word[-2] in "sui":
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    if word.endswith("ses") and not word.endswith("ises") and _beats(word[:-2]) > 1:
        return word[:-2]
    return word[:-1]


def _base(word: str) -> str:
    """Return the word without -ed or -ing, in its base form."""
    rest = word[:-3] if word.endswith("ing") else word[:-2] if word.endswith("ed") else ""
    if len(rest) < 2 or not _VOWELS.search(rest):
        return word
    if rest[-1] == "e":
        return rest if word[-1] == "g" else word
    if rest[-1] == "i" and word[-1] == "d":
        return rest[:-1] + "y"
    if rest[-2:] in _DOUBLED:
        return rest[:-1]
    if len(rest) == 2 or _ONE_BEAT.fullmatch(rest):
        return rest + "e"
    return _with_z(rest)


def _derived(word: str) -> str:
    for ending, replacement, kept in _DERIVED.get(word[-1], ()):
        if word.endswith(ending):
            return word[: -len(ending)] + replacement if len(word) - len(ending) >= kept else word
    return word


def _ended(word: str) -> str:
    """Give all forms one ending: no silent e, -y for -ie, American spelling."""
    rest = word[:-1]
    if word[-1] == "e" and len(rest) > 2:
        if rest[-1] == "i":
            return rest[:-1] + "y"
        if rest[-1] != "e" and not _ONE_BEAT.fullmatch(rest):
            word = _with_z(rest)
    if word.endswith("our") and len(word) > 5:
        return word[:-2] + "r"
    if word.endswith(("ll", "zz")) and (word[-1] == "z" or _beats(word) > 1):
        return word[:-1]
    return word


def _with_z(rest: str) -> str:
    """Return `organiz` for `organis`: American spelling after an e, -ed or -ing was removed."""
    return rest[:-1] + "z" if rest.endswith(("is", "ys")) and _beats(rest) > 1 else rest


def _beats(word: str) -> int:
    """Return the approximate number of syllables."""
    return len(_VOWELS.findall(word))


_IRREGULAR = {form: base if base in KEPT else _ended(base) for form, base in IRREGULAR.items()}
_IRREGULAR |= {base: _IRREGULAR[form] for form, base in IRREGULAR.items()}
