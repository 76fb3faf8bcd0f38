"""From evidence to features: one number a candidate for each reason there may be to bring it. Pure arithmetic.

A feature of 0 is no reason. Most are relative to the best candidate of the question; cosines are as they are. What each
is worth is told by `policies`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pieria.recall.evidence import Asked, Evidence, Held, Key, Span
from pieria.recall.ranking import Corpus, bm25, coverage, relative
from pieria.record.fading import DAY, Fading, frequency, proven, recency, reward

OWN_LENGTH, WINDOW_LENGTH = 0.4, 0.6
"""How much length counts against a text by itself, and against a text with its neighbours."""
SHARES = {1: 0.5, 2: 0.3, 3: 0.15}
"""What a neighbour at this distance lends of what it holds."""
LEANS_WHOLLY, LEANS_HALF = 25, 60
"""A text of so many terms leans on its neighbours wholly; one of so many more, half as much."""
LEXICAL_PART, DENSE_PART = 0.6, 0.4
SUPPORTERS = 3
"""Candidates of a session whose worth is the session's."""
GUESSED, GUESSED_BY_WORDS, GUESSED_BY_SHARE = 0.42, 0.08, 0.33
"""How near, against the nearest, a text is on average that holds no word of the question; and what words add to it."""
OWN_SHARE, WINDOW_SHARES, RISE = 0.2, {1: 0.22, 2: 0.24}, 0.13
"""What a turn, and each neighbour at this distance, has of what they mean together; which is more than on average."""
THIN = 5.0
"""Different words from which on a turn says enough to stand alone."""
AFTERWARDS_DAYS = 7.0
"""People tell of a day after it: by then a match with it has faded to a third. Before it, within one day."""
OPENING = 10.0
YEAR_DAYS = 365.2425

Columns = dict[str, list[float]]


def features(asked: Asked, pool: Sequence[Evidence]) -> Columns:
    """A column a feature, a line a candidate in the order of the pool."""
    lean = [
        min(1.0, (LEANS_WHOLLY + LEANS_HALF) / (one.held.length + LEANS_HALF)) if one.around else 0.0 for one in pool
    ]
    known = asked.known
    own = _by_best(
        [bm25(known.weights, one.held.counts, relative(one.held.length, known.mean_length), OWN_LENGTH) for one in pool]
    )
    window = _by_best([_with_neighbours(known, one) for one in pool])
    lexical = [share * near + (1 - share) * alone for share, near, alone in zip(lean, window, own, strict=True)]
    best = max((one.dense or 0.0 for one in pool), default=0.0)
    cover = [coverage(one.held.counts, known) for one in pool]
    dense = [
        _guessed(best, word, share) if one.dense is None else one.dense
        for one, word, share in zip(pool, lexical, cover, strict=True)
    ]
    base = _by_best(
        [
            LEXICAL_PART * word + DENSE_PART * _standing_out(sense, best)
            for word, sense in zip(lexical, dense, strict=True)
        ]
    )
    by_key = {one.key: number for number, one in enumerate(pool)}
    sense = {one.key: value for one, value in zip(pool, dense, strict=True)}
    return {
        "lexical": lexical,
        "dense": dense,
        "window": [_among_others(one, sense) if one.window is None else one.window for one in pool],
        "matter": [one.nearer for one in pool],
        "session": _sessions(pool, base),
        "author": [float(one.by_named) for one in pool],
        "date": [max((_fits(span, one.at) for span in asked.spans), default=0.0) for one in pool],
        "reply": [_replies(one, pool, base, by_key) * share for one, share in zip(pool, lean, strict=True)],
        "thin": [
            worth * one.is_turn * math.exp(-one.held.distinct / THIN) for one, worth in zip(pool, base, strict=True)
        ],
        "agent": [float(one.by_agent) for one in pool],
        "digest": [float(one.is_summary and not asked.is_overview) for one in pool],
        "cover": cover,
        "phrase": _by_best([float(one.held.pairs) for one in pool]),
        "quoted": [one.held.quoted for one in pool],
        "when": [worth * (asked.is_when and one.tells_time) for one, worth in zip(pool, base, strict=True)],
        **_standing(asked, pool, best),
        "opener": [_opens(one) * asked.is_overview for one in pool],
        "entity": [_names(asked, one.held) for one in pool],
        "fact": [one.fact for one in pool],
        "link": [_tied(one, pool, base, by_key) for one in pool],
        "importance": [one.importance for one in pool],
        "recency": [recency(asked.now - one.at) for one in pool],
        "usage": [proven(one.used) for one in pool],
        "validity": [float(one.says_when) for one in pool],
    }


def of_use(asked: Asked, pool: Sequence[Evidence], fading: Fading) -> Columns:
    """What policies ask for that multiply: how each candidate has been used and kept."""
    return {
        "frequency": [frequency(one.used.accesses) for one in pool],
        "reward": [reward(one.used) for one in pool],
        "retention": [min(1.0, fading.of(one.wear, asked.now)) for one in pool],
    }


