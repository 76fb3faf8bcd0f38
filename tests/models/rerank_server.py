"""A real HTTP server that reranks in both forms of the protocol, and fails on demand.

    with rerank_server(status(503)) as server:
        reranker("server:m", options={"base_url": server.address})

Each request takes the next answer of the script. When the script is used up, `judge` scores the documents, and the
reply has the form of the request. `requests` records the requests.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    """Header names in lower case."""
    body: dict[str, Any]

    @property
    def documents(self) -> list[str]:
        found: list[str] = self.body.get("documents") or self.body["texts"]
        return found


class Handler(BaseHTTPRequestHandler):
    server: "RerankServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, body)
        self.server.requests.append(request)
        script = self.server.script
        (script.pop(0) if script else well)(self, request)

    def reply(self, content: object, status: int = 200, **headers: str) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: the output belongs to the tests."""


Answer = Callable[[Handler, Request], None]
Judge = Callable[[str, str], float]


def by_length(query: str, document: str) -> float:
    return 1 / len(document)


class RerankServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Sequence[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.requests: list[Request] = []
        self.judge: Judge = by_length
        self.let_go = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


def well(handler: Handler, request: Request) -> None:
    """Reply best first, like a server."""
    judged = [(handler.server.judge(request.body["query"], text), n) for n, text in enumerate(request.documents)]
    judged.sort(key=lambda pair: -pair[0])
    if "texts" in request.body:
        handler.reply([{"index": index, "score": score} for score, index in judged])
        return
    results = [{"index": index, "relevance_score": score} for score, index in judged]
    handler.reply({"results": results, "usage": {"total_tokens": 7}})


def says(content: object, code: int = 200, **headers: str) -> Answer:
    """Reply with a body of any kind."""
    return lambda handler, request: handler.reply(content, code, **headers)


def status(code: int, message: str = "out of order", **headers: str) -> Answer:
    return says({"message": message}, code, **headers)


def pairs(*scores: tuple[Any, Any]) -> Answer:
    """Reply with results of these indices and scores."""
    return says({"results": [{"index": index, "relevance_score": score} for index, score in scores]})


def never(handler: Handler, request: Request) -> None:
    """Never answer while the server runs."""
    handler.server.let_go.wait()


@contextmanager
def rerank_server(*script: Answer) -> Iterator[RerankServer]:
    with RerankServer(script) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield serving
        finally:
            serving.let_go.set()
            serving.shutdown()
            thread.join()
