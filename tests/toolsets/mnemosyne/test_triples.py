"""Triples: each once, from either end, and nothing closed that may go on."""

from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host


def add(ask: Ask, subject: str, predicate: str, object: str) -> dict[str, Any]:
    added: dict[str, Any] = ask("mnemosyne_triple_add", subject=subject, predicate=predicate, object=object)
    return added


def objects(ask: Ask, **asked: str) -> list[str]:
    return [row["object"] for row in ask("mnemosyne_triple_query", **asked)["results"]]


@requirement("triple.idempotent")
def test_the_same_triple_is_one_however_it_is_spelt(ask: Ask, host: Host) -> None:
    first = add(ask, "Maya", "works_on", "billing")
    before = host.bank.changes()
    again = add(ask, "maya", "works on", "BILLING")
    assert (first["status"], again["status"]) == ("added", "exists")
    assert first["triple_id"] == again["triple_id"]
    assert host.bank.changes() == before


@requirement("triple.closes_nothing")
def test_another_value_ends_nothing_and_is_told_of(ask: Ask) -> None:
    add(ask, "Maya", "speaks", "English")
    added = add(ask, "Maya", "speaks", "Portuguese")
    assert [row["object"] for row in added["others"]] == ["English"]
    assert (added["closed"], added["conflicts"]) == ([], [])
    assert sorted(objects(ask, subject="Maya")) == ["English", "Portuguese"]


@requirement("triple.closes_nothing")
def test_what_has_one_value_at_a_time_ends_where_the_next_begins(ask: Ask, host: Host, clock: HandClock) -> None:
    host.bank.facts.declare("lives_in")
    add(ask, "Maya", "lives_in", "Berlin")
    clock.move(days=1)
    added = add(ask, "Maya", "lives_in", "Porto")
    assert [row["object"] for row in added["closed"]] == ["Berlin"]
    assert objects(ask, subject="Maya") == ["Porto"]
    assert objects(ask, subject="Maya", as_of="2026-03-01T13:00:00Z") == ["Berlin"]


@requirement("triple.conflicts")
def test_what_contradicts_a_declaration_is_told_of(ask: Ask, host: Host) -> None:
    add(ask, "Maya", "lives_in", "Berlin")
    add(ask, "Maya", "lives_in", "Porto")
    host.bank.facts.declare("lives_in")
    added = add(ask, "Maya", "lives_in", "Porto")
    assert {row["object"] for row in added["conflicts"]} == {"Berlin", "Porto"}


@requirement("triple.query")
def test_a_triple_is_found_from_either_end(ask: Ask) -> None:
    add(ask, "Bob", "reports_to", "Carol")
    add(ask, "Carol", "leads", "platform")
    [row] = ask("mnemosyne_triple_query", predicate="reports_to", object="carol")["results"]
    assert (row["subject"], row["id"]) == ("Bob", add(ask, "Bob", "reports_to", "Carol")["triple_id"])
    assert objects(ask, subject=row["object"]) == ["platform"]
    assert objects(ask, subject="nobody") == []


@requirement("triple.as_of")
def test_a_time_asks_for_what_held_then(ask: Ask, host: Host) -> None:
    facts = host.bank.facts
    facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01", valid_until="2021-12-31")
    facts.add("Maya", "lives_in", "Porto", valid_from="2022-01-01")
    assert objects(ask, subject="Maya") == ["Porto"]
    assert objects(ask, subject="Maya", as_of="2020-06-01") == ["Berlin"]
    assert objects(ask, subject="Maya", as_of="2022-01-01T00:00:00Z") == ["Porto"]
    assert objects(ask, subject="Maya", as_of="2019-06-01") == []


@requirement("triple.as_of")
def test_what_is_stated_late_for_an_earlier_time_leaves_the_later_as_it_is(ask: Ask, host: Host) -> None:
    host.bank.facts.declare("assigned_to")
    host.bank.facts.add("Maya", "assigned_to", "new", valid_from="2026-01-01")
    host.bank.facts.add("Maya", "assigned_to", "old", valid_from="2020-01-01")
    assert objects(ask, subject="Maya") == ["new"]
    assert objects(ask, subject="Maya", as_of="2021-01-01") == ["old"]


@requirement("triple.as_of", "schema.validated")
@pytest.mark.parametrize(("name", "wrong"), [("as_of", "yesterday-ish"), ("subject", " "), ("predicate", "_")])
def test_what_cannot_be_asked_is_told_by_its_name(refused: Refused, name: str, wrong: str) -> None:
    assert refused("mnemosyne_triple_query", **{name: wrong})["error"]["parameter"] == name


@requirement("triple.query")
def test_an_answer_that_is_cut_says_so(ask: Ask, host: Host) -> None:
    for number in range(201):
        host.bank.facts.add("Maya", "knows", f"number {number}")
    reply = ask("mnemosyne_triple_query", subject="Maya")
    assert (reply["results_count"], reply["truncated"]) == (200, True)
    assert ask("mnemosyne_triple_query", object="number 7")["truncated"] is False
