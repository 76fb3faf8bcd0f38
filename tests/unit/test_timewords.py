"""The time that a text names, as seen on Friday, 14 July 2023, at half past three."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError
from pieria.language.timewords import DIRECTIONS, timewords
from pieria.language.timewords.language import ENGLISH

NOW = datetime(2023, 7, 14, 15, 30, tzinfo=UTC)


def shown(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00") if moment else "…"


def read(text: str, now: datetime = NOW) -> list[str]:
    return [
        f"{text[word.start : word.end]}: {shown(word.since)} / {shown(word.until)}" for word in timewords(text, now=now)
    ]


ABSOLUTE = """
7 May 2023: 2023-05-07 / 2023-05-08
the 7th of May 2023 > 7th of May 2023: 2023-05-07 / 2023-05-08
May 7th, 2023: 2023-05-07 / 2023-05-08
1:56 pm on 8 May, 2023 > 8 May, 2023: 2023-05-08 / 2023-05-09
on Sunday, 7 May 2023 > 7 May 2023: 2023-05-07 / 2023-05-08
2023-05-07: 2023-05-07 / 2023-05-08
2023/05/07: 2023-05-07 / 2023-05-08
会议2023-05-07开始 > 2023-05-07: 2023-05-07 / 2023-05-08
2023-05-07T10:30:00+02:00: 2023-05-07 08:30 / 2023-05-07 08:31
2023-05-07 10:30: 2023-05-07 10:30 / 2023-05-07 10:31
07.05.2023: 2023-05-07 / 2023-05-08
25/12/2022: 2022-12-25 / 2022-12-26
12/25/2022: 2022-12-25 / 2022-12-26
May 5-7, 2023: 2023-05-05 / 2023-05-08
5 to 7 May 2023: 2023-05-05 / 2023-05-08
May 2023: 2023-05-01 / 2023-06-01
Sept. 2023 then > none
in Sept of 2022 > Sept of 2022: 2022-09-01 / 2022-10-01
2023-05: 2023-05-01 / 2023-06-01
in 2022 > 2022: 2022-01-01 / 2023-01-01
the 90s: 1990-01-01 / 2000-01-01
the 1980s: 1980-01-01 / 1990-01-01
the '20s: 2020-01-01 / 2030-01-01
Q2 2023: 2023-04-01 / 2023-07-01
2023-Q3: 2023-07-01 / 2023-10-01
second quarter of 2022: 2022-04-01 / 2022-07-01
H1 2023: 2023-01-01 / 2023-07-01
summer of 2022: 2022-06-01 / 2022-09-01
winter 2022: 2022-12-01 / 2023-03-01
week 32 of 2023: 2023-08-07 / 2023-08-14
2023-W32: 2023-08-07 / 2023-08-14
Christmas 2022: 2022-12-25 / 2022-12-26
early 2023: 2023-01-01 / 2023-05-03
mid-2021: 2021-05-03 / 2021-09-02
the end of June 2022: 2022-06-21 / 2022-07-01
before June 2023: … / 2023-06-01
until June 2023: … / 2023-07-01
since 2022: 2022-01-01 / …
after 7 May 2023: 2023-05-08 / …
from March 2022 on > March 2022 on: 2022-03-01 / …
from May 2023 > May 2023: 2023-05-01 / 2023-06-01
between May and July 2022: 2022-05-01 / 2022-08-01
from 2019 to 2021: 2019-01-01 / 2022-01-01
7 May 2023 - 9 June 2023: 2023-05-07 / 2023-06-10
two days before 7 May 2023: 2023-05-05 / 2023-05-06
the day after 31 December 2022: 2023-01-01 / 2023-01-02
the week before 9 June 2023: 2023-06-02 / 2023-06-09
two weeks after 9 June 2023: 2023-06-17 / 2023-06-24
the Sunday before 25 May 2023: 2023-05-21 / 2023-05-22
the Friday after 25 May 2023: 2023-05-26 / 2023-05-27
the weekend before 20 October 2023: 2023-10-14 / 2023-10-16
the week of 7 May 2023: 2023-05-01 / 2023-05-08
the year before 2023: 2022-01-01 / 2023-01-01
"""

RELATIVE = """
May 7th: 2023-05-07 / 2023-05-08
August 7th: 2022-08-07 / 2022-08-08
29 February: 2020-02-29 / 2020-03-01
in May > May: 2023-05-01 / 2023-06-01
since March: 2023-03-01 / …
between May and July: 2023-05-01 / 2023-08-01
May of last year: 2022-05-01 / 2022-06-01
last May: 2023-05-01 / 2023-06-01
next May: 2024-05-01 / 2024-06-01
today: 2023-07-14 / 2023-07-15
yesterday: 2023-07-13 / 2023-07-14
yesterday morning: 2023-07-13 05:00 / 2023-07-13 12:00
the day before yesterday: 2023-07-12 / 2023-07-13
tomorrow: 2023-07-15 / 2023-07-16
last night: 2023-07-13 18:00 / 2023-07-14 06:00
this afternoon: 2023-07-14 12:00 / 2023-07-14 18:00
last week: 2023-07-03 / 2023-07-10
this week: 2023-07-10 / 2023-07-17
next week: 2023-07-17 / 2023-07-24
last month: 2023-06-01 / 2023-07-01
this year: 2023-01-01 / 2024-01-01
last quarter: 2023-04-01 / 2023-07-01
the year before last: 2021-01-01 / 2022-01-01
last weekend: 2023-07-08 / 2023-07-10
this past weekend: 2023-07-08 / 2023-07-10
two months ago: 2023-05-01 / 2023-06-01
a week ago: 2023-07-03 / 2023-07-10
10 days ago: 2023-07-04 / 2023-07-05
seventeen days ago: 2023-06-27 / 2023-06-28
forty days ago: 2023-06-04 / 2023-06-05
a couple of days ago: 2023-07-11 / 2023-07-13
a year ago: 2022-06-14 / 2022-08-15
the other day: 2023-07-08 / 2023-07-14
the other night: 2023-07-08 / 2023-07-14
the other week: 2023-05-29 / 2023-07-10
a few weeks ago: 2023-06-12 / 2023-07-03
3 years ago: 2020-01-01 / 2021-01-01
an hour ago: 2023-07-14 14:00 / 2023-07-14 15:00
twenty minutes ago: 2023-07-14 15:10 / 2023-07-14 15:11
3 days from now: 2023-07-17 / 2023-07-18
in the last 10 days > the last 10 days: 2023-07-04 15:30 / 2023-07-14 15:30
past two weeks: 2023-06-30 15:30 / 2023-07-14 15:30
over the last year: 2022-07-14 15:30 / 2023-07-14 15:30
the past month: 2023-06-14 15:30 / 2023-07-14 15:30
the next 3 days: 2023-07-14 15:30 / 2023-07-17 15:30
last Friday: 2023-07-07 / 2023-07-08
on Friday > Friday: 2023-07-14 / 2023-07-15
on Saturday > Saturday: 2023-07-08 / 2023-07-09
this Monday: 2023-07-10 / 2023-07-11
next Friday: 2023-07-21 / 2023-07-22
Friday morning: 2023-07-14 05:00 / 2023-07-14 12:00
since last Friday: 2023-07-07 / …
this summer: 2023-06-01 / 2023-09-01
last summer: 2022-06-01 / 2022-09-01
next winter: 2023-12-01 / 2024-03-01
last winter: 2022-12-01 / 2023-03-01
last Christmas: 2022-12-25 / 2022-12-26
since Halloween: 2022-10-31 / …
in Q1 > Q1: 2023-01-01 / 2023-04-01
since two weeks ago: 2023-06-26 / …
until tomorrow: … / 2023-07-16
after last week: 2023-07-10 / …
end of May: 2023-05-21 / 2023-06-01
the day after last Friday: 2023-07-08 / 2023-07-09
"""


def cases(table: str) -> list[tuple[str, list[str]]]:
    found = []
    for line in table.strip().splitlines():
        text, _, expected = line.rpartition(" > ")
        found.append((text, [] if expected == "none" else [expected]) if text else (line[: line.index(": ")], [line]))
    return found


@pytest.mark.parametrize(("text", "expected"), cases(ABSOLUTE) + cases(RELATIVE))
def test_the_time_that_is_meant(text: str, expected: list[str]) -> None:
    assert read(text) == expected
    assert read(f"What did she do {text}?") == expected
    assert read(text.upper()) == [line[: line.index(": ")].upper() + line[line.index(": ") :] for line in expected]


@pytest.mark.parametrize("text", [text for text, expected in cases(ABSOLUTE) if expected])
def test_a_date_does_not_depend_on_the_clock(text: str) -> None:
    [word] = timewords(text, now=NOW)

    assert not word.relative
    assert [word] == timewords(text, now=NOW + timedelta(days=1_000))


@pytest.mark.parametrize("text", [text for text, expected in cases(RELATIVE) if expected])
def test_a_relative_time_depends_on_the_clock(text: str) -> None:
    [word] = timewords(text, now=NOW)
    [later] = timewords(text, now=NOW + timedelta(days=4_000))

    assert word.relative
    assert (word.since, word.until) != (later.since, later.until)


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("before May 2023", "before"),
        ("by 2022", "before"),
        ("since 2022", "after"),
        ("after yesterday", "after"),
        ("in 2022", "in"),
    ],
)
def test_the_direction_is_told(text: str, direction: str) -> None:
    [word] = timewords(text, now=NOW)

    assert word.direction == direction
    assert (word.since is None) is (direction == "before")
    assert (word.until is None) is (direction == "after")


@pytest.mark.parametrize(
    "text",
    [
        "I may go, they march on, and he sat down",
        "version 3.15, 2.10.2023.1, v2023, 192.168.2023",
        "it costs $2022 or 2022 euros, 2022",
        "call 555-2022 or +49 2023 05 07",
        "in 2022 words, about 2000 steps",
        "recently, now, once, the other side, soon, some day",
        "05/07/2023",
        "31 June 2023 and 2023-13-01 and 30 February",
        "the first quarter of an apple, a second chance, the last minute",
        "May 7,000 people, Room 7",
        "@may #2023-05-07 x_2023-05-07",
        "every Friday and on Mondays, in the summer",
        "a few days, two weeks, in 10 days",
        "99999 years ago and 9999 years ago",
        "",
    ],
)
def test_what_is_no_time_is_left_alone(text: str) -> None:
    assert read(text) == []


def test_two_times_are_two() -> None:
    assert read("in May and June") == ["May: 2023-05-01 / 2023-06-01"]
    assert read("in May and in June") == ["May: 2023-05-01 / 2023-06-01", "June: 2023-06-01 / 2023-07-01"]
    assert len(read("yesterday, last week and 7 May 2023")) == 3


def test_a_span_without_years_may_reach_beyond_now_or_into_another_year() -> None:
    june, january = datetime(2034, 6, 27, tzinfo=UTC), datetime(2023, 1, 10, tzinfo=UTC)

    assert read("between May and July", june) == ["between May and July: 2034-05-01 / 2034-08-01"]
    assert read("between November and February", january) == ["between November and February: 2022-11-01 / 2023-03-01"]


def test_a_span_that_runs_backwards_is_two_times() -> None:
    assert read("from 2021 to 2019") == ["2021: 2021-01-01 / 2022-01-01", "2019: 2019-01-01 / 2020-01-01"]


def test_a_day_is_a_day_of_the_zone() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    [word] = timewords("yesterday", now=datetime(2023, 7, 14, 23, 0, tzinfo=UTC), zone=tokyo)

    assert (shown(word.since), shown(word.until)) == ("2023-07-13 15:00", "2023-07-14 15:00")


def test_a_day_on_which_clocks_change_has_as_many_hours_as_it_has() -> None:
    [word] = timewords("26 March 2023", now=NOW, zone=ZoneInfo("Europe/Berlin"))

    assert word.since is not None
    assert word.until is not None
    assert word.until - word.since == timedelta(hours=23)


def test_hours_add_up_when_clocks_change() -> None:
    now = datetime(2023, 3, 26, 2, 30, tzinfo=UTC)
    [word] = timewords("the last 3 hours", now=now, zone=ZoneInfo("Europe/Berlin"))

    assert (word.since, word.until) == (now - timedelta(hours=3), now)


def test_the_clock_must_be_a_time() -> None:
    with pytest.raises(InputError):
        timewords("today", now="noon")  # type: ignore[arg-type]


TABLES = (
    *(
        ENGLISH.month,
        ENGLISH.unit,
        ENGLISH.count,
        ENGLISH.lately,
        ENGLISH.turn,
        ENGLISH.near,
        ENGLISH.limit,
        ENGLISH.feast,
    ),
    *(ENGLISH.season, ENGLISH.weekday, ENGLISH.portion, ENGLISH.offset, ENGLISH.rolling, ENGLISH.part, ENGLISH.ordinal),
    *(ENGLISH.preposition, ENGLISH.span_opening, ENGLISH.span_link, ENGLISH.onward, ENGLISH.article, ENGLISH.of),
)
NUMBERS = (
    *(
        "2023",
        "1",
        "31",
        "9999",
        "1000",
        "0001-01-01",
        "9999-12-31",
        "2023-05-07T10:30Z",
        "9999-12-31T23:59-14:00",
        "q2",
    ),
    *("-", ",", "ago", "before last", "29 february", "1/1/1000", "1.1.1000", "2023-w53"),
)
words = st.sampled_from([*NUMBERS, *(word for table in TABLES for word in table)])
zones = st.sampled_from(
    [UTC, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("America/St_Johns"), timezone(timedelta(hours=-23))]
)


@given(
    st.lists(words, max_size=12).map(" ".join) | st.text(),
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC)),
    zones,
)
def test_whatever_is_said_whenever_it_is_read(text: str, now: datetime, zone: timezone | ZoneInfo) -> None:
    behind = 0
    for word in timewords(text, now=now, zone=zone):
        assert behind <= word.start < word.end <= len(text)
        assert word.direction in DIRECTIONS
        assert word.since is not None or word.until is not None
        if word.since is not None and word.until is not None:
            assert word.since < word.until
        behind = word.end
