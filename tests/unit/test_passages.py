"""The cuts of long texts, and that the passages lose nothing."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.letters import lowered
from pieria.language.passages import LIMIT, WORDS, passages
from pieria.language.sentences import sentences

SENTENCE = "The quick brown fox number {} jumps over the lazy dog again. "
SCRAPS = [
    "a",
    "word ",
    "Maya: hi\n",
    "\n",
    "\n\n",
    "```\ncode here\n```\n",
    "~~~",
    "漢字。",
    "が",
    "กิ",
    "👩‍💻",
    "é",
    "e\u0301",
    " ",
    ". ",
    "! ",
]
any_text = st.text() | st.lists(st.sampled_from(SCRAPS), max_size=200).map("".join)


def cut(text: str, limit: int = LIMIT, words: int = WORDS) -> list[str]:
    return [text[start:end] for start, end in passages(text, limit, words)]


def test_a_short_text_is_one_passage_with_all_of_it() -> None:
    text = "  Maya: hi\n\n```\ncode\n```\nbye \n"

    assert passages(text) == [(0, len(text))]


@pytest.mark.parametrize("text", ["", " ", "\n" * 5_000, "\u3000\t"])
def test_nothing_has_no_passages(text: str) -> None:
    assert passages(text) == []


def test_turns_stay_whole_and_are_put_together_while_they_fit() -> None:
    turns = [f"{name}: {'word ' * 40}".strip() for name in ("Maya", "**Ben**", "[10:30] Maya", "太郎") * 3]

    found = cut("\n".join(turns))

    assert len(found) == 3
    assert [line for passage in found for line in passage.splitlines()] == turns


def test_paragraphs_stay_whole() -> None:
    paragraphs = ["one " * 100, "two " * 100, "three " * 100]

    assert cut("\n\n".join(paragraphs)) == [paragraph.strip() for paragraph in paragraphs]


def test_a_paragraph_that_is_cut_goes_on_with_its_last_sentence() -> None:
    text = "".join(SENTENCE.format(number) for number in range(40))

    found = cut(text)

    assert all(passage.startswith("The quick") and passage.endswith("again.") for passage in found)
    for one, other in pairwise(found):
        assert other.startswith(one.split(". ")[-1])
    assert "number 39" in found[-1]


def test_a_paragraph_that_is_cut_is_not_mixed_with_the_one_before_it() -> None:
    long = "".join(SENTENCE.format(number) for number in range(40))

    assert cut("Short.\n\n" + long)[0] == "Short."


def test_a_block_of_code_is_a_passage_of_its_own() -> None:
    code = "```python\n" + "x = 1\n" * 20 + "```"
    text = "Look at this: " + "word " * 150 + "\n" + code + "\nThat was it."

    assert cut(text)[-2:] == [code, "That was it."]


def test_a_long_block_of_code_is_cut_between_lines() -> None:
    lines = [f"    value_{number} = compute(value_{number - 1})" for number in range(60)]
    found = cut("```\n" + "\n".join(lines) + "\n```\n" + "word " * 100)

    inside = "\n".join(found[:-1]).splitlines()
    assert [line.strip() for line in inside] == ["```", *(line.strip() for line in lines), "```"]


def test_a_fence_is_closed_by_one_that_is_as_long() -> None:
    text = "````\n```\ncode\n```\n````\n" + "word " * 200

    assert cut(text)[0] == "````\n```\ncode\n```\n````"


def test_text_without_sentences_is_cut_between_words() -> None:
    words = [f"word{number}" for number in range(500)]

    assert " ".join(cut(" ".join(words))).split() == words


def test_a_long_word_is_cut_after_a_pause_or_anywhere() -> None:
    assert cut("ab," * 1_000)[0].endswith(",")
    assert list(map(len, cut("a" * 2_000))) == [900, 900, 200]


def test_scripts_without_spaces_count_their_characters_and_end_their_sentences() -> None:
    sentence = "今日は東京で友達に会いました。"
    found = cut(sentence * 30)

    assert all(len(passage) <= WORDS and passage.endswith("。") for passage in found)
    assert all(passage.startswith("今日") for passage in found)


@pytest.mark.parametrize("cluster", ["e\u0301", "👩‍💻", "กิ", "👍🏽"])
def test_what_is_drawn_as_one_is_not_cut(cluster: str) -> None:
    for passage in cut(cluster * 1_000):
        assert len(passage) % len(cluster) == 0


@given(any_text, st.integers(20, 200), st.integers(3, 40))
def test_passages_hold_all_but_white_space_in_order_and_within_the_limit(text: str, limit: int, words: int) -> None:
    found = passages(text, limit, words)

    held = [False] * len(text)
    for start, end in found:
        assert 0 < end - start <= limit
        held[start:end] = [True] * (end - start)
    assert all(is_held or char.isspace() for is_held, char in zip(held, text, strict=True))
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(found))


@given(any_text)
def test_passages_are_the_same_whenever_they_are_cut(text: str) -> None:
    assert passages(text, 50, 10) == passages(text, 50, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Lee met J. R. Smith, e.g. today. Then left.", ["Dr. Lee met J. R. Smith, e.g. today.", "Then left."]),
        ("Version 3.15.1 is out. good.", ["Version 3.15.1 is out.", "good."]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
        ("Well... maybe. No… Yes", ["Well... maybe.", "No…", "Yes"]),
        ("one line\nanother line", ["one line", "another line"]),
        ("東京です。「はい。」そう！？ね", ["東京です。", "「はい。」", "そう！？", "ね"]),
        (f"{'long ' * 15}line\ngoes on. End", [f"{'long ' * 15}line\ngoes on.", "End"]),
        ("It was I. Then", ["It was I.", "Then"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(any_text)
def test_sentences_hold_all_but_white_space(text: str) -> None:
    assert "".join("".join(text[start:end] for start, end in sentences(text)).split()) == "".join(text.split())


@given(st.text())
def test_lower_case_leaves_every_character_where_it_was(text: str) -> None:
    low = lowered(text)

    assert len(low) == len(text)
    for found in re.finditer("[A-Z]", text):
        assert low[found.start()] == found[0].lower()


def test_every_character_there_is_stays_one_in_lower_case() -> None:
    assert all(len(lowered(chr(code))) == 1 for code in range(0x110000))
