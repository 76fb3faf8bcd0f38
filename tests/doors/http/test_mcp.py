"""MCP over HTTP: the same tools, for authorised callers, in the bank of the URL."""

import threading
from collections.abc import Iterator
from typing import Any

import anyio
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
    later,
    listening,
    right,
)
from tests.waiting import soon

from pieria import Bank
from pieria.doors.http.service import CALLS_AT_ONCE
from pieria.toolsets import Access, registry

WORK = "/mcp/all?bank=work"


@pytest.fixture
def live() -> Iterator[Served]:
    with listening() as (served, _):
        yield served


async def listing(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_tools_are_served_and_share_banks_with_http(live: Served, mode: str) -> None:
    toolset = registry().toolsets["mnemosyne"]
    assert asked(live, "/mcp/mnemosyne", listing, mode=mode) == [tool.name for tool in toolset.tools]
    assert asked(live, "/mcp/all", listing, mode=mode) == registry().names
    assert asked(live, "/mcp/all", calling(READS, query="JWT"), mode=mode).meta["pieria/bank"] == "default"
    kept = asked(live, "/mcp/mnemosyne?bank=work", calling(WRITES, content="We chose JWT."), mode=mode)
    assert not kept.is_error
    assert live.client.get("/v1/banks").json() == {"banks": ["default", "work"]}
    found = live.client.post("/v1/banks/work/recall", json={"query": "JWT"}).json()
    assert [hit["memory"]["text"] for hit in found["hits"]] == ["We chose JWT."]
    again = asked(live, "/mcp/all", calling(READS, query="JWT"), mode=mode, **{"X-Pieria-Bank": "work"})
    assert again.structured_content["count"] == 1
    assert f'pieria_calls_total{{toolset="mnemosyne",tool="{WRITES}"}} 1' in live.client.get("/metrics").text
    wrong = asked(live, WORK, calling(WRITES, content="heron", nothing={"id": None}), mode=mode)
    assert "nothing" in wrong.content[0].text, "arguments may hold any id"


def test_every_tool_is_refused_without_the_right(live: Served) -> None:
    """A token may call no tool in other banks, and in its own bank no tool above its access."""
    live.client.post("/v1/banks/work/memories", json={"text": "We chose JWT."})
    before = live.head("work")

    async def call_each(client: Client) -> dict[str, str]:
        return {name: str((await client.call_tool(name, right(tool))).content[0]) for name, tool in called.items()}

    for level in Access:
        for bank, reasons in (("elsewhere", ("wrong_bank",)), ("work", ("read_only", "not_admin"))):
            above = {tool.name: tool for _, tool in registry() if tool.access > level}
            called = above if bank == "work" else {READS: registry().found(READS)[1], **above}
            replies = asked(live, f"/mcp/all?bank={bank}", call_each, **live.token(level.name, "work"))
            for name, reply in replies.items():
                assert any(reason in reply for reason in reasons), (name, reply)
            assert replies.keys() == called.keys()
    assert live.head("work") == before
    assert live.service.banks.names() == ["work"]
    assert WRITES not in asked(live, WORK, listing, **live.token("read", "work"))
    assert not asked(live, WORK, calling(WRITES, content="x"), **live.token("write", "work")).is_error


def test_expired_tokens_and_wrong_requests_are_refused(live: Served) -> None:
    assert live.client.get("/mcp/all").status_code == 405
    assert live.client.post("/mcp/nothing", json={}).status_code == 404
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for id in ("null", "1.5", "true", "false", "{}", '["a"]'):
        message = f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/list"}}'
        answer = live.client.post("/mcp/all", content=message, headers=headers)
        assert (answer.status_code, answer.json()["id"], answer.json()["error"]["code"]) == (400, None, -32600), id
    expired = live.token("admin", "work", expires="2999-01-01")
    later(live)
    answer = live.client.post(WORK, json={}, headers=expired)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (401, "expired")


def test_a_tool_that_reads_creates_no_bank(live: Served) -> None:
    headers = live.token("admin", "work")
    for bank in ({}, {"X-Pieria-Bank": "Work"}):
        found = asked(live, WORK, calling(READS, query="JWT"), **headers, **bank)
        assert found.is_error and "not" in found.content[0].text and "found" in found.content[0].text
    assert live.client.get("/v1/banks", headers=headers).json() == {"banks": []}
    assert not (live.service.workspace.data / "work.db").exists()


def test_a_session_is_closed_to_other_tokens(live: Served) -> None:
    one, other = live.token("write", "work"), live.token("write", "work")
    kept = asked(live, WORK, calling(SCRATCH_WRITE, content="a plan", _meta={"session": "s1"}), **one)
    for named in ("s1", kept.meta["pieria/session"]):
        reads = calling(SCRATCH_READ, _meta={"session": named})
        assert "a plan" in asked(live, WORK, reads, **one).content[0].text
        assert "a plan" not in asked(live, WORK, reads, **other).content[0].text


@pytest.mark.slow
def test_abandoned_calls_keep_their_places_until_they_end(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """All MCP servers and the routes share the places."""
    go, begun, recall = threading.Event(), [], Bank.recall

    def slow(self: Bank, *args: Any, **kwargs: Any) -> Any:
        begun.append(args)
        go.wait(60)
        return recall(self, *args, **kwargs)

    async def leaves(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, READS, {"query": "JWT"})
            with anyio.fail_after(60):
                while len(begun) < CALLS_AT_ONCE:
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()

    def waiting() -> int:
        return live.service.places._free.statistics().tasks_waiting

    live.client.post("/v1/banks/notes/memories", json={"text": "We chose JWT."})
    monkeypatch.setattr(Bank, "recall", slow)
    callers = [threading.Thread(target=asked, args=(live, path, leaves)) for path in ("/mcp/all", "/mcp/mnemosyne") * 8]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    soon(lambda: waiting() == 0)
    assert len(begun) == CALLS_AT_ONCE
    question = {"json": {"query": "JWT"}}
    late = threading.Thread(target=live.client.post, args=("/v1/banks/notes/recall",), kwargs=question)
    late.start()
    soon(lambda: waiting() == 1)
    assert len(begun) == CALLS_AT_ONCE
    go.set()
    late.join(PATIENCE)
    assert len(begun) == CALLS_AT_ONCE + 1
