"""mem0's interface over a bank: its replies, its filters, its owners, and what it refuses."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import pieria
from pieria.integrations.mem0 import AsyncMemory, Memory

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "I am allergic to nuts.", "name": "Maya"},
    {"role": "assistant", "content": [{"type": "text", "text": "Noted: no nuts."}]},
]


@pytest.fixture
def memory(bank: pieria.Bank) -> Iterator[Memory]:
    with Memory(bank=bank) as memory:
        yield memory


def found(reply: dict[str, Any]) -> list[str]:
    return [one["memory"] for one in reply["results"]]


def test_messages_are_kept_word_for_word_with_their_owner(memory: Memory, bank: pieria.Bank) -> None:
    added = memory.add(TALK, user_id=" 7 ", run_id="trip", metadata={"topic": "food"})["results"]
    assert [(one["memory"], one["event"], one["role"]) for one in added] == [
        ("I am allergic to nuts.", "ADD", "user"),
        ("Noted: no nuts.", "ADD", "assistant"),
    ]
    item = memory.get(added[0]["id"])
    assert item is not None and (item["user_id"], item["actor_id"], item["metadata"]) == (
        "7",
        "Maya",
        {"topic": "food"},
    )
    kept = bank.get(added[0]["id"])
    assert kept is not None and (kept.kind, kept.author, kept.session, kept.source) == ("turn", "Maya", "trip", "mem0")
    assert kept.trust <= 0.5 or kept.via == "agent"


def test_owners_do_not_see_each_other(memory: Memory) -> None:
    memory.add("Alice likes tea.", user_id="alice")
    memory.add("Bob likes tea.", user_id="bob")
    assert found(memory.search("who likes tea?", filters={"user_id": "alice"})) == ["Alice likes tea."]
    assert found(memory.get_all(filters={"user_id": "bob"})) == ["Bob likes tea."]
    memory.delete_all(user_id="alice")
    assert found(memory.get_all(filters={"user_id": {"in": ["alice", "bob"]}})) == ["Bob likes tea."]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"n": {"gte": 2}}, {"two", "three"}),
        ({"n": {"gt": 1, "lt": 3}}, {"two"}),
        ({"n": {"nin": [1, 2]}}, {"three"}),
        ({"name": {"icontains": "T"}}, {"two", "three"}),
        ({"name": {"contains": "T"}}, set()),
        ({"OR": [{"n": 1}, {"n": {"eq": 3}}]}, {"one", "three"}),
        ({"NOT": [{"n": 1}]}, {"two", "three"}),
        ({"AND": [{"n": "*"}, {"n": {"ne": 2}}]}, {"one", "three"}),
        ({"missing": "*"}, set()),
        ({"name": {"gt": 5}}, set()),
        ({"n": [1, 2]}, {"one", "two"}),
    ],
)
def test_filters_compare_metadata(memory: Memory, filters: dict[str, Any], expected: set[str]) -> None:
    for number, name in enumerate(("one", "two", "three"), 1):
        memory.add(f"ferry {name}", user_id="a", metadata={"n": number, "name": name})
    asked = {"user_id": "a", **filters}
    assert {text.removeprefix("ferry ") for text in found(memory.get_all(filters=asked))} == expected
    assert {text.removeprefix("ferry ") for text in found(memory.search("ferry", filters=asked))} == expected


def test_search_goes_on_until_enough_pass_the_filters(memory: Memory) -> None:
    memory.bank.remember_many(
        [{"text": f"ferry {number}", "meta": {"user_id": "a", "n": number}} for number in range(150)]
    )
    reply = memory.search("ferry", filters={"user_id": "a", "n": {"gte": 140}}, top_k=5, explain=True)
    assert len(reply["results"]) == 5 and all(one["metadata"]["n"] >= 140 for one in reply["results"])
    assert all(one["score_details"] for one in reply["results"])


def test_history_tells_changes_and_removal(memory: Memory) -> None:
    [one] = memory.add("Rent is 900.", agent_id="clerk", expiration_date="2999-01-01")["results"]
    memory.update(one["id"], "Rent is 950.", metadata={"checked": True, "agent_id": "other"})
    memory.update(one["id"], expiration_date=None)
    item = memory.get(one["id"])
    assert item is not None and "expiration_date" not in item
    assert (item["metadata"], item["agent_id"]) == ({"checked": True}, "clerk")
    memory.delete(one["id"])
    rows = [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(one["id"])]
    assert rows[0] == ("ADD", None, "Rent is 900.") and rows[1] == ("UPDATE", "Rent is 900.", "Rent is 950.")
    assert rows[-1] == ("DELETE", "Rent is 950.", None)
    assert memory.get(one["id"]) is None


def test_expired_memories_are_hidden(memory: Memory) -> None:
    memory.add("The code is 4711.", user_id="a", expiration_date="2001-01-01")
    assert found(memory.search("code", filters={"user_id": "a"})) == []
    assert found(memory.get_all(filters={"user_id": "a"})) == []
    assert found(memory.get_all(filters={"user_id": "a"}, show_expired=True)) == ["The code is 4711."]


def test_reset_erases_only_what_came_this_way(memory: Memory, bank: pieria.Bank) -> None:
    memory.reset()
    memory.add("Alice likes tea.", user_id="alice")
    bank.remember("Ferries to Vega are cancelled above 8 Beaufort.")
    memory.reset()
    assert [one.text for one in bank.list()] == ["Ferries to Vega are cancelled above 8 Beaufort."]


def test_what_cannot_be_done_is_refused(memory: Memory) -> None:
    alice = {"user_id": "alice"}
    refused: list[tuple[Any, dict[str, Any]]] = [
        (memory.add, {"messages": "x"}),
        (memory.add, {"messages": "x", "user_id": "a b"}),
        (memory.add, {"messages": 7, "user_id": "a"}),
        (memory.add, {"messages": "x", "user_id": "a", "prompt": "y"}),
        (memory.add, {"messages": "x", "user_id": "a", "memory_type": "core"}),
        (memory.add, {"messages": "x", "user_id": "a", "expiration_date": "soon"}),
        (memory.search, {"query": "x"}),
        (memory.search, {"query": "x", "user_id": "alice"}),
        (memory.search, {"query": "x", "filters": alice, "limit": 5}),
        (memory.get_all, {"user_id": "alice"}),
        (memory.search, {"query": " ", "filters": alice}),
        (memory.search, {"query": "x", "filters": alice, "rerank": True}),
        (memory.search, {"query": "x", "filters": alice, "show_expired": True}),
        (memory.get_all, {"filters": alice, "top_k": -1}),
        (memory.get_all, {"filters": {**alice, "n": {"near": 1}}}),
        (memory.get_all, {"filters": {**alice, "OR": {}}}),
        (memory.update, {"memory_id": "none", "text": "x"}),
        (memory.update, {"memory_id": "none"}),
        (memory.delete, {"memory_id": "none"}),
        (memory.delete_all, {}),
    ]
    for verb, arguments in refused:
        with pytest.raises(ValueError, match=r"\w"):
            verb(**arguments)
    assert memory.bank.count() == 0
    with pytest.raises(ValueError, match=r"user_id: put it into filters, such as filters=\{'user_id': 'alice'\}"):
        memory.get_all(user_id="alice")
    with pytest.raises(TypeError, match="tpo_k"):
        memory.search("x", filters=alice, tpo_k=5)


def test_configuration_of_mem0_is_taken_with_a_warning(bank: pieria.Bank) -> None:
    with pytest.warns(UserWarning, match="vector_store"):
        Memory.from_config({"vector_store": {"provider": "faiss"}}, bank=bank)


def test_methods_can_be_awaited(bank: pieria.Bank) -> None:
    async def talk() -> list[str]:
        async with AsyncMemory(bank=bank) as memory:
            await memory.add("Alice likes tea.", user_id="alice")
            return found(await memory.search("tea", filters={"user_id": "alice"}))

    assert asyncio.run(talk()) == ["Alice likes tea."]
