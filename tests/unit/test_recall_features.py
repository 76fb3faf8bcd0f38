"""The features of a candidate: a number for each reason to return it."""

import math
import random
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recall_making import (
    ASKED,
    DAY,
    OVERTURNED,
    Held,
    column,
    columns_of,
    features_of,
    held,
    made,
    micros,
    of_use,
    one,
)  # fmt: skip

from pieria.recall.features import LOOKED_BACK
from pieria.recall.query import Asked, Span, Stated
from pieria.recall.scores import FEATURES, OF_USE, WEIGHTS
from pieria.record.decay import Fading
from pieria.record.time import moment
from pieria.record.usage import Usage

NOW = micros(2026, 3, 18)
ASKED_NOW = replace(ASKED, now=NOW)


def test_nothing_has_no_features() -> None:
    assert all(len(values) == 0 for values in columns_of(ASKED, []).values())


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    """`spread` depends on an order, so it is computed later."""
    assert {*features_of(ASKED, []), "spread"} == set(WEIGHTS)
    assert set(of_use(ASKED, [], Fading())) == set(OF_USE)
    assert {*columns_of(ASKED, []), "spread"} == set(FEATURES)


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_a_candidate_s_features_do_not_depend_on_where_it_stands_in_the_pool(seed: int, size: int) -> None:
    asked, pool = made(seed, size)
    mixed = random.Random(seed).sample(pool, k=size)
    straight, shuffled = columns_of(asked, pool), columns_of(asked, mixed)
    assert straight.keys() == shuffled.keys()
    for name, values in straight.items():
        assert all(math.isfinite(value) for value in values)
        assert dict(zip([each.key for each in pool], values, strict=True)) == dict(
            zip([each.key for each in mixed], shuffled[name], strict=True)
        )


# --- words and meaning


def test_the_best_by_words_has_all_of_it_and_others_their_share() -> None:
    best, half, none = column("lexical", one(1, held(heron=1, nest=1)), one(2, held(nest=1)), one(3))
    assert best == 1.0
    assert half == pytest.approx(2.0 / 5.0)
    assert none == 0.0


def test_a_short_turn_leans_on_its_neighbours_and_a_long_text_less() -> None:
    telling = held(length=8, heron=1, nest=1)
    strong = one(1, telling, around=[(1, Held(8, 6))])
    short = one(2, Held(4, 4), around=[(-1, telling)])
    long = one(3, Held(400, 200), around=[(-1, telling)])
    far = one(4, Held(4, 4), around=[(-3, telling)])
    alone = one(5, Held(4, 4))
    leaning = column("lexical", strong, short, long, far, alone)
    assert leaning[0] >= leaning[1] > leaning[3] > leaning[2] > leaning[4] == 0.0


def test_a_session_is_worth_its_best_three() -> None:
    strong = held(heron=2, nest=2)
    good = [one(row, strong, occasion="a") for row in range(4)]
    lone = one(9, strong, occasion="b")
    other_bank = replace(one(10, strong, occasion="a"), key=(1, 10))
    unbound = one(11, strong)
    worth = column("session", *good, lone, other_bank, unbound)
    assert worth == pytest.approx([1.0] * 4 + [1 / 3] * 3)


def test_an_answer_is_what_follows_a_fitting_question_and_asks_nothing_itself() -> None:
    question = one(1, held(length=6, heron=1, nest=1), asks=True, around=[(1, Held())])
    reply = one(2, Held(4, 4), before=(0, 1), around=[(-1, question.held)])
    asked_back = one(3, Held(4, 4), before=(0, 1), asks=True, around=[(-1, question.held)])
    after_a_statement = one(4, Held(4, 4), before=(0, 2), around=[(-1, reply.held)])
    unknown = one(5, Held(4, 4), before=(0, 99), around=[(-1, Held())])
    worth = column("reply", question, reply, asked_back, after_a_statement, unknown)
    assert worth[1] > 0.9
    assert [worth[0], *worth[2:]] == [0.0] * 4


def test_a_turn_that_says_little_is_thin_and_a_note_is_not() -> None:
    rich, poor = (one(row, held(distinct=words, heron=1), is_turn=True) for row, words in ((1, 30), (2, 2)))
    note = one(3, held(distinct=2, heron=1))
    assert column("thin", rich, poor, note) == pytest.approx([math.exp(-6), math.exp(-2 / 5), 0.0])


