"""A scripted model on loopback, which speaks the streams of Anthropic's Messages, of OpenAI's Responses and of chat
completions.

It takes the steps of its script, one in each answer, and then says a last word. It keeps each request, so that a caller
can look for what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

LAST_WORD = "That is all."
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
CALLS = ("function_call", "custom_tool_call")
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call by the tool's full name in the host, such as `mcp__pieria__remember`. A text calls a freeform tool."""

    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Request:
    """What a host sent: its tools by full name, and the whole body as text."""

    tools: tuple[str, ...]
    results: tuple[str, ...]
    text: str
    steps: int
    """Answers of the model so far."""
    task: str
    """What was said before the first answer."""
    by_code: bool = False
    """Whether the host lets the model call tools only by code."""


Step = ToolCall | str
"""A call, or words that end the turn."""
Script = Sequence[Step | Callable[[Request], Step]]
"""Steps. Some depend on what the host sent."""


@dataclass
class ScriptedModel:
    """Serve the script while the context lasts. `tasks` has the scripts of sub-agents, by words of their prompts."""

    script: Script
    tasks: Mapping[str, Script] = field(default_factory=dict)
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

    def next_step(self, request: Request) -> Step:
        """Return the step after those that the request shows. Requests without tools are for titles and the like."""
        script = next((script for words, script in self.tasks.items() if words in request.task), self.script)
        if not (request.tools or request.by_code) or request.steps >= len(script):
            return LAST_WORD
        step = script[request.steps]
        return step(request) if callable(step) else step


def anthropic_request(body: dict[str, Any]) -> Request:
    messages = body["messages"]
    blocks = [block for message in messages for block in _blocks(message["content"])]
    results = tuple(_text(block) for block in blocks if block["type"] == "tool_result")
    tools = tuple(tool["name"] for tool in body.get("tools", ()))
    answers = [message["role"] == "assistant" for message in messages]
    return Request(tools, results, _text(body), sum(answers), _before(messages, answers))


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _before(items: list[dict[str, Any]], answers: list[bool]) -> str:
    return _text(items[: answers.index(True) if True in answers else None])


def openai_request(body: dict[str, Any]) -> Request:
    """Return the request. A model that calls tools by code finds their list by code, too."""
    items = body["input"]
    results = tuple(_text(item) for item in items if item["type"].endswith("_call_output"))
    names = []
    for tool in body.get("tools", ()):
        within = [f"{tool['name']}__{one['name']}" for one in tool.get("tools", ())]
        names += within or [tool.get("name", tool["type"])]
    by_code = any(item["type"] == "additional_tools" for item in items)
    answers = [item["type"] in CALLS or item.get("role") == "assistant" for item in items]
    return Request(tuple(names), results, _text(body), sum(answers), _before(items, answers), by_code)


def chat_request(body: dict[str, Any]) -> Request:
    messages = body["messages"]
    results = tuple(_text(message) for message in messages if message["role"] == "tool")
    tools = tuple(tool["function"]["name"] for tool in body.get("tools", ()))
    answers = [message["role"] == "assistant" for message in messages]
    return Request(tools, results, _text(body), sum(answers), _before(messages, answers))


def _text(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False)


def anthropic_events(step: Step, request: Request, number: int) -> Iterator[Event]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    if isinstance(step, str):
        block: Event = {"type": "text", "text": ""}
        delta: Event = {"type": "text_delta", "text": step}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": step.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "end_turn" if isinstance(step, str) else "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def openai_events(step: Step, request: Request, number: int) -> Iterator[Event]:
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    item = {**_item(step, request, number), "status": "completed"}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {**response, "status": "completed", "usage": USAGE}}


def _item(step: Step, request: Request, number: int) -> Event:
    if isinstance(step, str):
        content = [{"type": "output_text", "text": step, "annotations": []}]
        return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    call = {"call_id": f"call_{number}"}
    if request.by_code:
        code = f"text(await tools.{step.name}({json.dumps(step.arguments)}))"
        return {**call, "type": "custom_tool_call", "name": "exec", "input": code}
    if isinstance(step.arguments, str):
        return {**call, "type": "custom_tool_call", "name": step.name, "input": step.arguments}
    return {**call, "type": "function_call", **_named(step)}


def _named(call: ToolCall) -> dict[str, str]:
    """Name an MCP tool as Codex lists it: in a namespace for each server."""
    namespace, _, name = call.name.rpartition("__")
    return {**({"namespace": namespace} if namespace else {}), "name": name, "arguments": json.dumps(call.arguments)}


def chat_events(step: Step, request: Request, number: int) -> Iterator[Event]:
    chunk = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    if isinstance(step, str):
        delta: Event = {"role": "assistant", "content": step}
    else:
        function = {"name": step.name, "arguments": json.dumps(step.arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    stop = {"index": 0, "delta": {}, "finish_reason": "stop" if isinstance(step, str) else "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield {**chunk, "choices": [stop], "usage": usage}


def _named_line(event: Event) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _chat_line(event: Event) -> str:
    return f"data: {json.dumps(event)}\n\n"


_PROTOCOLS = {
    "/v1/messages": (anthropic_request, anthropic_events, _named_line, ""),
    "/v1/responses": (openai_request, openai_events, _named_line, ""),
    "/v1/chat/completions": (chat_request, chat_events, _chat_line, "data: [DONE]\n\n"),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scripted: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the requests are kept."""

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        """Answer like a project's own server, which agents ask with `curl`."""
        self._send(
            *((200, "application/json", b'{"ok": true}') if self.path == "/health" else (404, "text/plain", b""))
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        protocol = _PROTOCOLS.get(self.path.partition("?")[0])
        if protocol is None:
            self._send(404, "text/plain", b"")
            return
        read, events, line, end = protocol
        request = read(body)
        self.scripted.requests.append(request)
        answer = events(self.scripted.next_step(request), request, len(self.scripted.requests))
        self._send(200, "text/event-stream", ("".join(map(line, answer)) + end).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
