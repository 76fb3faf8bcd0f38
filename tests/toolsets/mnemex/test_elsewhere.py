"""One memory, many voices: here and in the other toolsets, memories are found, used, removed and restored."""

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.mnemex.conftest import Saved
from tests.toolsets.requirements import requirement

from pieria.record.memory import LISTED_KINDS
from pieria.toolsets import Host

OBSERVED = {"title": "Kestrels", "type": "discovery", "narrative": "Kestrels nest on the tower."}
THEIRS = {
    "mnemosyne": ("mnemosyne_remember", {"content": "Kestrels nest on the tower."}),
    "open-mem": ("mem-create", OBSERVED),
    "mempalace": ("mempalace_add_drawer", {"wing": "birds", "room": "tower", "content": "Kestrels nest on the tower."}),
}


def kept(ask: Ask, toolset: str) -> str:
    tool, arguments = THEIRS[toolset]
    told = ask(tool, **arguments)
    return str(told.get("memory_id") or told.get("drawer_id") or told["data"]["observation"]["id"])


def found_there(ask: Ask, toolset: str) -> list[str]:
    if toolset == "mnemosyne":
        return [hit["id"] for hit in ask("mnemosyne_recall", query="kestrels")["results"]]
    if toolset == "open-mem":
        return [hit["id"] for hit in ask("mem-find", query="kestrels")["data"]["results"]]
    return [hit["drawer_id"] for hit in ask("mempalace_search", query="kestrels")["results"]]


@requirement("across.theirs")
@pytest.mark.parametrize("toolset", THEIRS)
def test_what_others_keep_is_found_touched_archived_and_restored_here(
    ask: Ask, saved: Saved, toolset: str, clock: HandClock
) -> None:
    id = kept(ask, toolset)
    clock.move(days=3)
    assert saved.found("kestrels") == [id]
    assert [one["memory_id"] for one in ask("search_unified", query="kestrels")["results"]] == [id]
    told = ask("touch_memory", memory_id=id, boost_strength=True)
    assert (told["use_count"], told["new_score"] > told["old_score"]) == (1, True)
    assert ask("observe_memory_usage", memory_ids=[id])["count"] == 1
    ask("forget_memory", memory_id=id)
    assert (saved.found("kestrels"), found_there(ask, toolset)) == ([], [])
    ask("recover_memory", memory_id=id)
    assert (saved.found("kestrels"), found_there(ask, toolset)) == ([id], [id])


@requirement("across.theirs")
@pytest.mark.parametrize("toolset", THEIRS)
def test_what_was_taken_away_there_is_brought_back_here(ask: Ask, refused: Refused, saved: Saved, toolset: str) -> None:
    id = kept(ask, toolset)
    if toolset == "mempalace":
        ask("mempalace_delete_drawer", drawer_id=id)
        assert refused("recover_memory", memory_id=id)["message"] == f"Memory not found: {id}"
        return
    if toolset == "open-mem":
        ask("mem-remove", id=id)
    else:
        ask("mnemosyne_forget", memory_id=id)
        assert "purged" in refused("recover_memory", memory_id=id)["hint"]
        return
    assert saved.found("kestrels") == []
    assert ask("recover_memory", memory_id=id)["changed"] is True
    assert (saved.found("kestrels"), found_there(ask, toolset)) == ([id], [id])


@requirement("across.ours")
@pytest.mark.parametrize("toolset", THEIRS)
def test_what_was_saved_here_is_found_there_and_comes_and_goes_with_it(ask: Ask, saved: Saved, toolset: str) -> None:
    id = saved("Kestrels nest on the tower.", tags=["birds"], strength=1.5)
    assert found_there(ask, toolset) == [id]
    ask("forget_memory", memory_id=id)
    assert found_there(ask, toolset) == []
    ask("recover_memory", memory_id=id)
    assert found_there(ask, toolset) == [id]


@requirement("across.ours")
def test_what_was_saved_here_is_corrected_there(ask: Ask, saved: Saved) -> None:
    id = saved("Kestrels nest on the tower.")
    ask("mnemosyne_update", memory_id=id, content="Kestrels left the tower.")
    assert ask("search_memory", query="kestrels")["results"][0]["content"] == "Kestrels left the tower."
    ask("mempalace_update_drawer", drawer_id=id, content="Kestrels are back.")
    assert ask("open_memories", memory_ids=id)["memories"][0]["content"] == "Kestrels are back."
    new = ask("mem-revise", id=id, narrative="Kestrels nest again.", reason="seen")["data"]["newId"]
    assert saved.found("kestrels") == [new]


@requirement("across.theirs")
@pytest.mark.parametrize("kind", LISTED_KINDS)
def test_a_memory_of_any_kind_is_a_memory(ask: Ask, saved: Saved, host: Host, kind: str) -> None:
    id = host.bank.remember("Kestrels nest on the tower.", kind=kind).id
    assert saved.found("kestrels") == saved.found() == [id]
    assert ask("open_memories", memory_ids=id)["memories"][0]["kind"] == kind
    assert ask("touch_memory", memory_id=id)["use_count"] == 1


@requirement("across.sessions")
def test_a_session_s_own_stays_its_own(ask: Ask, refused: Refused, saved: Saved, host: Host) -> None:
    id = ask("mnemosyne_remember", content="Between us: kestrels.", scope="session")["memory_id"]
    other = host.having(session="tuesday")
    assert saved.found("kestrels") == [id]
    for tool in ("search_memory", "search_unified"):
        assert ask(tool, at=other, query="kestrels")["results"] == []
        assert ask(tool, at=other)["results"] == []
    assert refused("touch_memory", at=other, memory_id=id)["message"] == f"Memory not found: {id}"
    assert ask("open_memories", at=other, memory_ids=id)["not_found"] == [id]
    assert ask("cluster_memories", at=other, find_duplicates=True, duplicate_threshold=0)["duplicates"] == []