def test_cover_is_the_share_of_the_question_that_the_text_holds() -> None:
    assert column("cover", one(1, held(heron=5)), one(2, held(heron=1, nest=1)), one(3)) == pytest.approx(
        [0.5, 5 / 6, 0]
    )


def test_meaning_is_told_as_it_is_and_a_passage_alone_is_its_own_window() -> None:
    pool = (one(1, dense=0.4, window=0.6), one(2, dense=0.3), one(3, window=0.0, dense=0.5), one(4, dense=-0.1))
    assert column("dense", *pool) == [0.4, 0.3, 0.5, -0.1]
    assert column("window", *pool) == [0.6, 0.3, 0.0, -0.1]


def test_what_was_not_embedded_yet_is_guessed_by_its_words_and_beside_what_was() -> None:
    holds, near, nothing = one(1, held(heron=1, nest=1)), one(2, dense=0.8), one(3)
    assert column("dense", holds, near, nothing) == pytest.approx([0.8 * (0.42 + 0.08 + 0.33 * 5 / 6), 0.8, 0.8 * 0.42])
    assert column("dense", one(1, held(heron=1)), one(2)) == [0.0, 0.0]
    # The only compared vector is off the subject; the answer may be among the others.
    assert column("dense", one(1), one(2, dense=0.1)) == pytest.approx([0.45 * 0.42, 0.1])


def test_a_long_text_is_as_near_as_its_beginning_more_than_as_its_nearest_passage() -> None:
    pool = (one(1, dense=0.5), one(2, dense=0.5, lead=0.6), one(3, dense=0.9, lead=0.1))
    assert column("dense", *pool) == pytest.approx([0.5, 0.6 * 0.6 + 0.4 * 0.5, 0.6 * 0.1 + 0.4 * 0.9])


def test_of_a_long_text_whose_beginning_was_not_embedded_that_is_estimated() -> None:
    pool = (one(1, Held(199, 90, {}), dense=0.5), one(2, Held(200, 90, {}), dense=0.5), one(3, Held(200, 90, {})))
    short, long, waiting = column("dense", *pool)
    assert short == 0.5
    assert long == pytest.approx(0.6 * 0.7 * 0.5 + 0.4 * 0.5)
    assert waiting == pytest.approx(0.5 * 0.42)


def test_by_a_beginning_is_estimated_how_near_the_rest_is() -> None:
    near, far, holds = one(1, lead=0.6), one(2, lead=0.1), one(3, held(heron=1, nest=1), lead=0.1)
    rest = [0.6, 0.1 + 0.7 * 0.1, 0.1 + 0.7 * 0.1 + 0.2 * 5 / 6]
    expected = [0.6 * lead + 0.4 * passage for lead, passage in zip([0.6, 0.1, 0.1], rest, strict=True)]
    assert column("dense", near, far, holds) == pytest.approx(expected)


def test_a_turn_without_a_window_is_as_near_as_it_and_its_neighbours_are_alone() -> None:
    turns = (one(1, dense=0.6), one(2, dense=0.1, before=(0, 1)), one(3, dense=0.5, window=0.3, before=(0, 2)))
    first, second, third = column("window", *turns)
    assert first == 0.6
    assert second == pytest.approx((0.2 * 0.1 + 0.22 * 0.6) / 0.42 * 1.13)
    assert third == 0.3


def test_what_is_quoted_counts_by_the_share_that_is_there() -> None:
    assert column("quoted", one(1, Held(10, 8, {}, quoted=1.0)), one(2, Held(10, 8, {}, quoted=0.5)), one(3)) == [
        1.0, 0.5, 0.0,
    ]  # fmt: skip


def test_words_that_follow_each_other_as_in_the_question_are_a_phrase() -> None:
    assert column("phrase", one(1, held(pairs=2)), one(2, held(pairs=1)), one(3)) == [1.0, 0.5, 0.0]


def test_who_said_it_and_that_an_agent_did_are_told_as_they_are() -> None:
    pool = (one(1, by_named=True), one(2, by_agent=True), one(3))
    assert column("author", *pool) == [1.0, 0.0, 0.0]
    assert column("agent", *pool) == [0.0, 1.0, 0.0]


