"""One memory, many voices: this toolset recalls and opens the others' memories, and they recall what it learned."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.record.memory import GIVEN_KINDS
from pieria.toolsets import Host

SAID = "Kestrels nest on the tower."
WHAT_HAPPENED = "What happened with the kestrels on the tower?"
THEIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "mnemosyne": ("mnemosyne_remember", {"content": SAID}),
    "open-mem": ("mem-create", {"title": "Kestrels", "type": "discovery", "narrative": SAID}),
    "mempalace": ("mempalace_add_drawer", {"wing": "birds", "room": "tower", "content": SAID}),
    "mnemex": ("save_memory", {"content": SAID}),
}


def kept(ask: Ask, toolset: str) -> str:
    tool, arguments = THEIRS[toolset]
    told = ask(tool, **arguments)
    return str(told.get("memory_id") or told.get("drawer_id") or told["data"]["observation"]["id"])


def recalled(ask: Ask, query: str, **more: Any) -> list[str]:
    return [touched["id"] for touched in ask("sessions_recall", query=query, **more)["touched_nodes"]]


def found_there(ask: Ask, toolset: str, query: str) -> list[str]:
    if toolset == "mnemosyne":
        return [hit["id"] for hit in ask("mnemosyne_recall", query=query)["results"]]
    if toolset == "open-mem":
        return [hit["id"] for hit in ask("mem-find", query=query)["data"]["results"]]
    if toolset == "mnemex":
        return [hit["id"] for hit in ask("search_memory", query=query)["results"]]
    return [hit["drawer_id"] for hit in ask("mempalace_search", query=query)["results"]]


@requirement("across.theirs")
@pytest.mark.parametrize("toolset", THEIRS)
def test_what_others_keep_is_recalled_in_a_session_and_opened_with_where_it_comes_from(
    ask: Ask, refused: Refused, toolset: str
) -> None:
    id = kept(ask, toolset)
    session = ask("sessions_start", goal="Find out where birds nest")["session_id"]
    ask("sessions_append", session_id=session, observation="Somebody asked about kestrels.", action="Looked it up.")
    told = ask("sessions_recall", query="Where do kestrels nest?", session_id=session, verbosity="detailed")
    [touched] = [one for one in told["touched_nodes"] if one["id"] == id]
    assert "nest on the tower" in str(touched["node"])
    assert id in told["reasoned"]["cited"]["semantic"], "the answer says what it rests on"
    node = ask("sessions_node", node_id=id)["node"]
    assert (node["type"], bool(node["kind"]), bool(node["place"])) == ("semantic", True, True)
    assert id in [each["id"] for each in ask("sessions_latest")["nodes"]]
    assert id in [each["id"] for each in ask("sessions_nodes", types=["semantic"])["nodes"]]
    ask("forget_memory", memory_id=id)
    assert id not in recalled(ask, "Where do kestrels nest?")
    assert refused("sessions_node", node_id=id)["error"]["reason"] == "not_found"


@requirement("across.ours")
@pytest.mark.parametrize("toolset", THEIRS)
def test_what_is_learnt_here_is_found_there_and_goes_with_it(ask: Ask, toolset: str) -> None:
    session = ask("sessions_start", goal="Find out where birds nest")["session_id"]
    ask("sessions_append", session_id=session, observation=SAID, action="Noted the tower.")
    closed = ask("sessions_close", session_id=session)
    [step] = [node["id"] for node in ask("sessions_nodes", types=["episodic"])["nodes"]]
    assert step in closed["node_ids"]
    assert step in found_there(ask, toolset, "kestrels tower")
    assert step in recalled(ask, WHAT_HAPPENED)
    ask("mnemosyne_forget", memory_id=step)
    assert step not in found_there(ask, toolset, "kestrels tower")
    assert step not in recalled(ask, WHAT_HAPPENED)


LEARNT = "The tower needs a permit before anybody may climb it."


@requirement("across.ours")
@pytest.mark.parametrize("toolset", THEIRS)
def test_knowledge_that_is_found_there_leads_back_to_the_step_that_it_was_drawn_from(ask: Ask, toolset: str) -> None:
    session = ask("sessions_start", goal="Find out where birds nest")["session_id"]
    ask("sessions_append", session_id=session, observation=LEARNT, action="Noted the tower.")
    ask("sessions_close", session_id=session)
    [step] = [node["id"] for node in ask("sessions_nodes", types=["episodic"])["nodes"]]
    [fact] = [node["id"] for node in ask("sessions_nodes", types=["semantic"])["nodes"]]
    assert {step, fact} & set(found_there(ask, toolset, "tower permit"))
    ties = {each["id"]: each["edge_type"] for each in ask("sessions_neighbors", node_id=fact)["neighbors"]}
    assert ties[step] == "provenance"
    ask("mnemosyne_forget", memory_id=step)
    assert not {step, fact} & set(found_there(ask, toolset, "tower permit"))


@requirement("across.ours")
def test_what_is_corrected_there_is_recalled_corrected_here(ask: Ask) -> None:
    id = kept(ask, "mnemex")
    ask("edit_memory", memory_id=id, content="Kestrels left the tower.")
    assert ask("sessions_node", node_id=id)["node"]["proposition"] == "Kestrels left the tower."


@requirement("across.theirs")
@pytest.mark.parametrize("kind", GIVEN_KINDS)
def test_a_memory_of_any_kind_is_a_node(ask: Ask, host: Host, kind: str) -> None:
    id = host.bank.remember(SAID, kind=kind).id
    node = ask("sessions_node", node_id=id)["node"]
    assert node["kind"] == kind
    assert ask("sessions_latest", types=[node["type"]])["nodes"][0]["id"] == id


@requirement("across.sessions")
def test_what_a_session_keeps_to_itself_is_no_node_to_others(ask: Ask, refused: Refused, host: Host) -> None:
    id = ask("mnemosyne_remember", content="Between us: kestrels.", scope="session")["memory_id"]
    other = host.having(session="tuesday")
    assert ask("sessions_node", node_id=id)["node"]["kind"] == "note"
    assert refused("sessions_node", at=other, node_id=id)["error"]["reason"] == "not_found"
    assert id not in [touched["id"] for touched in ask("sessions_recall", at=other, query="kestrels")["touched_nodes"]]
