"""Rewards that come after their step's node: set on the node that is about to be written, or that is there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from pieria.graph.changeset import Changeset
from pieria.graph.nodes import Episodic
from pieria.learning.knowledge import episodic_id

if TYPE_CHECKING:
    from pieria.graph import GraphBackend
    from pieria.learning.episode import Episode
    from pieria.learning.steps import Step


def rewarded(changeset: Changeset, episode: Episode | None, indices: Collection[int]) -> Changeset:
    """With the rewards that the steps have by now."""
    if episode is None:
        return changeset
    known = {episodic_id(episode.id, step.index): step.reward for step in episode.steps if step.index in indices}
    additions = [
        replace(node, reward=known[node.id]) if isinstance(node, Episodic) and node.id in known else node
        for node in changeset.additions
    ]
    return replace(changeset, additions=additions)


def step_of(backend: GraphBackend, episode_id: str, step: Step) -> Episodic | None:
    """Its node with its reward; None where it is not in the graph any more."""
    node = backend.get_node(episodic_id(episode_id, step.index))
    return replace(node, reward=step.reward) if isinstance(node, Episodic) else None
