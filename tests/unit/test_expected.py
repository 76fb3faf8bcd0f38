"""Parsing an expected answer, and checking a text for it."""

import pytest

from pieria.language.expected import expected

HELD = """
What is Nadia's phone number? > Call her on 0171 445 22. > Nadia works at berth 4.
What is Ravi's email address? > Write to ravi@example.org. > Ravi owns the pipeline.
What is the lock code? > It opens with 4417. > The lock was changed.
What is the dog's name? > We call the dog Biscuit. > The dog barks through the lesson.
What is the restaurant called? > That was the Blue Heron. > The restaurant in Alfama only takes cash.
When is the mock exam? > It is in three weeks. > He's got his mock exam in the sports hall.
How many cats has Ann? > Ann has seventeen cats. > Ann loves cats.
What time does the bus go? > The bus leaves at 7:10. > The bus is full.
How old is Milena? > Milena is nine. > Milena lives with another family.
What did the rings cost? > The rings were 800. > The rings are being engraved.
Who feeds Gerald? > Linnea feeds him. > Gerald gets flour in the walk-in.
Who drove me? > My sister drove. > The drive was long.
Where are the keys? > Behind the canteen door. > Keys rust.
Which hospital did I go to? > The hospital was St. Mary's. > The hospital was cold.
Which sport is off limits? > No swimming. > Sport is healthy.
"""
CASES = [tuple(part.strip() for part in line.split(">")) for line in HELD.strip().splitlines()]


@pytest.mark.parametrize(("question", "answer", "beside"), CASES)
def test_an_answer_holds_what_is_asked_for_and_what_is_beside_it_does_not(
    question: str, answer: str, beside: str
) -> None:
    wanted = expected(question)
    assert wanted is not None
    assert wanted.is_in(answer)
    assert not wanted.is_in(beside)


@pytest.mark.parametrize(
    "question",
    ["", "Why is Kyle in the first row?", "How do I get paid?", "Did we win?", "When did she move?", "Wo wohnt Maya?"],
)
def test_of_some_questions_it_cannot_be_told(question: str) -> None:
    assert expected(question) is None


@pytest.mark.parametrize("text", ["", "?", "Maya", "Berth 4 is closed.", "How many? Who? Where?"])
def test_the_words_of_the_question_answer_nothing(text: str) -> None:
    wanted = expected("What is the phone number of Maya at berth 4?")
    assert wanted is not None
    assert not wanted.is_in(text)
    named = expected("Who is Maya?")
    assert named is not None
    assert not named.is_in("Maya is Maya.")
