"""The summary of a text at a glance."""

import pytest

from pieria.language.glance import END, SHORT, glance


def of(text: str, beginning: int = 4_000) -> tuple[bool, bool]:
    found = glance(text[:beginning], text[-END:], len(text))
    return found.asks, found.tells_time


@pytest.mark.parametrize(
    ("text", "asks", "tells_time"),
    [
        ("Where did we put the keys?", True, False),
        ("「Where?」 she said, and meant it.", True, False),
        ("We moved to Lisbon last spring.", False, True),
        ("Did it ship on the 3rd? I was away.", True, True),
        ("He asked: did it ship? " + "And then nobody said a word about it. " * 3, False, False),
        ("Back in 1998 nobody asked.", False, True),
        ("The lasting impression is what counts.", False, False),
        ("", False, False),
    ],
)
def test_a_text_asks_or_tells_a_time(text: str, asks: bool, tells_time: bool) -> None:
    assert of(text) == (asks, tells_time)


def test_a_question_that_goes_on_is_one_while_it_is_short() -> None:
    assert of("Really? " + "x" * (SHORT - 9))[0]
    assert not of("Really? " + "x" * SHORT)[0]


def test_texts_of_one_end_are_told_apart_from_others() -> None:
    one, same, other = (glance(text, text[-END:], len(text)) for text in ("so it ends", "so it ends", "so it end!"))
    assert one.ending == same.ending != other.ending
    assert glance("Ada: hello", "hello", 10).speaker == "Ada"
