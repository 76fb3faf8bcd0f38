"""The time of a statement with open bounds, and the remaining pieces of a fact that another replaces."""

from datetime import UTC, datetime

import pytest

from pieria.facts.predicates import Declaration
from pieria.facts.validity import BEGINNING, Held, Slot, Span, cut, span_of, stated_span
from pieria.record.changeset import FOREVER
from pieria.record.fact import Fact, fact_of, row_of
from pieria.record.time import moment

NOW = 100
DECLARED = 90


def held(begin: int, end: int, learnt: int = 0) -> Held:
    fact = Fact("f", "Maya", "lives_in", "Rome", moment(learnt))
    valid_from, valid_until = Span(begin, end).bounds()
    row = row_of(fact)._replace(valid_from=valid_from, valid_until=valid_until)
    return Held(fact_of(row, moment(learnt)), Span(begin, end), learnt)


def span(
    begin: int | None = None,
    end: int | None = None,
    *,
    same: list[Held] | None = None,
    others: list[Held] | None = None,
    single: bool = False,
) -> Span:
    slot = Slot(same or [], others or [], Declaration("lives_in", DECLARED) if single else None)
    return stated_span(begin, end, slot, NOW)


def test_nothing_known_and_nothing_given_is_open_on_both_sides() -> None:
    assert span() == Span(BEGINNING, FOREVER)


def test_what_is_known_to_hold_now_keeps_its_bounds() -> None:
    assert span(same=[held(50, 150)]) == Span(50, 150)
    assert span(60, same=[held(50, 150)]) == Span(60, 150)
    assert span(40, same=[held(50, 150)]) == Span(40, 150)


def test_what_had_ended_begins_anew_now() -> None:
    assert span(same=[held(10, 20)]) == Span(NOW, FOREVER)


def test_what_is_yet_to_begin_may_have_held_ever_before() -> None:
    assert span(same=[held(200, 300)]) == Span(BEGINNING, FOREVER)


def test_an_end_that_is_over_with_no_beginning() -> None:
    assert span(end=50) == Span(BEGINNING, 50)
    assert span(end=50, same=[held(30, 50)]) == Span(30, 50)
    assert span(end=50, same=[held(10, 20)]) == Span(20, 50)
    assert span(end=50, others=[held(10, 20)], single=True) == Span(20, 50)
    assert span(end=50, others=[held(40, FOREVER)], single=True) == Span(40, 50)


def test_one_value_at_a_time_begins_now() -> None:
    assert span(single=True) == Span(NOW, FOREVER)
    assert span(end=300, single=True) == Span(NOW, 300)


def test_one_value_at_a_time_ends_where_the_next_one_begins() -> None:
    others = [held(20, 60), held(60, FOREVER)]
    assert span(5, others=others, single=True) == Span(5, 20)
    assert span(20, others=others, single=True) == Span(20, 60)
    assert span(30, others=others, single=True) == Span(30, 60)
    assert span(70, others=others, single=True) == Span(70, FOREVER)
    assert span(5, 30, others=others, single=True) == Span(5, 30)
    assert span(5, others=others, same=[held(90, FOREVER)], single=True) == Span(5, 20)


def test_a_value_without_beginning_from_before_the_declaration_counts_from_when_it_was_learnt() -> None:
    assert span(10, others=[held(BEGINNING, FOREVER, learnt=80)], single=True) == Span(10, 80)
    assert span(85, others=[held(BEGINNING, FOREVER, learnt=80)], single=True) == Span(85, FOREVER)
    assert span(10, others=[held(BEGINNING, 70, learnt=80)], single=True) == Span(10, FOREVER)
    assert span(10, others=[held(BEGINNING, FOREVER, learnt=95)], single=True) == Span(10, FOREVER)


def test_what_was_learnt_on_a_clock_that_ran_ahead_counts_from_now() -> None:
    ahead = Slot([], [held(BEGINNING, FOREVER, learnt=NOW + 5)], Declaration("lives_in", NOW + 10))
    assert stated_span(10, None, ahead, NOW) == Span(10, NOW)


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        (Span(40, FOREVER), [Span(20, 40)]),
        (Span(0, 40), [Span(40, 60)]),
        (Span(30, 40), [Span(20, 30), Span(40, 60)]),
    ],
)
def test_a_cut_fact_keeps_its_id_in_the_first_piece(taken: Span, left: list[Span]) -> None:
    rows = cut(held(20, 60), taken)
    assert [span_of(fact_of(row, datetime.now(UTC))) for row in rows] == left
    assert [row.id == "f" for row in rows] == [True, False][: len(left)]
    assert {row.ended for row in rows} == {""}


def test_a_fact_of_which_nothing_is_left_is_removed_as_it_was() -> None:
    [row] = cut(held(20, 60), Span(20, 60))
    assert (row.id, row.ended, row.valid_from, row.valid_until) == ("f", "removed", 20, 60)
    assert row.reason
