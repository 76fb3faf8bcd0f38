"""Weights fitted to questions whose evidence is known: what the features of the hits say for evidence and what against.

Listwise: of all hits of a question its evidence should be what is chosen, where a hit is chosen with a probability in
proportion to exp(HARDNESS * sum(weight * feature)). Whatever the questions leave open stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

HARDNESS = 10.0
"""How decidedly the better is chosen: a difference of a tenth makes it e times as likely."""
LEEWAY = 0.1
"""How far from where it began a weight may be without anything said for it: the standard deviation of the prior."""
MOST = 100.0
"""The largest weight that recall takes."""
FIGURES = 6
STEPS, ENOUGH = 100, 1e-9
"""Steps of a fit at most, and the gain for each question below which there is nothing left to gain."""
DESCENT, SHORTEST = 1e-4, 1e-9

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The hits of one question, a line each, and how much of what should be chosen each one is."""

    features: Array
    wanted: Array


def lesson(reasons: Sequence[Mapping[str, float]], names: Sequence[str], evidence: Sequence[bool]) -> Lesson | None:
    """From what each hit says of why it is one. None where all are evidence, or none: that teaches nothing."""
    if all(evidence) or not any(evidence):
        return None
    features = np.array([[why.get(name, 0.0) for name in names] for why in reasons])
    wanted = np.array(evidence, dtype=np.float64)
    return Lesson(features, wanted / wanted.sum())


def fitted(lessons: Sequence[Lesson], weights: Mapping[str, float]) -> dict[str, float]:
    """Newton's method from these weights; the loss is convex, so there is one answer, whatever the order of lessons."""
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
    """The lines of all lessons one below another, and at which line each lesson begins."""

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
        """The probability of each line, and what it costs that it is not the evidence for certain."""
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
        """Gradient and curvature."""
        features = self.lists.features
        chosen, _ = self.lists.chosen(features @ here)
        expected = np.add.reduceat(features * chosen[:, None], self.lists.starts)
        gradient = expected.sum(axis=0) - features.T @ self.lists.wanted + self.hold * (here - self.begin)
        spread = features.T @ (features * chosen[:, None]) - expected.T @ expected
        return gradient, spread + self.hold * np.eye(len(here))

    def descended(self, here: Array, step: Array, slope: float) -> Array:
        """The whole step, or as much of it as gains what it should."""
        before, share = self.of(here), 1.0
        while share > SHORTEST and self.of(here - share * step) > before - DESCENT * share * slope:
            share /= 2
        return here - share * step
