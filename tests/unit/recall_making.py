"""What the tests of ranking score: candidates made by hand or drawn at random, and the way from features to scores."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pieria.recall.arranging import spread
from pieria.recall.evidence import Asked, Evidence, Held, Span
from pieria.recall.features import Columns, features, of_use
from pieria.recall.policies import FEATURES, Policy, relevance, whole
from pieria.recall.ranking import Corpus
from pieria.record.fading import Fading
from pieria.record.time import moment
from pieria.record.usage import UNUSED, Usage

ASKED = Asked(Corpus(10.0, {"heron": 3.0, "nest": 2.0}, 6.0))
DAY = 86_400_000_000


def told(columns: Columns, names: Iterable[str]) -> list[dict[str, float]]:
    """The reasons of each candidate as a hit tells them: those that are not 0."""
    return [{name: value for name, value in features.items() if value} for features in whole(columns, names)]


def micros(year: int, month: int, day: int, hour: int = 12) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp() * 1_000_000)


def held(length: int = 10, distinct: int = 8, pairs: int = 0, **counts: int) -> Held:
    return Held(length, distinct, counts, pairs)


def one(row: int, has: Held | None = None, **values: Any) -> Evidence:
    return Evidence((0, row), f"m{row}", has or Held(10, 8), **values)


def column(name: str, *pool: Evidence, asked: Asked = ASKED) -> list[float]:
    return features(asked, pool)[name]


def columns_of(asked: Asked, pool: Sequence[Evidence]) -> Columns:
    """All that any policy may ask for, but what follows from an order."""
    columns = features(asked, pool) | of_use(asked, pool, Fading())
    return columns | {"relevance": relevance(columns)}


def scored(asked: Asked, pool: Sequence[Evidence], policy: Policy) -> tuple[list[dict[str, float]], list[float]]:
    """What each candidate is told to be found for, and what it is worth."""
    columns = columns_of(asked, pool)
    counted = [name for name in FEATURES if policy.counts(name)]
    worth = [policy.worth(why) for why in told(columns, counted)]
    if asked.is_overview and policy.counts("spread"):
        columns["spread"] = spread(pool, worth)
    why = told(columns, counted)
    return why, [policy.worth(reasons) for reasons in why]


def usage(drawn: random.Random, now: int) -> Usage:
    if drawn.random() < 0.3:
        return UNUSED
    rewarded = drawn.randrange(3)
    return Usage(
        accesses=drawn.randrange(40),
        last_access=moment(now - drawn.randrange(20) * DAY),
        reviews=drawn.randrange(5),
        rewards=sum(drawn.uniform(-2, 2) for _ in range(rewarded)),
        rewarded=rewarded,
    )


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
        wish=drawn.choice([None, None, drawn.uniform(0, 0.9)]),
        by_named=drawn.random() < 0.3,
        by_agent=drawn.random() < 0.3,
        asks=drawn.random() < 0.3,
        tells_time=drawn.random() < 0.3,
        place=drawn.randrange(20),
        importance=drawn.random(),
        strength=drawn.uniform(0, 2),
        says_when=drawn.random() < 0.3,
        used=usage(drawn, micros(2023, 6, 1)),
        fact=drawn.choice([0.0, 0.5, 1.0]),
        tied=[(0, other) for other in range(row) if drawn.random() < 0.2],
        copy_of=drawn.choice([None, None, "said", "again"]),
    )


def question(drawn: random.Random) -> Asked:
    return replace(
        ASKED,
        now=micros(2023, 6, 1),
        spans=[Span(micros(2023, 5, 7), micros(2023, 5, 8))] * drawn.randrange(2),
        entities=[frozenset({"heron"}), frozenset({"heron", "nest"})][: drawn.randrange(3)],
        wants_done=drawn.choice([0.0, 0.5, 1.0]),
        is_overview=drawn.random() < 0.3,
        is_when=drawn.random() < 0.5,
        heeds_rules=drawn.random() < 0.5,
    )


def made(seed: int, size: int) -> tuple[Asked, list[Evidence]]:
    """A question and its candidates, drawn at random."""
    drawn = random.Random(seed)
    return question(drawn), [evidence(drawn, row) for row in range(size)]
