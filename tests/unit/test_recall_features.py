"""The features of a candidate: a number for each reason to return it."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit import recall_candidates as making
from tests.unit.recall_candidates import ASKED, DAY, OVERTURNED, Held, column, columns_of, held, micros, of_use, one

from pieria.recall.features import LOOKED_BACK
from pieria.recall.query import Span, Stated
from pieria.recall.scores import FEATURES, OF_USE, WEIGHTS
from pieria.record.decay import Fading, Wear, frequency, proven, reward
from pieria.record.time import moment
from pieria.record.usage import Usage

NOW = micros(2026, 3, 18)
ASKED_NOW = replace(ASKED, now=NOW)
OVERVIEW = replace(ASKED, is_overview=True)
MAY, JUNE, JULY = (micros(2023, month, 1) for month in (5, 6, 7))
FITS = held(heron=1, nest=1)  # holds all words of the question


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    """`spread` depends on an order, so it is computed later."""
    assert {*making.features_of(ASKED, []), "spread"} == set(WEIGHTS)
    assert set(of_use(ASKED, [], Fading())) == set(OF_USE)
    assert {*columns_of(ASKED, []), "spread"} == set(FEATURES)
    assert all(len(values) == 0 for values in columns_of(ASKED, []).values())


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_features_do_not_depend_on_the_order_of_the_pool(seed: int, size: int) -> None:
    asked, pool = making.made(seed, size)
    mixed = random.Random(seed).sample(pool, k=size)
    straight, shuffled = columns_of(asked, pool), columns_of(asked, mixed)
    assert straight.keys() == shuffled.keys()
    for name, values in straight.items():
        assert all(math.isfinite(value) for value in values)
        found = dict(zip([each.key for each in mixed], shuffled[name], strict=True))
        assert dict(zip([each.key for each in pool], values, strict=True)) == found


def test_a_text_has_its_share_of_words_things_and_times() -> None:
    lexical = column("lexical", one(1, FITS), one(2, held(nest=1)), one(3))
    assert lexical == [1.0, pytest.approx(2.0 / 5.0), 0.0]
    cover = column("cover", one(1, held(heron=5)), one(2, FITS), one(3))
    assert cover == pytest.approx([0.5, 5 / 6, 0])
    assert column("phrase", one(1, held(pairs=2)), one(2, held(pairs=1)), one(3)) == [1.0, 0.5, 0.0]
    quoted = (one(row, Held(10, 8, {}, quoted=share)) for row, share in enumerate((1.0, 0.5, 0.0)))
    assert column("quoted", *quoted) == [1.0, 0.5, 0.0]
    rich, poor = (one(row, held(distinct=words, heron=1), is_turn=True) for row, words in ((1, 30), (2, 2)))
    note = one(3, held(distinct=2, heron=1))
    assert column("thin", rich, poor, note) == pytest.approx([math.exp(-6), math.exp(-2 / 5), 0.0])
    pool = [one(1, FITS, tells_time=True), one(2, FITS), one(3, tells_time=True)]
    found = column("when", *pool, asked=replace(ASKED, is_when=True))
    assert (found[0] > 0, found[1:], column("when", *pool)) == (True, [0.0] * 2, [0.0] * 3)
    asked = replace(ASKED, entities=[frozenset({"ada", "lovelac"}), frozenset({"porto"})])
    pool = [one(1, held(ada=1, lovelac=2, porto=1)), one(2, held(ada=3, porto=1)), one(3, held(ada=1)), one(4)]
    assert column("entity", *pool, asked=asked) == [1.0, 0.5, 0.0, 0.0]
    assert column("entity", *pool) == [0.0] * 4


def test_neighbours_and_sessions_lend_their_words() -> None:
    telling = held(length=8, heron=1, nest=1)
    strong = one(1, telling, around=[(1, Held(8, 6))])
    short = one(2, Held(4, 4), around=[(-1, telling)])
    long = one(3, Held(400, 200), around=[(-1, telling)])
    far = one(4, Held(4, 4), around=[(-3, telling)])
    leaning = column("lexical", strong, short, long, far, one(5, Held(4, 4)))
    assert leaning[0] >= leaning[1] > leaning[3] > leaning[2] > leaning[4] == 0.0
    fits = held(heron=2, nest=2)
    good = [one(row, fits, occasion="a") for row in range(4)]
    lone, unbound = one(9, fits, occasion="b"), one(11, fits)
    other_bank = replace(one(10, fits, occasion="a"), key=(1, 10))
    worth = column("session", *good, lone, other_bank, unbound)
    assert worth == pytest.approx([1.0] * 4 + [1 / 3] * 3)
    question = one(1, held(length=6, heron=1, nest=1), asks=True, around=[(1, Held())])
    reply = one(2, Held(4, 4), before=(0, 1), around=[(-1, question.held)])
    asked_back = one(3, Held(4, 4), before=(0, 1), asks=True, around=[(-1, question.held)])
    after_a_statement = one(4, Held(4, 4), before=(0, 2), around=[(-1, reply.held)])
    unknown = one(5, Held(4, 4), before=(0, 99), around=[(-1, Held())])
    worth = column("reply", question, reply, asked_back, after_a_statement, unknown)
    assert worth[1] > 0.9
    assert [worth[0], *worth[2:]] == [0.0] * 4


def test_nearness_is_by_window_passage_or_estimate() -> None:
    pool = [one(1, dense=0.4, window=0.6), one(2, dense=0.3), one(3, window=0.0, dense=0.5), one(4, dense=-0.1)]
    assert column("dense", *pool) == [0.4, 0.3, 0.5, -0.1]
    assert column("window", *pool) == [0.6, 0.3, 0.0, -0.1]
    turns = (one(1, dense=0.6), one(2, dense=0.1, before=(0, 1)), one(3, dense=0.5, window=0.3, before=(0, 2)))
    assert column("window", *turns) == [0.6, pytest.approx((0.2 * 0.1 + 0.22 * 0.6) / 0.42 * 1.13), 0.3]
    holds, near, nothing = one(1, FITS), one(2, dense=0.8), one(3)
    assert column("dense", holds, near, nothing) == pytest.approx([0.8 * (0.42 + 0.08 + 0.33 * 5 / 6), 0.8, 0.8 * 0.42])
    assert column("dense", one(1, held(heron=1)), one(2)) == [0.0, 0.0]
    # The only compared vector is off the subject; the answer may be among the others.
    assert column("dense", one(1), one(2, dense=0.1)) == pytest.approx([0.45 * 0.42, 0.1])


def test_a_long_text_is_near_by_its_beginning_and_best_passage() -> None:
    pool = [one(1, dense=0.5), one(2, dense=0.5, lead=0.6), one(3, dense=0.9, lead=0.1)]
    assert column("dense", *pool) == pytest.approx([0.5, 0.6 * 0.6 + 0.4 * 0.5, 0.6 * 0.1 + 0.4 * 0.9])
    # Without the vector of its beginning.
    pool = [one(1, Held(199, 90, {}), dense=0.5), one(2, Held(200, 90, {}), dense=0.5), one(3, Held(200, 90, {}))]
    assert column("dense", *pool) == pytest.approx([0.5, 0.6 * 0.7 * 0.5 + 0.4 * 0.5, 0.5 * 0.42])
    # With no more than that vector.
    pool = [one(1, lead=0.6), one(2, lead=0.1), one(3, FITS, lead=0.1)]
    rest = [0.6, 0.1 + 0.7 * 0.1, 0.1 + 0.7 * 0.1 + 0.2 * 5 / 6]
    expected = [0.6 * lead + 0.4 * passage for lead, passage in zip([0.6, 0.1, 0.1], rest, strict=True)]
    assert column("dense", *pool) == pytest.approx(expected)


def test_dates_and_facts_fit_spans_of_time() -> None:
    asked = replace(ASKED, spans=[Span(micros(2023, 5, 7, 0), micros(2023, 5, 8, 0))])
    moments = (micros(2023, 5, 7), micros(2023, 5, 8, 0), micros(2023, 5, 15, 0), micros(2023, 5, 6, 0))
    pool = [one(row, at=at) for row, at in enumerate((*moments, micros(2022, 5, 7)))]
    expected = [1.0, 1.0, math.exp(-1), math.exp(-1), 0.0]
    assert column("date", *pool, asked=asked) == pytest.approx(expected, abs=1e-9)
    early, late = one(1, at=micros(2001, 1, 1)), one(2, at=micros(2024, 1, 1))
    for span, expected in ((Span(None, MAY), [1.0, 0.0]), (Span(MAY, None), [0.0, 1.0])):
        found = column("date", early, late, asked=replace(ASKED, spans=[span]))
        assert found == pytest.approx(expected, abs=1e-9)
    asked = replace(ASKED, spans=[Span(micros(2026, 5, 1, 0), micros(2026, 6, 1, 0), yearly=True)])
    far = pytest.approx(math.exp(-76.5 / 7), abs=1e-4)
    for year in (1999, 2022, 2023, 2024, 2031):
        pool = [one(1, at=micros(year, 5, 16)), one(2, at=micros(year, 8, 16))]
        assert column("date", *pool, asked=asked) == [1.0, far]
    asked = replace(ASKED, spans=[Span(MAY, JUNE)])
    stated = [Stated(MAY, None), Stated(None, JUNE), Stated(JUNE, JULY), Stated(None, MAY), Stated(None, None)]
    pool = [one(row, at=JULY, stated=each) for row, each in enumerate(stated)]
    assert [value == 1.0 for value in column("date", *pool, asked=asked)] == [True, True, False, False, False]
    since, until = micros(2023, 5, 7, 0), micros(2023, 5, 14, 0)
    asked = replace(ASKED, spans=[Span(since, until, relative=True)])
    for hours in (1, 6, 24, 240):
        away = hours * 3_600_000_000
        pool = [one(1, at=since + away // 2), one(2, at=since - away), one(3, at=until + away)]
        expected = [1.0, *[0.5 * math.exp(-hours / 16.8)] * 2]
        assert column("then", *pool, asked=asked) == pytest.approx(expected)
        assert column("date", *pool, asked=asked) == [0.0, 0.0, 0.0]
    without_end = replace(ASKED, spans=[Span(since, None, relative=True)])
    said = one(1, at=micros(2023, 5, 9))
    assert (column("then", said, asked=without_end), column("date", said, asked=without_end)) == ([0.0], [1.0])


def test_some_features_are_properties_of_the_memory() -> None:
    pool = [one(days + 5, at=NOW - days * DAY) for days in (0, 90, 180, -5)]
    assert column("recency", *pool, asked=ASKED_NOW) == pytest.approx([1.0, 0.5, 0.25, 1.0])
    pool = [one(1, by_named=True, importance=0.9, says_when=True, fact=1.0), one(2, by_agent=True, importance=0.0)]
    expected = {"author": [1.0, 0.0], "agent": [0.0, 1.0], "importance": [0.9, 0.0], "validity": [1.0, 0.0]}
    assert {name: column(name, *pool) for name in expected} == expected
    assert column("fact", *pool, one(3, fact=0.5)) == [1.0, 0.0, 0.5]
    assert column("importance", one(1)) == [0.5]


def test_tasks_take_rules_and_overviews_openers() -> None:
    pool = [one(1, rule=0.6, dense=0.3), one(2, wish=0.5, dense=0.2), one(3, dense=0.6)]
    asking = replace(ASKED, wants_done=1.0, heeds_rules=True)
    expected = {"rule": [1.0, 0.0, 0.0], "rule_fit": [1.0, 0.0, 0.0], "wish_fit": [0.0, 2 * 0.5 / 0.6 - 1, 0.0]}
    for name, values in expected.items():
        assert column(name, *pool, asked=asking) == pytest.approx(values)
        for asked in (replace(asking, heeds_rules=False), replace(asking, wants_done=0.0)):
            assert column(name, *pool, asked=asked) == [0.0] * 3
    pool = [one(1, place=0), one(2, place=10), one(3, place=0, by_agent=True), one(4)]
    assert column("opener", *pool, asked=OVERVIEW) == pytest.approx([1.0, math.exp(-1), 0.0, 0.0])
    assert column("opener", *pool) == [0.0] * 4
    assert column("digest", one(1, is_summary=True), one(2)) == [1.0, 0.0]
    assert column("digest", one(1, is_summary=True), asked=OVERVIEW) == [0.0]


def test_a_link_lends_the_best_of_what_it_ties_to() -> None:
    best, other = one(1, FITS, dense=0.8), one(2, held(nest=1), dense=0.6)
    both, weaker = one(3, tied=[(0, 2), (0, 1)]), one(4, tied=[(0, 2)])
    unfound, elsewhere = one(5, tied=[(0, 99)]), one(6, tied=[(1, 1)])
    lent = column("link", best, other, both, weaker, unfound, elsewhere)
    # By words the other has two fifths of the best; its cosine is a quarter less, and half of that counts.
    assert lent == pytest.approx([0.0, 0.0, 1.0, 0.6 * 2 / 5 + 0.4 * 0.5, 0.0, 0.0])
    heron = held(heron=2)
    pool = [one(1, heron, is_summary=True, tied=[(0, 2)]), one(2, heron, tied=[(0, 1)]), one(3, heron, tied=[(0, 2)])]
    assert column("link", *pool) == [0.0, 0.0, 1.0]


def test_an_overturned_memory_lends_its_fit_to_the_later_one() -> None:
    pool = [one(1, held(heron=2), overturned=OVERTURNED), one(2, overturns=[(0, 1)]), one(3, overturns=[(0, 99)])]
    assert column("overturned", *pool) == [1.0, 0.0, 0.0]
    assert column("overturns", *pool) == [0.0, 1.0, 0.0]
    looking_back = replace(ASKED, looks_back=True)
    assert column("overturned", *pool, asked=looking_back) == [LOOKED_BACK, 0.0, 0.0]
    assert column("overturns", *pool, asked=looking_back) == [0.0, 0.0, 0.0]
    stated = (Stated(None, JUNE, is_replaced=True), Stated(JUNE, JULY), None)
    pool = [one(row, overturned=OVERTURNED, stated=each) for row, each in enumerate(stated)]
    expected = [
        (ASKED, [1.0, LOOKED_BACK, 1.0]),
        (replace(ASKED, is_past=True), [LOOKED_BACK, LOOKED_BACK, 1.0]),
        (replace(ASKED, looks_back=True), [0.0, 0.0, LOOKED_BACK]),
        (replace(ASKED, spans=[Span(MAY, JUNE)]), [0.0, LOOKED_BACK, 1.0]),
    ]
    for asked, counts in expected:
        assert column("overturned", *pool, asked=asked) == counts


def test_use_and_age_count_by_the_laws_of_fading() -> None:
    day = moment(NOW - DAY)
    used = [Usage(), Usage(reviews=3), Usage(rewards=4.0, rewarded=2), Usage(accesses=5, last_access=day, spaced=2.0)]
    pool = [one(row, at=NOW - (row + 1) * 3 * DAY, used=each, strength=row / 8) for row, each in enumerate(used)]
    pool.append(one(9, at=NOW + DAY))
    found, fading = of_use(ASKED_NOW, pool, Fading(spacing=0.5)), Fading(spacing=0.5)
    assert column("usage", *pool) == pytest.approx([proven(each.used) for each in pool])
    assert found["frequency"] == pytest.approx([frequency(each.used.accesses) for each in pool])
    assert found["reward"] == pytest.approx([reward(each.used) for each in pool])
    wears = [Wear(each.at, each.kind, each.strength, each.used) for each in pool]
    assert found["retention"] == pytest.approx([min(1.0, fading.of(wear, NOW)) for wear in wears])
    assert found["retention"][1] < found["retention"][3] < found["retention"][4] == 1.0
