"""Fuzz requests within and against the description: no internal error, and no undescribed answer."""

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
from tests.doors.http.conftest import serving

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
ONE = settings(
    max_examples=1,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
MANY = settings(ONE, max_examples=20)


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
    for mode in GenerationMode if may_be_wrong else [GenerationMode.POSITIVE]:

        @how_many
        @given(case=operation.as_strategy(generation_mode=mode))
        def one(case: Any) -> None:
            case.call_and_validate(checks=CHECKS, headers=headers)

        one()


def test_some_operations_answer_as_described() -> None:
    fuzz(ONE, with_token=True, step=40)


@pytest.mark.slow
@pytest.mark.parametrize("with_token", [False, True], ids=["open", "token"])
def test_every_operation_answers_as_described(with_token: bool) -> None:
    fuzz(MANY, with_token=with_token)
