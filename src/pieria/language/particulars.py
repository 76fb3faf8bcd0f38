"""What distinguishes two similar statements: names, numbers, paths, negations, opposites, and swapped parts.

A vector hardly separates Anna from Bea, port 8000 from port 8001, or "start" from "stop". Statements with equal
particulars may still differ; comparing vectors decides that. The words are in the pack `particulars`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache, lru_cache
from typing import NamedTuple

from pieria.language.analyser import STOP_WORDS
from pieria.language.analyser.stem import stem
from pieria.language.commonwords import COMMON, OPENINGS, TIMES
from pieria.language.letters import lowered
from pieria.language.packs import pack, phrases, words
from pieria.language.shapes import LONGEST, has_capital, kind_of, without_ending, without_line

_WORD = re.compile(r"\S+")
_AROUND = "\"'“”‘’«»„`()[]{}<>,;:!?.…*–—"
_ENDS_SENTENCE = (".", "!", "?", ":")
_ENDS_CLAUSE = (*_ENDS_SENTENCE, ",", ";", ")", "–", "—")
_NUMBERED = re.compile(r"[\w-]*\d\w*(?:[.,:/-]\w*\d\w*)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+")
_DENIALS, _BINDING = words("particulars", "denials"), words("particulars", "binding")
_BREAKING, _PREFIXES = words("particulars", "breaking"), words("particulars", "prefixes")
_STATES, _FILES = words("particulars", "states"), words("particulars", "files")
_BEFORE_TIMES = _BINDING | words("particulars", "this_or_next")
_NOT = "not"
_REACH = 6
"""Words of the same clause that belong to the number or preposition before them."""
_SHORTEST = 3
"""Letters of a word that a prefix turns into its opposite."""


class Particulars(NamedTuple):
    """`marks` are the numbers, paths and identifiers, negations, and words such as "before" or "enabled"."""

    marks: tuple[str, ...]
    names: tuple[str, ...]
    """Words with capitals, in order. At the start of a sentence a common word may be among them."""
    words: str
    """All words, separated by spaces."""
    sure: frozenset[str] = frozenset()
    """The names that are certain: capitalised within a sentence, not all in capitals, and no common word."""
    text: str = ""


class _Word(NamedTuple):
    low: str
    stem: str
    marks: tuple[str, ...]
    has_number: bool
    is_denial: bool
    has_capital: bool
    is_sure: bool
    """Anywhere but at the start of a sentence it is a name."""
    poles: tuple[tuple[int, int], ...]
    """Its places in the table of opposites: (line, group)."""


class _Sense(NamedTuple):
    """The opposites in a text, and the words that belong to its numbers, negations and prepositions."""

    stems: frozenset[str]
    denials: int
    states: frozenset[str]
    poles: Mapping[int, frozenset[int]]
    about: Mapping[str, frozenset[str]]


def particulars(text: str) -> Particulars:
    marks: set[str] = set()
    denials: list[str] = []
    names: list[str] = []
    words: list[str] = []
    sure: set[str] = set()
    first = True
    for token in _WORD.findall(text):
        word = _word(token)
        words.append(word.low)
        marks.update(word.marks)
        denials += [_NOT] * word.is_denial
        if _may_be_name(word, first):
            names.append(word.low)
            if word.is_sure and not first:
                sure.add(word.low)
        first = _ends(token, _ENDS_SENTENCE)
    return Particulars((*sorted(marks), *denials), tuple(names), f" {' '.join(words)} ", frozenset(sure), text)


def _may_be_name(word: _Word, first: bool) -> bool:
    if not word.has_capital or (first and word.poles and word.stem not in STOP_WORDS):
        # A verb that begins an instruction is compared by its opposites. But "will" and "may" are names as well.
        return False
    return not (word.low in OPENINGS and (first or word.low == "i" or "'" in word.low))


def are_apart(one: Particulars, other: Particulars, known: Set[str] = frozenset()) -> bool:
    """Return whether the statements differ in names, numbers, negations or opposites, or in swapped parts.

    Times may come in any order. Names in `known` count even without a capital.
    """
    names, others = _names(one, known), _names(other, known)
    if one.marks != other.marks or not (_holds(one, others) and _holds(other, names)):
        return True
    shared = set(names) & set(others) - TIMES
    if [name for name in names if name in shared] != [name for name in others if name in shared]:
        return True
    return one.text != other.text and _differ(_sense(one.text), _sense(other.text))


def are_opposed(one: str, other: str) -> bool:
    """Return whether the texts differ in negations, states or opposites; names and numbers may differ."""
    own, theirs = _sense(one), _sense(other)
    return (own.denials, own.states) != (theirs.denials, theirs.states) or _clash(own, theirs)


def _word(token: str) -> _Word:
    if len(token) <= LONGEST:
        return _read(token)
    # A key, or a text without spaces: both statements must have it.
    return _Word(token, token, (token,), False, False, False, False, ())


@lru_cache(maxsize=1 << 16)
def _read(token: str) -> _Word:
    bare = without_ending(token.strip(_AROUND))
    low = lowered(bare)
    numbers = tuple(_THOUSANDS.sub("", found) for found in _NUMBERED.findall(lowered(token)))
    root = stem(low) if low.isascii() and low.isalpha() else (*numbers, low)[0]
    poles = _poles().get(low) or _poles().get(root, ())
    is_denial = low in _DENIALS or low.endswith("n't")
    mark = None if is_denial else _mark(bare, low)
    marks = (*numbers, mark) if mark else numbers
    is_capital = not (is_denial or mark) and has_capital(bare)
    is_sure = is_capital and not (bare.isupper() or low in COMMON)
    has_number = bool(numbers) or low in _groups("numbers")
    return _Word(low, root, marks, has_number, is_denial, is_capital, is_sure, poles)


def _mark(bare: str, low: str) -> str | None:
    """Return the word as a mark if both statements must have it."""
    meant = _groups("numbers").get(low) or _groups("sides").get(low)
    return meant or (bare if _names_a_thing(bare) or _FLAG.fullmatch(bare) else None)


@cache
def _groups(name: str) -> Mapping[str, str]:
    """Return the first word of each word's group."""
    return {word: group.split()[0] for group in phrases("particulars", name) for word in group.split()}


