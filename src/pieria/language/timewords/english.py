"""English words and forms for times."""

from __future__ import annotations

from pieria.language.timewords.language import Form, Language

_MONTHS = "january february march april may june july august september october november december"
_SHORT_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec"
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_UNITS = "second minute hour day week fortnight weekend month quarter year decade"

_COUNTED = (
    "words characters tokens people persons users steps lines files items dollars euros pounds bucks miles km meters"
    " metres kg calories pages points rows records bytes mb gb ms times copies members participants"
)

_TH = "(?:st|nd|rd|th)?"
_YEAR = "(?:,? <year>)?"
_OF_YEAR = "(?:,? (?:of )?(?:in )?<year>)"
_TURNED_YEAR = "(?:,? (?:of )?<year_turn> year)"
_AMOUNT = "(?:<count>|<amount>)"
_QUARTER = "(?:q<quarter_number>|<ordinal> quarter)"
_HALF = "(?:h<half_number>|<ordinal> half)"
_THIS_DAY = r"[t ]<hour>:<minute>(?::\d\d(?:[.]\d{1,9})?)?(?:<zone>)?"

_FORMS = (
    Form("moment", "<anyyear>-<number>-<day>" + _THIS_DAY),
    Form("iso_day", "<anyyear>-<number>-<day>"),
    Form("iso_day", "<anyyear>/<number>/<day>"),
    Form("iso_week", "<year>-w<number>"),
    Form("iso_week", "week <number>,? (?:of )?<year>"),
    Form("quarter", "<year>[- ]?q<quarter_number>"),
    Form("iso_month", "<year>-<number>"),
    Form("slashed", "<number>/<day>/<year>"),
    Form("dotted", "<day>[.]<number>[.]<year>"),
    Form("days_of_month", f"<day>{_TH}(?:-| to | and | - )<last_day>{_TH} (?:of )?<month>{_YEAR}"),
    Form("days_of_month", f"<month> <day>{_TH}(?:-| to | and | - )<last_day>{_TH}{_YEAR}"),
    Form("day_of_month", f"<day>{_TH} (?:of )?<month>{_TURNED_YEAR}", relative=True),
    Form("day_of_month", f"<month> (?:the )?<day>{_TH}{_TURNED_YEAR}", relative=True),
    Form("day_of_month", f"<day>{_TH} (?:of )?<month>{_YEAR}"),
    Form("day_of_month", f"<month> (?:the )?<day>{_TH}{_YEAR}"),
    Form("month", f"<month>{_OF_YEAR}"),
    Form("month", f"<month>{_TURNED_YEAR}", relative=True),
    Form("quarter", f"{_QUARTER}{_OF_YEAR}"),
    Form("half", f"{_HALF}{_OF_YEAR}"),
    Form("quarter", f"{_QUARTER}{_TURNED_YEAR}", relative=True),
    Form("half", f"{_HALF}{_TURNED_YEAR}", relative=True),
    Form("season", f"<season>{_OF_YEAR}"),
    Form("season", f"<season>{_TURNED_YEAR}", relative=True),
    Form("feast", f"<feast>{_OF_YEAR}"),
    Form("feast", f"<feast>{_TURNED_YEAR}", relative=True),
    Form("decade", "the '?<decade_year>'?s"),
    Form("near", "<near>(?: <part>)?", relative=True),
    Form("rolling", f"(?:the )?<rolling> {_AMOUNT} <unit>", relative=True),
    Form("rolling", "(?:over|within|during|throughout|for) the <rolling> <unit>", relative=True),
    Form("before_last", "(?:the )?<unit> before last", relative=True),
    Form("part_of_today", "<turn> <part>", relative=True),
    Form("turned", "<turn> <unit>", relative=True),
    Form("month", "<turn> <month>", relative=True),
    Form("season", "<turn> <season>", relative=True),
    Form("weekday", "<turn> <weekday>(?: <part>)?", relative=True),
    Form("feast", "<turn> <feast>", relative=True),
    Form("rolling", "(?:the )?<passing> <unit>", relative=True),
    Form("ago", f"{_AMOUNT} <unit> (?:ago|back)", relative=True),
    Form("ago", "<lately> (?:<unit>|<part>)", relative=True),
    Form("ahead", f"{_AMOUNT} <unit> from (?:now|today)", relative=True),
    Form("weekday", "<weekday> <part>", relative=True),
    Form("weekday", "<weekday>", relative=True, weak=True),
    Form("month", "<month>", relative=True, weak=True),
    Form("feast", "<feast>", relative=True, weak=True),
    Form("quarter", "(?:the )?" + _QUARTER, relative=True, weak=True),
    Form("year", "<year>", weak=True),
)

ENGLISH = Language(
    forms=_FORMS,
    month={word: number for number, word in enumerate(_MONTHS.split(), 1)}
    | {word: [name[:3] for name in _MONTHS.split()].index(word[:3]) + 1 for word in _SHORT_MONTHS.split()},
    weekday={word: number for number, word in enumerate(_WEEKDAYS.split())},
    unit={word: word for word in _UNITS.split()} | {f"{word}s": word for word in _UNITS.split()},
    count={word: (number, number) for number, word in enumerate(_NUMBERS.split(), 1)}
    | {"a": (1, 1), "an": (1, 1)}
    | {"thirty": (30, 30), "forty": (40, 40), "fifty": (50, 50), "sixty": (60, 60), "ninety": (90, 90)}
    | dict.fromkeys(("a couple", "a couple of", "couple", "couple of"), (2, 3))
    | dict.fromkeys(("a few", "few"), (2, 4))
    | {"several": (3, 7)},
    lately={"the other": (1, 6)},
    ordinal={"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4},
    season={"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12},
    feast={
        "christmas": (12, 25),
        "christmas day": (12, 25),
        "christmas eve": (12, 24),
        "new year's eve": (12, 31),
        "new year's day": (1, 1),
        "new year's": (1, 1),
        "halloween": (10, 31),
        "valentine's day": (2, 14),
        "valentine's": (2, 14),
    },
    near={
        "today": 0,
        "tonight": 0,
        "yesterday": -1,
        "tomorrow": 1,
        "the day before yesterday": -2,
        "day before yesterday": -2,
        "the day after tomorrow": 2,
        "day after tomorrow": 2,
    },
    part={"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)},
    turn={
        **dict.fromkeys(("last", "the previous", "this past", "this last"), -1),
        **dict.fromkeys(("this", "the current"), 0),
        **dict.fromkeys(("next", "this coming", "the coming", "the upcoming"), 1),
    },
    rolling={"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1},
    passing={"past": -1},
    portion={
        **dict.fromkeys(("early", "beginning", "start"), 0),
        **dict.fromkeys(("mid", "middle"), 1),
        **dict.fromkeys(("late", "end"), 2),
    },
    limit={
        **dict.fromkeys(("before", "prior to", "earlier than"), ("before", "start")),
        **dict.fromkeys(("until", "till", "by", "up to", "up until", "no later than"), ("before", "end")),
        **dict.fromkeys(("after", "later than"), ("after", "end")),
        **dict.fromkeys(("since", "ever since", "starting", "starting in", "starting from"), ("after", "start")),
    },
    onward=("on", "onward", "onwards"),
    offset={"before": -1, "prior to": -1, "after": 1, "following": 1},
    preposition=("in", "on", "at", "during", "of", "through", "throughout", "around", "from", "over", "within", "for"),
    span_opening=("between", "from"),
    span_link=("and", "to", "until", "till", "through"),
    loose_link=("and",),
    counted=tuple(_COUNTED.split()),
    article=("the",),
    of=("of",),
)
