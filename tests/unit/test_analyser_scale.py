"""The analyser's time grows with the length of a text.

A quadratic pattern needs minutes for a quarter of a megabyte: it would outlast the time limit of a test.
"""

import random

import pytest

from pieria.language.analyser import phrases, query_terms, spans, terms

QUARTER = 250_000
pytestmark = pytest.mark.timeout(60)
MIXED = random.Random(7).choices("aA1_-./\\:@#$+%'\",é漢かกิ👍🇩\u0301\u200d\u200b\ud800\x00 \u0915\u094d", k=QUARTER)

ONE_WORD = ["a", "A", "aA", "1", "a1", "क्"]
NOTHING = [
    "_",
    ".",
    "-",
    "(",
    "'",
    '"',
    "“",
    "\u200d",
    "\u202e",
    "\ud800",
    "\x00",
    "::",
    "#",
    "\x1b[1m",
    "\x1b[",
    "\x1b",
]
MANY = ["a/", "a_", "a'", "n't", "a+", "a#", ",000", "1:", "a://", "漢", "กิ", "👍", "か\u3099", "a."]


def endless(of: str) -> str:
    return of * (QUARTER // len(of.encode(errors="surrogatepass")))


@pytest.mark.parametrize("of", ONE_WORD)
def test_an_endless_word_is_one_term(of: str) -> None:
    assert len(terms(endless(of))) == 1


@pytest.mark.parametrize("of", NOTHING)
def test_endless_nothing_has_no_terms(of: str) -> None:
    assert terms(endless(of)) == []


@pytest.mark.parametrize("of", MANY)
def test_an_endless_row_is_read(of: str) -> None:
    assert len(terms(endless(of))) > 1_000


def test_a_row_of_characters_that_stand_for_sentences_is_read() -> None:
    assert len(terms("\ufdfa" * 20_000)) == 60_001


@pytest.mark.parametrize("letter", ["a", "か", "ก"])
@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u064b\u0650\u0323"])
def test_a_letter_under_endless_decoration_is_that_letter(letter: str, marks: str) -> None:
    assert terms(letter + endless(marks)) == [letter]


@pytest.mark.parametrize(("letter", "marks"), [("か", "\u3099"), ("ཀ", "\u0f75"), ("ก", "\u0e38\u0e48")])
def test_a_letter_under_endless_signs_is_one_term(letter: str, marks: str) -> None:
    assert len(terms(letter + endless(marks))) == 1


def test_a_megabyte_of_everything_is_read_every_way() -> None:
    text = "".join(MIXED)

    assert [span.term for span in spans(text)] == terms(text)
    assert {found.term for found in query_terms(text)} <= set(terms(text))
    assert isinstance(phrases(text), list)


@pytest.mark.parametrize("of", ['"', '" ', "“", "«", "「a", '"a'])
def test_endless_quotes_are_read(of: str) -> None:
    assert isinstance(phrases(endless(of)), list)
