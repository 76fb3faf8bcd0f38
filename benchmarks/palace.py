"""`python -m benchmarks palace`: the time of reading tools in a large palace, called through the toolset."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.filled import Say
from benchmarks.rows import Row, quantile
from benchmarks.speed import machine
from benchmarks.vectors import Meaning
from benchmarks.workload import Workload
from pieria.bank import Bank
from pieria.toolsets import Banks, Host, called, registry
from pieria.toolsets.host import paths_of_user
from pieria.workspace import Workspace

WINGS, ROOMS, SHARED = 40, 25, 5
"""Number of wings, of rooms in each, and of rooms whose name all wings share."""
NAMES = 5_000
"""Number of people; each drawer names one, which connects rooms."""
HALLS = ("facts", "decisions", "events", "discoveries", "preferences", "advice", "diary")
TYPES = ("fact", "decision", "event", "discovery", "preference", "advice", "diary")
STEP = 5_000
CALLS = 100
WRITE_EVERY = 10
TARGET = 50.0
FROM = 50_000
"""Largest number of drawers at which the target must be met."""

Arguments = dict[str, Any]


class Palace:
    """A bank of drawers with their vectors, and queries about one of them, with its place and hall."""

    def __init__(self, bank: Bank, host: Host, meaning: Meaning) -> None:
        self.bank, self.host, self.meaning = bank, host, meaning
        self.workload = Workload()
        self.texts: list[str] = []

    def write(self, number: int) -> None:
        texts = list(self.workload.texts(number))
        vectors = self.meaning.vectors([self.meaning.subject() for _ in texts])
        items = []
        for one, (text, vector) in enumerate(zip(texts, vectors, strict=True), len(self.texts)):
            self.meaning.prepare(text, vector)
            where = "/".join(place(one))
            name = f"Name {self.workload.below(NAMES)}"
            items.append({"text": text, "kind": "drawer", "place": where, "session": where, "vectors": vector,
                          "entities": [name], "body": {"type": TYPES[one % len(TYPES)]}})  # fmt: skip
        self.bank.remember_many(items)
        self.bank.sync()
        self.meaning.forget_prepared()
        self.texts += texts

    def drawer(self) -> int:
        return self.workload.below(len(self.texts))

    def question(self, number: int) -> str:
        """Return eight words of a drawer, with a vector near its own."""
        text = self.workload.question(self.texts[number])
        self.meaning.prepare(text, self.meaning.question(number))
        return text

    def call(self, tool: str, arguments: Arguments) -> None:
        reply = called(registry(), f"mempalace_{tool}", arguments, self.host)
        if reply.error is not None:
            raise reply.error


def measure_palace(size: int, say: Say) -> dict[str, Any]:
    meaning = Meaning()
    with (
        TemporaryDirectory(prefix="pieria-bench-") as folder,
        Workspace(data=Path(folder), embedder=meaning.embed) as workspace,
        workspace.open("palace") as bank,
    ):
        host = Host(Banks(workspace, "bench"), "palace", None, paths_of_user(workspace))
        palace = Palace(bank, host, meaning)
        while len(palace.texts) < size:
            palace.write(min(STEP, size - len(palace.texts)))
            say("filling the palace", len(palace.texts), size)
        rows = [_once(palace), *(_row(palace, size, name, *one, say) for name, one in calls(palace).items())]
    return {"machine": machine(), "rows": [row.as_dict() for row in rows], "notes": []}


def calls(palace: Palace) -> dict[str, tuple[str, Callable[[], Arguments]]]:
    """Return tools by the name of their row, each with a function that makes the next arguments."""

    def searching(*filters: str) -> tuple[str, Callable[[], Arguments]]:
        def arguments() -> Arguments:
            one = palace.drawer()
            wing, room = place(one)
            every = {"wing": wing, "room": room, "hall": f"hall_{HALLS[one % len(HALLS)]}"}
            return {"query": palace.question(one), **{name: every[name] for name in filters}}

        return "search", arguments

    def nothing() -> Arguments:
        return {}

    return {
        **{tool: (tool, nothing) for tool in ("status", "list_wings", "list_rooms", "get_taxonomy")},
        "traverse": ("traverse", lambda: {"start_room": place(palace.drawer())[1]}),
        "search": searching(),
        "search in a wing": searching("wing"),
        "search in a room of any wing": searching("room"),
        "search in a room": searching("wing", "room"),
        "search in a hall": searching("hall"),
        "search in a hall of a room of any wing": searching("room", "hall"),
        "list_drawers": ("list_drawers", nothing),
        "find_tunnels": ("find_tunnels", nothing),
        "graph_stats": ("graph_stats", nothing),
    }


def place(number: int) -> tuple[str, str]:
    """Return wing and room of a drawer."""
    rest, wing = divmod(number, WINGS)
    room = rest % ROOMS
    return f"wing {wing}", f"room {room}" if room < SHARED else f"room {room} of {wing}"


def _once(palace: Palace) -> Row:
    """Measure the first status, which reads the places of all drawers; later calls only read changes."""
    worked, _ = _timed(palace, "status", {})
    return Row("the first status of a process", round(worked, 1), "ms", "", None, {})


def _row(palace: Palace, size: int, name: str, tool: str, arguments: Callable[[], Arguments], say: Say) -> Row:
    for _ in HALLS:
        palace.call(tool, arguments())
    taken = list(_asked(palace, tool, arguments, name, say))
    worked = [one for one, _ in taken]
    p95 = quantile(worked, 0.95)
    detail = {
        "p50_ms": round(quantile(worked, 0.5), 1),
        "elapsed_p50_ms": round(quantile([one for _, one in taken], 0.5), 1),
        "elapsed_p95_ms": round(quantile([one for _, one in taken], 0.95), 1),
    }
    met = p95 < TARGET if size <= FROM else None
    return Row(f"{name}, processor, p95", round(p95, 1), "ms", "" if met is None else f"< {TARGET:g}", met, detail)


def _asked(
    palace: Palace, tool: str, arguments: Callable[[], Arguments], name: str, say: Say
) -> Iterator[tuple[float, float]]:
    for number in range(CALLS):
        if number % WRITE_EVERY == 0:
            palace.write(1)
        yield _timed(palace, tool, arguments())
        say(name, number + 1, CALLS)


def _timed(palace: Palace, tool: str, arguments: Arguments) -> tuple[float, float]:
    """Return processor time and elapsed time, in milliseconds."""
    begun, idle = time.perf_counter(), time.process_time()
    palace.call(tool, arguments)
    return 1000 * (time.process_time() - idle), 1000 * (time.perf_counter() - begun)
