"""Valid and invalid moments, and that no moment changes on its way through the record."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError
from pieria.record.time import EPOCH, LATEST, instant, iso, micros, moment, system_clock

OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(timezones=st.just(UTC))
INNER_MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))


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


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("2026-01-10", utc(2026, 1, 10)),
        ("  2026-01-10\n", utc(2026, 1, 10)),
        ("2026-01-10T12:30", utc(2026, 1, 10, 12, 30)),
        ("2026-01-10T12:30:15", utc(2026, 1, 10, 12, 30, 15)),
        ("2026-01-10 12:30:15", utc(2026, 1, 10, 12, 30, 15)),
        ("2026-01-10T12:30:15Z", utc(2026, 1, 10, 12, 30, 15)),
        ("2026-01-10t12:30:15z", utc(2026, 1, 10, 12, 30, 15)),
        ("2026-01-10T12:30:15.25Z", utc(2026, 1, 10, 12, 30, 15, 250_000)),
        ("2026-01-10T12:30:15.123456789Z", utc(2026, 1, 10, 12, 30, 15, 123_456)),
        ("2026-01-10T12:30:15+02:00", utc(2026, 1, 10, 10, 30, 15)),
        ("2026-01-10T12:30:15-0530", utc(2026, 1, 10, 18, 0, 15)),
        ("2026-01-10 12:30:15+02", utc(2026, 1, 10, 10, 30, 15)),
        (date(2026, 1, 10), utc(2026, 1, 10)),
        (datetime(2026, 1, 10, 12), utc(2026, 1, 10, 12)),
        (datetime(2026, 1, 10, 12, tzinfo=Nowhere()), utc(2026, 1, 10, 12)),
        (datetime(2026, 1, 10, 12, tzinfo=timezone(timedelta(hours=2))), utc(2026, 1, 10, 10)),
        (0, EPOCH),
        (-1, utc(1969, 12, 31, 23, 59, 59)),
        (1_767_225_600.5, utc(2026, 1, 1, 0, 0, 0, 500_000)),
        (253_402_300_799, utc(9999, 12, 31, 23, 59, 59)),
        (-62_135_596_800, utc(1, 1, 1)),
    ],
)
def test_every_common_spelling_is_read(value: object, meant: datetime) -> None:
    read = instant(value, "at")
    assert read == meant
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        "",
        "   ",
        "yesterday",
        "2026",
        "2026-01",
        "20260110",
        "1767225600",
        "2026-W02-6",
        "2026-02-30",
        "2026-13-01",
        "2026-01-10T25:00",
        "2026-01-10T12:60",
        "2026-01-10T",
        "2026-01-10x12:00",
        "2026-01-10T12:00ZZ",
        "10000-01-01",
        "0000-01-01",
        "-001-01-01",
        "2026-01-10\x00",
        "２０２６-01-10",
        "0001-01-01T00:00:00+02:00",
        "9999-12-31T23:00:00-02:00",
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2))),
        None,
        True,
        False,
        b"2026-01-10",
        (2026, 1, 10),
        float("nan"),
        float("inf"),
        float("-inf"),
        1_700_000_000_000,
        1e300,
        pytest.param(10**400, id="more than a float holds"),
        253_402_300_800,
        -62_135_596_801,
    ],
)
@pytest.mark.parametrize("end_of_day", [False, True])
def test_what_is_no_moment_is_refused_by_name(value: object, end_of_day: bool) -> None:
    with pytest.raises(InputError) as caught:
        instant(value, "valid_from", end_of_day=end_of_day)
    assert caught.value.parameter == "valid_from"
    assert caught.value.hint


def test_an_impossible_date_is_told_from_an_unreadable_one() -> None:
    with pytest.raises(InputError, match=r"at: expected a date and time that exist, got '2026-02-30'"):
        instant("2026-02-30", "at")


def test_a_number_too_large_is_told_that_seconds_are_meant() -> None:
    with pytest.raises(InputError) as caught:
        instant(1_700_000_000_000, "since")
    assert "seconds" in str(caught.value.hint)


@pytest.mark.parametrize("value", ["2026-01-31", " 2026-01-31 ", date(2026, 1, 31)])
def test_a_bare_date_may_mean_the_end_of_its_day(value: object) -> None:
    assert instant(value, "until", end_of_day=True) == utc(2026, 2, 1)


@pytest.mark.parametrize("value", ["2026-01-31T00:00", datetime(2026, 1, 31), 1_769_817_600])
def test_what_has_a_time_of_day_keeps_it(value: object) -> None:
    assert instant(value, "until", end_of_day=True) == utc(2026, 1, 31)


def test_the_last_day_ends_with_the_last_moment() -> None:
    assert instant("9999-12-31", "until", end_of_day=True) == LATEST
    assert instant("9999-12-30", "until", end_of_day=True) == utc(9999, 12, 31)


def test_a_kind_of_datetime_with_more_to_it_becomes_a_plain_one() -> None:
    class Stamp(datetime):
        pass

    assert type(instant(Stamp(2026, 1, 10, tzinfo=UTC), "at")) is datetime


@given(MOMENTS)
def test_microseconds_hold_every_moment(when: datetime) -> None:
    assert moment(micros(when)) == when
    assert moment(micros(when)).tzinfo is UTC


@given(MOMENTS, MOMENTS)
def test_microseconds_keep_the_order(one: datetime, other: datetime) -> None:
    assert (micros(one) < micros(other)) == (one < other)


@given(MOMENTS)
def test_what_is_written_is_read_again(when: datetime) -> None:
    assert instant(iso(when), "at") == when
    assert instant(when, "at") == when


@given(INNER_MOMENTS, OFFSETS)
def test_a_moment_is_the_same_in_every_zone(when: datetime, zone: tzinfo) -> None:
    there = when.astimezone(zone)
    assert instant(there, "at") == instant(there.isoformat(), "at") == when
    assert iso(there) == iso(when)
    assert micros(there) == micros(when)


@given(st.text() | st.none() | st.booleans() | st.floats() | st.integers() | st.datetimes() | st.dates())
def test_anything_is_read_or_refused(value: object) -> None:
    try:
        read: Any = instant(value, "at")
    except InputError:
        return
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    ("when", "written"),
    [
        (utc(2026, 1, 10), "2026-01-10T00:00:00Z"),
        (utc(2026, 1, 10, 10, 20, 30), "2026-01-10T10:20:30Z"),
        (utc(2026, 1, 10, 10, 20, 30, 500_000), "2026-01-10T10:20:30.5Z"),
        (utc(2026, 1, 10, 10, 20, 30, 7), "2026-01-10T10:20:30.000007Z"),
        (utc(1, 1, 1), "0001-01-01T00:00:00Z"),
    ],
)
def test_moments_are_written_without_idle_digits(when: datetime, written: str) -> None:
    assert iso(when) == written


def test_the_system_clock_is_aware_and_runs() -> None:
    before = datetime.now(UTC)
    assert before <= system_clock() <= datetime.now(UTC)
    assert system_clock().tzinfo is UTC
