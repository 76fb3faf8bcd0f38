"""From evidence to features: one number per candidate and reason. Pure arithmetic; `scores` holds the weights.

A feature of 0 is no reason. Most are relative to the best candidate of the query; cosines are absolute. Sums run in a
fixed order, so that a candidate's features are equal to the last bit in any pool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pieria.recall.bm25 import SATURATION, Corpus
from pieria.recall.pool import Flags, Floats, Pool
from pieria.recall.query import Asked, Span, Stated
from pieria.record.decay import DAY, RECENCY_DAYS, Fading, frequency, proven, reward
from pieria.record.usage import UNUSED

OWN_LENGTH, WINDOW_LENGTH = 0.4, 0.6
"""How much length counts against a text alone, and against a text with its neighbours."""
PART_LENGTH = 180.0
"""Terms in one part of a long text. It caps the mean length in a bank of long texts."""
SHARES = {1: 0.5, 2: 0.3, 3: 0.15}
"""The share of its terms that a neighbour at this distance lends."""
LEANS_WHOLLY, LEANS_HALF = 25, 60
"""A text of up to `LEANS_WHOLLY` terms uses its neighbours fully. Longer ones use them less; `LEANS_HALF` sets how
slowly."""
LEXICAL_PART, DENSE_PART = 0.6, 0.4
SUPPORTERS = 3
"""Best candidates of a session that add up to its score."""
GUESSED, GUESSED_BY_WORDS, GUESSED_BY_SHARE = 0.42, 0.08, 0.33
"""Mean similarity of a text that shares no term with the query, relative to the nearest; what shared terms add."""
EXPECTED = 0.45
"""Least similarity assumed for the nearest text: while little is embedded, the nearest may be missing."""
LEADING = 0.6
"""Weight of a long text's beginning in its similarity."""
BY_LEAD, BY_LEAD_SHARE, BY_LEAD_WORDS = 0.1, 0.7, 0.2
"""Mean similarity of a long text's nearest passage, from that of its beginning and from shared terms."""
LONG, LED_BY = 200.0, 0.7
"""Least terms of a text with several passages; the mean similarity of its beginning, relative to the nearest passage.
Texts with supplied vectors have no vector of their beginning."""
OWN_SHARE, WINDOW_SHARES, RISE = 0.2, {1: 0.22, 2: 0.24}, 0.13
"""Shares of a turn and of each neighbour in the estimated window similarity; its rise over their mean."""
THIN = 5.0
"""Scale of `thin`, in distinct terms: a turn with many more says enough on its own."""
AFTERWARDS_DAYS = 7.0
"""People tell of a day afterwards: by then a match has faded to a third. Before the day it fades within one day."""
OPENING = 10.0
LOOKED_BACK = 0.1
"""Weight of "no longer holds" where a query asks for the past."""
YEAR_DAYS = 365.2425
BLURRED, LEEWAY, JUST_OUTSIDE = 0.1, DAY / 24, 0.5
"""The imprecision of a relative time: a share of its length, and a minimum; and the score just outside of it."""

Columns = dict[str, Floats]


