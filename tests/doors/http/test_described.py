"""The description of the routes is true: statuses, shapes, measurements, the page."""

import json
import re
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.doors.http.conftest import READS, Served, serving

import pieria
from pieria import errors
from pieria.bank.read.get import COUNTED
from pieria.doors.http.failures import STATUS, status_of
from pieria.doors.http.guard import BODY_LIMIT
from pieria.doors.http.limits import A_SECOND, KNOWN, Rate
from pieria.doors.http.openapi import ERRORS, OPENAPI, REPLIES
from pieria.doors.http.routes import RESOURCES
from pieria.doors.http.service import GAUGES, Metrics
from pieria.errors import AccessError, LimitError, PieriaError
from pieria.toolsets import registry

PAGE = (Path(__file__).parents[3] / "docs" / "http.md").read_text()
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PieriaError)]


def test_every_error_has_a_status_that_is_described() -> None:
    assert {kind.code for kind in KINDS} == set(STATUS)
    assert set(map(str, STATUS.values())) <= set(ERRORS)
    assert status_of(AccessError("no_token")) == 401
    assert status_of(AccessError("wrong_bank")) == 403


def test_the_page_has_every_status_with_its_errors() -> None:
    rows = dict(re.findall(r"^\| (\d{3}) \| (.*?) \|", PAGE, flags=re.MULTILINE))
    assert set(rows) == set(ERRORS)
    for code, status in STATUS.items():
        assert f"`{code}`" in rows[str(status)], (code, status)


def test_the_page_has_every_route_and_every_limit() -> None:
    for resource in RESOURCES:
        assert f"`{resource.method} {resource.path.replace('/v1/banks/{bank}', '…')}`" in PAGE, resource.tool.name
    assert f"{BODY_LIMIT >> 20} MiB" in PAGE
    assert f"{A_SECOND:g} requests a second" in PAGE
    assert all(f"`pieria_{name}`" in PAGE for name in GAUGES)


