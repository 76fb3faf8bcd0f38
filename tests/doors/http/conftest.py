"""The application in this process, and `pieria serve` as a process for tests of sockets or signals."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

import pieria
from pieria.doors.app import application
from pieria.doors.http.callers import Door
from pieria.doors.http.guard import Guard, Hosts
from pieria.doors.http.routes import RESOURCES
from pieria.doors.http.service import Service, service
from pieria.doors.http.tokens import Tokens
from pieria.doors.server import Server, bind
from pieria.runtime.lazy import cached_property
from pieria.toolsets import Tool, registry
from pieria.workspace import Workspace

SOURCE = Path(__file__).parents[3] / "src"
ENTRY = [sys.executable, "-c", "from pieria.doors.cli import main; main()"]
ADDRESS = "http://localhost:7411"
PATIENCE = 30.0
READS, WRITES = "mnemosyne_recall", "mnemosyne_remember"
SCRATCH_READ, SCRATCH_WRITE = "mnemosyne_scratchpad_read", "mnemosyne_scratchpad_write"


@dataclass
class Served:
    """The application within its lifespan."""

    app: Guard
    client: httpx2.Client
    service: Service
    tokens: Tokens

    def token(self, access: str = "write", *banks: str, expires: object = None, person: bool = False) -> dict[str, str]:
        _, shown = self.tokens.create(f"test {len(self.tokens.all())}", access, banks or ("*",), expires, person=person)
        return {"Authorization": f"Bearer {shown}"}

    @cached_property
    def bank(self) -> pieria.Bank:
        return pieria.open("notes")

    def page(self, path: str, **asked: Any) -> str:
        answer = self.client.get(path, **asked)
        assert answer.status_code == 200, (path, answer.text)
        return answer.text

    def head(self, bank: str = "notes") -> int:
        with pieria.open(bank) as opened:
            newest = opened.changes(last=1)
            return newest[0].seq if newest else 0

    def close(self) -> None:
        if "bank" in vars(self):
            self.bank.close()


def _made(hosts: Hosts, rate: float | None, setting: str | None, *, always: bool) -> tuple[Guard, Service, Tokens]:
    workspace = Workspace()
    shared, tokens = service(workspace, registry()), Tokens(workspace.data)
    return application(shared, Door(tokens, setting, always=always), hosts, rate), shared, tokens


@contextmanager
def serving(
    hosts: Hosts | None = None, *, rate: float | None = None, setting: str | None = None, always: bool = False
) -> Iterator[Served]:
    app, shared, tokens = _made(hosts or Hosts(), rate, setting, always=always)
    with TestClient(app, base_url=ADDRESS) as client, closing(Served(app, client, shared, tokens)) as served:
        yield served


@pytest.fixture
def served() -> Iterator[Served]:
    """Serve a bank `notes` that holds a memory `jwt` and a fact."""
    with pieria.open("notes") as bank:
        bank.remember("We chose JWT for all new APIs.", id="jwt", tags=["auth"])
        bank.facts.add("Maya", "works_on", "billing")
    with serving() as found:
        yield found


@contextmanager
def listening() -> Iterator[tuple[Served, str]]:
    app, shared, tokens = _made(Hosts(), None, None, always=False)
    bound = bind("127.0.0.1", 0)
    ready = threading.Event()
    server = Server(app, ready.set)
    thread = threading.Thread(target=server.run, args=([bound.listener],), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        with httpx2.Client(base_url=bound.url, timeout=PATIENCE) as client:
            yield Served(app, client, shared, tokens), bound.url
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


@pytest.fixture
def live() -> Iterator[Served]:
    """Serve on a socket, with no bank yet."""
    with listening() as (served, _):
        yield served


def asked(served: Served, path: str, work: Any, *, mode: str = "auto", **headers: str) -> Any:

    async def main() -> Any:
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
            url = str(served.client.base_url).rstrip("/") + path
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                return await work(client)

    with anyio.from_thread.start_blocking_portal() as portal:
        return portal.call(main)


def calling(name: str, *, _meta: Any = None, **arguments: Any) -> Any:
    async def work(client: Client) -> Any:
        return await client.call_tool(name, arguments, meta=_meta)

    return work


@dataclass
class Process:
    process: subprocess.Popen[bytes]
    url: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=PATIENCE, **more)

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait(PATIENCE)


@contextmanager
def started(*arguments: str) -> Iterator[Process]:
    """Yield `pieria serve` on a free port, once it reports that it serves."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [*ENTRY, "serve", "--port", "0", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read().decode()
        yield Process(process, json.loads(line)["url"])
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()
        process.stderr.close()


def later(served: Served) -> None:
    """Make every token that is valid until 1 January 2999 expire."""
    written = served.tokens.path.read_text()
    assert "2999-01-02T00:00:00Z" in written
    # Use another file, like every change of tokens: one of the same length may have been written at the same moment.
    aside = served.tokens.path.with_suffix(".aside")
    aside.write_text(written.replace("2999-01-02T00:00:00Z", "2020-01-01T00:00:00Z"))
    aside.replace(served.tokens.path)


def requests() -> Iterator[tuple[str, str, str, dict[str, Any] | None]]:
    """Yield (access, method, path on the bank `notes`, valid body) of every bank route and every tool."""
    for resource in RESOURCES:
        path = resource.path.format(bank="notes", id="jwt", number=1)
        body = None if resource.in_query else right(resource.tool)
        yield resource.tool.access.name, resource.method, path, body
    for _, tool in registry():
        yield tool.access.name, "POST", f"/v1/banks/notes/tools/{tool.name}", right(tool)


def right(tool: Tool) -> dict[str, Any]:
    return {name: _value(tool.parameters[name]) for name in tool.input_schema.get("required", ())}


def _value(schema: Any) -> Any:
    kind = schema.get("type", "string")
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "array":
        return [_value(schema.get("items", {}))]
    if kind == "object":
        return {name: _value(schema["properties"][name]) for name in schema.get("required", ())}
    return {"string": "words", "integer": 1, "number": 0.5, "boolean": True}[kind if isinstance(kind, str) else kind[0]]
