"""Procedures from successful steps and from instructions in texts, with their returns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pieria.language.grammar.forms import forms
from pieria.language.grammar.tokens import closed_class
from pieria.language.letters import lowered
from pieria.language.packs import words
from pieria.language.remarks import AGENT, remarks
from pieria.language.standing_rules import standing
from pieria.models.mind import Procedure, StepSeen
from pieria.models.minds.rules.emphasis import NONE, Emphasis
from pieria.models.minds.rules.pieces import clipped, has_cue, sentences_of, told
from pieria.models.minds.rules.steps import is_look

WORTHY = 0.6
"""The least reward of a step that becomes a procedure."""
_WAYS = ("howto", "cause")
_ALIKE = 0.5
_LONG = 40
_SENTENCES = 50
_READ = 50_000
_RULED = re.compile(
    r"\A(?P<condition>(?:when(?:ever)?|if|before|after|once|every time|each time|in case)\s[^,\n]{3,200}),\s+"
    r"(?:then\s+)?(?P<instruction>[^\n]{3,400})\Z",
    re.IGNORECASE,
)
_AIMED = re.compile(r"\A(?:in order )?to\s(?P<intent>[^,\n]{3,200}),\s+(?P<instruction>[^\n]{3,400})\Z", re.IGNORECASE)
_TURNED = re.compile(
    r"\A(?P<instruction>[^\n]{3,300}?)\s"
    r"(?P<condition>(?:when(?:ever)?|if|before|after|once|every time)\s[^\n]{3,200})\Z",
    re.IGNORECASE,
)
_DO = re.compile(
    r"\A(?:please |you should |you must |we should |we must |always |never |do not |don't |first |just ){0,4}"
    r"(?P<verb>[a-z-]+)"
)


def procedures_of(goal: str, steps: Sequence[StepSeen], emphasis: Emphasis = NONE) -> list[Procedure]:
    """Return procedures from successful steps, then from instructions. Each instruction occurs once."""
    done = _done(goal, steps) if emphasis.takes_steps else ()
    found: dict[str, Procedure] = {}
    for procedure in (*done, *_said(goal, steps)):
        key = procedure.instruction.casefold()
        held = found.setdefault(key, procedure)
        if not set(procedure.steps) <= set(held.steps):
            found[key] = replace(held, steps=tuple(sorted((*held.steps, *procedure.steps))))
    return list(found.values())


def _done(goal: str, steps: Sequence[StepSeen]) -> Iterator[Procedure]:
    fails = False
    for at, step in enumerate(steps):
        action = clipped(" ".join(step.action[:_READ].split()), _LONG)
        following = steps[at + 1].observation if at + 1 < len(steps) else ""
        fails = fails or has_cue("outcome.bad", lowered(step.observation[:_READ]))
        if step.reward is None or step.reward < WORTHY or not action:
            continue
        mends = fails and not is_look(action)
        if mends or any(remark.kind in _WAYS for remark in remarks(step.action[:_READ], AGENT)):
            seen = _telling(step.observation, action) or _telling(step.state or "", action)
            yield Procedure(
                intent=clipped((step.subgoal or goal).strip(), _LONG) or action,
                condition=f"When {_small(seen)}" if seen else "",
                instruction=action,
                expected_outcome=_opening(following),
                steps=(at,),
            )
        fails = fails and not mends


def _telling(text: str, action: str) -> str:
    """Return the sentence that best explains the action.

    That is the one with most shared terms; of equal ones, one that tells of a failure, or else the first.
    """
    done = told(action)
    said = list(sentences_of(text[:_READ]))[:_SENTENCES]
    best = max(said, key=lambda one: (len(done & told(one)), has_cue("outcome.bad", lowered(one))), default="")
    return clipped(best, _LONG).rstrip(".")


def _opening(text: str) -> str:
    return clipped(next(sentences_of(text[:_READ]), ""), _LONG).rstrip(".")


def _small(text: str) -> str:
    """Return the text with a lower-case first letter, unless it may be a name."""
    first = text.split(maxsplit=1)[0]
    common = first.lower() in words("words", "determiners") | words("words", "pronouns") | words("words", "possessives")
    return text[:1].lower() + text[1:] if common and first != "I" else text


def is_instruction(sentence: str) -> bool:
    """Return whether the sentence says what to do on a condition or for a purpose."""
    return any(_told("", sentence.rstrip(".")))


def _said(goal: str, steps: Sequence[StepSeen]) -> Iterator[Procedure]:
    for at, step in enumerate(steps):
        for sentence in sentences_of(step.observation[:_READ]):
            if not sentence.endswith(("?", "？")) and len(sentence) < 600:
                yield from (replace(told, steps=(at,)) for told in _told(goal, sentence.rstrip(".")))


def _told(goal: str, sentence: str) -> Iterator[Procedure]:
    """Yield the procedure of an instruction. A standing rule is a fact."""
    if any(rule.kind == "rule" for rule in standing(sentence)):
        return
    ruled = _RULED.match(sentence)
    turned = None if ruled else _TURNED.match(sentence)
    aimed = _AIMED.match(sentence)
    if ruled and _is_instruction(ruled["instruction"]):
        yield Procedure(goal.strip() or ruled["instruction"], ruled["condition"], ruled["instruction"], "")
    elif aimed and _is_instruction(aimed["instruction"]):
        yield Procedure(aimed["intent"], "", aimed["instruction"], aimed["intent"])
    elif turned and _is_instruction(turned["instruction"]):
        yield Procedure(goal.strip() or turned["instruction"], turned["condition"], turned["instruction"], "")


def _is_instruction(text: str) -> bool:
    """Return whether the text is an imperative: it begins with a verb and has no subject."""
    low = lowered(text)
    found = _DO.match(low)
    if found is None:
        return False
    form = forms().get(found["verb"])
    if form is not None:
        return "base" in form.kinds
    following = low[found.end() :].split(maxsplit=1)[:1]
    return found["verb"] not in closed_class() and bool(words("words", "determiners").intersection(following))


def returns_of(goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
    """Return the mean reward of the steps that carried out each procedure.

    Without such a step, it is the mean of all steps if the procedure serves the goal, else 0.5. Without any reward it
    is 0.5.
    """
    known = [(told(step.action[:_READ]), step.reward) for step in steps if step.reward is not None]
    whole = sum(reward for _, reward in known) / len(known) if known else 0.5
    wanted = told(goal)
    return [_borne_out(procedure, known, whole if wanted & told(procedure.intent) else 0.5) for procedure in procedures]


def _borne_out(procedure: Procedure, known: Sequence[tuple[frozenset[str], float]], whole: float) -> float:
    wanted = told(procedure.instruction)
    rewards = [reward for done, reward in known if wanted and len(wanted & done) / len(wanted) >= _ALIKE]
    value = sum(rewards) / len(rewards) if rewards else whole
    return round(min(1.0, max(0.0, value)), 4)
