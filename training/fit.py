"""Fits and measures a model that judges sentences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pieria.language.sentence_model import SCALE, Model, judge, probability

FOLDS = 5
STEPS = 250
RATE = 0.1
PENALTY = 3.0
"""Of the squared weights: what keeps rare words from deciding alone."""
SEEN = 3
"""Sentences that must have a feature before it gets weights."""
KEPT, KEPT_FOR_KINDS = 26_000, 3_000
"""Features in the file: those that speak the most for or against a wanted sentence, or a kind of it."""


class Example(NamedTuple):
    """A sentence. Those with the same `source` are never separated: one text, or one day of work."""

    features: list[str]
    label: str
    language: str
    source: int


class Task(NamedTuple):
    """What a model decides: the wanted kinds, and the least probability that counts in the figures."""

    kinds: tuple[str, ...]
    least: float


class Matrix(NamedTuple):
    """The features of all examples one after the other, with where each example begins."""

    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]


def train(examples: Sequence[Example], task: Task) -> Model:
    """Fit a logistic regression over features that are scaled by how much more often wanted sentences have them.

    Of words that are seen seldom, this trusts those that are seen on one side alone.
    """
    counts = Counter(feature for example in examples for feature in example.features)
    names = [feature for feature, count in counts.items() if count >= SEEN]
    vocabulary = {feature: column for column, feature in enumerate(names)}
    matrix = _matrix(examples, vocabulary)
    labels = np.array([example.label for example in examples])
    scale = _ratios(matrix, np.isin(labels, task.kinds), len(names))
    scale[vocabulary[""]] = 1
    weights = scale * _fit(matrix, np.isin(labels, task.kinds), scale)
    kinds = _kinds([example for example in examples if example.label in task.kinds], vocabulary, task)
    spread = np.ptp(kinds, axis=1)
    return Model(
        {names[column]: round(SCALE * weights[column]) for column in _largest(np.abs(weights), KEPT)},
        {
            names[column]: np.rint(SCALE * kinds[column]).astype(int).tolist()
            for column in _largest(spread, KEPT_FOR_KINDS)
        },
        list(task.kinds),
    )


def _kinds(wanted: Sequence[Example], vocabulary: dict[str, int], task: Task) -> NDArray[np.float64]:
    """Return the weights of each feature for each kind against the others, a row a feature."""
    matrix = _matrix(wanted, vocabulary)
    labels = np.array([example.label for example in wanted])
    fitted = []
    for kind in task.kinds:
        scale = _ratios(matrix, labels == kind, len(vocabulary))
        scale[vocabulary[""]] = 1
        fitted.append(scale * _fit(matrix, labels == kind, scale))
    return np.stack(fitted, axis=1)


def _largest(sizes: NDArray[np.float64], count: int) -> list[int]:
    return sorted(np.argsort(-sizes, kind="stable")[:count].tolist())


def _matrix(examples: Sequence[Example], vocabulary: dict[str, int]) -> Matrix:
    known = [[vocabulary[feature] for feature in example.features if feature in vocabulary] for example in examples]
    lengths = np.array([len(columns) for columns in known])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    rows = np.repeat(np.arange(len(known)), lengths)
    return Matrix(np.array([column for columns in known for column in columns]), starts, rows)


def _ratios(matrix: Matrix, wanted: NDArray[np.bool_], width: int) -> NDArray[np.float64]:
    """Return for each feature the logarithm of how much more often the wanted examples have it than the others."""
    inside, outside = (
        1 + np.bincount(matrix.columns[group[matrix.rows]], minlength=width) for group in (wanted, ~wanted)
    )
    ratios: NDArray[np.float64] = np.log((inside / inside.sum()) / (outside / outside.sum()))
    return ratios


def _fit(matrix: Matrix, wanted: NDArray[np.bool_], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a logistic regression by Adam."""
    weights = np.zeros(len(scale))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = _chances(matrix, scale * weights) - wanted
        summed = np.bincount(matrix.columns, weights=error[matrix.rows], minlength=len(weights))
        gradient = (scale * summed + PENALTY * weights) / len(wanted)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = RATE * (1 - step / STEPS)
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def _chances(matrix: Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    chances: NDArray[np.float64] = 1 / (1 + np.exp(-np.add.reduceat(weights[matrix.columns], matrix.starts)))
    return chances


def cross_validate(examples: Sequence[Example], task: Task) -> dict[str, dict[str, float]]:
    """Return how many wanted sentences are found, and how many others are taken for one: in all, and in English."""
    found = np.zeros(len(examples))
    named = np.zeros(len(examples), dtype=bool)
    for fold in range(FOLDS):
        held_out = [place for place, example in enumerate(examples) if example.source % FOLDS == fold]
        model = train([example for example in examples if example.source % FOLDS != fold], task)
        for place in held_out:
            found[place] = probability(examples[place].features, model.wanted)
            judged = judge(model, examples[place].features, 0.0)
            named[place] = judged is not None and judged.kind == examples[place].label
    wanted = np.array([example.label in task.kinds for example in examples])
    english = np.array([example.language == "en" for example in examples])
    figures = {}
    for name, group in (("all", english | True), ("english", english), ("others", ~english)):
        taken = found[group] >= task.least
        figures[name] = {
            "sentences": int(group.sum()),
            "auc": round(_area(found[group], wanted[group]), 3),
            "found": round(float(taken[wanted[group]].mean()), 3),
            "mistaken": round(float(taken[~wanted[group]].mean()), 3),
            "right_kind": round(float(named[group & wanted].mean()), 3),
        }
    return figures


def _area(scores: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float:
    """Return the share of pairs, one wanted and one not, that are in the right order."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    positive = int(wanted.sum())
    return float((ranks[wanted].sum() - positive * (positive + 1) / 2) / (positive * (len(scores) - positive)))


def written(model: Model) -> str:
    """Return the file: a feature on a line, so that a change can be read."""
    parts = []
    for name, table in (("wanted", model.wanted), ("kinds", model.kinds)):
        lines = [
            f"{json.dumps(feature, ensure_ascii=False)}:{json.dumps(weight, separators=(',', ':'))}"
            for feature, weight in sorted(table.items())
            if weight
        ]
        parts.append(f'"{name}":{{\n' + ",\n".join(lines) + "\n}")
    parts += [f'"names":{json.dumps(model.names)}']
    return "{" + ",\n".join(parts) + "}\n"
