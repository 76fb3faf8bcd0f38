"""The context for an agent as a prompt and as a resource, in both eras of the protocol."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.doors.mcp.conftest import ERAS

from pieria.doors.mcp.server import server_for
from pieria.record.clip import estimated_tokens
from pieria.toolsets import Access, Banks, Host, Paths, registry
from pieria.workspace import Workspace

RULE = "Always answer in metric units."
CHOICE = "We chose JWT for all new APIs."
URI = "pieria://context"
Questions = Callable[[Client], Awaitable[None]]


@pytest.fixture
def banks(tmp_path: Path) -> Iterator[Banks]:
    held = Banks(Workspace(tmp_path, clock=lambda: datetime(2026, 11, 22, tzinfo=UTC)), "mcp")
    with held.workspace.open("work") as bank:
        bank.remember(RULE, author_type="human")
        bank.remember(CHOICE, files=["src/auth/tokens.py"])
    yield held
    held.close()


@pytest.fixture
def host(banks: Banks, tmp_path: Path) -> Host:
    return Host(banks, "work", "s1", Paths(tmp_path, (tmp_path,)))


def asked(host: Host, questions: Questions, mode: Any = "auto") -> None:
    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server_for(registry(), lambda *_: host, "1"), mode=mode) as client:
                await questions(client)

    anyio.run(run)


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
def test_both_are_listed_and_told_with_their_arguments(host: Host, mode: str) -> None:
    async def questions(client: Client) -> None:
        [prompt] = (await client.list_prompts()).prompts
        assert prompt.name == "context"
        arguments = [argument.name for argument in prompt.arguments or ()]
        [resource] = (await client.list_resources()).resources
        assert resource.uri == URI
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == f"{URI}{{?{','.join(arguments)}}}"
        assert RULE in await prompted(client)
        assert RULE in await read(client, URI)

    asked(host, questions, mode)


def test_arguments_mean_the_same_in_both(host: Host) -> None:
    async def questions(client: Client) -> None:
        about = await prompted(client, query="which APIs use JWT?", files="a.py\n/app/src/auth/tokens.py", budget="400")
        assert CHOICE in about
        assert estimated_tokens(about) <= 400
        same = await read(
            client, f"{URI}?query=which+APIs+use+JWT%3F&files=a.py&files=/app/src/auth/tokens.py&budget=400"
        )
        assert same == about
        reply = await client.get_prompt("context", {})
        assert reply.meta is not None
        assert reply.meta["pieria/bank"] == "work"
        assert reply.meta["pieria/session"] == "s1"
        assert reply.meta["pieria/tokens"] == estimated_tokens(reply.messages[0].content.text)  # type: ignore[union-attr]

    asked(host, questions)


def test_a_session_that_asks_for_it_is_told_the_same_bytes_again(host: Host) -> None:
    async def questions(client: Client) -> None:
        first = await read(client, f"{URI}?keep=true")
        host.bank.remember("Never deploy on Fridays.", author_type="human")
        assert await read(client, URI) == first
        assert await prompted(client) == first
        assert "Fridays" in await prompted(client, anew="true")

    asked(host, questions)


def test_who_may_only_read_has_nothing_kept(host: Host) -> None:
    async def questions(client: Client) -> None:
        assert RULE in await prompted(client)
        with pytest.raises(MCPError, match="read"):
            await prompted(client, keep="true")

    before = host.bank.changes()[-1].seq
    asked(host.having(access=Access.read), questions)
    assert host.bank.changes()[-1].seq == before


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"qery": "x"}, "qery"),
        ({"budget": "many"}, "budget: expected"),
        ({"budget": "0"}, "budget: expected"),
        ({"keep": "yes"}, "keep"),
        ({"keep": "true", "query": "x"}, "keep"),
        ({"place": "a/b/c"}, "place"),
    ],
)
def test_what_is_wrong_is_told(host: Host, mode: str, arguments: dict[str, str], said: str) -> None:
    async def questions(client: Client) -> None:
        with pytest.raises(MCPError, match=said):
            await prompted(client, **arguments)

    asked(host, questions, mode)


@pytest.mark.parametrize("mode", ERAS)
def test_what_is_not_there_is_told_with_what_is(host: Host, mode: str) -> None:
    async def questions(client: Client) -> None:
        with pytest.raises(MCPError, match="There is: context"):
            await client.get_prompt("contxt", {})
        with pytest.raises(MCPError, match="There is: pieria://context"):
            await client.read_resource("pieria://contexts")

    asked(host, questions, mode)


def test_no_bank_is_made_and_an_empty_one_has_nothing_to_tell(host: Host, banks: Banks) -> None:
    async def missing(client: Client) -> None:
        with pytest.raises(MCPError, match="wrok"):
            await prompted(client)

    asked(host.having(bank_name="wrok", is_named=True), missing)
    assert not banks.has("wrok")

    async def empty(client: Client) -> None:
        assert (await prompted(client)).startswith("The context is empty: ")

    banks.workspace.open("empty").close()
    asked(host.having(bank_name="empty"), empty)


@pytest.mark.parametrize("mode", ERAS)
def test_a_fault_gives_nothing_away(mode: str) -> None:
    def breaks(*_: Any) -> Host:
        raise KeyError("the secret of the door")

    async def run() -> None:
        async with Client(server_for(registry(), breaks, "1"), mode=mode) as client:
            with pytest.raises(MCPError) as caught:
                await prompted(client)
            assert "secret" not in str(caught.value)

    anyio.run(run)
