"""The intent of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.asks import KINDS, asks

WANTED = [
    ("In what order did I visit the three museums?", "order"),
    ("List the features in the order in which I brought them up.", "order summary"),
    ("Which came first, the move or the wedding?", "order which"),
    ("What did we do first and then next?", "order"),
    ("Give me a chronological account of the project", "order request"),
    ("put my trips in order by date", "order"),
    ("Summarise our talks about the garden", "summary"),
    ("Can you give me an overview of the migration?", "summary request"),
    ("What do you know about Maya?", "summary"),
    ("Tell me everything about the trip", "summary"),
    ("How has my view of the plan changed?", "summary how update"),
    ("What are all the books she read?", "summary"),
    ("List every restaurant I mentioned", "summary"),
    ("How many dogs does Ben have?", "count"),
    ("how often do I run", "count"),
    ("When did Maya move to Oslo?", "when"),
    ("what year was it", "when"),
    ("Where is the spare key?", "where"),
    ("Which city did she visit?", "where which"),
    ("Who taught me to swim?", "who"),
    ("Whose bike was stolen?", "who"),
    ("Which of the two did I buy?", "which"),
    ("Why did he quit?", "why"),
    ("How did she get there?", "how"),
    ("Did Maya move?", "yes-no"),
    ("So, is the server up?", "yes-no"),
    ("Haven't I told you?", "yes-no"),
    ("Write a poem about autumn.", "request"),
    ("Could you please suggest a restaurant?", "request"),
    ("help me plan the party", "request"),
    ("I'd like a recipe. Recommend something quick.", "request"),
    ("What should I cook tonight?", "request"),
    ("How can I fix this error?", "request how"),
    ("Any tips for the interview?", "request"),
    ("Where does she work now?", "where update"),
    ("What is my current address?", "update"),
    ("Does he still live in Rome?", "yes-no update"),
    ("What's the latest version we use?", "update"),
    ("Did I change my dentist?", "yes-no update"),
]


@pytest.mark.parametrize(("question", "kinds"), WANTED)
def test_what_a_question_wants(question: str, kinds: str) -> None:
    assert asks(question) == set(kinds.split())


def test_every_kind_is_asked_somewhere() -> None:
    assert {kind for _, kinds in WANTED for kind in kinds.split()} == set(KINDS)


@pytest.mark.parametrize(
    "text", ["", "Maya", "東京", "the whole wheat bread", "I know snow", "!?", "the firstborn thenceforth"]
)
def test_what_asks_nothing_known_is_of_no_kind(text: str) -> None:
    assert asks(text) == set()


def test_what_lies_in_the_middle_of_a_long_question_is_what_it_is_about() -> None:
    assert asks("Summarise this: " + "how many " * 1_000 + ". Where?") >= {"summary", "where"}
    assert asks("x " * 3_000 + "how many" + " x" * 3_000) == set()


@given(st.text(st.characters(codec="ascii")) | st.lists(st.sampled_from([text for text, _ in WANTED])).map(" ".join))
def test_capitals_make_no_difference(text: str) -> None:
    assert asks(text.upper()) == asks(text.lower()) <= set(KINDS)
