"""Embeddings by letters: a function, a slow model, and a real HTTP server that tests can make fail."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import SOON

from pieria.models import EmbeddingResponse


@dataclass
class Request:
    path: str
    key: str | None
    texts: list[str]


@dataclass
class Requests(list[Request]):
    """The received requests, and switches: `failing` refuses every request, and `unwanted` the texts that hold it.

    While `held` is set, the server waits for `let_go`. Vectors are cut to `dimension` numbers.
    """

    failing: threading.Event = field(default_factory=threading.Event)
    unwanted: str | None = None
    held: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)
    dimension: int | None = None


def vector(text: str) -> list[float]:
    return [text.lower().count(letter) + 0.1 for letter in "aeiounrst"]


def letters(texts: list[str]) -> list[list[float]]:
    return [vector(text) for text in texts]


class Slow:
    """An embedding that waits, as a large model does, and records its texts."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.begun, self.may_go = threading.Event(), threading.Event()

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self.embed_batch([text])

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        self.begun.set()
        assert self.may_go.wait(SOON)
        self.seen += texts
        return EmbeddingResponse(letters(list(texts)), "slow")


@contextmanager
def server(requests: Requests | None = None) -> Iterator[tuple[str, Requests]]:
    """Run the server. Yield its address and the requests it receives."""
    told = Requests() if requests is None else requests

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.append(Request(self.path, self.headers["Authorization"], body["input"]))
            if told.held.is_set():
                told.let_go.wait()
            # Clients do not retry after the status 400, so tests do not wait.
            if told.failing.is_set():
                return self._answer(400, {"error": {"message": "out of order"}})
            if told.unwanted is not None and any(told.unwanted in text for text in body["input"]):
                return self._answer(400, {"error": {"message": "not that"}})
            vectors = [vector(text)[: told.dimension] for text in body["input"]]
            data = [{"index": place, "embedding": made} for place, made in enumerate(vectors)]
            return self._answer(200, {"data": data, "usage": {"prompt_tokens": 1}})

        def _answer(self, status: int, reply: object) -> None:
            content = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        serving.daemon_threads = True
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{serving.server_port}", told
        finally:
            told.let_go.set()
            serving.shutdown()
            thread.join()
