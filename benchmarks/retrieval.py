"""`python -m benchmarks locomo` and `beam`: the share of the evidence that recall returns. No model judges it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from benchmarks.datasets import Asked, Conversation
from benchmarks.fit import Lesson, fitted, lesson
from pieria.bank import Bank
from pieria.record.memory import Memory
from pieria.workspace import Workspace

if TYPE_CHECKING:
    from pieria.bank.results.general import Neighborhood

FIRST = (5, 10, 20)
FIRST_SESSIONS = (5, 10)
DEPTH = 50
"""Hits requested: several may belong to one piece of evidence."""
SHOWN = 10
"""Hits of a page, for the timing."""
LONGEST = 10.0
"""Seconds that a model may take for a query."""
TAUGHT = 100
"""Hits used to fit weights: enough to learn from evidence that the policy ranks low."""
WHOLE = "everything on"
FITTED, FRESH = "fitted on the others", "fitted on the others from nothing"
"""Fits that start at the policy's weights, and at zero: the policy's may have been fitted to the left-out
conversation.
"""
SLEPT = "after a sleep"
LINEAR = "sum(weight * feature)"
"""The scoring formula of plans whose weights can be fitted."""
QUESTION = "what is there?"
Say = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options for every conversation."""

    policy: str
    ablate: bool = False
    sleep: bool = False
    leave_one_out: bool = False

    def check(self) -> None:
        """Check the options before any long work. Raise `InputError` for an unknown policy."""
        with _empty("bench") as bank:
            scoring = bank.recall(QUESTION, k=1, policy=self.policy).plan["scoring"]
        if self.leave_one_out and LINEAR not in scoring:
            raise click.UsageError(
                f"--leave-one-out fits weights of a sum, and {self.policy} scores by {scoring}. Name another policy."
            )


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one query; `way` names the variant, `weights` those given besides the policy's."""

    way: str
    weights: Mapping[str, float]
    conversation: str
    asked: Asked
    found: tuple[str, ...]
    confidence: float
    shares: Mapping[str, float]
    seconds: float
    """Time of a page of `SHOWN` hits."""
    embedded: float | None
    """Seconds of the model for the query alone, or None without a model."""
    model: str | None
    left_out: Mapping[str, str]
    ahead: int = 0
    """Summaries that rank before one of their sources."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "way": self.way,
            "conversation": self.conversation,
            "kind": self.asked.kind,
            "question": self.asked.text,
            "evidence": sorted(self.asked.evidence) if self.asked.evidence is not None else None,
            "found": list(self.found),
            "confidence": round(self.confidence, 6),
            "shares": {name: round(share, 6) for name, share in self.shares.items()},
        }


@dataclass(frozen=True, slots=True)
class _Held:
    """A conversation in a bank of its own, and the lessons from its questions."""

    conversation: Conversation
    bank: Bank
    wanted: Wanted
    say: Say

    def remember(self) -> None:
        """Store the conversation with all its vectors. Raise `AdapterError` if the model fails: partial vectors
        measure nothing.
        """
        self.bank.remember_many(self.conversation.said, partial(self.say, f"{self.conversation.name}: remembering"))
        self.bank.sync()

    def asked(self, ways: Mapping[str, Mapping[str, float]]) -> Iterator[Answer]:
        """Yield every question with the weights of each variant."""
        whole = len(ways) * len(self.conversation.asked)
        done = 0
        for way, weights in ways.items():
            for asked in self.conversation.asked:
                yield self._answer(asked, way, weights)
                done += 1
                self.say(f"{self.conversation.name}: asking", done, whole)

    def ways(self) -> dict[str, dict[str, float]]:
        """Return the variants: with all features, without each arm, and without each feature that is not an arm's
        only one.
        """
        ways: dict[str, dict[str, float]] = {WHOLE: {}}
        if not self.wanted.ablate:
            return ways
        plan = self.bank.recall(QUESTION, k=1, policy=self.wanted.policy).plan
        arms = {name: told["features"] for name, told in plan["arms"].items()}
        for name, features in arms.items():
            ways[f"arm {name}: {', '.join(features)}"] = dict.fromkeys(features, 0.0)
        alone = {features[0] for features in arms.values() if len(features) == 1}
        counted = (feature for feature, weight in plan["weights"].items() if weight and feature not in alone)
        return ways | {f"feature {feature}": {feature: 0.0} for feature in counted}

    def slept(self) -> Iterator[Answer]:
        """Yield every question again, after a sleep."""
        self.bank.upkeep.sleep(force=True, progress=partial(self.say, f"{self.conversation.name}: sleeping"))
        self.bank.sync()
        return self.asked({SLEPT: {}})

    def lessons(self) -> list[Lesson]:
        """Return the lessons of the questions. Evidence ranks where its first hit does, so only that hit is used."""
        found: list[Lesson | None] = []
        for number, asked in enumerate(self.conversation.asked, 1):
            if asked.evidence is not None:
                recall = self.bank.recall(asked.text, k=TAUGHT, policy=self.wanted.policy)
                reasons: dict[str | None, Mapping[str, float]] = {}
                for hit in recall:
                    reasons.setdefault(self._piece(hit.memory.source), hit.why)
                is_evidence = [piece in asked.evidence for piece in reasons]
                found.append(lesson(list(reasons.values()), list(recall.plan["weights"]), is_evidence))
            self.say(f"{self.conversation.name}: learning", number, len(self.conversation.asked))
        return [one for one in found if one is not None]

    def weights(self) -> dict[str, float]:
        """Return the policy's own weights for this bank."""
        weights: dict[str, float] = self.bank.recall(QUESTION, k=1, policy=self.wanted.policy).plan["weights"]
        return weights

    def _piece(self, source: str | None) -> str | None:
        return self.conversation.piece_of.get(source or "")

    def _answer(self, asked: Asked, way: str, weights: Mapping[str, float]) -> Answer:
        recall = self.bank.recall(asked.text, k=DEPTH, policy=self.wanted.policy, weights=weights or None)
        seconds = _seconds(lambda: self.bank.recall(asked.text, k=SHOWN, policy=self.wanted.policy))
        model = recall.plan["embedding"].get("model")
        pieces = [self._piece(hit.memory.source) for hit in recall]
        found = tuple(dict.fromkeys(piece for piece in pieces if piece is not None))
        return Answer(
            way=way,
            weights=weights,
            conversation=self.conversation.name,
            asked=asked,
            found=found[: max(FIRST)],
            confidence=recall.confidence,
            shares=_shares(self.conversation, asked.evidence, found) if asked.evidence is not None else {},
            seconds=seconds,
            embedded=None
            if model is None
            else _seconds(lambda: self.bank.core.embedding.question(asked.text, LONGEST)),
            model=model,
            left_out=recall.plan["left_out"],
            ahead=self._ahead([hit.memory for hit in recall]) if way == SLEPT else 0,
        )

    def _ahead(self, found: Sequence[Memory]) -> int:
        places = {memory.id: place for place, memory in enumerate(found)}
        return sum(
            any(places.get(near.memory.id, -1) > places[id] for near in self._sources(id) if near.memory is not None)
            for id in [memory.id for memory in found if memory.kind == "summary"]
        )

    def _sources(self, id: str) -> Neighborhood:
        return self.bank.neighbors(id, relation="provenance", direction="out")


