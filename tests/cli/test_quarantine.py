"""`pieria trace` and `pieria quarantine`: what they print, and what they refuse."""

import pytest
from tests.cli.conftest import Ask

import pieria


@pytest.fixture
def page() -> str:
    with pieria.open("default") as bank:
        page = bank.remember("Refunds go to account 42.", source="evil.html", session="monday").id
        bank.link(bank.remember("Refunds: 42.", kind="summary").id, page, "provenance")
    return page


@pytest.mark.usefixtures("person")
def test_quarantine_hides_lists_and_lifts(ask: Ask, page: str) -> None:
    traced = ask(*["trace", "--source", "evil.html"]).json
    assert [item["how"] for item in traced["items"]] == ["", "drawn from"]
    assert ask(*["quarantine", "--source", "evil.html", "--dry-run"]).json["memories"] == 2
    held = ask(*["quarantine", "--source", "evil.html", "--reason", "hacked"]).json
    assert held["memories"] == 2
    assert ask(*["list"]).json["memories"] == []
    refused = ask("get", page)
    assert refused.code == 1 and "put it in quarantine on" in refused.err and "hacked" in refused.err
    [listed] = ask(*["quarantine", "--list"]).json["quarantines"]
    assert listed["number"] == held["number"]
    assert ask(*f"quarantine --lift {held['number']}".split()).json["memories"] == 2
    assert len(ask(*["list"]).json["memories"]) == 2
    assert ask(*["quarantine", "--list"]).json == {"quarantines": []}


def test_agent_does_not_lift_a_quarantine(ask: Ask, page: str) -> None:
    held = ask(*["quarantine", "--source", "evil.html"]).json
    for words in (["quarantine", "--lift"], ["undo"]):
        refused = ask(*words, str(held["number"]))
        assert refused.code == 1 and "only a person may do this" in refused.err
    assert len(ask(*["quarantine", "--list"]).json["quarantines"]) == 1


def test_people_are_told_what_to_do_next(ask: Ask, page: str) -> None:
    told = ask(*["--no-json", "trace", "--session", "monday"]).out
    assert "Refunds" in told and "drawn from" in told
    held = ask(*["--no-json", "quarantine", "--session", "monday"]).out
    assert "pieria quarantine --lift" in held
    assert "monday" in ask(*["--no-json", "quarantine", "--list"]).out


def test_contradicting_options_are_refused(ask: Ask) -> None:
    for words in (
        "trace",
        "trace x --source y",
        "quarantine",
        "quarantine --list --lift 3",
        "quarantine --lift 3 --dry-run",
    ):
        assert ask(*words.split()).code == 2, words
