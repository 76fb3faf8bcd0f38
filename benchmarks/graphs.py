"""A graph of the workload: trajectories with the knowledge from them. Nodes of a topic have similar vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.filled import Say
from benchmarks.vectors import Meaning
from benchmarks.workload import Workload
from pieria.bank import Bank

if TYPE_CHECKING:
    from pieria.graph import Changeset, Edge, Node

    Tie = tuple[str, str, Edge]

STEPS, FACTS, PROCEDURES = 5, 5, 2
OF_ONE = 20
"""Nodes of a trajectory, roughly; every other one has a tag and an intent of its own."""
AT_ONCE = 100
"""Trajectories of one changeset."""


class GraphWorkload:
    """Seeded. `facts` are pairs with a vector's number, in the order of the vectors; questions ask about them."""

    def __init__(self) -> None:
        self.meaning = Meaning()
        self.words = Workload()
        self.facts: list[tuple[int, str]] = []
        self.size = 0
        self._tags: list[str] = []
        self._tags_of: dict[int, list[str]] = {}
        self._intents_of: dict[int, list[str]] = {}

    def fill(self, bank: Bank, size: int, say: Say) -> None:
        while self.size < size:
            bank.graph.apply_changeset(self._changeset())
            say("filling the graph", min(self.size, size), size)
        bank.sync()

    def question(self) -> tuple[str, list[str]]:
        """Return eight words of a fact, and four of these as terms; their vectors are prepared."""
        number, text = self.facts[self.words.below(len(self.facts))]
        question = self.words.question(text)
        tags = question.split()[:4]
        for asked in (question, *tags):
            self.meaning.prepare(asked, self.meaning.question(number))
        return question, tags

    def _changeset(self) -> Changeset:
        from pieria.graph import Changeset

        nodes: list[Node] = []
        links: list[Tie] = []
        for _ in range(AT_ONCE):
            made, tied = self._trajectory(self.size + len(nodes))
            nodes += made
            links += tied
        self.size += len(nodes)
        return Changeset(nodes, links)

    def _trajectory(self, begin: int) -> tuple[list[Node], list[Tie]]:
        from pieria.graph import Edge, Episodic, Intent, Procedural, Semantic, Source, Subgoal, Tag

        topic = self.meaning.subject()
        has_own = self.words.below(2) == 0
        count = 1 + 2 * STEPS + FACTS + PROCEDURES + 2 * has_own
        vectors = iter(self.meaning.vectors([topic] * count).tolist())
        ids = (f"n{number}" for number in range(begin, begin + count))
        text = self.words.text

        def next_one() -> dict[str, Any]:
            return {"id": next(ids), "embedding": next(vectors)}

        subgoal = Subgoal(description=text(), **next_one())
        steps = [Episodic(observation=text(), action=text(), **next_one()) for _ in range(STEPS)]
        sources = [Source(episode_id=f"e{begin}", step_index=n, plain_text=text(), **next_one()) for n in range(STEPS)]
        first = begin + 1 + 2 * STEPS
        facts = [Semantic(proposition=text(), **next_one()) for _ in range(FACTS)]
        self.facts += [(first + n, fact.proposition) for n, fact in enumerate(facts)]
        procedures = [Procedural(instruction=text(), **next_one()) for _ in range(PROCEDURES)]
        routing: list[Node] = []
        if has_own:
            tag = Tag(label=text(), **next_one())
            intent = Intent(description=text(), **next_one())
            self._tags.append(tag.id)
            self._tags_of.setdefault(topic, []).append(tag.id)
            self._intents_of.setdefault(topic, []).append(intent.id)
            routing = [tag, intent]
        links = [
            *((subgoal.id, step.id, Edge.HIERARCHICAL) for step in steps),
            *((step.id, source.id, Edge.PROVENANCE) for step, source in zip(steps, sources, strict=True)),
            *((known.id, step.id, Edge.PROVENANCE) for known in (*facts, *procedures) for step in steps),
            *((one.id, other.id, Edge.SIBLING) for n, one in enumerate(facts) for other in facts[:n]),
            *self._routed(topic, facts, procedures),
        ]
        return [subgoal, *steps, *sources, *facts, *procedures, *routing], links

    def _routed(self, topic: int, facts: Sequence[Node], procedures: Sequence[Node]) -> Iterator[Tie]:
        """Link nodes by a tag and an intent of the topic. Some tags are on very many facts, most on few."""
        from pieria.graph import Edge

        for fact in facts:
            own = self._tags_of.get(topic, self._tags)
            if own:
                yield own[self.words.below(len(own))], fact.id, Edge.MEMBERSHIP
                yield self._tags[self.words.below(self.words.below(len(self._tags)) + 1)], fact.id, Edge.MEMBERSHIP
        for procedure in procedures:
            for intent in self._intents_of.get(topic, ())[-1:]:
                yield intent, procedure.id, Edge.HIERARCHICAL
