"""Token estimates: enough for any script, and never zero."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.clip import estimated_tokens

PLAIN = "We chose JWT for all new APIs, and rotate its keys each night. "


@pytest.mark.parametrize("text", [PLAIN, PLAIN * 50, "Am Fuß der Brücke übte José façade, né à Chişinău. " * 3])
def test_plain_text_takes_between_a_quarter_and_a_third_of_its_characters(text: str) -> None:
    assert len(text) / 4 <= estimated_tokens(text) <= len(text) / 3


@pytest.mark.parametrize("text", ["記憶は大切です", "기억은소중하다", "памятьважна", "ذاكرة", "🦢🦢"])
def test_other_scripts_take_about_a_token_a_character(text: str) -> None:
    assert estimated_tokens(text) == len(text)


def test_of_mixed_text_each_script_takes_what_it_takes() -> None:
    assert estimated_tokens(PLAIN + "記憶は大切です") == estimated_tokens(PLAIN) + 7


def test_no_text_takes_nothing() -> None:
    assert estimated_tokens("") == 0


@given(st.text(min_size=1, max_size=50), st.text(max_size=50))
def test_any_text_takes_something_and_more_text_no_less(text: str, more: str) -> None:
    assert 1 <= estimated_tokens(text) <= len(text)
    assert estimated_tokens(text) <= estimated_tokens(text + more) <= estimated_tokens(text) + estimated_tokens(more)
