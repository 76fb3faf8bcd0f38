"""The subject of an overview, without the words that ask for an overview."""

import pytest

from pieria.language.asks import subject


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("Can you give me a summary of the meetings with Ada?", "meetings Ada"),
        ("Please summarise what we've said about the harbour over the past few months.", "said harbour"),
        ("List, in order, the topics of our conversations on beekeeping.", "beekeeping"),
        ("Walk me through the order in which I brought up repairs of the boat.", "repairs boat"),
    ],
)
def test_of_a_request_for_an_overview_its_subject_is_left(asked: str, left: str) -> None:
    assert subject(asked) == left


@pytest.mark.parametrize(
    "asked",
    [
        "What is the order status of my shoes?",
        "List all restaurants.",
        "Where does Ada walk?",
        "Give me an overview.",
        "",
    ],
)
def test_what_is_no_request_to_tell_what_was_said_stays_as_it_is(asked: str) -> None:
    assert subject(asked) is None
