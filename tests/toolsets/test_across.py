"""One memory, many voices: each toolset finds, opens, corrects and forgets what the others keep."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Host, Refused, answered, requirement

from pieria.record.memory import GIVEN_KINDS, LISTED_KINDS

NESTING = "Kestrels nest on the tower."
QUESTION = "What happened with the kestrels on the tower?"


@dataclass(frozen=True)
class Voice:
    """One toolset: its tools by what they do, as functions that take `ask`."""

    keep: Callable[[Ask, str], str]
    find: Callable[..., list[Any]]
    """Takes a query as well, and returns the ids."""
    read: Callable[[Ask, str], str]
    correct: Callable[[Ask, str, str], Any] | None = None
    forget: Callable[[Ask, str], Any] | None = None


def lived(ask: Ask, text: str) -> str:
    """Record a session with one step, and return the node of the step."""
    session = ask("sessions_start", goal="Find out where birds nest")["session_id"]
    ask("sessions_append", session_id=session, observation=text, action="Noted it.")
    learnt = ask("sessions_close", session_id=session)["node_ids"]
    nodes = ask("sessions_nodes", types=["episodic"], limit=50)["nodes"]
    return next(str(node["id"]) for node in nodes if node["id"] in learnt)


def created(ask: Ask, text: str) -> str:
    made = ask("mem-create", title=text[:12], type="discovery", narrative=text)
    return str(made["data"]["observation"]["id"])


def node_text(ask: Ask, id: str) -> str:
    node = ask("sessions_node", node_id=id)["node"]
    return str(node.get("proposition") or node.get("observation") or node.get("instruction"))


def recalled(ask: Ask, id: str) -> str:
    hits = ask("mnemosyne_recall", query=QUESTION, top_k=50)["results"]
    return next(str(hit["content"]) for hit in hits if hit["id"] == id)


VOICES = {
    "mnemosyne": Voice(
        lambda ask, text: ask("mnemosyne_remember", content=text)["memory_id"],
        lambda ask, query, **more: [hit["id"] for hit in ask("mnemosyne_recall", query=query, **more)["results"]],
        recalled,
        lambda ask, id, text: ask("mnemosyne_update", memory_id=id, content=text),
        lambda ask, id: ask("mnemosyne_forget", memory_id=id),
    ),
    "mempalace": Voice(
        lambda ask, text: ask("mempalace_add_drawer", wing="birds", room="tower", content=text)["drawer_id"],
        lambda ask, query, **more: [it["drawer_id"] for it in ask("mempalace_search", query=query, **more)["results"]],
        lambda ask, id: ask("mempalace_get_drawer", drawer_id=id)["content"],
        lambda ask, id, text: ask("mempalace_update_drawer", drawer_id=id, content=text),
        lambda ask, id: ask("mempalace_delete_drawer", drawer_id=id),
    ),
    "mnemex": Voice(
        lambda ask, text: ask("save_memory", content=text)["memory_id"],
        lambda ask, query, **more: [hit["id"] for hit in ask("search_memory", query=query, **more)["results"]],
        lambda ask, id: ask("open_memories", memory_ids=id)["memories"][0]["content"],
        lambda ask, id, text: ask("edit_memory", memory_id=id, content=text),
        lambda ask, id: ask("forget_memory", memory_id=id),
    ),
    "open_mem": Voice(
        created,
        lambda ask, query, **more: [hit["id"] for hit in ask("mem-find", query=query, **more)["data"]["results"]],
        lambda ask, id: ask("mem-get", ids=[id])["data"]["observations"][0]["narrative"],
        lambda ask, id, text: ask("mem-revise", id=id, narrative=text)["data"]["newId"],
        lambda ask, id: ask("mem-remove", id=id),
    ),
    "sessions": Voice(
        lived,
        lambda ask, query, **more: [one["id"] for one in ask("sessions_recall", query=query, **more)["touched_nodes"]],
        node_text,
    ),
    "pieria": Voice(
        lambda ask, text: ask("remember", text=text)["id"],
        lambda ask, query, **more: [hit["id"] for hit in ask("recall", query=query, **more)["memories"]],
        lambda ask, id: ask("get", id=id)["text"],
        lambda ask, id, text: ask("correct", id=id, text=text),
        lambda ask, id: ask("forget", id=id, how="erase"),
    ),
}


def finders(ask: Ask, id: str, **more: Any) -> set[str]:
    return {name for name, voice in VOICES.items() if id in voice.find(ask, QUESTION, **more)}


@requirement("across.theirs", "across.ours", "everybody.s")
@pytest.mark.parametrize("keeper", VOICES)
def test_what_one_toolset_keeps_all_correct_and_forget(ask: Ask, keeper: str) -> None:
    id = VOICES[keeper].keep(ask, NESTING)
    assert finders(ask, id) == set(VOICES)
    assert all(NESTING in voice.read(ask, id) for voice in VOICES.values())
    for name, voice in VOICES.items():
        if voice.correct:
            new = voice.correct(ask, id, f"Kestrels left the tower, says {name}.")
            id = new if isinstance(new, str) else id
            assert finders(ask, id) == set(VOICES), name
            assert {each.read(ask, id) for each in VOICES.values()} == {f"Kestrels left the tower, says {name}."}
    for name, voice in VOICES.items():
        if voice.forget:
            gone = VOICES[keeper].keep(ask, f"Kestrels nest on the tower of {name}.")
            voice.forget(ask, gone)
            assert finders(ask, gone) == set(), name


@requirement("across.theirs", "everybody.s")
def test_superseded_memory_leads_everyone_to_its_heir(ask: Ask, refused: Refused) -> None:
    id = VOICES["mempalace"].keep(ask, NESTING)
    new = ask("mem-revise", id=id, narrative="Kestrels left the tower.")["data"]["newId"]
    [told] = ask("mempalace_search", query="kestrels", wing="birds", room="tower")["results"]
    assert (told["drawer_id"], told["text"]) == (new, "Kestrels left the tower.")
    assert ask("mempalace_get_drawer", drawer_id=id)["metadata"]["superseded_by"] == new
    late = refused("mempalace_update_drawer", drawer_id=id, content="x")
    assert (late["error_class"], new in late["hint"]) == ("conflict", True)
    assert new in refused("edit_memory", memory_id=id, content="x")["hint"]
    assert refused("mnemosyne_update", memory_id=id, content="x")["error"]["code"] == "conflict"
    assert refused("sessions_node", node_id=id)["error"]["reason"] == "not_found"
    ask("mempalace_update_drawer", drawer_id=new, content="Kestrels are back.")
    history = ask("mem-get", ids=[id], includeHistory=True)["data"]["history"][id]
    texts = [node["observation"]["narrative"] for node in history]
    assert texts == [NESTING, "Kestrels left the tower.", "Kestrels are back."]
    ask("mem-remove", id=new)
    # Filing the same again is deliberate: it makes another drawer, and the removed one stays removed.
    again = VOICES["mempalace"].keep(ask, NESTING)
    assert VOICES["open_mem"].find(ask, "kestrels") == [again] != [id]
    assert ask("mem-get", ids=[id, new])["data"]["deleted"] == [id, new]


@requirement("across.theirs", "across.ours")
def test_archived_and_removed_memories_come_back_unless_purged(ask: Ask, refused: Refused) -> None:
    for keeper in ("mnemosyne", "mempalace", "mnemex", "open_mem"):
        id = VOICES[keeper].keep(ask, f"{keeper}: {NESTING}")
        assert ask("touch_memory", memory_id=id, boost_strength=True)["use_count"] == 1
        ask("forget_memory", memory_id=id)
        assert ask("mem-get", ids=[id])["data"]["archived"] == [id]
        ask("recover_memory", memory_id=id)
        assert finders(ask, id) == set(VOICES)
        ask("mem-remove", id=id)
        assert ask("recover_memory", memory_id=id)["changed"] is True
        assert finders(ask, id) == set(VOICES)
        ask("mnemosyne_forget", memory_id=id)
        assert "purged" in refused("recover_memory", memory_id=id)["hint"]
        assert refused("mem-revise", id=id, title="T")["error"]["details"]["hint"].startswith("The memory was purged")
        assert ask("mem-get", ids=[id])["data"]["missing"] == [id]


@requirement("across.sessions", "everybody.s")
def test_session_memory_stays_with_its_session(ask: Ask, refused: Refused, host: Host) -> None:
    text = "Between us: kestrels on the tower."
    id = ask("mnemosyne_remember", content=text, scope="session")["memory_id"]
    other = host.having(session="tuesday")
    assert (finders(ask, id), finders(ask, id, at=other)) == (set(VOICES), set())
    assert ask("mempalace_status", at=other)["total_drawers"] == 0
    assert refused("mempalace_get_drawer", at=other, drawer_id=id)["error_class"] == "not_found"
    assert ask("mempalace_check_duplicate", at=other, content=text, threshold=0)["matches"] == []
    assert [ask(tool, at=other)["results"] for tool in ("search_memory", "search_unified")] == [[], []]
    assert refused("touch_memory", at=other, memory_id=id)["message"] == f"Memory not found: {id}"
    assert ask("open_memories", at=other, memory_ids=id)["not_found"] == [id]
    assert ask("cluster_memories", at=other, find_duplicates=True, duplicate_threshold=0)["duplicates"] == []
    assert refused("sessions_node", at=other, node_id=id)["error"]["reason"] == "not_found"


@requirement("across.kinds", "across.theirs", "everybody.s")
def test_memory_of_any_kind_is_everybodys(ask: Ask, host: Host) -> None:
    for kind in LISTED_KINDS:
        id = host.bank.remember(f"{kind}: {NESTING}", kind=kind).id
        assert finders(ask, id) >= set(VOICES) - {"sessions"}, kind
        assert ask("mem-get", ids=[id])["data"]["observations"][0]["kind"] == kind
        assert ask("open_memories", memory_ids=id)["memories"][0]["kind"] == kind
        if kind in GIVEN_KINDS:
            node = ask("sessions_node", node_id=id)["node"]
            assert node["kind"] == kind
            assert ask("sessions_latest", types=[node["type"]])["nodes"][0]["id"] == id
        [row] = ask("mempalace_list_drawers", wing="notes", room=kind)["drawers"]
        assert id in VOICES["mempalace"].find(ask, "kestrels", hall=row["metadata"]["hall"])
        assert ask("mempalace_traverse", start_room=kind)[0]["halls"] == [row["metadata"]["hall"]]
        revised = ask("mem-revise", id=id, title="Birds", type="bugfix")["data"]["observation"]
        assert (revised["title"], revised["type"], revised["kind"]) == ("Birds", "bugfix", kind)
        ask("mempalace_delete_drawer", drawer_id=revised["id"])
        assert ask("mempalace_status")["total_drawers"] == 0


CAROLINE = {"subject": "Caroline", "predicate": "lives_in", "object": "Madrid"}
SEARCHES = {
    "mnemosyne_recall": "content",
    "mempalace_search": "text",
    "search_memory": "content",
    "mem-find": "summary",
    "recall": "text",
}
"""The name of a hit's text in each search's reply."""


def told(ask: Ask, search: str) -> list[str]:
    reply = ask(search, query="where does Caroline live?")
    hits = reply["memories"] if search == "recall" else reply.get("data", reply)["results"]
    return [hit[SEARCHES[search]] for hit in hits]


@requirement("everybody.s")
@pytest.mark.parametrize("tool", ["mnemosyne_triple_add", "mempalace_kg_add"])
def test_stated_fact_is_found_and_in_no_list_of_memories(ask: Ask, tool: str) -> None:
    def listed() -> list[Any]:
        stats = ask("mnemosyne_get_stats")["stats"]
        tools = ("mempalace_list_drawers", "mempalace_list_rooms", "mempalace_status")
        return [*map(ask, tools), stats["total_memories"], stats["beam"]["working_memory"], ask("mem-history")["data"]]

    ask("mnemosyne_remember", content="I want to live authentically.")
    before = listed()
    ask(tool, **CAROLINE)
    assert listed() == before
    assert {search: told(ask, search)[0] for search in SEARCHES} == dict.fromkeys(SEARCHES, "Caroline lives in Madrid.")
    reasoned = ask("sessions_recall", query="where does Caroline live?")["reasoned"]
    assert "Caroline lives in Madrid." in reasoned["semantic"]


@requirement("everybody.s")
def test_facts_are_shared_superseded_and_corrected(ask: Ask, host: Host) -> None:
    ask("mempalace_kg_add", **CAROLINE, valid_from="2024-05-01")
    [fact] = ask("mempalace_kg_query", entity="Caroline")["facts"]
    [triple] = ask("mnemosyne_triple_query", subject="Caroline")["results"]
    assert ("source_drawer_id" in fact, "memory_id" in triple) == (False, False)
    change = {"old_object": "Madrid", "new_object": "Porto", "at": "2026-02-01"}
    reply = answered(host, "mempalace_kg_supersede", {"subject": "Caroline", "predicate": "lives_in", **change})
    held = ["Caroline lives in Porto.", "Caroline lives in Madrid (from 2024-05-01 until 2026-01-31)."]
    assert {search: told(ask, search) for search in SEARCHES} == dict.fromkeys(SEARCHES, held)
    id = reply.value["triple_id"]
    ask("mnemosyne_update", memory_id=id, content="Caroline lives in Lisbon.")
    facts = ask("mempalace_kg_query", entity="Caroline")["facts"]
    assert [fact["object"] for fact in facts if fact["current"]] == ["Lisbon"]
    ask("mnemosyne_forget", memory_id=id)
    assert [fact for fact in ask("mempalace_kg_query", entity="Caroline")["facts"] if fact["current"]] == []
    ask("mnemosyne_triple_add", subject="Maya", predicate="leads", object="search")
    assert ask("mempalace_kg_query", entity="search")["facts"][0]["direction"] == "incoming"
    ask("mempalace_kg_invalidate", subject="Maya", predicate="leads", object="search")
    assert ask("mnemosyne_triple_query", subject="Maya")["results_count"] == 0
