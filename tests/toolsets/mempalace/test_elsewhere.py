"""One memory, many voices: the palace reads all other toolsets' memories, and they read the palace's."""

import pytest
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.record.memory import LISTED_KINDS
from pieria.toolsets import Host
from pieria.toolsets.mempalace.words import TYPES


@requirement("everybody.s")
def test_what_mnemosyne_remembers_is_found_opened_corrected_and_forgotten_here(ask: Ask, refused: Refused) -> None:
    id = ask("mnemosyne_remember", content="Maya works on billing.", extract=True)["memory_id"]
    [hit] = ask("mempalace_search", query="billing")["results"]
    assert (hit["drawer_id"], hit["wing"], hit["room"]) == (id, "notes", "note")
    assert ask("mempalace_get_drawer", drawer_id=id)["content"] == "Maya works on billing."
    assert ask("mempalace_kg_query", entity="Maya")["count"] > 0
    ask("mempalace_update_drawer", drawer_id=id, content="Maya works on search.", wing="people", room="maya")
    [told] = ask("mnemosyne_recall", query="Maya")["results"]
    assert told["content"] == "Maya works on search."
    ask("mempalace_delete_drawer", drawer_id=id)
    assert ask("mnemosyne_recall", query="Maya")["count"] == 0
    assert ask("mempalace_kg_query", entity="Maya")["count"] == 0
    assert refused("mnemosyne_update", memory_id=id, content="x")["status"] == "not_found"


@requirement("everybody.s")
def test_what_is_filed_here_is_found_opened_corrected_and_forgotten_there(ask: Ask, refused: Refused) -> None:
    id = ask("mempalace_add_drawer", wing="api", room="decisions", content="We chose JWT.")["drawer_id"]
    [told] = ask("mnemosyne_recall", query="JWT")["results"]
    assert (told["id"], told["content"]) == (id, "We chose JWT.")
    ask("mnemosyne_update", memory_id=id, content="We chose cookies.")
    assert ask("mempalace_get_drawer", drawer_id=id)["content"] == "We chose cookies."
    new = ask("mnemosyne_remember", content="We chose passkeys.")["memory_id"]
    ask("mnemosyne_invalidate", memory_id=id, replacement_id=new)
    assert [one["drawer_id"] for one in ask("mempalace_search", query="chose")["results"]] == [new]
    assert ask("mempalace_get_drawer", drawer_id=id)["metadata"]["superseded_by"] == new
    ask("mnemosyne_forget", memory_id=id)
    assert refused("mempalace_get_drawer", drawer_id=id)["error_class"] == "not_found"


@requirement("everybody.s")
def test_what_open_mem_created_is_found_opened_corrected_and_forgotten_here(ask: Ask, refused: Refused) -> None:
    made = ask("mem-create", title="Tokens", type="decision", narrative="We chose JWT.")
    id = made["data"]["observation"]["id"]
    [hit] = ask("mempalace_search", query="JWT", hall="hall_decisions")["results"]
    assert (hit["drawer_id"], hit["text"]) == (id, "We chose JWT.")
    ask("mempalace_update_drawer", drawer_id=id, content="We chose cookies.", wing="api", room="auth")
    assert ask("mem-get", ids=[id])["data"]["observations"][0]["narrative"] == "We chose cookies."
    new = ask("mem-revise", id=id, narrative="We chose passkeys.", reason="safer")["data"]["newId"]
    [hit] = ask("mempalace_search", query="chose", wing="api", room="auth")["results"]
    assert (hit["drawer_id"], hit["text"]) == (new, "We chose passkeys.")
    assert ask("mempalace_get_drawer", drawer_id=id)["metadata"]["superseded_by"] == new
    assert new in str(refused("mempalace_update_drawer", drawer_id=id, content="x"))
    ask("mempalace_delete_drawer", drawer_id=new)
    assert ask("mem-get", ids=[id, new])["data"]["missing"] == [id, new]


