"""Recall over learned knowledge, and its upkeep."""

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.graph import Changeset, Edge, Semantic, Tag
from pieria.toolsets import Access, Host


@pytest.fixture(autouse=True)
def learnt(host: Host) -> None:
    facts = [
        Semantic(id="busy", proposition="Tokyo is busy in March."),
        Semantic(id="rye", proposition="Rye bread is sour."),
        Semantic(id="rooms", proposition="Ryokans have room in Nikko."),
    ]
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
    told = {much: ask("sessions_recall", query="rye bread", verbosity=much) for much in ("summary", "detailed")}
    assert {much: one["trace"]["verbosity"] for much, one in told.items()} == {much: much for much in told}
    assert told["summary"]["trace"]["relevances"] is None
    assert told["detailed"]["trace"]["relevances"].keys() == told["detailed"]["trace"]["scores"].keys()


def test_unknown_answer_is_withheld_and_the_nearest_listed(ask: Ask) -> None:
    told = ask(
        "sessions_recall",
        query="Which orchestra of the town rehearses on Wednesdays in the busy hall next to the old library?",
    )
    kinds = ("episodic", "semantic", "procedural")
    assert [told["reasoned"][kind] for kind in kinds] == [None, None, None]
    assert told["trace"]["withheld"].startswith("Nothing that is known answers that: ")
    assert {node["id"]: node["score"] for node in told["touched_nodes"]} == told["trace"]["scores"] != {}
    known = ask("sessions_recall", query="Is Tokyo busy in March?")
    assert (known["trace"]["withheld"], known["confidence"] > told["confidence"]) == (None, True)


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
