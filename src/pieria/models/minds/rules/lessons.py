"""Lessons from fixed failures and from people's corrections of an agent, for `RuleMind.lessons`.

The pack `corrections` has the phrasings. This module decides which corrections last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from pieria.language.analyser import terms
from pieria.language.grammar.forms import forms
from pieria.language.letters import lowered, spaced
from pieria.language.packs import pack, phrases
from pieria.language.standing_forms import ONE_OFF, REPORTED
from pieria.language.standing_rules import own_sentences, standing
from pieria.models.mind import Lesson, Mended, Told
from pieria.record.clip import clipped
from pieria.record.lesson import PROCEDURE, RULE

LASTING, BORNE_OUT, SAID_BEFORE = 0.8, 0.1, 0.1
"""Confidence of an explicit rule. It rises if the agent did what is corrected, and if it was said before."""
AT_HAND = 0.25
"""Decrease for a correction that may be about one thing only."""
WORDS = 3
"""The fewest words of a rule: “never used” says nothing to do."""
LEAST, MOST = 0.4, 0.95
RULES = 3
"""Rules per prompt."""
READ, SENTENCE, RULE_LENGTH = 6_000, 400, 240
"""Characters read of a prompt, and limits of a correcting sentence and of a rule."""
SHORTEST_STEM = 4
_THE = re.compile(
    r"\bthe (?P<thing>(?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?= (?:in|of|for|to|from|with|on|at|by|when|before|after|inside|without|and|or)\b|[,.;]|\Z)"
)
_ASKED = re.compile(
    r"(?:you (?:should|must|have to|need to)|i (?:want|need|expect|ask) you to|make sure (?:to|you|that you)) "
    r"(?=always|never)"
)
_WITHOUT_E = re.compile(r"(?:[^aeiou][aiu][tvsz]|[aeiou]us|ng|rg|dg|[aeiou]c)\Z")
"""Ends of stems that lost an e: writ-ing, us-ing, chang-ing."""
_BULLET = re.compile(r"(?:[-*•+]|\d{1,2}[.)]) ")
_POLITE = re.compile(
    r"(?:can|could|would|will) you(?: please| kindly| just)* (?P<not>not )?"
    r"(?P<what>(?(not)|(?:stop|quit|always|never|use) ).+?)(?:,? please)?\?[\s!]*"
)
"""Requests in the form of a question: could you stop doing that?"""
_SPEAKER = re.compile(r"(?:user|human|me|assistant|system)\s?:")
"""A speaker's name in front: the text was pasted, because users do not name themselves."""
CONFIDENCE = ((1, 0.6), (2, 0.55), (3, 0.5), (6, 0.4))
"""Confidence of a fix seen once, by its number of steps: in a long fix some steps were not needed."""


class Form(NamedTuple):
    pattern: re.Pattern[str]
    rule: str
    sure: float
    alone: bool
    named: bool


class Bare(NamedTuple):
    """A sentence without its opening words, which may show repetition (`again`) or rejection (`rejects`)."""

    text: str
    again: bool
    rejects: bool


def lessons(mended: Sequence[Mended], told: Sequence[Told]) -> list[Lesson]:
    procedures = [_procedure(one, place) for place, one in enumerate(mended)]
    return [*procedures, *(rule for place, one in enumerate(told) for rule in _rules(one, place))]


def _procedure(mended: Mended, place: int) -> Lesson:
    steps = list(mended.steps)
    told = "; then ".join(steps) if steps else f"do {mended.passed} instead"
    sure = next((sure for most, sure in CONFIDENCE if len(steps) <= most), LEAST)
    return Lesson(
        PROCEDURE,
        place,
        f"{told[:1].upper()}{told[1:]}.",
        condition=f"{mended.failed} fails with “{mended.error}”",
        expected=f"{mended.passed} goes well",
        confidence=sure,
    )


# --- what people say


