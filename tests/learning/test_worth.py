"""How it is measured whether what was used is found the better for it."""

from tests.learning.worth import WORDS, Asked, _told, steps_of


def test_a_question_of_the_end_has_no_word_of_the_one_that_was_asked_in_use() -> None:
    told = "walnut cedar birch maple willow poplar linden hazel"
    [step] = steps_of([{"goal": "", "steps": [{"observation": told, "action": "common", "topic": 3}]}])
    assert (step.key, step.topic, len(step.words)) == ((0, 0), (0, 3), 2 * WORDS)
    assert not set(step.words[::2]) & set(step.words[1::2])


def test_the_interval_is_of_the_difference_and_drawn_over_needs() -> None:
    asked = [Asked("fresh", (0, need), 0.5, 1.0 if need else 0.5) for need in (0, 1, 1, 1)]
    told = _told(asked, 1)
    assert (told["questions"], told["needs"], told["policy"], told["similarity"]) == (4, 2, 0.5, 0.875)
    assert told["interval"] == [-0.5, 0.0]
