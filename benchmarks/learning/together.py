"""Compare graph recall with bank recall: `python -m benchmarks.learning.together`.

Rules learn the day of `tests/data/day` and the eight days under `workdays`, each into a bank of its own. The first
bank gets its thirty questions, six others get paraphrased questions. All eight also get three random words of each
step. The output is how often each recall has a right node among its first five. It also says how often the graph's
first right node ranks above, equal to or below the bank's.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

from benchmarks.learning.answerable import DAY, DAYS, FIRST, TYPES, days, learn, learned, read, settings, steps_of
from pieria import Workspace

WORDS, PAGE = 3, 10
Asked = tuple[str, Sequence[int]]
"""A question, and the steps that answer it."""


class Places(NamedTuple):
    """The rank of the first right node, from 1 or infinity for none, and the processor seconds of each recall."""

    bank: float
    graph: float
    bank_seconds: float
    graph_seconds: float


def places(workspace: Workspace, name: str, asked: Sequence[Asked]) -> Iterator[Places]:
    graph, bank = workspace.get_graph(name), workspace._repository(name).bank
    assert bank is not None
    for question, steps in asked:
        begun = process_time()
        hits = [hit.memory.id for hit in bank.recall(question, k=PAGE, counted=False) if hit.memory.kind in TYPES]
        middle = process_time()
        found = [each.id for each in workspace.recall(name, question).touched_nodes if each.type in TYPES]
        took = middle - begun, process_time() - middle
        right = {id for id in {*hits, *found} if steps_of(graph, id) & {*steps}}
        yield Places(_first(hits, right), _first(found, right), *took)


def _first(ids: Sequence[str], right: Set[str]) -> float:
    return next((place for place, id in enumerate(ids, 1) if id in right), math.inf)


def told(title: str, rows: Sequence[Places]) -> None:
    five = [sum(place <= FIRST for place in column) for column in ([r.bank for r in rows], [r.graph for r in rows])]
    compared = [sum(row.graph < row.bank for row in rows), sum(row.graph > row.bank for row in rows)]
    seconds = [1000 * mean(column) for column in ([r.bank_seconds for r in rows], [r.graph_seconds for r in rows])]
    sys.stdout.write(
        f"{title}: {len(rows)} questions, right among five: bank {five[0]}, graph {five[1]}; "
        f"graph before {compared[0]}, behind {compared[1]}; {seconds[0]:.0f} and {seconds[1]:.0f} ms\n"
    )


def by_words(day: Mapping[str, Any], seed: int) -> list[Asked]:
    """Return three random words of each step that has enough words."""
    drawn = random.Random(seed)
    said = [
        sorted({*re.findall(r"[a-z]{4,}", f"{step['observation']} {step['action']}".lower())}) for step in day["steps"]
    ]
    return [(" ".join(drawn.sample(words, WORDS)), [n]) for n, words in enumerate(said) if len(words) >= WORDS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    known = {**days("tuning"), **days("held_out")}
    every = sorted(f"{part}/{path.stem}" for part in ("tuning", "held_out")
                   for path in (DAYS / "workdays" / part).glob("*.json"))  # fmt: skip
    with TemporaryDirectory() as folder, Workspace(Path(folder), settings(given.embedder)) as workspace:
        name = learned(workspace, "day", read(DAY / "day.json"))
        asked: list[Asked] = [(each["question"], each["steps"]) for each in read(DAY / "questions.json")]
        told("the day", list(places(workspace, name, asked)))
        in_words: list[Places] = []
        drawn: list[Places] = []
        for day in every:
            name = learn(workspace, day)
            if day in known:
                in_words += places(workspace, name, known[day]["answered"])
            drawn += places(workspace, name, by_words(read(DAYS / "workdays" / f"{day}.json"), given.seed))
        told("six work days, in other words", in_words)
        told("eight work days, by three words", drawn)


if __name__ == "__main__":
    main()
