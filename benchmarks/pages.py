"""`python -m benchmarks pages`: the server's time for the web pages of a large bank."""

from __future__ import annotations

import http.client
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import click

from benchmarks.filled import Filled, Say, filled
from benchmarks.rows import Row, quantile
from benchmarks.speed import machine
from pieria.doors.app import application
from pieria.doors.http.callers import Door
from pieria.doors.http.guard import Hosts
from pieria.doors.http.service import service
from pieria.doors.http.tokens import Tokens
from pieria.doors.server import Server, bind
from pieria.doors.web.page import path_of
from pieria.record.address import is_server
from pieria.toolsets import registry
from pieria.workspace import Workspace

NAMED, NAMES = 500, 100
"""Memories with tags and an entity; number of entities, and of facts."""
LOADS, TYPED = 10, 20
"""How often a page is loaded, and how many queries are typed."""
LETTERS = 3
"""Letters typed between two searches."""
PAGE_TARGET, TYPED_TARGET = 300.0, 150.0
MOST = 101_000
"""Largest bank at which the targets must be met: 100,000 memories, and those written meanwhile."""
WAITED = 120.0
_TOLD = re.compile(r"page;dur=([\d.]+)")


LATER = {
    "what is due, which Fading loads later": "fading/due",
    "the checks, which Health loads later": "health/checks",
}
"""Parts that a page loads later: its reader does not wait for them."""


def measure_pages(size: int, say: Say) -> dict[str, Any]:
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        rows = _measured(Path(folder), "bench", size, say)
    return {"machine": machine(), "rows": [row.as_dict() for row in rows], "notes": []}


def measure_pages_on_server(url: str, size: int, say: Say) -> dict[str, Any]:
    """Measure beside a server's existing data; there is no target for servers."""
    if not is_server(url):
        raise click.BadParameter("name a server, as postgresql://host/database", param_hint="--data")
    name = f"bench-pages-{uuid4().hex[:8]}"
    rows = _measured(url, name, size, say)
    notes = [f"This bank was made and is still there: {name}."]
    without_target = [replace(row, target="", met=None).as_dict() for row in rows]
    return {"machine": machine(), "rows": without_target, "notes": notes}


def _measured(data: Path | str, name: str, size: int, say: Say) -> list[Row]:
    with filled(data, size, say, name) as full:
        _people(full)
        with Workspace(data=data, embedder=full.meaning.embed) as workspace, _served(workspace) as asked:
            every = {**pages(full), **{row: path_of(name, path) for row, path in LATER.items()}}
            rows = [_loaded(full, asked, row, path, say) for row, path in every.items()]
            return [*rows, _typed(full, asked, say)]


def pages(full: Filled) -> dict[str, str]:
    """Return the paths to open, by the name of their row."""
    bank, one = full.bank.name, full.bank.list(limit=1)[0].id
    return {
        "Recall": path_of(bank, "recall"),
        "Memories": path_of(bank, "memories"),
        "a memory": path_of(bank, "memory", id=one),
        "Graph": path_of(bank, "graph"),
        "Graph, two steps outwards": path_of(bank, "graph", hops=2),
        "Graph, three steps outwards": path_of(bank, "graph", hops=3),
        "Graph, of one name": path_of(bank, "graph", node=f"entity:{_name(0)}"),
        "Time": path_of(bank, "time"),
        "facts over time": path_of(bank, "time/facts"),
        "Fading": path_of(bank, "fading"),
        "Sessions": path_of(bank, "sessions"),
        "Rules": path_of(bank, "rules"),
        "Quarantine": path_of(bank, "quarantine"),
        "Health": path_of(bank, "health"),
    }


def _people(full: Filled) -> None:
    """Add the memories that pages show besides the workload."""
    texts = list(full.workload.texts(NAMED))
    items: list[dict[str, Any]] = [
        {"text": text, "kind": "observation", "tags": [f"tag{number % 50}"], "entities": [_name(number % NAMES)]}
        for number, text in enumerate(texts)
    ]
    made = full.bank.remember_many(items)
    for number in range(NAMES):
        full.bank.facts.add(_name(number), "works_on", f"part {number % 20}", memory=made[number].id)
        full.bank.link(made[number].id, made[number + 1].id, "related")


def _name(number: int) -> str:
    return f"Name {number}"


Ask = Callable[[str], float]
"""Return the server's time for the page at a path, in milliseconds."""


@contextmanager
def _served(workspace: Workspace) -> Iterator[Ask]:
    door = Door(Tokens(workspace.data), None, always=False)
    app = application(service(workspace, registry()), door, Hosts(), None)
    bound, ready = bind("127.0.0.1", 0), threading.Event()
    server = Server(app, ready.set)
    thread = threading.Thread(target=server.run, args=([bound.listener],), daemon=True)
    thread.start()
    ready.wait(WAITED)
    connection = http.client.HTTPConnection(urlsplit(bound.url).netloc, timeout=WAITED)

    def ask(path: str) -> float:
        connection.request("GET", path, headers={"Accept": "text/html"})
        answer = connection.getresponse()
        answer.read()
        told = _TOLD.search(answer.getheader("Server-Timing", ""))
        if answer.status != 200 or told is None:
            raise RuntimeError(f"the server answered {path} with {answer.status}")
        return float(told[1])

    try:
        yield ask
    finally:
        connection.close()
        server.should_exit = True
        thread.join(WAITED)


def _loaded(full: Filled, ask: Ask, name: str, path: str, say: Say) -> Row:
    """Measure a page, with a write between loads, so that no cached result is shown."""
    took, worked = [], []
    for number in range(LOADS):
        full.write_one()
        idle = time.process_time()
        took.append(ask(path))
        worked.append(1000 * (time.process_time() - idle))
        say(f"loading {name}", number + 1, LOADS)
    detail = {
        "first_ms": round(took[0], 1),
        "max_ms": round(max(took), 1),
        "processor_p50_ms": round(statistics.median(worked), 1),
    }
    return _row(f"{name}, p50", statistics.median(took), None if name in LATER else PAGE_TARGET, full, detail)


def _typed(full: Filled, ask: Ask, say: Say) -> Row:
    """Measure queries while they are typed, a few letters at a time."""
    took, worked = [], []
    for number in range(TYPED):
        full.write_one()
        question, vector = full.question()
        for end in range(LETTERS, len(question) + 1, LETTERS):
            full.meaning.prepare(question[:end].strip(), vector)
            idle = time.process_time()
            took.append(ask(f"{path_of(full.bank.name, 'recall')}?q={quote(question[:end])}"))
            worked.append(1000 * (time.process_time() - idle))
        say("typing questions", number + 1, TYPED)
    detail = {
        "p50_ms": round(statistics.median(took), 1),
        "processor_p50_ms": round(statistics.median(worked), 1),
        "processor_p95_ms": round(quantile(worked, 0.95), 1),
    }
    return _row("search as one types, p95", quantile(took, 0.95), TYPED_TARGET, full, detail)


def _row(name: str, value: float, target: float | None, full: Filled, detail: dict[str, Any]) -> Row:
    met = value < target if target is not None and full.size <= MOST else None
    return Row(name, round(value, 1), "ms", "" if met is None else f"< {target:g}", met, detail)
