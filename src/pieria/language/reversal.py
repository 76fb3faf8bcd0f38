"""Find reversals: sentences that say that something no longer holds, and what replaces it.

`reversal_forms` has the phrases, and `reversal_target` decides which text a reversal overturns. Whose words it may
overturn is decided in `bank.write.reversals`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from pieria.language import reversal_forms as forms
from pieria.language.analyser import query_terms, terms
from pieria.language.letters import lowered
from pieria.language.reversal_forms import CHANGED, DROPPED
from pieria.language.sentences import sentences

LONGEST = 400
"""Most characters of a sentence with a reversal."""
BRIEF = 4
"""Most words of a sentence that is taken as news regardless of its words. Documentation has longer ones."""
MOST = 20
"""Most reversals read from one text."""
MOST_TERMS, MOST_WORDS = 5, 4
"""Most terms of the thing dropped, and most words of its replacement. More is a story, not a name."""
_ANNOUNCING = frozenset(
    ["correction", "update", "decided", "decision", "change", "news", "edit", "wrong", "scrap that", "scratch that"]
)
"""Words before a colon that are not a speaker."""
_WORD, _A_WORD = re.compile(r"[^\W_][\w'./+#-]*"), re.compile(r"[^\W_][\w+#-]*")


class Reversal(NamedTuple):
    """What the sentence `text[start:end]` overturns.

    All terms of `dropped` go; `instead` replaces them. `about` is the topic of the sentence with its head last,
    `beside` the circumstances. The kinds `CHANGED` and `BACK` drop nothing by name.
    """

    kind: str
    start: int
    end: int
    dropped: tuple[str, ...]
    instead: tuple[str, ...]
    about: tuple[str, ...]
    beside: tuple[str, ...]
    new: str
    """The replacement as written."""
    is_own: bool
    """About the speaker: it overturns only the speaker's own words."""
    is_named: bool
    """The thing dropped has a name or a number, which makes it unique."""
    is_news: bool
    """The sentence is personal or says that it is new, unlike documentation."""


class Sentence(NamedTuple):
    """A sentence as written and in lower case, with equal positions in both."""

    start: int
    end: int
    text: str
    low: str

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @property
    def words(self) -> list[tuple[int, int, list[str]]]:
        """Return the start, the end and the terms of each word."""
        return [(*found.span(), terms(self.text[slice(*found.span())])) for found in _A_WORD.finditer(self.low)]


def find_reversals(text: str) -> list[Reversal]:
    """Return the reversals of a text in order, without those in doubtful sentences."""
    low = lowered(text)
    present = {cue for cue in _cues() if cue in low}
    if not present:
        return []
    found = [each for said in stating_sentences(text, LONGEST) for each in _within(said, present)][:MOST]
    if not found:
        return []
    from pieria.language.standing_rules import own_sentences

    own = {sentence.start for sentence in own_sentences(text, _ANNOUNCING)}
    return [each for each in found if each.start in own]


def telling_terms(phrase: str) -> tuple[str, ...]:
    """Return the terms of a phrase that carry its topic, in order, without duplicates."""
    return tuple(dict.fromkeys(each.term for each in query_terms(phrase) if not each.stop and each.term not in _idle()))


def stating_sentences(text: str, longest: int) -> Iterator[Sentence]:
    """Yield the sentences of at most `longest` characters, except questions, table rows and code."""
    low = lowered(text)
    for start, end in sentences(text):
        said = low[start:end]
        is_question = said.rstrip("\"')*_ ").endswith(("?", "？"))
        if end - start <= longest and not is_question and "|" not in said and not forms.CODE.search(said):
            yield Sentence(start, end, text[start:end], said)


@cache
def _idle() -> frozenset[str]:
    return frozenset(each.term for word in forms.GENERIC for each in query_terms(word))


@cache
def _cues() -> tuple[str, ...]:
    return tuple(sorted({cue for _, cues, _ in forms.FORMS for cue in cues}))


def _within(said: Sentence, present: set[str]) -> Iterator[Reversal]:
    """Yield what a sentence overturns, without duplicates."""
    held = {cue for cue in present if cue in said.low}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    replacing: set[tuple[str, ...]] = set()
    for kind, cues, form in forms.FORMS:
        for found in () if held.isdisjoint(cues) else re.finditer(form, said.low):
            made = _of(kind, said, found) if _is_sure(said.low, found) else None
            if made is None or (kind == CHANGED and made.instead in replacing):
                continue
            key = kind, made.dropped or made.about
            replacing.add(made.instead)
            if key not in seen:
                seen.add(key)
                yield made


def _is_sure(low: str, found: re.Match[str]) -> bool:
    """Return whether the sentence states the change as a fact."""
    named = _named(found)
    first = min(named, key=found.start)
    # The cue comes after any phrase that the form captures before it.
    cue = found.end(first) if first == "rest" or found.start(first) == found.start() else found.start()
    before = low[:cue]
    is_quoted = before.count("“") > before.count("”")
    if is_quoted or forms.BEFORE_DENIED.search(before) or forms.TOLD_AFTERWARDS.search(low, cue):
        return False
    if forms.TOLD_BY_OTHERS.search(before) and not forms.TOLD_BY_SPEAKER.search(before):
        return False
    ends = forms.BREAK.search(low, max(cue, *map(found.start, named)) + 1, found.end())
    undecided = forms.UNDECIDED.search(low, 0, ends.start() if ends else found.end())
    return undecided is None or (undecided[0] in forms.FUTURE and forms.LASTS.search(low) is not None)


def _named(found: re.Match[str]) -> list[str]:
    return [name for name, held in found.groupdict().items() if held is not None]


