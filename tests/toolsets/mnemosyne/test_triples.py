"""Triples, stated or extracted: each once, from either end, and nothing closed that may go on."""

import json
from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.models.scripted import Scripted
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host


def add(ask: Ask, subject: str, predicate: str, object: str) -> dict[str, Any]:
    added: dict[str, Any] = ask("mnemosyne_triple_add", subject=subject, predicate=predicate, object=object)
    return added


def objects(ask: Ask, **asked: str) -> list[str]:
    return [row["object"] for row in ask("mnemosyne_triple_query", **asked)["results"]]


@requirement("triple.idempotent", "triple.closes_nothing")
def test_same_triple_is_one_and_another_value_ends_nothing(ask: Ask, host: Host) -> None:
    first = add(ask, "Maya", "works_on", "billing")
    before = host.bank.changes()
    again = add(ask, "maya", "works on", "BILLING")
    assert (first["status"], again["status"]) == ("added", "exists")
    assert first["triple_id"] == again["triple_id"]
    assert host.bank.changes() == before
    add(ask, "Omar", "speaks", "English")
    added = add(ask, "Omar", "speaks", "Portuguese")
    assert [row["object"] for row in added["others"]] == ["English"]
    assert (added["closed"], added["conflicts"]) == ([], [])
    assert sorted(objects(ask, subject="Omar")) == ["English", "Portuguese"]


@requirement("triple.closes_nothing", "triple.conflicts", "triple.as_of")
def test_declared_predicate_has_one_value_at_a_time(ask: Ask, host: Host, clock: HandClock) -> None:
    host.bank.facts.declare("lives_in")
    add(ask, "Maya", "lives_in", "Berlin")
    clock.move(days=1)
    added = add(ask, "Maya", "lives_in", "Porto")
    assert [row["object"] for row in added["closed"]] == ["Berlin"]
    assert objects(ask, subject="Maya") == ["Porto"]
    assert objects(ask, subject="Maya", as_of="2026-03-01T13:00:00Z") == ["Berlin"]
    host.bank.facts.add("Maya", "lives_in", "Lisbon", valid_from="2020-01-01")
    assert objects(ask, subject="Maya", as_of="2021-01-01") == ["Lisbon"]
    assert objects(ask, subject="Maya", as_of="2019-06-01") == []
    for place in ("Rome", "Oslo"):
        add(ask, "Omar", "works_in", place)
    host.bank.facts.declare("works_in")
    added = add(ask, "Omar", "works_in", "Oslo")
    assert {row["object"] for row in added["conflicts"]} == {"Rome", "Oslo"}


@requirement("triple.query", "triple.as_of", "schema.validated")
def test_triples_are_found_from_either_end(ask: Ask, refused: Refused, host: Host) -> None:
    add(ask, "Bob", "reports_to", "Carol")
    add(ask, "Carol", "leads", "platform")
    [row] = ask("mnemosyne_triple_query", predicate="reports_to", object="carol")["results"]
    assert (row["subject"], row["id"]) == ("Bob", add(ask, "Bob", "reports_to", "Carol")["triple_id"])
    assert objects(ask, subject=row["object"]) == ["platform"]
    assert objects(ask, subject="nobody") == []
    for number in range(201):
        host.bank.facts.add("Maya", "knows", f"number {number}")
    reply = ask("mnemosyne_triple_query", subject="Maya")
    assert (reply["results_count"], reply["truncated"]) == (200, True)
    assert ask("mnemosyne_triple_query", object="number 7")["truncated"] is False
    for name, wrong in (("as_of", "yesterday-ish"), ("subject", " "), ("predicate", "_")):
        assert refused("mnemosyne_triple_query", **{name: wrong})["error"]["parameter"] == name


TRIPLE = {
    "subject": "Maya",
    "predicate": "works_on",
    "object": "billing",
    "confidence": 0.8,
    "since": None,
    "until": None,
}


@requirement("remember.extract", "triple.extracted")
@pytest.mark.parametrize("models", [{"llm": Scripted(json.dumps({"triples": [TRIPLE]}))}])
def test_model_extracts_in_a_job_that_the_reply_names(ask: Ask, host: Host) -> None:
    told = ask("mnemosyne_remember", content="Maya works on billing.", extract=True)
    [job] = host.bank.jobs.list()
    drawn = told["extracted"]
    assert (drawn["engine"], drawn["queued"], drawn["facts"]) == ("scripted-1", job.id, [])
    assert ask("mnemosyne_triple_query", subject="Maya")["results"] == []
    assert dict(host.bank.jobs.worker().run(once=True)) == {"done": 1}
    [row] = ask("mnemosyne_triple_query", subject="Maya")["results"]
    assert (row["object"], row["memory_id"]) == ("billing", told["memory_id"])
