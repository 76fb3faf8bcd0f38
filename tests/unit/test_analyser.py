"""The terms of texts and questions, and the stems of words."""

import json
import random
import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import HERE, samples

from pieria.language.analyser import STOP_WORDS, QueryTerm, marks, phrases, query_terms, spans, terms, tokenizer
from pieria.language.analyser.fold import fold, fold_aligned
from pieria.language.analyser.stem import IRREGULAR, KEPT, stem

SAMPLES, STEMS = samples("terms"), samples("stems")
PAGE = Path(__file__).parents[2] / "docs" / "text.md"


def telling(text: str) -> list[str]:
    return [found.term for found in query_terms(text) if not found.stop]


def test_a_text_gives_its_terms_in_order() -> None:
    expected = SAMPLES["terms"]
    assert {text: " ".join(terms(text)) for text in expected} == expected
    assert {text: " ".join(span.term for span in spans(text)) for text in expected} == expected
    for text in ("", " ", "\n\t\u3000", "!!! ... --- ???", "\ud800", "\x00\x01", "\u202e\u200d\ufeff", "\u0301"):
        assert (terms(text), spans(text)) == ([], [])
    assert terms("here\ud800right\x00end") == ["here", "right", "end"]
    assert terms("no no NO") == ["no", "no", "no"]


def test_a_long_word_keeps_its_beginning_and_its_identity() -> None:
    one, same, other = terms("a" * 65 + "b"), terms("A" * 65 + "B"), terms("a" * 65 + "c")
    assert one == same != other
    assert len(one[0]) == 64
    assert one[0].startswith("a" * 40)
    assert terms("b" * 64) == ["b" * 64]
    found = terms("_".join(["remember", "every", "spoken", "word"] * 5))
    assert len(found[0]) == 64
    assert {"remember", "every", "speak", "word"} <= set(found)


def test_spans_point_into_the_original_text() -> None:
    text = "See src/ﬁles.ts, cafe\u0301 東京 and don’t"
    places = "see=See src/files.ts=src/ﬁles.ts src=src files.ts=ﬁles.ts file=ﬁles ts=ts cafe=cafe\u0301 東=東"
    found = " ".join(f"{term}={text[start:end]}" for term, start, end in spans(text))
    assert found == f"{places} 東京=東京 京=京 and=and dont=don’t"
    coloured = "see \x1b[31mre\x1b[1md\x1b[0m boats"
    assert [coloured[start:end] for _, start, end in spans(coloured)] == ["see", "re\x1b[1md", "boats"]
    assert marks(coloured, {"boat"}) == [(coloured.index("boats"), "boat")]


def test_forms_of_a_word_share_a_stem_and_other_words_do_not() -> None:
    for words in STEMS["together"].splitlines():
        assert len({stem(word) for word in words.split()}) == 1, words
    for words in STEMS["apart"].splitlines():
        assert len({stem(word) for word in words.split()}) == len(words.split()), words
    kept = ["a", "i", "x", "db", "ui", "os", "js", "ts", "go", "as", "a" * 30 + "ing"]
    assert [stem(word) for word in kept] == kept
    assert stem("is") == "be"
    for word in ("bundesregierung", "strassenbahn", "maison", "ristorante", "corazon", "sauna", "werden", "ich"):
        assert word.startswith(stem(word)) and len(word) - len(stem(word)) <= 1
    assert {form: stem(form) for form in IRREGULAR} == {form: stem(base) for form, base in IRREGULAR.items()}
    assert {word: stem(word) for word in KEPT} == {word: word for word in KEPT}


