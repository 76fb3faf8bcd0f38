"""`pieria bench graph` on a small graph: what it tells, not how fast anything is."""

import pytest

from pieria.doors.bench.asking import measure_graph


@pytest.mark.slow
def test_asking_a_graph_is_measured() -> None:
    result = measure_graph(1_000, lambda *_: None)
    filled, asked = result["rows"]
    assert (filled["unit"], asked["unit"]) == ("nodes/s", "ms")
    assert asked["detail"]["nodes_each"] > 10
