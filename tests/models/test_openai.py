"""The adapter for embeddings of a server, against a real HTTP server on this machine that misbehaves on demand."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.models.llm_server import Exchange, Handler, LLMServer, Reply, hangs, raw, status

import pieria
from pieria.errors import AdapterError, InputError
from pieria.models.embedders.openai import OpenAIEmbedding

KEY = "made-up-key-0123456789"
Opened = Callable[..., OpenAIEmbedding]


def well(exchange: Exchange) -> None:
    texts = exchange.request.body["input"]
    data = [{"index": place, "embedding": [float(len(text)), 1.5, -2]} for place, text in enumerate(texts)]
    exchange.send({"data": data[::-1], "usage": {"prompt_tokens": len(data)}})


def vectors(*made: list[float]) -> Reply:
    return raw({"data": [{"index": place, "embedding": vector} for place, vector in enumerate(made)]})


@pytest.fixture
def opened(server: LLMServer, pauses: list[float]) -> Iterator[Opened]:
    with ExitStack() as stack:

        def open(**options: Any) -> OpenAIEmbedding:
            given = {"base_url": server.address, "api_key": KEY, "sleep": pauses.append, **options}
            return stack.enter_context(closing(OpenAIEmbedding("m", **given)))

        yield open


def test_texts_are_sent_in_batches_and_keep_their_order(opened: Opened, server: LLMServer) -> None:
    server.script = [well] * 6
    reply = opened(batch=2).embed_batch(["a", "bb", "ccc", "dddd", "eeeee"])
    assert [vector[0] for vector in reply.vectors] == [1, 2, 3, 4, 5]
    assert (reply.model, reply.usage) == ("openai:m", {"input_tokens": 5})
    first, *_ = server.requests
    assert (first.path, first.headers["authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert first.body == {"model": "m", "input": ["a", "bb"], "encoding_format": "float"}
    assert [request.body["input"] for request in server.requests] == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    opened().embed_batch(["x" * 150_000] * 3)
    assert len(server.requests) == 6


def test_dimension_is_requested_and_kept(opened: Opened, server: LLMServer) -> None:
    server.script = [well, well, well, vectors([1.0, 2.0])]
    assert len(opened(dimensions=3).embed("a").vectors[0]) == 3
    assert server.requests[0].body["dimensions"] == 3
    with pytest.raises(AdapterError, match="expected 64 dimensions, got 3"):
        opened(dimensions=64).embed("a")
    embedding = opened()
    embedding.embed("a")
    with pytest.raises(AdapterError, match="expected 3 dimensions, got 2"):
        embedding.embed("b")


def test_errors_have_a_limit_a_hint_and_no_text(opened: Opened, server: LLMServer) -> None:
    text = "our secret plan for the spring of next year"
    server.script = [hangs, *(status(code, f"no model for 'x {text[4:30]}'") for code in (401, 404))]
    with pytest.raises(AdapterError, match=r"within 0\.2 seconds"):
        opened(seconds=0.2).embed(text)
    for code, hint in ((401, "Check the API key."), (404, "address")):
        with pytest.raises(AdapterError, match=str(code)) as raised:
            opened().embed(text)
        assert hint in str(raised.value.hint)
        assert "secret plan" not in str(raised.value) + repr(raised.value) + json.dumps(raised.value.as_dict())


def test_impossible_reply_is_refused(opened: Opened, server: LLMServer) -> None:
    items: list[Any] = [
        [], 3, [{"embedding": [1.0]}], [{"index": 1, "embedding": [1]}], [{"index": 0, "embedding": "AAAA"}],
        [{"index": 0, "embedding": []}], [{"index": 0, "embedding": [1, None]}], [{"index": 0, "embedding": [1]}] * 2,
    ]  # fmt: skip
    server.script = [raw(b"<html>"), raw(b"[1]"), raw({}), *(raw({"data": data}) for data in items)]
    embedding = opened()
    while server.script:
        with pytest.raises(AdapterError, match="openai:m"):
            embedding.embed("a")


def test_wrong_options_and_blank_texts_are_refused(opened: Opened, server: LLMServer) -> None:
    wrong: dict[str, Any] = {"base_url": "host", "seconds": 0, "batch": 0, "dimensions": True, "api_key": "a\nb"}
    for name, value in wrong.items():
        with pytest.raises(InputError, match=name):
            opened(**{name: value})
    with pytest.raises(InputError, match="blank"):
        opened().embed_batch(["a", " "])
    assert server.requests == []


class Lasting(Handler):
    """Keeps its connections open, and records the port of each request."""

    protocol_version = "HTTP/1.1"
    ports: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        self.ports.append(self.client_address[1])
        super().do_POST()


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


def test_forked_child_opens_its_own_connections(server: LLMServer) -> None:
    Lasting.ports.clear()
    server.RequestHandlerClass = Lasting
    server.script = [well] * 4
    source = str(Path(pieria.__file__).parents[1])
    command = [sys.executable, "-W", "error", "-c", FORKING, server.address]
    done = subprocess.run(command, env={"PYTHONPATH": source}, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    before, child, again, parent = Lasting.ports
    assert before == parent != child == again
