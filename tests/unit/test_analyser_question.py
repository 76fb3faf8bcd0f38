"""The index terms of a question."""

import pytest

from pieria.language.analyser import STOP_WORDS, QueryTerm, phrases, query_terms, terms


def asked(text: str) -> list[str]:
    return [found.term for found in query_terms(text)]


def telling(text: str) -> list[str]:
    return [found.term for found in query_terms(text) if not found.stop]


def test_stop_words_are_marked_and_each_term_comes_once() -> None:
    assert query_terms("What did the painter paint, and what's painted?") == [
        QueryTerm("what", True),
        QueryTerm("do", True),
        QueryTerm("the", True),
        QueryTerm("painter", False),
        QueryTerm("paint", False),
        QueryTerm("and", True),
    ]


def test_documents_index_stop_words() -> None:
    assert terms("What is it?") == ["what", "be", "it"]


def test_every_contraction_of_a_stop_word_is_one() -> None:
    assert telling("Don't you think it's what they'd've said? I'm sure we'll, won't we?") == [
        "think",
        "say",
        "sure",
    ]


@pytest.mark.parametrize("word", ["who", "it", "us", "am"])
def test_an_acronym_is_no_stop_word_unless_everything_is_shouted(word: str) -> None:
    assert telling(f"the {word.upper()} report") == [*terms(word), "report"]
    assert telling(f"the {word} report") == ["report"]
    assert telling(f"THE {word.upper()} REPORT") == ["report"]


def test_stop_words_are_terms() -> None:
    assert all(terms(word) for word in STOP_WORDS)
    assert {"the", "what", "be", "dont"} <= STOP_WORDS


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("猫", ["猫"]),
        ("猫が好き", ["猫", "猫が", "が好", "好", "好き"]),
        ("한국어", ["한국", "국어"]),
        ("ข้าว", ["ข้า", "าว"]),
    ],
)
def test_a_question_looks_up_pairs_and_lone_ideographs(question: str, expected: list[str]) -> None:
    assert asked(question) == expected


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("京", "東京都"),
        ("り", "ありがとう"),
        ("국", "한국어"),
        ("งู", "เห็นงูตัวหนึ่ง"),
        ("store.ts", "see src/db/store.ts:42"),
        ("userName", "the user_name column"),
        ("user_name", "userName"),
        ("e-mail", "email me"),
        ("email", "an e-mail"),
        ("obs123", "obs-123"),
        ("3.15", "upgraded to v3.15.1"),
        ("example.com", "https://example.com/a"),
        ("1000", "1,000 people"),
        ("2026-01-10", "at 2026-01-10T08:00Z"),
    ],
)
def test_a_question_finds(question: str, text: str) -> None:
    assert set(telling(question)) & set(terms(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('who said "the red car" yesterday', ["the red car"]),
        ("“Ruby Lane” and «New York» and „Haus am See“", ["Ruby Lane", "New York", "Haus am See"]),
        ("「東京タワー」の近く 『源氏物語』", ["東京タワー", "源氏物語"]),
        ('说"你好"吗', ["你好"]),
        ("＂full width＂", ["full width"]),
        ('a 5" screen and a 6" one', []),
        ('an open " quote', []),
        ('"" and " ... "', []),
        ("it's 'not' quoted", []),
    ],
)
def test_quoted_passages_are_phrases(text: str, expected: list[str]) -> None:
    assert phrases(text) == [terms(passage) for passage in expected]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("red car", "The red cars won."),
        ("東京タワー", "昨日、東京タワーへ行った"),
        ("user name field", "the user_name field"),
        ("db/store", "in db/store today"),
    ],
)
def test_the_terms_of_a_phrase_stand_together_in_the_text(phrase: str, text: str) -> None:
    [wanted] = phrases(f'"{phrase}"')
    held = terms(text)

    assert any(held[start : start + len(wanted)] == wanted for start in range(len(held)))
