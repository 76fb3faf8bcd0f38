"""Fit the weights of `packs/turning.toml`: `python -m benchmarks.learning.fit_turns FILE FOLDER --embedder local`.

The data are days with known turns: those in `workdays/tuning`, and days that `turning` makes of the first half of
published conversations. The model is a logistic regression with a penalty towards 0; its output goes into the pack.
`--check` leaves out every fourth day in turn and measures the prediction for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.answerable import DAYS
from benchmarks.learning.turns import Day, conversations, days_of, written_days
from pieria.learning.episode import RECENT
from pieria.models import Embedder, embedder
from pieria.models.mind import StepSeen
from pieria.models.minds.rules.signs import BY_WORDS, SIGNS, Embed, Sight
from pieria.settings import resolve

TUNING = DAYS / "workdays" / "tuning"
MADE, SEED = 24, 11
"""The number of days made of conversations."""
WORK, TALK = 600.0, 450.0
"""The total weight of the steps of work days, and of the steps of conversations."""
HELD = 1.0
"""The strength of the penalty, in units of each feature's spread."""
GIVEN = {"opens": 2.0}
"""Features too rare in these days to be fitted, with their fixed weights."""
ROUNDS, FOLDS = 30, 4
Floats = NDArray[np.float64]


class Told(NamedTuple):
    """One day: feature rows for each step but the first, the fixed part of the score, the labels, the weights."""

    signs: Floats
    given: Floats
    turns: Floats
    weights: Floats


class Weights(NamedTuple):
    at_first: float
    signs: Floats


def told(days: Sequence[Day], weight: float, names: Sequence[str], embed: Embed | None) -> list[Told]:
    steps = sum(len(day.steps) - 1 for day in days)
    return [_told(day, weight / steps, names, embed) for day in days]


def _told(day: Day, weight: float, names: Sequence[str], embed: Embed | None) -> Told:
    rows, given, begun = [], [], 0
    for at in range(1, len(day.steps)):
        before = [StepSeen(*step) for step in day.steps[begun:at][-RECENT:]]
        sight = Sight(*day.steps[at], before, embed)
        rows.append([SIGNS[name](sight) for name in names])
        given.append(sum(weight * SIGNS[name](sight) for name, weight in GIVEN.items()))
        begun = at if at in day.cuts else begun
    turns = [float(at in day.cuts) for at in range(1, len(day.steps))]
    return Told(np.array(rows), np.array(given), np.array(turns), np.full(len(turns), weight))


def fitted(days: Sequence[Told]) -> Weights:
    """Fit by Newton's method; a rare feature keeps a weight near 0."""
    signs, given, turns, weights = (np.concatenate(parts) for parts in zip(*days, strict=True))
    middle, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(signs)), (signs - middle) / spread])
    holding = np.diag([0.0, *np.full(signs.shape[1], HELD)])
    found = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        likely = _likely(rows @ found + given)
        slope = rows.T @ (weights * (turns - likely)) - holding @ found
        bend = (rows * (weights * likely * (1 - likely))[:, None]).T @ rows + holding
        found = found + np.linalg.solve(bend, slope)
    each = found[1:] / spread
    return Weights(float(found[0] - each @ middle), each)


def _likely(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-odds)))


def surprise(days: Sequence[Told]) -> float:
    """Return the mean log loss on each fold with weights fitted on the other folds; 0 is perfect."""
    left = []
    for fold in range(FOLDS):
        weights = fitted([day for at, day in enumerate(days) if at % FOLDS != fold])
        for day in days[fold::FOLDS]:
            likely = _likely(weights.at_first + day.signs @ weights.signs + day.given)
            left.append(-np.log(np.where(day.turns > 0, likely, 1 - likely)))
    return float(np.concatenate(left).mean())


def as_toml(section: str, names: Sequence[str], weights: Weights) -> str:
    each = {**dict(zip(names, weights.signs, strict=True)), **GIVEN}
    signs = "".join(f"{name} = {weight:.2f}\n" for name, weight in each.items())
    return f"[{section}]\nat_first = {weights.at_first:.2f}\n\n[{section}.signs]\n{signs}"


def _sets(talks: Sequence[Day], names: Sequence[str], embed: Embed | None) -> Mapping[str, list[Told]]:
    work = written_days(TUNING)
    return {"work": told(work, WORK, names, embed), "talk": told(talks, TALK, names, embed)}


def _embedding(who: Embedder) -> Embed:
    held: dict[str, list[float]] = {}

    def embed(texts: Sequence[str]) -> list[list[float]]:
        if lacking := [text for text in dict.fromkeys(texts) if text not in held]:
            held.update(zip(lacking, who.passages(lacking).vectors.tolist(), strict=True))
        return [held[text] for text in texts]

    return embed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    models = resolve({}).settings.models
    assert models is not None
    who = embedder(asked.embedder, models=models)
    made = list(days_of(conversations(asked.paths, "first"), MADE, SEED))
    for section, known, embed in (("by_words", BY_WORDS, None), ("by_meaning", tuple(SIGNS), _embedding(who))):
        names = [name for name in known if name not in GIVEN]
        sets = _sets(made, names, embed)
        days = [day for each in sets.values() for day in each]
        sys.stdout.write(as_toml(section, names, fitted(days)) + "\n")
        if asked.check:
            sys.stdout.write(f"# left to be told: {surprise(days):.4f}\n\n")