def _names(asked: Asked, held: Held) -> float:
    """The share of the things the question names that the text or its labels name."""
    if not asked.entities:
        return 0.0
    return sum(held.counts.keys() >= terms for terms in asked.entities) / len(asked.entities)


def _by_best(column: list[float]) -> list[float]:
    best = max(column, default=0.0)
    return [value / best for value in column] if best > 0 else [0.0] * len(column)


def _standing_out(cosine: float, best: float) -> float:
    """0 for what is half as similar as the best, or less."""
    return max(0.0, 2 * cosine / best - 1) if best > 0 else 0.0


def _guessed(best: float, word: float, share: float) -> float:
    """How near a text is that was not embedded yet, by how much of the question it holds; nothing without a vector."""
    return best * (GUESSED + GUESSED_BY_WORDS * word + GUESSED_BY_SHARE * share)


def _among_others(one: Evidence, dense: Mapping[Key, float]) -> float:
    """How near a turn is with its neighbours where that was not embedded: by how near each of them is alone."""
    own = dense[one.key]
    told = [(WINDOW_SHARES[abs(distance)], dense[key]) for distance, key in one.beside if key in dense]
    shares = OWN_SHARE + math.fsum(share for share, _ in told)
    return (OWN_SHARE * own + math.fsum(share * near for share, near in told)) / shares * (1 + RISE * bool(told))


def _with_neighbours(known: Corpus, one: Evidence) -> float:
    """BM25 over the text and its neighbours, each lending its share."""
    counts: Mapping[str, float] = one.held.counts
    length = float(one.held.length)
    for distance, held in one.around:
        share = SHARES.get(abs(distance), 0.0)
        length += share * held.length
        if held.counts:
            lent = {term: counts.get(term, 0.0) + share * count for term, count in held.counts.items()}
            counts = {**counts, **lent}
    mean = known.mean_length * (1 + 2 * sum(SHARES.values()))
    return bm25(known.weights, counts, relative(length, mean), WINDOW_LENGTH)


def _tied(one: Evidence, pool: Sequence[Evidence], base: Sequence[float], by_key: dict[Key, int]) -> float:
    """What fits best of what links tie to it. A summary is tied to all that it sums up, and speaks for none of it."""
    tied = (by_key[key] for key in one.tied if key in by_key)
    return max((base[number] for number in tied if not (one.is_summary or pool[number].is_summary)), default=0.0)


def _sessions(pool: Sequence[Evidence], base: Sequence[float]) -> list[float]:
    """A session is worth what its best candidates are worth together. What belongs to none is one by itself."""
    worth: dict[object, list[float]] = defaultdict(list)
    for one, value in zip(pool, base, strict=True):
        worth[_session_of(one)].append(value)
    sums = {session: math.fsum(sorted(values, reverse=True)[:SUPPORTERS]) for session, values in worth.items()}
    return _by_best([sums[_session_of(one)] for one in pool])


def _session_of(one: Evidence) -> object:
    return one.key if one.occasion is None or one.is_summary else one.occasion


def _replies(one: Evidence, pool: Sequence[Evidence], base: Sequence[float], by_key: dict[Key, int]) -> float:
    """What follows a question that fits is likely its answer."""
    number = None if one.before is None else by_key.get(one.before)
    return base[number] if number is not None and pool[number].asks and not one.asks else 0.0


def _standing(asked: Asked, pool: Sequence[Evidence], best: float) -> Columns:
    """Rules and preferences speak where something is to be done, the more the nearer they are to it."""
    wanted = asked.wants_done if asked.heeds_rules else 0.0
    return {
        "rule": [wanted * (one.rule is not None) for one in pool],
        "rule_fit": [wanted * _standing_out(one.rule or 0.0, best) for one in pool],
        "wish_fit": [wanted * _standing_out(one.wish or 0.0, best) for one in pool],
    }


def _opens(one: Evidence) -> float:
    """A session opens with what it is about."""
    return 0.0 if one.place is None or one.by_agent else math.exp(-one.place / OPENING)


def _fits(span: Span, at: int) -> float:
    """1 within the span, less and less after it, hardly anything before it."""
    if span.yearly and span.since is not None and span.until is not None:
        return max(_fit(span.since + shift, span.until + shift, at) for shift in _years_between(span.since, at))
    return _fit(span.since, span.until, at)


def _years_between(since: int, at: int) -> tuple[int, int]:
    """By how much to move a span so that it lies in the year of that moment, and in the one before."""
    year = YEAR_DAYS * DAY
    whole = math.floor((at - since) / year)
    return int(whole * year), int((whole + 1) * year)


def _fit(since: int | None, until: int | None, at: int) -> float:
    if since is not None and at < since:
        return math.exp(-(since - at) / DAY)
    if until is not None and at >= until:
        return math.exp(-(at - until) / DAY / AFTERWARDS_DAYS)
    return 1.0
