"""The description of the routes is true: statuses, shapes, measurements, the page."""

import re
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.doors.http.conftest import Served

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


def test_every_error_has_a_status_that_the_page_lists() -> None:
    assert {kind.code for kind in KINDS} == set(STATUS)
    assert set(map(str, STATUS.values())) <= set(ERRORS)
    assert status_of(AccessError("no_token")) == 401
    assert status_of(AccessError("wrong_bank")) == 403
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
    for toolset, tool in registry():
        assert callable(toolset.handler(tool)), tool.name
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


def test_memories_and_facts_are_described_as_recorded() -> None:
    with pieria.open("b") as bank:
        memory, fact = bank.remember("We chose JWT."), bank.facts.add("Maya", "works_on", "billing")
    assert list(REPLIES["Memory"]["properties"]) and set(REPLIES["Memory"]["properties"]) == set(memory.as_dict())
    assert set(REPLIES["Fact"]["properties"]) == set(fact.as_dict())
    assert "kind" in COUNTED


def test_buckets_count_calls_up_to_their_bound() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.002, 99.0):
        metrics.note("http", 'a"b\\\n', seconds, None)
    text = metrics.text({}, 0.0)
    for bound, count in (("0.001", 1), ("0.0025", 2), ("30.0", 2), ("+Inf", 3)):
        assert f'{{toolset="http",tool="a\\"b\\\\\\n",le="{bound}"}} {count}' in text


def test_allowance_is_used_up_and_fills_again() -> None:
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
    for number in range(KNOWN + 10):
        rate.take(str(number))
    assert len(rate._stocks) == KNOWN, "those who were away longest are forgotten"


def test_answers_forbid_browsers_to_guess_keep_or_frame_them(served: Served) -> None:
    headers = served.client.get("/health").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
