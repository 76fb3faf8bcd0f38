"""Wrong input, by mistake or by intent: the answer says what is wrong, and nothing else happens."""

import socket
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import anyio
import httpx2
import pytest
from tests.doors.http.conftest import PATIENCE, READS, WRITES, Served, serving

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
GONE = {"type": "http.disconnect"}


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    error: dict[str, Any] = answer.json()["error"]
    assert {"code", "message", "retryable", "hint"} <= set(error)
    return answer.status_code, str(error["code"])


def test_bodies_that_are_no_json_object_are_refused(served: Served) -> None:
    no_json = [b"{", b"not json", b"\xff\xfe\x00binary\x00", b'{"text": "a\x00b"}', b"[" * 100_000]
    values = (b"[" * 200 + b"]" * 200, b"NaN", b"1e999", b"9" * 5000)
    no_json += [b'{"text": ' + value + b"}" for value in values]
    before = served.head()
    for path in (MEMORIES, TOOL, "/v1/banks/notes/recall"):
        for bodies, status in ((no_json, 400), ((b"[]", b"null", b'"text"', b"7"), 422)):
            for body in bodies:
                answer = served.client.post(path, content=body, headers=JSON)
                assert (body, *code_of(answer)) == (body, status, "invalid_input")
    # A page of another site can make a browser send these without a preflight request.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = served.client.post(MEMORIES, content=b'{"text": "x"}', headers={"Content-Type": kind})
        assert code_of(answer) == (415, "invalid_input")
    assert served.head() == before


def test_wrong_parameters_are_named_with_the_nearest_right_one(served: Served) -> None:
    def wrong(answer: httpx2.Response) -> tuple[set[str], set[str]]:
        assert code_of(answer) == (422, "invalid_input")
        error = answer.json()["error"]
        every = [error, *error.get("errors", ())]
        return {one["parameter"] for one in every}, {one["hint"] for one in every}

    client = served.client
    names, hints = wrong(client.post(MEMORIES, json={"txt": "x", "importance": 5, "kind": "nte", "pinned": "yes"}))
    assert names == {"txt", "text", "importance", "kind", "pinned"}
    assert hints >= {"Did you mean text?", "Did you mean note?"}
    names, _ = wrong(client.get(MEMORIES, params={"limt": 1, "order": "old", "pinned": "perhaps", "limit": "1e3"}))
    assert names == {"limt", "order", "pinned", "limit"}
    assert wrong(client.get(f"{MEMORIES}?limit=1&limit=2"))[0] == {"limit"}
    for answer, route in (
        (client.get(MEMORIES, params={"xyzzy": 1}), "GET /v1/banks/{bank}/memories"),
        (client.post(f"{MEMORIES}/jwt/restore", json={"id": "x"}), "POST /v1/banks/{bank}/memories/{id}/restore"),
        (client.get("/v1/events", params={"bank": "notes", "snce": 1}), "GET /v1/events"),
    ):
        assert answer.json()["error"]["expected"] == f"a parameter of {route}"
        assert answer.json()["error"]["hint"].startswith((f"The parameters of {route}: ", "Did you mean", "There"))


def test_wrong_mcp_paths_are_answered_with_the_right_ones(served: Served) -> None:
    where = f"MCP is at {', '.join(f'/mcp/{name}' for name in registry().toolsets)} and /mcp/all."
    meanings = {"/": "", "/mnemosine": "Did you mean /mcp/mnemosyne? ", "/al": "Did you mean /mcp/all? "}
    for path, meant in meanings.items():
        answer = served.client.post(f"/mcp{path}", json={})
        assert (answer.status_code, answer.json()["error"]["hint"]) == (404, f"{meant}{where}")
    bare, own = (served.client.post(path, json={}) for path in ("/mcp", "/mcp/pieria"))
    assert (bare.status_code, bare.json()) == (own.status_code, own.json())
    assert "MCP" not in served.client.post("/mcpx", json={}).json()["error"]["hint"]


