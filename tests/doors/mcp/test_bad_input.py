"""Invalid messages: the server reports the error and continues."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.doors.mcp.conftest import INITIALIZE, PATIENCE, Piped, begun_in

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
REMEMBER = "mnemosyne_remember"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Piped]:
    """One server for all tests: after any message it still answers the next."""
    served = begun_in(tmp_path_factory.mktemp("bad"), "--toolset", "mnemosyne")
    assert "error" in served.ask("tools/list", {}), "a request before the greeting is refused"
    greeted = served.ask("initialize", {**INITIALIZE, "protocolVersion": "2199-01-01"})
    assert greeted["result"]["protocolVersion"] == "2025-11-25"
    served.send("notifications/initialized")
    yield served
    served.end()
    assert served.process.wait(PATIENCE) == 0
    served.close()


@pytest.fixture(autouse=True)
def still_serves(server: Piped) -> Iterator[None]:
    yield
    assert server.call(REMEMBER, content="All is well.")["structuredContent"]["status"] == "stored"


PING = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"'
NO_JSON = [b"{", PING, PING + b', "params": {"a": "\\ud800"}}', PING + b', "params": {"a": "\x00"}}', b"[" * 100_000]
NO_REQUEST = [b"[]", b"[" + PING + b"}]", PING.replace(b"2.0", b"1.0") + b"}", PING + b', "params": [1]}']
NO_REQUEST += [PING.replace(b'"ping"', b"8") + b"}", b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": 8}']
NO_REQUEST += [b'{"id": 7, "method": "ping"}']
IDS = (b"null", b"1.5", b"1e3", b"true", b"{}", b'{"a": 1}', b"[]", b"[1]")
NO_REQUEST += [PING.replace(b"7", id) + b"}" for id in IDS]
MALFORMED = [*((line, PARSE_ERROR) for line in NO_JSON), *((line, INVALID_REQUEST) for line in NO_REQUEST)]


def test_lines_that_are_no_messages_are_answered_with_errors(server: Piped) -> None:
    for line, code in MALFORMED:
        server.write(line)
        answer = server.next()
        assert (line[:60], answer["id"], answer["error"]["code"]) == (line[:60], None, code)
        assert answer["error"]["message"]
    for silent in (b"", b"   "):
        server.write(silent)
    server.send("notifications/nothing", {"a": 1})
    for id in (12345, [1]):
        server.send("notifications/cancelled", {"requestId": id})
    assert server.ask("ping")["result"] == {}
    for _ in range(2):
        server.send("ping", {}, id=99)
    assert [server.next()["id"], server.next()["id"]] == [99, 99]


def test_unknown_methods_and_wrong_calls_are_refused(server: Piped) -> None:
    for method in ("tools/remember", "roots/list", "sampling/createMessage", "", "\x00"):
        assert server.ask(method, {})["error"]["code"] == METHOD_NOT_FOUND, method
    recall: dict[str, Any] = {"name": "mnemosyne_recall", "arguments": {"query": "tea"}}
    wrong = [{**recall, "arguments": [1]}, {**recall, "arguments": "tea"}, {**recall, "_meta": "me"}]
    for params in (None, {}, {"name": 5}, {"name": "nothing_like_it", "arguments": {}}, *wrong):
        assert server.ask("tools/call", params)["error"]["code"] == INVALID_PARAMS, params
    assert server.ask("tools/list", {"cursor": "2"})["error"]["code"] == INVALID_PARAMS


def test_wrong_arguments_are_refused_in_a_few_words(server: Piped) -> None:
    long = {"content": "tea " * 2_500_000}
    wrong: list[dict[str, Any]] = [{"content": None}, {"content": ""}, {"importance": 1e400}, {"\x00": 1}, long]
    for arguments in (*wrong, {"x" * 10_000: 1}):
        reply = server.call(REMEMBER, **{"content": "tea", **arguments})
        assert reply["isError"] and reply["structuredContent"]["error"]["code"] == "invalid_input"
        assert json.loads(reply["content"][0]["text"]) == reply["structuredContent"]
        assert len(reply["content"][0]["text"]) < 10_000
    assert len(server.call("mnemosyne_recall", query="tea " * 2_500_000)["content"][0]["text"]) < 10_000


def test_any_character_is_kept_or_refused(server: Piped) -> None:
    for text in ("\x00", "a\x00b", "\x1b[31mred", "\u202eleft", "\x7f" * 100, "\U0010ffff"):
        reply = server.call(REMEMBER, content=f"tea {text}")
        if reply["isError"]:
            assert reply["structuredContent"]["error"]["parameter"] == "content"
        else:
            found = server.call("mnemosyne_recall", query="tea", top_k=50)["structuredContent"]["results"]
            assert f"tea {text}" in [one["content"] for one in found]
    params = b'{"name": "mnemosyne_remember", "arguments": {"content": "caf\xe9"}}'
    server.write(b'{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": ' + params + b"}")
    kept = server.next()["result"]["structuredContent"]
    assert kept["content_preview"] == "caf\N{REPLACEMENT CHARACTER}", "undecodable bytes are replaced"
