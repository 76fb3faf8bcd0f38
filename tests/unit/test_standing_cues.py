"""The cheap question before the dear one: it may say yes to too much, and never no to a standing rule."""

import pytest
from tests.unit.test_standing import NEGATIVE, POSITIVE, UNSEEN

from pieria.record.analyser import terms
from pieria.record.indexing import stated
from pieria.record.standing import standing
from pieria.record.standing_cues import may_state

SAID = [text for _, text in POSITIVE] + UNSEEN.strip().splitlines()


@pytest.mark.parametrize("around", ["{}", "We met at noon.\n{}", "Thanks!  {} See you."])
def test_whatever_states_a_rule_has_a_cue(around: str) -> None:
    missed = [text for text in SAID if standing(around.format(text)) and not may_state(terms(around.format(text)))]
    assert missed == []
    assert sum(bool(standing(around.format(text))) for text in SAID) > 100


def test_most_of_what_states_none_has_none() -> None:
    plain = ["We walked along the river.", "Maya moved to Oslo in May.", "The build takes ten minutes."]
    assert not any(may_state(terms(text)) for text in plain)
    assert not may_state([])
    assert not all(may_state(terms(text)) for text in NEGATIVE)


def test_only_kinds_that_hold_what_was_said_state_rules() -> None:
    text = "Always use tabs. I prefer tea. Never push to main."
    found = terms(text)
    assert stated(text, found, "note") == ("rule", "preference")
    assert stated(text, found, "turn") == ("rule", "preference")
    assert stated(text, found, "procedural") == ()
    assert stated("Tabs it is.", terms("Tabs it is."), "note") == ()
