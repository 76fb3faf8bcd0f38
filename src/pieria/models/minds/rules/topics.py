"""Whether a step goes on with what the steps before it were about, or turns to something else.

Judged as the step comes, by what came before it alone: by the words that both use, by likeness in meaning where there
is somebody who embeds, and by how the step opens. What a turn leads to is told in `stepping`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import sqrt
from operator import mul

from pieria.models.mind import StepSeen
from pieria.models.minds.rules.packs import pack
from pieria.models.minds.rules.pieces import begins_with_cue, told
from pieria.record.commonwords import COMMON
from pieria.record.lettering import lowered

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Unit vectors of texts, in their order."""

READ = 1_000
"""Characters of an observation and of an action that are read: what they are about is said early."""
BOUND_OF_WORDS, BOUND_OF_MEANING = 0.3, 4 / 3
"""How much of either holds a step to a long trajectory where there is nothing of the other. Likeness in meaning is
told in shares of what is usual in the trajectory: in a day of one project all is somewhat alike."""
BY_WORDS_ALONE = 0.6
"""Of the bound of words, where nobody tells meanings."""
PATIENCE = 5
"""Steps after which half of the bounds is asked for: few steps have not told yet all that they are about."""
EXPECTED, SURE = 0.45, 4
"""The likeness that is taken for usual at first, and how many steps it counts for."""
OPENED, ANSWERED = 1.5, 0.5
"""What the bounds are multiplied by where a step says that it turns, and where it answers what was just asked."""
_ANSWER = 25
"""Words of an observation that may be an answer and no more."""
_COMMON, _NUMBER = 1 / 3, 0.1
"""What a word of any talk and a number weigh against a word of the matter."""
_OPENING_MARKS = re.compile(r"\A[\W_]+")


def turns(observation: str, action: str, before: Sequence[StepSeen], embed: Embed | None = None) -> bool:
    """Whether the step is about something else than those before it. The first one turns from nothing."""
    if not before:
        return False
    held = _shared_words(observation, action, before) / BOUND_OF_WORDS
    if embed is None:
        held /= BY_WORDS_ALONE
    else:
        held += _shared_meaning(observation, action, before, embed) / BOUND_OF_MEANING
    return held < _bound(observation, action, before)


def _bound(observation: str, action: str, before: Sequence[StepSeen]) -> float:
    grown = len(before) / (len(before) + PATIENCE)
    if any(_opens_anew(text) for text in (observation, action)):
        return OPENED * grown
    if before[-1].action.rstrip().endswith(("?", "？")) and len(observation.split()) <= _ANSWER:
        return ANSWERED * grown
    return grown


def _opens_anew(text: str) -> bool:
    return begins_with_cue("turning.openings", _OPENING_MARKS.sub("", lowered(text[:READ])))


# --- by words


def _shared_words(observation: str, action: str, before: Sequence[StepSeen]) -> float:
    """A cosine: the words of the step against those of the steps before, which weigh more the more steps use them."""
    used = Counter(term for step in before for term in _terms(step.observation, step.action))
    terms = _terms(observation, action)
    shared = sum(_weight(term) ** 2 * sqrt(used[term]) for term in terms if term in used)
    ours = sum(_weight(term) ** 2 for term in terms)
    theirs = sum(_weight(term) ** 2 * steps for term, steps in used.items())
    return shared / sqrt(ours * theirs) if ours and theirs else 0.0


def _terms(observation: str, action: str) -> frozenset[str]:
    return told(observation[:READ]) | told(action[:READ])


def _weight(term: str) -> float:
    if is_of_the_matter(term):
        return 1.0
    return _NUMBER if term.isdigit() else _COMMON


def is_of_the_matter(term: str) -> bool:
    """Whether it is neither a number nor a word of any talk."""
    return not term.isdigit() and term not in _common()


@cache
def _common() -> frozenset[str]:
    return frozenset(term for word in COMMON for term in told(word))


# --- by meaning


def _shared_meaning(observation: str, action: str, before: Sequence[StepSeen], embed: Embed) -> float:
    """How alike the step is to all that was said before, in shares of how alike the steps before were to theirs."""
    unrelated = pack("unrelated")["texts"]
    steps = [(step.observation, step.action) for step in before] + [(observation, action)]
    vectors = iter(embed([*unrelated, *(text[:READ] or " " for step in steps for text in step)]))
    zero = _zero([next(vectors) for _ in unrelated])
    told_before: list[float] = []
    found: list[float] = []
    for _ in steps:
        said = _sum([next(vectors), next(vectors)])
        if told_before:
            found.append((_cosine(told_before, said) - zero) / (1.0 - zero))
        told_before = _sum([told_before, said]) if told_before else said
    *own, now = found
    return now * (len(own) + SURE) / (sum(own) + SURE * EXPECTED)


def _zero(apart: Sequence[Sequence[float]]) -> float:
    """How alike texts are to the model that have nothing to do with each other."""
    pairs = [_cosine(one, other) for at, one in enumerate(apart) for other in apart[:at]]
    return max(0.0, sum(pairs) / len(pairs))


def _sum(vectors: Sequence[Sequence[float]]) -> list[float]:
    return [float(sum(parts)) for parts in zip(*vectors, strict=True)]


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = sqrt(sum(map(mul, a, a)) * sum(map(mul, b, b)))
    return float(sum(map(mul, a, b))) / lengths if lengths else 0.0