def test_the_description_is_openapi_and_names_every_tool(served: Served) -> None:
    described = served.client.get(OPENAPI).json()
    assert described["openapi"] == "3.1.0"
    for _, tool in registry():
        operation = described["paths"][f"/v1/banks/{{bank}}/tools/{tool.name}"]["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        if not tool.takes_null:
            assert schema == tool.input_schema
            continue
        optional = set(tool.parameters) - set(tool.input_schema.get("required", ()))
        assert {**schema, "properties": {}} == {**tool.input_schema, "properties": {}}
        for name, part in schema["properties"].items():
            told = {"anyOf": [tool.parameters[name], {"type": "null"}]}
            assert part == (told if name in optional else tool.parameters[name]), (tool.name, name)
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    ids = [one["operationId"] for path in described["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_the_shapes_of_memories_and_facts_are_the_record_s_own() -> None:
    with pieria.open("b") as bank:
        memory, fact = bank.remember("We chose JWT."), bank.facts.add("Maya", "works_on", "billing")
    assert list(REPLIES["Memory"]["properties"]) and set(REPLIES["Memory"]["properties"]) == set(memory.as_dict())
    assert set(REPLIES["Fact"]["properties"]) == set(fact.as_dict())
    assert "kind" in COUNTED


def test_there_is_something_behind_every_tool() -> None:
    for toolset, tool in registry():
        assert callable(toolset.handler(tool)), tool.name


def test_all_from_one_source_is_forgotten_over_the_wire(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes"
    made = client.post(f"{path}/memories", json={"text": "Rates rise.", "source": "rates.md"}).json()["id"]
    told = client.post(f"{path}/forget", json={"source": "rates.md", "dry_run": True}).json()
    assert (told["dry_run"], told["ids"], told["receipt"]) == (True, [made], None)
    assert client.post(f"{path}/forget", json={"source": "rates.md", "purge": True}).json()["receipt"]["ids"] == [made]
    assert client.post(f"{path}/forget", json={"source": "rates.md"}).status_code == 404


def test_a_memory_goes_through_its_life(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes/memories"
    made = client.post(path, json={"text": "Tea at four.", "id": "tea", "tags": ["habit"], "importance": 0.9})
    assert (made.status_code, made.json()["version"]) == (201, 1)
    assert client.patch(f"{path}/tea", json={"text": "Tea at five.", "reason": "winter"}).json()["version"] == 2
    assert client.get(f"{path}/tea", params={"version": 1}).json()["text"] == "Tea at four."
    assert [memory["id"] for memory in client.get(path, params={"tags": ["habit"]}).json()["memories"]] == ["tea"]
    assert client.delete(f"{path}/tea", params={"reason": "no more"}).json()["ended"] == "removed"
    gone = client.get(f"{path}/tea")
    assert gone.status_code == 404 and "removed" in gone.json()["error"]["hint"]
    assert client.get(f"{path}/tea?include_removed=true").json()["reason"] == "no more"
    assert client.post(f"{path}/tea/restore").json()["ended"] == ""
    revised = client.post(f"{path}/tea/revise", json={"text": "Coffee at five."}).json()["id"]
    assert client.post(f"{path}/{revised}/invalidate", json={"at": "2999-01-01"}).json()["valid_until"]
    history = client.get(f"{path}/{revised}/history?revisions=true").json()["memories"]
    assert {memory["text"] for memory in history} == {"Tea at four.", "Tea at five.", "Coffee at five."}
    assert client.post(f"{path}/{revised}/purge").json()["also"] == ["tea"]
    assert client.get(f"{path}/tea/history").status_code == 404
    assert "purged" in client.get(f"{path}/tea").json()["error"]["hint"]
    assert "return ids" in client.get(f"{path}/nobody").json()["error"]["hint"]
    whats = [change["what"] for change in client.get("/v1/banks/notes/changes?since=2").json()["changes"]]
    assert whats == ["remember", "update", "remove", "restore", "revise", "invalidate", "purge"]


def test_what_was_changed_since_it_was_read_is_refused_over_the_wire(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes/memories"
    read = client.post(path, json={"text": "Tea at four.", "id": "tea"}).json()
    expected = {"unless_changed_since": read["known_from"]}
    now = client.patch(f"{path}/tea", json={"text": "Tea at five.", **expected}).json()
    for refused in (
        client.patch(f"{path}/tea", json={"text": "Tea at six.", **expected}),
        client.post(f"{path}/tea/revise", json={"text": "Tea at six.", **expected}),
        client.post(f"{path}/tea/invalidate", json=expected),
        client.delete(f"{path}/tea", params=expected),
        client.post(f"{path}/tea/purge", json=expected),
    ):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (409, "conflict")
        assert f"tea@2 of {now['known_from']} is current" in error["message"]
    assert client.get(f"{path}/tea").json() == now
    assert client.delete(f"{path}/tea", params={"unless_changed_since": now["known_from"]}).status_code == 200


def test_what_was_told_is_erased_or_nothing_over_the_wire(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes/memories"
    client.post(path, json={"text": "Tea at four.", "id": "tea", "source": "diary"})
    told = client.post(f"{path}/tea/purge", json={"dry_run": True}).json()
    of_source = client.post("/v1/banks/notes/forget", json={"source": "diary", "dry_run": True}).json()
    client.patch(f"{path}/tea", json={"text": "Tea at five."})
    for refused in (
        client.post(f"{path}/tea/purge", json={"as_told": told["digest"]}),
        client.post("/v1/banks/notes/forget", json={"source": "diary", "as_told": of_source["digest"]}),
    ):
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    assert client.get(f"{path}/tea").status_code == 200
    told = client.post(f"{path}/tea/purge", json={"dry_run": True}).json()
    assert client.post(f"{path}/tea/purge", json={"as_told": told["digest"]}).json()["erased"]["versions"] == 2


def test_facts_are_stated_asked_for_and_ended(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes/facts"
    triple = {"subject": "Maya", "predicate": "lives_in", "object": "Riga"}
    made = client.post(path, json={**triple, "valid_from": "2020-01-01"})
    assert made.status_code == 201
    assert [fact["object"] for fact in client.get(path, params={"predicate": "lives_in"}).json()["facts"]] == ["Riga"]
    assert client.post(f"{path}/invalidate", json={**triple, "at": "2024-01-01"}).json()["facts"][0]["valid_until"]
    assert client.get(path, params={"predicate": "lives_in"}).json() == {"facts": []}
    assert len(client.get(f"{path}/{made.json()['id']}/history").json()["facts"]) == 2
    assert client.delete(f"{path}/{made.json()['id']}").json()["ended"] == "removed"


def test_pages_follow_one_another(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes/memories"
    for number in range(4):
        client.post(path, json={"text": f"number {number}"})
    first = client.get(path, params={"limit": 3, "order": "oldest"}).json()
    rest = client.get(path, params={"limit": 3, "order": "oldest", "cursor": first["cursor"]}).json()
    assert [len(first["memories"]), len(rest["memories"]), rest["cursor"]] == [3, 2, None]
    assert client.get(path, params={"cursor": first["cursor"]}).status_code == 422


def test_conflicts_and_what_is_missing_have_their_status(served: Served) -> None:
    path = "/v1/banks/notes/memories"
    assert served.client.post(path, json={"text": "again", "id": "jwt"}).status_code == 409
    assert served.client.delete(f"{path}/nobody").status_code == 404


# --- measurements


def test_what_is_measured_is_in_the_format_of_prometheus(served: Served) -> None:
    client = served.client
    client.post(f"/v1/banks/notes/tools/{READS}", json={"query": "JWT"})
    client.post(f"/v1/banks/notes/tools/{READS}", json={})
    client.post("/v1/banks/notes/recall", json={"query": "JWT"})
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    line = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? (\d+(\.\d+)?(e[+-]?\d+)?)')
    assert all(text.startswith("# ") or line.fullmatch(text) for text in lines)
    labels = f'toolset="mnemosyne",tool="{READS}"'
    assert f"pieria_calls_total{{{labels}}} 2" in lines
    assert f'pieria_errors_total{{{labels},code="invalid_input"}} 1' in lines
    assert f'pieria_call_seconds_bucket{{{labels},le="+Inf"}} 2' in lines
    assert f"pieria_call_seconds_count{{{labels}}} 2" in lines
    assert 'pieria_calls_total{toolset="http",tool="recall"} 1' in lines
    assert 'pieria_journal_head{bank="notes"} 2' in lines
    assert 'pieria_memories{bank="notes"} 1' in lines
    assert 'pieria_pending_vectors{bank="notes"} 0' in lines


def test_buckets_hold_what_is_not_longer_than_they_are() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.002, 99.0):
        metrics.note("http", 'a"b\\\n', seconds, None)
    text = metrics.text({}, 0.0)
    for bound, count in (("0.001", 1), ("0.0025", 2), ("30.0", 2), ("+Inf", 3)):
        assert f'{{toolset="http",tool="a\\"b\\\\\\n",le="{bound}"}} {count}' in text


# --- rates


def test_a_stock_is_used_up_and_fills_again() -> None:
    now = [0.0]
    rate = Rate(5, "requests", lambda: now[0])
    for _ in range(10):
        rate.take("a")
    with pytest.raises(LimitError) as refused:
        rate.take("a")
    assert refused.value.seconds == 1
    rate.take("b")
    now[0] += 0.2
    rate.take("a")
    with pytest.raises(LimitError):
        rate.take("a")


def test_callers_who_were_longest_away_are_forgotten() -> None:
    rate = Rate(1, "requests", lambda: 0.0)
    for number in range(KNOWN + 10):
        rate.take(str(number))
    assert len(rate._stocks) == KNOWN


def test_answers_say_that_browsers_should_not_guess_keep_or_frame_them() -> None:
    with serving() as served:
        headers = served.client.get("/health").headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert json.loads(served.client.get("/health").text) == {"status": "ok"}
