"""MCP over HTTP: the same tools, for authorised callers, in the bank of the URL."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp import Client
from tests.doors.http.conftest import (
    PATIENCE,
    READS,
    SCRATCH_READ,
    SCRATCH_WRITE,
    WRITES,
    Served,
    asked,
    calling,
    listening,
    right,
)

from pieria.doors.lanes import Places
from pieria.doors.mcp.mounts import Mounts
from pieria.toolsets import Access, registry

WORK = "/mcp/all?bank=work"


async def listing(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_tools_are_served_and_share_banks_with_http(live: Served, mode: str) -> None:
    toolset = registry().toolsets["mnemosyne"]
    assert asked(live, "/mcp/mnemosyne", listing, mode=mode) == [tool.name for tool in toolset.tools]
    assert asked(live, "/mcp/all", listing, mode=mode) == registry().names
    assert asked(live, "/mcp/all", calling(READS, query="JWT"), mode=mode).meta["pieria/bank"] == "default"
    kept = asked(live, "/mcp/mnemosyne?bank=work", calling(WRITES, content="We chose JWT."), mode=mode)
    assert not kept.is_error and live.client.get("/v1/banks").json() == {"banks": ["default", "work"]}
    found = live.client.post("/v1/banks/work/recall", json={"query": "JWT"}).json()
    assert [hit["memory"]["text"] for hit in found["hits"]] == ["We chose JWT."]
    again = asked(live, "/mcp/all", calling(READS, query="JWT"), mode=mode, **{"X-Pieria-Bank": "work"})
    assert again.structured_content["count"] == 1
    assert f'pieria_calls_total{{toolset="mnemosyne",tool="{WRITES}"}} 1' in live.page("/metrics")
    wrong = asked(live, WORK, calling(WRITES, content="heron", nothing={"id": None}), mode=mode)
    assert "nothing" in wrong.content[0].text, "arguments may hold any id"


def test_requests_wait_for_servers_that_are_still_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other routes answer meanwhile, and a stop waits for the thread."""
    begun, may_go_on, make = threading.Event(), threading.Event(), Mounts._make

    def slowly(mounts: Mounts) -> Any:
        begun.set()
        assert may_go_on.wait(PATIENCE)
        return make(mounts)

    monkeypatch.setattr(Mounts, "_make", slowly)
    with listening() as (served, _), ThreadPoolExecutor() as threads:
        try:
            assert begun.wait(PATIENCE) and served.client.get("/health").status_code == 200
            early = threads.submit(asked, served, "/mcp", listing)
            assert served.client.get("/v1/banks").json() == {"banks": []} and not early.done()
        finally:
            may_go_on.set()
        assert early.result() == [tool.name for tool in registry().toolsets["pieria"].tools]


def test_every_tool_is_refused_without_the_right(live: Served) -> None:
    """A token may call no tool in other banks, and in its own bank no tool above its access."""
    live.client.post("/v1/banks/work/memories", json={"text": "We chose JWT."})
    before = live.head("work")

    async def call_each(client: Client) -> dict[str, str]:
        calls = {name: await client.call_tool(name, right(tool)) for name, tool in called.items()}
        return {name: str(reply.structured_content) for name, reply in calls.items()}

    for level in Access:
        for bank, reasons in (("elsewhere", ("wrong_bank",)), ("work", ("read_only", "not_admin"))):
            above = {tool.name: tool for _, tool in registry() if tool.access > level}
            called = above if bank == "work" else {READS: registry().found(READS)[1], **above}
            replies = asked(live, f"/mcp/all?bank={bank}", call_each, **live.token(level.name, "work"))
            for name, reply in replies.items():
                assert any(reason in reply for reason in reasons), (name, reply)
            assert replies.keys() == called.keys()
    assert live.head("work") == before and live.service.banks.names() == ["work"]
    assert WRITES not in asked(live, WORK, listing, **live.token("read", "work"))
    assert not asked(live, WORK, calling(WRITES, content="x"), **live.token("write", "work")).is_error


def test_wrong_requests_are_refused(live: Served) -> None:
    assert live.client.get("/mcp/all").status_code == 405
    assert live.client.post("/mcp/nothing", json={}).status_code == 404
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for id in ("null", "1.5", "true", "false", "{}", '["a"]'):
        message = f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/list"}}'
        answer = live.client.post("/mcp/all", content=message, headers=headers)
        assert (answer.status_code, answer.json()["id"], answer.json()["error"]["code"]) == (400, None, -32600), id


def test_a_session_is_closed_to_other_tokens(live: Served) -> None:
    one, other = live.token("write", "work"), live.token("write", "work")
    kept = asked(live, WORK, calling(SCRATCH_WRITE, content="a plan", _meta={"session": "s1"}), **one)
    for named in ("s1", kept.meta["pieria/session"]):
        reads = calling(SCRATCH_READ, _meta={"session": named})
        assert "a plan" in asked(live, WORK, reads, **one).content[0].text
        assert "a plan" not in asked(live, WORK, reads, **other).content[0].text


def test_mcp_and_the_routes_share_their_places(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    used, run = [], Places.run

    async def noted(places: Places, *args: Any, **kwargs: Any) -> Any:
        used.append(places)
        return await run(places, *args, **kwargs)

    monkeypatch.setattr(Places, "run", noted)
    for path in ("/mcp/all", "/mcp/mnemosyne"):
        asked(live, path, calling(READS, query="JWT"))
    live.client.post("/v1/banks/notes/recall", json={"query": "JWT"})
    assert used == [live.service.places] * 3
