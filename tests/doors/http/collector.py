"""A collector in this process: it takes OTLP over HTTP and keeps what arrives, read by the official messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import NumberDataPoint
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector:
    """What arrived; `status` is the answer to all that comes."""

    def __init__(self) -> None:
        self.address = ""
        self.status = 200
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.traces
            for one in request.resource_spans
            for scope in one.scope_spans
            for span in scope.spans
        ]

    def span(self, name: str, nth: int = 0) -> Span:
        return [span for span in self.spans if span.name == name][nth]

    def resource(self) -> dict[str, Any]:
        return attributes(self.traces[0].resource_spans[0].resource)

    def points(self, name: str) -> list[tuple[dict[str, Any], float]]:
        """Return the newest points of a metric: its attributes, and its count or value."""
        found: dict[str, tuple[dict[str, Any], float]] = {}
        for request in self.metrics:
            for one in request.resource_metrics:
                for metric in (metric for scope in one.scope_metrics for metric in scope.metrics):
                    if metric.name == name:
                        for point in getattr(metric, str(metric.WhichOneof("data"))).data_points:
                            about = attributes(point)
                            found[str(sorted(about.items()))] = about, _value(point)
        return list(found.values())


def _value(point: Any) -> float:
    if isinstance(point, NumberDataPoint):
        return float(getattr(point, str(point.WhichOneof("value"))))
    return float(point.count)


def attributes(holder: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in holder.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if collector.status == 200:
                collector.raw.append(body)
                collector.headers.append(dict(self.headers))
                if self.path == "/v1/traces":
                    collector.traces.append(ExportTraceServiceRequest.FromString(body))
                else:
                    assert self.path == "/v1/metrics"
                    collector.metrics.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        collector.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
