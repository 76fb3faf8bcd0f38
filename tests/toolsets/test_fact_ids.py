"""The id of a fact in the tools of every toolset, for a fact stated alone and for one drawn from a memory."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Host, Refused, answered, requirement

Do = Callable[[Ask, str], Any]
LISBON = "Maya lives in Lisbon."
READ: dict[str, Do] = {
    "pieria": lambda ask, id: ask("get", id=id)["text"],
    "mempalace": lambda ask, id: ask("mempalace_get_drawer", drawer_id=id)["content"],
    "mempalace, several": lambda ask, id: ask("mempalace_get_drawers", drawer_ids=[id])["results"][0]["content"],
    "mnemex": lambda ask, id: ask("open_memories", memory_ids=id)["memories"][0]["content"],
    "open-mem": lambda ask, id: ask("mem-get", ids=[id])["data"]["observations"][0]["narrative"],
}
CORRECT: dict[str, Do] = {
    "pieria": lambda ask, id: ask("correct", id=id, text=LISBON).get("warnings"),
    "mnemosyne": lambda ask, id: ask("mnemosyne_update", memory_id=id, content=LISBON).get("warnings"),
    "mempalace": lambda ask, id: ask("mempalace_update_drawer", drawer_id=id, content=LISBON).get("hint"),
    "mnemex": lambda ask, id: ask("edit_memory", memory_id=id, content=LISBON).get("warnings"),
    "open-mem": lambda ask, id: ask("mem-revise", id=id, narrative=LISBON)["meta"].get("warnings"),
}
FORGET: dict[str, Do] = {
    "pieria, end": lambda ask, id: ask("forget", id=id, how="end"),
    "pieria, remove": lambda ask, id: ask("forget", id=id, how="remove"),
    "pieria, erase": lambda ask, id: ask("forget", id=id, how="erase"),
    "mnemosyne": lambda ask, id: ask("mnemosyne_forget", memory_id=id),
    "mnemosyne, end": lambda ask, id: ask("mnemosyne_invalidate", memory_id=id),
    "mempalace": lambda ask, id: ask("mempalace_delete_drawer", drawer_id=id),
    "mempalace, several": lambda ask, id: ask("mempalace_delete_drawers", drawer_ids=[id]),
    "mnemex": lambda ask, id: ask("forget_memory", memory_id=id),
    "mnemex, erase": lambda ask, id: ask("forget_memory", memory_id=id, erase=True),
    "open-mem": lambda ask, id: ask("mem-remove", id=id),
}


def made(host: Host, *, is_drawn: bool) -> str:
    bank = host.bank
    memory = bank.remember("Maya lives by the river in Madrid.").id if is_drawn else None
    return bank.facts.add("Maya", "lives_in", "Madrid", valid_from="2024-01-01", memory=memory).id


def objects(host: Host) -> list[str]:
    return [fact.object for fact in host.bank.facts.query("Maya")]


def asking(ask: Ask, host: Host, name: str) -> tuple[Ask, Host]:
    other = host.having(bank_name=name)
    return partial(ask, at=other), other


@requirement("across.kinds")
@pytest.mark.parametrize("is_drawn", [False, True])
def test_each_toolset_reads_corrects_and_forgets_a_fact(ask: Ask, host: Host, is_drawn: bool) -> None:
    for number, correct in enumerate(CORRECT.values()):
        there, other = asking(ask, host, f"corrected-{number}")
        id = made(other, is_drawn=is_drawn)
        assert ("is unchanged" in str(correct(there, id))) == is_drawn
        assert {name: read(there, id) for name, read in READ.items()} == dict.fromkeys(READ, LISBON)
        assert objects(other) == ["Lisbon"]
    for number, forget in enumerate(FORGET.values()):
        there, other = asking(ask, host, f"forgotten-{number}")
        forget(there, made(other, is_drawn=is_drawn))
        assert objects(other) == []


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "pieria": ("correct", {"text": "She moved."}, "text: expected the sentence of this fact"),
    "mnemosyne": ("mnemosyne_update", {"content": "She moved."}, "content: expected the sentence of this fact"),
    "mempalace": ("mempalace_update_drawer", {"content": "She moved."}, "content: expected the sentence of this fact"),
    "mnemex": ("edit_memory", {"content": "She moved."}, "content: expected the sentence of this fact"),
    "open-mem": ("mem-revise", {"narrative": "She moved."}, "narrative: expected the sentence of this fact"),
}
ONLY_DRAWN: dict[str, tuple[str, dict[str, Any], str]] = {
    "importance": ("mnemosyne_update", {"importance": 0.9}, "importance: expected no value"),
    "replacement": ("mnemosyne_invalidate", {"replacement_id": "$"}, "replacement_id: expected no memory"),
    "room": ("mempalace_update_drawer", {"room": "attic"}, "room: expected no value"),
    "hall": ("mempalace_update_drawer", {"hall": "hall_advice"}, "hall: expected no value"),
    "tags": ("edit_memory", {"tags": ["home"]}, "tags: expected no value"),
    "type": ("mem-revise", {"type": "decision"}, "type: expected no value"),
    "concepts": ("mem-revise", {"concepts": ["home"]}, "concepts: expected no value"),
    "touch": ("touch_memory", {}, "it is a fact drawn from the memory"),
    "relate": ("create_relation", {"to_memory_id": "$", "relation_type": "related"}, "it is a fact drawn from"),
    "around": ("mem-history", {}, "it is a fact drawn from the memory"),
}
IDS = {"correct": "id", "mempalace_update_drawer": "drawer_id", "mem-revise": "id", "mem-history": "anchor",
       "create_relation": "from_memory_id"}  # fmt: skip


def test_each_toolset_says_what_a_fact_cannot_take(host: Host) -> None:
    id = made(host, is_drawn=True)
    memory = host.bank.remember("The office is in Rome.").id
    for tool, given, said in (*REFUSED.values(), *ONLY_DRAWN.values()):
        values = {name: memory if value == "$" else value for name, value in given.items()}
        reply = answered(host, tool, {IDS.get(tool, "memory_id"): id, **values})
        assert (reply.is_error, said in reply.written) == (True, True), reply.written
    assert objects(host) == ["Madrid"]


def test_drawn_fact_is_no_end_of_a_tunnel(ask: Ask, refused: Refused, host: Host) -> None:
    id = made(host, is_drawn=True)
    ask("mempalace_add_drawer", wing="birds", room="tower", content="Kestrels nest on the tower.")
    ends = {"source_wing": "notes", "source_room": "note", "target_wing": "birds", "target_room": "tower"}
    assert "a fact drawn from" in refused("mempalace_create_tunnel", **ends, source_drawer_id=id)["hint"]


def test_drawn_fact_that_was_removed_is_recovered(ask: Ask, refused: Refused, host: Host) -> None:
    id = made(host, is_drawn=True)
    assert ask("forget_memory", memory_id=id)["status"] == "removed"
    assert refused("edit_memory", memory_id=id, content=LISBON)["hint"] == "recover_memory brings it back."
    assert ask("mem-get", ids=[id])["data"]["deleted"] == [id]
    assert ask("recover_memory", memory_id=id)["status"] == "active"
    ask("mem-revise", id=id, narrative=LISBON)
    history = ask("mem-get", ids=[id], includeHistory=True)["data"]["history"][id]
    assert [(one["id"], one["changedFields"]) for one in history] == [(f"{id}@1", []), (id, ["narrative"])]


def test_forgotten_fact_names_others_that_say_the_same(ask: Ask, host: Host) -> None:
    first, second = made(host, is_drawn=True), made(host, is_drawn=True)
    for how in ("end", "remove"):
        told = ask("forget", id=first, how=how)
        assert told["warnings"][-1] == f"The fact {second} says the same, and still holds."
        ask("undo", change=told["change"])
    assert f"the fact {second}, which says the same" in str(ask("forget", id=first, how="erase")["warnings"])
