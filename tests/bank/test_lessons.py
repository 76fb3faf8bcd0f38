"""Lessons in a bank: proposed, confirmed, accepted, declined, superseded and taken back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.bank.kept import Kept, held
from tests.learning.lesson_events import MIGRATED, PUT_RIGHT, Line, session
from tests.learning.session_events import BEGIN
from tests.models.llm_server import llm_server, status

import pieria
from pieria import Bank
from pieria.errors import ConflictError, InputError, NotFoundError

AN_HOUR_LATER, A_DAY_LATER = BEGIN + timedelta(hours=1), BEGIN + timedelta(days=1)
PNPM, NPM = "Always use pnpm, not npm.", "Always use npm, not pnpm."
VAIN: list[Line] = [*MIGRATED[:3], MIGRATED[1], ["ran", "pip install -e .", "ok"], MIGRATED[3]]
BACK: list[Line] = [["prompt", "add zod"], ["ran", "pnpm add zod", "ok"], ["prompt", "no, use npm, not pnpm"]]
LATER: list[Line] = [["prompt", "go on"]] * 3


def shop(kept: Kept, **settings: Any) -> Bank:
    return kept.opened("shop", settings={"author": "Maya", **settings}, via="person")


@pytest.fixture
def bank(folder: Kept) -> Iterator[Bank]:
    with shop(folder) as opened:
        yield opened


def lived(bank: Bank, name: str, told: Sequence[Line], begin: datetime = BEGIN) -> list[str]:
    """Observe and distil the session. Return the state and confidence of its proposals."""
    bank.observe(session(name, told, begin=begin))
    return [f"{each.state} {each.confidence:g}" for each in bank.upkeep.propose(name).proposals]


def settled(bank: Bank, name: str, told: Sequence[Line]) -> None:
    """Observe and distil the session, and accept the proposed rules."""
    lived(bank, name, told)
    bank.upkeep.accept([each.id for each in bank.upkeep.proposals() if each.type == "rule"])


def corrected(bank: Bank) -> str:
    """Accept a rule on Monday, and one that ends it on Friday. Return the later one."""
    settled(bank, "monday", PUT_RIGHT)
    lived(bank, "friday", [*LATER, *BACK])
    for each in bank.upkeep.proposals():
        bank.upkeep.accept(each.id)
    return only(bank, "accepted")


def only(bank: Bank, state: str = "proposed") -> str:
    [found] = bank.upkeep.proposals(state)
    return str(found.id)


def texts(bank: Bank, state: str) -> list[str]:
    return [each.text for each in bank.upkeep.proposals(state)]


def rules(bank: Bank) -> str:
    """Return the standing rules in the context of agents."""
    return bank.context().text.partition("# Standing rules")[2].partition("\n#")[0].lower()


def holding(bank: Bank) -> list[str]:
    """Return which of the two rules agents are told."""
    told = rules(bank)
    return [tool for tool in ("pnpm", "npm") if f"use {tool}" in told]


def recalled(bank: Bank) -> list[str]:
    return [hit.memory.kind for hit in bank.recall("no such table invoices")]


def test_proposal_answers_nothing_until_it_is_accepted(kept: Kept) -> None:
    with shop(kept) as bank:
        assert lived(bank, "monday", MIGRATED) == ["proposed 0.6"]
        [waiting] = bank.upkeep.proposals()
        assert "procedural" not in recalled(bank)
        items = bank.context(budget_tokens=8_000).items
        assert "alembic" not in "".join(item.title for item in items if item.id == waiting.id)
        assert bank.list(kinds="procedural").memories == ()
        assert "1 lesson waits" in bank.context().text
        assert [one.detail for one in bank.doctor().findings if one.check == "lessons"] == ["1 wait for a decision"]
        assert bank.stats().by_status["proposed"] == 1
        decided = bank.upkeep.accept(waiting.id, reason="seen often")
        [accepted] = decided.proposals
        assert (accepted.state, accepted.decided_by) == ("accepted", "Maya")
        assert accepted.memory.standing.reason == "seen often"
        assert "procedural" in recalled(bank)
        assert "waits" not in bank.context().text
        assert {bank.get(id).kind for id in accepted.sources} == {"turn", "observation"}  # type: ignore[union-attr]
        bank.undo(decided.change)
        assert only(bank) == waiting.id
        assert "procedural" not in recalled(bank)


def test_dry_run_shows_what_would_be_proposed(bank: Bank) -> None:
    bank.observe(session("monday", [*MIGRATED, *PUT_RIGHT]))
    before = bank.stats().last_change
    would = bank.upkeep.propose(dry_run=True)
    assert ((would.dry_run, would.sessions), bank.stats().last_change) == ((True, 1), before)
    done = bank.upkeep.propose()
    shown = [(each.id, each.state, each.text, each.confidence) for each in would.proposals]
    assert sorted(shown) == sorted((each.id, each.state, each.text, each.confidence) for each in done.proposals)
    assert {each.state for each in done.proposals} == {"proposed"}


def test_another_session_confirms_a_lesson_but_the_same_does_not(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    assert lived(bank, "monday", MIGRATED) == []
    again: list[Line] = [["prompt", "and once more"], *MIGRATED[1:]]
    bank.observe(session("monday", [*MIGRATED, *again]))
    assert bank.distil().lessons == ()
    assert [each.seen for each in bank.upkeep.proposals()] == [1]
    assert lived(bank, "tuesday", MIGRATED) == ["accepted 0.78"]
    [found] = bank.upkeep.proposals("accepted")
    assert (found.seen, found.decided_by) == (2, "confidence")
    assert [each["session"] for each in found.evidence] == ["monday", "tuesday"]
    assert "procedural" in recalled(bank)
    # Where it does not help any more, it waits again, unless a person accepted it.
    lived(bank, "wednesday", VAIN)
    [shaken] = [each for each in bank.upkeep.proposals() if "alembic" in each.text]
    assert (shaken.failed, shaken.confidence, shaken.decided_by) == (1, 0.47, None)
    bank.upkeep.accept(shaken.id)
    lived(bank, "thursday", VAIN)
    [held] = [each for each in bank.upkeep.proposals("accepted") if each.id == shaken.id]
    assert (held.failed, held.decided_by) == (2, "Maya")


def test_declined_lesson_waits_after_new_evidence_only(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    bank.upkeep.decline(id, reason="we squash them")
    assert (lived(bank, "monday", MIGRATED), only(bank, "declined")) == ([], id)
    for day, confidence in (("tuesday", 0.78), ("wednesday", 0.88)):
        assert lived(bank, day, MIGRATED) == [f"proposed {confidence}"]
    bank.upkeep.decline(id)
    with pytest.raises(ConflictError, match="declined already"):
        bank.upkeep.decline(id)
    bank.remove(id)
    assert lived(bank, "thursday", MIGRATED) == [], "what was removed does not come back"


def test_lesson_that_may_do_harm_waits_for_a_person(bank: Bank) -> None:
    denied: Line = ["ran", "make deploy", "Error: permission denied", True]
    for day, mode in (("monday", "777"), ("tuesday", "644"), ("wednesday", "644")):
        opened: list[Line] = [["ran", f"chmod {mode} run", ""], ["ran", "make deploy", "done"]]
        assert lived(bank, day, [["prompt", "deploy"], denied, *opened]) == ["proposed 0.5"]
    [shown] = bank.upkeep.proposals().as_dict()["proposals"]
    assert (shown["state"], shown["seen"], "chmod" in shown["text"]) == ("proposed", 3, True)


def test_rule_of_a_person_is_told_once_in_its_own_words(bank: Bank) -> None:
    told: list[Line] = [*PUT_RIGHT[:2], ["prompt", "From now on, always use pnpm."]]
    assert lived(bank, "monday", told) == ["proposed 0.8"]
    assert rules(bank).count("always use pnpm") == 1
    again: list[Line] = [["prompt", "Hello. From now on, always use pnpm."]]
    assert lived(bank, "tuesday", again, A_DAY_LATER) == ["accepted 0.89"]
    [rule] = bank.upkeep.proposals("accepted")
    assert (rule.memory.author, rule.memory.trust, rule.memory.tier) == ("user", 0.9, "settled")
    assert rules(bank).count("always use pnpm") == 1
    bank.upkeep.decline(rule.id)
    assert rules(bank) == ""


def test_later_correction_ends_a_rule(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    old = only(bank, "accepted")
    lived(bank, "friday", [*LATER, *BACK])
    [new] = bank.upkeep.proposals()
    assert new.contradicts == (old,)
    assert bank.upkeep.accept(new.id).superseded == (old,)
    [ended] = bank.upkeep.proposals("superseded")
    assert (new.text, ended.id, ended.memory.standing.superseded_by) == (NPM, old, new.id)
    assert holding(bank) == ["npm"]
    bank.upkeep.accept(old)
    assert texts(bank, "accepted") == [PNPM]


def test_ended_rule_holds_again_once_it_is_said_again(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    bank.invalidate(only(bank, "accepted"), at=AN_HOUR_LATER)
    assert holding(bank) == []
    assert lived(bank, "tuesday", PUT_RIGHT, A_DAY_LATER) == ["proposed 0.8"]
    bank.upkeep.accept(only(bank))
    assert holding(bank) == ["pnpm"]


def test_rule_holds_again_while_its_correction_is_gone(bank: Bank) -> None:
    correction = corrected(bank)
    assert holding(bank) == ["npm"]
    declined = bank.upkeep.decline(correction)
    assert (texts(bank, "accepted"), holding(bank)) == ([PNPM], ["pnpm"])
    bank.undo(declined.change)
    assert (texts(bank, "superseded"), holding(bank)) == ([PNPM], ["npm"])
    for end in (bank.remove, bank.invalidate):
        end(correction)
        assert holding(bank) == ["pnpm"]
        bank.undo(bank.changes()[-1].seq)
        assert holding(bank) == ["npm"]
    bank.remove(correction)
    bank.restore(correction)
    assert holding(bank) == ["npm"]
    bank.invalidate(correction, at="2999-01-01")
    assert holding(bank) == ["npm"]
    bank.invalidate(correction)
    bank.update(correction, valid_until=None)
    assert holding(bank) == ["npm"]
    bank.remove(correction)
    bank.upkeep.decline(only(bank, "accepted"))
    bank.restore(correction)
    assert texts(bank, "declined") == [PNPM]
    # One that was replaced by a note leaves no rule.
    bank.invalidate(correction, replacement=bank.remember("The shop moved to yarn in May.").id)
    assert rules(bank) == ""


@pytest.mark.parametrize("purge", [False, True])
def test_rule_holds_again_when_the_correcting_session_goes(bank: Bank, purge: bool) -> None:
    corrected(bank)
    bank.forget(session="friday", purge=purge)
    assert (texts(bank, "accepted"), bank.upkeep.proposals("superseded").proposals) == ([PNPM], ())


def test_correction_that_is_only_proposed_ends_no_rule(folder: Kept) -> None:
    with shop(folder, accept_above=1.0) as bank:
        corrected(bank)
        bank.invalidate(only(bank, "accepted"), at=AN_HOUR_LATER)
        assert {*texts(bank, "accepted")} == {NPM, PNPM}
        lived(bank, "sunday", BACK, A_DAY_LATER)
        assert texts(bank, "proposed") == [NPM]
        assert "pnpm" in holding(bank)


def test_correction_that_comes_after_a_later_one_waits(bank: Bank) -> None:
    settled(bank, "friday", [*LATER, *PUT_RIGHT])
    assert lived(bank, "monday", BACK) == ["proposed 0.8"]
    assert texts(bank, "accepted") == [PNPM]


def test_confirmation_leaves_an_accepted_lesson_where_it_is(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    bank.upkeep.accept(id)
    bank.upkeep.promote(id)
    lived(bank, "tuesday", MIGRATED)
    assert (held(bank, id).status, held(bank, id).tier) == ("promoted", "settled")


def test_purge_of_the_evidence_takes_the_lesson_along(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    bank.upkeep.accept(id)
    [turn] = bank.list(kinds="turn", session="monday")
    assert id in bank.purge(turn.id).also
    assert bank.get(id) is None
    assert lived(bank, "monday", MIGRATED) == []
    assert lived(bank, "tuesday", MIGRATED) == ["proposed 0.6"]
    assert only(bank) != id


def test_only_a_decision_changes_a_proposal(bank: Bank) -> None:
    note = bank.remember("A note.", tags=["lesson"], body={"type": "rule"})
    body = {"type": "procedure", "evidence": [], "signs": 5}
    bank.remember("Another.", kind="procedural", tags=["lesson"], body=body)
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    for verb in (
        lambda: bank.update(id, status="active"),
        lambda: bank.update(id, tags=["mine"]),
        lambda: bank.revise(id, body={}, text="Never mind."),
        lambda: bank.upkeep.promote(id),
        lambda: bank.upkeep.merge([id, id]),
    ):
        with pytest.raises((ConflictError, InputError)):
            verb()
    with pytest.raises(NotFoundError, match="proposal"):
        bank.upkeep.accept(note.id)
    with pytest.raises(NotFoundError, match="memory"):
        bank.upkeep.decline("nobody")
    with pytest.raises(InputError, match="state"):
        bank.upkeep.proposals("wanted")
    with pytest.raises(InputError, match="status"):
        bank.update(note.id, status="proposed")
    bank.upkeep.gc(threshold=1.0, dry_run=False)
    bank.upkeep.archive(threshold=1.0)
    bank.upkeep.sleep(force=True)
    assert only(bank) == id


def test_several_lessons_are_decided_at_once_or_none(bank: Bank, tmp_path: Any) -> None:
    lived(bank, "monday", MIGRATED)
    made: list[Line] = [["prompt", "build"], ["ran", "make", "make: *** [x] Error 2", True], ["ran", "make deps", ""]]
    lived(bank, "tuesday", [*made, ["ran", "make", "ok"]])
    ids = [each.id for each in bank.upkeep.proposals()]
    assert len(ids) == 2
    with pytest.raises(NotFoundError):
        bank.upkeep.accept([*ids, "nobody"])
    assert len(bank.upkeep.proposals()) == 2
    # Proposals go with an export and stay proposals.
    bank.export(tmp_path / "all.jsonl")
    with pieria.open("other", data=tmp_path / "other", via="person") as other:
        other.import_(tmp_path / "all.jsonl", trusted=True)
        assert texts(other, "proposed") == texts(bank, "proposed")
        assert lived(other, "wednesday", MIGRATED) == ["accepted 0.78"]
    assert len(bank.upkeep.accept(ids).proposals) == 2


def test_model_words_lessons_and_rules_stand_in_for_it(folder: Kept) -> None:
    reply = {
        "type": "rule", "of": 2, "condition": "", "instruction": "Always use pnpm and never npm.",
        "expected_outcome": "", "quote": "use pnpm, not npm", "confidence": 0.9,
    }  # fmt: skip
    with llm_server({"notes": []}, {"lessons": [reply]}, {"notes": []}, *[status(400)] * 3) as serving:
        settings = {"llm": "server:m", "llm_url": serving.address, "llm_key": "k"}
        with shop(folder, **settings) as bank:
            assert lived(bank, "monday", PUT_RIGHT) == ["proposed 0.8"]
            assert bank.upkeep.proposals("proposed")[0].memory.body["by"] == "server:m"
            bank.observe(session("tuesday", MIGRATED))
            learnt = bank.upkeep.propose()
            assert [each.memory.body["by"] for each in learnt.proposals] == ["rules"]
            assert learnt.problem
