"""Valid bank names. The rules are in `record`; other tests check that settings and files keep them."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import HERE

from pieria.errors import InputError
from pieria.record.banks import LONGEST, MOST_BYTES, bank_name_from, check_bank_name, same_bank

NAMES: dict[str, list[str]] = json.loads((HERE / "bank_names.json").read_text())


def test_names_that_every_file_system_can_keep_are_allowed() -> None:
    assert [check_bank_name(name) for name in NAMES["allowed"]] == NAMES["allowed"]
    assert check_bank_name(unicodedata.normalize("NFD", "Größe")) == "Größe"
    assert same_bank("Notes") == same_bank("nOTES") == same_bank("notes")
    assert same_bank(unicodedata.normalize("NFD", "GRÖSSE")) == same_bank("größe")
    assert same_bank("notes") != same_bank("note")
    made = {"My App!": "My-App", "con": "con-bank", "a.b": "a-b", "...": "", "--x": "x", "/": ""}
    assert {text: bank_name_from(text) for text in made} == made


def test_other_names_are_refused() -> None:
    for name in NAMES["refused"]:
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


@given(st.text() | st.text(min_size=150))
def test_a_name_made_of_any_text_is_empty_or_valid(text: str) -> None:
    """A long name leaves room for the endings of its files."""
    made = bank_name_from(text)
    assert made == "" or check_bank_name(made) == made
    assert len(made) <= LONGEST
    assert len(made.encode()) <= MOST_BYTES