def _rules(told: Told, place: int) -> list[Lesson]:
    found: dict[str, Lesson] = {}
    text = told.said[:READ]
    for start, end in own_sentences(text, _any("leads") | _any("repeated") | _any("rejecting")):
        sentence = " ".join(text[start:end].split())
        asked = _BULLET.sub("", sentence)
        if sentence.rstrip("\"')*_!”").endswith(("?", "？")):
            bare = _without_leads(asked).text
            polite = _POLITE.fullmatch(lowered(bare))
            if polite is None:
                continue
            asked = f"{'do not ' if polite['not'] else ''}{bare[slice(*polite.span('what'))]}"
        for lesson in _laid_down(asked, sentence, told, place):
            found.setdefault(lesson.text.casefold(), lesson)
    return list(found.values())[:RULES]


def _laid_down(sentence: str, quote: str, told: Told, place: int) -> Iterator[Lesson]:
    """Yield at most one rule: the sentence if it is an explicit rule, otherwise the rule that it implies."""
    bare = _without_leads(sentence)
    low = lowered(bare.text)
    if (
        REPORTED.search(low)
        or any(re.search(rf"\b{re.escape(phrase)}\b", low) for phrase in phrases("corrections", "at_once"))
        or _SPEAKER.match(low)
        or len(low.split()) < WORDS
    ):
        return
    if any(rule.kind == RULE for rule in standing(bare.text)):
        if not ONE_OFF.search(low):
            sure = LASTING + (SAID_BEFORE if bare.again else 0.0)
            yield Lesson(RULE, place, _as_rule(bare.text), quote=quote, confidence=min(MOST, sure))
        return
    for form in _forms() if len(low) <= SENTENCE else ():
        match = form.pattern.fullmatch(low)
        if match is None:
            continue
        lesson = _meant(form, match, bare, told)
        if lesson is not None:
            text, sure = lesson
            yield Lesson(RULE, place, text, quote=quote, confidence=round(min(MOST, sure), 2))
        return


def _meant(form: Form, match: re.Match[str], bare: Bare, told: Told) -> tuple[str, float] | None:
    """Return the rule and its confidence, or None if it is for one occasion or about nothing the agent did."""
    parts = {name: _ended(bare.text[slice(*match.span(name))]) for name, text in match.groupdict().items() if text}
    if not (form.alone or bare.again or bare.rejects or told.acts or told.before) or not _lasts(parts):
        return None
    if form.named and re.match(r"(?:an?|some|the) ", lowered(parts["what"])):
        return None
    sure = form.sure + (SAID_BEFORE if bare.again else 0.0)
    if _is_at_hand(parts):
        sure -= AT_HAND
    if _was_done(parts.get("not") or parts.get("what", ""), told):
        sure += BORNE_OUT
    if "doing" in parts:
        parts["doing"] = _verb_of(parts["doing"].lower())
    parts["what"] = f" {parts['what']}" if "doing" in parts and parts.get("what") else parts.get("what", "")
    parts["verb"] = parts.get("verb", "use").lower()
    text = " ".join(form.rule.format(**{"not": "", "doing": "", **parts}).split()).replace(" .", ".")
    return (clipped(text, RULE_LENGTH), sure) if sure >= LEAST else None


def _lasts(parts: dict[str, str]) -> bool:
    """Return whether the rule applies beyond the current task."""
    for name, part in parts.items():
        low = lowered(part)
        words = re.findall(r"[\w'+#.-]+", low)
        if name != "doing" and not any(re.search(r"[^\W\d_]", word) for word in words):
            return False
        if _points(words) or ONE_OFF.search(low):
            return False
        if name == "what" and words and _begins_with(low, "passing") and "doing" not in parts:
            return False
    return True


def _points(words: list[str]) -> bool:
    """Return whether the words point at one thing: that file; but not: files that are generated."""
    for place, word in enumerate(words):
        relates = word == "that" and 0 < place < len(words) - 1 and words[place - 1].endswith("s")
        if word in _any("pointing") and not relates:
            return True
    return False


