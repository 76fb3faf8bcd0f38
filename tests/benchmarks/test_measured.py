"""Smaller benchmarks on small workloads: the report and not the speed."""

import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Ask

from benchmarks import capture_cost as capturing
from benchmarks import telling_hooks
from benchmarks.graph_recall import measure_graph, measure_graph_on_server
from benchmarks.pages import LATER, measure_pages, measure_pages_on_server
from benchmarks.palace import measure_palace
from pieria.doors.web.pages import PAGES

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"


def quiet(*_: object) -> None:
    """Report no progress."""


@pytest.mark.slow
def test_hooks_are_timed_and_events_weighed(bench: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {capturing: {"EVENTS": 3, "LINES": 20}, telling_hooks: {"MEMORIES": 5, "RUNS": 1}}
    for module, values in small.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    told = bench("capture", "--n", "1000", "--events", "200", "--json").json
    rows = {row["name"]: row for row in told["rows"]}
    weighed = rows["disk an event, distilled, with vectors"]["detail"]
    assert (weighed["events"], weighed["summaries"]) == (200, 2)
    assert weighed["turns"] >= 38 and weighed["observations"] > 10
    hook, drain, *_ = told["rows"]
    assert (hook["name"], hook["target"]) == ("a hook beside 1,000 memories, p95", "< 60")
    # The value is judged before it is rounded.
    assert hook["met"] in (hook["value"] < 60, hook["value"] <= 60)
    assert hook["detail"]["python_alone_p50_ms"] > 0 and hook["detail"]["max_ms"] > 0
    # All that hooks and the test spooled is handed over.
    assert drain["detail"]["events"] == 23
    assert len({name for name in rows if name.startswith("context")}) == (0 if told["notes"] else 2)


@pytest.mark.slow
def test_graph_is_measured() -> None:
    filled, asked = measure_graph(1_000, quiet)["rows"]
    assert (filled["unit"], asked["unit"]) == ("nodes/s", "ms")
    assert asked["detail"]["nodes_each"] > 10


@pytest.mark.slow
def test_pages_are_measured() -> None:
    *loaded, typed = measure_pages(1_000, quiet)["rows"]
    names = [row["name"].removesuffix(", p50") for row in loaded]
    assert {page.title for page in PAGES} <= set(names)
    for name, row in zip(names, loaded, strict=True):
        assert row["value"] > 0 and (row["met"] is None) == (name in LATER)
    assert typed["name"] == "search as one types, p95" and typed["detail"]["p50_ms"] > 0


@pytest.mark.slow
def test_graph_on_a_server_is_measured_without_targets(database: str) -> None:
    result = measure_graph_on_server(database, 1_000, quiet)
    assert [row["met"] for row in result["rows"]] == [None, None]
    assert result["rows"][1]["detail"]["nodes_each"] > 10
    [note] = result["notes"]
    assert "bench-graph-" in note


@pytest.mark.slow
def test_pages_on_a_server_are_measured_without_targets(database: str) -> None:
    result = measure_pages_on_server(database, 1_000, quiet)
    assert all(row["value"] > 0 and row["met"] is None for row in result["rows"])
    assert "still there" in result["notes"][0]


@pytest.mark.slow
def test_care_of_a_graph_is_measured(bench: Ask) -> None:
    told = bench("graphcare", "--n", "1000", "--json").json
    rows = {row["name"]: row for row in told["rows"]}
    assert rows["validate, 1,000 nodes"]["detail"]["checked"] > 300
    assert rows["consolidate, 1,000 nodes"]["detail"]["deleted"] > 10
    assert rows["prune, 1,000 nodes"]["detail"]["deleted"] > 300
    assert rows["repair, 1,000 nodes"]["target"] == "" and rows["prune, 1,000 nodes"]["target"] == "< 20"
    assert rows["memory at most, the process"]["value"] > 0


def test_mining_is_measured_first_again_and_grown(bench: Ask) -> None:
    told = bench("mining", "--turns", "250", "--json").json
    rows = {row["name"]: row for row in told["rows"]}
    assert rows["mining 250 turns"]["detail"]["turns_a_second"] > 0
    again = rows["the same again, memories added or changed"]
    assert (again["value"], again["met"]) == (0, True)
    assert rows["the same again, share of that"]["value"] > 0
    assert rows["the same when one turn came in"]["detail"] == {"new": 1}
    assert rows["memory taken at most beyond what was held"]["value"] >= 0
    assert bench("mining", "--turns", "3").code == 2


@pytest.mark.slow
def test_palace_is_measured_tool_by_tool() -> None:
    first, *rows = measure_palace(1_000, quiet)["rows"]
    assert first["value"] > 0
    assert {row["name"].partition(",")[0] for row in rows} >= {
        "status", "list_wings", "list_rooms", "get_taxonomy", "traverse", "search", "search in a hall",
    }  # fmt: skip
    # The value is judged before it is rounded.
    assert all(row["target"] == "< 50" and row["met"] in (row["value"] < 50, row["value"] <= 50) for row in rows)
