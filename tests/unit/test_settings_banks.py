"""Valid bank names. The rules are in `record`; other tests check that settings and files keep them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError
from pieria.record.banks import LONGEST, MOST_BYTES, bank_name_from, check_bank_name, same_bank

ALLOWED = ["a", "notes", "my-notes", "v1.2_final", "-x", "Größe", "日本語", "हिन्दी", "x" * 100, "console", "@me"]
REFUSED = [
    *["", " ", "../x", "..", ".", ".hidden", "dot.", "a/b", "a\\b", "a b", " a", "a\n", "a\0b", "\0", "x" * 101],
    *["@you", "@", "@me2", "a@b", "a:b", "a*", "a?", 'a"', "a<b", "a|b", "~", "€", "½", "\ud800", "a\u200bb"],
    *["\u0301a", "con", "CON", "nul.db", "Com1", "lpt9.x", "aux", "日" * 54],
]


def test_names_that_every_file_system_can_keep_are_allowed() -> None:
    assert [check_bank_name(name) for name in ALLOWED] == ALLOWED
    assert check_bank_name(unicodedata.normalize("NFD", "Größe")) == "Größe"


def test_other_names_are_refused() -> None:
    for name in REFUSED:
        with pytest.raises(InputError) as caught:
            check_bank_name(name, "name")
        assert caught.value.parameter == "name"
        assert caught.value.expected
    for value in (None, 7, b"notes", ["notes"]):
        with pytest.raises(InputError, match="bank: expected a bank's name"):
            check_bank_name(value)
    with pytest.raises(InputError) as caught:
        check_bank_name("../my notes")
    assert caught.value.hint == "For example my-notes."


def test_names_that_differ_in_case_mean_the_same_bank() -> None:
    assert same_bank("Notes") == same_bank("nOTES") == same_bank("notes")
    assert same_bank(unicodedata.normalize("NFD", "GRÖSSE")) == same_bank("größe")
    assert same_bank("notes") != same_bank("note")


@given(st.text() | st.text(min_size=150))
def test_a_name_made_of_any_text_is_empty_or_valid(text: str) -> None:
    """A long name leaves room for the endings of its files."""
    made = bank_name_from(text)
    assert made == "" or check_bank_name(made) == made
    assert len(made) <= LONGEST
    assert len(made.encode()) <= MOST_BYTES


def test_a_name_is_made_of_what_a_text_has() -> None:
    made = {"My App!": "My-App", "con": "con-bank", "a.b": "a-b", "...": "", "--x": "x", "/": ""}
    assert {text: bank_name_from(text) for text in made} == made