def test_what_speaks_of_time_answers_when() -> None:
    pool = (one(1, held(heron=1, nest=1), tells_time=True), one(2, held(heron=1, nest=1)), one(3, tells_time=True))
    told = column("when", *pool, asked=replace(ASKED, is_when=True))
    assert told[0] > 0
    assert told[1:] == [0.0, 0.0]
    assert column("when", *pool) == [0.0] * 3


# --- time


@pytest.mark.parametrize(
    ("at", "fit"),
    [
        (micros(2023, 5, 7), 1.0),
        (micros(2023, 5, 8, 0), 1.0),
        (micros(2023, 5, 15, 0), math.exp(-1)),
        (micros(2023, 5, 6, 0), math.exp(-1)),
        (micros(2022, 5, 7), 0.0),
    ],
)
def test_a_date_fits_within_and_fades_after(at: int, fit: float) -> None:
    asked = replace(ASKED, spans=[Span(micros(2023, 5, 7, 0), micros(2023, 5, 8, 0))])
    assert column("date", one(1, at=at), asked=asked)[0] == pytest.approx(fit, abs=1e-9)


@pytest.mark.parametrize("year", [1999, 2022, 2023, 2024, 2031])
def test_a_day_of_no_year_is_meant_in_each(year: int) -> None:
    asked = replace(ASKED, spans=[Span(micros(2026, 5, 1, 0), micros(2026, 6, 1, 0), yearly=True)])
    assert column("date", one(1, at=micros(year, 5, 16)), one(2, at=micros(year, 8, 16)), asked=asked) == [
        1.0,
        pytest.approx(math.exp(-76.5 / 7), abs=1e-4),
    ]


