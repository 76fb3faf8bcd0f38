"""Graph maintenance has the same result in every store, also beside other writers."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bank.kept import Kept

from pieria import Workspace
from pieria.graph import (
    NODE_TYPES,
    Changeset,
    Edge,
    Episodic,
    GraphBackend,
    InMemoryBackend,
    Intent,
    Node,
    NodeMetadata,
    Procedural,
    Semantic,
    Source,
    Tag,
)
from pieria.graph.view import Pair, tended
from pieria.learning.decay import decay
from pieria.learning.episodic_validation import validate
from pieria.learning.graph_repair import repair
from pieria.learning.semantic_consolidator import consolidate

NUMBERS = 6
MADE = datetime(2026, 4, 1, tzinfo=UTC)
NOW = MADE + timedelta(days=60)


def axes(texts: list[str]) -> list[list[float]]:
    return [[1.0] * NUMBERS for _ in texts]


def drawn(seed: int) -> tuple[Changeset, dict[str, NodeMetadata]]:
    """Build a graph with every node type, near duplicates, ungrounded facts and unused tags."""
    dice = random.Random(seed)

    def vector() -> list[float]:
        axis = dice.randrange(NUMBERS)
        return [1.0 if place == axis else dice.choice((0.0, 0.125, 0.375)) for place in range(NUMBERS)]

    nodes: list[Node] = [Tag(id=f"tag{n}", label=f"label {n}", embedding=vector()) for n in range(8)]
    nodes += [Intent(id=f"intent{n}", description=f"purpose {n}", embedding=vector()) for n in range(4)]
    nodes += [Source(id=f"source{n}", episode_id="e", step_index=n, embedding=vector()) for n in range(6)]
    nodes += [Episodic(id=f"step{n}", observation="Seen.", action=f"Done {n}.", embedding=vector()) for n in range(6)]
    nodes += [
        Semantic(id=f"fact{n:02}", proposition=f"Fact {n % 2}.", embedding=vector(), created_at=MADE) for n in range(30)
    ]
    nodes += [Procedural(id=f"how{n}", instruction=f"Do {n}.", embedding=vector(), created_at=MADE) for n in range(6)]
    ties = [(f"step{n}", f"source{n}", Edge.PROVENANCE) for n in range(6)]
    for n in range(30):
        ties += [(f"tag{dice.randrange(6)}", f"fact{n:02}", Edge.MEMBERSHIP) for _ in range(2)]
        ties += [(f"fact{n:02}", f"step{dice.randrange(6)}", Edge.PROVENANCE)] * dice.randrange(2)
        ties.append((f"fact{n:02}", f"fact{(n + 1) % 30:02}", Edge.SIBLING))
    ties += [(f"intent{dice.randrange(3)}", f"how{n}", Edge.HIERARCHICAL) for n in range(6)]
    uses = {
        node.id: NodeMetadata(
            created_at=MADE,
            access_count=dice.randrange(9),
            last_accessed_at=MADE + timedelta(days=dice.choice((10, 59))),
            cumulative_reward=dice.choice((0.25, 1.0)),
            reward_count=dice.randrange(1, 3),
        )
        for node in nodes
    }
    return Changeset(nodes, ties), uses


def shown(backend: GraphBackend) -> dict[str, Any]:
    nodes = backend.get_nodes_by_type(NODE_TYPES)
    used = backend.get_metadata([node.id for node in nodes])
    return {
        node.id: (
            {edge: sorted(node.links[edge]) for edge in Edge},
            used[node.id].access_count,
            used[node.id].last_accessed_at,
            round(used[node.id].cumulative_reward, 6),
            round(used[node.id].penalty, 6),
            used[node.id].reward_count,
        )
        for node in nodes
    }


def test_bank_and_graph_in_memory_come_to_the_same(kept: Kept) -> None:
    at = [MADE]
    with Workspace(kept.data, kept.settings, embedder=axes, clock=lambda: at[0]) as workspace:
        for seed in range(2):
            at[0] = MADE
            memory, bank = InMemoryBackend(), workspace.open(f"notes{seed}").graph
            for backend in (memory, bank):
                changeset, uses = drawn(seed)
                backend.apply_changeset(Changeset(changeset.additions, changeset.links, uses))
            at[0] = NOW
            for run in (validate, consolidate, decay, repair, validate):
                timed: dict[str, Any] = {"clock": lambda: NOW} if run in (consolidate, decay) else {}
                told, done = run(memory, **timed), run(bank, **timed)
                assert {**done, "deleted_ids": sorted(done.get("deleted_ids", ()))} == {
                    **told,
                    "deleted_ids": sorted(told.get("deleted_ids", ())),
                }
                assert shown(bank) == shown(memory)


def test_nodes_changed_since_they_were_looked_at_are_left(folder: Kept) -> None:
    at = [MADE]
    with Workspace(folder.data, embedder=axes, clock=lambda: at[0]) as workspace:
        bank = workspace.open("shared")
        backends: list[GraphBackend] = [bank.graph, InMemoryBackend()]
        for backend in backends:
            at[0] = MADE
            facts = [Semantic(id=id, proposition=id, created_at=MADE, embedding=[1.0] * NUMBERS) for id in "abcd"]
            made = dict.fromkeys("abcd", NodeMetadata(created_at=MADE))
            backend.apply_changeset(Changeset([*facts, Tag(id="tag", label="tides")], [], made))
            at[0] = NOW
            graph = tended(backend)
            [looks] = graph.looks(["semantic"])
            [tag] = graph.looks(["tag"])
            backend.update_metadata({"a": NodeMetadata(created_at=MADE, access_count=1)})
            backend.apply_changeset(Changeset([Semantic(id="b", proposition="Another.", embedding=[1.0] * NUMBERS)]))
            backend.apply_changeset(Changeset([], [("tag", "c", Edge.MEMBERSHIP)]))
            assert graph.put_away(looks) == ["d"]
            assert graph.put_away_idle(tag) == []
            by_id = {look.id: look for look in looks}
            assert graph.fold([Pair(by_id["b"], by_id["a"]), Pair(by_id["c"], by_id["d"])]) == []
            assert graph.fold([Pair(by_id["a"], by_id["c"])]) == ["a"]
            assert backend.get_metadata(["c"])["c"].access_count == 1
