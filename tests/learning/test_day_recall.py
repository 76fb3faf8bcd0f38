"""A day's work, learnt by rules and asked the next morning, by somebody who saw none of the rules."""

import json
from pathlib import Path
from typing import Any

import pytest

from pieria import Workspace
from pieria.graph import Edge, Graph

DAY = Path(__file__).parents[1] / "data" / "day"
FIRST, AT_LEAST = 5, 20
"""Nodes that are looked at, and questions of the thirty for which one of them is of a step that answers."""


def read(name: str) -> Any:
    return json.loads((DAY / f"{name}.json").read_text("utf-8"))


def steps_of(graph: Graph, id: str) -> set[int]:
    """The steps that a node is, or was drawn from."""
    node = graph.nodes[id]
    if node.node_type != "episodic":
        return {step for tied in node.links[Edge.PROVENANCE] for step in steps_of(graph, tied)}
    return {graph.nodes[tied].step_index for tied in node.links[Edge.PROVENANCE]  # type: ignore[attr-defined]
            if graph.nodes[tied].node_type == "source"}  # fmt: skip


@pytest.mark.slow
def test_the_questions_of_a_day_find_what_was_learnt_from_the_steps_that_answer_them(tmp_path: Path) -> None:
    with Workspace(tmp_path, {"embedder": "auto"}) as workspace:
        bank: Any = workspace.open_repo("day")
        with bank.session(goal=read("day")["goal"]) as session:
            for step in read("day")["steps"]:
                session.append(observation=step["observation"], action=step["action"])
        assert bank.sync(60)
        graph = workspace.get_graph("day")
        answered = 0
        for asked in read("questions"):
            found = workspace.recall("day", asked["question"]).touched_nodes
            known = [each.id for each in found if each.type in ("episodic", "semantic", "procedural")][:FIRST]
            answered += any(steps_of(graph, id) & set(asked["steps"]) for id in known)
    assert answered >= AT_LEAST
