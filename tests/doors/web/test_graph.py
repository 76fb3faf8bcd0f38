"""The page on the graph: what it draws, its data, and the same as a table."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.doors.http.conftest import Served, serving
from tests.doors.web.conftest import HOSTILE, Opening

import pieria
from pieria.doors.web.pages import graph
from pieria.record.link import End

GRAPH = "/banks/notes/graph"


@pytest.fixture
def served() -> Iterator[Served]:
    with pieria.open("notes") as bank:
        bank.remember("We chose JWT.", id="jwt", entities=["Ada", "JWT"], place="api/auth", at="2026-01-01")
        bank.remember("Ada leads the gateway.", id="gateway", kind="observation", entities=["Ada"], at="2026-02-01")
        bank.remember("Herons are grey.", id="heron", place="birds/herons", at="2026-03-01")
        bank.remember(HOSTILE, id="hostile", at="2026-03-02")
        bank.link("jwt", "gateway", "related")
        bank.link(End("place", "api/auth"), End("place", "birds/herons"), "tunnel")
        bank.facts.add("Ada", "works_on", "billing")
    with serving() as found:
        found.client.headers["accept"] = "text/html"
        yield found


def told(served: Served, **asked: Any) -> tuple[set[str], set[tuple[str, str, str]]]:
    answer = served.client.get(f"{GRAPH}/data", params=asked).json()
    return {node["id"] for node in answer["nodes"]}, {
        (link["source"], link["relation"], link["target"]) for link in answer["links"]
    }


def test_it_begins_with_the_latest_and_what_ties_them_together(served: Served) -> None:
    nodes, ties = told(served)
    assert nodes == {"memory:jwt", "memory:gateway", "memory:heron", "memory:hostile", "entity:Ada"}
    assert ties == {
        ("memory:jwt", "related", "memory:gateway"),
        ("memory:jwt", "names", "entity:Ada"),
        ("memory:gateway", "names", "entity:Ada"),
    }


def test_a_node_shows_what_is_around_it_and_further_out_on_request(served: Served) -> None:
    nodes, ties = told(served, node="entity:Ada")
    assert nodes == {"entity:Ada", "memory:jwt", "memory:gateway", "entity:billing"}
    assert ("entity:Ada", "works_on", "entity:billing") in ties
    nodes, ties = told(served, node="place:api/auth")
    assert nodes == {"place:api/auth", "place:birds/herons", "memory:jwt"}
    assert ties == {("place:api/auth", "tunnel", "place:birds/herons"), ("memory:jwt", "in", "place:api/auth")}
    further, _ = told(served, node="place:api/auth", hops=2)
    assert further > nodes and "memory:heron" in further and "entity:Ada" in further


@pytest.mark.parametrize(
    ("node", "path"), [("memory:jwt", "memory?id=jwt"), ("place:api/auth", "memories?place=api%2Fauth")]
)
def test_what_it_looks_from_is_named_and_can_be_opened(served: Served, node: str, path: str) -> None:
    page = served.client.get(GRAPH, params={"node": node}).text
    assert re.search(rf'href="/banks/notes/{re.escape(path)}">Open ', page)
    assert ">Open " not in served.client.get(GRAPH).text


def test_what_shares_a_tag_or_a_room_hangs_together(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember("Herons fish at dawn.", id="dawn", place="birds/herons", tags=["grey"], at="2026-03-03")
        bank.update("heron", tags=["grey"])
    nodes, ties = told(served)
    assert {"tag:grey", "place:birds/herons"} <= nodes and "place:api/auth" not in nodes
    for id in ("dawn", "heron"):
        assert {(f"memory:{id}", "is tagged", "tag:grey"), (f"memory:{id}", "in", "place:birds/herons")} <= ties
    assert told(served, node="tag:grey")[0] == {"tag:grey", "memory:dawn", "memory:heron"}


def test_a_search_is_where_to_look_from(served: Served) -> None:
    answer = served.client.get(f"{GRAPH}/data", params={"q": "what did we choose, JWT?", "until": "2026-01-02"}).json()
    assert [node["id"] for node in answer["nodes"] if node["focus"]] == ["memory:jwt"]


def test_kinds_and_time_sieve_what_is_drawn(served: Served) -> None:
    assert told(served, kinds=["observation"])[0] == {"memory:gateway"}
    assert told(served, since="2026-02-15")[0] == {"memory:heron", "memory:hostile"}
    assert told(served, since="2026-01-02", node="entity:Ada")[0] == {"entity:Ada", "memory:gateway", "entity:billing"}
    assert told(served, until="2026-01-31", node="memory:gateway")[0] == {"memory:gateway", "memory:jwt", "entity:Ada"}
    assert told(served, until="2025-12-31", node="memory:gateway")[0] == {"memory:gateway", "entity:Ada"}
    assert told(served, kinds=["entity"], node="memory:jwt")[0] == {"memory:jwt", "entity:Ada", "entity:JWT"}


def test_what_is_around_one_of_them_is_added_to_what_is_shown(served: Served) -> None:
    with pieria.open("notes") as bank:
        for number in range(graph.SEEDS):
            bank.remember(f"Newer, number {number}.", id=f"newer{number}", at="2026-04-01")
        bank.link("newer0", "heron", "recalls")
    before, _ = told(served)
    assert "memory:heron" in before and "place:birds/herons" not in before and "memory:jwt" not in before
    asked = {"around": ["memory:heron", "place:birds/herons", "place:api/auth"]}
    after, ties = told(served, **asked)
    assert after == before | {"place:birds/herons", "place:api/auth", "memory:jwt"}
    assert ("place:api/auth", "tunnel", "place:birds/herons") in ties
    page = served.client.get(GRAPH, params=asked).text
    assert f"{len(after)} nodes and {len(ties)} links" in page
    assert re.search(r'data-further="memory:jwt" href="/banks/notes/graph\?around=[^"]+around=memory%3Ajwt"', page)
    assert 'data-further="place:birds/herons"' not in page
    assert told(served, around=["memory:elsewhere"])[0] == before


def test_it_says_of_what_not_everything_is_shown(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with pieria.open("notes") as bank:
        for number in range(5):
            bank.remember(f"Ada again, {number}.", entities=["Ada"], at="2026-01-01")
            bank.link("heron", bank.remember(f"Grey, {number}.").id, "resembles")
    whole, _ = told(served, node="entity:Ada")
    assert len(whole) == 9 and "More links exist" not in served.client.get(GRAPH, params={"node": "entity:Ada"}).text
    monkeypatch.setattr(graph, "WIDE", graph.Reach(3, 3))
    for node in ("entity:Ada", "memory:heron"):
        answer = served.client.get(f"{GRAPH}/data", params={"node": node}).json()
        assert {each["id"] for each in answer["nodes"] if each["more"]} == {node}
        assert sum(node in (link["source"], link["target"]) for link in answer["links"]) < 6
        assert "More links exist for" in served.client.get(GRAPH, params={"node": node}).text


def test_a_name_is_one_node_in_any_case(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember("ADA in capitals.", id="capitals", entities=["ADA"])
    nodes, ties = told(served, node="entity:ada", hops=2)
    assert [node for node in nodes if node.casefold() == "entity:ada"] == ["entity:ada"]
    assert {(f"memory:{id}", "names", "entity:ada") for id in ("capitals", "jwt", "gateway")} <= ties


def test_an_entity_of_which_nothing_can_be_seen_is_drawn_as_any_other(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.update("heron", entities=["\u200b"])
    nodes, ties = told(served, node="memory:heron", hops=2)
    assert "entity:\u200b" in nodes and ("memory:heron", "names", "entity:\u200b") in ties
    assert served.client.get(GRAPH, params={"node": "entity:\u200b"}).status_code == 200


def test_what_was_revised_leads_on_to_what_came_in_its_place(served: Served) -> None:
    with pieria.open("notes") as bank:
        newer = bank.revise("jwt", text="Passkeys now.", reason="better")
    _, ties = told(served, node="memory:jwt")
    assert ("memory:jwt", "was revised as", f"memory:{newer.id}") in ties


@pytest.mark.parametrize(("asked", "key"), [("ada", "entity:Ada"), ("BILLING", "entity:billing"), ("x" * 600, None)])
def test_a_search_for_a_name_looks_from_what_is_called_so(served: Served, asked: str, key: str | None) -> None:
    answer = served.client.get(f"{GRAPH}/data", params={"q": asked}).json()
    assert [node["id"] for node in answer["nodes"] if node["focus"] and node["kind"] == "entity"] == [key] * bool(key)
    assert key is None or ("entity:Ada", "works_on", "entity:billing") in told(served, q=asked)[1]


@pytest.mark.parametrize("node", ["memory:nowhere", "memory:", "river:nile", "jwt"])
def test_what_is_no_node_is_refused(served: Served, node: str) -> None:
    answer = served.client.get(GRAPH, params={"node": node})
    assert answer.status_code in (404, 422) and 'role="alert"' in answer.text


def test_the_table_says_what_the_drawing_says(served: Served) -> None:
    page = served.client.get(GRAPH).text
    nodes, ties = told(served)
    assert f"{len(nodes)} nodes and {len(ties)} links" in page
    assert page.count("no links") == 2
    assert HOSTILE not in page and "<svg onload" not in page
    assert 'href="/banks/notes/graph?node=entity%3AAda"' in page


def test_no_more_is_drawn_than_can_be_moved(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    around_ada = len(told(served, node="entity:Ada")[0])
    monkeypatch.setattr(graph, "MOST", 3)
    nodes, ties = told(served, node="entity:Ada", hops=3)
    assert len(nodes) == 3
    assert all({source, target} <= nodes for source, _, target in ties)
    answer = served.client.get(f"{GRAPH}/data", params={"node": "entity:Ada", "hops": 3}).json()
    assert {node["id"] for node in answer["nodes"] if node["open"]} == {"entity:Ada"}
    assert "too large to show" in served.client.get(GRAPH, params={"node": "entity:Ada", "hops": 3}).text
    monkeypatch.setattr(graph, "MOST", around_ada)
    assert "too large to show" not in served.client.get(GRAPH, params={"node": "entity:Ada"}).text


def test_it_is_the_same_however_many_are_asked_about_at_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    asks: list[dict[str, Any]] = [{"hops": 3}, {"node": "entity:Ada", "hops": 2}, {"node": "memory:jwt", "hops": 3}]
    together = [served.client.get(f"{GRAPH}/data", params=asked).json() for asked in asks]
    monkeypatch.setattr(graph, "AT_ONCE", 1)
    assert [served.client.get(f"{GRAPH}/data", params=asked).json() for asked in asks] == together


@pytest.mark.slow
def test_in_a_browser_it_is_drawn_and_grows_by_a_click(opened: Opening) -> None:
    with pieria.open("notes") as bank:
        bank.remember("A gateway that Ada leads.", id="leads", entities=["Ada"])
        bank.remember("Ada again.", id="again", entities=["Ada"])
    page = opened().go(f"{GRAPH}?node=memory:leads")
    page.wait_for_selector("#canvas[data-ready=yes] canvas")
    box = page.locator("#canvas").bounding_box()
    # Hardly any node lies in the middle: click across the canvas, since any node opens its details.
    for across in range(10, 91, 2):
        for down in range(10, 91, 4):
            if page.locator("#chosen").is_hidden():
                page.mouse.click(box["x"] + box["width"] * across / 100, box["y"] + box["height"] * down / 100)
    assert page.locator("#chosen [data-open]").get_attribute("href").startswith("/banks/notes/")


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_it_grows_from_its_table_by_keyboard_as_well(opened: Opening, scripts: bool) -> None:
    with pieria.open("notes") as bank:
        bank.remember("Far off.", id="far")
        bank.link("gateway", "far", "leads_to")
    page = opened(scripts=scripts).go(f"{GRAPH}?node=memory:jwt")
    assert page.get_by_role("link", name="Far off.").count() == 0
    more = page.get_by_role("link", name="Show more around The API gateway")
    more.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Far off.", exact=True).wait_for()
    assert "around=memory%3Agateway" in page.url
    if scripts:
        page.wait_for_function("document.activeElement.textContent.startsWith('The API gateway')")
    page.go_back()
    page.get_by_role("link", name="Far off.", exact=True).wait_for(state="detached")