@requirement("everybody.s")
def test_what_is_filed_here_is_found_opened_corrected_and_forgotten_by_open_mem(ask: Ask, refused: Refused) -> None:
    id = ask("mempalace_add_drawer", wing="api", room="auth", content="Maya prefers tea.")["drawer_id"]
    assert [hit["id"] for hit in ask("mem-find", query="tea")["data"]["results"]] == [id]
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["kind"]) == ("Maya prefers tea.", "drawer")
    new = ask("mem-revise", id=id, narrative="Maya prefers coffee.", reason="she said so")["data"]["newId"]
    [row] = ask("mempalace_list_drawers", wing="api", room="auth", hall="hall_preferences")["drawers"]
    assert (row["drawer_id"], row["content_preview"]) == (new, "Maya prefers coffee.")
    ask("mem-remove", id=new, reason="private")
    assert ask("mempalace_search", query="Maya")["results"] == []
    assert ask("mempalace_status")["total_drawers"] == 0
    assert refused("mempalace_get_drawer", drawer_id=new)["error_class"] == "not_found"


@requirement("everybody.s")
def test_what_mnemex_saved_is_found_opened_corrected_and_forgotten_here(ask: Ask, refused: Refused) -> None:
    id = ask("save_memory", content="Maya works on billing.", tags=["team"])["memory_id"]
    [hit] = ask("mempalace_search", query="billing")["results"]
    assert (hit["drawer_id"], hit["wing"], hit["room"], hit["hall"]) == (id, "notes", "note", "hall_facts")
    assert ask("mempalace_get_drawer", drawer_id=id)["metadata"]["tags"] == ["team"]
    ask("mempalace_update_drawer", drawer_id=id, content="Maya works on search.", wing="people", room="maya")
    assert ask("open_memories", memory_ids=id)["memories"][0]["content"] == "Maya works on search."
    assert [one["memory_id"] for one in ask("search_unified", query="Maya")["results"]] == [id]
    ask("mempalace_delete_drawer", drawer_id=id)
    assert ask("open_memories", memory_ids=id)["not_found"] == [id]
    assert "purged" in refused("recover_memory", memory_id=id)["hint"]


@requirement("everybody.s")
def test_what_is_filed_here_is_found_opened_corrected_and_forgotten_by_mnemex(ask: Ask, refused: Refused) -> None:
    id = ask("mempalace_add_drawer", wing="api", room="auth", content="We chose JWT.")["drawer_id"]
    assert [one["id"] for one in ask("search_memory", query="JWT")["results"]] == [id]
    assert ask("open_memories", memory_ids=id)["memories"][0]["kind"] == "drawer"
    ask("edit_memory", memory_id=id, content="We chose passkeys.")
    [hit] = ask("mempalace_search", query="passkeys", wing="api", room="auth")["results"]
    assert (hit["drawer_id"], hit["text"]) == (id, "We chose passkeys.")
    ask("forget_memory", memory_id=id, erase=True)
    assert ask("mempalace_status")["total_drawers"] == 0
    assert refused("mempalace_get_drawer", drawer_id=id)["error_class"] == "not_found"


@requirement("everybody.s")
def test_what_a_session_went_through_is_found_opened_corrected_and_forgotten_here(
    ask: Ask, refused: Refused, host: Host
) -> None:
    session = ask("sessions_start", goal="Find out where birds nest")["session_id"]
    ask("sessions_append", session_id=session, observation="Kestrels nest on the tower.", action="Noted the tower.")
    ask("sessions_close", session_id=session)
    [step] = ask("sessions_nodes", types=["episodic"])["nodes"]
    [hit] = ask("mempalace_search", query="kestrels on the tower", hall="hall_events")["results"]
    assert (hit["drawer_id"], hit["room"]) == (step["id"], "episodic")
    told = ask("mempalace_list_drawers")
    assert [row["drawer_id"] for row in told["drawers"]] == [step["id"]], "what only leads to others is no drawer"
    assert told["total"] == ask("mempalace_status")["total_drawers"] == 1
    ask("mempalace_update_drawer", drawer_id=step["id"], content="Kestrels left the tower.", wing="birds", room="tower")
    node = ask("sessions_node", node_id=step["id"])["node"]
    assert (node["observation"], node["place"]) == ("Kestrels left the tower.", "birds/tower")
    ask("mempalace_delete_drawer", drawer_id=step["id"])
    assert refused("sessions_node", node_id=step["id"])["error"]["reason"] == "not_found"
    assert list(host.bank.list()) == [], "nothing of the step is left under another kind"