def _is_at_hand(parts: dict[str, str]) -> bool:
    """Return whether the rule is about one specific thing: one file or the button, but not the changelog."""
    for name in ("what", "not"):
        low = lowered(parts.get(name, ""))
        if re.search(r"(?<![\w*])[\w./-]+\.[a-z]{1,4}(?![\w(])", low) and not re.search(r"\*|\b\w+\.\w+\(", low):
            return True
        for found in _THE.finditer(low):
            words = found[1].split()
            if not words[-1].endswith("s") and not _any("lasting").intersection(words):
                return True
    return False


def _was_done(part: str, told: Told) -> bool:
    """Return whether the agent's actions or words share a term with this part of a correction."""
    sought = {term for term in terms(part) if len(term) >= SHORTEST_STEM - 1}
    held = {term for act in (*told.acts, told.before) for term in terms(act)}
    return any(one == other or _same_stem(one, other) for one in sought for other in held)


def _same_stem(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST_STEM and long.startswith(short[: max(SHORTEST_STEM, len(short) - 1)])


def _verb_of(doing: str) -> str:
    """Return the base form: mock for mocking, commit for committing, write for writing."""
    known = forms().get(doing)
    if known is not None and "ing" in known.kinds:
        return known.lemma
    stem = doing.removesuffix("ing")
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    return f"{stem}e" if len(stem) > 2 and _WITHOUT_E.search(stem) else stem


def _as_rule(sentence: str) -> str:
    """Return the sentence as a rule, without its addressee: you should always run it becomes Always run it."""
    low = lowered(sentence)
    asked = _ASKED.match(low)
    bare = sentence[asked.end() if asked else 0 :].rstrip(" .!;,")
    return clipped(f"{bare[:1].upper()}{bare[1:]}", RULE_LENGTH) + "."


def _ended(part: str) -> str:
    """Return the part without a reason or a further instruction."""
    low = lowered(part)
    cuts = [
        found.start() for found in (_ending().search(low), re.search(r"[;:]\s|\s(?:-\s|[–—(])|[.!]\s*\Z", low)) if found
    ]
    cuts += [found.start() for found in re.finditer(r", ", low)]
    return part[: min(cuts, default=len(part))].strip(" ,.;!")


def _without_leads(sentence: str) -> Bare:
    again = rejects = False
    while True:
        low = lowered(sentence)
        lead = _lead().match(low)
        if lead is None or lead.end() == len(low):
            return Bare(sentence, again, rejects)
        again = again or lead["again"] is not None
        rejects = rejects or lead["rejects"] is not None
        sentence = sentence[lead.end() :]


# --- the pack as patterns


@cache
def _forms() -> tuple[Form, ...]:
    held = pack("corrections")
    choosing, occasions = (_either(name) for name in ("choosing", "occasions"))
    return tuple(
        Form(
            re.compile(
                spaced(form["pattern"].replace("CHOOSING", choosing).replace("OCCASION", occasions)) + r"[\s.!]*"
            ),
            form["rule"],
            form["sure"],
            form.get("alone", False),
            form.get("named", False),
        )
        for form in held["forms"]
    )


@cache
def _lead() -> re.Pattern[str]:
    marked, joined, repeated, rejecting = (_either(name) for name in ("leads", "joined", "repeated", "rejecting"))
    mark = r"\s?[,.:;!—–-]+\s+"
    return re.compile(
        spaced(rf"(?:(?:(?P<again>{repeated})|(?P<rejects>{rejecting})|(?:{marked}))(?:{mark})|(?:{joined})\s+)(?=\S)")
    )


@cache
def _ending() -> re.Pattern[str]:
    return re.compile(spaced(rf"[, ](?:{_either('ending')})\b"))


def _either(name: str) -> str:
    return "|".join(
        sorted((re.escape(one).replace("\\ ", " ") for one in phrases("corrections", name)), key=len, reverse=True)
    )


@cache
def _any(name: str) -> frozenset[str]:
    return frozenset(phrases("corrections", name))


def _begins_with(low: str, name: str) -> bool:
    return any(re.match(rf"{re.escape(phrase)}\b", low) for phrase in phrases("corrections", name))
