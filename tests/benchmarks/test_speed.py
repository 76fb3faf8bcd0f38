"""`python -m benchmarks speed` on a small workload: the report and not the speed."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from tests.cli.conftest import Ask

from benchmarks import context as telling
from benchmarks import exact, filled, modelled
from benchmarks import mcp_server as serving
from benchmarks.graph_recall import measure_graph_on_server
from benchmarks.pages import measure_pages_on_server
from benchmarks.palace import HALLS, TYPES
from benchmarks.vectors import DIMENSION, Meaning
from benchmarks.workload import FILTERS, place, session
from pieria.record.link import End
from pieria.toolsets.mempalace.words import HALLS as KNOWN

SPEED = import_module("benchmarks.speed")
"""The plain name is the command."""
INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
"""The folder into which the test set-up installs the model."""
SIZE = 1_000
SMALL = {
    SPEED: {"BULK": 200, "QUESTIONS": 12, "SINGLE_WRITES": 5, "ROUNDS": 1},
    exact: {"QUESTIONS": 5},
    telling: {"TOLD": 3, "OBSERVED": 50},
    serving: {"CALLS": 3, "WARM": 1, "ROUNDS": 1},
    modelled: {"TEXTS": 20, "QUESTIONS": 3, "STARTS": 1},
}
ALWAYS = {
    **dict.fromkeys(("import pieria", "pieria --help", "pieria mcp, start to initialize", "remember, p50"), "ms"),
    "pieria mcp, from the end of its input to its own": "ms",
    "pieria mcp, start to initialize, times `import mcp.server.lowlevel`": "times",
    "a tool over stdio, beyond the call in Python, p50": "ms",
    "remember_many without vectors": "memories/s",
    "remember_many without vectors, share of bare": "ratio",
    "remember_many with vectors supplied": "memories/s",
    "remember_many with vectors supplied, share of bare": "ratio",
    "filled 1,000, with windows": "memories/s",
    "disk a memory at 1,000": "bytes",
    "recall at 1,000, p50": "ms",
    **{f"recall at 1,000, a filter passing {part}, p50": "ms" for part in FILTERS},
    **{
        f"nearest at 1,000, a filter passing {part}: as an exact scan finds them": "share"
        for part in ("100 %", *FILTERS)
    },
    **{
        f"context at 1,000{how}, p50": "ms"
        for how in ("", ", of a session's kept moment", ", about a file", ", of a question")
    },
}
WITH_THE_MODEL = {
    "remember_many with the model, share of its own throughput": "ratio",
    "the model, a question of 8 words, p50": "ms",
    "recall at 1,000, with query embedding, p50": "ms",
    "pieria recall in a new process, with the model, at 1,000": "s",
    "resident memory with the model, at 1,000": "MB",
}


@pytest.fixture
def measured(bench: Ask, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that runs the benchmark, which asks and writes little, and returns its rows and notes."""
    for module, values in SMALL.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)

    def runs(*options: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
        told = bench("speed", "--n", str(SIZE), *options, "--json").json
        return {row["name"]: row for row in told["rows"]}, told["notes"]

    return runs


@pytest.mark.slow
def test_every_budget_has_its_row(measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    rows, notes = measured()
    assert {name: row["unit"] for name, row in rows.items()} == ALWAYS | WITH_THE_MODEL
    assert notes == [] and all(row["value"] > 0 for row in rows.values())
    # A bank this small is searched exactly.
    assert [row["value"] for name, row in rows.items() if name.startswith("nearest")] == [1.0] * 5
    both = rows["recall at 1,000, with query embedding, p50"]
    assert both["value"] == pytest.approx(both["detail"]["recall_ms"] + both["detail"]["model_ms"], abs=0.002)
    assert rows["recall at 1,000, p50"]["value"] == both["detail"]["recall_ms"]


@pytest.mark.slow
def test_missing_model_is_noted(measured: Callable[..., Any]) -> None:
    rows, notes = measured("--n", "2000")
    assert ALWAYS.keys() <= rows.keys() and not WITH_THE_MODEL.keys() & rows.keys()
    assert notes == [modelled.MISSING]
    assert "recall, from 1,000 to 2,000" in rows


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[filled.Filled]:
    with filled.filled(tmp_path_factory.mktemp("full"), SIZE, lambda *_: None) as made:
        yield made


def test_bank_holds_the_workload_and_finds_it(full: filled.Filled) -> None:
    assert full.bank.count() == SIZE == full.size == len(full.rows)
    turns = [number for number in range(SIZE) if session(number) is not None]
    assert len(turns) == SIZE // 10
    with full.bank.core.store.reading() as reader:
        assert reader.pending_count() == 0
        assert len(reader.similarities(full.meaning.question(0), full.rows, "passage")) == SIZE
        windows = reader.vectors(full.rows, "window")
    assert sorted(windows) == [full.rows[number] for number in turns]
    assert np.stack([held[0][1] for held in windows.values()]).std(axis=0).min() > 0.01
    for wing, share in FILTERS.values():
        assert full.bank.count(place=End("place", f"{wing}/room")) == share == full.places.count(f"{wing}/room")
    text, vector = full.question()
    own = [number for number, said in enumerate(full.texts) if set(text.split()) <= set(said.split())]
    nearest = int(np.argmax(full.meaning.all.astype(np.float32) @ vector))
    assert nearest in own
    assert full.bank.core.embedding.question(text, 5) == pytest.approx(vector, abs=1e-5)


def test_share_that_a_scan_misses_is_reported(full: filled.Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [row.value for row in exact.exactness(full)] == [1.0] * 5
    monkeypatch.setattr(exact, "WANTED", 5)
    assert [row.value for row in exact.exactness(full)][:4] == [0.5, 0.5, 0.5, 0.5]


def test_the_workload_is_the_same_each_time() -> None:
    for begin in (0, 1_000, 57_000):
        places = [place(number) for number in range(begin, begin + 1_000)]
        assert [places.count(f"{wing}/room") for wing, _ in FILTERS.values()] == [500, 100, 10, 1]
    first, again = (Meaning().vectors([3, 3, 5]) for _ in range(2))
    assert first.shape == (3, DIMENSION)
    assert (first == again).all()
    assert first[0] @ first[1] > first[0] @ first[2]
    assert json.dumps(Meaning().embed(["never heard of"])) == json.dumps(Meaning().embed(["nor of that"]))
    assert [KNOWN[type] for type in TYPES] == [f"hall_{hall}" for hall in HALLS]


def test_only_servers_are_measured_by_address(bench: Ask) -> None:
    for data in ("somewhere", "mysql://host/base"):
        assert "postgresql://" in bench("speed", "--data", data).failed(2)
    for measure in (measure_graph_on_server, measure_pages_on_server):
        with pytest.raises(click.BadParameter, match="name a server"):
            measure("notes.db", 1_000, lambda *_: None)


@pytest.mark.slow
def test_server_is_measured(measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    monkeypatch.setattr(import_module("benchmarks.server"), "SINGLE_WRITES", 5)
    rows, notes = measured("--data", database)
    assert rows["recall at 1,000, p50"]["value"] > 0 and rows["remember at 1,000, p50"]["value"] > 0
    assert all(row["met"] for name, row in rows.items() if name.startswith("nearest"))
    assert "still there" in notes[0]