def features(asked: Asked, pool: Pool) -> Columns:
    """Return one column per feature, with one line per candidate in the order of the pool."""
    count, known = len(pool), asked.known
    held, lengths = pool.counts[:, :count], pool.lengths[:count]
    has_neighbours = np.any([lines >= 0 for lines in pool.beside.values()], axis=0)
    lean = np.where(has_neighbours, np.minimum(1.0, (LEANS_WHOLLY + LEANS_HALF) / (lengths + LEANS_HALF)), 0.0)
    weights = [known.weights.get(term, 0.0) for term in pool.terms]
    own = _by_best(_own(weights, known, pool))
    lexical = lean * _by_best(_with_neighbours(weights, known, pool)) + (1 - lean) * own
    cover = _coverage(weights, known, held)
    guessed = GUESSED + GUESSED_BY_WORDS * lexical + GUESSED_BY_SHARE * cover
    dense = _nearness(pool, guessed, cover)
    best = max(0.0, float(dense.max(initial=0.0)))
    base = _by_best(LEXICAL_PART * lexical + DENSE_PART * _standing_out(dense, best))
    overview, when = float(asked.is_overview), float(asked.is_when)
    then = _held_then(asked, pool)
    return {
        "lexical": lexical,
        "dense": dense,
        "window": np.where(np.isnan(pool.window), _among_others(pool, dense), pool.window),
        "matter": pool.nearer,
        "session": _sessions(pool, base),
        "author": pool.by_named.astype(float),
        "date": np.maximum(_dates(asked, pool), then),
        "then": _then(asked, pool),
        "reply": _replies(pool, base) * lean,
        "thin": base * pool.is_turn * np.exp(-pool.distinct / THIN),
        "agent": pool.by_agent.astype(float),
        "digest": pool.is_summary * (1 - overview),
        "echo": pool.echo.astype(float),
        "overturned": _overturned(asked, pool) * (1 - then),
        "overturns": _overturning(pool, base * (1 - then)) * (not asked.looks_back),
        "cover": cover,
        "phrase": _by_best(pool.pairs),
        "quoted": pool.quoted,
        "when": base * pool.tells_time * when,
        **_standing(asked, pool, best),
        "opener": np.where(pool.by_agent | np.isnan(pool.place), 0.0, np.exp(-pool.place / OPENING)) * overview,
        "entity": _names(asked, pool, held > 0),
        "fact": pool.fact,
        "link": _tied(pool, base),
        "importance": pool.importance,
        "recency": np.exp(-math.log(2) * np.maximum(0, asked.now - pool.at) / DAY / RECENCY_DAYS),
        "usage": np.array([0.0 if used is UNUSED else proven(used) for used in pool.used]),
        "validity": pool.says_when.astype(float),
    }


def _nearness(pool: Pool, guessed: Floats, cover: Floats) -> Floats:
    """Return the similarity of each whole text. Estimate what was not compared, from its beginning or from shared
    terms.

    A long text mostly states its topic at the beginning, and among many passages one is near by chance.
    """
    by_lead = np.maximum(pool.lead, BY_LEAD + BY_LEAD_SHARE * pool.lead + BY_LEAD_WORDS * cover)
    whole = np.where(np.isnan(pool.dense), by_lead, pool.dense)
    lead = np.where(np.isnan(pool.lead) & (pool.lengths[: len(pool)] >= LONG), LED_BY * pool.dense, pool.lead)
    near = np.where(np.isnan(lead), whole, LEADING * lead + (1 - LEADING) * whole)
    nearest = max(EXPECTED, float(np.nanmax(near))) if pool.is_compared.any() else 0.0
    return np.where(pool.is_compared, near, nearest * guessed)


def of_use(asked: Asked, pool: Pool, fading: Fading) -> Columns:
    """Return the features of multiplying policies: use and retention of each candidate."""
    each = [pool.candidate(number).wear for number in range(len(pool))]
    return {
        "frequency": np.array([frequency(wear.used.accesses) for wear in each]),
        "reward": np.array([reward(wear.used) for wear in each]),
        "retention": np.array([min(1.0, fading.of(wear, asked.now)) for wear in each]),
    }


def _bm25(weights: list[float], counts: Floats, relative: Floats, length_share: float) -> Floats:
    damping = SATURATION * (1 - length_share + length_share * relative)
    found = np.zeros(counts.shape[1])
    for weight, count in zip(weights, counts, strict=True):
        if weight:
            found += weight * count / (count + damping)
    return found


def _own(weights: list[float], known: Corpus, pool: Pool) -> Floats:
    """Return BM25 over the text. For a long text, over its best part: the rest may be beside the point."""
    count, mean = len(pool), min(known.mean_length, PART_LENGTH) or 1.0
    found = _bm25(weights, pool.counts[:, :count], pool.lengths[:count] / mean, OWN_LENGTH)
    parts = pool.parts
    if len(parts.lines):
        best = np.zeros(count)
        np.maximum.at(best, parts.lines, _bm25(weights, parts.counts, parts.lengths / mean, OWN_LENGTH))
        found[parts.lines] = best[parts.lines]
    return found


