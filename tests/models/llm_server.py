"""A real HTTP server that speaks the protocols of OpenAI and Anthropic, replies from a script, and fails on demand.

    with llm_server("Red.", {"colour": "red"}, status(503)) as server:
        OpenAILLM("m", base_url=server.address)

Each request takes the next of the script: a text, a JSON value, or one of the replies below. After the script, a
request with a schema gets the least value that fits, and others get a word. `requests` records the requests.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

OTHERWISE = "ready"
_STOPPED = {"whole": ("stop", "end_turn"), "cut": ("length", "max_tokens"), "refused": ("content_filter", "refusal")}
_LEAST: dict[str, Any] = {"string": OTHERWISE, "number": 0.5, "integer": 1, "boolean": True, "null": None, "array": []}


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    """Header names in lower case."""
    body: dict[str, Any]

    @property
    def is_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    @property
    def messages(self) -> list[dict[str, str]]:
        """All messages, from either protocol."""
        system = self.body.get("system")
        first = [] if system is None else [{"role": "system", "content": system}]
        return [*first, *self.body["messages"]]

    @property
    def documents(self) -> list[str]:
        """The texts for a reranker, from either form of its protocol."""
        found: list[str] = self.body.get("documents") or self.body["texts"]
        return found

    @property
    def schema(self) -> dict[str, Any] | None:
        """The schema that the answer must fit."""
        told = self.body.get("response_format", {}).get("json_schema", self.body.get("output_config", {}).get("format"))
        return None if told is None else told["schema"]

    @property
    def schema_in_words(self) -> dict[str, Any] | None:
        """The schema after the user's last words."""
        last = [message["content"] for message in self.messages if message["role"] == "user"][-1]
        try:
            told = json.loads(last.rpartition("\n\n")[2])
        except ValueError:
            return None
        return told if isinstance(told, dict) else None


class Exchange:
    """One request, and the ways to answer it."""

    def __init__(self, handler: "Handler", request: Request) -> None:
        self.handler = handler
        self.request = request
        self.server = handler.server

    def reply(self, text: str | None, stopped: str = "whole", *, refusal: str | None = None, usage: bool = True) -> Any:
        """Return the body with an answer, in the protocol of the request."""
        read = sum(len(message["content"].split()) for message in self.request.messages)
        written = len((text or "").split())
        reason = _STOPPED[stopped][self.request.is_anthropic]
        if self.request.is_anthropic:
            content = [] if text is None else [{"type": "text", "text": text}]
            body: dict[str, Any] = {"type": "message", "role": "assistant", "content": content, "stop_reason": reason}
            counts = {"input_tokens": read, "output_tokens": written}
        else:
            message = {"role": "assistant", "content": text, "refusal": refusal}
            body = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
            counts = {"prompt_tokens": read, "completion_tokens": written}
        return body | {"usage": counts} if usage else body

    def send(self, body: Any, status: int = 200, headers: Mapping[str, str] | None = None, length: int = 0) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.handler.send_response(status)
        for name, value in (headers or {}).items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("Content-Length", str(length or len(content)))
        self.handler.end_headers()
        self.handler.wfile.write(content)


Reply = Callable[[Exchange], None]
Said = Reply | str | dict[str, Any] | list[Any]


def says(answer: Any, *, usage: bool = True) -> Reply:
    """Reply with a text, or with a JSON value as text."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return lambda exchange: exchange.send(exchange.reply(text, usage=usage))


def cut(text: str) -> Reply:
    """Reply with the beginning of an answer, marked as cut off."""
    return lambda exchange: exchange.send(exchange.reply(text, "cut"))


def refuses(text: str | None = None) -> Reply:
    """Refuse like a content filter."""
    return lambda exchange: exchange.send(exchange.reply(text, "refused"))


def objects(words: str) -> Reply:
    """Refuse like a model of OpenAI, in a field of its own; Anthropic has no such field."""
    return lambda exchange: exchange.send(
        exchange.reply(words, "refused") if exchange.request.is_anthropic else exchange.reply(None, refusal=words)
    )


def status(code: int, message: str = "out of order", **headers: str) -> Reply:
    """Reply with an error, with headers such as Retry_After."""
    return lambda exchange: exchange.send({"error": {"message": message}}, code, headers)


def raw(body: Any, **headers: str) -> Reply:
    """Reply with a body of any kind, with status 200."""
    return lambda exchange: exchange.send(body, headers=headers)


def resets(exchange: Exchange) -> None:
    """Reset the connection without an answer."""
    exchange.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.handler.connection.close()


def hangs(exchange: Exchange) -> None:
    """Never answer while the server runs."""
    exchange.server.let_go.wait()


def drips(exchange: Exchange) -> None:
    """Send a byte at a time until the client closes."""
    handler = exchange.handler
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    try:
        while not exchange.server.let_go.is_set():
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.01)
    except OSError:
        handler.close_connection = True


def breaks_off(exchange: Exchange) -> None:
    """Send fewer bytes than announced."""
    exchange.send(b'{"cho', length=1_000)


def stalls(exchange: Exchange) -> None:
    """Send the beginning of a reply, and then nothing while the server runs."""
    breaks_off(exchange)
    exchange.server.let_go.wait()


def fitting(schema: dict[str, Any]) -> Any:
    """Return the least value that fits a simple schema."""
    for listed in ("enum", "anyOf"):
        if listed in schema:
            return schema[listed][0] if listed == "enum" else fitting(schema[listed][0])
    kind = schema.get("type", "string")
    if kind == "object":
        return {name: fitting(schema["properties"][name]) for name in schema.get("required", ())}
    return _LEAST[kind[0] if isinstance(kind, list) else kind]


class Handler(BaseHTTPRequestHandler):
    server: "LLMServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(self, Request(self.path, headers, body))
        self.server.taken(exchange.request)(exchange)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: the output belongs to the tests."""


class LLMServer(ThreadingHTTPServer):
    """If it `rejects_schemas`, a request with a schema is refused and takes no reply of the script."""

    daemon_threads = True

    def __init__(self, script: Sequence[Said]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.requests: list[Request] = []
        self.rejects_schemas = False
        self.let_go = threading.Event()
        self._one_at_a_time = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def taken(self, request: Request) -> Reply:
        """Record the request and return its reply."""
        with self._one_at_a_time:
            self.requests.append(request)
            if self.rejects_schemas and request.schema is not None:
                name = "output_config" if request.is_anthropic else "response_format"
                return status(400, f"Unknown parameter: '{name}'")
            told = self.script.pop(0) if self.script else self._otherwise(request)
        return told if callable(told) else says(told)

    def _otherwise(self, request: Request) -> Said:
        wanted = request.schema or request.schema_in_words
        return says(OTHERWISE if wanted is None else fitting(wanted))


Serving = TypeVar("Serving", bound=LLMServer)


@contextmanager
def running(server: Serving) -> Iterator[Serving]:
    with server as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield serving
        finally:
            serving.let_go.set()
            serving.shutdown()
            thread.join()


def llm_server(*script: Said) -> AbstractContextManager[LLMServer]:
    return running(LLMServer(script))
