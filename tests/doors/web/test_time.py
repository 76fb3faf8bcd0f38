"""The page on time: the journal, sessions as bars, and facts with their periods."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import facing, seal_in, sign_in

from pieria.doors.web.pages import time
from pieria.errors import ConflictError
from pieria.workspace import Workspace

TIME = "/banks/notes/time"


def numbers(page: str) -> list[int]:
    return [int(number) for number in re.findall(r"UTC, number (\d+)", page)]


def test_changes_are_listed_newest_first_on_pages(served: Served) -> None:
    page = served.page(TIME)
    assert re.findall(r"<b>([a-z ]+)</b> <span", page) == [change.what for change in reversed(served.bank.changes())]
    assert "Maya works on billing" in page and "Maya prefers an aisle seat" in page
    for number in range(time.CHANGES):
        served.bank.remember(f"Heron number {number}.")
    every = [change.seq for change in served.bank.changes()]
    seen: list[int] = []
    paths = [TIME]
    while paths:
        page = served.page(paths[0])
        seen += numbers(page)
        paths = re.findall(r'rel="next" href="([^"]+)"', page)
    assert seen == every[::-1]


def test_a_change_is_undone_where_that_is_possible(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.bank.remember("By mistake.", id="mistake")
    [change] = served.bank.changes(last=1)
    seal = seal_in(served.client.get(TIME))

    def undo(seq: int, **more: int) -> Any:
        return served.client.post(f"{TIME}/undo", data={"seal": seal, "seq": seq, **more}, headers=headers)

    headers: dict[str, str] = {}
    assert undo(change.seq).headers["location"] == TIME and "removed" in served.page(TIME)
    for referer, leads_back in ((f"http://localhost:7411{TIME}?before=9", True), (f"http://elsewhere{TIME}", False)):
        headers = {"referer": referer}
        again = undo(change.seq)
        assert again.status_code == 409 and 'role="alert"' in again.text
        assert (f'href="{TIME}?before=9">Back to where you were' in again.text) is leads_back
    monkeypatch.setattr(time, "CHANGES", 3)
    page = served.page(TIME, params={"before": 6})
    assert numbers(page) == [5, 4, 3] and page.count('name="before" value="6"') == 3
    assert undo(5, before=6).headers["location"] == f"{TIME}?before=6"


def test_undo_is_offered_only_for_what_can_be_undone(served: Served) -> None:
    served.bank.facts.declare("lives_in")
    served.bank.scratchpad.write("Tidy up.")
    served.bank.purge("maya")
    session = served.bank.session("Mend the build", auto_commit=False)
    session.append("The toolchain is registered twice.", "Removed the second registration.")
    page = served.page(TIME)
    offered = {int(seq) for seq in re.findall(r'name="seq" value="(\d+)"', page)}
    final = {change.seq for change in served.bank.changes()} - offered
    assert len(final) >= 5 and offered
    for seq in final:
        with pytest.raises(ConflictError):
            served.bank.undo(seq)
    assert f'href="/banks/notes/sessions/one?id={session.id}">Mend the build</a>' in page


def test_changes_until_a_day_are_found_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    day = [datetime(2026, 1, 1, tzinfo=UTC)]
    with Workspace(clock=lambda: day[0]) as workspace, workspace.open("notes") as bank:
        for number in range(100):
            day[0] += timedelta(hours=6)
            bank.remember(f"Heron {number}.", id=f"heron{number}")
    monkeypatch.setattr(time, "CHANGES", 3)
    with facing() as served:
        for until, newest in (("2026-01-03", 11), ("2026-01-01", 3), ("2030-01-01", 100)):
            page = served.page(TIME, params={"until": until})
            assert numbers(page) == [newest, newest - 1, newest - 2], until
        assert "No changes by then" in served.page(TIME, params={"until": "2025-12-31"})


def test_sessions_are_bars_that_lead_to_their_memories(served: Served) -> None:
    for hour in (8, 9):
        served.bank.remember(f"Good morning at {hour}.", session="monday", at=f"2026-03-02T0{hour}:00:00Z")
    served.bank.remember("Good evening.", session="tuesday", at="2026-03-03T08:00:00Z")
    page = served.page(TIME)
    bar = r'aria-label="from ([\d-]+)[^"]+">\s+<rect[^>]+>\s+<rect class="held" x="([\d.]+)" width="([\d.]+)"'
    bars = {told: (float(x), float(width)) for told, x, width in re.findall(bar, page)}
    assert bars["2026-03-02"][0] == 0.0 and 4.0 < bars["2026-03-02"][1] < 4.3
    assert sum(bars["2026-03-03"]) == 100.0 and bars["2026-03-03"][1] > 0.5
    said = served.page("/banks/notes/memories?session=monday")
    assert said.count("data-item") == 2 and "Good evening" not in said
    assert "monday" in served.page(TIME, headers={"HX-Request": "true"}) and "memories?session=monday" in page
    assert "one of your token" not in served.page("/banks/notes/memories")
    # Another token cannot name the session.
    sign_in(served, "read")
    page = served.page(TIME)
    assert "monday" in page and "memories?session=" not in page
    assert "one of your token" in served.page("/banks/notes/memories")


def test_a_fact_is_stated_ended_and_taken_back(served: Served) -> None:
    def do(path: str, **fields: str) -> None:
        seal = seal_in(served.client.get(f"{TIME}/facts"))
        answer = served.client.post(f"{TIME}/facts/{path}", data={"seal": seal, **fields})
        assert answer.headers["location"] == f"{TIME}/facts?entity=Ada"

    for town in ("Oslo", "Rome"):
        do("state", subject="Ada", predicate="visits", object=town, valid_from="2026-01-01")
    oslo, rome = served.bank.facts.query("Ada")
    do("correct", id=oslo.id, how="ended", at="2026-03-01", reason="moved")
    do("correct", id=rome.id, how="never", reason="misheard")
    assert served.bank.facts.query("Ada") == []
    [held] = served.bank.facts.query("Ada", history=True)
    assert (held.object, held.reason, str(held.valid_until)) == ("Oslo", "moved", "2026-03-02 00:00:00+00:00")
    assert served.bank.facts.history(rome.id)[-1].reason == "misheard"
    assert "Correct it" not in served.page(f"{TIME}/facts?entity=Ada")
    do("state", subject="Ada", predicate="visits", object="Bern", valid_from="2026-02-01", valid_until="2026-02-01",
       supersede="true")  # fmt: skip
    facts = served.bank.facts.query("Ada", history=True)
    assert [(fact.object, str(fact.valid_until)[:10]) for fact in facts] == [
        ("Oslo", "2026-02-01"),
        ("Bern", "2026-02-02"),
    ]


def test_changes_of_drawn_facts_are_named_unless_in_quarantine(served: Served) -> None:
    fact = served.bank.facts.add("Ada", "uses", "JWT", memory="jwt")
    served.bank.update(fact.id, text="Ada uses PASETO.")
    assert served.page(TIME).count("Ada uses PASETO") == 2
    served.bank.quarantine(ids="jwt")
    assert "PASETO" not in served.page(TIME)


def test_facts_are_bars_and_contradictions_are_marked(served: Served) -> None:
    served.bank.facts.add("Ada", "studies_in", "Oslo", valid_from="2025-01-01", valid_until="2025-07-01")
    for town in ("Bergen", "Tromsø"):
        served.bank.facts.add("Ada", "studies_in", town, valid_from="2026-01-01")
    served.bank.facts.declare("studies_in")
    page = served.page(f"{TIME}/facts?entity=Ada")
    assert page.count("data-item") == 3 and "works on" not in page
    assert page.count(">contradicted<") == 2 and "1 contradiction in the bank" in page
    assert served.page(f"{TIME}/facts?contradicted=true").count("data-item") == 2
    [oslo] = re.findall(r'aria-label="2025-01-01 to 2025-07-01">\s+<rect[^>]+>\s+<rect class="held" x="0.00"', page)
    assert oslo
    before = served.page(f"{TIME}/facts?known_at=2020-01-01")
    assert "No fact is known" in before


def test_contradictions_are_found_among_many_facts(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "FACTS", 3)
    for town in ("Bergen", "Tromsø"):
        served.bank.facts.add("Ada", "studies_in", town, valid_from="2020-01-01")
    served.bank.facts.declare("studies_in")
    for number in range(4):
        served.bank.facts.add("Ben", "knows", f"Person {number}", valid_from="2021-01-01")
    page = served.page(f"{TIME}/facts")
    assert "3 facts, the latest" in page and "Tromsø" not in page
    [link] = re.findall(r'class="contradicts" href="([^"]+)"', page)
    page = served.page(link)
    assert page.count(">contradicted<") == 2 and "Tromsø" in page and "Person 1" not in page
    assert "No fact about Ben is contradicted" in served.page(f"{link}&entity=Ben")
    assert served.client.get(f"{link}&known_at=2026-01-01").status_code == 422


def test_times_at_the_ends_of_the_calendar_hide_nothing(served: Served) -> None:
    served.bank.facts.add("Ada", "is", "eternal", valid_from="0001-01-01", valid_until="9999-12-31")
    served.bank.facts.add("Ada", "was", "nothing", valid_until="0001-01-01T00:00:00Z")
    served.bank.facts.add("Ada", "led", "billing", valid_from="2026-01-01", valid_until="2026-06-01")
    served.bank.facts.add("Ada", "led", "search", valid_from="2026-06-01")
    served.bank.remember("The last word.", session="last", at="9999-12-31T23:59:59Z")
    served.bank.remember("The first word.", session="first", at="0001-01-01T00:00:00Z")
    page = served.page(f"{TIME}/facts", params={"entity": "Ada"})
    assert "0001-01-01 to 9999-12-31" in page and "bars beyond are cut" in page
    bar = r'aria-label="(2026-0[16]-01 to [^"]+)">\s+<rect[^>]+>\s+<rect[^>]+ width="([\d.]+)"'
    widths = dict(re.findall(bar, page))
    assert min(map(float, widths.values())) > 10 and len(widths) == 2
    assert served.client.get(TIME).status_code == 200