@requirement("everybody.s")
def test_what_is_filed_here_is_recalled_opened_corrected_and_gone_in_a_session(ask: Ask, refused: Refused) -> None:
    id = ask("mempalace_add_drawer", wing="birds", room="tower", content="Kestrels nest on the tower.")["drawer_id"]

    def recalled() -> list[str]:
        touched = ask("sessions_recall", query="Where do kestrels nest?")["touched_nodes"]
        return [each["id"] for each in touched]

    assert recalled() == [id]
    assert ask("sessions_node", node_id=id)["node"]["proposition"] == "Kestrels nest on the tower."
    ask("mempalace_update_drawer", drawer_id=id, content="Kestrels nest in the barn.")
    assert ask("sessions_node", node_id=id)["node"]["proposition"] == "Kestrels nest in the barn."
    ask("mempalace_delete_drawer", drawer_id=id)
    assert recalled() == []
    assert refused("sessions_node", node_id=id)["error"]["reason"] == "not_found"


@requirement("everybody.s")
def test_triples_are_shared_both_ways(ask: Ask) -> None:
    ask("mnemosyne_triple_add", subject="Maya", predicate="leads", object="search")
    assert ask("mempalace_kg_query", entity="search")["facts"][0]["direction"] == "incoming"
    ask("mempalace_kg_add", subject="Omar", predicate="leads", object="ads")
    assert ask("mnemosyne_triple_query", subject="Omar")["results_count"] == 1
    ask("mempalace_kg_invalidate", subject="Maya", predicate="leads", object="search")
    assert ask("mnemosyne_triple_query", subject="Maya")["results_count"] == 0


@requirement("everybody.s")
@pytest.mark.parametrize("kind", LISTED_KINDS)
def test_a_memory_of_any_kind_is_a_drawer(ask: Ask, host: Host, kind: str) -> None:
    id = host.bank.remember("Kestrels nest on the tower.", kind=kind).id
    [hit] = ask("mempalace_search", query="kestrels")["results"]
    assert hit["drawer_id"] == id
    assert ask("mempalace_status")["total_drawers"] == 1
    [row] = ask("mempalace_list_drawers", wing="notes", room=kind)["drawers"]
    [there] = ask("mempalace_search", query="kestrels", hall=hit["hall"])["results"]
    assert (there["drawer_id"], row["hall"]) == (id, hit["hall"])
    assert ask("mempalace_traverse", start_room=kind)[0]["halls"] == [hit["hall"]]
    ask("mempalace_update_drawer", drawer_id=id, content="Kestrels left the tower.")
    assert ask("mempalace_get_drawer", drawer_id=id)["content"] == "Kestrels left the tower."
    ask("mempalace_delete_drawer", drawer_id=id)
    assert ask("mempalace_status")["total_drawers"] == 0


@requirement("everybody.s", "halls.assigned")
def test_a_type_of_which_the_palace_does_not_know_lies_in_no_hall(ask: Ask, host: Host) -> None:
    id = host.bank.remember("We decided on kestrels.", body={"type": "omen"}).id
    assert ask("mempalace_search", query="kestrels")["results"][0]["hall"] is None
    assert not any(ask("mempalace_list_drawers", hall=hall)["total"] for hall in TYPES)
    told = ask("mempalace_update_drawer", drawer_id=id, hall="hall_decisions")
    assert (told["updated_fields"], told["hall"]) == (["hall"], "hall_decisions")
    assert ask("mempalace_list_drawers", hall="hall_decisions")["total"] == 1


@requirement("everybody.s")
def test_a_session_s_own_stays_its_own(ask: Ask, refused: Refused, host: Host) -> None:
    id = ask("mnemosyne_remember", content="Between us: kestrels.", scope="session")["memory_id"]
    other = host.having(session="tuesday")
    assert len(ask("mempalace_search", query="kestrels")["results"]) == 1
    assert ask("mempalace_search", at=other, query="kestrels")["results"] == []
    assert ask("mempalace_status", at=other)["total_drawers"] == 0
    assert refused("mempalace_get_drawer", at=other, drawer_id=id)["error_class"] == "not_found"
    assert ask("mempalace_check_duplicate", at=other, content="Between us: kestrels.", threshold=0)["matches"] == []
