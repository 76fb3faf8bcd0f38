"""Folding of names: which names are equal, and that the order of folding never changes a key."""

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError
from pieria.record.fact import Fact, checked_name, checked_predicate, fact_of, folded, folded_predicate, row_of

NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zoë", "ZOË"),
        ("Zoë", "Zoe\N{COMBINING DIAERESIS}"),
        ("Straße", "STRASSE"),
        ("Ｍａｙａ", "maya"),
        ("ﬁn", "FIN"),
        ("Maya  Ito", " maya\u00a0ito "),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("ẛ̣", "Ṩ"),
        ("\N{ANGSTROM SIGN}ngström", "ångström"),
    ],
)
def test_one_name_in_two_spellings(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Zoe", "Zoë"), ("Maya", "Mayas"), ("works_on", "works on"), ("a b", "ab"), ("日本", "日本語")]
)
def test_different_names(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize("spelling", ["works on", "WORKS_ON", "works__on", "_works  on_", "works＿on"])
def test_an_underscore_in_a_predicate_is_a_space(spelling: str) -> None:
    assert folded_predicate(spelling) == "works on"


@given(NAMES)
def test_the_key_of_a_key_is_the_key(name: str) -> None:
    assert folded(folded(name)) == folded(name)
    assert folded_predicate(folded_predicate(name)) == folded_predicate(name)


@given(NAMES)
def test_no_form_of_a_name_changes_its_key(name: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert folded(unicodedata.normalize(form, name)) == folded(name)
    assert folded(name.casefold()) == folded(name)


@pytest.mark.parametrize(
    "value", ["", " ", "\u200b", "\u2060 \ufeff", "a\0b", "a\nb", "\ud800", "x" * 501, None, 5, b"x"]
)
def test_names_that_are_refused(value: object) -> None:
    with pytest.raises(InputError) as caught:
        checked_name(value, "subject")
    assert caught.value.parameter == "subject"


def test_a_predicate_needs_more_than_underscores() -> None:
    with pytest.raises(InputError, match="predicate"):
        checked_predicate("_ _")


def test_names_are_trimmed_and_may_be_long() -> None:
    assert checked_name("  Maya ", "subject") == "Maya"
    assert checked_name("é" * 500, "subject") == "é" * 500


def test_a_fact_survives_its_row() -> None:
    moment = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
    fact = Fact("f", "Zoë", "works on", "X", moment, None, moment, None, 0.5, "m", "chat", "", "moved")
    assert fact_of(row_of(fact), moment) == fact
    assert row_of(fact).subject_key == folded("ZOË")
