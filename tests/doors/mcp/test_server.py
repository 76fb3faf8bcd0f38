"""The server in this process, with the official client: lists, replies, sessions, progress, and odd tools."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from tests.doors.mcp.conftest import ERAS, asked

from pieria.doors.lanes import Places
from pieria.doors.mcp.server import server_for, session_of
from pieria.doors.mcp.stdio import Asked, Engine
from pieria.errors import AccessError, InputError
from pieria.toolsets import Access, Banks, Host, Paths, Registry, Tool, registry
from pieria.toolsets.registry import toolset_in
from pieria.workspace import Workspace

REMEMBER, RECALL = "mnemosyne_remember", "mnemosyne_recall"
both_eras = pytest.mark.parametrize("mode", ERAS)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Yield a function that makes the server of `pieria mcp` with these options, without its process."""
    engines = []

    def made(read_only: bool = False, **settings: Any) -> Any:
        options = Asked(str(tmp_path / "data"), {"bank": None, "session": None, **settings}, read_only)
        engines.append(Engine(options))
        return server_for(registry(), engines[-1].host, "1", access_of=lambda _: options.access)

    yield made
    for each in engines:
        each.close()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    banks = Banks(Workspace(tmp_path), "mcp")
    yield Host(banks, "odd", "s1", Paths(tmp_path, (tmp_path,)))
    banks.close()


def odd_server(host_of: Callable[[Any, Tool], Host], **more: Any) -> Any:
    return server_for(Registry([toolset_in("tests.doors.mcp.odd")]), host_of, "1", **more)


@both_eras
def test_tools_are_listed_and_called_as_their_toolsets_say(engine: Callable[..., Any], mode: str) -> None:
    async def questions(client: Client) -> None:
        assert client.server_info is not None and client.server_info.name == "pieria"
        for taught in ("mnemosyne_recall before you answer", "mnemosyne_remember as soon as"):
            assert taught in (client.instructions or "")
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == registry().names
        for tool in listed:
            _, ours = registry().found(tool.name)
            assert (tool.input_schema, tool.description) == (ours.input_schema, ours.description)
            assert tool.annotations is not None
            assert tool.annotations.model_dump(by_alias=True, exclude_none=True) == ours.annotations
        for scope in ("bank", "session"):
            given = {"content": f"The retry queue holds payments of the {scope}.", "scope": scope}
            reply = await client.call_tool(REMEMBER, given)
            (block,) = reply.content
            assert block.type == "text" and json.loads(block.text) == reply.structured_content
            where = {key: value for key, value in (reply.meta or {}).items() if key.startswith("pieria/")}
            assert where == {"pieria/bank": "shop", "pieria/session": "s1", "pieria/scope": scope}
        reply = await client.call_tool(RECALL, {"qery": "tea", "top_k": 0})
        assert reply.is_error and (reply.meta or {})["pieria/bank"] == "shop"
        violations = reply.structured_content["error"]["violations"]
        assert {one["parameter"] for one in violations} == {"qery", "query", "top_k"}
        with pytest.raises(MCPError, match=r"Did you mean mnemosyne_remember\?") as refused:
            await client.call_tool("mnemosyne_remembr", {"content": "tea"})
        assert refused.value.code == -32602

    asked(engine(bank="shop", session="s1"), questions, mode)


