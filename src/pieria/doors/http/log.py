"""The log of a server: its level, its form, and one line for each request.

In JSON, no line holds the text of a memory, a query or a token. So a traceback names the kind of an error without its
message, and only libraries in `TRUSTED` are quoted: others may repeat what they were sent.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pieria import telemetry
from pieria.errors import PieriaError

if TYPE_CHECKING:
    from pieria.settings import Settings

OURS = "pieria"
TRUSTED = (OURS, "uvicorn")
"""Loggers whose messages repeat no text that a caller sent."""
REQUEST = "http.request"
NOTED = ("bank", "tool", "verb", "error")
"""What a request's line says beyond its route, in this order."""
CAUSES = 10
"""Most errors in a chain that a traceback shows."""
log = logging.getLogger(f"{OURS}.requests")


@contextmanager
def written(settings: Settings, *, debug: bool = False) -> Iterator[None]:
    """Write the log in the block as the settings say; with `debug`, all of it."""
    as_json = settings.log_format == "json"
    level = "debug" if debug else settings.log_level or ("info" if as_json else "warning")
    logger, root = logging.getLogger(OURS), logging.getLogger()
    before = logger.level, logger.handlers[:]
    logger.setLevel(level.upper())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    if as_json:
        logger.handlers.clear()
        root.addHandler(handler)
        logging.captureWarnings(True)
    detach = telemetry.attach(hear) if logger.isEnabledFor(logging.INFO) else lambda: None
    try:
        yield
    finally:
        detach()
        logger.setLevel(before[0])
        if as_json:
            logging.captureWarnings(False)
            root.removeHandler(handler)
            logger.handlers[:] = before[1]


def hear(event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Note bank, tool and verb of the running request, and log it at its end."""
    match event[1:]:
        case ("toolset", "call", "start"):
            _note(tool=about["tool"])
        case ("toolset", "call", "stop"):
            _note(bank=measured["bank"], error=measured["error"])
        case ("bank", "verb", "start"):
            _note(bank=about["repo_id"], verb=about["verb"])
        case ("http", "request", "stop" | "exception"):
            _log_request(measured, about)


def _note(**found: str | None) -> None:
    running = telemetry.running()
    request = running and running.within(REQUEST)
    if request:
        # The first of several verbs is the one that was asked for.
        for name, value in found.items():
            request.notes.setdefault(name, value)


def _log_request(measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    running = telemetry.running()
    notes = {} if running is None else running.notes
    status = 500 if "kind" in about else measured["status"]
    route = measured.get("route")
    fields = {"method": about["method"], "route": route, "status": status, "ms": round(measured["duration"] / 1e6, 3)}
    fields |= {name: notes[name] for name in NOTED if notes.get(name) is not None}
    log.info("%s %s %s", about["method"], route or "without a route:", status, extra={"request": fields})


class Lines(logging.Formatter):
    """Makes one JSON object of each record."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **_origin(),
            **getattr(record, "request", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            told["traceback"] = _traceback(record.exc_info[1])
        return json.dumps(told)


def _origin() -> dict[str, str]:
    """Return the ids of the request and of the trace that the caller is part of."""
    running = telemetry.running()
    request = running and running.within(REQUEST)
    found = {} if request is None else {"request_id": request.metadata["request_id"]}
    trace = None if running is None else running.notes.get("trace_id")
    return found if trace is None else {**found, "trace_id": trace}


def _message(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] not in TRUSTED:
        return f"{record.name} logged line {record.lineno} of {record.module}"
    arguments = record.args
    if isinstance(arguments, tuple):
        arguments = tuple(_kind(each) if isinstance(each, BaseException) else each for each in arguments)
    return str(record.msg) % arguments if arguments else str(record.msg)


def _kind(error: BaseException) -> str:
    return f"{type(error).__name__} ({error.code})" if isinstance(error, PieriaError) else type(error).__name__


def _traceback(error: BaseException | None) -> str:
    parts: list[str] = []
    while error is not None and len(parts) < CAUSES:
        parts.append("".join(traceback.format_tb(error.__traceback__)) + _kind(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nwhich came from\n".join(parts)
