"""The subgoal of rules: one wording while the work is about the same thing, another after it changes."""

from collections.abc import Sequence

import pytest

from pieria.language.packs import pack
from pieria.models.mind import StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.signs import BY_WORDS, SIGNS, Sight

BOOKING = (
    ("The booking page shows two slots at 14:00", "Open booking/slots.py to see how slots are built"),
    ("def slots(day): return regular + late", "Write a test of slots with an even day"),
    ("test_even_day FAILED: two slots at 14:00", "Drop from the late slots what is regular already"),
    ("41 tests passed", "Commit: no slot is offered twice"),
)
CONTAINER = ("CI is red: no space left on the device", "Look at the disk of the runner")


def lived(mind: RuleMind, *steps: tuple[str, str]) -> list[StepSeen]:
    seen: list[StepSeen] = []
    for observation, action in steps:
        subgoal = mind.subgoal("a day of work", None, observation, action, before=seen)
        seen.append(StepSeen(observation, action, subgoal=subgoal))
    return seen


def named_next(before: Sequence[StepSeen], observation: str, action: str, mind: RuleMind | None = None) -> str:
    return (mind or RuleMind()).subgoal("a day of work", None, observation, action, before=before)


def test_the_subgoal_stays_while_the_work_goes_on_with_the_same_thing() -> None:
    assert {step.subgoal for step in lived(RuleMind(), *BOOKING)} == {"see how slots are built"}


def test_where_the_work_turns_to_something_else_the_subgoal_is_another() -> None:
    assert named_next(lived(RuleMind(), *BOOKING), *CONTAINER) == "Look at the disk of the runner"


def test_a_step_that_says_that_it_turns_needs_more_to_hold_it() -> None:
    before = lived(RuleMind(), *BOOKING)
    goes_on = (
        "The archive of invoices has no index, and 19 of them lack a customer",
        "Commit the list of customers by city and of invoices by month",
    )
    assert named_next(before, *goes_on) == before[-1].subgoal
    assert named_next(before, f"Moving on: {goes_on[0]}", goes_on[1]) != before[-1].subgoal


def test_an_answer_to_what_was_asked_goes_on() -> None:
    asked = (*BOOKING[:3], ("41 tests passed", "Committed. Shall I deploy it?"))
    before = lived(RuleMind(), *asked)
    answer = ("Friday, please", "Deploying on Friday then, with a note to the front desk")
    assert named_next(before, *answer) == before[-1].subgoal
    assert named_next(lived(RuleMind(), *BOOKING), *answer) != before[-1].subgoal


@pytest.mark.parametrize(
    ("done", "settled"),
    [
        ("Open the file", 0.0),
        ("Merged it as #212. Next I look at the reminders", 0.5),
        ("The list is right: merged as #212", 1.0),
        ("Merged as #212. Shall I deploy it?", 0.0),
    ],
)
def test_what_ends_a_thing_is_told_from_what_was_done_last_unless_it_asks(done: str, settled: float) -> None:
    sight = Sight("Good morning", "Look at the disk", [StepSeen("41 tests passed", done)])
    assert SIGNS["settled"](sight) == settled


def test_each_sign_has_its_weight_with_somebody_who_embeds_and_without() -> None:
    weights = pack("turning")
    assert set(weights["by_meaning"]["signs"]) == set(SIGNS)
    assert set(weights["by_words"]["signs"]) == set(BY_WORDS)


@pytest.mark.parametrize(("alike", "goes_on"), [(1.0, True), (0.0, False)])
def test_what_is_alike_in_meaning_goes_on_with_other_words(alike: float, goes_on: bool) -> None:
    apart = pack("unrelated")["texts"]

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [vector(text) for text in texts]

    def vector(text: str) -> list[float]:
        if text in apart:
            return [float(text == other) for other in (*apart, "", "")]
        return [*[0.0] * len(apart), 1.0, 0.0] if alike or text not in CONTAINER else [*[0.0] * len(apart), 0.0, 1.0]

    mind = RuleMind(embed=embed)
    before = lived(mind, *BOOKING)
    assert (named_next(before, *CONTAINER, mind=mind) == before[-1].subgoal) is goes_on


def test_an_action_that_tells_nothing_is_named_by_what_was_observed() -> None:
    assert named_next((), "The invoice of May lacks its number.", "Certainly!") == "The invoice of May lacks its number"


def test_nothing_is_looked_up_ahead_and_the_same_steps_get_the_same_subgoals() -> None:
    steps = (*BOOKING, CONTAINER)
    whole = [step.subgoal for step in lived(RuleMind(), *steps)]
    assert [[step.subgoal for step in lived(RuleMind(), *steps[:n])] for n in range(len(steps))] == [
        whole[:n] for n in range(len(steps))
    ]
