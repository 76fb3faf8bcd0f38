"""Results of a retrieval benchmark: tables of shares with their intervals, for programs and as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any

from benchmarks.intervals import FIGURES, Estimate, mean, told_apart, told_apart_better
from benchmarks.retrieval import FITTED, FRESH, SLEPT, WHOLE, Answer

ALL = "all"
COMPARED = ("R@10", "session R@5")
"""Shares that are compared for each feature that is switched off."""
HEADLINE = "R@10"
ANSWERABLE = "answerable"
OWN, LEARNT = "own", {"fitted": FITTED, "fresh": FRESH}
"""Columns of a conversation's share: with the policy's weights, and with fitted ones."""


def summary(rows: Sequence[Answer]) -> dict[str, Any]:
    """Return the shares with all features, the effect of switching each off, and the shares with fitted weights."""
    ways: dict[str, list[Answer]] = defaultdict(list)
    for row in rows:
        ways[row.way].append(row)
    whole = ways.pop(WHOLE)
    learnt = {name: ways.pop(way) for name, way in LEARNT.items() if way in ways}
    slept = ways.pop(SLEPT, None)
    return {
        "model": whole[-1].model,
        "left_out": dict(whole[-1].left_out),
        "kinds": _by_kind(whole),
        ANSWERABLE: _told(told_apart(*_confidences(whole))),
        "conversations": {"R@10": _rounded(_by_conversation(whole)), "spread": _spread(_by_conversation(whole))},
        "recall": _times(whole),
        "without": _by_effect({way: _compared(whole, of) for way, of in ways.items()}),
        "after_sleep": None if slept is None else _slept(whole, slept),
        "leave_one_out": _left_out(whole, learnt) if learnt else None,
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the result as lines for people."""
    yield f"model: {result['model'] or 'none'}"
    for arm, reason in result["left_out"].items():
        yield f"arm {arm} was left out: {reason}"
    for kind, told in result["kinds"].items():
        shares = "  ".join(f"{name} {_interval(of)}" for name, of in told.items() if name != "questions")
        yield f"{kind:<28} {told['questions']:>5}  {shares}"
    if result[ANSWERABLE] is not None:
        yield f"what has an answer is told from what has none: {_interval(result[ANSWERABLE])}"
    if result["recall"]["times"] is not None:
        yield f"a recall takes {result['recall']['times']:.2f} times as long as embedding its question, p50"
    if result["without"]:
        yield "switched off, and what that changes (* where 0 is outside the interval)"
    for name, told in result["without"].items():
        yield f"{name:<48} " + "  ".join(f"{share} {_change(of)}" for share, of in told.items())
    if result["after_sleep"] is not None:
        told = result["after_sleep"]
        yield "after a sleep     " + "  ".join(f"{name} {_change(of)}" for name, of in told["compared"].items())
        yield f"summaries before a source of theirs: {told['ahead']:,}"
    if result["leave_one_out"] is not None:
        yield from _lines_left_out(result["leave_one_out"])


def _times(rows: Sequence[Answer]) -> dict[str, float | None]:
    """Return the median time of a recall, of embedding its query in the same run, and their ratio."""
    recall = median(row.seconds for row in rows)
    embedded = [row.embedded for row in rows if row.embedded is not None]
    told: dict[str, float | None] = {"ms": round(1000 * recall, 2), "embedding_ms": None, "times": None}
    if embedded:
        told |= {"embedding_ms": round(1000 * median(embedded), 2), "times": round(recall / median(embedded), 2)}
    return told


def _lines_left_out(told: Mapping[str, Any]) -> Iterator[str]:
    columns = (OWN, *LEARNT)
    yield f"{HEADLINE} by the policy's own weights, by weights fitted from these on all others, and fitted from nothing"
    for name, of in told["conversations"].items():
        yield f"{name:<28} " + "  ".join(f"{of[column]:.3f}" for column in columns)
    for column in columns:
        of = told[column]
        yield f"{column:<28} {_interval(of)}" + ("" if of["spread"] is None else f"  spread {of['spread']:.3f}")
    for column in LEARNT:
        yield f"{column + ' - ' + OWN:<28} {_signed(told[column]['difference'])}"


