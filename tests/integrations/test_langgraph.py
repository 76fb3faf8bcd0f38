"""LangGraph's store over a bank: items, search, filters, namespaces, and time to live."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from langgraph.store.base import PutOp
from tests.contract.store_helpers import HandClock

import pieria
from pieria.errors import ConflictError
from pieria.integrations.langgraph import TRIES, PieriaStore

ALICE, BOB = ("users", "alice"), ("users", "bob")


@pytest.fixture
def store(bank: pieria.Bank, clock: HandClock) -> PieriaStore:
    return PieriaStore(bank, clock=clock)


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


def test_items_are_put_got_changed_and_deleted(store: PieriaStore, clock: HandClock) -> None:
    store.put(ALICE, "tea", {"text": "Likes green tea.", "n": 1})
    begun = store.get(ALICE, "tea")
    assert begun is not None and (begun.value, begun.namespace) == ({"text": "Likes green tea.", "n": 1}, ALICE)
    clock.move(hours=1)
    store.put(ALICE, "tea", {"text": "Likes black tea."})
    changed = store.get(ALICE, "tea")
    assert changed is not None and changed.value == {"text": "Likes black tea."}
    assert changed.created_at == begun.created_at and changed.updated_at > begun.updated_at
    store.delete(ALICE, "tea")
    store.delete(ALICE, "never")
    assert store.get(ALICE, "tea") is None and store.search(ALICE) == []
    clock.move(hours=1)
    store.put(ALICE, "tea", {"text": "Likes tea again."})
    again = store.get(ALICE, "tea")
    assert again is not None and again.created_at > begun.created_at


def test_last_of_many_writers_of_a_key_wins(store: PieriaStore) -> None:
    def write(number: int) -> None:
        if number % 3:
            store.put(ALICE, "tea", {"n": number})
        else:
            store.delete(ALICE, "tea")

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(write, number) for number in range(48)]:
            done.result()
    store.put(ALICE, "tea", {"n": 99})
    assert [item.value for item in store.search(ALICE, query="")] == [{"n": 99}]


def test_writers_in_other_processes_are_waited_for(store: PieriaStore, monkeypatch: pytest.MonkeyPatch) -> None:
    write, others = store._write, [False, False, True]

    def overtaken(id: str, op: PutOp) -> None:
        """As if another process writes the key between the look and the write."""
        if not others.pop(0):
            raise ConflictError("the id is taken", (id,))
        write(id, op)

    monkeypatch.setattr(store, "_write", overtaken)
    store.put(ALICE, "tea", {"n": 1})
    assert keys(store.search(ALICE)) == ["tea"]
    others[:] = [False] * TRIES
    with pytest.raises(ConflictError):
        store.put(ALICE, "tea", {"n": 2})


def test_search_keeps_to_its_namespace(store: PieriaStore) -> None:
    for namespace in (ALICE, BOB, ("teams", "alice")):
        store.put(namespace, "drink", {"text": f"{namespace[-1]} drinks tea"})
    assert keys(store.search(ALICE, query="who drinks tea?")) == ["drink"]
    assert {item.namespace for item in store.search(("users",), query="tea")} == {ALICE, BOB}
    assert len(store.search((), query="tea")) == 3
    found = store.search(ALICE, query="tea")[0]
    assert found.score is not None and found.value["text"] == "alice drinks tea"


def test_what_is_not_indexed_is_listed_but_not_found(store: PieriaStore) -> None:
    store.put(ALICE, "secret", {"text": "The code is 4711."}, index=False)
    store.put(ALICE, "open", {"title": "harbour", "text": "The code is 4711."}, index=["title"])
    assert store.search(ALICE, query="4711") == []
    assert keys(store.search(ALICE, query="harbour")) == ["open"]
    assert sorted(keys(store.search(ALICE))) == ["open", "secret"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"n": 2}, [2]),
        ({"n": {"$gte": 2}}, [2, 3]),
        ({"n": {"$gt": 1, "$lt": 3}}, [2]),
        ({"n": {"$ne": 2}}, [1, 3]),
        ({"n": {"$gt": "a"}}, []),
        ({"part": {"deep": 1}}, [1, 2, 3]),
        ({"missing": 1}, []),
    ],
)
def test_filters_compare_values(store: PieriaStore, condition: dict[str, Any], expected: list[int]) -> None:
    for number in (1, 2, 3):
        store.put(ALICE, str(number), {"n": number, "text": "ferry", "part": {"deep": 1}})
    assert [item.value["n"] for item in store.search(ALICE, filter=condition)] == expected
    assert sorted(item.value["n"] for item in store.search(ALICE, query="ferry", filter=condition)) == expected
    with pytest.raises(ValueError, match="operators"):
        store.search(ALICE, filter={"n": {"$near": 1}})


def test_pages_cover_everything_once(store: PieriaStore) -> None:
    for number in range(130):
        store.put(ALICE, str(number), {"text": f"ferry {number}"})
    listed = [key for offset in range(0, 140, 50) for key in keys(store.search(ALICE, limit=50, offset=offset))]
    assert listed == [str(number) for number in range(130)]
    found = [key for page in range(3) for key in keys(store.search(ALICE, query="ferry", limit=50, offset=page * 50))]
    assert len(found) == len(set(found)) == 130


def test_namespaces_are_listed_by_their_parts(store: PieriaStore) -> None:
    for namespace in (ALICE, BOB, ("teams", "x", "alice")):
        store.put(namespace, "k", {"text": "x"})
    assert store.list_namespaces() == [("teams", "x", "alice"), ALICE, BOB]
    assert store.list_namespaces(prefix=("users",)) == [ALICE, BOB]
    assert store.list_namespaces(suffix=("alice",)) == [("teams", "x", "alice"), ALICE]
    assert store.list_namespaces(max_depth=1, limit=1, offset=1) == [("users",)]


def test_items_expire_unless_they_are_read(store: PieriaStore, clock: HandClock) -> None:
    store.put(ALICE, "read", {"text": "ferry"}, ttl=10)
    store.put(ALICE, "unread", {"text": "ferry"}, ttl=10)
    clock.move(minutes=8)
    assert store.get(ALICE, "read") is not None and store.get(ALICE, "unread", refresh_ttl=False) is not None
    clock.move(minutes=8)
    assert store.get(ALICE, "unread") is None
    assert keys(store.search(ALICE)) == keys(store.search(ALICE, query="ferry")) == ["read"]
    clock.move(minutes=11)
    assert store.search(ALICE) == [] and store.list_namespaces() == []


def test_other_doors_see_the_items(store: PieriaStore, bank: pieria.Bank) -> None:
    store.put(ALICE, "tea", {"text": "Likes green tea.", "sugar": False})
    [hit] = bank.recall("who likes green tea?")
    assert hit.memory.text == "text: Likes green tea.\nsugar: false"
    assert hit.memory.trust <= 0.6
    bank.remember("No item of the store.")
    assert len(store.search(())) == 1


async def _awaited(store: PieriaStore) -> tuple[list[str], timedelta]:
    await store.aput(ALICE, "tea", {"text": "tea"})
    item = await store.aget(ALICE, "tea")
    assert item is not None
    return keys(await store.asearch(ALICE, query="tea")), item.updated_at - item.created_at


def test_store_can_be_awaited(bank: pieria.Bank) -> None:
    import asyncio

    found, _ = asyncio.run(_awaited(PieriaStore(bank)))
    assert found == ["tea"]
