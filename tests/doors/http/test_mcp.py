"""MCP over HTTP: the same tools, for authorised callers, in the bank of the URL."""

import threading
import time
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

from pieria import Bank
from pieria.doors.http.service import CALLS_AT_ONCE
from pieria.toolsets import Access, registry

MODES = ("auto", "legacy")


@pytest.fixture
def live() -> Iterator[Served]:
    with listening() as (served, _):
        yield served


async def listing(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", MODES)
def test_each_toolset_and_all_of_them_are_served(live: Served, mode: str) -> None:
    for name, toolset in registry().toolsets.items():
        assert asked(live, f"/mcp/{name}", listing, mode=mode) == [tool.name for tool in toolset.tools]
    assert asked(live, "/mcp/all", listing, mode=mode) == registry().names


@pytest.mark.parametrize("mode", MODES)
def test_what_is_kept_through_mcp_is_found_through_http(live: Served, mode: str) -> None:
    kept = asked(live, "/mcp/mnemosyne?bank=work", calling(WRITES, content="We chose JWT."), mode=mode)
    assert not kept.is_error
    assert live.client.get("/v1/banks").json() == {"banks": ["work"]}
    found = live.client.post("/v1/banks/work/recall", json={"query": "JWT"}).json()
    assert [hit["memory"]["text"] for hit in found["hits"]] == ["We chose JWT."]
    again = asked(live, "/mcp/all", calling(READS, query="JWT"), mode=mode, **{"X-Pieria-Bank": "work"})
    assert again.structured_content["count"] == 1
    assert f'pieria_calls_total{{toolset="mnemosyne",tool="{WRITES}"}} 1' in live.client.get("/metrics").text


def test_a_token_holds_for_mcp_as_well(live: Served) -> None:
    reader, stranger = live.token("read", "work"), live.token("write", "other")
    writer = live.token("write", "work")
    work = calling(WRITES, content="We chose JWT.")
    assert WRITES not in asked(live, "/mcp/all?bank=work", listing, **reader)
    for headers, reason in ((reader, "read_only"), (stranger, "wrong_bank")):
        refused = asked(live, "/mcp/all?bank=work", work, **headers)
        assert refused.is_error
        assert reason in refused.content[0].text
    assert not asked(live, "/mcp/all?bank=work", work, **writer).is_error


@pytest.mark.parametrize("access", [access.name for access in Access])
@pytest.mark.parametrize("mode", MODES)
def test_every_tool_is_refused_to_a_token_that_does_not_allow_it(live: Served, mode: str, access: str) -> None:
    """A token may call no tool in other banks, and in its own bank no tool above its access."""
    held = live.token(access, "work")
    before = live.head("work")
    level = Access[access]

    async def call_each(client: Client) -> dict[str, str]:
        return {
            tool.name: str((await client.call_tool(tool.name, right(tool))).content[0])
            for _, tool in registry()
            if not here or tool.access > level
        }

    for here, bank in ((False, "elsewhere"), (True, "work")):
        replies = asked(live, f"/mcp/all?bank={bank}", call_each, mode=mode, **held)
        reasons = ("read_only", "not_admin") if here else ("wrong_bank",)
        for name, reply in replies.items():
            assert any(reason in reply for reason in reasons), (name, reply)
        assert len(replies) == sum(not here or tool.access > level for _, tool in registry())
    assert live.head("work") == before
    assert live.service.banks.names() == ["work"]


def test_an_expired_token_is_no_token(live: Served) -> None:
    expired = live.token("admin", "work", expires="2999-01-01")
    later(live)
    answer = live.client.post("/mcp/all?bank=work", json={}, headers=expired)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (401, "expired")


@pytest.mark.parametrize("access", [access.name for access in Access])
def test_a_tool_that_reads_makes_no_bank(live: Served, access: str) -> None:
    headers = live.token(access, "work")
    for bank in ({}, {"X-Pieria-Bank": "Work"}):
        found = asked(live, "/mcp/all?bank=work", calling(READS, query="JWT"), **headers, **bank)
        assert found.is_error
        assert "not_found" in found.content[0].text or "not found" in found.content[0].text
    assert live.client.get("/v1/banks", headers=headers).json() == {"banks": []}
    assert not (live.service.workspace.data / "work.db").exists()


def test_a_session_is_between_tokens_through_mcp_as_well(live: Served) -> None:
    one, other = live.token("write", "work"), live.token("write", "work")
    kept = asked(live, "/mcp/all?bank=work", calling(SCRATCH_WRITE, content="a plan", _meta={"session": "s1"}), **one)
    given = kept.meta["pieria/session"]
    for named in ("s1", given):
        reads = calling(SCRATCH_READ, _meta={"session": named})
        assert "a plan" in asked(live, "/mcp/all?bank=work", reads, **one).content[0].text
        assert "a plan" not in asked(live, "/mcp/all?bank=work", reads, **other).content[0].text


def test_there_is_nothing_to_listen_to_and_no_other_toolset(live: Served) -> None:
    assert live.client.get("/mcp/all").status_code == 405
    assert live.client.post("/mcp/nothing", json={}).status_code == 404


def test_whoever_goes_away_lets_no_more_calls_in_than_there_are_places(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
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
            await anyio.sleep(0.3)
            tasks.cancel_scope.cancel()

    live.client.post("/v1/banks/notes/memories", json={"text": "We chose JWT."})
    monkeypatch.setattr(Bank, "recall", slow)
    callers = [threading.Thread(target=asked, args=(live, path, leaves)) for path in ("/mcp/all", "/mcp/mnemosyne") * 8]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    until_in_line(live, 0)
    assert len(begun) == CALLS_AT_ONCE
    waiting = threading.Thread(
        target=live.client.post, args=("/v1/banks/notes/recall",), kwargs={"json": {"query": "JWT"}}
    )
    waiting.start()
    until_in_line(live, 1)
    assert len(begun) == CALLS_AT_ONCE
    go.set()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
    assert len(begun) == CALLS_AT_ONCE + 1


def until_in_line(served: Served, number: int) -> None:
    """Wait until that many calls wait for a place."""
    deadline = time.monotonic() + PATIENCE
    while served.service.places._free.statistics().tasks_waiting != number:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("id", ["null", "1.5", "true", "false", "{}", '["a"]'])
def test_an_id_that_is_none_is_answered_with_an_error(live: Served, id: str) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    message = f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/list"}}'
    answer = live.client.post("/mcp/all", content=message, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["id"] is None
    assert answer.json()["error"]["code"] == -32600


def test_arguments_may_hold_any_id(live: Served) -> None:
    reply = asked(live, "/mcp/all?bank=work", calling(WRITES, content="heron", nothing={"id": None}))
    assert "nothing" in reply.content[0].text
