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
    *[
        "@you",
        "@",
        "@me2",
        "a@b",
        "a:b",
        "a*",
        "a?",
        'a"',
        "a<b",
        "a|b",
        "~",
        "€",
        "½",
        "\ud800",
        "a\u200bb",
        "\u0301a",
    ],
    *["con", "CON", "nul.db", "Com1", "lpt9.x", "aux", "日" * 54],
]


@pytest.mark.parametrize("name", ALLOWED)
def test_a_name_that_every_file_system_can_keep_is_kept(name: str) -> None:
    assert check_bank_name(name) == name


@pytest.mark.parametrize("name", REFUSED)
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        check_bank_name(name, "name")
    assert caught.value.parameter == "name"
    assert caught.value.expected


@pytest.mark.parametrize("value", [None, 7, b"notes", ["notes"]])
def test_a_name_that_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="bank: expected a bank's name"):
        check_bank_name(value)


def test_a_refused_name_comes_with_one_that_would_do() -> None:
    with pytest.raises(InputError) as caught:
        check_bank_name("../my notes")
    assert caught.value.hint == "For example my-notes."


def test_a_name_is_kept_in_one_spelling() -> None:
    assert check_bank_name(unicodedata.normalize("NFD", "Größe")) == "Größe"


def test_names_that_differ_in_case_mean_the_same_bank() -> None:
    assert same_bank("Notes") == same_bank("nOTES") == same_bank("notes")
    assert same_bank(unicodedata.normalize("NFD", "GRÖSSE")) == same_bank("größe")
    assert same_bank("notes") != same_bank("note")


@given(st.text())
def test_what_is_made_of_any_text_is_empty_or_a_name(text: str) -> None:
    made = bank_name_from(text)
    assert made == "" or check_bank_name(made) == made


@given(st.text(min_size=150))
def test_a_kept_name_leaves_room_for_the_endings_of_its_files(text: str) -> None:
    made = bank_name_from(text)
    assert len(made) <= LONGEST
    assert len(made.encode()) <= MOST_BYTES


@pytest.mark.parametrize(
    ("text", "made"),
    [("My App!", "My-App"), ("con", "con-bank"), ("a.b", "a-b"), ("...", ""), ("--x", "x"), ("/", "")],
)
def test_a_name_is_made_of_what_a_text_has(text: str, made: str) -> None:
    assert bank_name_from(text) == made
