"""The server in this process, with the official client: lists, replies, sessions, progress, odd tools and contexts."""

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import anyio
import pytest
from mcp import Client, MCPError
from tests.doors.mcp.conftest import ERAS, asked
from tests.doors.mcp.odd import REGISTRY

import pieria
from pieria.doors.lanes import Places
from pieria.doors.mcp.server import server_for, session_of
from pieria.doors.mcp.stdio import Asked, Engine
from pieria.errors import AccessError, InputError
from pieria.record.clip import estimated_tokens
from pieria.toolsets import Access, Banks, Host, Paths, Tool, registry
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
    return server_for(REGISTRY, host_of, "1", **more)


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
            assert tool.output_schema == ours.output_schema
            assert tool.annotations is not None
            hints = tool.annotations.model_dump(by_alias=True, exclude_none=True)
            assert {**hints, **({} if tool.title is None else {"title": tool.title})} == ours.annotations
        for scope in ("bank", "session"):
            given = {"content": f"The retry queue holds payments of the {scope}.", "scope": scope}
            reply = await client.call_tool(REMEMBER, given)
            (block,) = reply.content
            assert block.type == "text" and json.loads(block.text) == reply.structured_content
            where = {key: value for key, value in (reply.meta or {}).items() if key.startswith("pieria/")}
            assert where == {"pieria/bank": "shop", "pieria/session": "s1", "pieria/scope": scope}
        # The client checks each reply against its schema.
        rooms = await client.call_tool("mempalace_traverse", {"start_room": "note"})
        assert [room["room"] for room in rooms.structured_content["result"]] == ["note"]
        reply = await client.call_tool(RECALL, {"query": "tea", "top_k": 0})
        assert reply.is_error and (reply.meta or {})["pieria/bank"] == "shop"
        assert [one["parameter"] for one in reply.structured_content["error"]["violations"]] == ["top_k"]
        with pytest.raises(MCPError, match=r"Did you mean mnemosyne_remember\?") as refused:
            await client.call_tool("mnemosyne_remembr", {"content": "tea"})
        assert refused.value.code == -32602

    asked(engine(bank="shop", session="s1"), questions, mode)


def test_a_read_only_server_allows_only_reading(engine: Callable[..., Any], tmp_path: Path) -> None:
    async def reads(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert RECALL in names and not {REMEMBER, "mnemosyne_forget", "mnemosyne_export"} & names
        assert (await client.call_tool(RECALL, {"query": "Maya"})).structured_content["count"] == 1
        refused = await client.call_tool(REMEMBER, {"content": "Maya prefers coffee."})
        assert refused.is_error and refused.structured_content["error"]["reason"] == "read_only"

    async def of_nobody(client: Client) -> None:
        refused = await client.call_tool(RECALL, {"query": "Maya"})
        assert refused.is_error and refused.structured_content["error"]["message"] == "bank 'nobody' not found"

    with pieria.open("default", data=tmp_path / "data") as bank:
        bank.remember("Maya prefers tea.")
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


def test_a_call_is_in_the_session_that_is_named(engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    async def calls(client: Client) -> None:
        metas: tuple[Any, ...] = ({"session": "mine"}, {"pieria/session": "mine"}, None, None, {"session": 5})
        for meta in metas:
            reply = await client.call_tool(RECALL, {"query": "tea"}, meta=meta)
            seen.append(reply.is_error or (reply.meta or {})["pieria/session"])

    for _ in range(2):
        asked(engine(), calls)
    own = seen[2]
    assert seen == ["mine", "mine", own, own, True] * 2, "the session must last beyond the process"
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir(Path(__file__).parent)
        asked(engine(), calls)
    assert "mine" != own != seen[-2]
    seen.clear()
    monkeypatch.setenv("PIERIA_SESSION", "from the environment")
    asked(engine(), calls)
    asked(engine(session="from the line"), calls)
    assert seen == [*["from the environment"] * 5, *["from the line"] * 5]


def test_a_session_is_named_by_header_or_call() -> None:
    def session(headers: Any = (), **meta: Any) -> str | None:
        return session_of(SimpleNamespace(request=SimpleNamespace(headers=dict(headers)), meta=meta))

    assert session({"mcp-session-id": "from the header"}, session="mine") == "from the header"
    assert session(session="mine") == "mine"
    assert session() is session_of(SimpleNamespace(request=None, meta=None)) is None
    for wrong in (5, "", "  ", ["a"], {"a": 1}, "a\nb", "x" * 1000, True):
        with pytest.raises(InputError, match=r"_meta\.session"):
            session(session=wrong)


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


def test_errors_of_finding_the_host_are_the_reply() -> None:
    async def calls(client: Client) -> None:
        reply = await client.call_tool("odd_list", {})
        told.append(reply.structured_content["error"])
        assert reply.is_error and not [key for key in reply.meta or {} if key.startswith("pieria/")]

    told: list[Any] = []
    for error in (AccessError("wrong_bank"), KeyError("the secret of the door")):
        asked(odd_server(Mock(side_effect=error)), calls)
    assert (told[0]["reason"], told[1]["code"], "secret" in str(told[1])) == ("wrong_bank", "unknown_error", False)


@both_eras
def test_progress_is_reported_and_stops_a_cancelled_call(host: Host, mode: str) -> None:
    told: list[tuple[float, float | None]] = []

    async def calls(client: Client) -> None:
        async def notice(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total))
            if total == 1_000:
                scope.cancel()

        await client.call_tool("odd_work", {"steps": 3}, progress_callback=notice)
        assert told == sorted({*told}) and told[-1] == (3.0, 3.0) and len(told) >= 2
        told.clear()
        await client.call_tool("odd_work", {"steps": 1})
        assert told == []
        with anyio.CancelScope() as scope:
            await client.call_tool("odd_work", {"steps": 1_000}, progress_callback=notice)
        assert scope.cancelled_caught and not (await client.call_tool("odd_list", {})).is_error
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


RULE = "Always answer in metric units."
CHOICE = "We chose JWT for all new APIs."
URI = "pieria://context"


@pytest.fixture
def banks(tmp_path: Path) -> Iterator[Banks]:
    held = Banks(Workspace(tmp_path, clock=lambda: datetime(2026, 11, 22, tzinfo=UTC)), "mcp")
    with held.workspace.open("work") as bank:
        bank.remember(RULE, author_type="human")
        bank.remember(CHOICE, files=["src/auth/tokens.py"])
    yield held
    held.close()


@pytest.fixture
def work(banks: Banks, tmp_path: Path) -> Host:
    return Host(banks, "work", "s1", Paths(tmp_path, (tmp_path,)))


def asking(work: Host, questions: Callable[[Client], Awaitable[None]], mode: Any = "auto") -> None:
    asked(server_for(registry(), lambda *_: work, "1"), questions, mode)


async def prompted(client: Client, **arguments: str) -> str:
    reply = await client.get_prompt("context", arguments)
    [message] = reply.messages
    assert message.role == "user"
    return str(message.content.text)  # type: ignore[union-attr]


async def read(client: Client, uri: str) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert (content.uri, content.mime_type) == (uri, "text/plain")
    return str(content.text)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ERAS)