def test_stop_words_of_a_question_are_marked() -> None:
    found = query_terms("What did the painter paint, and what's painted?")
    is_stop = {"what": True, "do": True, "the": True, "painter": False, "paint": False, "and": True}
    assert found == [QueryTerm(*each) for each in is_stop.items()]
    assert terms("What is it?") == ["what", "be", "it"]
    assert all(terms(word) for word in STOP_WORDS)
    assert {"the", "what", "be", "dont"} <= STOP_WORDS
    question = "Don't you think it's what they'd've said? I'm sure we'll, won't we?"
    assert telling(question) == ["think", "say", "sure"]
    for word in ("who", "it", "us", "am"):
        assert telling(f"the {word.upper()} report") == [*terms(word), "report"]
        assert telling(f"the {word} report") == ["report"]
        assert telling(f"THE {word.upper()} REPORT") == ["report"]


def test_a_question_looks_up_terms_that_find_texts() -> None:
    expected = SAMPLES["looked_up"]
    assert {text: [found.term for found in query_terms(text)] for text in expected} == expected
    assert [
        (question, text) for question, text in SAMPLES["finds"].items() if not set(telling(question)) & set(terms(text))
    ] == []


def test_quoted_passages_stand_together_in_their_texts() -> None:
    expected = SAMPLES["quoted"]
    assert {text: phrases(text) for text in expected} == {
        text: [terms(passage) for passage in passages] for text, passages in expected.items()
    }
    for phrase, text in SAMPLES["together"].items():
        [wanted] = phrases(f'"{phrase}"')
        held = terms(text)
        assert any(held[start : start + len(wanted)] == wanted for start in range(len(held))), phrase


def examples_of_the_page() -> list[tuple[str, str, bool]]:
    """Return (question, text, is it found) from every table of the page."""
    found: list[tuple[str, str, bool]] = []
    columns: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells[:1] == ["question"]:
            columns = cells
        elif cells and "`" in line:
            [question] = re.findall(r"`([^`]+)`", cells[0])
            for column, cell in zip(columns[1:], cells[1:], strict=True):
                found += [(question, text, column == "finds") for text in re.findall(r"`([^`]+)`", cell)]
    return found


def test_examples_of_the_page_are_true() -> None:
    examples = examples_of_the_page()
    assert len(examples) > 100
    assert {found for _, _, found in examples} == {True, False}
    for question, text, found in examples:
        asked = set(telling(question)) or {one.term for one in query_terms(question)}
        assert (not asked.isdisjoint(terms(text))) is found, (question, text)


ODD: dict[str, list[str]] = json.loads((HERE / "odd_texts.json").read_text())
SNIPPETS = ODD["snippets"]
any_text = st.text() | st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=3)).map("".join)
ascii_text = st.text(st.characters(codec="ascii", exclude_characters="\x1b")) | st.lists(
    st.sampled_from([snippet for snippet in SNIPPETS if snippet.isascii() and "\x1b" not in snippet])
    | st.text("aAbB19.-_'/: ", max_size=4)
).map("".join)


