"""Lessons in a bank: proposed, confirmed, accepted, declined, superseded and taken back, in a file and on a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.learning.lessontelling import FAILED, MIGRATED, PUT_RIGHT, Line, session
from tests.learning.working import BEGIN
from tests.models.llm_server import llm_server, status

import pieria
from pieria import Bank
from pieria.errors import ConflictError, InputError, NotFoundError

AN_HOUR_LATER, A_DAY_LATER = BEGIN + timedelta(hours=1), BEGIN + timedelta(days=1)
PNPM = "Always use pnpm, not npm."
VAIN: list[Line] = [*MIGRATED[:3], MIGRATED[1], ["ran", "pip install -e .", "ok"], MIGRATED[3]]


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("shop", settings={"embedder": "none", "author": "Maya"}, via="person") as opened:
        yield opened


def lived(bank: Bank, name: str, told: Sequence[Line], begin: datetime = BEGIN) -> list[str]:
    """Observe and distil the session. Return the state and confidence of its proposals."""
    bank.observe(session(name, told, begin=begin))
    return [f"{each.state} {each.confidence:g}" for each in bank.upkeep.propose(name).proposals]


def settled(bank: Bank, name: str, told: Sequence[Line], begin: datetime = BEGIN) -> None:
    """Observe and distil the session, and accept the proposed rules."""
    lived(bank, name, told, begin)
    waiting = [each.id for each in bank.upkeep.proposals() if each.type == "rule"]
    if waiting:
        bank.upkeep.accept(waiting)


def only(bank: Bank, state: str = "proposed") -> str:
    [found] = bank.upkeep.proposals(state)
    return str(found.id)


def rules(bank: Bank) -> str:
    """Return the standing rules in the context of agents."""
    return bank.context().text.partition("# Standing rules")[2].partition("\n#")[0].lower()


def recalled(bank: Bank, about: str = "no such table invoices") -> list[str]:
    return [hit.memory.kind for hit in bank.recall(about)]


def test_a_proposal_answers_nothing_until_it_is_accepted_and_leads_to_its_evidence(bank: Bank) -> None:
    assert lived(bank, "monday", MIGRATED) == ["proposed 0.6"]
    [waiting] = bank.upkeep.proposals()
    assert "procedural" not in recalled(bank)
    assert "alembic" not in "".join(
        item.title for item in bank.context(budget_tokens=8_000).items if item.id == waiting.id
    )
    assert bank.list(kinds="procedural").memories == ()
    assert "1 lesson waits" in bank.context().text
    assert [one.detail for one in bank.doctor().findings if one.check == "lessons"] == ["1 wait for a decision"]
    assert bank.stats().by_status["proposed"] == 1
    decided = bank.upkeep.accept(waiting.id, reason="seen often")
    [accepted] = decided.proposals
    assert (accepted.state, accepted.decided_by, accepted.memory.standing.reason) == ("accepted", "Maya", "seen often")
    assert "procedural" in recalled(bank)
    assert "waits" not in bank.context().text
    assert {bank.get(id).kind for id in accepted.sources} == {"turn", "observation"}  # type: ignore[union-attr]
    bank.undo(decided.change)
    assert only(bank) == waiting.id
    assert "procedural" not in recalled(bank)


def test_a_dry_run_shows_what_comes_of_it_and_writes_nothing(bank: Bank) -> None:
    bank.observe(session("monday", [*MIGRATED, *PUT_RIGHT]))
    before = bank.stats().last_change
    would = bank.upkeep.propose(dry_run=True)
    assert (would.dry_run, would.sessions) == (True, 1)
    assert bank.stats().last_change == before
    done = bank.upkeep.propose()
    shown = [(each.id, each.state, each.text, each.confidence) for each in would.proposals]
    assert sorted(shown) == sorted((each.id, each.state, each.text, each.confidence) for each in done.proposals)
    assert {each.state for each in done.proposals} == {"proposed"}


def test_the_same_session_told_or_distilled_twice_teaches_nothing_twice(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    assert lived(bank, "monday", MIGRATED) == []
    assert bank.distil().lessons == ()
    again: list[Line] = [["prompt", "and once more"], *MIGRATED[1:]]
    bank.observe(session("monday", [*MIGRATED, *again]))
    assert bank.distil().lessons == ()
    assert [each.seen for each in bank.upkeep.proposals()] == [1]


def test_another_session_bears_it_out_and_it_is_accepted_by_itself(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    assert lived(bank, "tuesday", MIGRATED) == ["accepted 0.78"]
    [found] = bank.upkeep.proposals("accepted")
    assert (found.seen, found.decided_by) == (2, "confidence")
    assert [each["session"] for each in found.evidence] == ["monday", "tuesday"]
    assert "procedural" in recalled(bank)


def test_where_it_does_not_help_any_more_it_waits_again_but_not_where_a_person_accepted_it(bank: Bank) -> None:
    for day in ("monday", "tuesday"):
        lived(bank, day, MIGRATED)
    lived(bank, "wednesday", VAIN)
    [shaken] = [each for each in bank.upkeep.proposals() if "alembic" in each.text]
    assert (shaken.failed, shaken.confidence, shaken.decided_by) == (1, 0.47, None)
    bank.upkeep.accept(shaken.id)
    lived(bank, "thursday", VAIN)
    [held] = [each for each in bank.upkeep.proposals("accepted") if each.id == shaken.id]
    assert (held.failed, held.decided_by) == (2, "Maya")


def test_what_was_declined_comes_back_with_new_evidence_only_and_waits(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    bank.upkeep.decline(id, reason="we squash them")
    assert lived(bank, "monday", MIGRATED) == []
    assert only(bank, "declined") == id
    assert lived(bank, "tuesday", MIGRATED) == ["proposed 0.78"]
    assert lived(bank, "wednesday", MIGRATED) == ["proposed 0.88"]
    bank.upkeep.decline(id)
    with pytest.raises(ConflictError, match="declined already"):
        bank.upkeep.decline(id)


def test_what_may_do_harm_waits_for_a_person_though_it_is_borne_out_by_what_does_none(bank: Bank) -> None:
    def opened(mode: str) -> list[Line]:
        denied: Line = ["ran", "make deploy", "Error: permission denied", True]
        return [["prompt", "deploy"], denied, ["ran", f"chmod {mode} run", ""], ["ran", "make deploy", "done"]]

    assert lived(bank, "monday", opened("777")) == ["proposed 0.5"]
    for day in ("tuesday", "wednesday", "thursday"):
        assert lived(bank, day, opened("644")) == ["proposed 0.5"]


def test_what_was_removed_does_not_come_back(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    bank.remove(only(bank))
    assert lived(bank, "tuesday", MIGRATED) == []


def test_a_rule_of_a_person_is_told_once_in_its_own_words_and_under_their_trust(bank: Bank) -> None:
    told: list[Line] = [*PUT_RIGHT[:2], ["prompt", "From now on, always use pnpm."]]
    assert lived(bank, "monday", told) == ["proposed 0.8"]
    assert rules(bank).count("always use pnpm") == 1
    assert lived(bank, "tuesday", told, A_DAY_LATER) == ["accepted 0.89"]
    [rule] = bank.upkeep.proposals("accepted")
    assert (rule.memory.author, rule.memory.trust, rule.memory.tier) == ("user", 0.9, "settled")
    assert rules(bank).count("always use pnpm") == 1
    bank.upkeep.decline(rule.id)
    assert rules(bank) == ""


def test_what_was_said_twice_and_declined_is_told_in_neither_place(bank: Bank) -> None:
    for day in ("monday", "tuesday"):
        lived(bank, day, [["prompt", f"Hello, it is {day}. From now on, always use pnpm."]])
    [rule] = bank.upkeep.proposals("accepted")
    assert rules(bank).count("always use pnpm") == 1
    bank.upkeep.decline(rule.id)
    assert rules(bank) == ""


def test_a_later_correction_that_says_otherwise_ends_the_rule(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    [old] = bank.upkeep.proposals("accepted")
    later: list[Line] = [["prompt", "go on"]] * len(PUT_RIGHT)
    back: list[Line] = [["prompt", "add zod"], ["ran", "pnpm add zod", "ok"], ["prompt", "no, use npm, not pnpm"]]
    settled(bank, "friday", [*later, *back])
    [new] = bank.upkeep.proposals("accepted")
    [ended] = bank.upkeep.proposals("superseded")
    assert (new.text, ended.id, ended.memory.standing.superseded_by) == ("Always use npm, not pnpm.", old.id, new.id)
    assert "use npm, not pnpm" in rules(bank) and "use pnpm" not in rules(bank)
    bank.upkeep.accept(old.id)
    assert [each.text for each in bank.upkeep.proposals("accepted")] == [PNPM]


def test_a_rule_that_somebody_ended_holds_again_once_it_is_said_again(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    bank.invalidate(only(bank, "accepted"), at=AN_HOUR_LATER)
    assert "use pnpm" not in rules(bank)
    assert lived(bank, "tuesday", PUT_RIGHT, A_DAY_LATER) == ["proposed 0.8"]
    bank.upkeep.accept(only(bank))
    assert "use pnpm" in rules(bank)


def test_a_rule_holds_again_when_the_correction_that_ended_it_is_declined(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    back: list[Line] = [["prompt", "add zod"], ["ran", "pnpm add zod", "ok"], ["prompt", "no, use npm, not pnpm"]]
    settled(bank, "friday", [*[["prompt", "go on"]] * 3, *back])
    declined = bank.upkeep.decline(only(bank, "accepted"))
    assert [each.text for each in bank.upkeep.proposals("accepted")] == [PNPM]
    assert "use pnpm" in rules(bank)
    bank.undo(declined.change)
    assert [each.text for each in bank.upkeep.proposals("superseded")] == [PNPM]


BACK: list[Line] = [["prompt", "add zod"], ["ran", "pnpm add zod", "ok"], ["prompt", "no, use npm, not pnpm"]]


def test_a_rule_holds_again_while_the_correction_that_ended_it_is_removed(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    settled(bank, "friday", [*[["prompt", "go on"]] * 3, *BACK])
    correction = only(bank, "accepted")
    bank.remove(correction)
    assert "use pnpm" in rules(bank) and "use npm" not in rules(bank)
    bank.undo(bank.changes()[-1].seq)
    assert "use npm" in rules(bank) and "use pnpm" not in rules(bank)
    bank.remove(correction)
    bank.restore(correction)
    assert "use npm" in rules(bank) and "use pnpm" not in rules(bank)
    bank.remove(correction)
    bank.upkeep.decline(only(bank, "accepted"))
    bank.restore(correction)
    assert [each.text for each in bank.upkeep.proposals("declined")] == [PNPM]


def test_a_rule_holds_again_while_the_correction_that_ended_it_is_said_to_hold_no_longer(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    settled(bank, "friday", [*[["prompt", "go on"]] * 3, *BACK])
    correction = only(bank, "accepted")
    bank.invalidate(correction)
    assert "use pnpm" in rules(bank) and "use npm" not in rules(bank)
    bank.undo(bank.changes()[-1].seq)
    assert "use npm" in rules(bank) and "use pnpm" not in rules(bank)
    bank.invalidate(correction, at="2999-01-01")
    assert "use npm" in rules(bank) and "use pnpm" not in rules(bank)
    bank.invalidate(correction)
    bank.update(correction, valid_until=None)
    assert "use npm" in rules(bank) and "use pnpm" not in rules(bank)
    bank.invalidate(correction, replacement=bank.remember("The shop moved to yarn in May.").id)
    assert rules(bank) == ""


def test_a_correction_that_is_only_proposed_anew_ends_no_rule(kept: Kept) -> None:
    with kept.opened("shop", settings={"embedder": "none", "accept_above": 1.0}, via="person") as bank:
        for name, told in (("monday", PUT_RIGHT), ("friday", [*[["prompt", "go on"]] * 3, *BACK])):
            lived(bank, name, told)
            bank.upkeep.accept(only(bank))
        bank.invalidate(only(bank, "accepted"), at=AN_HOUR_LATER)
        assert {each.text for each in bank.upkeep.proposals("accepted")} == {"Always use npm, not pnpm.", PNPM}
        lived(bank, "sunday", BACK, A_DAY_LATER)
        assert [each.text for each in bank.upkeep.proposals("proposed")] == ["Always use npm, not pnpm."]
        assert "use pnpm" in rules(bank)


@pytest.mark.parametrize("purge", [False, True])
def test_a_rule_holds_again_when_the_session_of_the_correction_is_forgotten(bank: Bank, purge: bool) -> None:
    settled(bank, "monday", PUT_RIGHT)
    settled(bank, "friday", [*[["prompt", "go on"]] * 3, *BACK])
    bank.forget(session="friday", purge=purge)
    assert [each.text for each in bank.upkeep.proposals("accepted")] == [PNPM]
    assert bank.upkeep.proposals("superseded").proposals == ()


def test_a_correction_that_comes_in_after_a_later_one_waits(bank: Bank) -> None:
    settled(bank, "friday", [*[["prompt", "go on"]] * 3, *PUT_RIGHT])
    back: list[Line] = [["prompt", "add zod"], ["ran", "pnpm add zod", "ok"], ["prompt", "no, use npm, not pnpm"]]
    assert lived(bank, "monday", back) == ["proposed 0.8"]
    assert [each.text for each in bank.upkeep.proposals("accepted")] == [PNPM]


def test_where_an_accepted_lesson_was_put_is_left_as_it_is_when_it_is_borne_out(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    bank.upkeep.accept(id)
    bank.upkeep.promote(id)
    lived(bank, "tuesday", MIGRATED)
    held = bank.get(id)
    assert held is not None and (held.status, held.tier) == ("promoted", "settled")


def test_a_person_sees_which_rule_a_proposal_would_end(bank: Bank) -> None:
    settled(bank, "monday", PUT_RIGHT)
    [old] = bank.upkeep.proposals("accepted")
    lived(bank, "friday", [["prompt", "go"], ["ran", "make", "ok"], ["prompt", "no, use npm, not pnpm"]])
    [waiting] = bank.upkeep.proposals()
    assert waiting.contradicts == (old.id,)
    assert bank.upkeep.accept(waiting.id).superseded == (old.id,)


def test_a_purge_of_the_evidence_takes_what_rests_on_it_and_another_session_may_teach_it_anew(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    id = only(bank)
    bank.upkeep.accept(id)
    [turn] = bank.list(kinds="turn", session="monday")
    assert id in bank.purge(turn.id).also
    assert bank.get(id) is None
    assert lived(bank, "monday", MIGRATED) == []
    assert lived(bank, "tuesday", MIGRATED) == ["proposed 0.6"]
    assert only(bank) != id


def test_secrets_and_private_parts_are_in_no_lesson(bank: Bank) -> None:
    key = "sk-ant-" + "api03-" + "a1B2c3D4e5F6g7H8i9J0" * 4
    told: list[Line] = [
        ["prompt", "deploy <private>for Acme Corp</private>"],
        ["ran", "make deploy", f"Error: no credentials for {key}", True],
        ["ran", f"export DEPLOY_CODE={key}", ""],
        ["ran", "make deploy", "done"],
        ["prompt", f"always use {key} for deploys, <private>never tell Acme</private>"],
    ]
    lived(bank, "monday", told)
    found = bank.upkeep.proposals(("proposed", "accepted"))
    assert {each.type for each in found} == {"procedure", "rule"}
    assert key not in str(found.as_dict()) and "Acme" not in str(found.as_dict())


def test_nothing_but_a_decision_makes_a_proposal_more_than_that(bank: Bank) -> None:
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
    bank.upkeep.gc(threshold=1.0, dry_run=False)
    bank.upkeep.archive(threshold=1.0)
    bank.upkeep.sleep(force=True)
    assert only(bank) == id


def test_what_decides_is_checked(bank: Bank) -> None:
    note = bank.remember("A note.", tags=["lesson"], body={"type": "rule"})
    bank.remember(
        "Another.", kind="procedural", tags=["lesson"], body={"type": "procedure", "evidence": [], "signs": 5}
    )
    lived(bank, "monday", VAIN)
    assert len(bank.upkeep.proposals(("proposed", "accepted"))) == 1
    with pytest.raises(NotFoundError, match="proposal"):
        bank.upkeep.accept(note.id)
    with pytest.raises(NotFoundError, match="memory"):
        bank.upkeep.decline("nobody")
    with pytest.raises(InputError, match="state"):
        bank.upkeep.proposals("wanted")
    with pytest.raises(InputError, match="status"):
        bank.update(note.id, status="proposed")


def test_several_are_decided_at_once_or_none(bank: Bank) -> None:
    lived(bank, "monday", MIGRATED)
    lived(bank, "tuesday", [["prompt", "build"], ["ran", "make", "make: *** [x] Error 2", True],
                            ["ran", "make deps", ""], ["ran", "make", "ok"]])  # fmt: skip
    ids = [each.id for each in bank.upkeep.proposals()]
    assert len(ids) == 2
    with pytest.raises(NotFoundError):
        bank.upkeep.accept([*ids, "nobody"])
    assert len(bank.upkeep.proposals()) == 2
    assert len(bank.upkeep.accept(ids).proposals) == 2


def test_proposals_go_with_an_export_and_stay_proposals(bank: Bank, kept: Kept, tmp_path: Any) -> None:
    lived(bank, "monday", MIGRATED)
    bank.export(tmp_path / "all.jsonl")
    with pieria.open("other", data=tmp_path / "other", settings={"embedder": "none"}, via="person") as other:
        other.import_(tmp_path / "all.jsonl", trusted=True)
        assert [each.text for each in other.upkeep.proposals()] == [each.text for each in bank.upkeep.proposals()]
        assert lived(other, "tuesday", MIGRATED) == ["accepted 0.78"]


def test_a_failure_that_goes_on_after_a_compaction_is_mended_in_the_next_piece(bank: Bank) -> None:
    told = session("monday", [["prompt", "run"], ["ran", "pytest tests/api", FAILED, True], *MIGRATED[2:]])
    bank.observe(told[:2])
    assert bank.distil().lessons == ()
    bank.observe(told[2:])
    assert len(bank.distil().lessons) == 1


# --- with a language model


def test_a_model_words_lessons_and_where_it_fails_rules_do_and_say_so(kept: Kept) -> None:
    reply = {"type": "rule", "of": 2, "condition": "", "instruction": "Always use pnpm and never npm."} | {
        "expected_outcome": "", "quote": "use pnpm, not npm", "confidence": 0.9
    }  # fmt: skip
    with llm_server({"notes": []}, {"lessons": [reply]}, {"notes": []}, *[status(400)] * 3) as serving:
        settings = {"embedder": "none", "llm": "server:m", "llm_url": serving.address, "llm_key": "k"}
        with kept.opened("shop", settings=settings, via="person") as bank:
            assert lived(bank, "monday", PUT_RIGHT) == ["proposed 0.8"]
            assert bank.upkeep.proposals("proposed")[0].memory.body["by"] == "server:m"
            bank.observe(session("tuesday", MIGRATED))
            learnt = bank.upkeep.propose()
            assert [each.memory.body["by"] for each in learnt.proposals] == ["rules"]
            assert learnt.problem
