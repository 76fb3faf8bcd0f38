"""Forms of single words that name something: addresses, paths, identifiers, versions, tickets, handles, tags.

This table has all rules about one word. Callers strip the punctuation and skip words longer than `LONGEST`, which
bounds each match. Names of several words belong in `entities`.
"""

from __future__ import annotations

import re

from pieria.language.analyser.tokenizer import STOP_WORDS

LONGEST = 200

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.VERBOSE))
    for kind, pattern in (
        ("email", r"[\w.+-]{1,64} @ [\w-]+ (?: \.[\w-]+ )+"),
        ("handle", r"@ [A-Za-z_] [\w-]{1,38} (?: \.\w+ )*"),
        ("ticket", r"\# \d{1,7} | [A-Z][A-Z0-9]{1,9} - \d{1,7}"),
        ("tag", r"\# (?! [0-9a-fA-F]{6} (?:[0-9a-fA-F]{2})? \Z ) [^\W\d_] [\w-]{1,60}"),
        ("version", r"[vV]\d+ (?: \.\d+ ){0,3} (?: [-+][0-9A-Za-z.]+ )?"),
        ("version", r"\d+\.\d+\.\d+ (?: [-+][A-Za-z][0-9A-Za-z.]* )?"),
        ("host", r"(?: \d{1,3} (?: \.\d{1,3} ){3} | localhost ) (?: :\d{1,5} )? | www\.[\w-]+ (?: \.[\w-]+ )+"),
        ("path", r"(?: [A-Za-z]: | ~ | \.{1,2} )? [/\\] (?= [^/\\]*[A-Za-z] ) [\w.@+-]+"
                 r" (?: [/\\]+ [\w.@+-]+ )* [/\\]?"),
        ("path", r"[\w.@+-]+ (?: [/\\] [\w.@+-]+ )* [/\\] [\w@+-]* \.[A-Za-z]\w{0,7}"),
        ("path", r"\w[\w.-]* (?: / \w[\w.-]* )+ /"),
        ("identifier", r"_{0,2} [A-Za-z] [A-Za-z0-9]* (?: _+ [A-Za-z0-9]+ )+ _{0,2} | __[a-z0-9]+__"),
        ("identifier", r"[a-z]{2,} [a-z0-9]* (?: [A-Z] [A-Za-z0-9]* )+"),
        ("identifier", r"(?! Ma?c[A-Z][a-z]+\Z | [DL][aeiu][A-Z][a-z]+\Z | Van[A-Z] | Fitz[A-Z] )"
                       r" [A-Z] [a-z0-9]+ (?: [A-Z] [a-z0-9]+ )+ [A-Z]{0,4}"),
        ("identifier", r"\.[A-Z]{2,5} | [A-Za-z]\+\+ | [A-Z]\#"),
    )
)  # fmt: skip
_ENDING = re.compile(r"['’](?:s|re|ve|d|ll|m)$", re.IGNORECASE)
_FILE_WITH_LINE = re.compile(r"([^:]*\.[A-Za-z]\w{0,7})(?::\d{1,6}){1,2}")
_NAME = re.compile(r"[^\W\d_](?:[\w'’.&-]*\w)?\.?")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)+")
_INITIALS = re.compile(r"(?:[A-Z]\.)+[A-Z]?")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9&]{0,6}[A-Z0-9]s?|(?:[A-Z]\.){2,6}[A-Z]?")
_ROMAN = re.compile(r"[IVX]+")


def kind_of(word: str) -> str | None:
    """Return the kind that the form of a word shows, or None."""
    if word.isalpha() and (word.islower() or word.istitle() or word.isupper()):
        return None
    for kind, shape in _SHAPES:
        if shape.fullmatch(word):
            return kind
    return "identifier" if _is_dotted_name(word) else None


def _is_dotted_name(word: str) -> bool:
    """Return whether the word is like `os.path` or `store.ts`, not `e.g` or two sentences without a space."""
    if not _DOTTED.fullmatch(word):
        return False
    parts = word.split(".")
    forgotten_space = parts[-1].istitle() and parts[-2].islower() and len(parts) == 2
    return (
        max(map(len, parts)) > 1 and len(parts[-1]) > 1 and not forgotten_space and parts[-1].lower() not in STOP_WORDS
    )


def without_line(word: str) -> str:
    """Return `store.ts` for `store.ts:42`."""
    found = _FILE_WITH_LINE.fullmatch(word)
    return found[1] if found else word


def without_ending(word: str) -> str:
    """Return `Maya` for `Maya's` and `Maya'll`."""
    return _ENDING.sub("", word) or word


def has_capital(word: str) -> bool:
    """Return whether the word is capitalised like a name: Maya, O'Brien, iPhone."""
    if not _NAME.fullmatch(word):
        return False
    return word[0].isupper() or (len(word) > 2 and word[0] in "ei" and word[1].isupper() and word[2].islower())


def is_initial(word: str) -> bool:
    """Return whether the word is an initial, `J.` or `U.S.`, with its full stop."""
    return _INITIALS.fullmatch(word) is not None and word.endswith(".")


def is_acronym(word: str) -> bool:
    return _ACRONYM.fullmatch(word) is not None and not _ROMAN.fullmatch(word)
