"""Graphiti and Zep: episodes, entities and facts with times, from files and servers.

`fixtures/graphiti.jsonl` holds what Graphiti 0.31's own classes dump (`model_dump_json` of an edge, an episode, two
entities, a community and an edge of mention), the edge first.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.importers.api import Api, served

from pieria.bank import Bank
from pieria.errors import InputError, TransferError
from pieria.importers import import_from

GRAPHITI = Path(__file__).parent / "fixtures" / "graphiti.jsonl"
EDGE = "a0000000-0000-4000-8000-000000000001"
EPISODE = "e0000000-0000-4000-8000-000000000001"


def records() -> list[dict[str, object]]:
    return [json.loads(line) for line in GRAPHITI.read_text().splitlines()]


def check(bank: Bank) -> None:
    """Check what every form of the fixture becomes."""
    edge, episode = bank.get(EDGE), bank.get(EPISODE)
    assert edge is not None and episode is not None
    assert (edge.text, edge.entities) == ("Alice lived in Bergen", ("Alice", "Bergen"))
    assert edge.times.valid_from is not None and edge.times.valid_until is not None
    assert (edge.times.valid_from.year, edge.times.valid_until.year) == (2020, 2024)
    assert (episode.at.isoformat()[:10], episode.context) == ("2024-05-01", "chat")
    [fact] = bank.facts.query(subject="Alice", history=True)
    assert (fact.predicate, fact.object, fact.source_memory) == ("LIVED_IN", "Bergen", EDGE)
    assert [neighbor.memory.id for neighbor in bank.neighbors(EDGE) if neighbor.memory] == [EPISODE]
    [alice] = [memory for memory in bank.list(kinds="summary") if memory.title == "Alice"]
    assert (alice.text, alice.tags, alice.meta["age"]) == ("Alice lives in Oslo and rows.", ("Person",), 31)


def test_graphiti_records_arrive_whatever_their_order(bank: Bank) -> None:
    tried = import_from(bank, "graphiti", GRAPHITI, dry_run=True)
    report = import_from(bank, "graphiti", GRAPHITI)
    assert tried.memories == report.memories == {"new": 4}
    assert tried.facts == report.facts == {"new": 1} and tried.links == report.links == {"new": 1}
    assert sum(report.left.values()) == 2 and report.well
    check(bank)
    again = import_from(bank, "graphiti", GRAPHITI)
    assert (again.memories, again.facts, again.links) == ({"unchanged": 4}, {"unchanged": 1}, {"unchanged": 1})


def test_apoc_export_is_read(bank: Bank, tmp_path: Path) -> None:
    """Lines as `apoc.export.json.all` writes them: nodes with labels, relationships with both ends."""
    edge, episode, alice, bergen, community, mention = records()
    labels = ((episode, "Episodic"), (alice, "Entity"), (bergen, "Entity"), (community, "Community"))
    lines: list[object] = [
        {"type": "node", "id": str(number), "labels": [label, *(["Person"] if row is alice else [])],
         "properties": {name: value for name, value in row.items() if name not in ("labels", "attributes")}
         | ({"age": 31} if row is alice else {})}
        for number, (row, label) in enumerate(labels)
    ]  # fmt: skip
    for row, label in ((edge, "RELATES_TO"), (mention, "MENTIONS")):
        ends = {end: {"id": "1", "labels": ["Entity"], "properties": {"uuid": row[f"{name}_node_uuid"]}}
                for end, name in (("start", "source"), ("end", "target"))}  # fmt: skip
        kept = {name: value for name, value in row.items() if not name.endswith("node_uuid") and name != "attributes"}
        lines.append({"type": "relationship", "id": "9", "label": label, "properties": kept, **ends})
    path = tmp_path / "apoc.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    report = import_from(bank, "graphiti", path)
    assert report.memories == {"new": 4} and report.facts == {"new": 1} and report.well
    check(bank)


def test_one_group_is_taken_and_broken_records_are_listed(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"nodes": [records()[2], {"name": "x", "summary": "y"}], "edges": [{"fact": "z"}]}))
    report = import_from(bank, "graphiti", path)
    assert report.memories == {"new": 1}
    assert [problem.where for problem in report.problems] == ["graph.json, nodes[1]", "graph.json, edges[0]"]
    with pytest.raises(TransferError, match="nothing to import"):
        import_from(bank, "graphiti", path, user="bob")
    path.write_text('{"chapters": []}')
    with pytest.raises(TransferError, match="nothing to import") as refused:
        import_from(bank, "graphiti", path)
    assert "APOC" in str(refused.value.hint)


@pytest.mark.slow
def test_graphiti_server_lists_episodes_of_a_group(bank: Bank) -> None:
    with served({"GET /episodes/alice": lambda query, _: [records()[1]]}) as api:
        with pytest.raises(InputError, match="user: expected"):
            import_from(bank, "graphiti", api.address)
        report = import_from(bank, "graphiti", api.address, user="alice", token="k")
    assert report.memories == {"new": 1} and len(report.left) == 1
    assert api.seen[0].headers["authorization"] == "Bearer k"


ZEP_EDGE = {"uuid": EDGE, "fact": "Alice lived in Bergen", "name": "LIVED_IN", "source_node_uuid": "s",
            "source_node_name": "Alice", "target_node_uuid": "t", "target_node_name": "Bergen",
            "episode_uuids": [EPISODE], "created_at": "2024-05-02T10:00:00Z", "valid_at": "2020-05-01T10:00:00Z",
            "invalid_at": "2024-05-01T10:00:00Z", "graph_uuid": "g1"}  # fmt: skip
ZEP_EPISODE = {"uuid": EPISODE, "content": "I moved to Oslo.", "source": "message", "source_description": "chat",
               "role": "user", "role_name": "Alice", "thread_uuid": "thread-1", "graph_uuid": "g1",
               "reference_time": "2024-05-01T10:00:00Z", "metadata": {"k": "v"}}  # fmt: skip
ZEP_NODE = {"uuid": "b0000000-0000-4000-8000-000000000001", "name": "Alice", "labels": ["Person"],
            "summary": "Alice lives in Oslo and rows.", "attributes": {"age": 31}, "episode_uuids": [],
            "episode_uuids_truncated": False, "graph_uuid": "g1"}  # fmt: skip


@pytest.mark.slow
def test_zep_is_read_graph_by_graph(bank: Bank) -> None:
    """Its API lists with POST: `items`, `next_cursor` and `total_size`."""

    def listed(*items: object) -> Api:
        def page(query: Mapping[str, str], _: object) -> object:
            at = int(query.get("cursor", "0"))
            more = str(at + 1) if at + 1 < len(items) else None
            return {"items": list(items[at : at + 1]), "next_cursor": more, "total_size": len(items)}

        return page

    users = [{"user_id": "bob", "graph_uuid": "g2"}, {"user_id": "alice", "graph_uuid": "g1"}]
    routes = {
        "POST /api/v4/users/list": listed(*users),
        "POST /api/v4/graphs/list": listed({"uuid": "g1"}),
        "POST /api/v4/graphs/g1/episodes/list": listed(ZEP_EPISODE),
        "POST /api/v4/graphs/g1/nodes/list": listed(ZEP_NODE),
        "POST /api/v4/graphs/g1/edges/list": listed(ZEP_EDGE),
    }
    with served(routes) as api:
        report = import_from(bank, "zep", f"{api.address}/api/v4", user="alice", token="z")
    assert report.memories == {"new": 3} and report.facts == {"new": 1} and report.links == {"new": 1}
    assert {seen.headers["authorization"] for seen in api.seen} == {"Api-Key z"}
    check(bank)
    episode = bank.get(EPISODE)
    assert episode is not None and (episode.kind, episode.session, episode.author) == ("turn", "thread-1", "Alice")


def test_zep_records_saved_as_json_arrive(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "zep.json"
    path.write_text(json.dumps({"edges": [ZEP_EDGE], "episodes": [ZEP_EPISODE], "nodes": [ZEP_NODE]}))
    assert import_from(bank, "zep", path).memories == {"new": 3}
    check(bank)
    assert import_from(bank, "zep", path).memories == {"unchanged": 3}
    path.write_text("[1]")
    with pytest.raises(TransferError, match="nothing to import"):
        import_from(bank, "zep", path)
