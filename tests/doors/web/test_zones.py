"""Days and times in the reader's time zone: shown, typed, shared and chosen."""

import html
import re
import sys
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import Opening, facing, form_of, over, seal_in, sign_in

from pieria.doors.web import words, zones
from pieria.doors.web.pages import PAGES
from pieria.doors.web.zones import UNIVERSAL, Zone
from pieria.errors import InputError
from pieria.record.time import EARLIEST, LATEST, instant
from pieria.record.zones import NEW_NAMES, _rules_of, name_of, of_machine
from pieria.workspace import Workspace

HERE = "/banks/notes"
NEPAL, NEWFOUNDLAND, KIRITIMATI = "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"
EARLY, LATE = "2026-03-07T18:30:00Z", "2026-03-08T10:30:00Z"
"""In Nepal both are on 8 March. Elsewhere they are a day apart: on 7 and 8, or in Kiritimati on 8 and 9 March."""


def zone(name: str) -> Zone:
    found = zones.known(name)
    assert found is not None
    return found


@pytest.fixture
def served() -> Iterator[Served]:
    """Yield a server with a memory written at `EARLY` and changed at `LATE`."""
    with Workspace(clock=lambda: instant(EARLY, "at")) as workspace, workspace.open("notes") as bank:
        bank.remember("The office is in Bonn.", id="office")
    with Workspace(clock=lambda: instant(LATE, "at")) as workspace, workspace.open("notes") as bank:
        bank.update("office", text="The office is in Berlin.")
        bank.remember("The kettle whistles.", id="kettle")
    with facing() as found:
        yield found


def live_in(served: Served, name: str) -> None:
    served.client.cookies.set(zones.BROWSER, name)


def seen(served: Served, path: str, **query: str) -> str:
    return html.unescape(served.page(f"{HERE}/{path}", params=query))


def sent(served: Served, path: str, **fields: str) -> Any:
    seal = seal_in(served.client.get(f"{HERE}/recall"))
    return served.client.post(f"{HERE}/{path}", data={"seal": seal, **fields})


def test_days_are_as_long_as_clocks_make_them() -> None:
    hours = {
        (NEPAL, date(2026, 3, 8)): 24, (NEWFOUNDLAND, date(2026, 3, 8)): 23, (NEWFOUNDLAND, date(2026, 11, 1)): 25,
        ("Africa/Cairo", date(2026, 4, 24)): 23,  # where clocks skip midnight
        ("America/Toronto", date(1919, 3, 31)): 23.5,  # and skip it from half past eleven
        (KIRITIMATI, date(1994, 12, 31)): 0, ("Australia/Lord_Howe", date(2026, 4, 5)): 24.5,
    }  # fmt: skip
    for (name, day), length in hours.items():
        assert (name, zone(name).end(day) - zone(name).begin(day)) == (name, timedelta(hours=length))


def test_the_ends_of_the_calendar_are_days_everywhere() -> None:
    for there in map(zone, (NEPAL, NEWFOUNDLAND, KIRITIMATI, "UTC")):
        for at in (EARLIEST, LATEST):
            assert "<time" in words.moment(at, there) + words.since(at, there) + words.until(at, there)
        assert there.end(date.max) == LATEST and there.begin(date.min) >= EARLIEST
        assert there.moment("9999-12-31", "until", zones.LAST) == LATEST
        with pytest.raises(InputError):
            there.moment("10000-01-01", "until")


PLACES = st.sampled_from([NEPAL, NEWFOUNDLAND, KIRITIMATI, "Africa/Cairo", "UTC"])


@given(PLACES, st.dates(date(1880, 1, 1)) | st.datetimes(timezones=st.just(UTC)), st.booleans())
def test_filled_in_fields_are_read_as_the_same_again(name: str, when: date, end: bool) -> None:
    there, stands_for = zone(name), zones.END if end else zones.BEGIN
    at = when if isinstance(when, datetime) else there.moment(when.isoformat(), "at", stands_for)
    typed = there.typed(at, end=end)
    assert there.moment(typed, "at", stands_for) == at
    assert isinstance(when, datetime) or len(typed) == len("2026-01-31")


def test_an_edit_shows_and_takes_the_days_of_its_reader(served: Served) -> None:
    live_in(served, NEPAL)
    fields = form_of(served.page(f"{HERE}/memory/edit?id=office"), "memory/edit")
    assert (fields["zone"], fields["valid_until"]) == (NEPAL, "")
    days = {"valid_from": "2026-03-08", "valid_until": "2096-03-08", "how": "update"}
    live_in(served, KIRITIMATI)  # between the form and its sending: the form's days keep their meaning
    assert served.client.post(f"{HERE}/memory/edit", data={**fields, **days}).status_code == 303
    office = served.bank.history("office")[-1].as_dict()
    assert (office["valid_from"], office["valid_until"]) == ("2026-03-07T18:15:00Z", "2096-03-08T18:15:00Z")
    live_in(served, NEPAL)
    again = form_of(served.page(f"{HERE}/memory/edit?id=office"), "memory/edit")
    assert (again["valid_from"], again["valid_until"]) == ("2026-03-08", "2096-03-08")