def test_both_are_listed_and_refuse_wrong_arguments(work: Host, mode: str) -> None:
    async def questions(client: Client) -> None:
        [prompt] = (await client.list_prompts()).prompts
        assert prompt.name == "context"
        arguments = [argument.name for argument in prompt.arguments or ()]
        [resource] = (await client.list_resources()).resources
        assert resource.uri == URI
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == f"{URI}{{?{','.join(arguments)}}}" and RULE in await prompted(client)
        assert RULE in await read(client, URI)
        wrong = [{"qery": "x"}, {"budget": "many"}, {"budget": "0"}, {"keep": "yes"}, {"place": "a/b/c"}]
        for given in (*wrong, {"keep": "true", "query": "x"}):
            with pytest.raises(MCPError, match=next(iter(given))):
                await prompted(client, **given)
        with pytest.raises(MCPError, match="There is: context"):
            await client.get_prompt("contxt", {})
        with pytest.raises(MCPError, match="There is: pieria://context"):
            await client.read_resource("pieria://contexts")

    asking(work, questions, mode)


def test_arguments_mean_the_same_in_both(work: Host) -> None:
    async def questions(client: Client) -> None:
        about = await prompted(client, query="which APIs use JWT?", files="a.py\n/app/src/auth/tokens.py", budget="400")
        assert CHOICE in about and estimated_tokens(about) <= 400
        asked = "query=which+APIs+use+JWT%3F&files=a.py&files=/app/src/auth/tokens.py&budget=400"
        assert await read(client, f"{URI}?{asked}") == about
        reply = await client.get_prompt("context", {})
        tokens = estimated_tokens(reply.messages[0].content.text)  # type: ignore[union-attr]
        where = {"pieria/bank": "work", "pieria/session": "s1", "pieria/tokens": tokens}
        assert (reply.meta or {}).items() >= where.items()

    asking(work, questions)


def test_a_kept_context_is_the_same_until_asked_anew(work: Host) -> None:
    async def questions(client: Client) -> None:
        first = await read(client, f"{URI}?keep=true")
        work.bank.remember("Never deploy on Fridays.", author_type="human")
        assert await read(client, URI) == await prompted(client) == first
        assert "Fridays" in await prompted(client, anew="true")

    asking(work, questions)


def test_a_reader_cannot_keep_a_context(work: Host) -> None:
    async def questions(client: Client) -> None:
        assert RULE in await prompted(client)
        with pytest.raises(MCPError, match="read"):
            await prompted(client, keep="true")

    before = work.bank.changes()[-1].seq
    asking(work.having(access=Access.read), questions)
    assert work.bank.changes()[-1].seq == before


def test_missing_and_empty_banks_are_told_apart(work: Host, banks: Banks) -> None:
    async def missing(client: Client) -> None:
        with pytest.raises(MCPError, match="wrok"):
            await prompted(client)

    async def empty(client: Client) -> None:
        assert (await prompted(client)).startswith("The context is empty: ")

    asking(work.having(bank_name="wrok", is_named=True), missing)
    assert not banks.has("wrok")
    banks.workspace.open("empty").close()
    asking(work.having(bank_name="empty"), empty)


def test_a_fault_gives_nothing_away() -> None:
    async def questions(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await prompted(client)
        assert "secret" not in str(caught.value)

    asked(server_for(registry(), Mock(side_effect=KeyError("the secret of the door")), "1"), questions)