def _of(kind: str, said: Sentence, found: re.Match[str]) -> Reversal | None:
    named, low = _named(found), said.low
    if "rest" in named:
        return _contrasted(said, found)
    if forms.NOUN_BEFORE.search(low, 0, found.start()):
        return None
    more: tuple[str, ...] = ()
    new, beside = _phrase(said, *found.span("new")) if "new" in named else ("", ())
    if "about" in named:
        phrase, more = _phrase(said, *found.span("about"), breaks=False)
        about, beside, more = telling_terms(phrase), (*beside, *more), ()
    else:
        about = telling_terms(_subject(said, found.start()))
    dropped: tuple[str, ...] = ()
    phrase = ""
    if "doing" in named:
        start, end = found.span("doing")
        phrase = said.text[start:end]
        dropped, more = _clause(said, start, end)
    elif "old" in named:
        start, end = found.span("old")
        is_first = start == found.start()
        if forms.ANYBODY.fullmatch(low[start:end].strip()) or (is_first and forms.ANY_OF_THEM.match(low, start)):
            return None
        phrase, more = _phrase(said, start, end)
        dropped = telling_terms(phrase)
        about = () if is_first else about
        phrase = phrase if start else phrase[1:]
    beside, instead = (*beside, *more), telling_terms(new)
    if kind == DROPPED:
        is_whole = 0 < len(dropped) <= MOST_TERMS
    else:
        is_whole = bool(instead and (kind != CHANGED or about or beside))
    if not is_whole:
        return None
    is_own, is_named, is_news = _is_own(low, found, named), _holds(forms.NAMED, phrase), _is_news(low)
    return Reversal(kind, said.start, said.end, dropped, instead, about, beside, new, is_own, is_named, is_news)


def _holds(form: re.Pattern[str], text: str) -> bool:
    return form.search(text) is not None


def _is_news(low: str) -> bool:
    is_brief = len(low.split()) <= BRIEF
    return is_brief or _holds(forms.SPEAKER, low) or _holds(forms.LASTS, low) or _holds(forms.NEWLY, low)


def _is_own(low: str, found: re.Match[str], named: Sequence[str]) -> bool:
    """Return whether it is about the speaker: “I no longer eat meat”, but not “I moved the demo”."""
    is_deed = "doing" in named or found[0].endswith(" me") or "what i " in found[0]
    return _holds(forms.OWN if is_deed else forms.MINE, low[: found.end()])


def _contrasted(said: Sentence, found: re.Match[str]) -> Reversal | None:
    """Return the reversal in “X instead of Y” or “X, not Y”. The words before it give the topic.

    An event that happened once overturns nothing.
    """
    start, end = found.span("rest")
    colon = said.low.rfind(": ", start, end)
    start = start if colon < 0 else colon + 2
    rest = said.low[start:end]
    lead = forms.BEFORE_OBJECT.match(rest)
    if not _holds(forms.LASTS, said.low) and (lead is None or forms.ONE_OFF.search(said.low, start)):
        return None
    place = start + (lead.end() if lead else 0)
    new = said.text[place:end]
    phrase, more = _phrase(said, *found.span("old"))
    dropped, instead = telling_terms(phrase), telling_terms(new)
    if not 0 < len(dropped) <= MOST_TERMS or not 0 < len(instead) <= MOST_TERMS or set(dropped) & set(instead):
        return None
    if forms.NO_THING.match(new.lower()) or len(new.split()) > MOST_WORDS:
        return None
    who = forms.ANYBODY.match(rest)
    subject = forms.PLAIN_SUBJECT.match(said.low, start + (who.end() if who else 0), end)
    about = telling_terms(subject[1]) if subject else ()
    beside = tuple(term for term in (*telling_terms(said.text[start:place]), *more) if term not in (*instead, *about))
    is_own, is_named, is_news = _holds(forms.OWN, rest), _holds(forms.NAMED, phrase), _is_news(said.low)
    if not (is_named or is_news):
        return None
    return Reversal(DROPPED, said.start, said.end, dropped, instead, about, beside, new, is_own, is_named, is_news)


def _phrase(said: Sentence, start: int, end: int, *, breaks: bool = True) -> tuple[str, tuple[str, ...]]:
    """Return the phrase that begins there, and the terms of its circumstances: “Helm” and (production,)."""
    if breaks and (broken := forms.BREAK.search(said.low, start + 1, end)):
        end = broken.start()
    beside = forms.BESIDE.search(said.low, start + 2, end)
    if beside is None:
        return said.text[start:end], ()
    return said.text[start : beside.start()], telling_terms(said.text[beside.end() : end])


def _clause(said: Sentence, start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the terms of a clause's object and of its verb: “deploy with Helm” gives (helm,) and (deploy,)."""
    if broken := forms.BREAK.search(said.low, start + 1, end):
        end = broken.start()
    verb = _WORD.match(said.low, start)
    if verb is None or forms.TO_DO.match(said.low, start, end):
        return (), ()
    is_thing = verb[0] in ("a", "an", "the", "our", "my") or forms.BESIDE.fullmatch(verb[0])
    if is_thing or forms.IS.search(said.low, 0, start):
        return telling_terms(said.text[start:end]), ()
    return telling_terms(said.text[verb.end() : end]), telling_terms(verb[0])


def _subject(said: Sentence, end: int) -> str:
    """Return the named subject before the verb that begins there, or "" if it has no name."""
    start = max((found.end() for found in forms.CLAUSE_END.finditer(said.low, 0, end)), default=0)
    lead = forms.ANYBODY.match(said.low, start, end)
    return "" if lead is not None and not said.low[lead.end() : end].strip() else said.text[start:end]
