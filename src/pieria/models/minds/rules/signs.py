"""What speaks for it that a step goes on with what the steps before it were about, or turns to something else.

Each sign is a number told from the step and from what came before it. How much each weighs is in the pack `turning`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from math import log, sqrt
from operator import mul

from pieria.models.mind import StepSeen
from pieria.models.minds.rules.packs import pack
from pieria.models.minds.rules.pieces import begins_with_cue, has_cue, sentences_of, told
from pieria.record.commonwords import COMMON
from pieria.record.letters import lowered

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Unit vectors of texts, in their order."""

READ = 1_000
"""Characters of an observation and of an action that are read: what they are about is said early."""
_COMMON, _NUMBER = 1 / 3, 0.1
"""What a word of any talk and a number weigh against a word of the matter."""
_UNTOLD = 0.5
"""The share that is taken where there is no word to tell it by."""
_OPENING_MARKS = re.compile(r"\A[\W_]+")


class Sight:
    """A step and those before it, of which there is at least one."""

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
        """In how many of the steps before each term stands."""
        return Counter(term for terms in self.terms_before for term in terms)


def _words(sight: Sight) -> float:
    """A cosine: the words of the step against those of the steps before, which weigh more the more steps use them."""
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
    """Of all that the words tell, how much those tell that stand among others. What is new tells most."""
    worth = {term: _weight(term) * log(1 + (len(sight.before) + 0.5) / (sight.used[term] + 0.5)) for term in terms}
    whole = sum(worth.values())
    return sum(told for term, told in worth.items() if term in among) / whole if whole else _UNTOLD


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


def _lasted(sight: Sight) -> float:
    return log(len(sight.before))


def _longer(sight: Sight) -> float:
    now, last = (1 + len(text.split()) for text in (sight.observation, sight.before[-1][0]))
    return log(now / last)


def _settled(sight: Sight) -> float:
    """Whether what was done last is done when a thing is over: half, where its last sentence says none of it, and
    nothing where it asks."""
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
    """How alike the step is to the one before that is most like it; 0 is what is usual between unrelated texts."""
    assert sight.embed is not None
    unrelated = pack("unrelated")["texts"]
    steps = [(sight.observation, sight.action), *sight.before]
    vectors = iter(sight.embed([*unrelated, *(text or " " for step in steps for text in step)]))
    zero = _zero([next(vectors) for _ in unrelated])
    now, *before = [_sum(next(vectors), next(vectors)) for _ in steps]
    return (max(_cosine(now, said) for said in before) - zero) / (1.0 - zero)


def _zero(apart: Sequence[Sequence[float]]) -> float:
    """How alike texts are to the model that have nothing to do with each other."""
    pairs = [_cosine(one, other) for at, one in enumerate(apart) for other in apart[:at]]
    return max(0.0, sum(pairs) / len(pairs))


def _sum(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return [float(a + b) for a, b in zip(one, other, strict=True)]


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = sqrt(sum(map(mul, a, a)) * sum(map(mul, b, b)))
    return float(sum(map(mul, a, b))) / lengths if lengths else 0.0


SIGNS: dict[str, Callable[[Sight], float]] = {
    "words": _words,  # shared with all of the steps before
    "known": _known,  # of its words, the share that stands in any step before
    "followed": _followed,  # the share that stands in the last step
    "answered": _answered,  # of the words of the observation, the share that stands in what was done last
    "lasted": _lasted,  # how many steps it has gone on: the more, the more of its words and meanings are told
    "longer": _longer,  # what is observed, than what was last: a task takes more words than what came of a command
    "settled": _settled,  # what was done last ends a thing: it was sent, merged, written down
    "opens": _opens,  # "moving on", "another thing"
    "meaning": _meaning,  # the likeness to the step that is most like it
}
BY_WORDS = tuple(name for name in SIGNS if name != "meaning")
"""Those that need nobody who embeds."""