def _by_kind(rows: Sequence[Answer]) -> dict[str, Any]:
    kinds: dict[str, list[Answer]] = defaultdict(list)
    for row in _with_evidence(rows):
        kinds[ALL].append(row)
        kinds[row.asked.kind].append(row)
    ordered = sorted(kinds.items(), key=lambda held: (held[0] != ALL, held[0]))
    return {
        kind: {"questions": len(of), **{name: mean(_shares(of, name)).as_dict() for name in of[0].shares}}
        for kind, of in ordered
    }


def _by_conversation(rows: Sequence[Answer]) -> dict[str, float]:
    shares: dict[str, list[float]] = defaultdict(list)
    for row in _with_evidence(rows):
        shares[row.conversation].append(row.shares[HEADLINE])
    return {name: fmean(values) for name, values in shares.items()}


def _compared(whole: Sequence[Answer], without: Sequence[Answer]) -> dict[str, Any]:
    """Return paired differences: both lists hold the same questions in the same order."""
    ours, theirs = _with_evidence(without), _with_evidence(whole)
    told = {}
    for name in COMPARED:
        if ours and name in ours[0].shares:
            pairs = zip(_shares(ours, name), _shares(theirs, name), strict=True)
            told[name] = _with_difference(mean(_shares(ours, name)), mean([one - other for one, other in pairs]))
    area = told_apart(*_confidences(without))
    better = told_apart_better(*_confidences(without), *_confidences(whole))
    if area is not None and better is not None:
        told[ANSWERABLE] = _with_difference(area, better)
    return told


def _slept(whole: Sequence[Answer], slept: Sequence[Answer]) -> dict[str, Any]:
    return {"compared": _compared(whole, slept), "ahead": sum(row.ahead for row in slept)}


def _by_effect(told: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the features, the most useful first."""
    return dict(sorted(told.items(), key=lambda held: held[1][HEADLINE]["difference"]["mean"]))


def _left_out(own: Sequence[Answer], learnt: Mapping[str, Sequence[Answer]]) -> dict[str, Any]:
    """Return the shares by conversation. Each conversation counts as one sample."""
    columns = {OWN: _by_conversation(own), **{name: _by_conversation(of) for name, of in learnt.items()}}
    weights = {name: {row.conversation: dict(row.weights) for row in of} for name, of in learnt.items()}
    told: dict[str, Any] = {
        name: {**mean(list(of.values())).as_dict(), "spread": _spread(of)} for name, of in columns.items()
    }
    for name in learnt:
        pairs = zip(columns[name].values(), columns[OWN].values(), strict=True)
        told[name]["difference"] = mean([one - other for one, other in pairs]).as_dict()
    told["conversations"] = {
        conversation: {
            **{name: round(of[conversation], FIGURES) for name, of in columns.items()},
            "weights": {name: of[conversation] for name, of in weights.items()},
        }
        for conversation in columns[OWN]
    }
    return told


def _with_evidence(rows: Sequence[Answer]) -> list[Answer]:
    return [row for row in rows if row.asked.evidence is not None]


def _shares(rows: Sequence[Answer], name: str) -> list[float]:
    return [row.shares[name] for row in rows]


def _confidences(rows: Sequence[Answer]) -> tuple[list[float], list[float]]:
    """Return the confidences of questions with an answer, and of those without."""
    can = [row.confidence for row in rows if row.asked.evidence is not None]
    cannot = [row.confidence for row in rows if row.asked.evidence is None]
    return can, cannot


def _spread(values: Mapping[str, float]) -> float | None:
    """Return the standard deviation between conversations, or None for a single one."""
    return round(stdev(values.values()), FIGURES) if len(values) > 1 else None


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, FIGURES) for name, value in values.items()}


def _told(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else estimate.as_dict()


def _with_difference(estimate: Estimate, difference: Estimate) -> dict[str, Any]:
    return {"mean": round(estimate.value, FIGURES), "difference": difference.as_dict()}


def _interval(of: Mapping[str, float]) -> str:
    return f"{of['mean']:.3f} [{of['from']:.3f}, {of['to']:.3f}]"


def _change(of: Mapping[str, Any]) -> str:
    by = of["difference"]
    mark = "*" if by["from"] > 0 or by["to"] < 0 else " "
    return f"{of['mean']:.3f} {_signed(by)}{mark}"


def _signed(of: Mapping[str, float]) -> str:
    return f"{of['mean']:+.3f} [{of['from']:+.3f}, {of['to']:+.3f}]"
