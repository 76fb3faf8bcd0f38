"""Helpers for tests of ranking: candidates by hand or at random, and the way from features to scores."""

import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from pieria.recall import features, scores
from pieria.recall.answer import Overturned
from pieria.recall.bm25 import Corpus
from pieria.recall.features import Columns
from pieria.recall.pool import Pool
from pieria.recall.query import Asked, Key, Span, Stated
from pieria.recall.scores import FEATURES, Arranged, Policy, relevance, whole
from pieria.record.decay import Fading
from pieria.record.time import moment
from pieria.record.usage import UNUSED, Usage
from pieria.store.parts import Parts

ASKED = Asked(Corpus(10.0, {"heron": 3.0, "nest": 2.0}, 6.0))
DAY = 86_400_000_000
OVERTURNED = Overturned("later", moment(0))
DISTANCES = (-3, -2, -1, 1, 2, 3)


@dataclass
class Held:
    length: int = 0
    distinct: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    pairs: int = 0
    quoted: float = 0.0
    parts: Sequence[tuple[int, Mapping[str, int]]] = ()


@dataclass
class Evidence:
    """One row of a pool. `around` are the neighbours that lend their words; `before` is the key of another row."""

    key: Key
    id: str
    held: Held
    around: Sequence[tuple[int, Held]] = ()
    before: Key | None = None
    occasion: Hashable = None
    at: int = 0
    dense: float | None = None
    lead: float | None = None
    window: float | None = None
    nearer: float = 0.0
    bare: float | None = None
    rule: float | None = None
    wish: float | None = None
    by_named: bool = False
    is_turn: bool = False
    is_summary: bool = False
    by_agent: bool = False
    asks: bool = False
    tells_time: bool = False
    place: int | None = None
    importance: float = 0.5
    strength: float = 1.0
    says_when: bool = False
    used: Usage = UNUSED
    kind: str = "note"
    written: int = 0
    version: int = 1
    tags: Sequence[str] = ()
    fact: float = 0.0
    tied: Sequence[Key] = ()
    copy_of: Hashable = None
    overturned: Overturned | None = None
    stated: Stated | None = None
    echo: bool = False
    overturns: Sequence[Key] = ()


def pool_of(told: Sequence[Evidence], asked: Asked = ASKED) -> Pool:
    lines = {one.key: number for number, one in enumerate(told)}
    texts = [one.held for one in told]
    beside = {distance: np.full(len(told), -1, dtype=np.intp) for distance in DISTANCES}
    for number, one in enumerate(told):
        for distance, lender in one.around:
            beside[distance][number] = len(texts)
            texts.append(lender)
        if one.before in lines:
            beside[-1][number] = lines[one.before]
    terms = list(dict.fromkeys([*asked.known.weights, *(term for text in texts for term in text.counts)]))

    def values(name: str) -> list[Any]:
        return [getattr(one, name) for one in told]

    def numbers(name: str) -> Any:
        return np.array([np.nan if value is None else value for value in values(name)], dtype=float)

    def lines_of(keys: Sequence[Key]) -> list[int]:
        return [lines[key] for key in keys if key in lines]

    columns: dict[str, Any] = {field: values(name) for field, name in LISTS.items()}
    columns |= {name: numbers(name) for name in NUMBERS}
    columns |= {name: np.array(values(name), dtype=bool) for name in FLAGS}
    counted = [[*(text.counts.get(term, 0) for text in texts), 0] for term in terms]
    in_parts = [[counts.get(term, 0) for one in told for _, counts in one.held.parts] for term in terms]
    return Pool(
        terms=terms,
        counts=np.array(counted, dtype=float).reshape(len(terms), len(texts) + 1),
        lengths=np.array([*(text.length for text in texts), 0], dtype=float),
        parts=Parts(
            np.array([number for number, one in enumerate(told) for _ in one.held.parts], dtype=np.intp),
            np.array(in_parts, dtype=float),
            np.array([length for one in told for length, _ in one.held.parts], dtype=float),
        ),
        beside=beside,
        near=[None] * len(told),
        replies=[None] * len(told),
        occasions=[one.occasion if one.occasion is None else (one.key[0], one.occasion) for one in told],
        distinct=np.array([one.held.distinct for one in told], dtype=float),
        pairs=np.array([one.held.pairs for one in told], dtype=float),
        quoted=np.array([one.held.quoted for one in told], dtype=float),
        at=np.array(values("at"), dtype=np.int64),
        tied={number: found for number, one in enumerate(told) if (found := lines_of(one.tied))},
        overturns={number: found for number, one in enumerate(told) if (found := lines_of(one.overturns))},
        **columns,
    )


LISTS = {
    **{"keys": "key", "ids": "id", "kinds": "kind", "used": "used", "written": "written", "versions": "version"},
    **{"tags": "tags", "copies": "copy_of", "overturned": "overturned", "stated": "stated"},
}
NUMBERS = ("dense", "lead", "window", "nearer", "bare", "rule", "wish", "place", "importance", "strength", "fact")
FLAGS = ("by_named", "is_turn", "is_summary", "by_agent", "asks", "tells_time", "says_when", "echo")


