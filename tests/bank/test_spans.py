"""Verbs report themselves to telemetry, and are otherwise unchanged."""

import inspect
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from pieria import Bank, telemetry
from pieria.errors import NotFoundError


def test_each_verb_reports_its_call_and_its_bank(bank: Bank) -> None:
    heard: list[tuple[str, str, str]] = []

    def hear(event: telemetry.Event, _: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        if event[1:3] == ("bank", "verb"):
            heard.append((event[-1], about["verb"], about["repo_id"]))

    with ExitStack() as stack:
        stack.callback(telemetry.attach(hear))
        bank.remember("We chose JWT.")
        bank.facts.entities()
        with pytest.raises(NotFoundError):
            bank.revise("nothing", text="We chose PASETO.")
    bank.count()
    ends = [("remember", "stop"), ("facts.entities", "stop"), ("revise", "exception")]
    assert heard == [(stage, verb, bank.name) for verb, end in ends for stage in ("start", end)]
    assert "k" in inspect.signature(bank.recall).parameters
    assert bank.recall.__doc__ and type(bank).remember.__qualname__ == "Bank.remember"
