"""A fact stated through one toolset is found by every toolset's search, and is in none of their lists."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask, answered

from pieria.toolsets import Host

CAROLINE = {"subject": "Caroline", "predicate": "lives_in", "object": "Madrid"}
SEARCHES = {
    "mnemosyne_recall": ("results", "content"),
    "mempalace_search": ("results", "text"),
    "search_memory": ("results", "content"),
    "mem-find": ("data", "results", "summary"),
    "sessions_recall": ("reasoned", "semantic"),
}
"""The place of the first answer's text in each search's reply."""
LISTS: dict[str, Any] = {
    "mnemosyne_get_stats": {},
    "mempalace_status": {},
    "mempalace_list_rooms": {},
    "mempalace_list_drawers": {},
    "mem-history": {},
}


def first(value: Any, path: tuple[str, ...]) -> str:
    for name in path:
        value = value[0] if isinstance(value, list) else value
        value = value[name]
    return str(value)


@pytest.mark.parametrize("tool", ["mnemosyne_triple_add", "mempalace_kg_add"])
@pytest.mark.parametrize("search", SEARCHES)
def test_a_stated_fact_is_the_first_answer(ask: Ask, tool: str, search: str) -> None:
    ask("mnemosyne_remember", content="I want to live authentically.")
    ask(tool, **CAROLINE)
    reply = ask(search, query="where does Caroline live?")
    assert "Caroline lives in Madrid." in first(reply, SEARCHES[search])


@pytest.mark.parametrize("search", [name for name in SEARCHES if name != "sessions_recall"])
def test_a_superseded_value_comes_second_and_says_when_it_held(ask: Ask, host: Host, search: str) -> None:
    ask("mempalace_kg_add", **CAROLINE, valid_from="2024-05-01")
    given = {"subject": "Caroline", "predicate": "lives_in", "old_object": "Madrid", "new_object": "Porto"}
    assert not answered(host, "mempalace_kg_supersede", {**given, "at": "2026-02-01"}).is_error
    *path, name = SEARCHES[search]
    held = ask(search, query="where does Caroline live?")
    for part in path:
        held = held[part]
    assert [each[name] for each in held] == [
        "Caroline lives in Porto.",
        "Caroline lives in Madrid (from 2024-05-01 until 2026-01-31).",
    ]


@pytest.mark.parametrize("tool", LISTS)
def test_a_fact_is_in_no_list_of_memories(ask: Ask, tool: str) -> None:
    ask("mnemosyne_remember", content="A note.")
    before = ask(tool, **LISTS[tool])
    ask("mnemosyne_triple_add", **CAROLINE)
    after = ask(tool, **LISTS[tool])
    assert drawers(after) == drawers(before)
    assert "Caroline" not in str(after)


def drawers(reply: Any) -> Any:
    """Return the numbers in a reply that count memories."""
    if isinstance(reply, dict):
        counted = ("total_drawers", "total", "drawers", "count", "working", "total_memories", "observations")
        return {name: reply[name] for name in counted if name in reply}
    return len(reply)


def test_a_fact_of_no_memory_names_none(ask: Ask) -> None:
    ask("mempalace_kg_add", **CAROLINE)
    [fact] = ask("mempalace_kg_query", entity="Caroline")["facts"]
    assert fact["source_drawer_id"] is None
    [triple] = ask("mnemosyne_triple_query", subject="Caroline")["results"]
    assert triple["memory_id"] is None


def test_a_correction_through_a_toolset_corrects_the_fact(ask: Ask) -> None:
    id = ask("mempalace_kg_add", **CAROLINE)["triple_id"]
    ask("mnemosyne_update", memory_id=id, content="Caroline lives in Lisbon.")
    [fact] = ask("mempalace_kg_query", entity="Caroline")["facts"]
    assert fact["object"] == "Lisbon"
    ask("mnemosyne_forget", memory_id=id)
    assert ask("mempalace_kg_query", entity="Caroline")["facts"] == []