def test_typed_days_are_of_the_zone_unless_they_name_one() -> None:
    nepal = zone(NEPAL)
    typed = [nepal.moment("2026-03-08", "at", stands_for) for stands_for in (zones.BEGIN, zones.LAST, zones.END)]
    ends = ("2026-03-07T18:15:00Z", "2026-03-08T18:14:59.999999Z", "2026-03-08T18:15:00Z")
    assert typed == [instant(end, "at") for end in ends]
    assert nepal.moment("2026-03-08T00:15", "at") == nepal.moment(EARLY, "at") == instant(EARLY, "at")
    for wrong in ("tomorrow", "2026-02-30", "0001-01-01T00:00"):
        with pytest.raises(InputError) as refused:
            nepal.moment(wrong, "since")
        assert refused.value.parameter == "since"


def test_ages_go_by_the_days_of_the_zone() -> None:
    def told(at: str, now: str, name: str) -> str:
        return re.sub(r"<[^>]*>", "", words.moment(instant(at, "at"), zone(name), instant(now, "now")))

    assert told("2026-03-06T18:00:00Z", "2026-03-07T18:30:00Z", "UTC") == "yesterday"
    assert told("2026-03-06T18:00:00Z", "2026-03-07T18:30:00Z", NEPAL) == "2 days ago"
    assert told("2026-02-28T18:30:00Z", "2026-03-09T00:00:00Z", NEPAL) == "1 March"
    # A day of 25 hours: its first event is still within the day.
    assert told("2026-11-01T02:31:00Z", "2026-11-02T03:00:00Z", NEWFOUNDLAND) == "24 hours ago"
    whole = 'datetime="2026-11-01T04:45:00Z" title="2026-11-01 01:15:00 -03:30 America/St_Johns"'
    assert whole in words.moment(instant("2026-11-01T04:45:00Z", "at"), zone(NEWFOUNDLAND))


def test_unknown_zones_fall_back_to_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", NEPAL)
    with facing() as served:
        files = ("../../etc/passwd", "/etc/localtime", "Europe", "tzdata.zi")
        for said in ("", "Mars/Olympus", *files, "a" * 5000, "<b>"):
            told = {"cookie": f"{zones.BROWSER}={said}; {zones.CHOSEN}={said}"}
            assert f"Times are in {NEPAL}." in served.page("/zone", headers=told), said


