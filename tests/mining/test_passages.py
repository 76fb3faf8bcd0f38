"""Passages: together they are the text, none is longer than needed, no word is cut, and cuts suit a reader."""

from itertools import accumulate
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pieria.mining.passage_cutter import CODE, MARKDOWN, PROSE, cut, cuts_word

KINDS = (CODE, MARKDOWN, PROSE)
WORDS = st.sampled_from(
    ["heron", "don't", "naïve", "e\u0301t\u0301e", "日本語テキスト", "नमस्ते", "👩‍👩‍👧", "a_b",
     "x.y()", "{", "}", "# Head", "```", "def f():", "    return 1", "one. Two! ",
     "\t", " ", "\n", "\n\n", "\r", "long" * 30]
)  # fmt: skip
TEXTS = st.lists(WORDS | st.text(max_size=12), max_size=60).map("".join)


@given(TEXTS, st.sampled_from(KINDS), st.integers(20, 120))
def test_passages_are_the_text_and_cut_no_word(text: str, kind: str, limit: int) -> None:
    passages = cut(text, kind, limit, limit // 4)
    assert "".join(passages) == (text if text.strip() else "")
    assert all(passage.strip() for passage in passages)
    assert [at for at in accumulate(map(len, passages[:-1])) if cuts_word(text, at)] == []


@given(st.lists(st.sampled_from(["heron", "stork", "reeds.", "\n", "def f():\n", "# Head\n"]), max_size=300))
def test_ordinary_text_has_no_passage_over_the_limit(words: list[str]) -> None:
    for kind in KINDS:
        # Trailing blanks are extra: they belong to the text before them.
        assert all(len(passage.strip()) <= 60 for passage in cut(" ".join(words), kind, 60, 15))


CUTS = {
    ("ab", 1): True, ("a b", 1): False, ("a b", 2): False, ("don't", 3): True, ("don't", 4): True, ("a_b", 1): True,
    ("e\u0301t", 1): True, ("e\u0301t", 2): True, ("日本", 1): False, ("か\u3099い", 1): True,
    ("👩\u200d👧", 1): True, ("👩\u200d👧", 2): True, ("a.b", 2): False,
}  # fmt: skip


def test_cutting_a_word() -> None:
    assert {case: cuts_word(*case) for case in CUTS} == CUTS


def test_code_is_cut_where_a_definition_begins() -> None:
    body = "".join(f"    line_{number} = {number}\n" for number in range(12))
    made = "# What {} does.\n@decorated\ndef {}():\n" + f"{body}\n    # a pause\n{body}\n\n"
    passages = cut("".join(made.format(name, name) for name in "abcdef"), CODE, 700, 100)
    assert [passage.split("\n")[0] for passage in passages] == [f"# What {name} does." for name in "abcdef"]
    # A closing bracket begins no passage.
    code = "".join(f"function f{number}() {{\n  return {number};\n\n}}\n\n" for number in range(40))
    assert all(passage.startswith("function") for passage in cut(code, CODE, 200, 40))


def test_markdown_is_cut_at_headings_outside_code() -> None:
    section = "Some words about it.\n\n```sh\n# no heading\n\nmake\n```\n\n"
    text = "".join(f"## Part {number}\n\n{section}" for number in range(12))
    passages = cut(text, MARKDOWN, 220, 40)
    assert all(passage.startswith("## Part") for passage in passages)
    assert all(passage.count("```") % 2 == 0 for passage in passages)


def test_prose_is_cut_between_paragraphs_then_sentences() -> None:
    sentence = "The heron stands in the reeds and waits for the fish to come. "
    passages = cut(f"{sentence * 3}\n\n{sentence * 3}\n\n{sentence * 30}", PROSE, 450, 50)
    assert passages[0] == f"{sentence * 3}\n\n{sentence * 3}\n\n"
    assert all(passage.startswith("The heron") for passage in passages)


def test_long_word_is_kept_whole_and_white_space_is_no_passage() -> None:
    word = "x" * 500
    assert cut(f"before {word} after it", PROSE, 100, 5) == ["before ", f"{word} ", "after it"]
    assert cut(" \n\t ") == []
    assert cut("\n" * 300 + "word" + "\n" * 300, PROSE, 100, 10) == ["\n" * 300 + "word" + "\n" * 300]


def test_large_file_is_cut_in_a_pass_or_two() -> None:
    # A quadratic cut would take minutes here, and the suite's time limit would end it.
    source = Path(__file__).read_text()
    text = source * (1_000_000 // len(source))
    assert "".join(cut(text, CODE)) == text
