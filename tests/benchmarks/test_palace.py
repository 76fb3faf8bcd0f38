"""`python -m benchmarks palace` on a small palace: the report and not the speed."""

import pytest

from benchmarks.palace import HALLS, TYPES, measure_palace
from pieria.toolsets.mempalace.words import HALLS as KNOWN


def test_the_halls_of_the_workload_are_those_of_the_palace() -> None:
    assert [KNOWN[type] for type in TYPES] == [f"hall_{hall}" for hall in HALLS]


@pytest.mark.slow
def test_a_palace_is_measured_tool_by_tool() -> None:
    first, *rows = measure_palace(1_000, lambda *_: None)["rows"]
    assert first["value"] > 0
    assert {row["name"].partition(",")[0] for row in rows} >= {
        "status", "list_wings", "list_rooms", "get_taxonomy", "traverse", "search", "search in a hall",
    }  # fmt: skip
    # The value is judged before it is rounded.
    assert all(row["target"] == "< 50" and row["met"] in (row["value"] < 50, row["value"] <= 50) for row in rows)