@pytest.mark.parametrize("hours", [1, 6, 24, 240])
def test_what_was_said_at_a_time_counted_from_now_fits_within_and_less_the_further_from_it(hours: int) -> None:
    since, until, away = micros(2023, 5, 7, 0), micros(2023, 5, 14, 0), hours * 3_600_000_000
    asked = replace(ASKED, spans=[Span(since, until, relative=True)])
    within, before, after = one(1, at=since + away // 2), one(2, at=since - away), one(3, at=until + away)
    fits = column("then", within, before, after, asked=asked)
    assert fits == pytest.approx([1.0, *[0.5 * math.exp(-hours / 16.8)] * 2])
    assert column("date", within, before, after, asked=asked) == [0.0, 0.0, 0.0]


def test_what_is_counted_from_now_without_an_end_fits_like_any_date() -> None:
    asked = replace(ASKED, spans=[Span(micros(2023, 5, 7, 0), None, relative=True)])
    told = one(1, at=micros(2023, 5, 9))
    assert column("then", told, asked=asked) == [0.0]
    assert column("date", told, asked=asked) == [1.0]


def test_spans_may_be_open() -> None:
    before = replace(ASKED, spans=[Span(None, micros(2023, 5, 1))])
    after = replace(ASKED, spans=[Span(micros(2023, 5, 1), None)])
    early, late = one(1, at=micros(2001, 1, 1)), one(2, at=micros(2024, 1, 1))
    assert column("date", early, late, asked=before) == pytest.approx([1.0, 0.0], abs=1e-9)
    assert column("date", early, late, asked=after) == pytest.approx([0.0, 1.0], abs=1e-9)


def test_the_week_after_is_told_in_days() -> None:
    asked = replace(ASKED, spans=[Span(micros(2023, 5, 7, 0), micros(2023, 5, 8, 0))])
    told = [one(row, at=micros(2023, 5, 8, 0) + int(timedelta(days=row).total_seconds() * 1e6)) for row in range(8)]
    fits = column("date", *told, asked=asked)
    assert fits == sorted(fits, reverse=True)
    assert fits[7] == pytest.approx(math.exp(-1))


# --- tasks and overviews


def test_rules_speak_where_something_is_to_be_done() -> None:
    rule, wish, fact = one(1, rule=0.6, dense=0.3), one(2, wish=0.5, dense=0.2), one(3, dense=0.6)
    asking = replace(ASKED, wants_done=1.0, heeds_rules=True)
    assert column("rule", rule, wish, fact, asked=asking) == [1.0, 0.0, 0.0]
    assert column("rule_fit", rule, wish, fact, asked=asking) == pytest.approx([1.0, 0.0, 0.0])
    assert column("wish_fit", rule, wish, fact, asked=asking) == pytest.approx([0.0, 2 * 0.5 / 0.6 - 1, 0.0])
    for asked in (replace(asking, heeds_rules=False), replace(asking, wants_done=0.0)):
        for name in ("rule", "rule_fit", "wish_fit"):
            assert column(name, rule, wish, fact, asked=asked) == [0.0] * 3


def test_an_overview_begins_with_what_opens_a_session() -> None:
    overview = replace(ASKED, is_overview=True)
    pool = (one(1, place=0), one(2, place=10), one(3, place=0, by_agent=True), one(4))
    assert column("opener", *pool, asked=overview) == pytest.approx([1.0, math.exp(-1), 0.0, 0.0])
    assert column("opener", *pool) == [0.0] * 4


# --- names, sources, ties, status and use


def test_a_text_that_names_what_the_question_names_has_its_share_of_it() -> None:
    asked = replace(ASKED, entities=[frozenset({"ada", "lovelac"}), frozenset({"porto"})])
    pool = (one(1, held(ada=1, lovelac=2, porto=1)), one(2, held(ada=3, porto=1)), one(3, held(ada=1)), one(4))
    assert column("entity", *pool, asked=asked) == [1.0, 0.5, 0.0, 0.0]
    assert column("entity", *pool) == [0.0] * 4


def test_a_fact_speaks_as_far_as_it_fits() -> None:
    assert column("fact", one(1, fact=1.0), one(2, fact=0.5), one(3)) == [1.0, 0.5, 0.0]


def test_a_link_lends_the_best_of_what_it_ties_to() -> None:
    best, other = one(1, held(heron=1, nest=1), dense=0.8), one(2, held(nest=1), dense=0.6)
    both = one(3, tied=[(0, 2), (0, 1)])
    weaker = one(4, tied=[(0, 2)])
    unfound = one(5, tied=[(0, 99)])
    elsewhere = one(6, tied=[(1, 1)])
    lent = column("link", best, other, both, weaker, unfound, elsewhere)
    # By words the other has two fifths of the best; its cosine is a quarter less, and half of that counts.
    assert lent == pytest.approx([0.0, 0.0, 1.0, 0.6 * 2 / 5 + 0.4 * 0.5, 0.0, 0.0])


def test_overturned_memory_lends_its_fit_to_the_later_one() -> None:
    old = one(1, held(heron=2), overturned=OVERTURNED)
    pool = (old, one(2, overturns=[(0, 1)]), one(3, overturns=[(0, 99)]))
    assert column("overturned", *pool) == [1.0, 0.0, 0.0]
    assert column("overturns", *pool) == [0.0, 1.0, 0.0]


def test_question_for_what_was_hardly_minds_reversals() -> None:
    asked = replace(ASKED, looks_back=True)
    pool = (one(1, held(heron=2), overturned=OVERTURNED), one(2, overturns=[(0, 1)]))
    assert column("overturned", *pool, asked=asked) == [LOOKED_BACK, 0.0]
    assert column("overturns", *pool, asked=asked) == [0.0, 0.0]


MAY, JUNE, JULY = (micros(2023, month, 1) for month in (5, 6, 7))


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        (ASKED, [1.0, LOOKED_BACK, 1.0]),
        (replace(ASKED, is_past=True), [LOOKED_BACK, LOOKED_BACK, 1.0]),
        (replace(ASKED, looks_back=True), [0.0, 0.0, LOOKED_BACK]),
        (replace(ASKED, spans=[Span(MAY, JUNE)]), [0.0, LOOKED_BACK, 1.0]),
    ],
)
def test_a_past_fact_counts_as_past_where_the_present_is_asked(asked: Asked, counts: list[float]) -> None:
    replaced = one(1, overturned=OVERTURNED, stated=Stated(None, JUNE, is_replaced=True))
    ended = one(2, overturned=OVERTURNED, stated=Stated(JUNE, JULY))
    memory = one(3, overturned=OVERTURNED)
    assert column("overturned", replaced, ended, memory, asked=asked) == counts


