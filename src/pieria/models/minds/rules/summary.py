"""Summaries: the sentences, or their beginnings, that say the most of what a person would look for later.

A person looks for numbers, dates, amounts, names and the words that come up again and again, and for the latest state
rather than the first. Each token counts once, so a sentence that only repeats is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from heapq import heapify, heapreplace
from itertools import islice
from typing import NamedTuple

from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.commonwords import COMMON, TIMES
from pieria.language.grammar.times import has_relative_time
from pieria.language.letters import lowered
from pieria.language.packs import pack, words
from pieria.models.mind import Said
from pieria.models.minds.rules.pieces import begins_with_cue, clipped, length, sentences_of

LONGEST = 80
"""The most words of a sentence that is taken."""
READ = 20_000
"""Characters read of one text."""
CUT_IN, CLAUSES = 600, 8
"""Characters of a sentence in which it is cut into clauses, and the most cuts: a longer one is hardly prose."""
TELLING = 2
"""The fewest terms of an informative sentence: "Fixed." and "Ok." have fewer."""
MATTERS = 3.0
"""What the tokens of a decision count, and those of what is open."""
IDLE = 0.4
"""The share of its value that a question or a greeting keeps."""
BASE = -1.9
WEIGHTS: Mapping[str, float] = {
    "digits": 0.8, "amount": 0.7, "time": 0.7, "counted": 1.8, "repeated": 0.5, "often": 0.4, "late": 1.2,
    "last": 0.4, "only first": -0.3, "stop": -3.9, "common": -0.4, "plain": -1.4, "long": 0.3,
}  # fmt: skip
"""How each property of a token moves the log-odds that a person looks for it, from `BASE`; fitted on labelled notes."""
LONG = 8
_TOKEN = re.compile(r"[^\W_]+(?:[.,:'’/-][^\W_]+)*|[€$£%±]")
_CURRENCY = re.compile(r"\s?(?:[€$£%]|(?:euros?|eur|chf|usd|dollars?|pounds?|percent)\b)", re.IGNORECASE)
_CLAUSE = 4
"""Words behind a comma that make a clause, not an item of a list."""
_ENDS = (".", "!", "?", "…", "。", "！", "？", '"', "'", "”", "’", "»", ")", "]")


@dataclass(slots=True)
class _Sentence:
    text: str
    source: int
    ends: list[int]
    """The ends of its clauses."""
    values: list[dict[str, float]] = field(default_factory=list)
    """The tokens of each clause, with their values."""
    weight: float = 1.0
    """How much its tokens count."""
    costs: list[int] = field(default_factory=list)
    """The words that its beginnings take in the summary."""
    dated: list[bool] = field(default_factory=list)
    """Whether its beginnings have a relative time, and so need the date."""
    taken: int = 0
    """The number of its clauses in the summary."""

    def shown(self) -> str:
        return self.upto(self.taken)

    def upto(self, clauses: int) -> str:
        text = self.text[: self.ends[clauses - 1]].rstrip(" ,;:–—-")
        return text if text.endswith(_ENDS) else f"{text}."


class _Step(NamedTuple):
    """The best next clauses of a sentence: their value per word, and how many clauses it then has."""

    gain: float
    clauses: int


def summarized(said: Sequence[Said], words: int) -> str:
    """Return at most `words` words. A sentence with a relative time gets its date in front."""
    found = list(_sentences(said))
    if not found or words <= 0:
        return ""
    _weigh(found, len(said))
    several = len({entry.author for entry in said if entry.author}) > 1
    _choose(found, said, words, several)
    taken = [sentence for sentence in found if sentence.taken]
    if not taken:
        found[0].taken = len(found[0].ends)
        return clipped(" ".join(_rendered(found[:1], said, several)), words)
    return " ".join(_rendered(taken, said, several))


def _sentences(said: Sequence[Said]) -> Iterator[_Sentence]:
    """Yield the sentences of all texts. One that is said again counts once."""
    seen: set[str] = set()
    for source, entry in enumerate(said):
        for text in sentences_of(entry.text[:READ]):
            key = text.casefold()
            if key not in seen:
                seen.add(key)
                cuts = [cut.start() for cut in islice(_cuts().finditer(text[:CUT_IN]), CLAUSES) if cut.start()]
                yield _Sentence(text, source, [*cuts, len(text)], weight=_weight(text))


def _weight(text: str) -> float:
    if not _is_informative(text):
        return 0.0
    low = lowered(text[:CUT_IN])
    if begins_with_cue("passing.greetings", low):
        return IDLE
    if _matters().search(low):
        return MATTERS
    return IDLE if text.endswith(("?", "？")) else 1.0


def _is_informative(text: str) -> bool:
    """Return whether a sentence has enough terms. Mostly its first words tell."""
    found: set[str] = set()
    for word in text.split():
        found |= {*terms(word)} - STOP_WORDS
        if len(found) >= TELLING:
            return True
    return False


@cache
def _matters() -> re.Pattern[str]:
    """Return the pattern of what makes a sentence a decision or an open question."""
    cues = [cue for key in ("decisions", "open") for cue in pack("clauses")[key].split()]
    return re.compile(rf"\b(?:{'|'.join(cues)})\b")


@cache
def _cuts() -> re.Pattern[str]:
    openings, reasons = ("|".join(pack("clauses")[key].split()) for key in ("openings", "reasons"))
    clause = rf"(?:\S+\s+){{{_CLAUSE - 1}}}\S"
    return re.compile(
        rf"(?<=;)\s+|\s+[—–]\s+|(?<=,)\s+(?=(?:{openings})\b|{clause})|\s+(?=(?:{reasons})\b)", re.IGNORECASE
    )


class _Word(NamedTuple):
    """What is known of a word in any text."""

    key: str
    """What stands for all its forms."""
    odds: float
    """The log-odds by its own properties."""
    number: bool
    time: bool
    plain: bool


@dataclass(slots=True)
class _Tokens:
    """The tokens of all texts, by their keys."""

    words: dict[str, _Word] = field(default_factory=dict)
    """The first form of each."""
    latest: dict[str, int] = field(default_factory=dict)
    """The last source that has it."""
    times: dict[str, int] = field(default_factory=dict)
    """The number of sources that have it, if there are several."""
    capital: set[str] = field(default_factory=set)
    """Those with a capital within a clause."""
    amount: set[str] = field(default_factory=set)
    date: set[str] = field(default_factory=set)


def _weigh(sentences: Sequence[_Sentence], sources: int) -> None:
    """Set the values of the tokens."""
    tokens = _Tokens()
    found: list[list[list[str]]] = []
    for sentence in sentences:
        begins = [0, *sentence.ends[:-1]]
        clauses = [sentence.text[begin:end] for begin, end in zip(begins, sentence.ends, strict=True)]
        found.append([_keys(clause, sentence.source, tokens) for clause in clauses])
    values = {key: _value(key, tokens, sources) for key in tokens.words}
    for sentence, keys in zip(sentences, found, strict=True):
        sentence.values = [{key: values[key] for key in clause} for clause in keys]


def _keys(clause: str, source: int, tokens: _Tokens) -> list[str]:
    """Return the keys of a clause's tokens, and record what is seen of them."""
    texts = _TOKEN.findall(clause)
    found = list(map(_word, texts))
    for word in found:
        key = word.key
        latest = tokens.latest.get(key)
        if latest is None:
            tokens.words[key] = word
        elif latest != source:
            tokens.times[key] = tokens.times.get(key, 1) + 1
        tokens.latest[key] = source
    if not clause.islower():
        tokens.capital.update(word.key for text, word in zip(texts[1:], found[1:], strict=True) if text[0].isupper())
    if any(word.number for word in found):
        _mark_numbers(clause, tokens)
    return [word.key for word in found]


