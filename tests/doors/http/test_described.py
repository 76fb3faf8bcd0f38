"""The description of the routes is true: statuses, shapes, measurements, the page, and fuzzed requests."""

import re
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks
from tests.doors.http.conftest import Served, serving

import pieria
from pieria import errors
from pieria.bank.read.get import COUNTED
from pieria.doors.http.failures import STATUS, status_of
from pieria.doors.http.guard import BODY_LIMIT, Hosts
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
    assert (status_of(AccessError("no_token")), status_of(AccessError("wrong_bank"))) == (401, 403)
    rows = dict(re.findall(r"^\| (\d{3}) \| (.*?) \|", PAGE, flags=re.MULTILINE))
    assert set(rows) == set(ERRORS)
    for code, status in STATUS.items():
        assert f"`{code}`" in rows[str(status)], (code, status)


def test_the_page_has_every_route_and_every_limit() -> None:
    for resource in RESOURCES:
        assert f"`{resource.method} {resource.path.replace('/v1/banks/{bank}', '…')}`" in PAGE, resource.tool.name
    assert f"{BODY_LIMIT >> 20} MiB" in PAGE and f"{A_SECOND:g} requests a second" in PAGE
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
        parts = dict(tool.parameters)
        for name in set(parts) - set(tool.input_schema.get("required", ())):
            parts[name] = {"anyOf": [parts[name], {"type": "null"}]}
        assert schema == {**tool.input_schema, "properties": parts}, tool.name
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    ids = [one["operationId"] for path in described["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_memories_and_facts_are_described_as_recorded() -> None:
    with pieria.open("b") as bank:
        memory, fact = bank.remember("We chose JWT."), bank.facts.add("Maya", "works_on", "billing")
    assert list(REPLIES["Memory"]["properties"]) and set(REPLIES["Memory"]["properties"]) == set(memory.as_dict())
    assert set(REPLIES["Fact"]["properties"]) == set(fact.as_dict()) and "kind" in COUNTED


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
    assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


STRICT = checks.negative_data_rejection
CHECKS = [
    *(not_a_server_error, checks.ignored_auth, STRICT, checks.unsupported_method),
    *(checks.content_type_conformance, checks.response_headers_conformance),
    *(checks.response_schema_conformance, checks.status_code_conformance),
]
"""The checks leave out acceptance of schema-valid input: only the engine knows if a text is a time."""
PHASES = [Phase.explicit, Phase.generate]
ONE = settings(max_examples=1, derandomize=True, deadline=None, phases=PHASES, suppress_health_check=list(HealthCheck))
MANY = settings(ONE, max_examples=60)


def without_lifespan(app: Any) -> Any:
    """Return the application without its lifespan: the fuzzer begins one per request, and one is already running."""

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for done in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{done}.complete"})
        else:
            await app(scope, receive, send)

    return asked


def fuzz(how_many: settings, *, with_token: bool, step: int = 1) -> None:
    """Fuzz every `step`-th operation of the description except the stream of events, which has its own test."""
    # The fuzzer's host name.
    with serving(Hosts(frozenset({"testserver"}))) as served:
        served.client.post("/v1/banks/notes/memories", json={"text": "We chose JWT.", "id": "jwt"})
        headers = served.token("admin", "*", "@me") if with_token else {}
        schema = schemathesis.openapi.from_asgi(OPENAPI, without_lifespan(served.app), headers=headers)
        for result in [*schema.get_all_operations()][::step]:
            assert isinstance(result, Ok)
            if result.ok().path != "/v1/events":
                ask(result.ok(), how_many, headers)


def ask(operation: Any, how_many: settings, headers: dict[str, str]) -> None:
    # Any text is a valid name: a path alone cannot be wrong.
    may_be_wrong = any(True for _ in operation.query) or any(True for _ in operation.body)
    # Tools take what clients send, such as "3" for 3, and leave unknown options out with a warning.
    checked = [check for check in CHECKS if "/tools/" not in operation.path or check is not STRICT]
    for mode in GenerationMode if may_be_wrong else [GenerationMode.POSITIVE]:

        @how_many
        @given(case=operation.as_strategy(generation_mode=mode))
        def one(case: Any) -> None:
            case.call_and_validate(checks=checked, headers=headers)

        one()


def test_some_operations_answer_as_described() -> None:
    fuzz(ONE, with_token=True, step=40)


@pytest.mark.slow
@pytest.mark.parametrize("with_token", [False, True], ids=["open", "token"])
def test_every_operation_answers_as_described(with_token: bool) -> None:
    fuzz(MANY, with_token=with_token)
