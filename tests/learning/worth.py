"""Whether what was used is found the better for it: `python -m tests.learning.worth DAY… --embedder local`.

A day is a JSON file with a `goal` and `steps`, each with `observation`, `action` and the number of its `topic`. Rules
learn all days into one bank. A need is a topic of a day; of half of the needs some steps are asked for again and again,
and then everything is asked for in new words, with the default value function and by relevance alone; then the halves
change places. A question is a few of the rarest words of a step, or with `--any` words of it drawn by chance; its
answer is any node that is, or comes from, that step. What answers is mostly rewarded, other good hits now and then.

Counted apart are the same questions `again`, others for what was `used`, with none of their words, those for what
stands `beside` it in the same topic, and those for `fresh` needs. The interval is drawn over needs. `--counts` says
what a recall counts as used.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pieria import Workspace
from pieria.graph import Edge, Node
from pieria.graph.valuing import values_of
from pieria.learning.reasoning import reasoned
from pieria.learning.recalled import ReasonedMemory, RetrievalResult
from pieria.learning.retrieval import Looking
from pieria.models.minds.rules import RuleMind

BEGUN = datetime(2026, 5, 4, 8, tzinfo=UTC)
STEPS, ROUNDS, WORDS = 3, 4, 4
"""Of a need so many steps are used, on so many days each, asked for by so many words."""
SERVED, MISTAKEN, LOOKED_AT = 0.8, 0.2, 5
"""How often an answer is rewarded, and what is none among the first few."""
KNOWN = ("episodic", "semantic", "procedural")
DRAWS = 2_000
Key = tuple[int, int]


class Step(NamedTuple):
    """`words` are its rarest, the rarest first, as many as two questions take."""

    key: Key
    topic: Key
    words: tuple[str, ...]


class Asked(NamedTuple):
    kind: str
    need: Key
    policy: float
    similarity: float


@dataclass(slots=True, eq=False)
class Clock:
    now: datetime = BEGUN

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True, eq=False)
class Bank:
    """A learnt bank, and of each node the steps that it is or comes from."""

    bank: Any
    clock: Clock
    days: Sequence[dict[str, Any]]
    of_node: dict[str, set[Key]] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)

    def found(self, words: Iterable[str], value_function: object = None) -> tuple[RetrievalResult, str]:
        question = " ".join(words)
        looking = Looking(
            mind=RuleMind(),
            embedder=self.bank.graph._asking(),
            searching=self.bank.graph._searching(),
            values=values_of(value_function, None),
            config=None,
            max_hops=2,
        )
        return looking.find(question)[0], question

    def ranked(self, result: RetrievalResult) -> list[str]:
        return [each.node.id for each in result.all if each.node.node_type in KNOWN]

    def reciprocal(self, step: Step, words: Sequence[str], value_function: object = None) -> float:
        ranked = self.ranked(self.found(words, value_function)[0])
        places = (place for place, id in enumerate(ranked, 1) if step.key in self.of_node.get(id, ()))
        return 1 / next(places, float("inf"))

    def use(self, step: Step, words: Sequence[str], counts: Counts, drawn: random.Random) -> None:
        result, question = self.found(words)
        used = counts(result, reasoned(result, question, RuleMind()))
        ranked = self.ranked(result)
        held = self.bank.graph.get_metadata(list({*used, *ranked}))
        for id in used:
            held[id] = held[id].record_access(self.clock())
        for place, id in enumerate(ranked):
            right = step.key in self.of_node.get(id, ())
            if right or place < LOOKED_AT:
                held[id] = held[id].update_reward(float(drawn.random() < (SERVED if right else MISTAKEN)))
        self.bank.graph.update_metadata(held)


Counts = Callable[[RetrievalResult, ReasonedMemory], set[str]]
COUNTS: dict[str, Counts] = {
    "found": lambda result, said: {each.node.id for each in result.all},
    "shown": lambda result, said: {id for ids in said.shown.values() for id in ids},
    "cited": lambda result, said: {id for ids in said.cited.values() for id in ids},
}


def relevance(relevance: float, node: Any, metadata: Any, params: Any) -> float:
    return relevance


def learnt(folder: Path, days: Sequence[dict[str, Any]], embedder: str) -> Iterator[Bank]:
    clock = Clock()
    with Workspace(folder, {"embedder": embedder, "count_uses": False}, clock=clock) as workspace:
        bank: Any = workspace.open_repo("worth")
        for day in days:
            with bank.session(goal=day["goal"]) as session:
                for step in day["steps"]:
                    session.append(observation=step["observation"], action=step["action"])
            clock.now += timedelta(hours=1)
        assert bank.sync(900)
        made = Bank(bank, clock, days)
        key_of = {
            step["observation"]: (d, s) for d, day in enumerate(days) for s, step in enumerate(day["steps"])
        }  # fmt: skip
        nodes = workspace.get_graph("worth").nodes
        made.nodes = list(nodes)
        made.of_node = {id: _steps(node, nodes, key_of) for id, node in nodes.items() if node.node_type in KNOWN}
        yield made


def _steps(node: Any, nodes: Any, key_of: dict[str, Key]) -> set[Key]:
    if node.node_type == "episodic":
        return {key_of[node.observation]}
    tied: list[Node] = [nodes[id] for id in node.links[Edge.PROVENANCE]]
    return {step for one in tied if one.node_type == "episodic" for step in _steps(one, nodes, key_of)}


def steps_of(days: Sequence[dict[str, Any]], count: int = WORDS, drawn: random.Random | None = None) -> list[Step]:
    """Each with its words for two questions, where it has as many: the rarest, or drawn by chance."""
    told = [
        ((d, s), (d, step["topic"]), _words(f"{step['observation']} {step['action']}"))
        for d, day in enumerate(days)
        for s, step in enumerate(day["steps"])
    ]
    common = Counter(word for *_, words in told for word in words)
    steps = []
    for key, topic, words in told:
        rarest = sorted(words, key=lambda word: (common[word], word))
        chosen = rarest[: 2 * count] if drawn is None else drawn.sample(rarest, min(2 * count, len(rarest)))
        if len(chosen) == 2 * count:
            steps.append(Step(key, topic, tuple(chosen)))
    return steps


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


KINDS = ("again", "used", "beside", "fresh")


def measured(bank: Bank, steps: Sequence[Step], counts: Counts, seed: int) -> dict[str, Any]:
    topics = sorted({step.topic for step in steps})
    random.Random(seed).shuffle(topics)
    halves = topics[::2], topics[1::2]
    asked: list[Asked] = []
    for half in halves:
        bank.bank.graph.delete_metadata(bank.nodes)
        asked += _asked(bank, steps, set(half), counts, random.Random(seed))
    return {kind: _told([one for one in asked if one.kind == kind], seed) for kind in KINDS}


def _asked(
    bank: Bank, all_steps: Sequence[Step], used: set[Key], counts: Counts, drawn: random.Random
) -> Iterator[Asked]:
    """Of each step half of its words are asked for in use, the others in the end."""
    by_topic: dict[Key, list[Step]] = {}
    for step in all_steps:
        by_topic.setdefault(step.topic, []).append(step)
    chosen = {topic: drawn.sample(steps, min(2 * STEPS, len(steps))) for topic, steps in by_topic.items()}
    begun = bank.clock.now
    for _ in range(ROUNDS):
        bank.clock.now += timedelta(days=1)
        for topic in sorted(used):
            for step in chosen[topic][:STEPS]:
                bank.use(step, step.words[::2], counts, drawn)
    bank.clock.now += timedelta(days=1)
    for topic, steps in chosen.items():
        for number, step in enumerate(steps):
            kind = "fresh" if topic not in used else "used" if number < STEPS else "beside"
            questions = {kind: step.words[1::2]} | ({"again": step.words[::2]} if kind == "used" else {})
            for told, words in questions.items():
                yield Asked(told, topic, bank.reciprocal(step, words), bank.reciprocal(step, words, relevance))
    bank.clock.now = begun


def _told(asked: Sequence[Asked], seed: int) -> dict[str, Any]:
    """The interval is of the difference."""
    by_need: dict[Key, list[float]] = {}
    for one in asked:
        by_need.setdefault(one.need, []).append(one.policy - one.similarity)
    needs, drawn = list(by_need.values()), random.Random(seed)
    sets = (drawn.choices(needs, k=len(needs)) for _ in range(DRAWS))
    means = sorted(sum(map(sum, each)) / sum(map(len, each)) for each in sets)
    return {
        "questions": len(asked),
        "needs": len(needs),
        "policy": round(sum(one.policy for one in asked) / len(asked), 3),
        "similarity": round(sum(one.similarity for one in asked) / len(asked), 3),
        "interval": [round(means[DRAWS * 25 // 1000], 3), round(means[DRAWS * 975 // 1000], 3)],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("days", nargs="+", type=Path)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--counts", choices=COUNTS, action="append")
    parser.add_argument("--words", type=int, action="append")
    parser.add_argument("--any", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    read = [json.loads(path.read_text("utf-8")) for path in given.days]
    with TemporaryDirectory() as place:
        for learnt_bank in learnt(Path(place), read, given.embedder):
            for way, words in product(given.counts or COUNTS, given.words or [WORDS]):
                steps = steps_of(read, words, random.Random(given.seed) if given.any else None)
                told = measured(learnt_bank, steps, COUNTS[way], given.seed)
                sys.stdout.write(json.dumps({"counts": way, "words": words, **told}) + "\n")
                sys.stdout.flush()