def test_the_servers_zone_is_of_its_environment_or_system(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    assert of_machine({}, link) is UTC
    link.symlink_to("/usr/share/zoneinfo/Asia/Kathmandu")
    assert name_of(of_machine({}, link)) == NEPAL
    assert zones.of_machine({"TZ": ":/usr/share/zoneinfo/America/St_Johns"}).name == NEWFOUNDLAND
    assert zones.of_machine({"TZ": "CET-1CEST"}) == UNIVERSAL
    names = {"Asia/Katmandu": NEPAL, "Asia/Calcutta": "Asia/Kolkata", "Etc/UTC": "UTC"}
    assert {old: zone(old).name for old in names} == names
    assert {zones.known(new) is not None for new in NEW_NAMES.values()} == {True}


def test_without_rules_of_zones_times_are_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget() -> None:
        _rules_of.cache_clear()
        zones.names.cache_clear()
        zoneinfo.ZoneInfo.clear_cache()

    before = zoneinfo.TZPATH
    forget()
    monkeypatch.setitem(sys.modules, "tzdata", None)
    zoneinfo.reset_tzpath([])
    try:
        with facing() as served:
            live_in(served, NEPAL)
            page = served.page("/zone")
            assert "Times are in UTC." in page and zones.NO_RULES in page and "<select" not in page
            refused = served.client.post("/zone", data={"seal": seal_in(served.client.get("/")), "zone": NEPAL})
            assert (refused.status_code, zones.NO_RULES in refused.text) == (422, True)
    finally:
        zoneinfo.reset_tzpath(before)
        forget()


def test_a_chosen_zone_counts_before_the_browsers(served: Served) -> None:
    live_in(served, NEPAL)
    door = served.client.get("/zone", params={"next": f"{HERE}/time"})
    assert f"of this server: {NEPAL}</option>" in door.text and f"<option>{NEWFOUNDLAND}</option>" in door.text
    fields = {"seal": seal_in(door), "next": f"{HERE}/time"}
    answer = served.client.post("/zone", data={**fields, "zone": NEWFOUNDLAND})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{HERE}/time")
    assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=lax" in answer.headers["set-cookie"]
    assert f"Times are in {NEWFOUNDLAND}." in seen(served, "time")
    assert f"<option selected>{NEWFOUNDLAND}</option>" in served.page("/zone")
    assert served.client.post("/zone", data={**fields, "zone": "Mars/Olympus"}).status_code == 422
    assert served.client.post("/zone", data={"next": "/", "zone": NEPAL}).status_code == 403
    served.client.post("/zone", data={**fields, "zone": ""})
    assert f"Times are in {NEPAL}." in seen(served, "time")


def test_a_part_keeps_to_the_zone_of_its_page(served: Served) -> None:
    page = seen(served, "time")
    assert 'data-zone="UTC" hidden' in page and '{"Pieria-Zone": "UTC"}' in page
    live_in(served, NEPAL)
    part = served.page(f"{HERE}/time", headers={"HX-Request": "true", "Pieria-Zone": "UTC"})
    assert "2026-03-07 18:30:00 UTC" in part and "+05:45" not in part
    assert "data-zone" not in seen(served, "time")


def test_every_time_on_every_page_shows_its_zone(served: Served) -> None:
    live_in(served, NEPAL)
    for page in PAGES:
        text = seen(served, page.name)
        assert f"Times are in {NEPAL}." in text
        for told, _ in re.findall(r"<time ([^>]*)>([^<]*)<", text):
            assert re.fullmatch(r'(data-at|datetime="[^"]+Z" title="[^"]+ \+05:45 Asia/Kathmandu[^"]*")', told)


def test_changes_stand_under_the_day_of_the_zone(served: Served) -> None:
    days = {
        NEPAL: ["8 March 2026", "16:15", "16:15", "00:15"],
        NEWFOUNDLAND: ["8 March 2026", "08:00", "08:00", "7 March 2026", "15:00"],
        KIRITIMATI: ["9 March 2026", "00:30", "00:30", "8 March 2026", "08:30"],
    }
    for name, told in days.items():
        live_in(served, name)
        journal = seen(served, "time").partition('id="journal-title"')[2].partition('id="sessions-title"')[0]
        assert re.findall(r'(?:<h3 class="day">|<time [^>]*>)([^<]+)<', journal) == told
        counts = {NEPAL: (0, 3), NEWFOUNDLAND: (1, 3), KIRITIMATI: (0, 1)}[name]
        for until, count in zip(("2026-03-07", "2026-03-08"), counts, strict=True):
            assert seen(served, "time", until=until).count(", number ") == count, (name, until)
        town = "Bonn" if name == KIRITIMATI else "Berlin"
        assert f"in {town}" in seen(served, "recall", q="office", known_at="2026-03-08"), name
    assert 'data-first="2026-03-08"' in seen(served, "recall"), "there it is the day of the first memory"


def test_memories_are_filtered_by_days_of_the_zone(served: Served) -> None:
    live_in(served, KIRITIMATI)
    for path in ("recall", "graph"):
        page = seen(served, path, since="2026-03-09", until="2026-03-09")
        assert "kettle whistles" in page and "The office" not in page
    drawn = served.client.get(f"{HERE}/graph/data").json()["nodes"]
    told = {node["id"]: (node["day"], node["time"]) for node in drawn}
    assert told["memory:kettle"] == ("2026-03-09", f"2026-03-09 00:30:00 +14:00 {KIRITIMATI}")


def test_facts_hold_for_days_of_the_zone(served: Served) -> None:
    live_in(served, NEWFOUNDLAND)
    sent(served, "time/facts/state", subject="Ada", predicate="lives in", object="Oslo", valid_from="2026-03-08")
    [fact] = served.bank.facts.query("Ada")
    assert str(fact.valid_from) == "2026-03-08 03:30:00+00:00"
    sent(served, "time/facts/correct", id=fact.id, how="ended", at="2026-03-10")
    [fact] = served.bank.facts.query("Ada", history=True)
    assert str(fact.valid_until) == "2026-03-11 02:30:00+00:00", "the clocks were set forward between the two"
    for name, told in ((NEWFOUNDLAND, "2026-03-08 to 2026-03-10"), ("UTC", "2026-03-08 03:30 to 2026-03-11 02:30")):
        live_in(served, name)
        assert f'aria-label="{told}"' in seen(served, "time/facts")


def test_a_memory_ends_on_a_day_of_the_zone(served: Served) -> None:
    live_in(served, KIRITIMATI)
    # The page was made before the browser's zone was known, or changed.
    sent(served, "memory/invalidate", id="office", at="2026-03-09", zone=NEPAL)
    live_in(served, NEPAL)
    assert str(served.bank.history("office")[-1].valid_until) == "2026-03-08 18:15:00+00:00"
    assert "<ins>2026-03-09 00:00:00 +05:45 Asia/Kathmandu</ins>" in seen(served, "memory/history", id="office")
    assert ">2026-03-09 00:00:00 +05:45 Asia/Kathmandu</time>" in seen(served, "memory", id="office")


def test_tokens_exports_and_health_go_by_the_zone(served: Served) -> None:
    sign_in(served, "admin")
    live_in(served, KIRITIMATI)
    assert "2999-01-02 00:00:00 +14:00" in sent(served, "health/token/create", name="phone", expires="2999-01-01").text
    [token] = [token for token in served.tokens.all() if token.name == "phone"]
    assert str(token.expires) == "2999-01-01 10:00:00+00:00"
    assert "2026-03-09 00:30:00 +14:00 Pacific/Kiritimati" in seen(served, "health")
    assert '<text x="80" y="290">2026-03-09</text>' in seen(served, "fading", id="kettle")
    today = zone(KIRITIMATI).day(datetime.now(UTC))
    made = over(served, sent(served, "health/file", what="export"))
    assert f"notes.{today}.jsonl" in made or f"notes.{today + timedelta(days=1)}.jsonl" in made


def test_an_address_with_days_means_the_same_everywhere(served: Served) -> None:
    live_in(served, KIRITIMATI)
    page = seen(served, "recall", known_at="2026-03-08")
    assert f'name="zone" value="{KIRITIMATI}"' in page
    shared = {"q": "office", "known_at": "2026-03-08", "zone": KIRITIMATI}
    live_in(served, NEPAL)
    page = seen(served, "recall", **shared)
    assert "in Bonn" in page and f"in the time zone {KIRITIMATI}, given in its address" in page
    assert f'name="zone" value="{KIRITIMATI}"' in page and "+14:00" in page and "+05:45" not in page
    [own] = re.findall(r'<a href="([^"]+)">Use Asia/Kathmandu instead', page)
    assert own == f"{HERE}/recall?q=office&known_at=2026-03-08"
    own_page = html.unescape(served.page(own))
    assert "in Berlin" in own_page and "given in its address" not in own_page


def test_links_from_days_name_their_zone(served: Served) -> None:
    served.bank.remember_many([{"text": f"The office number {n}."} for n in range(12)])
    served.bank.link("office", "kettle", "related")
    live_in(served, NEPAL)
    [more] = re.findall(r'rel="next" href="([^"]+)"', seen(served, "recall", q="office", since="2026-03-01"))
    assert "since=2026-03-01" in more and "zone=Asia%2FKathmandu" in more
    page = seen(served, "graph", since="2026-03-01")
    addresses = re.findall(r'(?:data-here|data-source)="([^"]+)"', page)
    assert ["zone=Asia%2FKathmandu" in address for address in addresses] == [True, True]
    assert "zone=" not in re.findall(r'data-source="([^"]+)"', seen(served, "graph"))[0]


def test_an_address_with_an_unknown_zone_is_refused(served: Served) -> None:
    refused = served.client.get(f"{HERE}/recall", params={"known_at": "2026-03-08", "zone": "Mars/Olympus"})
    assert refused.status_code == 422 and "Mars/Olympus" in refused.text and "Europe/Berlin" in refused.text
    twice = served.client.get(f"{HERE}/recall", params={"known_at": "2026-03-08", "zone": [NEPAL, KIRITIMATI]})
    assert twice.status_code == 422 and "Times are in UTC." in seen(served, "recall", q="office", zone=NEPAL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_browsers_zone_is_kept_and_another_chosen(opened: Opening) -> None:
    page = opened(zone=KIRITIMATI).go("/banks/notes/recall?q=jwt&known_at=2026-03-09")
    assert "Times are in UTC." in page.locator("footer").inner_text()
    page.get_by_role("link", name="use that time zone").click()
    page.get_by_text(f"Times are in {KIRITIMATI}.").wait_for()
    assert page.get_by_role("link", name="use that time zone").count() == 0
    assert page.locator(".flag time").get_attribute("datetime") == "2026-03-09T09:59:59.999999Z"
    page = opened(scripts=False, zone=KIRITIMATI).go("/banks/notes/time")
    page.get_by_role("link", name="Choose another time zone").click()
    page.get_by_label("Time zone").select_option(NEWFOUNDLAND)
    page.get_by_role("button", name="Use this time zone").click()
    page.wait_for_url("**/banks/notes/time")
    assert f"Times are in {NEWFOUNDLAND}." in page.locator("footer").inner_text()
