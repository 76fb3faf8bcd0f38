"""Relative times: their meaning, and texts left for the record to read or refuse."""

import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pieria.doors.cli.values import read_time
from pieria.record.time import instant

NOW = datetime(2026, 3, 31, 12, 30, tzinfo=UTC)


TIMES = json.loads(Path(__file__).with_name("times.json").read_text())
"""What is meant at that time, and what is left as it is."""


def test_relative_times_count_from_now() -> None:
    expected = {**TIMES["meant"], **{said: said for said in TIMES["left"]}}
    assert {said: read_time(said, NOW) for said in expected} == expected
    assert all(instant(meant, "at") for meant in TIMES["meant"].values())
    assert read_time("30d", NOW, undirected=False) == "30d"
    assert read_time("+30d", NOW, undirected=False) == "2026-04-30T12:30:00Z"
    assert read_time("30d ago", NOW, undirected=False) == "2026-03-01T12:30:00Z"
    assert read_time("tomorrow", NOW, undirected=False) == "2026-04-01"


@given(st.text())
def test_any_text_is_read_or_left(said: str) -> None:
    assert isinstance(read_time(said, NOW), str)


@given(st.integers(0, 5000), st.sampled_from(["s", "m", "h", "d", "w", "mo"]))
def test_there_and_back_surround_now(count: int, unit: str) -> None:
    back = instant(read_time(f"{count}{unit}", NOW), "at")
    ahead = instant(read_time(f"+{count}{unit}", NOW), "at")
    assert back <= NOW <= ahead
    if unit != "mo":
        assert NOW - back == ahead - NOW
