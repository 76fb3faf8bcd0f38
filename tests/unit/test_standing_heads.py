"""The check of first words passes every sentence that the forms can match."""

import re

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import from_regex

from pieria.language.standing_forms import HEADS, LEAD, forms

HEAD = re.compile(r"[^\W\d_]+")


@settings(suppress_health_check=list(HealthCheck), max_examples=500)
@given(from_regex(forms()))
def test_each_form_begins_with_a_known_head(text: str) -> None:
    found = forms().search(text)
    assert found
    head = HEAD.match(found[0])
    assert head and head[0] in HEADS, found[0]


@settings(suppress_health_check=list(HealthCheck))
@given(from_regex(LEAD, fullmatch=True))
def test_each_lead_begins_with_a_known_head_a_bullet_or_a_number(text: str) -> None:
    head = HEAD.match(text)
    assert not text or text[0] in "-*•+" or text[0].isdigit() or (head and head[0] in HEADS), text
