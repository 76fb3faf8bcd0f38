"""Valid and invalid moments, and that no moment changes on its way through the record."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.errors import InputError
from pieria.record.time import EPOCH, LATEST, instant, iso, micros, moment, system_clock

SAMPLES = samples("times")
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(timezones=st.just(UTC))
INNER_MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))
EAST, WEST = timezone(timedelta(hours=2)), timezone(timedelta(hours=-2))


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


class Nowhere(tzinfo):
    """A zone without an offset, which Python allows and treats as the machine's own zone."""

    def utcoffset(self, dt: datetime | None) -> None:
        return None

    def dst(self, dt: datetime | None) -> None:
        return None

    def tzname(self, dt: datetime | None) -> str:
        return "nowhere"


class Stamp(datetime):
    """A kind of datetime with more to it."""


def test_every_common_spelling_is_read() -> None:
    meant: dict[object, datetime] = {
        **SAMPLES["spellings"],
        date(2026, 1, 10): utc(2026, 1, 10),
        datetime(2026, 1, 10, 12): utc(2026, 1, 10, 12),
        datetime(2026, 1, 11, 12, tzinfo=Nowhere()): utc(2026, 1, 11, 12),
        datetime(2026, 1, 10, 12, tzinfo=EAST): utc(2026, 1, 10, 10),
        Stamp(2026, 1, 12, tzinfo=UTC): utc(2026, 1, 12),
        0: EPOCH,
        -1: utc(1969, 12, 31, 23, 59, 59),
        1_767_225_600.5: utc(2026, 1, 1, 0, 0, 0, 500_000),
        253_402_300_799: utc(9999, 12, 31, 23, 59, 59),
        -62_135_596_800: utc(1, 1, 1),
    }
    read = {value: instant(value, "at") for value in meant}
    assert read == meant
    assert {(type(when), when.tzinfo) for when in read.values()} == {(datetime, UTC)}
    ends: dict[object, datetime] = {
        "2026-01-31": utc(2026, 2, 1),
        " 2026-01-31 ": utc(2026, 2, 1),
        date(2026, 1, 31): utc(2026, 2, 1),
        "2026-01-31T00:00": utc(2026, 1, 31),
        datetime(2026, 1, 31): utc(2026, 1, 31),
        1_769_817_600: utc(2026, 1, 31),
        "9999-12-31": LATEST,
        "9999-12-30": utc(9999, 12, 31),
    }
    assert {value: instant(value, "until", end_of_day=True) for value in ends} == ends


REFUSED = [
    *SAMPLES["refused"],
    *(datetime(1, 1, 1, tzinfo=EAST), datetime(9999, 12, 31, 23, tzinfo=WEST)),
    *(None, True, False, b"2026-01-10", (2026, 1, 10), float("nan"), float("inf"), float("-inf")),
    *(1_700_000_000_000, 1e300, 10**400, 253_402_300_800, -62_135_596_801),
]


def test_other_values_are_refused_by_name() -> None:
    for value in REFUSED:
        for end_of_day in (False, True):
            with pytest.raises(InputError) as caught:
                instant(value, "valid_from", end_of_day=end_of_day)
            assert caught.value.parameter == "valid_from"
            assert caught.value.hint
    with pytest.raises(InputError, match=r"at: expected a date and time that exist, got '2026-02-30'"):
        instant("2026-02-30", "at")
    with pytest.raises(InputError) as caught:
        instant(1_700_000_000_000, "since")
    assert "seconds" in str(caught.value.hint)


@given(MOMENTS, MOMENTS)
def test_microseconds_and_text_hold_every_moment(when: datetime, other: datetime) -> None:
    assert moment(micros(when)) == when
    assert moment(micros(when)).tzinfo is UTC
    assert (micros(when) < micros(other)) == (when < other)
    assert instant(iso(when), "at") == when
    assert instant(when, "at") == when


@given(INNER_MOMENTS, OFFSETS)
def test_a_moment_is_the_same_in_every_zone(when: datetime, zone: tzinfo) -> None:
    there = when.astimezone(zone)
    assert instant(there, "at") == instant(there.isoformat(), "at") == when
    assert iso(there) == iso(when)
    assert micros(there) == micros(when)


@given(st.text() | st.none() | st.booleans() | st.floats() | st.integers() | st.datetimes() | st.dates())
def test_any_value_is_read_or_refused(value: object) -> None:
    try:
        read: Any = instant(value, "at")
    except InputError:
        return
    assert read.tzinfo is UTC


def test_moments_are_written_without_idle_digits() -> None:
    written = SAMPLES["written"]
    assert {text: iso(when) for text, when in written.items()} == {text: text for text in written}


def test_the_system_clock_is_aware_and_runs() -> None:
    before = datetime.now(UTC)
    assert before <= system_clock() <= datetime.now(UTC)
    assert system_clock().tzinfo is UTC
