"""Fuzz requests within and against the description: no internal error, and no undescribed answer."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from tests.doors.http.conftest import Served, serving

from pieria.doors.http.guard import Hosts
from pieria.doors.http.openapi import OPENAPI

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]
"""The checks leave out acceptance of schema-valid input: only the engine knows if a text is a time."""
FEW = settings(
    max_examples=4,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
MANY = settings(FEW, max_examples=40)
PARTS = 4
"""The long test is split into this many parts, to run several at a time."""


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


def operations(served: Served, headers: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield every operation of the description except the stream of events, which has its own test."""
    schema = schemathesis.openapi.from_asgi(OPENAPI, without_lifespan(served.app), headers=headers)
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path != "/v1/events":
            yield operation.label, operation


def fuzz(how_many: settings, with_token: bool, part: int = 0, parts: int = 1) -> None:
    # The fuzzer's host name.
    with serving(Hosts(frozenset({"testserver"}))) as served:
        served.client.post("/v1/banks/notes/memories", json={"text": "We chose JWT.", "id": "jwt"})
        headers = served.token("admin", "*", "@me") if with_token else {}
        asked = list(operations(served, headers))[part::parts]
        assert len([label for label, operation in asked if ask(operation, how_many, headers)]) > 20 // parts


def ask(operation: Any, how_many: settings, headers: dict[str, str]) -> bool:
    # Any text is a valid name: a path alone cannot be wrong.
    may_be_wrong = any(True for _ in operation.query) or any(True for _ in operation.body)
    for mode in GenerationMode if may_be_wrong else [GenerationMode.POSITIVE]:

        @how_many
        @given(case=operation.as_strategy(generation_mode=mode))
        def one(case: Any) -> None:
            case.call_and_validate(checks=CHECKS, headers=headers)

        one()
    return True


def test_a_few_of_every_kind() -> None:
    fuzz(FEW, with_token=True)


@pytest.mark.slow
@pytest.mark.parametrize("with_token", [False, True], ids=["open", "token"])
@pytest.mark.parametrize("part", range(PARTS))
def test_many_of_every_kind(with_token: bool, part: int) -> None:
    fuzz(MANY, with_token, part, PARTS)
