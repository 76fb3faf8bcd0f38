"""The order of hits: best first, an overview spread over its sessions, copies folded, places kept for rules."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recall_making import ASKED, Evidence, arranged, by_worth, made, one, scored, spread

from pieria.recall.scores import KEPT, KEPT_FROM, MOST_SPREAD, POLICIES, WEIGHTS, Arranged

OVERVIEW = replace(ASKED, is_overview=True)
DOING = replace(ASKED, heeds_rules=True)


def falling(pool: Sequence[Evidence]) -> list[float]:
    """Return falling scores for a pool in order."""
    return [1 - number / 100 for number in range(len(pool))]


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_everybody_stands_in_the_order_once_or_is_a_copy_of_one_who_does(seed: int, size: int) -> None:
    asked, pool = made(seed, size)
    _, worth = scored(asked, pool, POLICIES["hybrid"])
    found = arranged(asked, pool, worth)
    folded = [copy for copies in found.copies.values() for copy in copies]
    assert sorted([*found.order, *folded]) == list(range(size))
    for shown, copies in found.copies.items():
        assert shown in found.order
        assert all(pool[copy].copy_of == pool[shown].copy_of is not None for copy in copies)
        assert [worth[shown], *(worth[copy] for copy in copies)] == sorted(
            [worth[number] for number in (shown, *copies)], reverse=True
        )
    assert arranged(asked, pool, worth) == found


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_only_rules_stand_further_forward_than_they_are_worth_and_all_that_do_are_told(seed: int, size: int) -> None:
    asked, pool = made(seed, size)
    _, worth = scored(asked, pool, POLICIES["hybrid"])
    found = arranged(asked, pool, worth)
    by_score = [number for number in by_worth(pool, worth) if number in set(found.order)]
    forward = [number for place, number in enumerate(found.order) if by_score.index(number) > place]
    assert found.forward == forward
    assert all(pool[number].rule is not None for number in forward)
    assert len(forward) <= KEPT
    if not asked.heeds_rules:
        assert found.order == by_score


def test_of_equals_the_newer_row_stands_first_and_the_bank_before_the_user_s_own() -> None:
    assert arranged(ASKED, [one(1), one(3), one(2)], [0.5, 0.5, 0.5]) == Arranged([1, 2, 0], [], {})
    theirs = replace(one(9), key=(1, 9))
    assert by_worth([theirs, one(1)], [0.5, 0.5]) == [1, 0]


def test_what_is_worth_less_than_nothing_has_an_order_too() -> None:
    assert arranged(ASKED, [one(3), one(2), one(1)], [-0.9, 0.0, -0.1]).order == [1, 2, 0]


# --- an overview


def test_a_further_turn_of_a_session_costs_it_once_for_each_better_one_of_people() -> None:
    pool = [
        one(1, occasion="a"),
        one(2, occasion="a", by_agent=True),
        one(3, occasion="a"),
        one(4, occasion="b"),
        one(5),
        one(6),
        replace(one(7, occasion="a"), key=(1, 7)),
        one(8, occasion="a", by_agent=True),
    ]
    assert spread(pool, falling(pool)) == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    assert spread(pool, falling(pool)[::-1]) == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_a_long_session_costs_no_more_from_some_turn_on() -> None:
    pool = [one(row, occasion="a") for row in range(MOST_SPREAD + 5)]
    assert spread(pool, falling(pool)) == [*map(float, range(MOST_SPREAD)), *[float(MOST_SPREAD)] * 5]


def test_an_overview_takes_from_every_session_before_it_takes_more_from_one() -> None:
    pool = [one(row, occasion="a" if row < 5 else "b") for row in range(8)]
    worth = [0.90 - row / 100 for row in range(8)]
    cost = spread(pool, worth)
    after = [value + WEIGHTS["spread"] * further for value, further in zip(worth, cost, strict=True)]
    assert arranged(OVERVIEW, pool, after).order[:3] == [0, 1, 5]


# --- copies


def test_copies_stand_behind_the_best_of_them() -> None:
    pool = [one(1, copy_of="x"), one(2, copy_of="y"), one(3, copy_of="x"), one(4), one(5), one(6, copy_of="x")]
    found = arranged(ASKED, pool, [0.1, 0.5, 0.9, 0.3, 0.3, 0.2])
    assert found == Arranged([2, 1, 4, 3], [], {2: [5, 0]})


def test_a_copy_in_the_user_s_own_bank_is_one_too() -> None:
    pool = [replace(one(1, copy_of="x"), key=(1, 1)), one(1, copy_of="x")]
    assert arranged(ASKED, pool, [0.5, 0.5]) == Arranged([1], [], {1: [0]})


def test_a_folded_copy_takes_no_place_from_anybody() -> None:
    """The second rule would get a kept place if it were not a copy."""
    pool = [*(one(row) for row in range(10)), one(10, rule=0.9, copy_of="x"), one(11, rule=0.9, copy_of="x")]
    pool.append(one(12, rule=0.1))
    found = arranged(DOING, pool, falling(pool))
    assert found.order == [*range(KEPT_FROM), 10, 12, *range(KEPT_FROM, 10)]
    assert found.copies == {10: [11]}


# --- rules


def test_the_nearest_rules_have_places_kept_for_them() -> None:
    pool = [one(row) for row in range(20)] + [one(20 + n, rule=n / 10) for n in range(5)]
    worth = falling(pool)
    found = arranged(DOING, pool, worth)
    assert found.order[:KEPT_FROM] == list(range(KEPT_FROM))
    assert found.order[KEPT_FROM : KEPT_FROM + KEPT] == found.forward == [24, 23, 22]
    assert found.order[KEPT_FROM + KEPT :] == [*range(KEPT_FROM, 20), 20, 21]
    assert arranged(ASKED, pool, worth) == Arranged(list(range(25)), [], {})


def test_a_rule_that_leads_anyway_keeps_its_place() -> None:
    pool = [one(0, rule=0.9), *(one(row) for row in range(1, 20)), one(20, rule=0.1)]
    found = arranged(DOING, pool, falling(pool))
    assert found.order[0] == 0
    assert found.order[KEPT_FROM] == 20
    assert found.forward == [20]


def test_a_rule_that_passes_only_other_rules_is_told_as_well() -> None:
    pool = [*(one(row) for row in range(KEPT_FROM)), one(7, rule=0.1), one(8, rule=0.5), one(9)]
    found = arranged(DOING, pool, falling(pool))
    assert found.order[KEPT_FROM:] == [8, 7, 9]
    assert found.forward == [8]


def test_of_rules_that_are_as_near_the_better_is_taken() -> None:
    pool = [*(one(row) for row in range(10)), *(one(row, rule=0.0) for row in range(10, 15))]
    assert arranged(DOING, pool, falling(pool)).forward == [10, 11, 12]


def test_few_candidates_need_no_kept_places() -> None:
    pool = [one(0), one(1), one(2, rule=0.9)]
    assert arranged(DOING, pool, falling(pool)) == Arranged([0, 1, 2], [], {})
    assert arranged(DOING, [], []) == Arranged([], [], {})
