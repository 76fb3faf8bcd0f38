"""Episodes of whole days turn where the day turns, with any embedder."""

import json
from pathlib import Path

from tests.learning.turning import Counted, Day, boundaries, days_of, f1, measured, written, written_days

from benchmarks.datasets import Conversation
from pieria.models import FLOOR, embedder

WORKDAYS = Path(__file__).with_name("workdays") / "tuning"
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


def test_most_turns_are_found_in_days_of_work_for_one_project_and_few_where_there_is_none() -> None:
    found = measured(written_days(WORKDAYS), embedder(FLOOR, models=Path()), seed=1)
    assert found["precision"] > 0.8
    assert found["recall"] > 0.8


def test_a_written_day_turns_where_its_topic_does(tmp_path: Path) -> None:
    topics = [1, 1, 2, 1]
    steps = [{"observation": f"{at}", "action": "go on", "topic": topic} for at, topic in enumerate(topics)]
    (tmp_path / "day1.json").write_text(json.dumps({"goal": "a day", "steps": steps}))
    assert written_days(tmp_path) == [Day(tuple((f"{at}", "go on") for at in range(4)), frozenset({2, 3}))]


def test_a_made_day_is_of_stretches_and_says_where_each_begins() -> None:
    for day in days_of([talk(number) for number in range(TALKS)], 5, seed=1):
        of_talk = [observation.split()[0] for observation, _ in day.steps]
        begins = {at for at in range(1, len(of_talk)) if of_talk[at] != of_talk[at - 1]}
        assert day.cuts == begins
        assert not any(":" in text for step in day.steps for text in step), "no name stands in front"


def test_what_is_found_is_counted_over_all_days() -> None:
    assert f1([Counted(1, 1, 2), Counted(1, 3, 2)]) == 0.5
    assert f1([Counted(0, 0, 0)]) == 0.0
