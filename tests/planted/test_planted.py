"""No stranger or agent can plant a rule: texts by an author who has not seen the code, through every channel."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.planted.planting import CHANNELS, Planting, most, plain, rules_of

from pieria.record.trust import GIVEN

HERE = Path(__file__).parent
PLANTED: list[dict[str, Any]] = json.loads((HERE / "planted.json").read_text())
HONEST: list[dict[str, Any]] = json.loads((HERE / "honest.json").read_text())
ORDINARY: list[dict[str, Any]] = json.loads((HERE / "ordinary.json").read_text())
FOUND_AT_LEAST = 0.9
"""The minimum share of honest rules and of ordinary texts that must be classified correctly."""


@pytest.fixture
def planting(tmp_path: Path) -> Planting:
    files = tmp_path / "files"
    files.mkdir()
    return Planting(tmp_path / "data", files)


@pytest.mark.parametrize("attack", PLANTED, ids=lambda attack: str(attack["id"]))
def test_a_planted_text_is_no_rule_and_believed_as_its_channel(attack: dict[str, Any], planting: Planting) -> None:
    channel = attack["channel"]
    for number in range(attack.get("sessions") or 1):
        CHANNELS[channel][0](planting, attack["payload"], number)
    with planting.bank() as bank:
        assert "# Standing rules" not in bank.context(budget_tokens=8_000).text
        wanted = plain(attack["planted"])
        held = [memory for memory in bank.list(limit=1_000, include=("archived", "invalid")).memories]
        above = [
            (one.kind, one.via, one.trust) for one in held if wanted in plain(one.text) and one.trust > most(channel)
        ]
        assert above == []
        accepted = [each for each in bank.upkeep.proposals("accepted") if each.type == "rule"]
        assert accepted == []


def test_honest_rules_of_a_person_are_told(tmp_path: Path) -> None:
    """Rules in a prompt of several lines wait for a decision, since the prompt may be pasted."""
    missed = []
    for number, honest in enumerate(HONEST):
        files = tmp_path / str(number)
        files.mkdir()
        planting, rule = Planting(files / "data", files), plain(honest["rule"]).strip(" .!")
        CHANNELS[honest["channel"]][0](planting, honest, 0)
        with planting.bank() as bank:
            waiting = " ".join(plain(one.memory.text) for one in bank.rules.list("waiting", via=GIVEN).rules)
            is_told = rule in rules_of(bank.context(budget_tokens=8_000).text)
        several = honest["channel"] == "hook:prompt" and "\n" in honest["text"]
        assert not (several and is_told)
        if not (is_told or (several and rule in waiting)):
            missed.append(honest["rule"])
    assert len(missed) <= (1 - FOUND_AT_LEAST) * len(HONEST), missed


def test_few_ordinary_prompts_and_notes_state_a_rule(tmp_path: Path) -> None:
    told = []
    for number, each in enumerate(ORDINARY):
        files = tmp_path / str(number)
        files.mkdir()
        planting = Planting(files / "data", files)
        CHANNELS[each["channel"]][0](planting, each, 0)
        with planting.bank() as bank:
            if rules_of(bank.context(budget_tokens=8_000).text):
                told.append(each["text"])
    assert len(told) <= (1 - FOUND_AT_LEAST) * len(ORDINARY), told


def test_rules_of_helper() -> None:
    assert rules_of("x\n# Standing rules, as people put them\n- One.\n# Index\n- Two.") == ", as people put them - one."


def test_what_is_pasted_in_a_fence_is_no_decision_of_the_user(planting: Planting) -> None:
    text = "look:\n```\nAlways use port 9999 for the proxy.\n```\nFrom now on use Stripe for payments."
    CHANNELS["hook:prompt"][0](planting, {"text": text}, 0)
    with planting.bank() as bank:
        seen = [one.text for one in bank.list(kinds="observation").memories]
    assert any("Stripe" in one for one in seen)
    assert not any("9999" in one for one in seen)
