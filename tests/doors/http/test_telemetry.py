"""The log of a server, and its traces and metrics at a real collector: complete, and without contents."""

import json
import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from tests.doors.http.collector import Collector, attributes, collecting
from tests.doors.http.conftest import READS, SOURCE, Served, started
from tests.waiting import soon

from pieria import telemetry
from pieria.doors.http.log import Lines, written
from pieria.doors.http.service import Service, service
from pieria.doors.http.tokens import Tokens
from pieria.doors.otlp import exported
from pieria.doors.server import telemetry_of
from pieria.errors import InputError, UnavailableError
from pieria.toolsets import registry
from pieria.workspace import Workspace

BANK = "/v1/banks/notes"
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
TEXT, QUERY = "We chose jwtheron for all new APIs.", "which zebrafinch do APIs use"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20finch")
        monkeypatch.setenv("PIERIA_TELEMETRY", "otlp")
        yield collector


@pytest.mark.slow
def test_a_collector_gets_traces_and_metrics(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "memory")
    monkeypatch.setenv("PIERIA_EMBEDDER", "hashing:64")
    monkeypatch.setenv("PIERIA_LOG_FORMAT", "json")
    _, token = Tokens(Workspace().data).create("laptop", "admin")
    call = {"name": READS, "arguments": {"query": QUERY}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"Accept": "application/json, text/event-stream"}
    with started() as server:
        with server.client(headers={"Authorization": f"Bearer {token}"}) as client:
            for path, body, headers in (
                (f"{BANK}/memories", {"text": TEXT}, {}),
                (f"{BANK}/recall", {"query": QUERY}, TRACEPARENT),
                (f"{BANK}/facts/nothing/purge", {}, {}),
                ("/mcp/mnemosyne?bank=notes", message, accept),
            ):
                client.post(path, json=body, headers=headers)
            client.get("/health")
        assert server.stop() == 0
        assert server.process.stderr is not None
        log = server.process.stderr.read().decode()

    request = collector.span("POST /v1/banks/{bank}/recall")
    assert request.kind == request.SPAN_KIND_SERVER
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, CALLER)
    recall = collector.span("recall")
    assert (recall.trace_id, recall.parent_span_id) == (request.trace_id, request.span_id)
    assert attributes(recall).items() >= {"pieria.verb": "recall", "pieria.bank": "notes", "pieria.hits": 1}.items()
    embedding = next(span for span in collector.spans if span.trace_id == recall.trace_id and "embed" in span.name)
    assert embedding.parent_span_id == recall.span_id
    mcp, tool = collector.span("POST /mcp/mnemosyne"), collector.span(READS)
    assert (tool.trace_id, tool.parent_span_id) == (mcp.trace_id, mcp.span_id)
    assert collector.span("recall", 1).parent_span_id == tool.span_id
    missing = attributes(collector.span("facts.purge"))
    assert missing.items() >= {"error.type": "NotFoundError", "pieria.bank": "notes"}.items()
    assert not [span for span in collector.spans if "health" in span.name]
    assert collector.resource().items() >= {"service.name": "memory"}.items()
    assert {headers["authorization"] for headers in collector.headers} == {"Bearer finch"}

    requests = {
        about["http.route"]: (about, count) for about, count in collector.points("http.server.request.duration")
    }
    about, count = requests["/v1/banks/{bank}/recall"]
    assert (about["http.request.method"], about["http.response.status_code"], count) == ("POST", 200, 1)
    assert requests["/v1/banks/{bank}/facts/{id}/purge"][0]["http.response.status_code"] == 404
    verbs = {about["pieria.verb"]: count for about, count in collector.points("pieria.bank.verb.duration")}
    assert verbs.items() >= {"remember": 1, "recall": 2, "facts.purge": 1}.items()
    [(about, count)] = collector.points("pieria.toolset.call.duration")
    assert (about["gen_ai.tool.name"], about["pieria.toolset"], count) == (READS, "mnemosyne", 1)

    lines = [json.loads(line) for line in log.splitlines()]
    told = next(line for line in lines if line.get("route") == "/v1/banks/{bank}/recall")
    assert told["trace_id"] == TRACE
    sent = b"".join(collector.raw).decode("utf-8", "replace")
    for word in ("jwtheron", "zebrafinch", token, TEXT, QUERY):
        assert (word in sent, word in log) == (False, False)


def test_gauges_and_tokens_reach_the_collector(collector: Collector) -> None:
    none: dict[str, list[Any]] = {name: [] for name in ("journal_head", "pending_vectors", "jobs", "listeners")}
    with (
        exported(lambda: {**none, "memories": [((("bank", "notes"),), 3)]}),
        telemetry.during("llm.chat", model="m", step="summary") as measured,
    ):
        measured |= {"tokens_input": 20, "tokens_output": 5}
    assert collector.points("pieria.memories") == [({"pieria.bank": "notes"}, 3)]
    tokens = {about["gen_ai.token.type"]: count for about, count in collector.points("pieria.llm.tokens")}
    assert tokens == {"input": 20, "output": 5}
    assert attributes(collector.span("llm.chat"))["gen_ai.request.model"] == "m"
    assert not telemetry.is_heard()


@pytest.mark.slow
def test_requests_go_on_without_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    monkeypatch.setenv("PIERIA_TELEMETRY", "otlp")
    with started() as server:
        with server.client() as client:
            for number in range(20):
                assert client.post(f"{BANK}/memories", json={"text": f"text {number}"}).status_code == 201
        assert server.stop() == 0
        assert server.process.stderr is not None
        log = server.process.stderr.read().decode()
    assert log.count("the collector takes no") == 1 == len(log.splitlines())


