"""Signs that a step continues the topic of the steps before, or begins another one.

Each sign is a number, computed from the step and the earlier steps. The pack `turning` has the weights.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import log, sqrt
from operator import mul

from pieria.language.commonwords import COMMON
from pieria.language.letters import lowered
from pieria.language.packs import pack
from pieria.models.mind import StepSeen
from pieria.models.minds.rules.pieces import begins_with_cue, has_cue, sentences_of, told
from pieria.runtime.lazy import cached_property

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Returns unit vectors of texts, in order."""

READ = 1_000
"""Characters read of an observation or an action: the topic shows early."""
_COMMON, _NUMBER = 1 / 3, 0.1
"""Weights of a common word and of a number, relative to a topical word."""
_UNTOLD = 0.5
"""The share without any terms."""
_OPENING_MARKS = re.compile(r"\A[\W_]+")


class Sight:
    """A step and at least one earlier step."""

    def __init__(self, observation: str, action: str, before: Sequence[StepSeen], embed: Embed | None = None) -> None:
        self.observation, self.action = observation[:READ], action[:READ]
        self.before = [(step.observation[:READ], step.action[:READ]) for step in before]
        self.embed = embed

    @cached_property
    def observed(self) -> frozenset[str]:
        return told(self.observation)

    @cached_property
    def terms(self) -> frozenset[str]:
        return self.observed | told(self.action)

    @cached_property
    def done_last(self) -> frozenset[str]:
        return told(self.before[-1][1])

    @cached_property
    def terms_before(self) -> list[frozenset[str]]:
        return [told(observation) | told(action) for observation, action in self.before]

    @cached_property
    def used(self) -> Counter[str]:
        """The number of earlier steps that use each term."""
        return Counter(term for terms in self.terms_before for term in terms)


def _words(sight: Sight) -> float:
    """Return the cosine between the step's terms and those of the earlier steps, weighted by frequency."""
    used = sight.used
    shared = sum(_weight(term) ** 2 * sqrt(used[term]) for term in sight.terms if term in used)
    ours = sum(_weight(term) ** 2 for term in sight.terms)
    theirs = sum(_weight(term) ** 2 * steps for term, steps in used.items())
    return shared / sqrt(ours * theirs) if ours and theirs else 0.0


def _known(sight: Sight) -> float:
    return _share(sight.terms, sight.used, sight)


def _followed(sight: Sight) -> float:
    return _share(sight.terms, sight.terms_before[-1], sight)


def _answered(sight: Sight) -> float:
    return _share(sight.observed, sight.done_last, sight)


def _share(terms: frozenset[str], among: frozenset[str] | Mapping[str, int], sight: Sight) -> float:
    """Return the share of the terms that are `among` others, weighted by rarity in the earlier steps."""
    worth = {term: _weight(term) * log(1 + (len(sight.before) + 0.5) / (sight.used[term] + 0.5)) for term in terms}
    whole = sum(worth.values())
    return sum(told for term, told in worth.items() if term in among) / whole if whole else _UNTOLD


def _weight(term: str) -> float:
    if is_of_the_matter(term):
        return 1.0
    return _NUMBER if term.isdigit() else _COMMON


def is_of_the_matter(term: str) -> bool:
    """Return whether the term is neither a number nor a common word."""
    return not term.isdigit() and term not in _common()


@cache
def _common() -> frozenset[str]:
    return frozenset(term for word in COMMON for term in told(word))


def _lasted(sight: Sight) -> float:
    return log(len(sight.before))


def _longer(sight: Sight) -> float:
    now, last = (1 + len(text.split()) for text in (sight.observation, sight.before[-1][0]))
    return log(now / last)


def _settled(sight: Sight) -> float:
    """Return how far the last action reads as final.

    The value is 1 with a cue in its last sentence, 0.5 with an earlier cue, otherwise 0. A question has 0.
    """
    done = sight.before[-1][1].rstrip()
    if done.endswith(("?", "？")):
        return 0.0
    end = [*sentences_of(done), ""][-2:][0]
    return sum(has_cue("turning.settling", lowered(text)) for text in (done, end)) / 2


def _opens(sight: Sight) -> float:
    return float(any(_opens_anew(text) for text in (sight.observation, sight.action)))


def _opens_anew(text: str) -> bool:
    return begins_with_cue("turning.openings", _OPENING_MARKS.sub("", lowered(text)))


def _meaning(sight: Sight) -> float:
    """Return the similarity to the most similar earlier step. Unrelated texts have about 0."""
    assert sight.embed is not None
    unrelated = pack("unrelated")["texts"]
    steps = [(sight.observation, sight.action), *sight.before]
    vectors = iter(sight.embed([*unrelated, *(text or " " for step in steps for text in step)]))
    zero = _zero([next(vectors) for _ in unrelated])
    now, *before = [_sum(next(vectors), next(vectors)) for _ in steps]
    return (max(_cosine(now, said) for said in before) - zero) / (1.0 - zero)


def _zero(apart: Sequence[Sequence[float]]) -> float:
    """Return the model's mean similarity of unrelated texts."""
    pairs = [_cosine(one, other) for at, one in enumerate(apart) for other in apart[:at]]
    return max(0.0, sum(pairs) / len(pairs))


def _sum(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return [float(a + b) for a, b in zip(one, other, strict=True)]


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = sqrt(sum(map(mul, a, a)) * sum(map(mul, b, b)))
    return float(sum(map(mul, a, b))) / lengths if lengths else 0.0


SIGNS: dict[str, Callable[[Sight], float]] = {
    "words": _words,  # shared with all of the steps before
    "known": _known,  # the share of its words that is in any earlier step
    "followed": _followed,  # the share of its words that is in the last step
    "answered": _answered,  # the share of the observation's words that is in the last action
    "lasted": _lasted,  # the number of earlier steps: more steps have more of the topic's words
    "longer": _longer,  # the length against the last observation: a new task is longer than a command's output
    "settled": _settled,  # the last action is final: sent, merged, written down
    "opens": _opens,  # a phrase such as "moving on"
    "meaning": _meaning,  # the similarity to the most similar earlier step
}
BY_WORDS = tuple(name for name in SIGNS if name != "meaning")
"""The signs that need no embedder."""


def turns(observation: str, action: str, before: Sequence[StepSeen], embed: Embed | None = None) -> bool:
    """Return whether the step begins another topic. The first step does not."""
    if not before:
        return False
    weights = pack("turning")["by_words" if embed is None else "by_meaning"]
    sight = Sight(observation, action, before, embed)
    odds = weights["at_first"] + sum(weight * SIGNS[name](sight) for name, weight in weights["signs"].items())
    return bool(odds > 0.0)