@cache
def _poles() -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Return the places of each word in the table of opposites, also by its stem if that is in one group alone."""
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    lines = pack("particulars")["opposites"].strip().splitlines()
    for line, groups in enumerate((*lines, *(pack("particulars")[name] for name in ("months", "weekdays")))):
        stems: dict[str, set[int]] = defaultdict(set)
        for number, group in enumerate(groups.split("|")):
            for word in group.split():
                found[word].add((line, number))
                if not word.startswith("~"):
                    stems[stem(word)].add(number)
        for root, numbers in stems.items():
            if len(numbers) == 1:
                found[root].add((line, min(numbers)))
    return {word: tuple(sorted(places)) for word, places in found.items()}


def _names_a_thing(word: str) -> bool:
    """Return whether the form of a word, or a list, shows that it is a file, an address or an identifier."""
    if word.lower() in _FILES:
        return True
    # Most words are only letters with at most an initial capital, so test this first.
    is_plain = word.isalpha() and (word.islower() or word.istitle())
    return not is_plain and bool(kind_of(without_line(word)) or _ADDRESS.fullmatch(word))


def _ends(token: str, ends: tuple[str, ...]) -> bool:
    return token.rstrip("\"'”’»)").endswith(ends)


def _names(one: Particulars, known: Set[str]) -> tuple[str, ...]:
    words = one.words.split()
    return one.names if known.isdisjoint(words) else tuple(word for word in words if word in known or word in one.names)


def _holds(one: Particulars, names: tuple[str, ...]) -> bool:
    return all(f" {name} " in one.words for name in names)


# --- opposites and swapped parts


@lru_cache(maxsize=1 << 12)
def _sense(text: str) -> _Sense:
    tokens = _WORD.findall(text)
    read = [_word(token) for token in tokens]
    poles: defaultdict[int, set[int]] = defaultdict(set)
    about: defaultdict[str, set[str]] = defaultdict(set)
    for place, word in enumerate(read):
        for line, group in (*word.poles, *_doubtful_poles(read, place)):
            poles[line].add(group)
        heads = list(_heads(word))
        found = set(_about(tokens, read, place)) if heads else set()
        if word.has_number and place and not _ends(tokens[place - 1], _ENDS_CLAUSE):
            found |= {read[place - 1].stem} - STOP_WORDS
        for head in heads:
            about[head] |= found
    return _Sense(
        frozenset(word.stem for word in read),
        sum(word.is_denial for word in read),
        frozenset(word.low for word in read) & _STATES,
        {line: frozenset(groups) for line, groups in poles.items()},
        {head: frozenset(found) for head, found in about.items()},
    )


def _doubtful_poles(read: list[_Word], place: int) -> tuple[tuple[int, int], ...]:
    """Return the poles of a word such as "may" if its neighbours show that it names a time."""
    found = _poles().get(f"~{read[place].low}", ())
    beside = (read[at].low if 0 <= at < len(read) else "" for at in (place - 1, place + 1))
    return found if found and names_time(*beside) else ()


def names_time(before: str, after: str) -> bool:
    """Return whether the neighbours of a word such as "may" show that it names a time."""
    return before in _BEFORE_TIMES or before[:1].isdigit() or after[:1].isdigit()


def _heads(word: _Word) -> Iterator[str]:
    """Yield the names under which the words after this one are kept."""
    yield from word.marks
    yield from (f"{line}/{group}" for line, group in word.poles)
    if word.is_denial:
        yield _NOT
    if word.low in _BINDING:
        yield word.low


def _about(tokens: list[str], read: list[_Word], place: int) -> Iterator[str]:
    """Yield the next few words of the clause, up to a preposition or a conjunction."""
    found = 0
    while not _ends(tokens[place], _ENDS_CLAUSE) and place + 1 < len(read) and found < _REACH:
        place += 1
        word = read[place]
        if word.low in _BINDING or word.low in _BREAKING:
            return
        if word.stem not in STOP_WORDS:
            found += 1
            yield word.stem


def _differ(one: _Sense, other: _Sense) -> bool:
    return _clash(one, other) or _swapped(one, other)


def _clash(one: _Sense, other: _Sense) -> bool:
    """Return whether the texts hold different words of a line of opposites, or a word and its negation by a prefix.

    Two compounds, `eu-west` and `eu-north` or `origin/a` and `origin/b`, are also different words.
    """
    if any(one.poles[axis] != other.poles[axis] for axis in one.poles.keys() & other.poles.keys()):
        return True
    own, theirs = one.stems - other.stems, other.stems - one.stems
    has_compounds = all(any("-" in word or "/" in word for word in words) for words in (own, theirs))
    return has_compounds or _negated(own, theirs) or _negated(theirs, own)


def _negated(one: Iterable[str], other: Set[str]) -> bool:
    for word in one:
        for prefix in _PREFIXES:
            base = word.removeprefix(prefix)
            if base != word and len(base) >= _SHORTEST and base in other:
                return True
    return False


def _swapped(one: _Sense, other: _Sense) -> bool:
    """Return whether a number, a negation or a preposition has a word that belongs elsewhere in the other text."""
    for head, own in one.about.items():
        theirs = other.about.get(head)
        if own and theirs and own.isdisjoint(theirs) and (own & other.stems or theirs & one.stems):
            return True
    return False
