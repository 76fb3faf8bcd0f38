"""A real HTTP server with the protocol of embeddings. Tests can make it fail."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Request:
    path: str
    key: str | None
    texts: list[str]


@dataclass
class Requests(list[Request]):
    """The received requests and the switches of the server.

    While `failing` is set, every request gets an error. A text that holds `unwanted` always gets one. While `held` is
    set, the server waits for `let_go`. Vectors are cut to `dimension` numbers.
    """

    failing: threading.Event = field(default_factory=threading.Event)
    unwanted: str | None = None
    held: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)
    dimension: int | None = None


def vector(text: str) -> list[float]:
    return [text.lower().count(letter) + 0.1 for letter in "aeiounrst"]


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
            if told.failing.is_set():
                # Use a status that clients do not retry, so that tests do not wait.
                self._answer(400, {"error": {"message": "out of order"}})
                return
            if told.unwanted is not None and any(told.unwanted in text for text in body["input"]):
                self._answer(400, {"error": {"message": "not that"}})
                return
            data = [
                {"index": place, "embedding": vector(text)[: told.dimension]}
                for place, text in enumerate(body["input"])
            ]
            self._answer(200, {"data": data, "usage": {"prompt_tokens": 1}})

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
