"""Laws for the terms of any text."""

import sqlite3
import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.analyser import marks, query_terms, spans, terms
from pieria.language.analyser.fold import fold, fold_aligned
from pieria.language.analyser.tokenizer import tokens

SNIPPETS = [
    *("src/db/store.ts", "getUserName", "user_name", "C++", ".NET", "v3.15.1", "a@b.org", "#12", "$1,000", "50%"),
    *("2026-01-10T10:30:00Z", "https://x.org/a?b", "127.0.0.1:80", "::1", "don't", "U.S.", "it’s", "e\u0301"),
    *("東京", "が", "한국", "กิน", "\u1112\u1161", "हिन्दी", "مُحَمَّد", "ﬁ", "ß", "Å", "İ", "½", "Ⅷ", "㎏", "ﾞ"),
    *(
        "👍🏽",
        "🇩🇪",
        "❤️",
        "👩‍💻",
        "\u200b",
        "\u00ad",
        "\u202e",
        "\ud800",
        "\x00",
        "'",
        '"',
        ".",
        "-",
        "_",
        "/",
        ":",
        "+",
        "\x1b[31m",
        "\x1b[",
        "\x1b",
    ),
]
any_text = st.text() | st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=3)).map("".join)
ascii_text = st.text(st.characters(codec="ascii", exclude_characters="\x1b")) | st.lists(
    st.sampled_from([snippet for snippet in SNIPPETS if snippet.isascii() and "\x1b" not in snippet])
    | st.text("aAbB19.-_'/: ", max_size=4)
).map("".join)


@given(any_text)
def test_a_term_is_safe_to_join_and_to_index(text: str) -> None:
    for term in terms(text):
        assert 1 <= len(term) <= 64
        assert term.isprintable()
        assert not set(term) & set(" '\"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        term.encode()


@given(any_text, st.integers(0, 3))
def test_marks_are_the_wanted_terms_in_their_order(text: str, nth: int) -> None:
    wanted = set(terms(text)[nth::2])
    told, whole = marks(text, wanted), [span for span in spans(text) if span.term in wanted]
    assert [term for _, term in told] == [span.term for span in whole]
    assert all(start <= span.start for (start, _), span in zip(told, whole, strict=True))
    assert marks(text, ()) == []


@given(any_text)
def test_spans_are_the_terms_with_their_places(text: str) -> None:
    found = spans(text)

    assert [span.term for span in found] == terms(text)
    assert all(0 <= span.start < span.end <= len(text) for span in found)


def stands_for_itself(char: str) -> bool:
    """Return False for an abbreviation in one character, such as ㏂ or Ⅷ: it cannot be sliced."""
    written_out = unicodedata.normalize("NFKC", char)
    return len(written_out) == 1 or written_out.islower()


@given(any_text.filter(lambda text: all(map(stands_for_itself, text))))
def test_a_slice_read_again_holds_its_term(text: str) -> None:
    for term, start, end in spans(text):
        assert term in terms(text[start:end])


@given(any_text)
def test_what_a_question_asks_for_is_what_the_same_text_is_indexed_by(text: str) -> None:
    asked = [term for term, _ in query_terms(text)]

    assert len(asked) == len(set(asked))
    assert set(asked) <= set(terms(text))
    assert bool(asked) == bool(terms(text))


# A letter ends a terminal's sequence, and a detached accent is not a letter.
@given(any_text.filter(lambda text: not set(text) & set("™℠\x1b\x9b")))
def test_compatible_spellings_are_one(text: str) -> None:
    assert terms(unicodedata.normalize("NFKC", text)) == terms(text)
    assert terms(unicodedata.normalize("NFD", text)) == terms(text)


small_letters = st.characters(min_codepoint=0xC0, max_codepoint=0x24F, categories=["Ll"]).filter(
    lambda char: char.upper() != char and len(unicodedata.normalize("NFKC", char)) == 1
)


@given(st.text(small_letters | st.sampled_from("aeinst")))
def test_latin_words_have_neither_case_nor_accents(word: str) -> None:
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))

    assert terms(word.upper()) == terms(word.capitalize()) == terms(word)
    assert terms(plain) == terms(word)


@given(any_text, any_text)
def test_words_apart_do_not_touch_each_other(one: str, other: str) -> None:
    assert terms(f"{one} {other}") == terms(one) + terms(other)


@given(ascii_text)
def test_the_short_way_for_ordinary_words_gives_what_the_long_way_gives(text: str) -> None:
    assert terms(text) == [term for word in text.split() for term, _, _ in tokens(word)]


@given(any_text)
def test_folding_in_pieces_is_folding_whole(text: str) -> None:
    folded, starts, ends = fold_aligned(text)

    assert folded == fold(text)
    assert len(starts) == len(ends) == len(folded)


def test_long_runs_of_marks_fold_like_short_ones() -> None:
    marks = "\u0301\u0323\u0345\u05b0\u3099"
    letters = "".join(char + marks * repeat for char in "aか" for repeat in (1, 20))

    assert fold(letters * 60) == fold(letters) * 60


def test_every_letter_and_digit_there_is_can_be_found() -> None:
    lost = set()
    for char in map(chr, range(sys.maxunicode + 1)):
        kind = unicodedata.category(unicodedata.normalize("NFKC", char)[0])
        if kind in ("Lu", "Ll", "Lo", "Nd", "Nl") and not terms(char):
            lost.add(char)

    assert lost == set("\u115f\u1160\u3164\uffa0™℠"), (
        "fillers of syllable blocks, and signs that only look like letters"
    )


@pytest.mark.parametrize("kind", ["Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp", "Po", "Ps"])
def test_what_is_no_letter_digit_or_picture_parts_or_vanishes(kind: str) -> None:
    chars = [chr(code) for code in range(0x3000) if unicodedata.category(chr(code)) == kind] or ["\ud800", "\ue000"]
    chars = [char for char in chars if unicodedata.normalize("NFKC", char) == char]

    assert all(terms(char) == [] for char in chars)


@pytest.fixture
def index() -> sqlite3.Connection:
    punctuation = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum() and chr(code) not in "'\"")
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(terms, tokenize=\"ascii tokenchars '{punctuation}'\")")
    connection.execute("CREATE VIRTUAL TABLE held USING fts5vocab(t, row)")
    return connection


@pytest.mark.parametrize("text", [" ".join(SNIPPETS), "".join(SNIPPETS)])
def test_an_index_that_splits_at_spaces_takes_terms_as_they_are(index: sqlite3.Connection, text: str) -> None:
    index.execute("INSERT INTO t VALUES (?)", (" ".join(terms(text)),))

    assert {term for (term,) in index.execute("SELECT term FROM held")} == set(terms(text))
    for term in terms(text):
        assert index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (f'"{term}"',)).fetchone() == (1,)


def test_threads_agree() -> None:
    texts = [f"word{number} Name{number % 97} src/file{number}.py" for number in range(3_000)]
    expected = [terms(text) for text in texts]
    found: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: found.append([terms(text) for text in texts])) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [expected] * 4


def test_more_words_than_are_remembered_are_still_read() -> None:
    numbers = range(100_000)

    assert [terms(f"x{number}") for number in numbers] == [[f"x{number}"] for number in numbers]
    assert terms("x0 x99999") == ["x0", "x99999"]
