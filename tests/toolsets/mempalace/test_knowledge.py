"""The graph of facts: from either side, each with its time, and every contradiction is reported."""

from typing import Any

from tests.toolsets.conftest import Ask, HandClock, Host, Refused, answered, requirement


def add(ask: Ask, subject: str, predicate: str, object: str, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = ask("mempalace_kg_add", subject=subject, predicate=predicate, object=object, **more)
    return told


def held(ask: Ask, entity: str, **more: Any) -> list[str]:
    return [row["object"] for row in ask("mempalace_kg_query", entity=entity, **more)["facts"]]


@requirement("kg.query")
def test_facts_are_told_from_either_side(ask: Ask) -> None:
    add(ask, "Omar", "reports_to", "Maya", valid_from="2026-01-10")
    added = add(ask, "Maya", "works_on", "billing", valid_from="2026-01-10", source_closet="closet 3")
    assert (added["success"], added["fact"], added["already_known"]) == (True, "Maya → works_on → billing", False)
    add(ask, "Maya", "worked_on", "search", valid_from="2024-01-01", valid_to="2025-01-01")
    add(ask, "Maya", "moves_to", "Porto", valid_from="2030-01-01")
    told = ask("mempalace_kg_query", entity="maya")
    assert [row["direction"] for row in told["facts"]] == ["outgoing"] * 3 + ["incoming"]
    row = next(row for row in told["facts"] if row["object"] == "billing")
    assert (row["valid_from"], row["valid_to"]) == ("2026-01-10", None)
    assert (row["current"], row["source_closet"]) == (True, "closet 3")
    times = [[row["object"] for row in told[f"{when}_facts"]] for when in ("active", "historical", "future")]
    assert (told["count"], times) == (4, [["billing", "Maya"], ["search"], ["Porto"]])
    then = ask("mempalace_kg_query", entity="Maya", as_of="2024-06-01")
    assert [row["object"] for row in then["active_facts"]] == ["search"]
    assert (then["historical_facts"], then["future_facts"]) == ([], [])
    assert held(ask, "Maya", direction="incoming") == ["Maya"]
    assert held(ask, "Maya", direction="outgoing", as_of="2024-06-01") == ["search"]
    assert sorted(held(ask, "Maya", as_of="2026-01-10")) == ["Maya", "billing"]
    assert ask("mempalace_kg_query", entity="Nobody")["facts"] == []


@requirement("kg.query")
def test_entities_are_resolved_or_offered(ask: Ask, host: Host) -> None:
    add(ask, "Maya Lindqvist", "leads", "search")
    told = ask("mempalace_kg_query", entity="lindqvist")
    assert (told["entity"], told["resolved_from"], told["count"]) == ("Maya Lindqvist", "lindqvist", 1)
    add(ask, "Omar Lindqvist", "leads", "ads")
    told = ask("mempalace_kg_query", entity="lindqvist")
    assert (told["count"], told["candidates"]) == (0, ["Maya Lindqvist", "Omar Lindqvist"])
    told = ask("mempalace_kg_query", entity="Omar Lindqvest")
    assert (told["facts"], told["candidates"]) == ([], ["Omar Lindqvist"])
    for unknown in ("lind", "Unheard of"):
        assert "candidates" not in ask("mempalace_kg_query", entity=unknown)
    host.bank.facts.alias("MJ", of="Maya Lindqvist")
    add(ask, "MJ", "leads", "billing")
    rows = ask("mempalace_kg_query", entity="Maya Lindqvist")["facts"]
    assert [row["direction"] for row in rows] == ["outgoing", "outgoing"]


@requirement("kg.conflicts")
def test_conflicts_are_reported_in_part_and_nothing_is_closed(ask: Ask) -> None:
    add(ask, "Maya", "works_with", "Acme")
    told = add(ask, "Maya", "works_with", "Bolt")
    assert ([row["object"] for row in told["conflicts"]], "kg_supersede" in told["hint"]) == (["Acme"], True)
    assert sorted(held(ask, "Maya")) == ["Acme", "Bolt"]
    for number in range(25):
        told = add(ask, "Maya", "visited", f"Town {number}", source_drawer_id="", source_closet=" ")
    assert [row["object"] for row in told["conflicts"]] == [f"Town {number}" for number in range(4, 24)]
    assert told["more_conflicts"] == 4


@requirement("kg.supersede")
def test_value_takes_anothers_place_at_one_moment(ask: Ask, host: Host) -> None:
    def supersede(at: str) -> Any:
        change = {"subject": "Maya", "predicate": "works_with", "old_object": "Acme", "new_object": "Bolt", "at": at}
        return answered(host, "mempalace_kg_supersede", change).value

    add(ask, "Maya", "works_with", "Acme", valid_from="2024-01-01")
    add(ask, "Maya", "works_with", "Club", valid_from="2024-01-01")
    add(ask, "Maya", "works_with", "Gulls", valid_from="2029-01-01")
    told = supersede("2026-02-01")
    assert (told["ended"], told["valid_from"]) == ("2026-01-31", "2026-02-01"), (
        "its last day, and the first of the next"
    )
    assert told["superseded"] == "Acme"
    assert {row["object"] for row in told["conflicts"]} == {"Club", "Gulls"}
    assert sorted(held(ask, "Maya", as_of="2026-01-31")) == ["Acme", "Club"]
    assert sorted(held(ask, "Maya", as_of="2026-02-01")) == ["Bolt", "Club"]
    holds = "Acme holds from 2024-01-01 until 2026-01-31."
    again = supersede("2026-02-01")
    assert (again["error_class"], "Club" in again["hint"], again["hint"].endswith(holds)) == ("not_found", True, True)
    assert supersede("2020-01-01")["hint"] == f"Nothing holds then that could make room. {holds}"


@requirement("kg.conflicts")
def test_known_repeated_and_ended_facts_are_reported(ask: Ask, host: Host) -> None:
    times = {"valid_from": "2020-01-01", "valid_to": "2021-01-01"}
    assert add(ask, "Maya", "led", "search", **times)["already_known"] is False
    assert add(ask, "Maya", "led", "search", **times)["already_known"] is True
    add(ask, "Maya", "lives_in", "Berlin", valid_from="2024-01-01", valid_to="2027-01-01")
    [ended] = add(ask, "Maya", "lives_in", "Porto", valid_from="2026-01-01")["ended"]
    assert (ended["object"], ended["valid_to"]) == ("Berlin", "2025-12-31")
    [ended] = add(ask, "Maya", "lives_in", "Rome", valid_from="2026-01-01")["ended"]
    assert (ended["object"], ended["valid_to"], ended["current"]) == ("Porto", "2026-01-01", False)
    told = add(ask, "Maya", "led", "search", valid_from="2019-01-01", valid_to="2021-01-01")
    assert (told["already_known"], {"ended", "conflicts"} & told.keys()) == (False, set())


@requirement("kg.supersede", "kg.invalidate")
def test_ended_facts_hold_no_more(ask: Ask, refused: Refused, clock: HandClock) -> None:
    told = refused("mempalace_kg_invalidate", subject="Maya", predicate="likes", object="tea")
    assert (told["success"], told["error_class"]) == (False, "not_found")
    fact = {"subject": "Maya", "predicate": "works_at", "object": "Dock"}
    ask("mempalace_kg_add", **fact, valid_from="2026-10-01")
    told = refused("mempalace_kg_invalidate", **fact, ended="2026-09-30")
    assert (told["violations"][0]["parameter"], "2026-10-01" in told["error"]) == ("ended", True)
    ask("mempalace_kg_add", **fact, valid_from="2024-01-01")
    ended = ask("mempalace_kg_invalidate", **fact, ended="2026-02-01")
    assert (ended["success"], ended["ended"], ended["fact"]) == (True, "2026-02-01", "Maya → works_at → Dock")
    assert [held(ask, "Maya", as_of=day) for day in ("2026-02-01", "2026-02-02")] == [["Dock"], []]
    add(ask, "Maya", "works_at", "Bolt")
    clock.move(hours=1)
    ended = ask("mempalace_kg_invalidate", **{**fact, "object": "Bolt"})
    assert ended["ended"] == "2026-03-01T13:00:00Z"


@requirement("kg.invalidate", "kg.query")
def test_facts_of_one_day_and_ends_today_stay_in_the_history(ask: Ask, clock: HandClock) -> None:
    day = {"valid_from": "2026-02-10", "valid_to": "2026-02-10"}
    told = add(ask, "Maya", "visited", "Oslo", **day)
    assert {name: told[name] for name in day} == day
    assert [held(ask, "Maya", as_of=at) for at in ("2026-02-09", "2026-02-10", "2026-02-11")] == [[], ["Oslo"], []]
    fact = {"subject": "Omar", "predicate": "works_at", "object": "Dock"}
    for ended in (None, "2026-03-01"):
        ask("mempalace_kg_add", **fact)
        clock.move(hours=1)
        told = ask("mempalace_kg_invalidate", **fact, **({} if ended is None else {"ended": ended}))
        clock.move(minutes=1)
        assert (told["ended"], "hint" in told) == (ended or "2026-03-01T13:00:00Z", ended is not None)
        assert (held(ask, "Omar", as_of="2026-03-01"), held(ask, "Omar", as_of="2026-03-02")) == (["Dock"], [])
    assert [row["valid_to"] for row in ask("mempalace_kg_timeline", entity="Omar")["timeline"]] == [
        "2026-03-01T13:00:00Z", "2026-03-01",
    ]  # fmt: skip


@requirement("kg.query", "kg.own", "schema.validated")
def test_invalid_questions_and_facts_are_refused(ask: Ask, refused: Refused) -> None:
    for name, value in (("as_of", "soon"), ("direction", "sideways"), ("entity", " ")):
        told = refused("mempalace_kg_query", **{"entity": "Maya", name: value})
        assert told["violations"][0]["parameter"] == name
    told = refused("mempalace_kg_add", subject="a", predicate="b", object="c", source_drawer_id="drawer_a_b_1")
    assert told["error"] == "drawer 'drawer_a_b_1' not found"
    assert add(ask, "a", "b", "c", source_drawer_id=" ")["success"]


@requirement("kg.timeline", "kg.own")
def test_timeline_has_pages_and_facts_are_counted(ask: Ask, host: Host) -> None:
    for year in range(2000, 2012):
        add(ask, "Maya", "visited", f"Town {year}", valid_from=f"{year}-01-01")
    told = ask("mempalace_kg_timeline", entity="Maya", limit=3)
    assert [row["object"] for row in told["timeline"]] == ["Town 2000", "Town 2001", "Town 2002"]
    assert (told["count"], told["total"], told["offset"], told["limit"]) == (3, 12, 0, 3)
    told = ask("mempalace_kg_timeline", limit=3, offset=10)
    assert ([row["object"] for row in told["timeline"]], told["entity"]) == (["Town 2010", "Town 2011"], "all")
    assert ask("mempalace_kg_timeline", offset=99)["timeline"] == []
    add(ask, "Omar", "left", "Acme", valid_from="2020-01-01", valid_to="2021-01-01")
    assert ask("mempalace_kg_stats") == {
        "entities": 15, "triples": 13, "current_facts": 12, "expired_facts": 1, "future_facts": 0,
        "relationship_types": ["left", "visited"],
    }  # fmt: skip
    assert ask("mempalace_kg_stats", at=host.having(bank_name="other"))["triples"] == 0


@requirement("kg.query")
def test_facts_name_their_file_and_their_closet(ask: Ask) -> None:
    add(ask, "Maya", "wrote", "adr", source_file="docs/adr.md", source_closet="closet 3")
    add(ask, "Maya", "read", "adr", source_file="docs/adr.md")
    told = {row["predicate"]: row for row in ask("mempalace_kg_query", entity="Maya")["facts"]}
    assert (told["wrote"]["source_file"], told["wrote"]["source_closet"]) == ("docs/adr.md", "closet 3")
    assert told["read"]["source_closet"] == "docs/adr.md"


@requirement("kg.query")
def test_fact_of_one_day_holds_on_that_day(ask: Ask) -> None:
    add(ask, "Maya", "visited", "Porto", valid_from="2024-05-06", valid_to="2024-05-06")
    row = ask("mempalace_kg_query", entity="Maya")["historical_facts"][0]
    assert (row["valid_from"], row["valid_to"]) == ("2024-05-06", "2024-05-06")
    days = {day: held(ask, "Maya", as_of=day) for day in ("2024-05-05", "2024-05-06", "2024-05-07")}
    assert days == {"2024-05-05": [], "2024-05-06": ["Porto"], "2024-05-07": []}
