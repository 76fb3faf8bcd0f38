"""A scripted model on loopback, which speaks the streams of Anthropic's Messages and of OpenAI's Responses.

It calls the tools of its script, one in each answer, and then says a last word. It keeps each request, so that a caller
can look for what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

LAST_WORD = "That is all."
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call by the tool's full name in the host, such as `mcp__pieria__remember`."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a host sent: its tools by full name, and the whole body as text."""

    tools: tuple[str, ...]
    results: tuple[str, ...]
    text: str
    by_code: bool = False
    """Whether the host lets the model call tools only by code."""


@dataclass
class ScriptedModel:
    """Serve the script while the context lasts."""

    script: list[ToolCall]
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"scripted": self}))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def next_call(self, request: Request) -> ToolCall | None:
        """Return the call after those that the request has results of."""
        done = len(request.results)
        return self.script[done] if done < len(self.script) else None


def anthropic_request(body: dict[str, Any]) -> Request:
    blocks = [block for message in body["messages"] for block in _blocks(message["content"])]
    results = tuple(_text(block) for block in blocks if block["type"] == "tool_result")
    return Request(tuple(tool["name"] for tool in body.get("tools", ())), results, _text(body))


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def openai_request(body: dict[str, Any]) -> Request:
    """Return the request. A model that calls tools by code finds their list by code, too."""
    items = body["input"]
    results = tuple(_text(item) for item in items if item["type"].endswith("_call_output"))
    names = []
    for tool in body.get("tools", ()):
        within = [f"{tool['name']}__{one['name']}" for one in tool.get("tools", ())]
        names += within or [tool.get("name", tool["type"])]
    by_code = any(item["type"] == "additional_tools" for item in items)
    return Request(tuple(names), results, _text(body), by_code)


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False)


def anthropic_events(call: ToolCall | None, request: Request, number: int) -> Iterator[Event]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    if call is None:
        block: Event = {"type": "text", "text": ""}
        delta: Event = {"type": "text_delta", "text": LAST_WORD}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def openai_events(call: ToolCall | None, request: Request, number: int) -> Iterator[Event]:
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    if call is None:
        content = [{"type": "output_text", "text": LAST_WORD, "annotations": []}]
        item: Event = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    elif request.by_code:
        code = f"text(await tools.{call.name}({json.dumps(call.arguments)}))"
        item = {"type": "custom_tool_call", "call_id": f"call_{number}", "name": "exec", "input": code}
    else:
        item = {"type": "function_call", "call_id": f"call_{number}", **_named(call)}
    yield {"type": "response.output_item.done", "output_index": 0, "item": {**item, "status": "completed"}}
    yield {"type": "response.completed", "response": {**response, "status": "completed", "usage": USAGE}}


def _named(call: ToolCall) -> dict[str, str]:
    """Name an MCP tool as Codex lists it: in a namespace for each server."""
    namespace, _, name = call.name.rpartition("__")
    return {"namespace": namespace, "name": name, "arguments": json.dumps(call.arguments)}


_PROTOCOLS = {
    "/v1/messages": (anthropic_request, anthropic_events),
    "/v1/responses": (openai_request, openai_events),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scripted: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the requests are kept."""

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        protocol = _PROTOCOLS.get(self.path.partition("?")[0])
        if protocol is None:
            self._send(404, "text/plain", b"")
            return
        read, events = protocol
        request = read(body)
        self.scripted.requests.append(request)
        answer = events(self.scripted.next_call(request), request, len(self.scripted.requests))
        sent = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in answer)
        self._send(200, "text/event-stream", sent.encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
