"""Invalid messages: the server reports the error and continues."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.doors.mcp.conftest import INITIALIZE, Piped, Start, begun_in

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Piped]:
    """One server for all tests: after any message it still answers the next."""
    served = begun_in(tmp_path_factory.mktemp("bad"), "--toolset", "mnemosyne").begun()
    yield served
    served.close()


def still_serves(server: Piped) -> None:
    reply = server.call("mnemosyne_remember", content="All is well.")
    assert reply["structuredContent"]["status"] == "stored"


MALFORMED = [
    (b"{", PARSE_ERROR),
    (b"what is this?", PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping"', PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\\ud800"}}', PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\x00"}}', PARSE_ERROR),
    (b"[" * 100_000, PARSE_ERROR),
    (b"\x00\x01\x02", PARSE_ERROR),
    (b"null", INVALID_REQUEST),
    (b"[]", INVALID_REQUEST),
    (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', INVALID_REQUEST),
    (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 7, "method": 8}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": 8}', INVALID_REQUEST),
    (b'{"id": 7, "method": "ping"}', INVALID_REQUEST),
    *(
        (b'{"jsonrpc": "2.0", "id": ' + id + b', "method": "ping"}', INVALID_REQUEST)
        for id in (b"null", b"1.5", b"1e3", b"true", b"{}", b'{"a": 1}', b"[]", b"[1]")
    ),
]


def test_a_line_that_is_no_message_is_answered_with_what_was_expected(server: Piped) -> None:
    for line, code in MALFORMED:
        server.write(line)
        answer = server.next()
        assert answer["id"] is None, line[:60]
        assert answer["error"]["code"] == code, (line[:60], answer)
        assert answer["error"]["message"]
    still_serves(server)


def test_an_empty_line_says_nothing_and_is_answered_with_nothing(server: Piped) -> None:
    server.write(b"")
    server.write(b"   ")
    assert server.ask("ping")["result"] == {}


def test_bytes_that_are_no_text_are_replaced_and_not_fatal(server: Piped) -> None:
    server.write(
        b'{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": '
        b'{"name": "mnemosyne_remember", "arguments": {"content": "caf\xe9"}}}'
    )
    answer = server.next()
    assert answer["id"] == "x"
    assert answer["result"]["structuredContent"]["content_preview"] == "caf\N{REPLACEMENT CHARACTER}"
    still_serves(server)


def test_an_unknown_method_is_refused(server: Piped) -> None:
    for method in ("tools/remember", "roots/list", "sampling/createMessage", "", "\x00"):
        assert server.ask(method, {})["error"]["code"] == METHOD_NOT_FOUND, method
    still_serves(server)


def test_an_unknown_notification_is_passed_over(server: Piped) -> None:
    server.send("notifications/nothing", {"a": 1})
    server.send("notifications/cancelled", {"requestId": 12345})
    server.send("notifications/cancelled", {"requestId": [1]})
    still_serves(server)


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"name": 5},
        {"name": "nothing_like_it", "arguments": {}},
        {"name": "mnemosyne_recall", "arguments": [1]},
        {"name": "mnemosyne_recall", "arguments": "tea"},
        {"name": "mnemosyne_recall", "arguments": {"query": "tea"}, "_meta": "me"},
    ],
)
def test_a_call_that_is_no_call_is_refused(server: Piped, params: Any) -> None:
    assert server.ask("tools/call", params)["error"]["code"] == INVALID_PARAMS
    still_serves(server)


def test_a_request_before_the_greeting_is_refused(start: Start) -> None:
    server = start()
    assert "error" in server.ask("tools/list", {})
    assert "result" in server.ask("initialize", INITIALIZE)


def test_a_version_that_nobody_knows_is_negotiated_down(start: Start) -> None:
    answer = start().ask("initialize", {**INITIALIZE, "protocolVersion": "2199-01-01"})
    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_a_page_that_is_not_there_is_refused(server: Piped) -> None:
    assert server.ask("tools/list", {"cursor": "2"})["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": 5},
        {"content": None},
        {"content": ["a"]},
        {"content": ""},
        {"content": "tea", "importance": "high"},
        {"content": "tea", "importance": 1e400},
        {"content": "tea", "scope": "everywhere"},
        {"contents": "tea"},
        {"content": "tea", "x" * 10_000: 1},
        {"content": "tea", "\x00": 1},
    ],
)
def test_arguments_that_are_wrong_are_the_tools_to_refuse(server: Piped, arguments: dict[str, Any]) -> None:
    reply = server.call("mnemosyne_remember", **arguments)
    assert reply["isError"]
    assert reply["structuredContent"]["error"]["code"] == "invalid_input"
    assert json.loads(reply["content"][0]["text"]) == reply["structuredContent"]
    assert len(reply["content"][0]["text"]) < 10_000
    still_serves(server)


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\x1b[31mred", "\u202eleft", "\x7f" * 100, "\U0010ffff"])
def test_any_character_that_json_has_is_kept_or_refused_with_reasons(server: Piped, text: str) -> None:
    reply = server.call("mnemosyne_remember", content=f"tea {text}")
    if reply["isError"]:
        assert reply["structuredContent"]["error"]["parameter"] == "content"
    else:
        found = server.call("mnemosyne_recall", query="tea", top_k=50)["structuredContent"]["results"]
        assert f"tea {text}" in [one["content"] for one in found]


def test_ten_megabytes_of_arguments_are_refused_in_a_few_words(server: Piped) -> None:
    reply = server.call("mnemosyne_remember", content="tea " * 2_500_000)
    assert reply["isError"]
    assert len(reply["content"][0]["text"]) < 10_000
    reply = server.call("mnemosyne_recall", query="tea " * 2_500_000)
    assert len(reply["content"][0]["text"]) < 10_000
    still_serves(server)


def test_the_same_id_for_two_requests_is_answered_twice(server: Piped) -> None:
    for _ in range(2):
        server.send("ping", {}, id=99)
    assert [server.next()["id"], server.next()["id"]] == [99, 99]
    still_serves(server)
