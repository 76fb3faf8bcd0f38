"""The time that a text names, as seen on Friday, 14 July 2023, at half past three."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.errors import InputError
from pieria.language.timewords import DIRECTIONS, timewords
from pieria.language.timewords.language import ENGLISH

SAMPLES = samples("timewords")
NOW = datetime(2023, 7, 14, 15, 30, tzinfo=UTC)


def shown(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00") if moment else "…"


def read(text: str, now: datetime = NOW) -> list[str]:
    return [
        f"{text[word.start : word.end]}: {shown(word.since)} / {shown(word.until)}" for word in timewords(text, now=now)
    ]


def cases(name: str) -> dict[str, list[str]]:
    found = {}
    for line in SAMPLES[name].splitlines():
        text, _, expected = line.rpartition(" > ")
        found[text or line[: line.index(": ")]] = [] if expected == "none" else [expected]
    return found


def upper(found: list[str]) -> list[str]:
    return [line[: line.index(": ")].upper() + line[line.index(": ") :] for line in found]


def test_texts_name_these_times_and_others_none() -> None:
    expected = cases("absolute") | cases("relative")
    assert {text: read(text) for text in expected} == expected
    assert {text: read(f"What did she do {text}?") for text in expected} == expected
    assert {text: read(text.upper()) for text in expected} == {text: upper(found) for text, found in expected.items()}
    assert {text: read(text) for text in SAMPLES["nothing"]} == {text: [] for text in SAMPLES["nothing"]}
    assert read("in May and June") == ["May: 2023-05-01 / 2023-06-01"]
    assert read("in May and in June") == ["May: 2023-05-01 / 2023-06-01", "June: 2023-06-01 / 2023-07-01"]
    assert len(read("yesterday, last week and 7 May 2023")) == 3
    assert read("from 2021 to 2019") == ["2021: 2021-01-01 / 2022-01-01", "2019: 2019-01-01 / 2020-01-01"]


def test_times_have_a_direction_and_may_depend_on_the_clock() -> None:
    for name in ("absolute", "relative"):
        for text in (text for text, found in cases(name).items() if found):
            [word] = timewords(text, now=NOW)
            [later] = timewords(text, now=NOW + timedelta(days=4_000))
            assert word.relative is (name == "relative"), text
            assert ((word.since, word.until) == (later.since, later.until)) is (name == "absolute"), text
    directions = {"before May 2023": "before", "by 2022": "before", "since 2022": "after", "after yesterday": "after"}
    for text, direction in {**directions, "in 2022": "in"}.items():
        [word] = timewords(text, now=NOW)
        assert word.direction == direction
        assert (word.since is None) is (direction == "before")
        assert (word.until is None) is (direction == "after")


def test_times_follow_the_clock_and_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    [word] = timewords("yesterday", now=datetime(2023, 7, 14, 23, 0, tzinfo=UTC), zone=ZoneInfo("Asia/Tokyo"))
    assert (shown(word.since), shown(word.until)) == ("2023-07-13 15:00", "2023-07-14 15:00")
    [word] = timewords("26 March 2023", now=NOW, zone=berlin)
    assert word.since is not None and word.until is not None
    assert word.until - word.since == timedelta(hours=23)
    now = datetime(2023, 3, 26, 2, 30, tzinfo=UTC)
    [word] = timewords("the last 3 hours", now=now, zone=berlin)
    assert (word.since, word.until) == (now - timedelta(hours=3), now)
    june, january = datetime(2034, 6, 27, tzinfo=UTC), datetime(2023, 1, 10, tzinfo=UTC)
    assert read("between May and July", june) == ["between May and July: 2034-05-01 / 2034-08-01"]
    assert read("between November and February", january) == ["between November and February: 2022-11-01 / 2023-03-01"]
    with pytest.raises(InputError):
        timewords("today", now="noon")  # type: ignore[arg-type]


TABLES = (
    *(ENGLISH.month, ENGLISH.unit, ENGLISH.count, ENGLISH.lately, ENGLISH.turn, ENGLISH.near, ENGLISH.limit),
    *(ENGLISH.season, ENGLISH.weekday, ENGLISH.portion, ENGLISH.offset, ENGLISH.rolling, ENGLISH.part, ENGLISH.ordinal),
    *(ENGLISH.preposition, ENGLISH.span_opening, ENGLISH.span_link, ENGLISH.onward, ENGLISH.article, ENGLISH.of),
    ENGLISH.feast,
)
words = st.sampled_from([*SAMPLES["numbers"], *(word for table in TABLES for word in table)])
zones = st.sampled_from(
    [UTC, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("America/St_Johns"), timezone(timedelta(hours=-23))]
)


@given(
    st.lists(words, max_size=12).map(" ".join) | st.text(),
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC)),
    zones,
)
def test_any_text_at_any_time_can_be_read(text: str, now: datetime, zone: timezone | ZoneInfo) -> None:
    behind = 0
    for word in timewords(text, now=now, zone=zone):
        assert behind <= word.start < word.end <= len(text)
        assert word.direction in DIRECTIONS
        assert word.since is not None or word.until is not None
        assert word.since is None or word.until is None or word.since < word.until
        behind = word.end