def _mark_numbers(clause: str, tokens: _Tokens) -> None:
    """Record which numbers of a clause are amounts of money or parts of a date."""
    places = list(_TOKEN.finditer(clause))
    for number, place in enumerate(places):
        key = place[0]
        if key[0].isdigit():
            before = clause[: place.start()].rstrip()[-1:]
            if _CURRENCY.match(clause, place.end()) or before in {*"€$£"}:
                tokens.amount.add(key)
            beside = [*places[max(0, number - 1) : number], *places[number + 1 : number + 2]]
            if any(lowered(each[0]) in TIMES for each in beside):
                tokens.date.add(key)


def _value(key: str, tokens: _Tokens, sources: int) -> float:
    """Return the probability that a person looks for this token."""
    word, latest, times = tokens.words[key], tokens.latest[key], tokens.times.get(key, 1)
    odds = word.odds + WEIGHTS["late"] * latest / max(1, sources - 1)
    if times > 1:
        odds += WEIGHTS["repeated"] + WEIGHTS["often"] * math.log(times)
    elif latest == 0:
        odds += WEIGHTS["only first"]
    if key in tokens.amount:
        odds += WEIGHTS["amount"]
    if key in tokens.date and not word.time:
        odds += WEIGHTS["time"]
    if latest == sources - 1:
        odds += WEIGHTS["last"]
    if word.plain and key not in tokens.capital:
        odds += WEIGHTS["plain"]
    return 1 / (1 + math.exp(-odds))


