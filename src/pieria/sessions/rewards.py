"""Rewards that arrive after extraction began: set on a node before it is written, or on a node in the graph."""

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
    """Return the changeset with the current rewards of these steps."""
    if episode is None:
        return changeset
    known = {episodic_id(episode.id, step.index): step.reward for step in episode.steps if step.index in indices}
    additions = [
        replace(node, reward=known[node.id]) if isinstance(node, Episodic) and node.id in known else node
        for node in changeset.additions
    ]
    return replace(changeset, additions=additions)


def step_of(backend: GraphBackend, episode_id: str, step: Step) -> Episodic | None:
    """Return the step's node with its reward, or None if the graph has no such node."""
    node = backend.get_node(episodic_id(episode_id, step.index))
    return replace(node, reward=step.reward) if isinstance(node, Episodic) else None
