"""The page on time: the journal, sessions as bars, and facts as long as they held."""

import re

from tests.doors.http.conftest import Served
from tests.doors.web.conftest import seal_in

import pieria
from pieria.doors.web.pages.time import CHANGES

TIME = "/banks/notes/time"


def test_changes_are_told_newest_first_with_what_they_were_about(served: Served) -> None:
    page = served.client.get(TIME).text
    told = re.findall(r"<b>([a-z ]+)</b> <span", page)
    with pieria.open("notes") as bank:
        assert told == [change.what for change in reversed(bank.changes())]
    assert "Maya works on billing" in page and "Maya prefers an aisle seat" in page


def test_earlier_changes_are_a_page_away(served: Served) -> None:
    with pieria.open("notes") as bank:
        for number in range(CHANGES):
            bank.remember(f"Heron number {number}.")
        every = [change.seq for change in bank.changes()]
    seen: list[int] = []
    path: str | None = TIME
    while path:
        page = served.client.get(path).text
        seen += [int(number) for number in re.findall(r"UTC, number (\d+)", page)]
        path = next(iter(re.findall(r'rel="next" href="([^"]+)"', page)), None)
    assert seen == every[::-1]


def test_a_change_is_undone_and_one_that_cannot_be_says_why(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember("By mistake.", id="mistake")
        [change] = bank.changes(last=1)
    seal = seal_in(served.client.get(TIME))
    answer = served.client.post(f"{TIME}/undo", data={"seal": seal, "seq": change.seq})
    assert answer.headers["location"] == TIME
    assert "removed" in served.client.get(TIME).text
    again = served.client.post(f"{TIME}/undo", data={"seal": seal, "seq": change.seq})
    assert again.status_code == 409 and 'role="alert"' in again.text


def test_sessions_lie_side_by_side_and_lead_to_what_was_said(served: Served) -> None:
    with pieria.open("notes") as bank:
        for hour in (8, 9):
            bank.remember(f"Good morning at {hour}.", session="monday", at=f"2026-03-02T0{hour}:00:00Z")
        bank.remember("Good evening.", session="tuesday", at="2026-03-03T08:00:00Z")
    page = served.client.get(TIME).text
    bars = {
        told: (float(x), float(width))
        for told, x, width in re.findall(
            r'aria-label="from ([\d-]+)[^"]+">\s+<rect[^>]+>\s+<rect class="held" x="([\d.]+)" width="([\d.]+)"', page
        )
    }
    assert bars["2026-03-02"][0] == 0.0 and 4.0 < bars["2026-03-02"][1] < 4.3
    assert bars["2026-03-03"][0] == 100.0
    said = served.client.get("/banks/notes/memories?session=monday").text
    assert said.count("data-item") == 2 and "Good evening" not in said


def test_facts_are_bars_and_contradictions_are_marked(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.facts.add("Ada", "lives_in", "Oslo", valid_from="2025-01-01", valid_until="2025-07-01")
        for town in ("Bergen", "Tromsø"):
            bank.facts.add("Ada", "lives_in", town, valid_from="2026-01-01")
        bank.facts.declare("lives_in")
    page = served.client.get(f"{TIME}/facts?entity=Ada").text
    assert page.count("data-item") == 3 and "works on" not in page
    assert page.count(">contradicted<") == 2
    assert "1 contradiction in the bank" in page
    [oslo] = re.findall(r'aria-label="2025-01-01 to 2025-07-01">\s+<rect[^>]+>\s+<rect class="held" x="0.00"', page)
    assert oslo
    before = served.client.get(f"{TIME}/facts?known_at=2020-01-01").text
    assert "No fact is known" in before
