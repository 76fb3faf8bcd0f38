"""Whether an episode turns where a day does: `python -m tests.learning.turning FILE FOLDER --embedder local`.

A day is made of stretches of published conversations, of LoCoMo in a file and BEAM in a folder: a step is what one says
and what the other replies, and where the next stretch begins is known. `--part` takes every other conversation of each,
so that what was tried on one half is judged on the other. Rules judge; nothing but the embedder differs. A folder with
a `day.json` and its `cuts.json` is a day that somebody wrote; one of texts or of JSON alone is of such days.
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

from pieria.doors.bench import datasets
from pieria.doors.bench.datasets import Conversation
from pieria.learning import Episode
from pieria.models import Embedder, embedder
from pieria.settings import resolve

STRETCHES = (4, 7)
"""Of a day, at least and at most."""
STEPS = (4, 15)
"""Of a stretch."""
DRAWS = 2_000
"""Sets of days that the interval is taken from."""
Pair = tuple[str, str]


class Day(NamedTuple):
    """Its steps, each what was observed and what was done, and the numbers of those that begin something else."""

    steps: tuple[Pair, ...]
    cuts: frozenset[int]


class Counted(NamedTuple):
    """Boundaries of a day: those found where there is one, all that were found, and all there are."""

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
    """Where an episode of these steps turns, as it says itself."""
    episode, found = Episode("what comes up today"), []
    for number, (observation, action) in enumerate(steps):
        episode, trace = episode.append(observation, action, embedding=who)
        if trace.boundary_detected:
            found.append(number)
    return frozenset(found)


def days_of(talks: Sequence[Conversation], count: int, seed: int) -> Iterator[Day]:
    """Stretches of a day are of different conversations."""
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
    """Of who speaks twice in a row, the last is heard. A name in front of what is said would tell stretches apart."""
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
    """Where 95 of 100 sets of days lie that are drawn from these."""
    drawn = random.Random(seed)
    scores = sorted(f1(drawn.choices(counted, k=len(counted))) for _ in range(DRAWS))
    return scores[DRAWS * 25 // 1000], scores[DRAWS * 975 // 1000]


def written_days(folder: Path) -> list[Day]:
    """Days that were written as such; none, where a folder holds something else."""
    if (folder / "day.json").is_file():
        return [labelled_day(folder)]
    texts = [written(path) for path in sorted(folder.glob("*.txt"))]
    return texts + [topical_day(path) for path in sorted(folder.glob("*.json"))]


def written(path: Path) -> Day:
    """A day in a file: what was observed behind `>`, what was done behind `<`, and a blank line before each turn."""
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
    """A day as `tests/data/day` has it."""
    steps = json.loads((folder / "day.json").read_text("utf-8"))["steps"]
    cuts = json.loads((folder / "cuts.json").read_text("utf-8"))
    return Day(tuple((step["observation"], step["action"]) for step in steps), frozenset(cuts))


def topical_day(path: Path) -> Day:
    """A day whose steps each say of which topic they are."""
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
