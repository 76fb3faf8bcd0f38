"""Times of a query in words, as the toolset `pieria` takes them."""

from collections.abc import Callable

import pytest
from tests.contract.store_helpers import HandClock

from pieria import Bank
from pieria.bank.read.times import fact_times, moments
from pieria.errors import InputError
from pieria.record.time import instant, iso

LAST = "59:59.999999Z"
MEANT = {
    "2026-01-31": f"2026-01-31T23:{LAST}",
    "2026-01-31T09:30:00Z": "2026-01-31T09:30:00Z",
    "now": "2026-11-27T01:30:00Z",
    "yesterday": f"2026-11-26T04:{LAST}",
    "as of Yesterday.": f"2026-11-26T04:{LAST}",
    "on Friday": f"2026-11-21T04:{LAST}",
    "last week": f"2026-11-23T04:{LAST}",
    "3 days ago": f"2026-11-24T04:{LAST}",
    "March 2026": f"2026-04-01T03:{LAST}",
    "2025": f"2026-01-01T04:{LAST}",
    "before March": f"2026-03-01T04:{LAST}",
}
"""At half past eight in the evening of 26 November in New York."""
REFUSED = ("", "when we met", "since March", "what was it yesterday", "yesterday and today", "2026-02-31", "x" * 500)


def test_times_in_words_mean_their_last_moment(opened: Callable[..., Bank], clock: HandClock) -> None:
    core = opened(time_zone="America/New_York").core
    clock.move(seconds=(instant("2026-11-27T01:30:00Z", "now") - clock()).total_seconds())
    found = {said: moments(core, when=said)["when"] for said in MEANT}
    assert {said: at and iso(at) for said, at in found.items()} == MEANT
    assert moments(core, when=None) == {"when": None}
    days = {
        "2026-01-31": "2026-01-31",
        "yesterday": "2026-11-25",
        "last week": "2026-11-22",
        "now": clock(),
        None: None,
    }
    assert {said: fact_times(core, when=said)["when"] for said in days} == days, "facts read days in the zone"
    for said in REFUSED:
        with pytest.raises(InputError) as refused:
            moments(core, when=said, as_of=said)
        problems = (refused.value, *refused.value.errors)
        assert [getattr(each, "parameter", None) for each in problems] == ["when", "as_of"], said
        assert "yesterday" in str(refused.value.hint)
