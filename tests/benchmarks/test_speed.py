"""`python -m benchmarks speed` on a small workload: the report and not the speed."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import Ask

from benchmarks import context as telling
from benchmarks import exact, filled, modelled
from benchmarks import mcp_server as serving
from benchmarks.vectors import DIMENSION, Meaning
from benchmarks.workload import FILTERS, place, session
from pieria.record.link import End

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
    "import pieria": "ms",
    "pieria --help": "ms",
    "pieria mcp, start to initialize": "ms",
    "pieria mcp, from the end of its input to its own": "ms",
    "pieria mcp, start to initialize, times `import mcp.server.lowlevel`": "times",
    "a tool over stdio, beyond the call in Python, p50": "ms",
    "remember_many without vectors": "memories/s",
    "remember_many without vectors, share of bare": "ratio",
    "remember_many with vectors supplied": "memories/s",
    "remember_many with vectors supplied, share of bare": "ratio",
    "remember, p50": "ms",
    "filled 1,000, with windows": "memories/s",
    "disk a memory at 1,000": "bytes",
    "recall at 1,000, p50": "ms",
    **{f"recall at 1,000, a filter passing {share}, p50": "ms" for share in FILTERS},
    **{
        f"nearest at 1,000, a filter passing {share}: as an exact scan finds them": "share"
        for share in ("100 %", *FILTERS)
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
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the benchmark ask and write little."""
    for module, values in SMALL.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)


def rows_of(answer: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in answer["rows"]}


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_every_budget_has_its_row(bench: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    told = bench("speed", "--n", str(SIZE), "--json").json
    rows = rows_of(told)
    assert {name: row["unit"] for name, row in rows.items()} == ALWAYS | WITH_THE_MODEL
    assert told["notes"] == []
    assert all(row["value"] > 0 for row in rows.values())
    # A bank this small is searched exactly.
    assert [row["value"] for name, row in rows.items() if name.startswith("nearest")] == [1.0] * 5
    both = rows["recall at 1,000, with query embedding, p50"]
    assert both["value"] == pytest.approx(both["detail"]["recall_ms"] + both["detail"]["model_ms"], abs=0.002)
    assert rows["recall at 1,000, p50"]["value"] == both["detail"]["recall_ms"]


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_missing_model_is_noted(bench: Ask) -> None:
    told = bench("speed", "--n", str(SIZE), "--n", "2000", "--json").json
    assert ALWAYS.keys() <= rows_of(told).keys()
    assert not WITH_THE_MODEL.keys() & rows_of(told).keys()
    assert told["notes"] == [modelled.MISSING]
    assert "recall, from 1,000 to 2,000" in rows_of(told)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[filled.Filled]:
    with filled.filled(tmp_path_factory.mktemp("full"), SIZE, lambda *_: None) as made:
        yield made


def test_bank_holds_the_workload(full: filled.Filled) -> None:
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


def test_question_is_near_its_own_text(full: filled.Filled) -> None:
    text, vector = full.question()
    own = [number for number, said in enumerate(full.texts) if set(text.split()) <= set(said.split())]
    nearest = int(np.argmax(full.meaning.all.astype(np.float32) @ vector))
    assert nearest in own
    assert full.bank.core.embedding.question(text, 5) == pytest.approx(vector, abs=1e-5)


def test_share_that_a_scan_misses_is_reported(full: filled.Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [row.value for row in exact.exactness(full)] == [1.0] * 5
    monkeypatch.setattr(exact, "WANTED", 5)
    assert [row.value for row in exact.exactness(full)][:4] == [0.5, 0.5, 0.5, 0.5]


def test_filters_pass_their_share_of_every_thousand() -> None:
    for begin in (0, 1_000, 57_000):
        places = [place(number) for number in range(begin, begin + 1_000)]
        assert [places.count(f"{wing}/room") for wing, _ in FILTERS.values()] == [500, 100, 10, 1]


def test_the_workload_is_the_same_each_time() -> None:
    first, again = (Meaning().vectors([3, 3, 5]) for _ in range(2))
    assert first.shape == (3, DIMENSION)
    assert (first == again).all()
    assert first[0] @ first[1] > first[0] @ first[2]
    assert json.dumps(Meaning().embed(["never heard of"])) == json.dumps(Meaning().embed(["nor of that"]))


def test_only_servers_are_measured_by_address(bench: Ask) -> None:
    for data in ("somewhere", "mysql://host/base"):
        result = bench("speed", "--data", data)
        assert result.code == 2
        assert "postgresql://" in result.err


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_server_is_measured(bench: Ask, monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    monkeypatch.setattr(import_module("benchmarks.server"), "SINGLE_WRITES", 5)
    result = bench("speed", "--data", database, "--n", str(SIZE), "--json")
    told = result.json
    rows = {row["name"]: row for row in told["rows"]}
    assert rows[f"recall at {SIZE:,}, p50"]["value"] > 0
    assert rows[f"remember at {SIZE:,}, p50"]["value"] > 0
    assert all(row["met"] for name, row in rows.items() if name.startswith("nearest"))
    assert "still there" in told["notes"][0]
