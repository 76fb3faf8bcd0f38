"""The page on the graph: what it draws, its data, and the same as a table."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import HOSTILE, Opening, facing

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
    with facing() as found:
        yield found


def data(served: Served, **asked: Any) -> Any:
    return served.client.get(f"{GRAPH}/data", params=asked).json()


def told(served: Served, **asked: Any) -> tuple[set[str], set[tuple[str, str, str]]]:
    answer = data(served, **asked)
    ties = {(link["source"], link["relation"], link["target"]) for link in answer["links"]}
    return {node["id"] for node in answer["nodes"]}, ties


def page_of(served: Served, **asked: Any) -> str:
    return served.page(GRAPH, params=asked)


def test_it_begins_with_the_latest_and_their_common_entities(served: Served) -> None:
    nodes, ties = told(served)
    assert nodes == {"memory:jwt", "memory:gateway", "memory:heron", "memory:hostile", "entity:Ada"}
    names = {(f"memory:{id}", "names", "entity:Ada") for id in ("jwt", "gateway")}
    assert ties == {("memory:jwt", "related", "memory:gateway"), *names}
    page = page_of(served)
    assert f"{len(nodes)} nodes and {len(ties)} links" in page and page.count("no links") == 2
    assert HOSTILE not in page and "<svg onload" not in page and ">Open " not in page
    assert 'href="/banks/notes/graph?node=entity%3AAda"' in page
    served.bank.remember("Herons fish at dawn.", id="dawn", place="birds/herons", tags=["grey"], at="2026-03-03")
    served.bank.update("heron", tags=["grey"])
    nodes, ties = told(served)
    assert {"tag:grey", "place:birds/herons"} <= nodes and "place:api/auth" not in nodes
    for id in ("dawn", "heron"):
        assert {(f"memory:{id}", "is tagged", "tag:grey"), (f"memory:{id}", "in", "place:birds/herons")} <= ties
    assert told(served, node="tag:grey")[0] == {"tag:grey", "memory:dawn", "memory:heron"}


def test_a_node_is_drawn_with_its_surroundings(served: Served) -> None:
    nodes, ties = told(served, node="entity:Ada")
    assert nodes == {"entity:Ada", "memory:jwt", "memory:gateway", "entity:billing"}
    assert ("entity:Ada", "works_on", "entity:billing") in ties
    nodes, ties = told(served, node="place:api/auth")
    assert nodes == {"place:api/auth", "place:birds/herons", "memory:jwt"}
    assert ties == {("place:api/auth", "tunnel", "place:birds/herons"), ("memory:jwt", "in", "place:api/auth")}
    further, _ = told(served, node="place:api/auth", hops=2)
    assert further > nodes and "memory:heron" in further and "entity:Ada" in further
    for node, path in (("memory:jwt", "memory?id=jwt"), ("place:api/auth", "memories?place=api%2Fauth")):
        assert f'href="/banks/notes/{path}">Open ' in page_of(served, node=node)
    for node in ("memory:nowhere", "memory:", "river:nile", "jwt"):
        answer = served.client.get(GRAPH, params={"node": node})
        assert answer.status_code in (404, 422) and 'role="alert"' in answer.text


def test_a_search_is_a_place_to_look_from(served: Served) -> None:
    nodes = data(served, q="what did we choose, JWT?", until="2026-01-02")["nodes"]
    assert [node["id"] for node in nodes if node["focus"]] == ["memory:jwt"]
    for asked, found in (("ada", ["entity:Ada"]), ("BILLING", ["entity:billing"]), ("x" * 600, [])):
        nodes = data(served, q=asked)["nodes"]
        assert [node["id"] for node in nodes if node["focus"] and node["kind"] == "entity"] == found
        assert not found or ("entity:Ada", "works_on", "entity:billing") in told(served, q=asked)[1]


def test_kinds_and_time_filter_what_is_drawn(served: Served) -> None:
    filtered: list[tuple[dict[str, Any], set[str]]] = [
        ({"kinds": ["observation"]}, {"memory:gateway"}),
        ({"since": "2026-02-15"}, {"memory:heron", "memory:hostile"}),
        ({"since": "2026-01-02", "node": "entity:Ada"}, {"entity:Ada", "memory:gateway", "entity:billing"}),
        ({"until": "2025-12-31", "node": "memory:gateway"}, {"memory:gateway", "entity:Ada"}),
        ({"kinds": ["entity"], "node": "memory:jwt"}, {"memory:jwt", "entity:Ada", "entity:JWT"}),
    ]
    assert [(asked, told(served, **asked)[0]) for asked, _ in filtered] == filtered


def test_surroundings_of_a_node_are_added_to_the_drawing(served: Served) -> None:
    for number in range(graph.SEEDS):
        served.bank.remember(f"Newer, number {number}.", id=f"newer{number}", at="2026-04-01")
    served.bank.link("newer0", "heron", "recalls")
    before, _ = told(served)
    assert "memory:heron" in before and "place:birds/herons" not in before and "memory:jwt" not in before
    asked = {"around": ["memory:heron", "place:birds/herons", "place:api/auth"]}
    after, ties = told(served, **asked)
    assert after == before | {"place:birds/herons", "place:api/auth", "memory:jwt"}
    assert ("place:api/auth", "tunnel", "place:birds/herons") in ties
    page = page_of(served, **asked)
    assert f"{len(after)} nodes and {len(ties)} links" in page
    assert re.search(r'data-further="memory:jwt" href="/banks/notes/graph\?around=[^"]+around=memory%3Ajwt"', page)
    assert 'data-further="place:birds/herons"' not in page
    assert told(served, around=["memory:elsewhere"])[0] == before


def test_names_and_revisions_are_joined(served: Served) -> None:
    served.bank.remember("ADA in capitals.", id="capitals", entities=["ADA"])
    served.bank.update("heron", entities=["\u200b"])
    newer = served.bank.revise("jwt", text="Passkeys now.", reason="better")
    nodes, ties = told(served, node="entity:ada", hops=2)
    assert [node for node in nodes if node.casefold() == "entity:ada"] == ["entity:ada"]
    assert {(f"memory:{id}", "names", "entity:ada") for id in ("capitals", "gateway")} <= ties
    nodes, ties = told(served, node="memory:heron", hops=2)
    assert "entity:\u200b" in nodes and ("memory:heron", "names", "entity:\u200b") in ties
    assert served.client.get(GRAPH, params={"node": "entity:\u200b"}).status_code == 200
    assert ("memory:jwt", "was revised as", f"memory:{newer.id}") in told(served, node="memory:jwt")[1]


def test_nodes_with_further_links_are_marked(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        served.bank.remember(f"Ada again, {number}.", entities=["Ada"], at="2026-01-01")
        served.bank.link("heron", served.bank.remember(f"Grey, {number}.").id, "resembles")
    whole, _ = told(served, node="entity:Ada")
    assert len(whole) == 9 and "More links exist" not in served.page(GRAPH, params={"node": "entity:Ada"})
    monkeypatch.setattr(graph, "WIDE", graph.Reach(3, 3))
    for node in ("entity:Ada", "memory:heron"):
        answer = data(served, node=node)
        assert {each["id"] for each in answer["nodes"] if each["more"]} == {node}
        assert sum(node in (link["source"], link["target"]) for link in answer["links"]) < 6
        assert "More links exist for" in served.page(GRAPH, params={"node": node})


def test_a_drawing_is_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    around_ada = len(told(served, node="entity:Ada")[0])
    monkeypatch.setattr(graph, "MOST", 3)
    nodes, ties = told(served, node="entity:Ada", hops=3)
    assert len(nodes) == 3 and all({source, target} <= nodes for source, _, target in ties)
    drawn = data(served, node="entity:Ada", hops=3)["nodes"]
    assert {node["id"] for node in drawn if node["open"]} == {"entity:Ada"}
    assert "too large to show" in served.page(GRAPH, params={"node": "entity:Ada", "hops": 3})
    monkeypatch.setattr(graph, "MOST", around_ada)
    assert "too large to show" not in served.page(GRAPH, params={"node": "entity:Ada"})


def test_the_drawing_is_the_same_for_any_batch_size(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    asks: list[dict[str, Any]] = [{"hops": 3}, {"node": "entity:Ada", "hops": 2}, {"node": "memory:jwt", "hops": 3}]
    together = [data(served, **asked) for asked in asks]
    monkeypatch.setattr(graph, "AT_ONCE", 1)
    assert [data(served, **asked) for asked in asks] == together


@pytest.mark.slow
def test_a_click_on_the_canvas_opens_a_node(opened: Opening) -> None:
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
def test_the_drawing_grows_from_its_table_by_keyboard(opened: Opening, scripts: bool) -> None:
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
