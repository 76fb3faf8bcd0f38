"""The intent and subject of a question, the form of its answer, and the summary of a text at a glance."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.asks import KINDS, asks, subject
from pieria.language.expected import expected
from pieria.language.glance import END, SHORT, glance, speaker

SAMPLES = samples("questions")


# --- intent and subject


def test_the_kinds_of_questions_are_recognised() -> None:
    kinds = {question: set(names.split()) for question, names in SAMPLES["kinds"].items()}
    assert {question: asks(question) for question in kinds} == kinds
    assert {kind for names in kinds.values() for kind in names} == set(KINDS)


def test_other_texts_ask_nothing() -> None:
    for text in ("", "Maya", "東京", "the whole wheat bread", "I know snow", "!?", "the firstborn thenceforth"):
        assert asks(text) == set(), text


def test_a_long_question_is_read_at_its_beginning_and_end() -> None:
    assert asks("Summarise this: " + "how many " * 1_000 + ". Where?") >= {"summary", "where"}
    assert asks("x " * 3_000 + "how many" + " x" * 3_000) == set()


@given(st.text(st.characters(codec="ascii")) | st.lists(st.sampled_from(sorted(SAMPLES["kinds"]))).map(" ".join))
def test_capitals_make_no_difference(text: str) -> None:
    assert asks(text.upper()) == asks(text.lower()) <= set(KINDS)


def test_the_subject_of_a_request_for_an_overview() -> None:
    subjects = SAMPLES["subjects"]
    assert {asked: subject(asked) or "" for asked in subjects} == subjects


# --- answers


def test_only_an_answer_holds_the_thing_asked_for() -> None:
    for question, answer, beside in SAMPLES["answers"]:
        wanted = expected(question)
        assert wanted is not None, question
        assert wanted.is_in(answer), question
        assert not wanted.is_in(beside), question


def test_some_questions_have_no_form_of_answer() -> None:
    for question in ("", "Why is Kyle in the first row?", "How do I get paid?", "Did we win?", "When did she move?"):
        assert expected(question) is None, question
    assert expected("Wo wohnt Maya?") is None


def test_words_of_the_question_are_no_answer() -> None:
    wanted, named = expected("What is the phone number of Maya at berth 4?"), expected("Who is Maya?")
    assert wanted is not None and named is not None
    assert not any(wanted.is_in(text) for text in ("", "?", "Maya", "Berth 4 is closed.", "How many? Who? Where?"))
    assert not named.is_in("Maya is Maya.")


# --- at a glance


def test_a_text_asks_or_names_a_time() -> None:
    expected = {
        "Where did we put the keys?": (True, False),
        "「Where?」 she said, and meant it.": (True, False),
        "We moved to Lisbon last spring.": (False, True),
        "Did it ship on the 3rd? I was away.": (True, True),
        "He asked: did it ship? " + "And then nobody said a word about it. " * 3: (False, False),
        "Back in 1998 nobody asked.": (False, True),
        "The lasting impression is what counts.": (False, False),
        "": (False, False),
        "Really? " + "x" * (SHORT - 9): (True, False),
        "Really? " + "x" * SHORT: (False, False),
    }
    seen = {text: glance(text[:4_000], text[-END:], len(text)) for text in expected}
    assert {text: (found.asks, found.tells_time) for text, found in seen.items()} == expected


def test_texts_with_the_same_end_are_recognised() -> None:
    one, same, other = (glance(text, text[-END:], len(text)) for text in ("so it ends", "so it ends", "so it end!"))
    assert one.ending == same.ending != other.ending
    assert glance("Ada: hello", "hello", 10).speaker == "Ada"


def test_the_name_before_the_first_colon_speaks() -> None:
    speakers = {
        "Caroline: I went to a support group.": "Caroline",
        "**Ada Lovelace:** it computes.": "Ada Lovelace",
        "O'Neil: no.": "O'Neil",
        "太郎： はい。": "太郎",
    }
    others = (
        *("Next: call the plumber.", "user: hello", "Assistant: hello", "I told Ada: no.", "caroline: hi"),
        *("https://example.org", "Ada:no", "12:30 we met", ""),
    )
    wanted = speakers | dict.fromkeys(others)
    assert {begins: speaker(begins) for begins in wanted} == wanted
