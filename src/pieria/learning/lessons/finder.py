"""Find the lessons of a session's piece: a mind words them, and code checks their evidence.

A procedure needs a failure that was fixed; a rule needs a person's own words. No mind's answer changes that.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pieria.errors import PieriaError
from pieria.language.analyser import query_terms
from pieria.language.risk import lowers_security
from pieria.language.standing_rules import own_sentences, standing
from pieria.learning.distilling import tools
from pieria.learning.distilling.calls import command_line
from pieria.learning.distilling.pieces import short, turn_id
from pieria.learning.lessons import weight as weighing
from pieria.learning.lessons.failures import Pair, Vain, failures
from pieria.learning.lessons.steps import shown_line
from pieria.models.mind import Lesson, Mind, Told
from pieria.models.minds.rules import RuleMind
from pieria.record.clip import clipped, plain
from pieria.record.draft import NewMemory
from pieria.record.event import AgentEvent
from pieria.record.lesson import HARMFUL, KINDS, PROCEDURE, RULE, TAG
from pieria.record.time import iso
from pieria.record.trust import AGENT, PERSON
from pieria.record.trust import OUTSIDE as FROM_OUTSIDE

log = logging.getLogger(__name__)

ONLY_A_MODEL = 0.7
"""Highest confidence of a rule that only a model found."""
GROUNDED = 0.5
"""Share of a model's rule terms that must occur in the words it is based on."""
IMPORTANCE = {PROCEDURE: 0.65, RULE: 0.8}
OUTSIDE, MODEL = "it came from outside", "only a model saw it"
"""Reasons to hold a lesson back until a person accepts it, or until other evidence supports it."""
QUOTED = 300

MOST_ACTS = 12
ACT = 160
BEFORE = 600


@dataclass(frozen=True, slots=True)
class Found:
    """A lesson with its evidence from this piece.

    `signs` identify the same lesson later. `sources` are ids of turns that it quotes; `about` is the id of the
    corrected turn, which it does not quote.
    """

    new: NewMemory
    signs: tuple[str, ...]
    base: float
    evidence: Mapping[str, Any]
    sources: tuple[str, ...]
    about: str | None
    held_back: str | None = None

    @property
    def type(self) -> str:
        return str(self.new.body["type"])


@dataclass(frozen=True, slots=True)
class Learned:
    """`vain` holds repeated attempts that did not help. `problem` says why rules replaced the model."""

    found: tuple[Found, ...] = ()
    vain: tuple[Vain, ...] = ()
    problem: str | None = None


def learned(events: Iterable[AgentEvent], mind: Mind, *, told: frozenset[str] = frozenset(), scope: str) -> Learned:
    """Return the lessons of these events. `told` holds ids of events that an earlier piece covered."""
    ordered = sorted(events, key=lambda event: (event.at, event.id not in told, event.what != "prompt"))
    pairs, vain = failures(ordered, told)
    said = sayings(ordered, told)
    lessons, by, problem = _lessons(pairs, said, mind)
    found = [_procedure(pairs[each.of], each, by, scope) for each in lessons if each.type == PROCEDURE]
    found += [_rule(said[each.of], each, by, scope) for each in lessons if each.type == RULE]
    return Learned(tuple(_once(found)), tuple(vain), problem)


def _lessons(pairs: Sequence[Pair], said: Sequence[Saying], mind: Mind) -> tuple[list[Lesson], str, str | None]:
    """Return the grounded lessons, which mind they are from, and why rules replaced the requested one."""
    rules = RuleMind()
    mended, told = [pair.mended for pair in pairs], [saying.told for saying in said]
    by_rules = rules.lessons(mended, told)
    if mind.name == rules.name or not (pairs or said):
        return by_rules, rules.name, None
    # No model sees text from outside.
    shown = [place for place, pair in enumerate(pairs) if not pair.is_outside]
    if not shown and not said:
        return by_rules, rules.name, None
    try:
        answered = mind.lessons([mended[place] for place in shown], told)
    except PieriaError as problem:
        log.warning("%s could not tell what is to be learnt, so rules do: %s", mind.name, problem.message)
        return by_rules, rules.name, problem.message
    hidden = [each for each in by_rules if each.type == PROCEDURE and each.of not in shown]
    grounded = [_grounded(each, shown, said, by_rules) for each in answered]
    return [*(each for each in grounded if each is not None), *hidden], mind.name, None


def _grounded(
    lesson: Lesson, shown: Sequence[int], said: Sequence[Saying], by_rules: Sequence[Lesson]
) -> Lesson | None:
    """Return the lesson if its evidence exists, else None. A model's confidence is capped by that of rules."""
    if lesson.type == PROCEDURE:
        if not 0 <= lesson.of < len(shown):
            return None
        place = shown[lesson.of]
        own = next((each for each in by_rules if each.type == PROCEDURE and each.of == place), None)
        return None if own is None else replace(lesson, of=place, confidence=min(lesson.confidence, own.confidence))
    if not 0 <= lesson.of < len(said) or not _is_said(lesson.quote, said[lesson.of].told.said):
        return None
    told, quoted = _telling(lesson.text), _telling(f"{lesson.quote} {' '.join(said[lesson.of].told.acts)}")
    if not told or len(told & quoted) < GROUNDED * len(told):
        return None
    own = next(
        (each for each in by_rules if each.type == RULE and each.of == lesson.of and _overlap(each, lesson)), None
    )
    most = ONLY_A_MODEL if own is None else own.confidence
    return replace(lesson, confidence=min(lesson.confidence, most))


