"""The nodes, ties and metadata for what was learned from a trajectory.

Pure arithmetic: a mind judges what is learned, and `trajectory` decides the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Any

from pieria.graph.changeset import Changeset, Tie
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Episodic, Intent, Node, Procedural, Semantic, Source, Subgoal, Tag
from pieria.learning.steps import Step
from pieria.models.mind import Procedure, Proposition
from pieria.record.ids import derived_id, new_id

Vector = Sequence[float]
SIBLINGS = 50
"""Facts fewer than this many places apart are siblings."""


def episodic_id(episode_id: str, index: int) -> str:
    """Return the node id of a step. A step that is structured twice keeps its id, so it is stored once."""
    return derived_id("ep_node_", episode_id, str(index))


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learned from a trajectory: its steps, the facts and procedures, and the grade of each procedure."""

    trajectory_id: str
    subgoal: str
    goal: str
    episode_id: str
    steps: Sequence[Step]
    facts: Sequence[Proposition] = ()
    procedures: Sequence[Procedure] = ()
    returns: Sequence[float] = ()

    def texts(self) -> list[str]:
        """Return every text to embed, each once."""
        said = [fact.text for fact in self.facts]
        said += [concept for fact in self.facts for concept in fact.concepts]
        said += [text for procedure in self.procedures for text in (procedure.instruction, procedure.intent)]
        said += [step.observation for step in self.steps]
        said += [step.subgoal for step in self.steps if step.embedding is None]
        said.append(self.subgoal)
        return list(dict.fromkeys(text for text in said if text.strip()))


@dataclass(slots=True)
class Layout:
    """Builds a changeset. `vectors` are by text; a node whose text has no vector gets none."""

    learnt: Learnt
    vectors: Mapping[str, Vector]
    now: datetime
    nodes: list[Node] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)
    metadata: dict[str, NodeMetadata] = field(default_factory=dict)

    def changeset(self) -> Changeset:
        episodic = self._lived()
        self._known(episodic)
        self._practised(episodic)
        return Changeset(self.nodes, self.ties, self.metadata)

    def _lived(self) -> list[str]:
        """Add the steps, their sources and their subgoal. Return the ids of the steps."""
        learnt = self.learnt
        subgoal = learnt.subgoal.strip() or learnt.goal.strip()
        aim = subgoal and self._put(Subgoal, "sg", subgoal, description=subgoal, parent_goal=learnt.goal or None)
        return [self._step(step, aim) for step in learnt.steps]

    def _step(self, step: Step, aim: str) -> str:
        id = episodic_id(self.learnt.episode_id, step.index)
        self.nodes.append(
            Episodic(
                id=id,
                created_at=self.now,
                embedding=self._aim(step),
                observation=step.observation,
                action=step.action,
                state=step.state or "",
                subgoal=step.subgoal,
                reward=step.reward,
                trajectory_id=self.learnt.trajectory_id,
            )
        )
        self.metadata[id] = NodeMetadata(created_at=self.now)
        source = self._put(
            Source,
            "src",
            step.observation,
            id=derived_id("src_", self.learnt.episode_id, str(step.index)),
            episode_id=self.learnt.episode_id,
            step_index=step.index,
            plain_text=step.observation,
        )
        self.ties.append((id, source, Edge.PROVENANCE))
        if aim:
            self.ties.append((id, aim, Edge.HIERARCHICAL))
        return id

    def _aim(self, step: Step) -> Vector | None:
        """Return the vector of the step's subgoal. A vector of another model's size is replaced."""
        sizes = {len(vector) for vector in self.vectors.values()}
        fits = step.embedding is not None and (not sizes or len(step.embedding) in sizes)
        return step.embedding if fits else self.vectors.get(step.subgoal)

    def _known(self, episodic: Sequence[str]) -> None:
        """Add the facts, which are siblings, and their tags."""
        ids: list[str] = []
        tagged: dict[str, list[int]] = {}
        rewards = [self._reward(fact.steps) for fact in self.learnt.facts]
        for place, (fact, reward) in enumerate(zip(self.learnt.facts, rewards, strict=True)):
            said: dict[str, Any] = {"proposition": fact.text, "confidence": fact.confidence}
            ids.append(self._put(Semantic, "sem", fact.text, reward, **said))
            self._drawn(ids[place], fact.steps, episodic)
            for concept in dict.fromkeys(concept for concept in fact.concepts if concept.strip()):
                tagged.setdefault(concept, []).append(place)
        for place, id in enumerate(ids):
            self.ties += [(other, id, Edge.SIBLING) for other in ids[max(0, place - SIBLINGS + 1) : place]]
        for label, places in tagged.items():
            tag = self._put(Tag, "tag", label, mean(rewards[place] for place in places), label=label)
            self.ties += [(tag, ids[place], Edge.MEMBERSHIP) for place in places]

    def _practised(self, episodic: Sequence[str]) -> None:
        """Add the procedures with their grades, and the intents they serve."""
        ids: list[str] = []
        serving: dict[str, list[int]] = {}
        rewards = [self._reward(procedure.steps) for procedure in self.learnt.procedures]
        grades = dict(enumerate(self.learnt.returns))
        for place, (procedure, reward) in enumerate(zip(self.learnt.procedures, rewards, strict=True)):
            grade = grades.get(place)
            said: dict[str, Any] = {
                "instruction": procedure.instruction,
                "condition": procedure.condition,
                "expected_outcome": procedure.expected_outcome,
                "return_score": grade,
            }
            worth = reward if grade is None else grade
            ids.append(self._put(Procedural, "proc", procedure.instruction, worth, **said))
            self._drawn(ids[place], procedure.steps, episodic)
            if procedure.intent.strip():
                serving.setdefault(procedure.intent, []).append(place)
        for aim, places in serving.items():
            intent = self._put(Intent, "int", aim, mean(rewards[place] for place in places), description=aim)
            self.ties += [(intent, ids[place], Edge.HIERARCHICAL) for place in places]

    def _put(
        self, kind: type[Node], prefix: str, text: str, reward: float | None = None, id: str | None = None, **said: Any
    ) -> str:
        id = id or f"{prefix}_{new_id()}"
        self.nodes.append(kind(id=id, created_at=self.now, embedding=self.vectors.get(text), **said))
        metadata = NodeMetadata(created_at=self.now)
        self.metadata[id] = metadata if reward is None else metadata.update_reward(reward)
        return id

    def _drawn(self, id: str, places: Sequence[int], episodic: Sequence[str]) -> None:
        self.ties += [(id, episodic[place], Edge.PROVENANCE) for place in self._places(places)]

    def _places(self, said: Sequence[int]) -> list[int]:
        """Return the steps behind an item: those the mind named, or all if it named none."""
        known = [place for place in dict.fromkeys(said) if 0 <= place < len(self.learnt.steps)]
        return known or list(range(len(self.learnt.steps)))

    def _reward(self, places: Sequence[int]) -> float | None:
        """Return the mean reward of the item's steps, or of the trajectory if none of them was judged."""
        steps = self.learnt.steps
        own = mean(steps[place].reward for place in self._places(places))
        return mean(step.reward for step in steps) if own is None else own


def mean(rewards: Iterable[float | None]) -> float | None:
    """Return the mean of the known rewards, or None."""
    known = [reward for reward in rewards if reward is not None]
    return fmean(known) if known else None
