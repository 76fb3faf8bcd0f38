"""Problems of users with a real server of the original, tested on a real server of ours, line by line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.mcp.conftest import INITIALIZE, Piped, begun_in
from tests.toolsets.conftest import requirement

import pieria
from pieria.toolsets import registry

Start = Callable[..., "Server"]


class Server:
    def __init__(self, folder: Path) -> None:
        self.piped: Piped = begun_in(folder, "--toolset", "mnemex", "--bank", "notes").begun()

    def __call__(self, tool: str, **arguments: Any) -> Any:
        result = self.piped.call(tool, **arguments)
        assert result["isError"] is False, result
        return result["structuredContent"]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Yield a function that starts a server with these variables."""
    started: list[Server] = []

    def begin(**variables: str) -> Server:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        started.append(Server(tmp_path))
        for name in variables:
            monkeypatch.delenv(name)
        return started[-1]

    yield begin
    for server in started:
        server.piped.close()


@requirement("stdio.all_there", "stdio.protocol_alone")
def test_every_tool_is_listed_and_stdout_is_the_protocol(tmp_path: Path, start: Start) -> None:
    piped = begun_in(tmp_path, "--toolset", "mnemex")
    info = piped.ask("initialize", INITIALIZE)["result"]["serverInfo"]
    piped.send("notifications/initialized")
    assert info["version"] == pieria.__version__
    listed = {tool["name"] for tool in piped.ask("tools/list")["result"]["tools"]}
    assert listed == {tool.name for tool in registry().toolsets["mnemex"].tools}
    id = piped.call("save_memory", content="Use JWT.")["structuredContent"]["memory_id"]
    assert piped.call("observe_memory_usage", memory_ids=[id])["structuredContent"]["reinforced"] is True
    for tool, arguments in (("promote_memory", {"memory_id": id, "force": True}), ("touch_memory", {"memory_id": "x"})):
        refused = piped.call(tool, **arguments)
        assert refused["isError"] is True
        assert refused["structuredContent"]["success"] is False
        assert refused["structuredContent"]["message"]
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in piped.written.splitlines())
    piped.close()


@requirement("settings.effect")
@pytest.mark.slow
def test_every_variable_has_an_effect(tmp_path: Path, start: Start) -> None:
    (tmp_path / "vault").mkdir()
    plain = start()
    long = "We prefer JWT over sessions for each new API of the billing gateway team."
    id = plain("save_memory", content=long, tags=["auth"])["memory_id"]
    plain("save_memory", content=long.replace("billing", "ledger"), tags=["auth"])
    plain("touch_memory", memory_id=id)
    told = start(
        MNEMEX_SEARCH_PREVIEW_LENGTH="10",
        CORTEXGRAPH_ENABLE_PREPROCESSING="false",
        MNEMEX_AUTO_REINFORCE="false",
        MNEMEX_CLUSTER_LINK_THRESHOLD="1",
        MNEMEX_SEMANTIC_HI="1",
        SEARCH_STM_WEIGHT="0",
        MNEMEX_FORGET_THRESHOLD="1",
        MNEMEX_DECAY_BETA="0",
        MNEMEX_PL_HALFLIFE_DAYS="0.00001",
        LTM_VAULT_PATH=str(tmp_path / "vault"),
        LTM_PROMOTED_FOLDER="Kept",
    )
    query = {"query": "JWT for APIs"}
    pairs = {"find_duplicates": True}
    for server, is_set in ((plain, False), (told, True)):
        assert (server("search_memory", **query)["results"][0]["content"] == "We prefer...") is is_set
        content = "Redis is critical." if is_set else "Our deploys are on Kubernetes."
        assert (server("save_memory", content=content)["auto_entities"] == 0) is is_set
        assert (server("observe_memory_usage", memory_ids=[id])["reinforced"] is False) is is_set
        assert (server("cluster_memories")["clusters_found"] == 0) is is_set
        assert (server("cluster_memories", **pairs)["duplicates_found"] == 0) is is_set
        assert (server("search_unified", **query)["count"] == 0) is is_set
        assert (server("gc")["total_affected"] > 0) is is_set
    assert told("promote_memory", memory_id=id, force=True)["promoted_to"].startswith("Kept/")


@requirement("clusters.known", "consolidate.applied", "several.processes")
@pytest.mark.slow
def test_cluster_is_consolidated_by_another_process(tmp_path: Path, start: Start) -> None:
    one, other = start(), start()
    ids = [one("save_memory", content=f"The deploy runs every Friday at noon{end}")["memory_id"] for end in ".!"]
    [cluster] = one("cluster_memories")["clusters"]
    assert {hit["id"] for hit in other("search_memory", query="deploy")["results"]} == set(ids)
    shown = other("consolidate_memories", cluster_id=cluster["id"])
    assert (shown["status"], shown["merged_memory"]["content"]) == ("preview", "The deploy runs every Friday at noon!")
    merged = other("consolidate_memories", cluster_id=cluster["id"], mode="apply")["new_memory_id"]
    assert [hit["id"] for hit in one("search_memory", query="deploy")["results"]] == [merged]
    [opened] = one("open_memories", memory_ids=[merged])["memories"]
    links = {(link["to"], link["type"]) for link in opened["relations"]["outgoing"]}
    assert links == {(id, "consolidated_from") for id in ids}
    with pieria.open("notes", data=tmp_path / "data") as bank:
        assert bank.upkeep.validate().ok