def features_of(asked: Asked, told: Sequence[Evidence]) -> Columns:
    return features.features(asked, pool_of(told, asked))


def of_use(asked: Asked, told: Sequence[Evidence], fading: Fading) -> Columns:
    return features.of_use(asked, pool_of(told, asked), fading)


def arranged(asked: Asked, told: Sequence[Evidence], worth: Sequence[float]) -> Arranged:
    return scores.arranged(asked, pool_of(told, asked), np.array(worth, dtype=float))


def by_worth(told: Sequence[Evidence], worth: Sequence[float]) -> list[int]:
    return scores.by_worth(pool_of(told), np.array(worth, dtype=float))


def spread(told: Sequence[Evidence], worth: Sequence[float]) -> list[float]:
    return list(map(float, scores.spread(pool_of(told), np.array(worth, dtype=float))))


def told(columns: Columns, names: Iterable[str]) -> list[dict[str, float]]:
    """Return the reasons of each candidate as a hit has them: the features that are not 0."""
    return [{name: value for name, value in features.items() if value} for features in whole(columns, names)]


def micros(year: int, month: int, day: int, hour: int = 12) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp() * 1_000_000)


def held(length: int = 10, distinct: int = 8, pairs: int = 0, **counts: int) -> Held:
    return Held(length, distinct, counts, pairs)


def one(row: int, has: Held | None = None, **values: Any) -> Evidence:
    return Evidence((0, row), f"m{row}", has or Held(10, 8), **values)


def column(name: str, *pool: Evidence, asked: Asked = ASKED) -> list[float]:
    return list(map(float, features_of(asked, pool)[name]))


def columns_of(asked: Asked, pool: Sequence[Evidence]) -> Columns:
    """Return all features that a policy may use, except those that depend on an order."""
    columns = features_of(asked, pool) | of_use(asked, pool, Fading())
    return columns | {"relevance": relevance(columns)}


def scored(asked: Asked, pool: Sequence[Evidence], policy: Policy) -> tuple[list[dict[str, float]], list[float]]:
    """Return the reasons and the score of each candidate."""
    columns = columns_of(asked, pool)
    counted = [name for name in FEATURES if policy.counts(name)]
    worth = [policy.worth(why) for why in told(columns, counted)]
    if asked.is_overview and policy.counts("spread"):
        columns["spread"] = np.array(spread(pool, worth))
    why = told(columns, counted)
    return why, [policy.worth(reasons) for reasons in why]


def usage(drawn: random.Random, now: int) -> Usage:
    if drawn.random() < 0.3:
        return UNUSED
    rewards = [drawn.uniform(-2, 2) for _ in range(drawn.randrange(3))]
    used = Usage(accesses=drawn.randrange(40), reviews=drawn.randrange(5), rewards=sum(rewards), rewarded=len(rewards))
    return replace(used, last_access=moment(now - drawn.randrange(20) * DAY))


def evidence(drawn: random.Random, row: int) -> Evidence:
    counts = {term: count for term in ("heron", "nest") if (count := drawn.randrange(3))}
    flags = ("by_named", "by_agent", "asks", "tells_time", "says_when", "echo")
    return one(
        row,
        Held(drawn.randrange(1, 60), drawn.randrange(1, 30), counts, drawn.randrange(3)),
        around=[(distance, held(heron=drawn.randrange(2))) for distance in drawn.sample(DISTANCES, k=2)],
        before=(0, row - 1) if drawn.random() < 0.5 else None,
        occasion=drawn.choice([None, "a", "b"]),
        at=micros(2023, 5, 1) + drawn.randrange(30) * DAY,
        dense=drawn.choice([None, drawn.uniform(-0.1, 0.9)]),
        lead=drawn.choice([None, None, drawn.uniform(-0.1, 0.9)]),
        window=drawn.choice([None, drawn.uniform(-0.1, 0.9)]),
        **{name: drawn.choice([None, None, drawn.uniform(0, 0.9)]) for name in ("rule", "wish")},
        **{name: drawn.random() < 0.3 for name in flags},
        place=drawn.randrange(20),
        importance=drawn.random(),
        strength=drawn.uniform(0, 2),
        used=usage(drawn, micros(2023, 6, 1)),
        fact=drawn.choice([0.0, 0.5, 1.0]),
        tied=[(0, other) for other in range(row) if drawn.random() < 0.2],
        copy_of=drawn.choice([None, None, "said", "again"]),
        overturned=drawn.choice([None, None, OVERTURNED]),
        stated=drawn.choice([None, None, Stated(None, micros(2023, 5, 9)), Stated(micros(2023, 5, 9), None, True)]),
        overturns=[(0, other) for other in range(row) if drawn.random() < 0.1],
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
        looks_back=drawn.random() < 0.3,
        heeds_rules=drawn.random() < 0.5,
    )


def made(seed: int, size: int) -> tuple[Asked, list[Evidence]]:
    """Return a random question and its candidates."""
    drawn = random.Random(seed)
    return question(drawn), [evidence(drawn, row) for row in range(size)]
