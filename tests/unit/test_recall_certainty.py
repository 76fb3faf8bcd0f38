"""The confidence of an answer."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recall_making import ASKED, Evidence, Held, features_of, made, pool_of

from pieria.language.expected import expected
from pieria.recall.query import Asked
from pieria.recall.scores import WEIGHTS, Why, confidence
from pieria.record.value import alone


def unread(numbers: Sequence[int]) -> list[str | None]:
    return [None for _ in numbers]


def sure(*found: Why, named: tuple[bool, ...] = (), turns: bool = True, asked: Asked = ASKED) -> float:
    columns = {name: np.array([why.get(name, 0.0) for why in found]) for name in WEIGHTS}
    by_named = named or (False,) * len(found)
    pool = [
        Evidence((0, row), f"m{row}", Held(), is_turn=turns, by_named=by_named[row], dense=float(columns["dense"][row]))
        for row in range(len(found))
    ]
    return confidence(asked, columns, pool_of(pool), unread)


def test_it_is_not_sure_of_nothing() -> None:
    assert sure() == 0.0


@pytest.mark.parametrize("turns", [True, False])
def test_more_and_better_evidence_is_more_certain(turns: bool) -> None:
    weak, strong = {"dense": 0.2, "lexical": 0.2}, {"dense": 0.7, "lexical": 1.0, "cover": 1.0}
    certain = [sure(*[found] * 50, turns=turns) for found in (weak, strong)]
    assert 0 < certain[0] < certain[1] < 1


def test_the_ten_best_turns_make_it_sure_whatever_else_was_found() -> None:
    strong = {"dense": 0.7, "lexical": 1.0}
    body = 4.5 * (0.4 * 0.7 + 0.25) - 3.5
    assert sure(*[{}] * 40, *[strong] * 10) == pytest.approx(1 / (1 + math.exp(-body)))
    assert sure(*[{}] * 90, *[strong] * 10) == sure(*[{}] * 40, *[strong] * 10)


def test_one_turn_of_a_few_that_answers_is_nearly_enough() -> None:
    answers, beside = {"dense": 0.65, "cover": 1.0}, {"dense": 0.05}
    few, more, many = (sure(*[beside] * number, answers) for number in (5, 25, 60))
    assert few > 0.8 > more > many
    assert sure(*[beside] * 5) < 0.1


def test_one_note_that_answers_is_enough() -> None:
    answers, beside = {"dense": 0.65, "cover": 1.0}, {"dense": 0.05}
    assert sure(*[beside] * 9, answers, turns=False) > sure(answers, turns=False) > 0.8
    assert sure(*[beside] * 9, turns=False) < 0.1


def test_a_note_is_an_answer_by_how_far_it_is_ahead_of_others() -> None:
    lead, field = {"dense": 0.6}, {"dense": 0.55}
    assert sure(lead, *[field] * 3, turns=False) < sure(lead, turns=False)
    assert sure({"dense": 0.9}, {"dense": 0.9}, turns=False) < sure({"dense": 0.9}, {"dense": 0.2}, turns=False)


def test_what_only_shares_the_name_is_no_answer() -> None:
    """A person's name brings all notes on that person near to any question about them."""
    columns = {name: np.zeros(2) for name in WEIGHTS} | {"dense": np.array([0.7, 0.3]), "entity": np.ones(2)}
    near, far = (
        [Evidence((0, row), f"m{row}", Held(), dense=0.7, bare=bare) for row, bare in enumerate(each)]
        for each in ((0.5, 0.2), (0.2, 0.1))
    )
    named = replace(ASKED, entities=[frozenset({"maya"})])
    assert (
        confidence(named, columns, pool_of(near), unread) > 0.6 > 0.4 > confidence(named, columns, pool_of(far), unread)
    )
    nobody = columns | {"entity": np.zeros(2)}
    assert confidence(named, nobody, pool_of(near), unread) < 0.4


def test_what_does_not_hold_what_is_asked_for_is_no_answer() -> None:
    columns = {name: np.zeros(2) for name in WEIGHTS} | {"dense": np.array([0.6, 0.3]), "lexical": np.array([1.0, 0.2])}
    asked = replace(ASKED, expects=expected("How much does the scanner cost?"))

    def told(*texts: str | None) -> float:
        pool = [Evidence((0, row), f"m{row}", Held(), dense=0.6) for row in range(len(texts))]
        return confidence(asked, columns, pool_of(pool), lambda numbers: [texts[number] for number in numbers])

    answer = told("The scanner was 340.", "The kettle whistles.")
    elsewhere = told("The scanner needs a restart.", "The kettle was 20.")
    nowhere = told("The scanner needs a restart.", "The kettle whistles.")
    assert answer == told(None, None) > 0.5 > elsewhere > nowhere


def test_it_is_less_sure_where_the_words_fit_somebody_else() -> None:
    fits, fits_not = {"lexical": 1.0, "cover": 0.9, "author": 1.0}, {"lexical": 0.2, "cover": 0.1, "author": 0.0}
    about_the_named = sure(fits, fits_not, named=(True, False))
    about_another = sure(fits, fits_not, named=(False, True))
    about_anyone = sure(fits, fits_not, named=(False, False))
    assert about_another < about_anyone < about_the_named


@pytest.mark.parametrize("by_words", [True, False])
def test_a_summary_bears_nothing_out_unless_there_is_nothing_else(by_words: bool) -> None:
    def one(row: int, is_summary: bool) -> Evidence:
        return Evidence((0, row), f"m{row}", Held(), is_summary=is_summary, dense=None if by_words else 0.1)

    nothing = {name: np.zeros(2) for name in WEIGHTS}
    columns = nothing | {"dense": np.array([0.1, 0.8]), "cover": np.array([0.1, 1.0])}
    both, alone = [one(0, False), one(1, True)], [one(0, True), one(1, True)]
    first = {name: values[:1] for name, values in columns.items()}
    assert (
        confidence(ASKED, columns, pool_of(both), unread) == confidence(ASKED, first, pool_of(both[:1]), unread) < 0.2
    )
    assert confidence(ASKED, columns, pool_of(alone), unread) > 0.9


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_it_is_never_more_than_sure(seed: int, size: int) -> None:
    asked, pool = made(seed, size)
    assert 0.0 <= confidence(asked, features_of(asked, pool), pool_of(pool, asked), unread) <= 1.0


@pytest.mark.parametrize("alike", [-1e6, float("-inf"), float("nan")])
def test_a_likeness_beyond_all_measure_is_no_error(alike: float) -> None:
    assert 0 <= alone(alike, 0.0) < 1e-300
