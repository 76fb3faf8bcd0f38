"""The adapter for servers, against a real HTTP server on this machine that misbehaves on demand."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.errors import AdapterError, InputError
from pieria.models.embedders.openai import OpenAIEmbedding

KEY = "made-up-key-0123456789"
Answer = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self, body)

    def reply(self, content: object, status: int = 200, **headers: str) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the output belongs to the tests."""


class Lasting(Handler):
    """Keeps its connections open, and records the port of each request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.ports.append(self.client_address[1])
        super().do_POST()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ports: list[int] = []
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answers: list[Answer] = [well]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


def well(handler: Handler, body: dict[str, Any]) -> None:
    data = [{"index": place, "embedding": [float(len(text)), 1.5, -2]} for place, text in enumerate(body["input"])]
    handler.reply({"data": data[::-1], "usage": {"prompt_tokens": len(data)}})


def saying(content: object, status: int = 200, **headers: str) -> Answer:
    return lambda handler, body: handler.reply(content, status, **headers)


def vectors(*made: list[float]) -> Answer:
    return saying({"data": [{"index": place, "embedding": vector} for place, vector in enumerate(made)]})


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def opened(server: Server, pauses: list[float]) -> Iterator[Callable[..., OpenAIEmbedding]]:
    made: list[OpenAIEmbedding] = []

    def open(**options: Any) -> OpenAIEmbedding:
        given = {"base_url": server.address, "api_key": KEY, "sleep": pauses.append, **options}
        made.append(OpenAIEmbedding("m", **given))
        return made[-1]

    yield open
    for embedding in made:
        embedding.close()


def test_texts_go_out_in_batches_and_come_back_in_order(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    reply = opened(batch=2).embed_batch(["a", "bb", "ccc", "dddd", "eeeee"])

    assert [vector[0] for vector in reply.vectors] == [1, 2, 3, 4, 5]
    assert reply.usage == {"input_tokens": 5}
    assert reply.model == "openai:m"
    assert [body["input"] for _, _, body in server.seen] == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    path, headers, body = server.seen[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "m"
    assert "dimensions" not in body


def test_long_texts_are_spread_over_requests(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    opened().embed_batch(["x" * 150_000] * 3)

    assert len(server.seen) == 3


def test_fewer_dimensions_are_asked_for_and_insisted_on(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    assert len(opened(dimensions=3).embed("a").vectors[0]) == 3
    assert server.seen[0][2]["dimensions"] == 3
    with pytest.raises(AdapterError, match="expected 64 dimensions, got 3"):
        opened(dimensions=64).embed("a")


def test_another_dimension_than_before_is_refused(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    embedding = opened()
    embedding.embed("a")
    server.answers = [vectors([1.0, 2.0])]

    with pytest.raises(AdapterError, match="expected 3 dimensions, got 2"):
        embedding.embed("b")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_a_passing_failure_is_tried_again(
    opened: Callable[..., OpenAIEmbedding], server: Server, pauses: list[float], status: int
) -> None:
    server.answers = [saying({}, status), saying({}, status, Retry_After="3"), well]

    assert opened().embed("a").vectors == [[1.0, 1.5, -2]]
    assert len(server.seen) == 3
    assert 0 <= pauses[0] <= 1
    assert pauses[1] == 3


def test_after_three_tries_the_failure_is_told(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    server.answers = [saying({"error": {"message": "overloaded"}}, 503)]

    with pytest.raises(AdapterError, match="answered 503: overloaded") as raised:
        opened().embed("a")

    assert raised.value.retryable
    assert len(server.seen) == 3


@pytest.mark.parametrize(("status", "hint"), [(400, None), (401, "Check the API key."), (404, "address"), (307, None)])
def test_what_will_not_pass_is_told_at_once(
    opened: Callable[..., OpenAIEmbedding], server: Server, status: int, hint: str | None
) -> None:
    server.answers = [saying({"error": "no"}, status, Location=f"{server.address}/elsewhere")]

    with pytest.raises(AdapterError, match=str(status)) as raised:
        opened().embed("a")

    assert not raised.value.retryable
    assert len(server.seen) == 1
    assert hint is None or hint in str(raised.value.hint)


def test_no_error_holds_the_key_or_a_text(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    text = "our secret plan for the spring of next year"
    server.answers = [saying({"error": {"message": f"cannot embed 'x {text[4:30]}'"}}, 400)]

    with pytest.raises(AdapterError) as raised:
        opened().embed(text)

    shown = str(raised.value) + repr(raised.value) + json.dumps(raised.value.as_dict())
    assert KEY not in shown
    assert "secret plan" not in shown


@pytest.mark.parametrize(
    "content",
    [
        b"<html>", b"[1]", {}, {"data": []}, {"data": [{"embedding": [1.0]}]},
        {"data": [{"index": 1, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": "AAAA"}]}, {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1.0, None]}]}, {"data": [{"index": 0, "embedding": [1.0]}] * 2},
        {"data": 3},
    ],
)  # fmt: skip
def test_a_reply_that_makes_no_sense_is_refused(
    opened: Callable[..., OpenAIEmbedding], server: Server, content: object
) -> None:
    server.answers = [saying(content)]

    with pytest.raises(AdapterError, match="openai:m"):
        opened().embed("a")


def test_a_server_that_is_down_is_a_passing_failure(
    opened: Callable[..., OpenAIEmbedding], server: Server, pauses: list[float]
) -> None:
    with socket.socket() as nobody:
        # No process listens on this port, and no process can get it meanwhile.
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(AdapterError, match="cannot be reached") as raised:
            opened(base_url=f"http://127.0.0.1:{nobody.getsockname()[1]}/v1").embed("a")

    assert raised.value.retryable
    assert len(pauses) == 2


def test_a_server_that_says_nothing_is_given_up(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    let_go = threading.Event()

    def holding(handler: Handler, body: dict[str, Any]) -> None:
        let_go.wait(30)

    server.answers = [holding]
    try:
        with pytest.raises(AdapterError, match=r"within 0\.2 seconds") as raised:
            opened(seconds=0.2).embed("a")
    finally:
        let_go.set()
    assert raised.value.retryable


def test_a_server_that_sends_a_byte_at_a_time_is_given_up(
    opened: Callable[..., OpenAIEmbedding], server: Server
) -> None:
    def dripping(handler: Handler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        try:
            for _ in range(3_000):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.01)
        except OSError:
            handler.close_connection = True

    server.answers = [dripping]

    with pytest.raises(AdapterError, match=r"within 0\.2 seconds"):
        opened(seconds=0.2).embed("a")


@pytest.mark.parametrize(
    "wrong", [{"base_url": "ftp://host"}, {"base_url": "host"}, {"seconds": 0}, {"batch": 0},
        {"dimensions": True}, {"api_key": "a\nb"}]
)  # fmt: skip
def test_wrong_options_are_refused(opened: Callable[..., OpenAIEmbedding], wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        opened(**wrong)


def test_a_blank_text_is_refused_before_it_is_sent(opened: Callable[..., OpenAIEmbedding], server: Server) -> None:
    with pytest.raises(InputError, match="blank"):
        opened().embed_batch(["a", " "])
    assert server.seen == []


FORKING = """
import os, sys
from pieria.models.embedders.openai import OpenAIEmbedding
embedding = OpenAIEmbedding("m", base_url=sys.argv[1])
embedding.embed("before")
child = os.fork()
if not child:
    embedding.embed("child")
    embedding.embed("child again")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
embedding.embed("parent")
embedding.close()
"""


def test_the_child_of_a_fork_has_connections_of_its_own(server: Server) -> None:
    server.RequestHandlerClass = Lasting
    source = str(Path(pieria.__file__).parents[1])
    command = [sys.executable, "-W", "error", "-c", FORKING, server.address]
    done = subprocess.run(command, env={"PYTHONPATH": source}, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    before, child, again, parent = server.ports
    assert before == parent != child == again
