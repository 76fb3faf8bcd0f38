"""What each feature says of a candidate, what a score is made of, who stands where, and how sure an answer is."""

import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.recall.arranging import KEPT, KEPT_FROM, arranged
from pieria.recall.evidence import Asked, Evidence, Held, Span
from pieria.recall.features import features
from pieria.recall.policies import SCALE, WEIGHTS, confidence, lines, score_of, summed

ASKED = Asked({"heron": 3.0, "nest": 2.0}, whole=6.0, mean_length=10.0)
DAY = 86_400_000_000


def micros(year: int, month: int, day: int, hour: int = 12) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp() * 1_000_000)


def held(length: int = 10, distinct: int = 8, pairs: int = 0, **counts: int) -> Held:
    return Held(length, distinct, counts, pairs)


def one(row: int, has: Held | None = None, **values: Any) -> Evidence:
    return Evidence((0, row), f"m{row}", has or Held(10, 8), **values)


def column(name: str, *pool: Evidence, asked: Asked = ASKED) -> list[float]:
    return features(asked, pool)[name]


def test_nothing_has_no_features() -> None:
    assert all(values == [] for values in features(ASKED, []).values())
    assert lines(features(ASKED, []), WEIGHTS) == []
    assert confidence([], [], WEIGHTS) == 0.0


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    assert set(features(ASKED, [])) == set(WEIGHTS)


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
    good = [one(row, strong, session="a") for row in range(4)]
    lone = one(9, strong, session="b")
    other_bank = replace(one(10, strong, session="a"), key=(1, 10))
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


def test_what_says_little_is_thin() -> None:
    rich, poor = column("thin", one(1, held(distinct=30, heron=1)), one(2, held(distinct=2, heron=1)))
    assert poor == pytest.approx(math.exp(-2 / 5))
    assert rich < 0.01


def test_cover_is_the_share_of_the_question_that_the_text_holds() -> None:
    assert column("cover", one(1, held(heron=5)), one(2, held(heron=1, nest=1)), one(3)) == pytest.approx(
        [0.5, 5 / 6, 0]
    )


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


def test_spans_may_be_open() -> None:
    before = replace(ASKED, spans=[Span(None, micros(2023, 5, 1))])
    after = replace(ASKED, spans=[Span(micros(2023, 5, 1), None)])
    early, late = one(1, at=micros(2001, 1, 1)), one(2, at=micros(2024, 1, 1))
    assert column("date", early, late, asked=before) == pytest.approx([1.0, 0.0], abs=1e-9)
    assert column("date", early, late, asked=after) == pytest.approx([0.0, 1.0], abs=1e-9)


def test_rules_speak_where_something_is_to_be_done() -> None:
    rule, wish, fact = one(1, rule=0.6, dense=0.3), one(2, wish=0.5, dense=0.2), one(3, dense=0.6)
    asking = replace(ASKED, wants_done=1.0, heeds_rules=True)
    assert column("rule", rule, wish, fact, asked=asking) == [1.0, 0.0, 0.0]
    assert column("rule_fit", rule, wish, fact, asked=asking) == pytest.approx([1.0, 0.0, 0.0])
    assert column("wish_fit", rule, wish, fact, asked=asking) == pytest.approx([0.0, 2 * 0.5 / 0.6 - 1, 0.0])
    assert column("rule", rule, wish, fact, asked=replace(asking, heeds_rules=False)) == [0.0] * 3


def test_an_overview_begins_with_what_opens_a_session() -> None:
    overview = replace(ASKED, is_overview=True)
    pool = (one(1, place=0), one(2, place=10), one(3, place=0, by_agent=True), one(4))
    assert column("opener", *pool, asked=overview) == pytest.approx([1.0, math.exp(-1), 0.0, 0.0])
    assert column("opener", *pool) == [0.0] * 4


def evidence(drawn: random.Random, row: int) -> Evidence:
    counts = {term: drawn.randrange(3) for term in ("heron", "nest")}
    return one(
        row,
        Held(
            drawn.randrange(1, 60), drawn.randrange(1, 30), {t: c for t, c in counts.items() if c}, drawn.randrange(3)
        ),
        around=[(distance, held(heron=drawn.randrange(2))) for distance in drawn.sample((-3, -2, -1, 1, 2, 3), k=2)],
        before=(0, row - 1) if drawn.random() < 0.5 else None,
        session=drawn.choice([None, "a", "b"]),
        at=micros(2023, 5, 1) + drawn.randrange(30) * DAY,
        dense=drawn.choice([None, drawn.uniform(-0.1, 0.9)]),
        window=drawn.choice([None, drawn.uniform(-0.1, 0.9)]),
        rule=drawn.choice([None, None, drawn.uniform(0, 0.9)]),
        by_named=drawn.random() < 0.3,
        by_agent=drawn.random() < 0.3,
        asks=drawn.random() < 0.3,
        tells_time=drawn.random() < 0.3,
        place=drawn.randrange(20),
    )


