"""Whether what sessions taught answers at all: `python -m tests.learning.answerable --embedder local`.

Rules learn each day of `known/` into a bank of its own, which is asked what the day answers, in other words than its
own, what it does not answer though it is about the same work, and what another day answers. What is told is how often
anything is put into words, and how often it would be with the least confidence that leaves `--keep` of what the days
under `tuning` answer. Those under `held_out` are for judging it. Intervals are drawn over questions.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pieria import Workspace

HERE = Path(__file__).parent
MODELS = Path(sys.prefix) / "share" / "pieria" / "models"
KINDS = ("answered", "same work", "other work")
TYPES = ("episodic", "semantic", "procedural")
DRAWS = 2_000
Days = Mapping[str, Mapping[str, Any]]


class Asked(NamedTuple):
    day: str
    kind: str
    confidence: float
    presented: bool


def days(part: str) -> Days:
    found: Days = json.loads((HERE / "known" / f"{part}.json").read_text("utf-8"))
    return found


def settings(embedder: str) -> dict[str, Any]:
    return {"embedder": embedder, "models": MODELS, "count_uses": False, "durability": "off"}


def learn(workspace: Workspace, day: str) -> str:
    """The bank that has lived through the day."""
    told = json.loads((HERE / "workdays" / f"{day}.json").read_text("utf-8"))
    name = day.rpartition("/")[2]
    bank: Any = workspace.open_repo(name)
    with bank.session(goal=told["goal"]) as session:
        for step in told["steps"]:
            session.append(observation=step["observation"], action=step["action"])
    assert bank.sync(900)
    return name


def questions(asked: Days, day: str) -> Iterator[tuple[str, str]]:
    """Of each kind as many: what the next day answers stands for other work."""
    names = list(asked)
    other = names[(names.index(day) + 1) % len(names)]
    yield from (("answered", question) for question, _ in asked[day]["answered"])
    yield from (("same work", question) for question in asked[day]["unanswered"])
    yield from (("other work", question) for question, _ in asked[other]["answered"])


def replies(workspace: Workspace, asked: Days, day: str, bank: str) -> Iterator[Asked]:
    for kind, question in questions(asked, day):
        found = workspace.recall(bank, question)
        said = any(getattr(found.reasoned, of) for of in TYPES)
        yield Asked(day, kind, found.confidence, said)


def auc(above: Sequence[float], below: Sequence[float]) -> float:
    wins = sum((one > other) + (one == other) / 2 for one in above for other in below)
    return wins / (len(above) * len(below))


def between(drawn: Callable[[random.Random], float]) -> str:
    """Where 95 of 100 of the draws lie."""
    seeded = random.Random(1)
    ordered = sorted(drawn(seeded) for _ in range(DRAWS))
    return f"[{ordered[DRAWS // 40]:.2f}, {ordered[-DRAWS // 40]:.2f}]"


def share(values: Sequence[bool]) -> str:
    mean = sum(values) / len(values)
    return f"{mean:.2f} {between(lambda drawn: sum(drawn.choices(values, k=len(values))) / len(values))}"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def told(title: str, rows: Sequence[Asked], floor: float) -> None:
    of = {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    say(f"{title}: {', '.join(f'{len(of[kind])} {kind}' for kind in KINDS)}")
    for kind in KINDS:
        presented, above = ([row.presented for row in of[kind]], [row.confidence >= floor for row in of[kind]])
        say(f"  {kind}: presented {share(presented)}, at least {floor:.2f}: {share(above)}")
    answered = [row.confidence for row in of["answered"]]
    for names in (KINDS[1:2], KINDS[2:], KINDS[1:]):
        others = [row.confidence for name in names for row in of[name]]

        def drawn(chance: random.Random, others: Sequence[float] = others) -> float:
            return auc(chance.choices(answered, k=len(answered)), chance.choices(others, k=len(others)))

        say(f"  answered above {' and '.join(names)}: {auc(answered, others):.3f} {between(drawn)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--keep", type=float, default=0.96)
    options = parser.parse_args()
    asked = {part: days(part) for part in ("tuning", "held_out")}
    both = {**asked["tuning"], **asked["held_out"]}
    with TemporaryDirectory() as folder, Workspace(Path(folder), settings(options.embedder)) as workspace:
        rows = {part: [row for day in asked[part] for row in replies(workspace, both, day, learn(workspace, day))]
                for part in asked}  # fmt: skip
    known = sorted(row.confidence for row in rows["tuning"] if row.kind == "answered")
    floor = known[int((1 - options.keep) * len(known))]
    for part, found in rows.items():
        told(part, found, floor)


if __name__ == "__main__":
    main()