def test_a_read_only_server_allows_only_reading(engine: Callable[..., Any], tmp_path: Path) -> None:
    async def writes(client: Client) -> None:
        await client.call_tool(REMEMBER, {"content": "Maya prefers tea."})

    async def reads(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert RECALL in names and not {REMEMBER, "mnemosyne_forget", "mnemosyne_export"} & set(names)
        assert (await client.call_tool(RECALL, {"query": "Maya"})).structured_content["count"] == 1
        refused = await client.call_tool(REMEMBER, {"content": "Maya prefers coffee."})
        assert refused.is_error and refused.structured_content["error"]["reason"] == "read_only"

    async def of_nobody(client: Client) -> None:
        refused = await client.call_tool(RECALL, {"query": "Maya"})
        assert refused.is_error
        assert refused.structured_content["error"]["message"] == "bank 'nobody' not found"

    asked(engine(), writes)
    asked(engine(read_only=True), reads)
    asked(engine(read_only=True, bank="nobody"), of_nobody)
    assert [path.name for path in (tmp_path / "data").glob("*.db")] == ["default.db"]


def test_wrong_settings_are_the_reply_until_mended(engine: Callable[..., Any], tmp_path: Path) -> None:
    settings = tmp_path / "data" / "pieria.toml"
    settings.parent.mkdir()
    settings.write_text("bnak = 'notes'\n")

    async def calls(client: Client) -> None:
        for _ in range(2):
            refused = await client.call_tool(RECALL, {"query": "Maya"})
            assert refused.is_error and "unknown setting 'bnak'" in refused.structured_content["error"]["message"]
        settings.write_text("bank = 'notes'\n")
        mended = await client.call_tool(RECALL, {"query": "Maya"})
        assert (mended.meta or {})["pieria/bank"] == "notes"

    asked(engine(), calls)


# --- sessions


def test_a_call_is_in_the_session_that_is_named(engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    async def calls(client: Client) -> None:
        metas: tuple[Any, ...] = ({"session": "mine"}, {"pieria/session": "mine"}, None, None)
        for meta in metas:
            reply = await client.call_tool(RECALL, {"query": "tea"}, meta=meta)
            seen.append((reply.meta or {})["pieria/session"])
        wrong: Any = {"session": 5}
        refused = await client.call_tool(RECALL, {"query": "tea"}, meta=wrong)
        seen.append(refused.is_error and refused.structured_content["error"].get("parameter"))

    for _ in range(2):
        asked(engine(), calls)
    own, other = seen[2], seen[7]
    assert seen == ["mine", "mine", own, own, "_meta.session", "mine", "mine", other, other, "_meta.session"]
    assert "mine" != own != other
    seen.clear()
    monkeypatch.setenv("PIERIA_SESSION", "from the environment")
    asked(engine(), calls)
    asked(engine(session="from the line"), calls)
    assert seen == [*["from the environment"] * 4, False, *["from the line"] * 4, False]


def test_memories_of_a_session_are_not_found_in_another(host: Host) -> None:
    async def calls(client: Client) -> None:
        one: Any = {"session": "one"}
        two: Any = {"session": "two"}
        await client.call_tool("odd_keep", {"text": "Our tea is in the blue tin."}, meta=one)
        for meta, found in ((one, 1), (two, 0)):
            reply = await client.call_tool("odd_find", {"query": "tea tin"}, meta=meta)
            assert reply.structured_content == {"found": found}

    asked(odd_server(lambda context, _: host.having(session=session_of(context))), calls)


def test_a_session_is_named_by_header_or_call() -> None:
    def request(header: str | None = None, **meta: Any) -> Any:
        headers = {} if header is None else {"mcp-session-id": header}
        return SimpleNamespace(request=SimpleNamespace(headers=headers), meta=meta)

    assert session_of(request("from the header", session="mine")) == "from the header"
    assert session_of(request(session="mine")) == "mine"
    assert session_of(request()) is session_of(SimpleNamespace(request=None, meta=None)) is None
    for wrong in (5, "", "  ", ["a"], {"a": 1}, "a\nb", "x" * 1000, True):
        with pytest.raises(InputError) as refused:
            session_of(request(session=wrong))
        assert refused.value.parameter == "_meta.session"


# --- odd tools


@both_eras
def test_replies_of_odd_tools_are_made_safe(host: Host, mode: str) -> None:
    async def calls(client: Client) -> None:
        for tool in ("odd_fault", "odd_thing", "odd_nan"):
            reply = await client.call_tool(tool, {})
            assert reply.is_error and reply.structured_content["error"]["code"] == "unknown_error"
            assert "secret" not in json.dumps(reply.structured_content)
        assert (await client.call_tool("odd_half", {})).structured_content == {"name": "caf?"}
        reply = await client.call_tool("odd_list", {})
        assert reply.structured_content == {"result": [1, 2]}
        assert json.loads(reply.content[0].text) == [1, 2]  # type: ignore[union-attr]

    asked(odd_server(lambda *_: host), calls, mode)


def test_errors_of_finding_the_host_are_the_reply(host: Host) -> None:
    def refuses(*_: Any) -> Host:
        raise AccessError("wrong_bank")

    def breaks(*_: Any) -> Host:
        raise KeyError("the secret of the door")

    async def is_refused(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "odd_list" in names and "odd_fill" not in names
        reply = await client.call_tool("odd_list", {})
        assert reply.is_error and reply.structured_content["error"]["reason"] == "wrong_bank"
        assert not [key for key in reply.meta or {} if key.startswith("pieria/")]

    async def fails(client: Client) -> None:
        reply = await client.call_tool("odd_list", {})
        assert reply.structured_content["error"]["code"] == "unknown_error"
        assert "secret" not in json.dumps(reply.structured_content)

    asked(odd_server(refuses, access_of=lambda _: Access.read), is_refused)
    asked(odd_server(breaks), fails)


@both_eras
def test_progress_is_reported_and_stops_a_cancelled_call(host: Host, mode: str) -> None:
    told: list[tuple[float, float | None]] = []

    async def calls(client: Client) -> None:
        async def notice(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total))
            if total == 1_000:
                scope.cancel()

        await client.call_tool("odd_work", {"steps": 3}, progress_callback=notice)
        assert told[-1] == (3.0, 3.0)
        assert [done for done, _ in told] == sorted({done for done, _ in told}) and len(told) >= 2
        told.clear()
        await client.call_tool("odd_work", {"steps": 1})
        assert told == []
        with anyio.CancelScope() as scope:
            await client.call_tool("odd_work", {"steps": 1_000}, progress_callback=notice)
        assert scope.cancelled_caught
        assert not (await client.call_tool("odd_list", {})).is_error
        reached = len(told)
        await client.call_tool("odd_work", {"steps": 3})
        assert len(told) <= reached + 1

    asked(odd_server(lambda *_: host), calls, mode)


def test_calls_run_side_by_side_and_hold_their_places(host: Host) -> None:
    together, go = threading.Barrier(4), threading.Event()
    begun: list[Any] = []

    def waits(context: Any, tool: Tool) -> Host:
        begun.append(context)
        if len(begun) <= 4:
            together.wait(20)
            go.wait(20)
        return host

    places = Places(4)

    async def calls(client: Client) -> None:
        for _ in range(3):
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(client.call_tool, "odd_list", {})
                while len(begun) < 4 or not places._free.statistics().tasks_waiting:
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
        assert len(begun) == 4
        go.set()
        with anyio.fail_after(10):
            assert not (await client.call_tool("odd_list", {})).is_error
        assert len(begun) == 5

    asked(odd_server(waits, places=places), calls)


def test_work_given_up_before_it_begins_leaves_its_place() -> None:
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
    begun, go = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def work() -> None:
        threads.append(threading.current_thread())
        begun.set()
        go.wait(10)

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: Places(1).run(work, abandoned=True))
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()

    anyio.run(run)
    go.set()
    threads[0].join(10)
    assert caplog.records == []
