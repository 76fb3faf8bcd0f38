"""Measure if episodes turn where days turn: `python -m benchmarks.learning.turns FILE FOLDER --embedder local`.

A day is made of stretches of published conversations, LoCoMo from a file and BEAM from a folder. A step is an
utterance and the reply; the start of the next stretch is known. `--part` takes every other conversation of each, to
tune on one half and judge on the other. Rules judge; only the embedder differs. A folder with a `day.json` and its
`cuts.json` is a day written by hand; a folder with only texts or JSON holds such days.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import datasets
from benchmarks.datasets import Conversation
from pieria.learning import Episode
from pieria.models import Embedder, embedder
from pieria.settings import resolve

STRETCHES = (4, 7)
"""The minimum and maximum of a day."""
STEPS = (4, 15)
"""The minimum and maximum of a stretch."""
DRAWS = 2_000
"""The number of resampled sets of days for the interval."""
Pair = tuple[str, str]


class Day(NamedTuple):
    """The steps, each an observation and an action, and the numbers of the steps that begin a new topic."""

    steps: tuple[Pair, ...]
    cuts: frozenset[int]


class Counted(NamedTuple):
    """Boundaries of a day: right ones found, all found, and all expected."""

    right: int
    found: int
    wanted: int


def conversations(paths: Iterable[Path], part: str | None = None) -> list[Conversation]:
    talks = (datasets.beam(path) if path.is_dir() else datasets.locomo(path) for path in paths)
    begins, steps = (0, 1) if part is None else (("first", "second").index(part), 2)
    return [one for each in talks for one in islice(each, begins, None, steps)]


def measured(days: Iterable[Day], who: Embedder, seed: int) -> dict[str, Any]:
    counted = [_compared(day, boundaries(day.steps, who)) for day in days]
    right, found, wanted = map(sum, zip(*counted, strict=True))
    return {
        "embedder": who.model,
        "days": len(counted),
        "F1": round(f1(counted), 3),
        "interval": [round(edge, 3) for edge in _interval(counted, seed)],
        "precision": round(right / max(1, found), 3),
        "recall": round(right / max(1, wanted), 3),
    }


def boundaries(steps: Sequence[Pair], who: Embedder) -> frozenset[int]:
    """Return the steps at which an episode reports a boundary."""
    episode, found = Episode("what comes up today"), []
    for number, (observation, action) in enumerate(steps):
        episode, trace = episode.append(observation, action, embedding=who)
        if trace.boundary_detected:
            found.append(number)
    return frozenset(found)


def days_of(talks: Sequence[Conversation], count: int, seed: int) -> Iterator[Day]:
    """Yield days whose stretches come from different conversations."""
    pairs = [told for told in ([*_pairs(talk)] for talk in talks) if len(told) >= STEPS[1]]
    drawn = random.Random(seed)
    for _ in range(count):
        yield _day(pairs, drawn)


def _day(talks: Sequence[Sequence[Pair]], drawn: random.Random) -> Day:
    steps: list[Pair] = []
    cuts = []
    for talk in drawn.sample(talks, min(len(talks), drawn.randint(*STRETCHES))):
        length = drawn.randint(*STEPS)
        first = drawn.randint(0, len(talk) - length)
        cuts.append(len(steps))
        steps += talk[first : first + length]
    return Day(tuple(steps), frozenset(cuts[1:]))


def _pairs(talk: Conversation) -> Iterator[Pair]:
    """Yield pairs; of several turns by one speaker the last counts. Names are cut: they would give stretches away."""
    held: tuple[str, str] | None = None
    for said in talk.said:
        author, text = said["author"], said["text"].removeprefix(f"{said['author']}: ")
        if held is None or held[0] == author:
            held = (author, text)
        else:
            yield held[1], text
            held = None


def _compared(day: Day, found: frozenset[int]) -> Counted:
    return Counted(len(day.cuts & found), len(found), len(day.cuts))


def f1(counted: Sequence[Counted]) -> float:
    right, found, wanted = map(sum, zip(*counted, strict=True))
    return 2 * right / (found + wanted) if found + wanted else 0.0


def _interval(counted: Sequence[Counted], seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the score over resampled sets of days."""
    drawn = random.Random(seed)
    scores = sorted(f1(drawn.choices(counted, k=len(counted))) for _ in range(DRAWS))
    return scores[DRAWS * 25 // 1000], scores[DRAWS * 975 // 1000]


def written_days(folder: Path) -> list[Day]:
    """Return the days written by hand in a folder, or none if it holds anything else."""
    if (folder / "day.json").is_file():
        return [labelled_day(folder)]
    texts = [written(path) for path in sorted(folder.glob("*.txt"))]
    return texts + [topical_day(path) for path in sorted(folder.glob("*.json"))]


def written(path: Path) -> Day:
    """Read a day from a file: observations after `>`, actions after `<`, and a blank line before each boundary."""
    steps: list[Pair] = []
    cuts = set()
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("> "):
            observation = line[2:]
        elif line:
            steps.append((observation, line[2:]))
        else:
            cuts.add(len(steps))
    return Day(tuple(steps), frozenset(cuts))


def labelled_day(folder: Path) -> Day:
    """Read a day in the format of `tests/data/day`."""
    steps = json.loads((folder / "day.json").read_text("utf-8"))["steps"]
    cuts = json.loads((folder / "cuts.json").read_text("utf-8"))
    return Day(tuple((step["observation"], step["action"]) for step in steps), frozenset(cuts))


def topical_day(path: Path) -> Day:
    """Read a day whose steps each name their topic."""
    steps = json.loads(path.read_text("utf-8"))["steps"]
    cuts = {at for at in range(1, len(steps)) if steps[at]["topic"] != steps[at - 1]["topic"]}
    return Day(tuple((step["observation"], step["action"]) for step in steps), frozenset(cuts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--part", choices=["first", "second"])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    models = resolve({}).settings.models
    assert models is not None
    made = [day for path in asked.paths for day in written_days(path)] or days_of(
        conversations(asked.paths, asked.part), asked.count, asked.seed
    )
    sys.stdout.write(json.dumps(measured(made, embedder(asked.embedder, models=models), asked.seed)) + "\n")
