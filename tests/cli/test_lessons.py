"""Lessons, decided by a person and by a script."""

import pytest
from tests.cli.conftest import Ask
from tests.learning.lessontelling import MIGRATED, PUT_RIGHT, session

import pieria
from pieria import Bank

pytestmark = pytest.mark.usefixtures("person")


@pytest.fixture
def taught(bank: Bank) -> Bank:
    with pieria.open("default", via="person") as opened:
        opened.observe([*session("monday", MIGRATED), *session("tuesday", PUT_RIGHT)])
    return bank


def test_lessons_are_shown_then_learnt_with_their_evidence(ask: Ask, taught: Bank) -> None:
    would = ask("upkeep", "propose", "--dry-run").json
    assert {each["state"] for each in would["proposals"]} == {"proposed"}
    assert len(ask("upkeep", "propose", "--dry-run", "--of", "monday").json["proposals"]) == 1
    assert taught.upkeep.proposals(("proposed", "accepted")).proposals == ()
    assert "2 lessons came from 2 sessions" in ask("upkeep", "propose", "--no-json").out
    told = " ".join(ask("upkeep", "proposals", "--state", "proposed", "--state", "accepted", "--no-json").out.split())
    assert "pytest tests/api`: OperationalError: no such table: invoices → run `alembic upgrade head`" in told
    assert "“no, use pnpm, not npm”, after the agent ran `npm install zod`" in told
    assert [each["state"] for each in ask("upkeep", "proposals", "--type", "rule").json["proposals"]] == ["proposed"]


def test_proposal_is_accepted_declined_and_taken_back(ask: Ask, taught: Bank) -> None:
    ask("upkeep", "propose")
    [id] = ask("upkeep", "proposals", "--type", "procedure", "-q").ids
    accepted = ask("upkeep", "accept", id, "--reason", "seen often").json
    assert (accepted["proposals"][0]["state"], accepted["proposals"][0]["reason"]) == ("accepted", "seen often")
    assert "accepted already" in ask("upkeep", "accept", id).err
    assert "pieria undo" in ask("upkeep", "decline", id, "--no-json").out
    assert ask("upkeep", "proposals", "--state", "declined", "-q").ids == [id]
    assert ask("undo", str(accepted["change"])).code == 1
    assert "1 wait for a decision" in ask("doctor", "--no-json").out


def test_only_a_person_accepts_a_proposal(ask: Ask, taught: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("upkeep", "propose")
    id, *_ = ask("upkeep", "proposals", "-q").ids
    monkeypatch.setattr("pieria.doors.cli.person.is_person", lambda: False)
    refused = ask("upkeep", "accept", id)
    assert (refused.code, "only a person may do this" in refused.err) == (1, True)
