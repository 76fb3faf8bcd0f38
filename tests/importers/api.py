"""An HTTP server that speaks another system's API: routes are functions of the query and the body."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

Api = Callable[[Mapping[str, str], object], object]


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class Served:
    address: str
    seen: list[Seen] = field(default_factory=list)


@contextmanager
def served(routes: Mapping[str, Api]) -> Iterator[Served]:
    """Serve `METHOD /path` routes on a free port. Any other path answers 404."""
    told = Served("")

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            headers = {name.lower(): value for name, value in self.headers.items()}
            told.seen.append(Seen(self.command, parts.path, query, headers))
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            route = routes.get(f"{self.command} {parts.path}")
            written = json.dumps({"detail": "Not Found"} if route is None else route(query, body)).encode()
            self.send_response(404 if route is None else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
