"""The official client, in both eras of the protocol, with `pieria mcp` as a process."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import anyio.from_thread
import pytest
from mcp import Client, MCPError, StdioServerParameters
from tests.doors.mcp.conftest import ERAS, parameters_in

from pieria.toolsets import registry

Parameters = Callable[..., StdioServerParameters]
Questions = Callable[[Client], Awaitable[None]]
Shop = Callable[[Questions], None]


@pytest.fixture(scope="module", params=ERAS)
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Yield a function that asks a server of the bank `shop` and the session `s1`; tests share it."""
    folder = tmp_path_factory.mktemp("shop")
    server = parameters_in(folder, "--bank", "shop", "--session", "s1")
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=request.param)) as client,
    ):
        yield lambda questions: portal.call(questions, client)


def asked(server: Any, mode: Any, questions: Questions) -> None:
    """Run these questions against a new server."""

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server, mode=mode) as client:
                await questions(client)

    anyio.run(run)


@pytest.mark.parametrize("mode", ERAS)
def test_what_is_remembered_is_recalled_after_a_restart(parameters: Parameters, mode: str) -> None:
    async def remembers(client: Client) -> None:
        reply = await client.call_tool("mnemosyne_remember", {"content": "Maya prefers tea over coffee."})
        assert not reply.is_error
        assert reply.structured_content["status"] == "stored"

    async def recalls(client: Client) -> None:
        reply = await client.call_tool("mnemosyne_recall", {"query": "what does Maya prefer?"})
        assert [hit["content"] for hit in reply.structured_content["results"]] == ["Maya prefers tea over coffee."]

    asked(parameters(), mode, remembers)
    asked(parameters(), mode, recalls)


def test_the_tools_are_listed_as_their_toolsets_have_them(shop: Shop) -> None:
    async def lists(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == registry().names
        for tool in listed:
            _, ours = registry().found(tool.name)
            assert tool.input_schema == ours.input_schema
            assert tool.description == ours.description
            assert tool.annotations is not None
            assert tool.annotations.model_dump(by_alias=True, exclude_none=True) == ours.annotations

    shop(lists)


def test_the_server_says_who_it_is_and_when_to_remember_and_recall(shop: Shop) -> None:
    async def reads(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.name == "pieria"
        assert client.server_info.version
        assert "mnemosyne_recall before you answer" in (client.instructions or "")
        assert "mnemosyne_remember as soon as" in (client.instructions or "")

    shop(reads)


def test_a_reply_is_an_object_and_the_same_in_text_and_says_where_it_was_asked(shop: Shop) -> None:
    async def calls(client: Client) -> None:
        reply = await client.call_tool("mnemosyne_remember", {"content": "The retry queue holds payments."})
        (block,) = reply.content
        assert block.type == "text"
        assert json.loads(block.text) == reply.structured_content
        where = {key: value for key, value in (reply.meta or {}).items() if key.startswith("pieria/")}
        assert where == {"pieria/bank": "shop", "pieria/session": "s1", "pieria/scope": "bank"}
        reply = await client.call_tool("mnemosyne_remember", {"content": "For this session.", "scope": "session"})
        assert (reply.meta or {})["pieria/scope"] == "session"

    shop(calls)


def test_a_tool_says_all_that_is_wrong_with_its_arguments_at_once(shop: Shop) -> None:
    async def errs(client: Client) -> None:
        reply = await client.call_tool("mnemosyne_recall", {"qery": "tea", "top_k": 0})
        assert reply.is_error
        (block,) = reply.content
        assert block.type == "text"
        assert json.loads(block.text) == reply.structured_content
        wrong = reply.structured_content["error"]["violations"]
        assert {one["parameter"] for one in wrong} == {"qery", "query", "top_k"}
        assert (reply.meta or {})["pieria/bank"]

    shop(errs)


def test_an_unknown_tool_is_told_with_the_nearest_name(shop: Shop) -> None:
    async def calls(client: Client) -> None:
        with pytest.raises(MCPError, match=r"Did you mean mnemosyne_remember\?") as refused:
            await client.call_tool("mnemosyne_remembr", {"content": "tea"})
        assert refused.value.code == -32602

    shop(calls)


@pytest.mark.parametrize("mode", ERAS)
def test_a_server_that_only_reads_lists_and_allows_only_what_reads(parameters: Parameters, mode: str) -> None:
    async def writes(client: Client) -> None:
        await client.call_tool("mnemosyne_remember", {"content": "Maya prefers tea."})

    async def reads(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "mnemosyne_recall" in names
        assert not {"mnemosyne_remember", "mnemosyne_forget", "mnemosyne_export"} & set(names)
        assert "only reads" in (client.instructions or "")
        found = await client.call_tool("mnemosyne_recall", {"query": "Maya"})
        assert found.structured_content["count"] == 1
        refused = await client.call_tool("mnemosyne_remember", {"content": "Maya prefers coffee."})
        assert refused.is_error
        assert refused.structured_content["error"]["reason"] == "read_only"

    asked(parameters(), mode, writes)
    asked(parameters("--read-only"), mode, reads)


def test_a_server_that_only_reads_makes_no_bank(parameters: Parameters, tmp_path: Any) -> None:
    async def reads(client: Client) -> None:
        refused = await client.call_tool("mnemosyne_recall", {"query": "Maya"})
        assert refused.is_error
        assert refused.structured_content["error"]["message"] == "bank 'nobody' not found"

    asked(parameters("--read-only", "--bank", "nobody"), "auto", reads)
    assert not list((tmp_path / "data").glob("*.db"))


def test_a_setting_that_is_wrong_is_told_in_reply_to_every_call(parameters: Parameters, tmp_path: Any) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pieria.toml").write_text("bnak = 'notes'\n")

    async def calls(client: Client) -> None:
        for _ in range(2):
            refused = await client.call_tool("mnemosyne_recall", {"query": "Maya"})
            assert refused.is_error
            assert "unknown setting 'bnak'" in refused.structured_content["error"]["message"]
        (tmp_path / "data" / "pieria.toml").write_text("bank = 'notes'\n")
        mended = await client.call_tool("mnemosyne_recall", {"query": "Maya"})
        assert (mended.meta or {})["pieria/bank"] == "notes"

    asked(parameters(), "auto", calls)