def _with_neighbours(weights: list[float], known: Corpus, pool: Pool) -> Floats:
    """Return BM25 over the text and the share that each neighbour lends."""
    counts, lengths = pool.counts[:, : len(pool)].copy(), pool.lengths[: len(pool)].copy()
    for distance, lines in pool.beside.items():
        share = SHARES.get(abs(distance), 0.0)
        counts += share * pool.counts[:, lines]
        lengths += share * pool.lengths[lines]
    mean = known.mean_length * (1 + 2 * sum(SHARES.values()))
    return _bm25(weights, counts, lengths / mean if mean else lengths, WINDOW_LENGTH)


def _coverage(weights: list[float], known: Corpus, counts: Floats) -> Floats:
    held = np.zeros(counts.shape[1])
    if known.whole <= 0:
        return held
    for weight, count in zip(weights, counts, strict=True):
        held += weight * (count > 0)
    return np.minimum(1.0, held / known.whole)


def _among_others(pool: Pool, dense: Floats) -> Floats:
    """Return the window similarity. Estimate a missing one from the similarities of the turn and its neighbours."""
    count = len(pool)
    near: Floats = OWN_SHARE * dense
    shares: Floats = np.full(count, OWN_SHARE)
    for distance, lines in pool.beside.items():
        share = WINDOW_SHARES.get(abs(distance))
        if share is not None:
            told = (lines >= 0) & (lines < count)
            near = near + np.where(told, share * dense[np.where(told, lines, 0)], 0.0)
            shares += share * told
    return np.where(shares > OWN_SHARE, near / shares * (1 + RISE), dense)


def _names(asked: Asked, pool: Pool, holds: Flags) -> Floats:
    """Return the share of the query's entities that the text or its labels name."""
    found = np.zeros(len(pool))
    if not asked.entities:
        return found
    lines = dict(zip(pool.terms, holds, strict=True))
    nothing = np.zeros(len(pool), dtype=bool)
    for terms in asked.entities:
        found += np.logical_and.reduce([lines.get(term, nothing) for term in terms], axis=0)
    return found / len(asked.entities)


def _by_best(column: NDArray[Any]) -> Floats:
    best = float(column.max(initial=0.0))
    return column / best if best > 0 else np.zeros(len(column))


def _standing_out(cosine: Floats, best: float) -> Floats:
    """Return 0 for half the best similarity or less, and 1 for the best."""
    return np.maximum(0.0, 2 * cosine / best - 1) if best > 0 else np.zeros(len(cosine))


def _tied(pool: Pool, base: Floats) -> Floats:
    """Return the base score of the best memory that a link ties to it. Summaries give and get none: they link to
    everything they sum up."""
    found = np.zeros(len(pool))
    for line, others in pool.tied.items():
        if not pool.is_summary[line]:
            found[line] = max((base[other] for other in others if not pool.is_summary[other]), default=0.0)
    return found


def _overturning(pool: Pool, base: Floats) -> Floats:
    """Return the base score of the memory it overturns: the newer one is likely the answer, in any wording."""
    found = np.zeros(len(pool))
    for line, others in pool.overturns.items():
        found[line] = max(base[other] for other in others)
    return found