def test_a_fact_fits_a_time_in_which_it_held() -> None:
    asked = replace(ASKED, spans=[Span(MAY, JUNE)])
    held = [Stated(MAY, None), Stated(None, JUNE), Stated(JUNE, JULY), Stated(None, MAY), Stated(None, None)]
    pool = [one(row, at=JULY, stated=of) for row, of in enumerate(held)]
    assert [value == 1.0 for value in column("date", *pool, asked=asked)] == [True, True, False, False, False]


def test_importance_and_that_it_says_from_when_it_holds_are_told_as_they_are() -> None:
    pool = (one(1, importance=0.9, says_when=True), one(2), one(3, importance=0.0))
    assert column("importance", *pool) == [0.9, 0.5, 0.0]
    assert column("validity", *pool) == [1.0, 0.0, 0.0]


def test_what_is_newer_is_more_recent_and_what_is_to_come_as_recent_as_now() -> None:
    pool = [one(days + 5, at=NOW - days * DAY) for days in (0, 90, 180, -5)]
    assert column("recency", *pool, asked=ASKED_NOW) == pytest.approx([1.0, 0.5, 0.25, 1.0])


def test_reviews_and_rewards_prove_a_memory_and_being_found_does_not() -> None:
    reviewed, praised = Usage(reviews=3), Usage(rewards=4.0, rewarded=2)
    blamed, found = Usage(rewards=-4.0, rewarded=2), Usage(accesses=100, last_access=moment(NOW))
    told = column("usage", one(1, used=reviewed), one(2, used=praised), one(3, used=blamed), one(4, used=found), one(5))
    assert told == pytest.approx([0.25, math.tanh(1) / 2, -math.tanh(1) / 2, 0.0, 0.0])


def test_frequency_rises_with_use_from_a_floor() -> None:
    pool = [one(accesses, used=Usage(accesses=accesses)) for accesses in (0, 1, 5, 20)]
    assert of_use(ASKED, pool, Fading())["frequency"] == pytest.approx([0.3, 0.3, 0.5, 0.8])


def test_a_reward_is_what_was_given_on_average() -> None:
    given = (Usage(), Usage(rewards=0.0, rewarded=3), Usage(rewards=2.0, rewarded=2), Usage(rewards=-2.0, rewarded=2))
    told = of_use(ASKED, [one(row, used=used) for row, used in enumerate(given)], Fading())["reward"]
    assert told == pytest.approx([1.0, 1.0, 2 / (1 + math.exp(-1)), 2 / (1 + math.e)])


def test_what_is_retained_counts_from_the_last_use_or_else_from_when_it_was_said() -> None:
    three_days, month = NOW - 3 * DAY, NOW - 30 * DAY
    pool = [
        one(1, at=three_days),
        one(2, at=month, used=Usage(last_access=moment(three_days))),
        one(3, at=three_days, used=Usage(last_access=moment(month))),
        one(4, at=three_days, strength=0.5),
        one(5, at=three_days, used=Usage(accesses=1, last_access=moment(three_days))),
        one(6, at=NOW, strength=2.0),
        one(7, at=NOW + DAY),
        one(8, at=three_days, strength=0.0),
    ]
    told = of_use(ASKED_NOW, pool, Fading())["retention"]
    assert told == pytest.approx([0.5, 0.5, 0.5, 0.25, 0.5 * 2**0.6, 1.0, 1.0, 0.0])


def test_a_summary_is_one_unless_an_overview_is_wanted() -> None:
    assert column("digest", one(1, is_summary=True), one(2)) == [1.0, 0.0]
    assert column("digest", one(1, is_summary=True), asked=replace(ASKED, is_overview=True)) == [0.0]


def test_a_summary_lends_its_sources_nothing_and_takes_nothing_of_them() -> None:
    heron = held(heron=2)
    pool = [one(1, heron, is_summary=True, tied=[(0, 2)]), one(2, heron, tied=[(0, 1)]), one(3, heron, tied=[(0, 2)])]
    assert column("link", *pool) == [0.0, 0.0, 1.0]
