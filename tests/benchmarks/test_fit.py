"""Fitting weights to questions with known evidence."""

from typing import Any

import numpy as np
import pytest

from benchmarks.fit import HARDNESS, LEEWAY, MOST, Lesson, fitted, lesson

NAMES = ("near", "thin", "named", "never", "always")
PLANTED = np.array([0.7, -0.4, 0.2, 0.0, 0.0])
NOTHING = dict.fromkeys(NAMES, 0.0)


def lessons(count: int, weights: Any = PLANTED) -> list[Lesson]:
    """Return lessons of fifteen hits; one is evidence, drawn by exp(HARDNESS * sum(weight * feature))."""
    chance = np.random.default_rng(7)
    made = []
    for _ in range(count):
        features = chance.random((15, len(NAMES)))
        features[:, 3], features[:, 4] = 0.0, 1.0
        best = int(np.argmax(HARDNESS * features @ weights + chance.gumbel(size=15)))
        made.append(Lesson(features, (np.arange(15) == best).astype(float)))
    return made


def test_planted_weights_are_found_from_any_start() -> None:
    taught = lessons(2_000)
    found = fitted(taught, NOTHING)
    assert list(found) == list(NAMES)
    assert np.array(list(found.values())) == pytest.approx(PLANTED, abs=0.03)
    assert fitted(taught[::-1], NOTHING) == pytest.approx(found, abs=1e-5)
    assert fitted(taught, dict.fromkeys(NAMES, 0.3))["near"] == pytest.approx(found["near"], abs=0.02)


def test_unvaried_features_keep_their_weight() -> None:
    own = {**NOTHING, "near": 0.5, "never": 0.3, "always": -0.2}
    found = fitted(lessons(500), own)
    assert (found["never"], found["always"]) == (0.3, -0.2)
    assert fitted([], own) == own


def test_weights_move_with_the_number_of_lessons() -> None:
    separating = Lesson(np.eye(5)[:2], np.array([1.0, 0.0]))
    found = fitted([separating], NOTHING)
    assert 0 < found["near"] < 2 * LEEWAY
    assert found["thin"] == -found["near"]
    many = [Lesson(0.1 * np.eye(5)[:2], np.array([1.0, 0.0]))] * 1_000
    assert 1 < fitted(many, NOTHING)["near"] <= MOST
    assert fitted(many[:1], {**NOTHING, "near": 2 * MOST})["near"] == MOST


def test_lesson_holds_the_features_of_hits() -> None:
    made = lesson([{"thin": 0.5}, {"near": 1.0, "other": 3.0}, {}], ("near", "thin"), [True, False, True])
    assert made is not None
    assert made.features.tolist() == [[0.0, 0.5], [1.0, 0.0], [0.0, 0.0]]
    assert made.wanted.tolist() == [0.5, 0.0, 0.5]
    for evidence in ([], [True, True], [False, False]):
        assert lesson([{}] * len(evidence), NAMES, evidence) is None
