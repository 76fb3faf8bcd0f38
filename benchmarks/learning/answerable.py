"""Measure if the lessons of sessions answer questions: `python -m benchmarks.learning.answerable --embedder local`.

Rules learn each day of `known/` into a bank. The bank gets three kinds of questions, in other words than the day's.
The day answers the first kind. The second is about the same work, but the day does not answer it. Another day answers
the third. The output is how often an answer is put into words. It also says how often each type would answer with some
score floors.

Use the days under `tuning` and `tests/data` to choose floors, and those under `held_out` to judge them. Intervals are
drawn over questions.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pieria import Workspace
from pieria.graph import Edge, Graph, Source

DAYS = Path(__file__).parents[2] / "tests" / "learning"
DAY = DAYS.parent / "data" / "day"
MODELS = Path(sys.prefix) / "share" / "pieria" / "models"
KINDS = ("answered", "same work", "other work")
TYPES = ("episodic", "semantic", "procedural")
DRAWS = 2_000
FIRST = 5
FLOORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
Days = Mapping[str, Mapping[str, Any]]


class Asked(NamedTuple):
    """`sure` is the confidence by type; `right` are the types with an answering node among the first five."""

    kind: str
    confidence: float
    presented: frozenset[str]
    sure: Mapping[str, float]
    right: frozenset[str]


def days(part: str) -> Days:
    found: Days = read(DAYS / "known" / f"{part}.json")
    return found


def settings(embedder: str) -> dict[str, Any]:
    return {"embedder": embedder, "models": MODELS, "count_uses": False, "durability": "off"}


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def learn(workspace: Workspace, day: str) -> str:
    """Return the name of the bank that learned a day of work."""
    return learned(workspace, day.rpartition("/")[2], read(DAYS / "workdays" / f"{day}.json"))


def learned(workspace: Workspace, name: str, told: Mapping[str, Any]) -> str:
    bank: Any = workspace.open_repo(name)
    with bank.session(goal=told["goal"]) as session:
        for step in told["steps"]:
            session.append(observation=step["observation"], action=step["action"])
    assert bank.sync(900)
    return name


def questions(asked: Days, day: str) -> Iterator[tuple[str, str, Sequence[int]]]:
    """Yield (kind, question, answering steps); questions of the next day count as other work."""
    names = list(asked)
    other = names[(names.index(day) + 1) % len(names)]
    yield from (("answered", question, steps) for question, steps in asked[day]["answered"])
    yield from (("same work", question, ()) for question in asked[day]["unanswered"])
    yield from (("other work", question, ()) for question, _ in asked[other]["answered"])


def steps_of(graph: Graph, id: str) -> set[int]:
    """Return the steps that a node is, or was drawn from."""
    node = graph.nodes[id]
    if node.node_type != "episodic":
        return {step for tied in node.links[Edge.PROVENANCE] for step in steps_of(graph, tied)}
    tied = [graph.nodes[id] for id in node.links[Edge.PROVENANCE]]
    return {source.step_index for source in tied if isinstance(source, Source)}


def replies(workspace: Workspace, asked: Iterable[tuple[str, str, Sequence[int]]], bank: str) -> Iterator[Asked]:
    graph = workspace.get_graph(bank)
    for kind, question, steps in asked:
        found = workspace.recall(bank, question)
        first = {of: [each.node.id for each in found.candidates.get(of, ())][:FIRST] for of in TYPES}
        right = frozenset(of for of, ids in first.items() if any(steps_of(graph, id) & {*steps} for id in ids))
        said = frozenset(of for of in TYPES if getattr(found.reasoned, of))
        yield Asked(kind, found.confidence, said, found.trace.sure or {}, right)


def auc(above: Sequence[float], below: Sequence[float]) -> float:
    wins = sum((one > other) + (one == other) / 2 for one in above for other in below)
    return wins / (len(above) * len(below))


def between(drawn: Callable[[random.Random], float]) -> str:
    """Return the interval of 95 % of the draws."""
    seeded = random.Random(1)
    ordered = sorted(drawn(seeded) for _ in range(DRAWS))
    return f"[{ordered[DRAWS // 40]:.2f}, {ordered[-DRAWS // 40]:.2f}]"


def share(values: Sequence[bool]) -> str:
    mean = sum(values) / len(values)
    return f"{mean:.2f} {between(lambda drawn: sum(drawn.choices(values, k=len(values))) / len(values))}"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def told(title: str, rows: Sequence[Asked]) -> None:
    of = {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    say(f"{title}: {', '.join(f'{len(of[kind])} {kind}' for kind in KINDS)}")
    for kind in filter(of.get, KINDS):
        say(f"  {kind}: presented {share([bool(row.presented) for row in of[kind]])}")
    right = [row for row in of["answered"] if row.right]
    say(f"  a right type is presented: {share([bool(row.right & row.presented) for row in right])}")
    answered = [row.confidence for row in of["answered"]]
    for names in (KINDS[1:2], KINDS[2:], KINDS[1:]):
        others = [row.confidence for name in names for row in of[name]]

        def drawn(chance: random.Random, others: Sequence[float] = others) -> float:
            return auc(chance.choices(answered, k=len(answered)), chance.choices(others, k=len(others)))

        say(f"  answered above {' and '.join(names)}: {auc(answered, others):.3f} {between(drawn)}")
    for type in TYPES:
        _told_of_type(type, of)


def _told_of_type(type: str, of: Mapping[str, Sequence[Asked]]) -> None:
    met = {kind: [row for row in rows if type in row.sure] for kind, rows in of.items()}
    groups = {
        "right": [row.sure[type] for row in met["answered"] if type in row.right],
        "not right": [row.sure[type] for row in met["answered"] if type not in row.right],
        **{kind: [row.sure[type] for row in met[kind]] for kind in KINDS[1:]},
    }
    say(f"  {type}: {', '.join(f'{len(values)} {name}' for name, values in groups.items())}")
    for floor in FLOORS:
        shares = (
            f"{name} {mean([value >= floor for value in values]):.2f}" for name, values in groups.items() if values
        )
        say(f"    at least {floor:.2f}: {', '.join(shares)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="local")
    options = parser.parse_args()
    asked = {part: days(part) for part in ("tuning", "held_out")}
    both = {**asked["tuning"], **asked["held_out"]}
    with TemporaryDirectory() as folder, Workspace(Path(folder), settings(options.embedder)) as workspace:
        for part, known in asked.items():
            rows = [row for day in known for row in replies(workspace, questions(both, day), learn(workspace, day))]
            if part == "tuning":
                plain = [("answered", each["question"], each["steps"]) for each in read(DAY / "questions.json")]
                rows += replies(workspace, plain, learned(workspace, "day", read(DAY / "day.json")))
            told(part, rows)


if __name__ == "__main__":
    main()
