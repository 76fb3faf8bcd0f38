"""The speaker of a text, by how it begins."""

import pytest

from pieria.language.glance import speaker


@pytest.mark.parametrize(
    ("begins", "who"),
    [
        ("Caroline: I went to a support group.", "Caroline"),
        ("**Ada Lovelace:** it computes.", "Ada Lovelace"),
        ("O'Neil: no.", "O'Neil"),
        ("太郎： はい。", "太郎"),
    ],
)
def test_the_name_before_the_first_colon_speaks(begins: str, who: str) -> None:
    assert speaker(begins) == who


@pytest.mark.parametrize(
    "begins",
    [
        "Next: call the plumber.",
        "user: hello",
        "Assistant: hello",
        "I told Ada: no.",
        "caroline: hi",
        "https://example.org",
        "Ada:no",
        "12:30 we met",
        "",
    ],
)
def test_a_part_a_common_word_and_whatever_else_ends_in_a_colon_is_nobody(begins: str) -> None:
    assert speaker(begins) is None
