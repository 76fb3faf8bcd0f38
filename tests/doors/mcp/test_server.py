"""The server in this process: misbehaving tools, progress, and cancelled calls."""

import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.doors.mcp.conftest import ERAS

from pieria.doors.lanes import Places
from pieria.doors.mcp.server import server_for
from pieria.errors import AccessError
from pieria.toolsets import Access, Banks, Host, Paths, Registry, Tool
from pieria.toolsets.registry import toolset_in
from pieria.workspace import Workspace

Questions = Callable[[Client], Awaitable[None]]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    banks = Banks(Workspace(tmp_path), "mcp")
    yield Host(banks, "odd", "s1", Paths(tmp_path, (tmp_path,)))
    banks.close()


def asked(host_of: Callable[[Any, Tool], Host], mode: Any, questions: Questions, **more: Any) -> None:
    async def run() -> None:
        server = server_for(Registry([toolset_in("tests.doors.mcp.odd")]), host_of, "1", **more)
        with anyio.fail_after(60):
            async with Client(server, mode=mode) as client:
                await questions(client)

    anyio.run(run)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("tool", ["odd_fault", "odd_thing", "odd_nan"])
def test_a_fault_of_a_tool_is_a_reply_that_gives_nothing_away(host: Host, mode: str, tool: str) -> None:
    async def calls(client: Client) -> None:
        reply = await client.call_tool(tool, {})
        assert reply.is_error
        assert reply.structured_content["error"]["code"] == "unknown_error"
        assert "secret" not in json.dumps(reply.structured_content)

    asked(lambda *_: host, mode, calls)


def test_half_a_character_is_replaced_on_the_wire(host: Host) -> None:
    async def calls(client: Client) -> None:
        assert (await client.call_tool("odd_half", {})).structured_content == {"name": "caf?"}

    asked(lambda *_: host, "auto", calls)


@pytest.mark.parametrize("mode", ERAS)
def test_a_list_stands_in_an_object(host: Host, mode: str) -> None:
    async def calls(client: Client) -> None:
        reply = await client.call_tool("odd_list", {})
        assert reply.structured_content == {"result": [1, 2]}
        assert json.loads(reply.content[0].text) == [1, 2]  # type: ignore[union-attr]

    asked(lambda *_: host, mode, calls)


def test_what_finding_the_host_raises_is_the_reply(host: Host) -> None:
    def refuses(*_: Any) -> Host:
        raise AccessError("wrong_bank")

    def breaks(*_: Any) -> Host:
        raise KeyError("the secret of the door")

    async def is_refused(client: Client) -> None:
        reply = await client.call_tool("odd_list", {})
        assert reply.is_error
        assert reply.structured_content["error"]["reason"] == "wrong_bank"
        assert not [key for key in reply.meta or {} if key.startswith("pieria/")]

    async def fails(client: Client) -> None:
        reply = await client.call_tool("odd_list", {})
        assert reply.structured_content["error"]["code"] == "unknown_error"
        assert "secret" not in json.dumps(reply.structured_content)

    asked(refuses, "auto", is_refused)
    asked(breaks, "auto", fails)


def test_a_caller_is_shown_what_they_may_call(host: Host) -> None:
    async def lists(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "odd_list" in names
        assert "odd_fill" not in names

    asked(lambda *_: host, "auto", lists, access_of=lambda _: Access.read)


@pytest.mark.parametrize("mode", ERAS)
def test_progress_is_told_to_whoever_asks(host: Host, mode: str) -> None:
    told: list[tuple[float, float | None]] = []

    async def notice(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async def calls(client: Client) -> None:
        await client.call_tool("odd_work", {"steps": 5}, progress_callback=notice)
        assert told[-1] == (5.0, 5.0)
        assert [done for done, _ in told] == sorted({done for done, _ in told})
        assert len(told) >= 3
        told.clear()
        await client.call_tool("odd_work", {"steps": 5})
        assert told == []

    asked(lambda *_: host, mode, calls)


@pytest.mark.parametrize("mode", ERAS)
def test_a_call_that_is_cancelled_stops_where_it_tells_its_progress(host: Host, mode: str) -> None:
    steps: list[float] = []

    async def cancels(client: Client) -> None:
        scope = anyio.CancelScope()

        async def notice(progress: float, total: float | None, message: str | None) -> None:
            steps.append(progress)
            scope.cancel()

        with scope:
            await client.call_tool("odd_work", {"steps": 1000}, progress_callback=notice)
        assert scope.cancelled_caught
        reply = await client.call_tool("odd_list", {})
        assert not reply.is_error
        reached = len(steps)
        await anyio.sleep(0.5)
        assert len(steps) <= reached + 1

    asked(lambda *_: host, mode, cancels)


def test_calls_run_side_by_side(host: Host) -> None:
    together = threading.Barrier(8)

    def waits(context: Any, tool: Tool) -> Host:
        together.wait(20)
        return host

    async def calls(client: Client) -> None:
        async def call() -> None:
            assert not (await client.call_tool("odd_list", {})).is_error

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(call)

    asked(waits, "auto", calls)


def test_a_call_that_is_given_up_counts_until_it_is_over(host: Host) -> None:
    go, begun = threading.Event(), []

    def waits(context: Any, tool: Tool) -> Host:
        begun.append(context)
        go.wait(20)
        return host

    async def calls(client: Client) -> None:
        for _ in range(3):
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(client.call_tool, "odd_list", {})
                while len(begun) < 4:
                    await anyio.sleep(0.01)
                await anyio.sleep(0.3)
                tasks.cancel_scope.cancel()
        assert len(begun) == 4
        go.set()
        with anyio.fail_after(10):
            assert not (await client.call_tool("odd_list", {})).is_error
        assert len(begun) == 5

    asked(waits, "auto", calls, places=Places(4))


def test_work_that_is_given_up_before_it_begins_leaves_its_place() -> None:
    async def run() -> None:
        places = Places(1)
        for _ in range(50):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await places.run(lambda: None, abandoned=True)
        with anyio.fail_after(5):
            assert await places.run(lambda: "done") == "done"

    anyio.run(run)


def test_a_thread_that_outlives_its_server_ends_quietly(caplog: pytest.LogCaptureFixture) -> None:
    go = threading.Event()

    def work() -> None:
        go.wait(10)

    async def run() -> None:
        with anyio.move_on_after(0.2):
            await Places(1).run(work, abandoned=True)
        threading.Timer(0.5, go.set).start()

    anyio.run(run)
    time.sleep(1)
    assert caplog.records == []
