"""Weights fitted to questions with known evidence: which features of hits speak for evidence, and which against.

Listwise: among the hits of a question, its evidence should be chosen. A hit is chosen with a probability in proportion
to exp(HARDNESS * sum(weight * feature)). Weights that the questions leave open keep their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

HARDNESS = 10.0
"""Sharpness of the choice: a difference of 0.1 makes a hit e times as likely."""
LEEWAY = 0.1
"""Standard deviation of the prior around each initial weight."""
MOST = 100.0
"""Largest weight that recall accepts."""
FIGURES = 6
STEPS, ENOUGH = 100, 1e-9
"""Most steps of a fit, and the gain for each question below which it stops."""
DESCENT, SHORTEST = 1e-4, 1e-9

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The features of a question's hits, a row each, and the probability that each should get."""

    features: Array
    wanted: Array


def lesson(reasons: Sequence[Mapping[str, float]], names: Sequence[str], evidence: Sequence[bool]) -> Lesson | None:
    """Return a lesson from the features of each hit. None if all hits are evidence, or none: that teaches nothing."""
    if all(evidence) or not any(evidence):
        return None
    features = np.array([[why.get(name, 0.0) for name in names] for why in reasons])
    wanted = np.array(evidence, dtype=np.float64)
    return Lesson(features, wanted / wanted.sum())


def fitted(lessons: Sequence[Lesson], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights fitted by Newton's method. The loss is convex, so the order of lessons does not matter."""
    if not lessons:
        return dict(weights)
    lists = _Lists.of(lessons)
    begin = HARDNESS * np.array(list(weights.values()))
    loss = _Loss(lists, begin, (HARDNESS * LEEWAY) ** -2)
    here = begin
    for _ in range(STEPS):
        gradient, curvature = loss.slopes(here)
        step = np.linalg.solve(curvature, gradient)
        if float(gradient @ step) < ENOUGH * len(lessons):
            break
        here = loss.descended(here, step, float(gradient @ step))
    found = np.clip(here / HARDNESS, -MOST, MOST)
    return {name: round(float(value), FIGURES) for name, value in zip(weights, found, strict=True)}


@dataclass(frozen=True, slots=True)
class _Lists:
    """The rows of all lessons in one array, with the first row of each lesson."""

    features: Array
    wanted: Array
    starts: Array
    lesson: Array

    @classmethod
    def of(cls, lessons: Sequence[Lesson]) -> _Lists:
        sizes = [len(one.wanted) for one in lessons]
        return cls(
            np.concatenate([one.features for one in lessons]),
            np.concatenate([one.wanted for one in lessons]),
            np.cumsum([0, *sizes[:-1]]),
            np.repeat(np.arange(len(lessons)), sizes),
        )

    def chosen(self, worth: Array) -> tuple[Array, float]:
        """Return the probability of each row, and the loss."""
        best = np.maximum.reduceat(worth, self.starts)
        parts = np.exp(worth - best[self.lesson])
        sums = np.add.reduceat(parts, self.starts)
        cost = float((best + np.log(sums)).sum() - self.wanted @ worth)
        return parts / sums[self.lesson], cost


@dataclass(frozen=True, slots=True)
class _Loss:
    lists: _Lists
    begin: Array
    hold: float

    def of(self, here: Array) -> float:
        away = here - self.begin
        return self.lists.chosen(self.lists.features @ here)[1] + self.hold / 2 * float(away @ away)

    def slopes(self, here: Array) -> tuple[Array, Array]:
        """Return gradient and curvature."""
        features = self.lists.features
        chosen, _ = self.lists.chosen(features @ here)
        expected = np.add.reduceat(features * chosen[:, None], self.lists.starts)
        gradient = expected.sum(axis=0) - features.T @ self.lists.wanted + self.hold * (here - self.begin)
        spread = features.T @ (features * chosen[:, None]) - expected.T @ expected
        return gradient, spread + self.hold * np.eye(len(here))

    def descended(self, here: Array, step: Array, slope: float) -> Array:
        """Return the weights after the step, shortened until the loss falls enough."""
        before, share = self.of(here), 1.0
        while share > SHORTEST and self.of(here - share * step) > before - DESCENT * share * slope:
            share /= 2
        return here - share * step
