"""Episodes of whole days turn where the day turns, with any embedder."""

import json
from pathlib import Path

from benchmarks.datasets import Conversation
from benchmarks.learning.turns import Counted, Day, boundaries, days_of, f1, measured, written, written_days
from pieria.models import FLOOR, embedder

WORKDAYS = Path(__file__).with_name("workdays") / "tuning"


def test_rules_alone_find_where_a_day_of_work_turns() -> None:
    floor = embedder(FLOOR, models=Path())
    clinic, release = (written(WORKDAYS / f"{name}.txt") for name in ("clinic", "release"))
    assert boundaries(clinic.steps, floor) == clinic.cuts
    assert release.cuts <= boundaries(release.steps, floor)
    found = measured(written_days(WORKDAYS), floor, seed=1)
    assert min(found["precision"], found["recall"]) > 0.8


def test_written_day_turns_where_its_topic_does(tmp_path: Path) -> None:
    steps = [{"observation": f"{at}", "action": "go on", "topic": topic} for at, topic in enumerate([1, 1, 2, 1])]
    (tmp_path / "day1.json").write_text(json.dumps({"goal": "a day", "steps": steps}))
    assert written_days(tmp_path) == [Day(tuple((f"{at}", "go on") for at in range(4)), frozenset({2, 3}))]


def test_made_day_knows_where_each_stretch_begins() -> None:
    talks = []
    for number in range(3):
        said = [(f"{side}{number}", f"{number} {turn}") for turn in range(20) for side in "ab"]
        talks.append(Conversation(str(number), said=[{"author": who, "text": f"{who}: {text}"} for who, text in said]))
    for day in days_of(talks, 5, seed=1):
        of_talk = [observation.split()[0] for observation, _ in day.steps]
        assert day.cuts == {at for at in range(1, len(of_talk)) if of_talk[at] != of_talk[at - 1]}
        assert not any(":" in text for step in day.steps for text in step), "no name stands in front"


def test_boundaries_are_counted_over_all_days() -> None:
    assert f1([Counted(1, 1, 2), Counted(1, 3, 2)]) == 0.5
    assert f1([Counted(0, 0, 0)]) == 0.0
