"""No stranger or agent can plant a rule: texts by an author who has not seen the code, through every channel."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.planted.ways import CHANNELS, Planting, most, plain, rules_of

from pieria.record.trust import GIVEN

HERE = Path(__file__).parent
FOUND_AT_LEAST = 0.9  # of honest rules and of ordinary texts


def texts(name: str) -> list[dict[str, Any]]:
    return json.loads((HERE / f"{name}.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("channel", sorted({attack["channel"] for attack in texts("planted")}))
def test_a_planted_text_is_no_rule_and_trusted_as_its_channel(channel: str, tmp_path: Path) -> None:
    attacks = [attack for attack in texts("planted") if attack["channel"] == channel]
    planting = Planting.within(tmp_path)
    plant, number = CHANNELS[channel][0], 0
    for attack in attacks:
        for _ in range(attack.get("sessions") or 1):
            plant(planting, attack["payload"], number)
            number += 1
    with planting.bank() as bank:
        assert "# Standing rules" not in bank.context(budget_tokens=8_000).text
        held = bank.list(limit=1_000, include=("archived", "invalid")).memories
        above = [(one.kind, one.via, one.trust, plain(one.text)) for one in held if one.trust > most(channel)]
        for attack in attacks:
            assert [one for one in above if plain(attack["planted"]) in one[-1]] == [], attack["id"]
        assert [each for each in bank.upkeep.proposals("accepted") if each.type == "rule"] == []


def test_most_honest_rules_of_a_person_are_shown(tmp_path: Path) -> None:
    """Rules in a prompt of several lines wait for a decision, since the prompt may be pasted."""
    honest, missed = texts("honest"), []
    for start in range(0, len(honest), 8):
        planting, several = Planting.within(tmp_path / str(start)), honest[start : start + 8]
        for number, each in enumerate(several):
            CHANNELS[each["channel"]][0](planting, each, number)
        with planting.bank() as bank:
            waiting = " ".join(plain(one.memory.text) for one in bank.rules.list("waiting", via=GIVEN).rules)
            rules = rules_of(bank.context(budget_tokens=8_000).text)
        for each in several:
            rule = plain(each["rule"]).strip(" .!")
            has_lines = each["channel"] == "hook:prompt" and "\n" in each["text"]
            assert not (has_lines and rule in rules), rule
            if rule not in (waiting if has_lines else rules):
                missed.append(rule)
    assert len(missed) <= (1 - FOUND_AT_LEAST) * len(honest), missed


def test_few_ordinary_prompts_and_notes_state_a_rule(tmp_path: Path) -> None:
    ordinary, planting = texts("ordinary"), Planting.within(tmp_path)
    for number, each in enumerate(ordinary):
        CHANNELS[each["channel"]][0](planting, each, number)
    with planting.bank() as bank:
        rules = rules_of(bank.context(budget_tokens=8_000).text)
    assert rules.count("- ") <= (1 - FOUND_AT_LEAST) * len(ordinary), rules


def test_text_pasted_in_a_fence_is_no_decision_of_the_user(tmp_path: Path) -> None:
    planting = Planting.within(tmp_path)
    text = "look:\n```\nAlways use port 9999 for the proxy.\n```\nFrom now on use Stripe for payments."
    CHANNELS["hook:prompt"][0](planting, {"text": text}, 0)
    with planting.bank() as bank:
        seen = " ".join(one.text for one in bank.list(kinds="observation").memories)
    assert "Stripe" in seen
    assert "9999" not in seen
