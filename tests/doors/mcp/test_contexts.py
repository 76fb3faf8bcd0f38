"""The context for an agent as a prompt and as a resource, in both eras of the protocol."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.doors.mcp.conftest import ERAS, asked

from pieria.doors.mcp.server import server_for
from pieria.record.clip import estimated_tokens
from pieria.toolsets import Access, Banks, Host, Paths, registry
from pieria.workspace import Workspace

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
def host(banks: Banks, tmp_path: Path) -> Host:
    return Host(banks, "work", "s1", Paths(tmp_path, (tmp_path,)))


def asking(host: Host, questions: Callable[[Client], Awaitable[None]], mode: Any = "auto") -> None:
    asked(server_for(registry(), lambda *_: host, "1"), questions, mode)


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
def test_both_are_listed_and_refuse_wrong_arguments(host: Host, mode: str) -> None:
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
        for wrong, said in (
            ({"qery": "x"}, "qery"),
            ({"budget": "many"}, "budget: expected"),
            ({"budget": "0"}, "budget: expected"),
            ({"keep": "yes"}, "keep"),
            ({"keep": "true", "query": "x"}, "keep"),
            ({"place": "a/b/c"}, "place"),
        ):
            with pytest.raises(MCPError, match=said):
                await prompted(client, **wrong)
        with pytest.raises(MCPError, match="There is: context"):
            await client.get_prompt("contxt", {})
        with pytest.raises(MCPError, match="There is: pieria://context"):
            await client.read_resource("pieria://contexts")

    asking(host, questions, mode)


def test_arguments_mean_the_same_in_both(host: Host) -> None:
    async def questions(client: Client) -> None:
        about = await prompted(client, query="which APIs use JWT?", files="a.py\n/app/src/auth/tokens.py", budget="400")
        assert CHOICE in about
        assert estimated_tokens(about) <= 400
        asked = "query=which+APIs+use+JWT%3F&files=a.py&files=/app/src/auth/tokens.py&budget=400"
        assert await read(client, f"{URI}?{asked}") == about
        reply = await client.get_prompt("context", {})
        tokens = estimated_tokens(reply.messages[0].content.text)  # type: ignore[union-attr]
        where = {"pieria/bank": "work", "pieria/session": "s1", "pieria/tokens": tokens}
        assert (reply.meta or {}).items() >= where.items()

    asking(host, questions)


def test_a_kept_context_is_the_same_until_asked_anew(host: Host) -> None:
    async def questions(client: Client) -> None:
        first = await read(client, f"{URI}?keep=true")
        host.bank.remember("Never deploy on Fridays.", author_type="human")
        assert await read(client, URI) == await prompted(client) == first
        assert "Fridays" in await prompted(client, anew="true")

    asking(host, questions)


def test_a_reader_cannot_keep_a_context(host: Host) -> None:
    async def questions(client: Client) -> None:
        assert RULE in await prompted(client)
        with pytest.raises(MCPError, match="read"):
            await prompted(client, keep="true")

    before = host.bank.changes()[-1].seq
    asking(host.having(access=Access.read), questions)
    assert host.bank.changes()[-1].seq == before


def test_missing_and_empty_banks_are_told_apart(host: Host, banks: Banks) -> None:
    async def missing(client: Client) -> None:
        with pytest.raises(MCPError, match="wrok"):
            await prompted(client)

    async def empty(client: Client) -> None:
        assert (await prompted(client)).startswith("The context is empty: ")

    asking(host.having(bank_name="wrok", is_named=True), missing)
    assert not banks.has("wrok")
    banks.workspace.open("empty").close()
    asking(host.having(bank_name="empty"), empty)


def test_a_fault_gives_nothing_away() -> None:
    def breaks(*_: Any) -> Host:
        raise KeyError("the secret of the door")

    async def questions(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await prompted(client)
        assert "secret" not in str(caught.value)

    asked(server_for(registry(), breaks, "1"), questions)