def test_an_outage_is_told_once_and_so_is_its_end(
    collector: Collector, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
    collector.status = 401
    with exported(lambda: {}):
        for _ in range(3):
            with telemetry.during("repo.open", repo_id="notes"):
                pass
        soon(lambda: "the collector takes no traces" in caplog.text)
        collector.status = 200
        with telemetry.during("repo.open", repo_id="notes"):
            pass
        soon(lambda: "takes telemetry again" in caplog.text)
    assert caplog.text.count("takes no traces") == 1
    assert "code: 401" in caplog.text


def test_each_request_has_a_line_without_contents(served: Served) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": READS, "arguments": {}}}
    accept = {"Accept": "application/json, text/event-stream", "X-Request-Id": "mine"}
    settings = Workspace(None, {"log_format": "json"}).resolved.settings
    with redirect_stderr(StringIO()) as said, written(settings):
        served.client.post(f"{BANK}/memories", json={"text": TEXT})
        served.client.get(f"{BANK}/memories", params={"tags": QUERY})
        served.client.post("/mcp/mnemosyne?bank=notes", json=message, headers=accept)
        served.client.get(f"/{QUERY}")
        served.client.get("/health")
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    fields = ("level", "method", "route", "status", "bank", "tool", "verb", "error")
    assert [[line.get(field) for field in fields] for line in lines] == [
        ["info", "POST", "/v1/banks/{bank}/memories", 201, "notes", None, "remember", None],
        ["info", "GET", "/v1/banks/{bank}/memories", 200, "notes", None, "list", None],
        ["info", "POST", "/mcp/mnemosyne", 200, "notes", READS, None, "invalid_input"],
        ["info", "GET", None, 404, None, None, None, None],
    ]
    assert lines[2]["request_id"] == "mine" and all(line["ms"] > 0 for line in lines)
    assert "jwtheron" not in said.getvalue() and "zebrafinch" not in said.getvalue()


def test_a_failure_is_logged_without_what_it_quotes(served: Served) -> None:
    settings = Workspace(None, {"log_format": "json"}).resolved.settings
    with (
        redirect_stderr(StringIO()) as said,
        written(settings),
        patch.object(Service, "host", side_effect=ValueError(TEXT)),
    ):
        assert served.client.post(f"{BANK}/recall", json={"query": QUERY}).status_code == 500
    failure, request = map(json.loads, said.getvalue().splitlines())
    assert failure["message"] == "POST /v1/banks/{bank}/recall failed unexpectedly"
    assert failure["traceback"].endswith("ValueError") and failure["request_id"] == request["request_id"]
    assert (failure["level"], request["status"]) == ("error", 500)
    assert "jwtheron" not in said.getvalue()


def test_without_the_extra_the_server_says_what_to_install(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.delitem(sys.modules, "pieria.doors.otlp")
    with pytest.raises(UnavailableError, match="OpenTelemetry is not installed") as refused:
        telemetry_of(service(Workspace(None, {"telemetry": "otlp"}), registry()))
    assert refused.value.hint == "Install it: pip install 'pieria[otel]'."


@pytest.mark.slow
def test_no_sdk_is_imported_unless_it_is_asked_for() -> None:
    code = """
import sys, pieria
def ours(): return sorted({".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("opentelemetry")})
print([name for name in ours() if name != "opentelemetry"])
import pieria.doors.server
print([name for name in ours() if name in ("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=SOURCE)
    assert done.stdout.decode().split() == ["[]", "[]"]


def test_a_reply_carries_the_id_of_its_request(served: Served) -> None:
    given = {
        name: served.client.get("/v1/banks", headers={"X-Request-Id": name}) for name in ("a-1._B", "a b", "x" * 129)
    }
    ids = {name: reply.headers["x-request-id"] for name, reply in given.items()}
    assert ids["a-1._B"] == "a-1._B"
    assert len({*ids.values()}) == 3 and "a b" not in ids.values() and all(len(id) < 129 for id in ids.values())
    assert served.client.get("/health").headers["x-request-id"]


def test_a_line_tells_an_error_without_its_message() -> None:
    def line(name: str, message: str, *arguments: object, error: BaseException | None = None) -> dict[str, Any]:
        failure = None if error is None else (type(error), error, error.__traceback__)
        record = logging.LogRecord(name, logging.WARNING, __file__, 7, message, arguments, failure)
        found: dict[str, Any] = json.loads(Lines().format(record))
        return found

    text = "we chose a heron"
    try:
        try:
            raise ValueError(text)
        except ValueError as problem:
            raise InputError("text", "less", text) from problem
    except InputError as problem:
        told = line("pieria.doors", "%s failed\nbadly: %s", "recall", problem, error=problem)
    assert told["message"] == "recall failed\nbadly: InputError (invalid_input)"
    assert told["traceback"].count("test_telemetry.py") == 2
    assert told["traceback"].index("InputError (invalid_input)") < told["traceback"].index("ValueError")
    assert "heron" not in json.dumps(told)
    assert (told["level"], told["logger"]) == ("warning", "pieria.doors")
    assert told["time"].endswith("+00:00")
    assert line("mcp.server", "heron %s", "heron")["message"] == "mcp.server logged line 7 of test_telemetry"