def answers(conversations: Iterable[Conversation], wanted: Wanted, say: Say) -> Iterator[Answer]:
    """Yield each question, asked of a bank that holds only its conversation. For leave-one-out, banks stay open
    until all others were used for fitting.
    """
    with ExitStack() as kept:
        taught: list[tuple[_Held, list[Lesson]]] = []
        for conversation in conversations:
            with ExitStack() as opened:
                held = _Held(conversation, opened.enter_context(_empty(conversation.name)), wanted, say)
                held.remember()
                yield from held.asked(held.ways())
                if wanted.sleep:
                    yield from held.slept()
                if wanted.leave_one_out:
                    taught.append((held, held.lessons()))
                    kept.enter_context(opened.pop_all())
        for held, _ in taught:
            others = [lesson for other, lessons in taught if other is not held for lesson in lessons]
            own = held.weights()
            yield from held.asked({FITTED: fitted(others, own), FRESH: fitted(others, dict.fromkeys(own, 0.0))})


def _seconds(does: Callable[[], object]) -> float:
    begun = time.perf_counter()
    does()
    return time.perf_counter() - begun


@contextmanager
def _empty(name: str) -> Iterator[Bank]:
    """Yield an empty bank where questions leave no traces."""
    with (
        TemporaryDirectory(prefix="pieria-bench-") as folder,
        Workspace(data=folder, settings={"count_uses": False}) as workspace,
    ):
        yield workspace.open(f"bench-{name}")


def _shares(conversation: Conversation, evidence: frozenset[str], found: Sequence[str]) -> dict[str, float]:
    shares = {f"R@{k}": len(evidence & set(found[:k])) / len(evidence) for k in FIRST}
    if conversation.session_of is not None:
        wanted = {conversation.session_of(piece) for piece in evidence}
        sessions = list(dict.fromkeys(conversation.session_of(piece) for piece in found))
        shares |= {f"session R@{k}": len(wanted & set(sessions[:k])) / len(wanted) for k in FIRST_SESSIONS}
    return shares
