"""Wrong input, by mistake or by intent: the answer says what is wrong, and nothing else happens."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.doors.http.conftest import PATIENCE, READS, WRITES, Served, listening, serving

from pieria.doors.http import guard
from pieria.doors.http.failures import Refused
from pieria.doors.http.guard import Hosts, hosts
from pieria.doors.server import PatientProtocol
from pieria.doors.web.site import SIGN_IN
from pieria.errors import InputError
from pieria.toolsets import registry

MEMORIES = "/v1/banks/notes/memories"
TOOL = f"/v1/banks/notes/tools/{WRITES}"
JSON = {"Content-Type": "application/json"}


def code_of(answer: httpx2.Response) -> str:
    error: dict[str, Any] = answer.json()["error"]
    assert {"code", "message", "retryable", "hint"} <= set(error)
    return str(error["code"])


@pytest.mark.parametrize("path", [MEMORIES, TOOL, "/v1/banks/notes/recall"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"not json", 400),
        (b"\xff\xfe\x00binary\x00", 400),
        (b'{"text": "a\x00b"}', 400),
        (b"[" * 100_000, 400),
        (b'{"text": ' + b"[" * 200 + b"]" * 200 + b"}", 400),
        (b'{"text": NaN}', 400),
        (b'{"importance": 1e999, "text": "x"}', 400),
        (b'{"sequence": ' + b"9" * 5000 + b"}", 400),
        (b"[]", 422),
        (b"null", 422),
        (b'"text"', 422),
        (b"7", 422),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, bytes) else None,
)
def test_a_body_that_is_not_what_it_should_be(served: Served, path: str, body: bytes, status: int) -> None:
    before = served.head()
    answer = served.client.post(path, content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert code_of(answer) == "invalid_input"
    assert served.head() == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_that_is_said_to_be_something_else(served: Served, kind: str) -> None:
    """A page of another site can make a browser send these without a preflight request."""
    answer = served.client.post(MEMORIES, content=b'{"text": "x"}', headers={"Content-Type": kind})
    assert (answer.status_code, code_of(answer)) == (415, "invalid_input")


def test_a_parameter_that_is_not_known_is_told_with_the_route(served: Served) -> None:
    error = served.client.get(MEMORIES, params={"xyzzy": 1}).json()["error"]
    assert error["expected"] == "a parameter of GET /v1/banks/{bank}/memories"
    assert error["hint"].startswith("The parameters of GET /v1/banks/{bank}/memories: ")
    error = served.client.post(f"{MEMORIES}/jwt/restore", json={"id": "jwt"}).json()["error"]
    assert error["expected"] == "a parameter of POST /v1/banks/{bank}/memories/{id}/restore"
    error = served.client.get("/v1/events", params={"bank": "notes", "snce": 1}).json()["error"]
    assert error["expected"] == "a parameter of GET /v1/events"


@pytest.mark.parametrize(
    ("path", "meant"),
    [("/mcp", None), ("/mcp/", None), ("/mcp/mnemosine", "/mcp/mnemosyne"), ("/mcp/al", "/mcp/all"), ("/mcp/x9", None)],
)
def test_where_mcp_is_not_the_hint_says_where_it_is(served: Served, path: str, meant: str | None) -> None:
    answer = served.client.post(path, json={})
    assert answer.status_code == 404
    where = f"MCP is at {', '.join(f'/mcp/{name}' for name in registry().toolsets)} and /mcp/all."
    assert answer.json()["error"]["hint"] == (f"Did you mean {meant}? {where}" if meant else where)
    assert "MCP" not in served.client.post("/mcpx", json={}).json()["error"]["hint"]


def test_every_violation_is_told_at_once_with_the_nearest_name(served: Served) -> None:
    answer = served.client.post(MEMORIES, json={"txt": "x", "importance": 5, "kind": "nte", "pinned": "yes"})
    error = answer.json()["error"]
    every = [error, *error["errors"]]
    assert answer.status_code == 422
    assert {one["parameter"] for one in every} == {"txt", "text", "importance", "kind", "pinned"}
    assert {one["hint"] for one in every} >= {"Did you mean text?", "Did you mean note?"}
    answer = served.client.get(MEMORIES, params={"limt": 1, "order": "old", "pinned": "perhaps", "limit": "1e3"})
    error = answer.json()["error"]
    every = [error, *error["errors"]]
    assert {one["parameter"] for one in every} == {"limt", "order", "pinned", "limit"}
    twice = served.client.get(f"{MEMORIES}?limit=1&limit=2")
    assert (twice.status_code, twice.json()["error"]["parameter"]) == (422, "limit")


@pytest.mark.parametrize(
    ("text", "status"), [("a\x00b", 422), ("\ud800", 422), ("   ", 422), ("x" * (1 << 20), 201), ("x" * 1_048_577, 422)]
)
def test_texts_at_the_edges(served: Served, text: str, status: int) -> None:
    answer = served.client.post(MEMORIES, content=json.dumps({"text": text}).encode(), headers=JSON)
    assert answer.status_code == status


@pytest.mark.parametrize("path", [MEMORIES, TOOL, "/health", "/mcp/all", "/nowhere"])
def test_a_large_body_is_refused_unread(served: Served, path: str) -> None:
    answer = served.client.post(path, content=b"x" * 10_000_000, headers=JSON)
    assert (answer.status_code, code_of(answer)) == (413, "invalid_input")


def test_a_large_body_is_refused_on_the_wire_however_it_comes(live: Served) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(10):
            yield b"x" * 1_000_000

    for content in (b"x" * 10_000_000, parts()):
        assert live.client.post(MEMORIES, content=content, headers=JSON).status_code == 413
    assert live.client.post(MEMORIES, json={"text": "small"}).status_code == 201


@pytest.fixture
def live() -> Iterator[Served]:
    with listening() as (served, _):
        yield served


# --- hosts and origins


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.7:7411",
        "",
        "localhost:x",
        "@",
        "[::1",
    ],
)
@pytest.mark.parametrize("path", ["/health", "/", MEMORIES, "/v1/events", "/mcp/all", "/nowhere"])
def test_a_name_that_was_made_to_lead_here_is_not_answered(served: Served, host: str, path: str) -> None:
    answer = served.client.get(path, headers={"Host": host})
    assert (answer.status_code, code_of(answer)) == (421, "invalid_input")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:7411", "127.0.0.1:7411", "127.0.0.2", "[::1]:7411", "localhost."]
)
def test_the_names_of_this_machine_are(served: Served, host: str) -> None:
    assert served.client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://localhost:7412", "http://127.0.0.1:7411", "null", "file://", "http://[", "x"],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/health"), ("POST", MEMORIES), ("POST", "/mcp/all")])
def test_a_page_from_elsewhere_is_sent_away(served: Served, origin: str, method: str, path: str) -> None:
    before = served.head()
    answer = served.client.request(method, path, json={"text": "x"}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (403, "foreign_origin")
    assert served.head() == before


@pytest.mark.parametrize("origin", ["http://localhost:7411", "HTTP://LOCALHOST:7411"])
def test_a_page_of_its_own_is_let_in(served: Served, origin: str) -> None:
    assert served.client.get("/health", headers={"Origin": origin}).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1:7411", "localhost:7411"])
def test_a_page_on_another_port_of_this_machine_is_sent_away(home: Path, host: str) -> None:
    """Another program on this machine serves the page."""
    with serving(hosts("127.0.0.1", False, ["memory.example"])) as served:
        for origin in ("http://127.0.0.1:9999", "http://127.0.0.1", "https://127.0.0.1"):
            headers = {"Host": host, "Origin": origin}
            answer = served.client.post(MEMORIES, json={"text": "x"}, headers=headers)
            assert (answer.status_code, answer.json()["error"]["reason"]) == (403, "foreign_origin"), origin
        own = {"Host": host, "Origin": f"http://{host}"}
        assert served.client.post(MEMORIES, json={"text": "x"}, headers=own).status_code == 201


def test_behind_a_proxy_it_goes_by_the_names_that_were_allowed() -> None:
    with serving(hosts("127.0.0.1", False, ["memory.example"])) as served:
        own = {"Host": "memory.example", "Origin": "https://memory.example"}
        rewritten = {"Host": "127.0.0.1:7411", "Origin": "https://memory.example"}
        assert served.client.get("/health", headers=own).status_code == 200
        assert served.client.get("/health", headers=rewritten).status_code == 200
        assert served.client.get("/health", headers={"Host": "other.example"}).status_code == 421


def test_on_all_addresses_it_is_asked_under_the_one_it_was_reached_at() -> None:
    every = hosts("0.0.0.0", True, [])  # noqa: S104 - nothing is bound
    every.check("192.0.2.7:7411", "192.0.2.7")
    for host in ("192.0.2.8", "evil.example", None):
        with pytest.raises(InputError, match="Host"):
            every.check(host, "192.0.2.7")
    with pytest.raises(InputError, match="Host"):
        Hosts().check("192.0.2.7:7411", "192.0.2.7")


# --- truncated bodies


@pytest.mark.parametrize("part", [b"", b'{"text": "half"}'])
@pytest.mark.parametrize("path", [MEMORIES, "/v1/banks/notes/tools/mnemosyne_sleep"])
def test_what_a_client_did_not_send_whole_is_not_done(served: Served, path: str, part: bytes) -> None:
    """Half a body may be valid JSON, but it is not the whole request."""
    before, answers = served.head(), []
    came = iter([{"type": "http.request", "body": part, "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(came)

    async def send(message: Any) -> None:
        answers.append(message)

    headers = [(b"host", b"localhost"), (b"content-length", b"100"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    anyio.run(served.app, scope, receive, send)
    assert answers[0]["status"] == 400
    assert served.head() == before
    counted = served.client.get("/metrics").text
    assert "pieria_calls_total{" not in counted


# --- paths


@pytest.mark.parametrize(
    "path", ["../out.jsonl", "/etc/passwd", "~/out.jsonl", "a/../../out", "link/out.jsonl", "a\x00b"]
)
def test_files_are_written_and_read_only_where_they_may_be(served: Served, path: str, tmp_path: Path) -> None:
    exports = served.service.paths.base
    (exports / "link").symlink_to(tmp_path)
    for tool, parameter in (("mnemosyne_export", "output_path"), ("mnemosyne_import", "input_path")):
        with pytest.raises(InputError, match=parameter):
            served.service.paths.allowed(path, parameter)
        answer = served.client.post(f"/v1/banks/notes/tools/{tool}", json={parameter: path})
        assert answer.status_code >= 400
    assert list(tmp_path.iterdir()) == []


def test_a_file_for_exchange_is_told_by_its_name_there_and_not_by_where_the_server_keeps_it(
    served: Served, home: Path
) -> None:
    def told(tool: str, **given: str) -> Any:
        answer = served.client.post(f"/v1/banks/notes/tools/{tool}", json=given)
        assert str(home) not in answer.text
        return answer.json()

    path = str(Path("monthly", "may.jsonl"))
    assert told("mnemosyne_export", output_path=path)["path"] == path
    whole = str(served.service.paths.base / path)
    assert told("mnemosyne_export", output_path=whole)["path"] == path
    assert told("mnemosyne_import", input_path=path)["status"] == "imported"
    assert told("mempalace_export_markdown", output_path="palace")["path"] == "palace"
    assert "june.jsonl: there is no such file" in str(told("mnemosyne_import", input_path="june.jsonl"))
    served.service.paths.base.joinpath("torn.json").write_text('{"torn"')
    assert "torn.json: its JSON is damaged" in str(told("mnemosyne_import", input_path="torn.json"))
    assert "a path under exports" in str(told("mnemosyne_import", input_path="/etc/passwd"))
    assert "an empty or new folder" in str(told("mempalace_export_markdown", output_path="palace"))


def test_files_for_exchange_lie_in_the_folder_of_exports(served: Served, home: Path) -> None:
    assert served.service.paths.base == home / "data" / "exports"
    assert served.service.paths.allowed("a/b.jsonl", "path") == home / "data" / "exports" / "a" / "b.jsonl"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/banks/..%2f..%2fetc/memories", 422),
        ("/v1/banks/a%00b/memories", 422),
        ("/v1/banks/%ff/memories", 400),
        ("/v1/banks/con/memories", 422),
        ("/v1/banks//memories", 404),
        ("/v1/banks/notes/memories/", 404),
        ("/v1/banks/notes/memories/%ff", 400),
        ("/v1/banks/notes/memories/none", 404),
        ("/v1/banks/notes/facts/none/history", 404),
        (f"/v1/banks/notes/tools/{READS}/more", 404),
        ("/v1/banks/notes/memories/" + "x" * 3000, 422),
    ],
)
def test_paths_that_lead_nowhere(served: Served, path: str, status: int) -> None:
    answer = served.client.get(path)
    assert answer.status_code == status
    code_of(answer)


def test_an_id_may_hold_anything(served: Served) -> None:
    for id in ("a/b", "a b", "ä@1", "%2F", "..", "?x=1#y", "a\\b"):
        assert served.client.post(MEMORIES, json={"text": f"about {id}", "id": id}).status_code == 201
        segment = "".join(f"%{byte:02x}" for byte in id.encode())
        assert served.client.get(f"{MEMORIES}/{segment}").json()["id"] == id
        assert served.client.get(f"{MEMORIES}/{segment}/history").json()["memories"][0]["id"] == id


def test_other_methods_are_refused_with_those_there_are(served: Served) -> None:
    answer = served.client.put(f"{MEMORIES}/jwt", json={})
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "PATCH", "DELETE"}
    assert served.client.get(f"/v1/banks/notes/tools/{READS}").status_code == 405


@pytest.mark.parametrize("id", ["jwt", "none"])
def test_a_reader_makes_no_bank_and_a_writer_does(served: Served, id: str) -> None:
    for path in ("memories", f"memories/{id}", "facts", "changes", "stats"):
        assert served.client.get(f"/v1/banks/new/{path}").status_code == 404
    for path in ("recall", f"tools/{READS}"):
        assert served.client.post(f"/v1/banks/new/{path}", json={"query": "x"}).status_code == 404
    for route in (f"memories/{id}/purge", "facts/invalidate", "tools/mnemosyne_sleep"):
        given = {"subject": "a", "predicate": "b", "object": "c"} if "facts" in route else {}
        assert served.client.post(f"/v1/banks/new/{route}", json=given).status_code == 404
    assert served.client.get("/v1/banks").json() == {"banks": ["notes"]}
    assert served.client.post(f"/v1/banks/new/tools/{WRITES}", json={"content": "x"}).status_code == 200
    assert served.client.get("/v1/banks").json() == {"banks": ["new", "notes"]}


# --- half requests


def test_half_a_request_holds_up_nobody_and_is_given_up(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "seconds", 1.0)
    monkeypatch.setattr(guard, "BODY_SECONDS", 1.0)
    address = (live.client.base_url.host, live.client.base_url.port)
    begun = b"POST /v1/banks/notes/memories HTTP/1.1\r\nHost: localhost\r\nContent-"
    halves = [_sent(address, begun) for _ in range(100)]
    nothing, after_one = _sent(address, b""), _sent(address, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET")
    half_a_body = _sent(address, begun + b"Length: 100\r\n\r\n{")
    began = time.monotonic()
    assert live.client.post(MEMORIES, json={"text": "whole"}).status_code == 201
    assert time.monotonic() - began < 20
    assert _rest(half_a_body).startswith(b"HTTP/1.1 408")
    assert _rest(nothing) == b""
    assert _rest(after_one).startswith(b"HTTP/1.1 200")
    assert {_rest(half) for half in halves} == {b""}


def test_what_is_no_http_is_refused(live: Served) -> None:
    address = (live.client.base_url.host, live.client.base_url.port)
    assert _rest(_sent(address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")).startswith(b"HTTP/1.1 400")
    assert _rest(_sent(address, b"GET / HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 400")
    two = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert _rest(_sent(address, two)).startswith(b"HTTP/1.1 4")
    long = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n"
    assert _rest(_sent(address, long)).startswith(b"HTTP/1.1 4")
    assert live.client.get("/health").status_code == 200


def _sent(address: Any, text: bytes) -> socket.socket:
    made = socket.create_connection(address, PATIENCE)
    # The server may refuse before the whole request is sent.
    with suppress(ConnectionResetError, BrokenPipeError):
        made.sendall(text)
    return made


def _rest(connection: socket.socket) -> bytes:
    """Return all that arrives until the other end closes."""
    received = b""
    with connection:
        while True:
            try:
                part = connection.recv(1 << 16)
            except ConnectionResetError:
                return received
            if not part:
                return received
            received += part


# --- unread bodies


class _Sender:
    """A client of an ASGI application that counts the bytes read from its body."""

    def __init__(self, parts: int, size: int) -> None:
        self.left, self.size, self.read = parts, size, 0

    async def receive(self) -> dict[str, Any]:
        self.read += 1
        self.left -= 1
        return {"type": "http.request", "body": b" " * self.size, "more_body": self.left > 0}


def _whole(room: guard.Bodies, sender: _Sender, method: str, *headers: tuple[bytes, bytes], limit: int) -> int:
    """Return the status with which a body is refused, or 200."""

    async def main() -> int:
        scope = {"type": "http", "method": method, "headers": list(headers)}
        try:
            async with room.body(scope, sender.receive, limit):
                return 200
        except Refused as refused:
            return refused.status

    return anyio.run(main)


CHUNKED = (b"transfer-encoding", b"chunked")


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
@pytest.mark.parametrize("header", [CHUNKED, (b"content-length", b"5")])
def test_a_body_that_no_route_takes_is_not_read(method: str, header: tuple[bytes, bytes]) -> None:
    sender = _Sender(1, 5)
    assert _whole(guard.Bodies(1 << 20), sender, method, header, limit=100) == 400
    assert sender.read == 0


def test_a_length_that_is_too_large_is_refused_unread() -> None:
    sender = _Sender(1, 5)
    assert _whole(guard.Bodies(1 << 20), sender, "POST", (b"content-length", b"101"), limit=100) == 413
    assert sender.read == 0


def test_an_undeclared_length_is_counted() -> None:
    room, sender = guard.Bodies(1 << 20), _Sender(1_000, 10)
    assert _whole(room, sender, "POST", CHUNKED, limit=100) == 413
    assert sender.read == 11
    assert room.held == 0


def test_bodies_together_hold_no_more_than_they_may() -> None:
    room = guard.Bodies(300_000)

    async def main() -> list[int]:
        statuses = []
        async with AsyncExitStack() as stack:
            for size in (200_000, 200_000, 200_000, 1_000):
                scope = {"type": "http", "method": "POST", "headers": [CHUNKED]}
                try:
                    await stack.enter_async_context(room.body(scope, _Sender(1, size).receive))
                    statuses.append(200)
                except Refused as refused:
                    statuses.append(refused.status)
        return statuses

    assert anyio.run(main) == [200, 200, 503, 200]
    assert room.held == 0


def test_strangers_send_no_more_than_a_form(served: Served) -> None:
    served.token()
    answer = served.client.post(SIGN_IN, content=b"x" * 70_000, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 413
    assert served.client.request("GET", "/health", content=b"{}").status_code == 400
    assert served.client.get("/health").status_code == 200
