"""The stem of an English word: what its forms have in common, so that `studies` finds `study`.

Exists as our own light stemmer: it takes off what inflection puts on, plus the few endings of derivation that keep the
meaning. Where both cannot be had it rather leaves two forms apart than throws two words together: `university` stays
away from `universe`. A stem need not be a word (`arrive` is `arriv`); it is compared, not shown. Words of other
languages come here too, if their letters are plain; so no rule may cut deeply.
"""

from __future__ import annotations

import re

from pieria.record.analyser.irregular import IRREGULAR, KEPT

_SHORTEST, _LONGEST = 3, 24

_VOWELS = re.compile(r"[aeiouy]+")
_ONE_BEAT = re.compile(r"(?:qu|[^aeiou])?[^aeiouy]*[aeiouy][^aeiouwxy]")
"""Consonants, one vowel, one consonant: `hop`. Such a word doubles its end (`hopping`) or has lost an e (`hoping`)."""

_DOUBLED = frozenset(("bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt"))

# By last letter: ending, what replaces it, letters that must stay before it.
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
    """The stem of a lower-case word of ASCII letters."""
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
    """Without -ed or -ing, and as it was before they came."""
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
    """One end for all forms: no silent e, -y for -ie, American spelling."""
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
    """`organis` as `organiz`: British spelling where an e, -ed or -ing has come off."""
    return rest[:-1] + "z" if rest.endswith(("is", "ys")) and _beats(rest) > 1 else rest


def _beats(word: str) -> int:
    """Syllables, about."""
    return len(_VOWELS.findall(word))


_IRREGULAR = {form: base if base in KEPT else _ended(base) for form, base in IRREGULAR.items()}
_IRREGULAR |= {base: _IRREGULAR[form] for form, base in IRREGULAR.items()}
