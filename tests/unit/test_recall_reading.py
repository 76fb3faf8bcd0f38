"""What recall takes from a question before it asks any store."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.recall.reading import FULLY, PARTLY, reading
from pieria.record.time import micros

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


def test_terms_keep_their_order_and_neighbours_that_tell_something() -> None:
    read = reading("Where did the great heron nest?", NOW)
    assert read.considered == ["great", "heron", "nest"]
    assert read.order.index("great") < read.order.index("heron") < read.order.index("nest")
    assert {("great", "heron"), ("heron", "nest")} <= read.pairs
    assert ("did", "the") not in read.pairs


@pytest.mark.parametrize(
    ("question", "wanted", "heeds"),
    [
        ("Write an e-mail to the team about the release.", FULLY, True),
        ("Can you suggest a recipe for tonight?", FULLY, True),
        ("How should I structure the tests?", FULLY, True),
        ("Which framework suits my project?", PARTLY, True),
        ("Which framework suits the project?", PARTLY, False),
        ("When did Maya move to Porto?", 0.0, False),
        ("What did I say about the release?", 0.0, False),
        ("Summarise all we know of the release.", 0.0, False),
        ("In what order did I visit the cities?", 0.0, False),
    ],
)
def test_rules_are_heeded_where_something_is_to_be_done_for_the_asker(
    question: str, wanted: float, heeds: bool
) -> None:
    read = reading(question, NOW)
    assert (read.wants_done, read.may_heed_rules) == (wanted, heeds)


@pytest.mark.parametrize(
    ("question", "overview", "when"),
    [
        ("In what order did the cities come?", True, False),
        ("Give me a summary of the project.", True, False),
        ("When did the heron come?", False, True),
        ("What date was the launch?", False, True),
        ("Who saw the heron?", False, False),
    ],
)
def test_overviews_and_moments_are_told_apart(question: str, overview: bool, when: bool) -> None:
    read = reading(question, NOW)
    assert (read.is_overview, read.is_when) == (overview, when)


def test_times_are_read_as_spans() -> None:
    [day] = reading("What happened on 7 May 2023?", NOW).spans
    assert (day.since, day.until) == (
        micros(datetime(2023, 5, 7, tzinfo=UTC)),
        micros(datetime(2023, 5, 8, tzinfo=UTC)),
    )
    assert not day.yearly
    assert reading("What happened in May?", NOW).spans[0].yearly
    [yesterday] = reading("What happened yesterday?", NOW).spans
    assert yesterday.since == micros(datetime(2026, 3, 17, tzinfo=UTC))
    assert not yesterday.yearly
    assert reading("What happened before June 2023?", NOW).spans[0].since is None
    assert reading("What happened?", NOW).spans == ()


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read = reading(text, NOW)
    assert 0.0 <= read.wants_done <= 1.0
    assert not (read.is_overview and read.may_heed_rules)


def test_a_very_long_question_is_read_by_its_beginning() -> None:
    read = reading("Write a letter. " + "heron " * 200_000 + "in May 2023", NOW)
    assert read.wants_done == FULLY
    assert read.spans == ()
