"""Recall over learned knowledge, and its upkeep."""

import pytest
from tests.toolsets.conftest import Ask, HandClock, Refused, requirement

from pieria.graph import Changeset, Edge, Semantic, Tag
from pieria.toolsets import Access, Host


@pytest.fixture(autouse=True)
def learnt(host: Host) -> None:
    said = {"busy": "Tokyo is busy in March.", "rye": "Rye bread is sour.", "rooms": "Ryokans have room in Nikko."}
    facts = [Semantic(id=id, proposition=text) for id, text in said.items()]
    changeset = Changeset([*facts, Tag(id="japan", label="Tokyo"), Tag(id="lonely", label="nothing")])
    for id in ("busy", "rooms"):
        changeset = changeset.add_link("japan", id, Edge.MEMBERSHIP)
    host.bank.graph.apply_changeset(changeset)


@requirement("document.recall")
def test_answer_rests_on_nodes_with_a_trace(ask: Ask, host: Host) -> None:
    told = ask("sessions_recall", query="Is Tokyo busy in March?", verbosity="detailed")
    assert told["touched_nodes"][0]["id"] == "busy"
    assert told["touched_nodes"][0]["node"]["proposition"] == "Tokyo is busy in March."
    assert "busy in March" in told["reasoned"]["semantic"]
    assert told["trace"]["result_count"] == len(told["touched_nodes"])
    brief = ask("sessions_recall", query="Is Tokyo busy in March?", at=host.having(access=Access.read))
    assert "node" not in brief["touched_nodes"][0]
    told = {much: ask("sessions_recall", query="rye", verbosity=much)["trace"] for much in ("summary", "detailed")}
    on_request = {"verbosity", "relevances", "sure", "llm_calls", "tokens"}
    assert told["detailed"].keys() - told["summary"].keys() >= on_request
    assert told["detailed"]["verbosity"] == "detailed"
    assert told["detailed"]["relevances"].keys() == told["detailed"]["scores"].keys()


@requirement("document.context")
def test_goal_and_last_steps_belong_to_the_question(ask: Ask, refused: Refused) -> None:
    id = ask("sessions_start", goal="Bake rye bread")["session_id"]
    ask("sessions_append", session_id=id, observation="The dough of rye is sour.", action="Added salt.")
    alone = ask("sessions_recall", query="What should I know?")
    within = ask("sessions_recall", query="What should I know?", session_id=id)
    assert within["trace"]["tags"] != alone["trace"]["tags"]
    error = refused("sessions_recall", query="What should I know?", session_id="session_nobody")["error"]
    assert (error["reason"], error["resource"]) == ("not_found", "session")


@requirement("document.maintain")
def test_each_operation_reports_what_it_did(ask: Ask, refused: Refused, clock: HandClock) -> None:
    would = ask("sessions_maintain", operation="repair", dry_run=True)
    assert (would["dry_run"], would["orphan_ids"]) == (True, ["lonely"])
    assert ask("sessions_node", node_id="lonely")
    did = ask("sessions_maintain", operation="repair")
    assert (did["dry_run"], did["orphans_deleted"], did["orphan_ids"]) == (False, 1, ["lonely"])
    assert refused("sessions_node", node_id="lonely")["error"]["reason"] == "not_found"
    assert {"checked", "penalized", "orphaned", "grounded"} <= ask("sessions_maintain", operation="validate").keys()
    clock.move(days=400)
    faded = ask("sessions_maintain", operation="decay", threshold=0.2)
    assert {"busy", "rye", "rooms"} <= set(faded["deleted_ids"])
    assert ask("sessions_maintain", operation="consolidate", threshold=0.9)["deleted"] == 0
    error = refused("sessions_maintain", operation="repair", threshold=0.5)["error"]
    assert (error["kind"], error["parameter"]) == ("invalid", "threshold")