def question(drawn: random.Random) -> Asked:
    return replace(
        ASKED,
        spans=[Span(micros(2023, 5, 7), micros(2023, 5, 8))] * drawn.randrange(2),
        wants_done=drawn.choice([0.0, 0.5, 1.0]),
        is_overview=drawn.random() < 0.3,
        is_when=drawn.random() < 0.5,
        heeds_rules=drawn.random() < 0.5,
    )


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_a_candidate_s_features_do_not_depend_on_where_it_stands_in_the_pool(seed: int, size: int) -> None:
    drawn = random.Random(seed)
    asked, pool = question(drawn), [evidence(drawn, row) for row in range(size)]
    mixed = drawn.sample(pool, k=size)
    straight = dict(zip([each.key for each in pool], lines(features(asked, pool), WEIGHTS), strict=True))
    shuffled = dict(zip([each.key for each in mixed], lines(features(asked, mixed), WEIGHTS), strict=True))
    assert straight == shuffled
    assert all(math.isfinite(value) for why in straight.values() for value in why.values())


@given(st.integers(0, 2**32), st.integers(1, 25), st.sampled_from(sorted(WEIGHTS)))
def test_a_weight_of_nothing_takes_its_feature_away(seed: int, size: int, name: str) -> None:
    drawn = random.Random(seed)
    asked, pool = question(drawn), [evidence(drawn, row) for row in range(size)]
    whole = lines(features(asked, pool), WEIGHTS)
    for why, less in zip(whole, lines(features(asked, pool), {**WEIGHTS, name: 0.0}), strict=True):
        assert less == {feature: value for feature, value in why.items() if feature != name}
        assert score_of(why, WEIGHTS) == pytest.approx(
            min(1, max(0, sum(WEIGHTS[feature] * value for feature, value in why.items()) / SCALE)), abs=1e-9
        )


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_everybody_stands_in_the_order_once(seed: int, size: int) -> None:
    drawn = random.Random(seed)
    asked, pool = question(drawn), [evidence(drawn, row) for row in range(size)]
    scores = [summed(why, WEIGHTS) for why in lines(features(asked, pool), WEIGHTS)]
    order = arranged(asked, pool, scores)
    assert sorted(order) == list(range(size))
    if not asked.is_overview and not asked.heeds_rules:
        assert [scores[number] for number in order] == sorted(scores, reverse=True)
    assert arranged(asked, pool, scores) == order


def test_of_equals_the_newer_row_stands_first() -> None:
    assert arranged(ASKED, [one(1), one(3), one(2)], [0.5, 0.5, 0.5]) == [1, 2, 0]


def test_an_overview_takes_from_every_session_before_it_takes_more_from_one() -> None:
    pool = [one(row, session="a" if row < 5 else "b") for row in range(8)]
    scores = [0.90 - row / 100 for row in range(8)]
    order = arranged(replace(ASKED, is_overview=True), pool, scores)
    assert order[:3] == [0, 1, 5]


def test_the_nearest_rules_have_places_kept_for_them() -> None:
    pool = [one(row) for row in range(20)] + [one(20 + n, rule=n / 10) for n in range(5)]
    scores = [1 - row / 100 for row in range(25)]
    order = arranged(replace(ASKED, heeds_rules=True), pool, scores)
    assert order[:KEPT_FROM] == list(range(KEPT_FROM))
    assert order[KEPT_FROM : KEPT_FROM + KEPT] == [24, 23, 22]
    assert arranged(ASKED, pool, scores) == list(range(25))


def test_a_rule_that_leads_anyway_keeps_its_place() -> None:
    pool = [one(0, rule=0.9), *(one(row) for row in range(1, 20)), one(20, rule=0.1)]
    order = arranged(replace(ASKED, heeds_rules=True), pool, [1 - row / 100 for row in range(21)])
    assert order[0] == 0
    assert order[KEPT_FROM] == 20


def test_more_and_better_evidence_is_more_certain() -> None:
    weak, strong = {"dense": 0.2, "lexical": 0.2}, {"dense": 0.7, "lexical": 1.0, "cover": 1.0}
    certain = [confidence([found] * 10, [False] * 10, WEIGHTS) for found in (weak, strong)]
    assert 0 < certain[0] < certain[1] < 1


def test_it_is_less_sure_where_the_words_fit_somebody_else() -> None:
    fits, fits_not = {"lexical": 1.0, "cover": 0.9, "author": 1.0}, {"lexical": 0.2, "cover": 0.1, "author": 0.0}
    about_the_named = confidence([fits, fits_not], [True, False], WEIGHTS)
    about_another = confidence([fits, fits_not], [False, True], WEIGHTS)
    about_anyone = confidence([fits, fits_not], [False, False], WEIGHTS)
    assert about_another < about_anyone < about_the_named


def test_the_week_after_is_told_in_days() -> None:
    asked = replace(ASKED, spans=[Span(micros(2023, 5, 7, 0), micros(2023, 5, 8, 0))])
    told = [one(row, at=micros(2023, 5, 8, 0) + int(timedelta(days=row).total_seconds() * 1e6)) for row in range(8)]
    fits = column("date", *told, asked=asked)
    assert fits == sorted(fits, reverse=True)
    assert fits[7] == pytest.approx(math.exp(-1))