def _sessions(pool: Pool, base: Floats) -> Floats:
    """Return the score of each candidate's session: the sum of its best candidates. One without a session
    counts alone."""
    codes: dict[object, int] = {}
    each = [
        codes.setdefault(key if occasion is None or is_summary else occasion, len(codes))
        for key, occasion, is_summary in zip(pool.keys, pool.occasions, pool.is_summary.tolist(), strict=True)
    ]
    places = np.array(each, dtype=np.intp)
    order = np.lexsort((-base, places))
    sorted_places = places[order]
    begins = np.flatnonzero(np.diff(sorted_places, prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    best = order[rank < SUPPORTERS]
    sums = np.bincount(places[best], weights=base[best], minlength=len(codes))
    return _by_best(sums[places])


def _replies(pool: Pool, base: Floats) -> Floats:
    """Return the base score of the turn before, if that one asks a question: this turn is likely its answer."""
    before = pool.beside[-1]
    known = (before >= 0) & (before < len(pool))
    place = np.where(known, before, 0)
    return np.where(known & pool.asks[place] & ~pool.asks, base[place], 0.0)


def _standing(asked: Asked, pool: Pool, best: float) -> Columns:
    """Return the features of rules and wishes: they count where the query asks for an action, and by similarity
    to it."""
    wanted = asked.wants_done if asked.heeds_rules else 0.0
    is_rule = ~np.isnan(pool.rule)
    return {
        "rule": wanted * is_rule,
        "rule_fit": wanted * _standing_out(np.nan_to_num(pool.rule), best),
        "wish_fit": wanted * _standing_out(np.nan_to_num(pool.wish), best),
    }


def _dates(asked: Asked, pool: Pool) -> Floats:
    found = np.zeros(len(pool))
    for span in asked.spans:
        if not span.is_counted:
            found = np.maximum(found, _fits(span, pool.at.astype(float)))
    return found


def _then(asked: Asked, pool: Pool) -> Floats:
    """Return 1 for a memory said within a relative time, less the further outside of it, before and after alike."""
    found = np.zeros(len(pool))
    for span in asked.spans:
        if span.is_counted:
            since, until = span.since or 0, span.until or 0
            outside = np.maximum(0, np.maximum(since - pool.at, pool.at - until))
            fits = np.exp(-outside / max(LEEWAY, (until - since) * BLURRED))
            found = np.maximum(found, np.where(outside > 0, JUST_OUTSIDE * fits, fits))
    return found


def _overturned(asked: Asked, pool: Pool) -> Floats:
    """Return how far "no longer holds" counts. It counts little where the query asks for the past. For a statement it
    also counts little if the query is in the past tense or nothing replaced the fact."""
    found = np.array([by is not None for by in pool.overturned], dtype=float)
    mild = [of is not None and (asked.is_past or not of.is_replaced) for of in pool.stated]
    return found * np.where(np.array(mild, dtype=bool) | asked.looks_back, LOOKED_BACK, 1.0)


def _held_then(asked: Asked, pool: Pool) -> Floats:
    """Return 1 for a statement that held at a time the query names. Where the query looks back, return 1 also for one
    that no longer holds. A statement without a time matches no named time."""
    spans = [span for span in asked.spans if not span.yearly]
    each = zip(pool.stated, pool.overturned, strict=True)
    return np.array(
        [of is not None and ((asked.looks_back and by is not None) or _held(of, spans)) for of, by in each], dtype=float
    )


def _held(of: Stated, spans: Sequence[Span]) -> bool:
    if of.since is None and of.until is None:
        return False
    begin, end = of.since or -math.inf, of.until or math.inf
    return any((span.until or math.inf) > begin and (span.since or -math.inf) < end for span in spans)


def _fits(span: Span, at: Floats) -> Floats:
    """Return 1 within the span, less and less after it, almost 0 before it."""
    if not (span.yearly and span.since is not None and span.until is not None):
        return _fit(span.since, span.until, at)
    year = YEAR_DAYS * DAY
    whole = np.floor((at - span.since) / year)
    # Compare with the span of that year, and with that of the year before.
    shifts: list[Callable[[Floats], Floats]] = [lambda w: np.trunc(w * year), lambda w: np.trunc((w + 1) * year)]
    return np.maximum(*(_fit(span.since, span.until, at - shift(whole)) for shift in shifts))


def _fit(since: int | None, until: int | None, at: Floats) -> Floats:
    found = np.ones(len(at))
    if until is not None:
        found = np.where(at >= until, np.exp(-np.maximum(0.0, at - until) / DAY / AFTERWARDS_DAYS), found)
    if since is not None:
        found = np.where(at < since, np.exp(-np.maximum(0.0, since - at) / DAY), found)
    return found