def test_large_bodies_are_refused_unread(served: Served) -> None:
    for path in (MEMORIES, TOOL, "/health", "/mcp/all", "/nowhere"):
        answer = served.client.post(path, content=b"x" * 10_000_000, headers=JSON)
        assert code_of(answer) == (413, "invalid_input")
    served.token()
    form = served.client.post(SIGN_IN, content=b"x" * 70_000, headers={"Sec-Fetch-Site": "same-origin"})
    assert form.status_code == 413, "strangers send no more than a form"
    assert served.client.request("GET", "/health", content=b"{}").status_code == 400
    assert served.client.get("/health").status_code == 200


def test_requests_under_other_names_are_refused(served: Served) -> None:
    """A name may have been made to lead here (DNS rebinding)."""
    others = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.7:7411")
    for host in (*others, "", "localhost:x", "@", "[::1"):
        for path in ("/health", "/", MEMORIES, "/v1/events", "/mcp/all", "/nowhere"):
            answer = served.client.get(path, headers={"Host": host})
            assert (host, *code_of(answer)) == (host, 421, "invalid_input")
    for host in ("localhost", "LOCALHOST:7411", "127.0.0.1:7411", "127.0.0.2", "[::1]:7411", "localhost."):
        assert served.client.get("/health", headers={"Host": host}).status_code == 200, host


def test_requests_of_other_sites_pages_are_refused(served: Served) -> None:
    before = served.head()
    foreign = ("http://evil.example", "https://localhost:7412", "http://127.0.0.1:7411")
    for origin in (*foreign, "null", "file://", "http://[", "x"):
        for method, path in (("GET", "/health"), ("POST", MEMORIES), ("POST", "/mcp/all")):
            answer = served.client.request(method, path, json={"text": "x"}, headers={"Origin": origin})
            assert (answer.status_code, answer.json()["error"]["reason"]) == (403, "foreign_origin"), origin
    assert served.head() == before
    for origin in ("http://localhost:7411", "HTTP://LOCALHOST:7411"):
        assert served.client.get("/health", headers={"Origin": origin}).status_code == 200


def test_behind_a_proxy_only_allowed_names_are_answered() -> None:
    ours, local = "https://memory.example", "127.0.0.1:7411"
    welcome = [("memory.example", ours), (local, ours), (local, f"http://{local}")]
    # Another program on this machine serves these pages.
    foreign = [(local, "http://127.0.0.1:9999"), (local, "http://127.0.0.1"), ("localhost:7411", "https://127.0.0.1")]
    with serving(hosts("127.0.0.1", False, ["memory.example"])) as served:
        for status, pairs in ((201, welcome), (421, [("other.example", "https://other.example")]), (403, foreign)):
            for host, origin in pairs:
                answer = served.client.post(MEMORIES, json={"text": "x"}, headers={"Host": host, "Origin": origin})
                assert (host, origin, answer.status_code) == (host, origin, status)


def test_on_all_addresses_only_the_reached_one_is_a_name() -> None:
    every = hosts("0.0.0.0", True, [])  # noqa: S104 - nothing is bound
    every.check("192.0.2.7:7411", "192.0.2.7")
    for host in ("192.0.2.8", "evil.example", None):
        with pytest.raises(InputError, match="Host"):
            every.check(host, "192.0.2.7")
    with pytest.raises(InputError, match="Host"):
        Hosts().check("192.0.2.7:7411", "192.0.2.7")


