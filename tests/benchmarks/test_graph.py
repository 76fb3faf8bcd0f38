"""`python -m benchmarks graph` on a small graph: the report and not the speed."""

import click
import pytest

from benchmarks.graph_recall import measure_graph, measure_graph_on_server


@pytest.mark.slow
def test_asking_a_graph_is_measured() -> None:
    result = measure_graph(1_000, lambda *_: None)
    filled, asked = result["rows"]
    assert (filled["unit"], asked["unit"]) == ("nodes/s", "ms")
    assert asked["detail"]["nodes_each"] > 10


@pytest.mark.slow
def test_on_a_server_it_measures_in_a_bank_of_its_own_and_names_it(database: str) -> None:
    result = measure_graph_on_server(database, 1_000, lambda *_: None)
    assert [row["met"] for row in result["rows"]] == [None, None]
    assert result["rows"][1]["detail"]["nodes_each"] > 10
    [note] = result["notes"]
    assert "bench-graph-" in note


def test_what_is_no_server_is_refused() -> None:
    with pytest.raises(click.BadParameter, match="name a server"):
        measure_graph_on_server("notes.db", 1_000, lambda *_: None)