def _is_said(quote: str, text: str) -> bool:
    """Return whether the quote is in the person's own sentences, not in text they pasted or quoted."""
    sought = _plain(quote)
    own = " ".join(text[start:end] for start, end in own_sentences(text))
    return len(sought) > 3 and sought in _plain(own)


def _overlap(one: Lesson, other: Lesson) -> bool:
    a, b = _plain(one.quote), _plain(other.quote)
    return a in b or b in a


# --- what is to be kept of it


def _procedure(pair: Pair, lesson: Lesson, by: str, scope: str) -> Found:
    condition = lesson.condition or f"{pair.mended.failed} fails with “{pair.mended.error}”"
    text = f"When {condition}: {lesson.text[:1].lower()}{lesson.text[1:]}"
    body = {"type": PROCEDURE, "by": by, "condition": condition, "expected_outcome": lesson.expected}
    evidence = {
        **_where(pair.passed),
        "failed": f"{pair.mended.failed}: {pair.mended.error}",
        "did": list(pair.mended.steps),
        "passed": pair.mended.passed,
    }
    new = _new(PROCEDURE, text, body, pair.passed, scope, FROM_OUTSIDE if pair.is_outside else AGENT)
    held_back = OUTSIDE if pair.is_outside else HARMFUL if pair.is_risky else None
    return Found(
        new=new,
        signs=(pair.sign, *pair.way),
        base=round(min(lesson.confidence * pair.weight, weighing.SURE_ENOUGH), 2),
        evidence=evidence,
        sources=() if pair.prompt is None else (turn_id(pair.prompt.id),),
        about=None,
        held_back=held_back,
    )


def _rule(saying: Saying, lesson: Lesson, by: str, scope: str) -> Found:
    text = lesson.text
    if not standing(text):
        # A rule counts as standing only if its words say that it lasts.
        text = f"From now on, {text[:1].lower()}{text[1:]}"
    evidence = {**_where(saying.prompt), "said": clipped(lesson.quote, QUOTED), "did": list(saying.told.acts[-3:])}
    new = _new(RULE, text, {"type": RULE, "by": by}, saying.prompt, scope, PERSON)
    is_alone = by != RuleMind().name and lesson.confidence <= ONLY_A_MODEL
    return Found(
        new=replace(new, author="user"),
        signs=weighing.key(text),
        base=round(lesson.confidence, 2),
        evidence=evidence,
        sources=(turn_id(saying.prompt.id),),
        about=None if saying.reply is None else turn_id(saying.reply.id),
        held_back=HARMFUL if lowers_security(text) else MODEL if is_alone else None,
    )


def _new(type: str, text: str, body: Mapping[str, Any], event: AgentEvent, scope: str, via: str) -> NewMemory:
    return NewMemory(
        text,
        kind=KINDS[type],
        body=body,
        tags=(TAG, type),
        importance=IMPORTANCE[type],
        scope=scope,
        source=event.host,
        author_type="human" if via == PERSON else "agent",
        at=event.at,
        via=via,
    )


def _where(event: AgentEvent) -> dict[str, Any]:
    return {"session": event.session, "host": event.host, "at": iso(event.at), "event": short(event.id)}


def _once(found: Sequence[Found]) -> list[Found]:
    """Keep one lesson per key in a session, the one with the highest confidence."""
    kept: dict[tuple[str, ...], Found] = {}
    for each in found:
        held = kept.get((each.type, *each.signs))
        if held is None or each.base > held.base:
            kept[(each.type, *each.signs)] = each
    return list(kept.values())


def _telling(text: str) -> frozenset[str]:
    return frozenset(found.term for found in query_terms(text) if not found.stop)


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .!,;\"'“”").casefold()


@dataclass(frozen=True, slots=True)
class Saying:
    """A person's prompt; `reply` is the agent's last reply before it, if any."""

    told: Told
    prompt: AgentEvent
    reply: AgentEvent | None


def sayings(events: Sequence[AgentEvent], told: frozenset[str]) -> list[Saying]:
    """Return the person's prompts that no earlier piece covered. `events` must be in order."""
    found: list[Saying] = []
    acts: list[str] = []
    reply: AgentEvent | None = None
    is_outside = False
    for event in events:
        if event.what == "reply":
            # A reply after a fetched page may repeat the page.
            reply = None if is_outside else event
        elif event.what == "tool":
            acts += _acts(event)
            is_outside = is_outside or tools.is_outside(event)
        elif event.what == "prompt":
            if event.text.strip() and event.id not in told:
                before = "" if reply is None else clipped(plain(reply.text), BEFORE)
                found.append(Saying(Told(plain(event.text), tuple(acts[-MOST_ACTS:]), before), event, reply))
            acts, reply, is_outside = [], None, False
    return found


def _acts(event: AgentEvent) -> list[str]:
    """Return what the agent changed: commands that act, and files with their edits."""
    kind = tools.kind_of(event)
    if kind == "run":
        line = shown_line(command_line(event.input))
        return [f"ran `{line}`"] if line else []
    if kind != "edit":
        return []
    return [
        clipped(f"changed `{deed.target}`" + (f" ({deed.detail})" if deed.detail else ""), ACT)
        for deed in tools.deeds_of(event)
    ]
