"""Episodes of whole days: they turn where the day does, whoever embeds."""

from pathlib import Path

from tests.learning.turning import Counted, boundaries, days_of, f1, written

from pieria.doors.bench.datasets import Conversation
from pieria.models import FLOOR, embedder

WORKDAYS = Path(__file__).with_name("workdays")
TALKS = 3


def talk(number: int) -> Conversation:
    said = [
        {"author": f"{side}{number}", "text": f"{side}{number}: {number} {turn}"} for turn in range(20) for side in "ab"
    ]
    return Conversation(str(number), said=said)


def test_a_day_of_work_is_cut_by_rules_alone_where_it_turns_to_something_else() -> None:
    day = written(WORKDAYS / "clinic.txt")
    assert boundaries(day.steps, embedder(FLOOR, models=Path())) == day.cuts


def test_on_another_day_every_turn_is_found() -> None:
    day = written(WORKDAYS / "release.txt")
    assert day.cuts <= boundaries(day.steps, embedder(FLOOR, models=Path()))


def test_a_made_day_is_of_stretches_and_says_where_each_begins() -> None:
    for day in days_of([talk(number) for number in range(TALKS)], 5, seed=1):
        of_talk = [observation.split()[0] for observation, _ in day.steps]
        begins = {at for at in range(1, len(of_talk)) if of_talk[at] != of_talk[at - 1]}
        assert day.cuts == begins
        assert not any(":" in text for step in day.steps for text in step), "no name stands in front"


def test_what_is_found_is_counted_over_all_days() -> None:
    assert f1([Counted(1, 1, 2), Counted(1, 3, 2)]) == 0.5
    assert f1([Counted(0, 0, 0)]) == 0.0
