"""The intent and subject of a question, the form of its answer, and the summary of a text at a glance."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.asks import KINDS, asks, subject
from pieria.language.expected import expected
from pieria.language.glance import END, SHORT, glance, speaker

SAMPLES = samples("questions")


def test_the_kinds_of_questions_are_recognised() -> None:
    kinds = {question: set(names.split()) for question, names in SAMPLES["kinds"].items()}
    assert {question: asks(question) for question in kinds} == kinds
    assert {kind for names in kinds.values() for kind in names} == set(KINDS)
    for text in ("", "Maya", "東京", "the whole wheat bread", "I know snow", "!?", "the firstborn thenceforth"):
        assert asks(text) == set(), text
    assert asks("Summarise this: " + "how many " * 1_000 + ". Where?") >= {"summary", "where"}
    assert asks("x " * 3_000 + "how many" + " x" * 3_000) == set()
    subjects = SAMPLES["subjects"]
    assert {asked: subject(asked) or "" for asked in subjects} == subjects


@given(st.text(st.characters(codec="ascii")) | st.lists(st.sampled_from(sorted(SAMPLES["kinds"]))).map(" ".join))
def test_capitals_make_no_difference(text: str) -> None:
    assert asks(text.upper()) == asks(text.lower()) <= set(KINDS)


def test_only_an_answer_holds_the_thing_asked_for() -> None:
    for question, answer, beside in SAMPLES["answers"]:
        wanted = expected(question)
        assert wanted is not None, question
        assert wanted.is_in(answer), question
        assert not wanted.is_in(beside), question
    for question in ("", "Why is Kyle in the first row?", "How do I get paid?", "Did we win?", "When did she move?"):
        assert expected(question) is None, question
    assert expected("Wo wohnt Maya?") is None
    wanted, named = expected("What is the phone number of Maya at berth 4?"), expected("Who is Maya?")
    assert wanted is not None and named is not None
    assert not any(wanted.is_in(text) for text in ("", "?", "Maya", "Berth 4 is closed.", "How many? Who? Where?"))
    assert not named.is_in("Maya is Maya.")


def test_a_text_at_a_glance_has_a_speaker_and_an_intent() -> None:
    long, longer = "Really? " + "x" * (SHORT - 9), "Really? " + "x" * SHORT
    expected = SAMPLES["glances"] | {long: [True, False], longer: [False, False]}
    seen = {text: glance(text[:4_000], text[-END:], len(text)) for text in expected}
    assert {text: [found.asks, found.tells_time] for text, found in seen.items()} == expected
    one, same, other = (glance(text, text[-END:], len(text)) for text in ("so it ends", "so it ends", "so it end!"))
    assert one.ending == same.ending != other.ending
    assert glance("Ada: hello", "hello", 10).speaker == "Ada"
    wanted = SAMPLES["speakers"] | dict.fromkeys(SAMPLES["no_speakers"])
    assert {begins: speaker(begins) for begins in wanted} == wanted
