"""Relative times: their meaning, and texts left for the record to read or refuse."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pieria.doors.cli.values import read_time
from pieria.record.time import instant

NOW = datetime(2026, 3, 31, 12, 30, tzinfo=UTC)


MEANT = {
    "now": "2026-03-31T12:30:00Z",
    "today": "2026-03-31",
    "Yesterday": "2026-03-30",
    "tomorrow": "2026-04-01",
    "90s": "2026-03-31T12:28:30Z",
    "15m": "2026-03-31T12:15:00Z",
    "2h": "2026-03-31T10:30:00Z",
    "7d": "2026-03-24T12:30:00Z",
    "7d ago": "2026-03-24T12:30:00Z",
    "-7d": "2026-03-24T12:30:00Z",
    " 7  DAYS  ago ": "2026-03-24T12:30:00Z",
    "3 weeks": "2026-03-10T12:30:00Z",
    "1d12h": "2026-03-30T00:30:00Z",
    "1 day 12 hours ago": "2026-03-30T00:30:00Z",
    "1mo": "2026-02-28T12:30:00Z",
    "13 months": "2025-02-28T12:30:00Z",
    "1y": "2025-03-31T12:30:00Z",
    "+30d": "2026-04-30T12:30:00Z",
    "in 30 days": "2026-04-30T12:30:00Z",
    "+1mo": "2026-04-30T12:30:00Z",
    "in 2 years": "2028-03-31T12:30:00Z",
}
LEFT = (
    "2026-01-31", "2026-01-31T09:30+02:00", "", "soon", "7", "d", "7x", "7d from now", "+7d ago", "in 7d ago", "9999y",
    "999999999d", "+999999999mo", "1.5h", "in", "+", "ago",
)  # fmt: skip


def test_relative_times_count_from_now() -> None:
    expected = {**MEANT, **{said: said for said in LEFT}}
    assert {said: read_time(said, NOW) for said in expected} == expected
    assert all(instant(meant, "at") for meant in MEANT.values())
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
