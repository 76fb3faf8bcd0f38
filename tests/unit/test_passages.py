"""The cuts of long texts, and that the passages lose nothing."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.letters import lowered
from pieria.language.passages import LIMIT, WORDS, passages
from pieria.language.sentences import sentences

SCRAPS = [
    *("a", "word ", "Maya: hi\n", "\n", "\n\n", "```\ncode here\n```\n", "~~~", "漢字。", "が", "กิ", "👩‍💻", "é"),
    *("e\u0301", " ", ". ", "! "),
]
any_text = st.text() | st.lists(st.sampled_from(SCRAPS), max_size=200).map("".join)
LONG = "".join(f"The quick brown fox number {number} jumps over the lazy dog again. " for number in range(40))


def cut(text: str, limit: int = LIMIT, words: int = WORDS) -> list[str]:
    return [text[start:end] for start, end in passages(text, limit, words)]


def test_turns_paragraphs_and_short_texts_stay_whole() -> None:
    turns = [f"{name}: {'word ' * 40}".strip() for name in ("Maya", "**Ben**", "[10:30] Maya", "太郎") * 3]
    found = cut("\n".join(turns))
    assert len(found) == 3
    assert [line for passage in found for line in passage.splitlines()] == turns
    paragraphs = ["one " * 100, "two " * 100, "three " * 100]
    assert cut("\n\n".join(paragraphs)) == [paragraph.strip() for paragraph in paragraphs]
    text = "  Maya: hi\n\n```\ncode\n```\nbye \n"
    assert passages(text) == [(0, len(text))]
    for blank in ("", " ", "\n" * 5_000, "\u3000\t"):
        assert passages(blank) == []


def test_paragraphs_and_code_are_cut_between_their_lines() -> None:
    found = cut(LONG)
    assert all(passage.startswith("The quick") and passage.endswith("again.") for passage in found)
    for one, other in pairwise(found):
        assert other.startswith(one.split(". ")[-1])
    assert "number 39" in found[-1]
    assert cut("Short.\n\n" + LONG)[0] == "Short."
    code = "```python\n" + "x = 1\n" * 20 + "```"
    text = "Look at this: " + "word " * 150 + "\n" + code + "\nThat was it."
    assert cut(text)[-2:] == [code, "That was it."]
    lines = [f"    value_{number} = compute(value_{number - 1})" for number in range(60)]
    found = cut("```\n" + "\n".join(lines) + "\n```\n" + "word " * 100)
    inside = "\n".join(found[:-1]).splitlines()
    assert [line.strip() for line in inside] == ["```", *(line.strip() for line in lines), "```"]
    assert cut("````\n```\ncode\n```\n````\n" + "word " * 200)[0] == "````\n```\ncode\n```\n````"


def test_text_without_sentences_is_cut_between_words() -> None:
    words = [f"word{number}" for number in range(500)]
    assert " ".join(cut(" ".join(words))).split() == words
    assert cut("ab," * 1_000)[0].endswith(",")
    assert list(map(len, cut("a" * 2_000))) == [900, 900, 200]
    for cluster in ("e\u0301", "👩‍💻", "กิ", "👍🏽"):
        assert all(len(passage) % len(cluster) == 0 for passage in cut(cluster * 1_000))
    found = cut("今日は東京で友達に会いました。" * 30)
    assert all(len(passage) <= WORDS and passage.endswith("。") for passage in found)
    assert all(passage.startswith("今日") for passage in found)


@given(any_text, st.integers(20, 200), st.integers(3, 40))
def test_passages_hold_all_text_within_the_limit(text: str, limit: int, words: int) -> None:
    found = passages(text, limit, words)
    held = [False] * len(text)
    for start, end in found:
        assert 0 < end - start <= limit
        held[start:end] = [True] * (end - start)
    assert all(is_held or char.isspace() for is_held, char in zip(held, text, strict=True))
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(found))
    assert passages(text, limit, words) == found


def test_sentences_end_where_a_reader_would_end_them() -> None:
    expected = samples("sentences")
    assert {text: [text[start:end] for start, end in sentences(text)] for text in expected} == expected


@given(any_text)
def test_sentences_hold_all_text_and_lowering_moves_nothing(text: str) -> None:
    assert "".join("".join(text[start:end] for start, end in sentences(text)).split()) == "".join(text.split())
    low = lowered(text)
    assert len(low) == len(text)
    for found in re.finditer("[A-Z]", text):
        assert low[found.start()] == found[0].lower()


def test_every_character_stays_one_in_lower_case() -> None:
    every = "".join(map(chr, range(0x110000)))
    assert len(lowered(every)) == len(every)
    assert [char for char in map(chr, range(0x600)) if len(lowered(char)) != 1] == []