@given(any_text, st.integers(0, 3))
def test_terms_of_any_text_are_safe_and_have_places(text: str, nth: int) -> None:
    found, places = terms(text), spans(text)
    for term in found:
        assert 1 <= len(term) <= 64
        assert term.isprintable()
        assert not set(term) & set(" '\"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        term.encode()
    assert [span.term for span in places] == found
    assert all(0 <= span.start < span.end <= len(text) for span in places)
    wanted = set(found[nth::2])
    marked, whole = marks(text, wanted), [span for span in places if span.term in wanted]
    assert [term for _, term in marked] == [span.term for span in whole]
    assert all(start <= span.start for (start, _), span in zip(marked, whole, strict=True))
    assert marks(text, ()) == []
    asked = [term for term, _ in query_terms(text)]
    assert len(asked) == len(set(asked))
    assert set(asked) <= set(found)
    assert bool(asked) == bool(found)
    folded, starts, ends = fold_aligned(text)
    assert folded == fold(text)
    assert len(starts) == len(ends) == len(folded)


def stands_for_itself(char: str) -> bool:
    """Return False for an abbreviation in one character, such as ㏂ or Ⅷ: it cannot be sliced."""
    written_out = unicodedata.normalize("NFKC", char)
    return len(written_out) == 1 or written_out.islower()


@given(any_text.filter(lambda text: all(map(stands_for_itself, text))))
def test_a_slice_read_again_holds_its_term(text: str) -> None:
    for term, start, end in spans(text):
        assert term in terms(text[start:end])


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
    assert terms(word.upper()) == terms(word.capitalize()) == terms(word) == terms(plain)


@given(any_text, any_text)
def test_words_apart_do_not_affect_each_other(one: str, other: str) -> None:
    assert terms(f"{one} {other}") == terms(one) + terms(other)


@given(ascii_text)
def test_the_fast_path_for_plain_words_gives_the_same(text: str) -> None:
    assert terms(text) == [term for word in text.split() for term, _, _ in tokenizer.tokens(word)]


def test_long_runs_of_marks_fold_like_short_ones() -> None:
    many = "\u0301\u0323\u0345\u05b0\u3099"
    letters = "".join(char + many * repeat for char in "aか" for repeat in (1, 20))
    assert fold(letters * 60) == fold(letters) * 60


def test_exactly_letters_and_digits_can_be_found() -> None:
    """All but fillers of syllable blocks, and signs that only look like letters."""
    lost = set()
    for char in map(chr, (*range(0x4E00), *range(0x9FF0, sys.maxunicode + 1, 7), 0xFFA0)):
        kind = unicodedata.category(unicodedata.normalize("NFKC", char)[0])
        if kind in ("Lu", "Ll", "Lo", "Nd", "Nl") and not terms(char):
            lost.add(char)
    assert lost == set("\u115f\u1160\u3164\uffa0™℠")
    kinds = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp", "Po", "Ps"}
    chars = [char for char in map(chr, range(0x3000)) if unicodedata.category(char) in kinds] + ["\ud800", "\ue000"]
    assert [char for char in chars if unicodedata.normalize("NFKC", char) == char and terms(char)] == []


def endless(of: str) -> str:
    return of * (30_000 // len(of.encode(errors="surrogatepass")))


@pytest.mark.timeout(60)
def test_endless_texts_are_read_in_time() -> None:
    """Quadratic time would exceed the limit."""
    assert [word for word in ODD["one_word"] if len(terms(endless(word))) != 1] == []
    assert [nothing for nothing in ODD["no_word"] if terms(endless(nothing))] == []
    assert [row for row in ODD["many_words"] if len(terms(endless(row))) <= 100] == []
    for letter in ("a", "か", "ก"):
        for decoration in ("\u0301", "\u0301\u0323", "\u064b\u0650\u0323"):
            assert terms(letter + endless(decoration)) == [letter]
    for letter, signs in (("か", "\u3099"), ("ཀ", "\u0f75"), ("ก", "\u0e38\u0e48")):
        assert len(terms(letter + endless(signs))) == 1
    for quotes in ('"', '" ', "“", "«", "「a", '"a'):
        assert isinstance(phrases(endless(quotes)), list)
    assert len(terms("\ufdfa" * 2_000)) == 6_001
    letters = "aA1_-./\\:@#$+%'\",é漢かกิ👍🇩\u0301\u200d\u200b\ud800\x00 \u0915\u094d"
    text = "".join(random.Random(7).choices(letters, k=50_000))
    found = terms(text)
    assert [span.term for span in spans(text)] == found
    assert {one.term for one in query_terms(text)} <= set(found)
    assert isinstance(phrases(text), list)


def test_the_cache_of_words_is_bounded_and_threads_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer._Memory, "size", 100)
    numbers, late = range(1_000), range(800, 1_000)
    assert [terms(f"x{number}") for number in numbers] == [[f"x{number}"] for number in numbers]
    assert [terms(f"x{number} x0") for number in late] == [[f"x{number}", "x0"] for number in late]
    texts = [f"word{number} Name{number % 97} src/file{number}.py" for number in range(500)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: [*map(terms, texts)], range(4))) == [[*map(terms, texts)]] * 4