def test_truncated_requests_change_nothing(served: Served) -> None:
    """Half a body may be valid JSON, but it is not the whole request."""
    before = served.head()
    headers = [(b"host", b"localhost"), (b"content-length", b"100"), (b"content-type", b"application/json")]
    for path in (MEMORIES, "/v1/banks/notes/tools/mnemosyne_sleep"):
        for part in (b"", b'{"text": "half"}'):
            receive = AsyncMock(side_effect=[{"type": "http.request", "body": part, "more_body": True}, GONE])
            send = AsyncMock()
            scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
            anyio.run(served.app, scope, receive, send)
            assert send.call_args_list[0].args[0]["status"] == 400
    assert served.head() == before and "pieria_calls_total{" not in served.page("/metrics")


def test_paths_of_the_server_are_not_shown_to_clients(served: Served, home: Path) -> None:
    def told(tool: str, **given: str) -> Any:
        answer = served.client.post(f"/v1/banks/notes/tools/{tool}", json=given)
        assert str(home) not in answer.text
        return answer.json()

    path = str(Path("monthly", "may.jsonl"))
    for given in (path, str(served.service.paths.base / path)):
        assert told("mnemosyne_export", output_path=given)["path"] == path
    assert told("mnemosyne_import", input_path=path)["status"] == "imported"
    assert told("mempalace_export_markdown", output_path="palace")["path"] == "palace"
    served.service.paths.base.joinpath("torn.json").write_text('{"torn"')
    problems = {"june.jsonl": "june.jsonl: there is no such file", "torn.json": "torn.json: its JSON is damaged"}
    problems |= dict.fromkeys(("/etc/passwd", "../out.jsonl", "~/out.jsonl"), "a path under exports")
    for file, problem in problems.items():
        assert problem in str(told("mnemosyne_import", input_path=file)), file
    assert "an empty or new folder" in str(told("mempalace_export_markdown", output_path="palace"))


def test_paths_and_methods_that_lead_nowhere_are_refused(served: Served) -> None:
    paths = {
        "..%2f..%2fetc/memories": 422, "a%00b/memories": 422, "%ff/memories": 400, "con/memories": 422,
        "/memories": 404, "notes/memories/": 404, "notes/memories/%ff": 400, "notes/memories/none": 404,
        f"notes/memories/{'x' * 3000}": 422, "notes/facts/none/history": 404, f"notes/tools/{READS}/more": 404,
        f"notes/tools/{READS}": 405,
    }  # fmt: skip
    assert {path: code_of(served.client.get(f"/v1/banks/{path}"))[0] for path in paths} == paths
    answer = served.client.put(f"{MEMORIES}/jwt", json={})
    assert (answer.status_code, {*answer.headers["allow"].split(", ")}) == (405, {"GET", "HEAD", "PATCH", "DELETE"})


def test_ids_may_hold_any_characters(served: Served) -> None:
    for id in ("a/b", "a b", "ä@1", "%2F", "..", "?x=1#y", "a\\b"):
        assert served.client.post(MEMORIES, json={"text": f"about {id}", "id": id}).status_code == 201
        segment = "".join(f"%{byte:02x}" for byte in id.encode())
        assert served.client.get(f"{MEMORIES}/{segment}").json()["id"] == id
        assert served.client.get(f"{MEMORIES}/{segment}/history").json()["memories"][0]["id"] == id


def test_only_writing_creates_a_bank(served: Served) -> None:
    triple = {"subject": "a", "predicate": "b", "object": "c"}
    for method, path, body in (
        *(("GET", path, None) for path in ("memories", "memories/none", "facts", "changes", "stats")),
        *(("POST", path, {"query": "x"}) for path in ("recall", f"tools/{READS}")),
        ("POST", "memories/none/purge", {}),
        ("POST", "facts/invalidate", triple),
        ("POST", "tools/mnemosyne_sleep", {}),
    ):
        assert served.client.request(method, f"/v1/banks/new/{path}", json=body).status_code == 404, path
    assert served.client.get("/v1/banks").json() == {"banks": ["notes"]}
    assert served.client.post(f"/v1/banks/new/tools/{WRITES}", json={"content": "x"}).status_code == 200
    assert served.client.get("/v1/banks").json() == {"banks": ["new", "notes"]}