@lru_cache(maxsize=20_000)
def _word(text: str) -> _Word:
    low = lowered(text)
    is_number = text[0].isdigit()
    key = text if is_number else next(iter(terms(text)), low)
    stop = key in STOP_WORDS or low in STOP_WORDS
    has = {
        "digits": is_number,
        "time": low in TIMES,
        "counted": low in words("particulars", "numbers"),
        "stop": stop,
        "common": low in COMMON and not stop,
        "long": len(text) >= LONG,
    }
    odds = BASE + sum([WEIGHTS[name] for name, is_so in has.items() if is_so])
    return _Word(key, odds, is_number, has["time"], text.isalpha() and not stop)


def _choose(sentences: Sequence[_Sentence], said: Sequence[Said], words: int, several: bool) -> None:
    """Take clauses greedily by new value per word, within the word limit.

    Gains only fall, so the best sentence is known once its own gain is up to date.
    """
    for sentence in sentences:
        _set_costs(sentence, said[sentence.source], several)
    covered: set[str] = set()
    left = words
    queue = [(-_best(sentence, covered, left).gain, place) for place, sentence in enumerate(sentences)]
    heapify(queue)
    while queue[0][0] < 0:
        promised, place = queue[0]
        sentence = sentences[place]
        step = _best(sentence, covered, left)
        if -step.gain <= promised:
            for values in sentence.values[sentence.taken : step.clauses]:
                covered |= values.keys()
            left -= sentence.costs[step.clauses] - sentence.costs[sentence.taken]
            sentence.taken = step.clauses
            step = _best(sentence, covered, left)
        heapreplace(queue, (-step.gain, place))


def _set_costs(sentence: _Sentence, entry: Said, several: bool) -> None:
    """Set the words that the sentence's beginnings take, from none of its clauses to all, with its author and date."""
    who = length(f"{entry.author}:") if several and entry.author else 0
    texts = [sentence.upto(clauses) for clauses in range(1, len(sentence.ends) + 1)]
    sentence.dated = [False, *(entry.at is not None and has_relative_time(text) for text in texts)]
    sentence.costs = [0, *(length(text) + who + dated for text, dated in zip(texts, sentence.dated[1:], strict=True))]


def _best(sentence: _Sentence, covered: set[str], left: int) -> _Step:
    """Return the best number of further clauses among those that fit."""
    best = _Step(0.0, sentence.taken)
    fresh: dict[str, float] = {}
    for clauses in range(sentence.taken + 1, len(sentence.ends) + 1):
        fresh |= {token: value for token, value in sentence.values[clauses - 1].items() if token not in covered}
        cost = sentence.costs[clauses] - sentence.costs[sentence.taken]
        gain = sum(fresh.values()) / (2 + cost) ** 0.8
        if gain > best.gain and cost <= min(left, LONGEST):
            best = _Step(gain, clauses)
    return best._replace(gain=best.gain * sentence.weight)


def _rendered(sentences: Sequence[_Sentence], said: Sequence[Said], several: bool) -> Iterator[str]:
    """Yield the sentences. A change of author is told in front and, where a time needs it, the date."""
    speaker: str | None = None
    for sentence in sentences:
        entry, text = said[sentence.source], sentence.shown()
        who = entry.author if several else None
        name = f"{who}: " if who and who != speaker else ""
        when = f"({entry.at}) " if entry.at and sentence.dated[sentence.taken] else ""
        speaker = entry.author
        yield f"{name}{when}{text}"
