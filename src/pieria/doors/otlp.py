"""Traces and metrics for a collector, by OTLP over HTTP: the only module that knows OpenTelemetry.

It makes them from the spans and points of `pieria.telemetry`, which hold names, sizes and ids. The messages of errors
and lists of ids stay here. The SDK reads the variables OTEL_* itself.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

from pieria import telemetry
from pieria.doors.http.service import BOUNDS, GAUGES, Labels
from pieria.errors import UnavailableError

try:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.metrics import CallbackOptions, Meter, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricExportResult, PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
    from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError as problem:
    raise UnavailableError(
        "telemetry", "OpenTelemetry is not installed", hint="Install it: pip install 'pieria[otel]'."
    ) from problem

LAST_SECONDS = 2.0
"""Seconds that the last traces get when the server ends, and then the last metrics."""
REQUEST = "http.request"
HISTOGRAMS = {REQUEST: "http.server.request.duration"}
"""Histograms with a conventional name, by span; others are `pieria.SPAN.duration`."""
ATTRIBUTES = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "model": "gen_ai.request.model",
    "tokens_input": "gen_ai.usage.input_tokens",
    "tokens_output": "gen_ai.usage.output_tokens",
    "tool": "gen_ai.tool.name",
    "error": "error.type",
    "kind": "error.type",
    "repo_id": "pieria.bank",
}
"""Conventional names of attributes; others are `pieria.NAME`."""
UNSENT = ("monotonic_time", "system_time", "duration", "reason", "stacktrace", "event")
DIMENSIONS = ("method", "route", "status", "tool", "toolset", "verb", "model", "step", "error", "kind")
"""Attributes of metrics: each has few values, so banks and sessions are not among them."""
TOKENS = {"tokens_input": "input", "tokens_output": "output"}
log = logging.getLogger(__name__)
Gauges = Callable[[], Mapping[str, Iterable[tuple[Labels, float]]]]


@contextmanager
def exported(gauges: Gauges) -> Iterator[None]:
    """Send what telemetry reports in the block, with these gauges, and at its end the rest."""
    own = Resource.create({"service.name": "pieria", "service.version": version("pieria")})
    resource = own.merge(OTELResourceDetector().detect())
    outage = Outage()
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    traces.add_span_processor(BatchSpanProcessor(_SpanExporter(outage)))
    reader = PeriodicExportingMetricReader(_MetricExporter(outage))
    meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    meter = meters.get_meter("pieria")
    _observe(meter, gauges)
    detach = telemetry.attach(Sender(traces.get_tracer("pieria"), meter).hear)
    with outage.heard():
        try:
            yield
        finally:
            detach()
            _shut_down({"traces": traces.shutdown, "metrics": meters.shutdown}, outage)


def _shut_down(ways: Mapping[str, Callable[[], None]], outage: Outage) -> None:
    """Send the rest. A collector that hangs must not keep the process alive, so the threads are daemons."""
    threads = {signal: threading.Thread(target=end, daemon=True) for signal, end in ways.items()}
    for thread in threads.values():
        thread.start()
    for signal, thread in threads.items():
        thread.join(LAST_SECONDS)
        if thread.is_alive():
            outage.note(signal, arrived=False)


class Outage(logging.Handler):
    """Says once that the collector takes nothing, and once that it takes all again. Threads may share it.

    It handles the log of the exporters, which repeats itself at each try, and keeps the first reason.
    """

    def __init__(self) -> None:
        super().__init__()
        self._guard = threading.Lock()
        self._reason = ""
        self._failing: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self._reason = self._reason or record.getMessage()

    @contextmanager
    def heard(self) -> Iterator[None]:
        logger = logging.getLogger("opentelemetry.exporter")
        logger.addHandler(self)
        logger.propagate = False
        try:
            yield
        finally:
            logger.propagate = True
            logger.removeHandler(self)

    def note(self, signal: str, *, arrived: bool) -> None:
        """Note the outcome of an export of traces or metrics."""
        with self._guard:
            before, reason = bool(self._failing), self._reason
            (self._failing.discard if arrived else self._failing.add)(signal)
            after = bool(self._failing)
            self._reason = reason if after else ""
        if after and not before:
            log.warning("the collector takes no %s; requests go on without it: %s", signal, reason or "no answer yet")
        elif before and not after:
            log.warning("the collector takes telemetry again")


class _SpanExporter(OTLPSpanExporter):
    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self._outage = outage

    def export(self, spans: Any) -> SpanExportResult:
        result = super().export(spans)
        self._outage.note("traces", arrived=result is SpanExportResult.SUCCESS)
        return result


class _MetricExporter(OTLPMetricExporter):
    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self._outage = outage

    def export(self, metrics_data: Any, timeout_millis: float | None = 10_000, **more: Any) -> MetricExportResult:
        result = super().export(metrics_data, timeout_millis, **more)
        self._outage.note("metrics", arrived=result is MetricExportResult.SUCCESS)
        return result


def _observe(meter: Meter, gauges: Gauges) -> None:
    def observed(name: str, _: CallbackOptions) -> Iterator[Observation]:
        for labels, value in gauges()[name]:
            yield Observation(value, {f"pieria.{label}": text for label, text in labels})

    for name, says in GAUGES.items():
        meter.create_observable_gauge(f"pieria.{name}", [partial(observed, name)], description=says)


class Sender:
    """Makes spans and metrics of telemetry events. Any thread may call `hear`."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._seconds = {
            name: meter.create_histogram(
                HISTOGRAMS.get(name, f"pieria.{name}.duration"), "s", explicit_bucket_boundaries_advisory=BOUNDS
            )
            for name in telemetry.SPANS
        }
        self._tokens = meter.create_counter("pieria.llm.tokens", "{token}", "Tokens of language models.")

    def hear(self, event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        running = telemetry.running()
        if running is None:
            return
        span = running.notes.get("span")
        if event[-1] == "start":
            self._begin(running, measured)
        elif span is None:
            return
        elif event[-1] in ("stop", "exception"):
            self._end(running.name, span, measured, about)
        else:
            span.set_attributes(_attributes(measured))

    def _begin(self, running: telemetry.Running, measured: Mapping[str, Any]) -> None:
        parent = None if running.parent is None else running.parent.notes.get("span")
        # Without a span of ours, that of an MCP client may be around.
        context = None if parent is None else trace.set_span_in_context(parent)
        if running.name == REQUEST:
            context = TraceContextTextMapPropagator().extract(running.metadata["headers"])
        kind = SpanKind.SERVER if running.name == REQUEST else SpanKind.INTERNAL
        span = self._tracer.start_span(
            running.name, context, kind, _attributes(running.metadata), start_time=measured["system_time"]
        )
        running.notes["span"] = span
        running.notes["trace_id"] = trace.format_trace_id(span.get_span_context().trace_id)

    def _end(self, name: str, span: Span, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        all_of = {**about, **measured}
        span.set_attributes(_attributes(all_of))
        if name == REQUEST:
            span.update_name(f"{about['method']} {measured.get('route') or ''}".strip())
        elif "verb" in about or "tool" in about:
            span.update_name(about.get("verb") or about["tool"])
        if all_of.get("error") or "kind" in about or (all_of.get("status") or 0) >= 500:
            span.set_status(StatusCode.ERROR)
        span.end()
        dimensions = _attributes({key: all_of[key] for key in DIMENSIONS if key in all_of})
        self._seconds[name].record(measured["duration"] / 1e9, dimensions)
        for key, direction in TOKENS.items():
            if measured.get(key):
                self._tokens.add(measured[key], {**dimensions, "gen_ai.token.type": direction})


def _attributes(found: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    return {
        ATTRIBUTES.get(name, f"pieria.{name}"): value
        for name, value in found.items()
        if name not in UNSENT and isinstance(value, str | int | float | bool)
    }