def test_unfinished_requests_are_given_up(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "seconds", 1.0)
    monkeypatch.setattr(guard, "BODY_SECONDS", 1.0)
    address = (live.client.base_url.host, live.client.base_url.port)
    begun = b"POST /v1/banks/notes/memories HTTP/1.1\r\nHost: localhost\r\nContent-"
    halves = [_sent(address, begun) for _ in range(100)]
    nothing, after_one = _sent(address, b""), _sent(address, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET")
    half_a_body = _sent(address, begun + b"Length: 100\r\n\r\n{")
    assert live.client.post(MEMORIES, json={"text": "whole"}).status_code == 201
    assert _rest(half_a_body).startswith(b"HTTP/1.1 408") and _rest(nothing) == b""
    assert _rest(after_one).startswith(b"HTTP/1.1 200") and {_rest(half) for half in halves} == {b""}


def test_what_is_no_http_is_refused(live: Served) -> None:
    address = (live.client.base_url.host, live.client.base_url.port)
    host = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
    greeting = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # of TLS
    for sent in (greeting, b"GET / HTTP/1.1", host + b"Host: evil.example", host + b"X: " + b"x" * 1_000_000):
        assert _rest(_sent(address, sent + b"\r\n\r\n")).startswith(b"HTTP/1.1 4")
    for content in (b"x" * 10_000_000, iter([b"x" * 1_000_000] * 10)):
        assert live.client.post(MEMORIES, content=content, headers=JSON).status_code == 413
    assert live.client.get("/health").status_code == 200


def _sent(address: Any, text: bytes) -> socket.socket:
    made = socket.create_connection(address, PATIENCE)
    # The server may refuse before the whole request is sent.
    with suppress(ConnectionResetError, BrokenPipeError):
        made.sendall(text)
    return made


def _rest(connection: socket.socket) -> bytes:
    received = b""
    with connection, suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            received += part
    return received


class Sender:
    """A client of an ASGI application that counts the parts read from its body."""

    def __init__(self, parts: int, size: int) -> None:
        self.left, self.size, self.read = parts, size, 0

    async def receive(self) -> dict[str, Any]:
        self.read += 1
        self.left -= 1
        return {"type": "http.request", "body": b" " * self.size, "more_body": self.left > 0}


CHUNKED = (b"transfer-encoding", b"chunked")


def of_length(size: int) -> tuple[bytes, bytes]:
    return b"content-length", str(size).encode()


def test_bodies_are_counted_and_read_only_where_one_is_taken() -> None:
    room = guard.Bodies(1 << 20)

    async def status(sender: Sender, method: str, header: tuple[bytes, bytes]) -> int:
        try:
            async with room.body({"method": method, "headers": [header]}, sender.receive, 100):
                return 200
        except Refused as refused:
            return refused.status

    wrong = [(method, header, 400) for method in ("GET", "HEAD", "DELETE") for header in (CHUNKED, of_length(5))]
    for method, header, refused in (*wrong, ("POST", of_length(101), 413)):
        sender = Sender(1, 5)
        assert (anyio.run(status, sender, method, header), sender.read) == (refused, 0)
    sender = Sender(1_000, 10)
    assert (anyio.run(status, sender, "POST", CHUNKED), sender.read, room.held) == (413, 11, 0)


def test_bodies_together_are_bounded() -> None:
    room = guard.Bodies(300_000)

    async def main() -> None:
        async with AsyncExitStack() as stack:

            async def send(size: int) -> None:
                scope = {"type": "http", "method": "POST", "headers": [CHUNKED]}
                await stack.enter_async_context(room.body(scope, Sender(1, size).receive))

            for _ in range(2):
                await send(200_000)
            with pytest.raises(Refused) as refused:
                await send(200_000)
            assert refused.value.status == 503
            await send(1_000)

    anyio.run(main)
    assert room.held == 0
