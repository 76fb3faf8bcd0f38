"""Learned nodes are listed one by one, and pages stay stable while more nodes are added."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement

from pieria.graph import Changeset, Edge, Episodic, NodeMetadata, Semantic, Source, Tag


@pytest.fixture
def learnt(host: Host, clock: HandClock) -> None:
    """Write a fact with its tag, the step it was drawn from, and that step's source."""
    made: dict[str, Any] = {"created_at": clock.now}
    nodes = [
        Semantic(id="fact", proposition="Tokyo is busy in March.", confidence=0.9, **made),
        Tag(id="tag", label="Tokyo", **made),
        Episodic(id="step", observation="Hotels are full.", action="Searched on.", reward=0.4, **made),
        Source(id="source", episode_id="ep_1", step_index=0, plain_text="Hotels are full.", **made),
    ]
    changeset = Changeset(nodes).add_link("tag", "fact", Edge.MEMBERSHIP).add_link("fact", "step", Edge.PROVENANCE)
    changeset = changeset.add_link("step", "source", Edge.PROVENANCE)
    host.bank.graph.apply_changeset(changeset.put_metadata("fact", NodeMetadata().update_reward(0.4)))


def ids(told: list[dict[str, Any]]) -> list[str]:
    return [node["id"] for node in told]


@requirement("nodes.latest")
@pytest.mark.usefixtures("learnt")
def test_latest_knowledge_comes_first(ask: Ask, host: Host, clock: HandClock) -> None:
    clock.move(hours=1)
    host.bank.graph.apply_changeset(Changeset([Semantic(id="later", proposition="Ryokans have room.")]))
    told = ask("sessions_latest")
    assert (ids(told["nodes"]), told["count"]) == (["later", "fact"], 2)
    fact = told["nodes"][1]
    assert (fact["proposition"], fact["confidence"], fact["type"]) == ("Tokyo is busy in March.", 0.9, "semantic")
    assert (fact["metadata"]["reward_count"], fact["metadata"]["cumulative_reward"]) == (1, 0.4)
    assert ids(ask("sessions_latest", top_k=1, types=["episodic", "source"])["nodes"]) == ["source"]


@requirement("nodes.opened", "nodes.tied")
@pytest.mark.usefixtures("learnt")
def test_node_comes_with_its_links_and_neighbours(ask: Ask, refused: Refused) -> None:
    node = ask("sessions_node", node_id="fact")["node"]
    assert node["links"] == {"membership": ["tag"], "hierarchical": [], "provenance": ["step"], "sibling": []}
    step = ask("sessions_node", node_id="step")["node"]
    assert (step["observation"], step["action"], step["reward"]) == ("Hotels are full.", "Searched on.", 0.4)
    error = refused("sessions_node", node_id="nobody")["error"]
    assert (error["kind"], error["reason"], error["resource"]) == ("framework", "not_found", "node")
    assert "sessions_recall" in error["hint"]
    told = ask("sessions_neighbors", node_id="fact")
    edges = {each["id"]: each["edge_type"] for each in told["neighbors"]}
    assert edges == {"tag": "membership", "step": "provenance"}
    assert ids(ask("sessions_neighbors", node_id="step", edge_type="provenance")["neighbors"]) == ["fact", "source"]
    assert ask("sessions_neighbors", node_id="step", edge_type="sibling")["count"] == 0


@requirement("nodes.pages")
def test_pages_hold_each_node_once(ask: Ask, refused: Refused, host: Host) -> None:
    host.bank.graph.apply_changeset(Changeset([Semantic(id=f"f{n}", proposition=f"Fact {n}.") for n in range(5)]))
    first = ask("sessions_nodes", types=["semantic"], limit=2)
    host.bank.graph.apply_changeset(Changeset([Semantic(id="f5", proposition="Fact 5.")]))
    rest = ask("sessions_nodes", types=["semantic"], cursor=first["next_cursor"])
    assert ids([*first["nodes"], *rest["nodes"]]) == [f"f{n}" for n in range(6)]
    assert rest["next_cursor"] is None
    error = refused("sessions_nodes", types=["episodic"], cursor=first["next_cursor"])["error"]
    assert (error["kind"], error["parameter"]) == ("invalid", "cursor")


@requirement("nodes.cut")
def test_long_text_is_cut_in_lists_only(ask: Ask, host: Host) -> None:
    host.bank.graph.apply_changeset(Changeset([Semantic(id="long", proposition="word " * 200)]))
    [listed] = ask("sessions_latest")["nodes"]
    assert (listed["truncated"], len(listed["proposition"]) < 510) == (True, True)
    whole = ask("sessions_node", node_id="long")["node"]
    assert (len(whole["proposition"]), "truncated" in whole) == (1_000, False)


@requirement("banks.listed", "banks.named")
@pytest.mark.usefixtures("learnt")
def test_banks_are_listed_and_named(ask: Ask, host: Host, refused: Refused) -> None:
    host.banks.workspace.open("other").close()
    banks = [{"id": "notes", "open": True}, {"id": "other", "open": False}]
    assert ask("sessions_list_banks") == {"banks": banks, "count": 2}
    with host.banks.workspace.open("other") as other:
        other.graph.apply_changeset(Changeset([Semantic(id="fact", proposition="Elsewhere.")]))
    assert ask("sessions_node", node_id="fact", bank="other")["node"]["proposition"] == "Elsewhere."
    error = refused("sessions_latest", bank="otter")["error"]
    assert (error["resource"], "other" in error["hint"]) == ("bank", True)
