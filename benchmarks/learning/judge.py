"""Judge what is learnt from labelled work: `python -m benchmarks.learning.judge tuning|unseen [--show]`.

The folder `work` holds sessions of work, written and labelled by people who do not know the code. Some are events as
the hooks of an agent report them; they are captured and distilled. Some are steps as a program appends them to a
session. Those of one kind of work go into one bank. A text counts as kept if it is an observation, a lesson, a fact or
a procedure. The output is how much of what a person would keep is kept, how much of what is kept was wanted, and how
many questions of the next day have their answer in one of the first five results. Intervals are drawn over sessions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from benchmarks.intervals import Estimate, mean_of_groups
from pieria import Bank, Workspace

FIRST = 5
WORK = Path(__file__).parent / "work"
MODELS = Path(sys.prefix) / "share" / "pieria" / "models"
KEPT = ("observation", "semantic", "procedural")
SETTINGS = {"embedder": "local", "models": MODELS, "count_uses": False, "durability": "off"}
HOST = "judge"


class Judged(NamedTuple):
    """For one session: the label and whether it was kept, the kept text and whether it was wanted, the question and
    whether it was answered."""

    name: str
    keep: list[tuple[str, bool]]
    kept: list[tuple[str, bool]]
    asked: list[tuple[str, bool]]


@click.command
@click.argument("part", type=click.Choice(["tuning", "unseen"]))
@click.option("--kind", multiple=True, help="Only sessions whose name begins so.")
@click.option("--show", is_flag=True, help="Show each label, kept text and question.")
def main(part: str, kind: tuple[str, ...], show: bool) -> None:
    judged = judge(part, kind)
    if show:
        for one in judged:
            _show(one)
    click.echo(f"{'session':16} {'kept':>9} {'wanted':>9} {'answered':>9}")
    for one in judged:
        click.echo(f"{one.name:16} {_count(one.keep):>9} {_count(one.kept):>9} {_count(one.asked):>9}")
    for name, parts in (
        ("kept of what a person would keep", [one.keep for one in judged]),
        ("wanted of what was kept", [one.kept for one in judged]),
        (f"questions answered in the first {FIRST}", [one.asked for one in judged]),
    ):
        click.echo(f"{name}: {_share(parts)}")


def judge(part: str, kinds: Sequence[str] = ()) -> list[Judged]:
    named = {path.stem.removeprefix(f"{part}-"): path for path in sorted(WORK.glob(f"{part}-*.json"))}
    sessions = {
        name: json.loads(path.read_text("utf-8"))
        for name, path in named.items()
        if not kinds or name.startswith(tuple(kinds))
    }
    with TemporaryDirectory(prefix="pieria-bench-") as data, Workspace(data, settings=SETTINGS) as workspace:
        return [one for kind, of in _by_kind(sessions) for one in _judged_together(workspace.open(kind), of)]


def _by_kind(sessions: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the sessions of each kind of work: one person's, whose bank knows nothing else."""
    for kind in dict.fromkeys(name.partition("-")[0] for name in sessions):
        yield kind, {name: told for name, told in sessions.items() if name.partition("-")[0] == kind}


def _judged_together(bank: Bank, sessions: dict[str, Any]) -> list[Judged]:
    kept = {}
    for name, told in sessions.items():
        before = {memory.id for memory in _kept(bank)}
        learn(bank, name, told)
        kept[name] = [_text(memory) for memory in _kept(bank) if memory.id not in before]
    bank.sync(900)
    return [_judged(bank, name, told, kept[name]) for name, told in sessions.items()]


def learn(bank: Bank, name: str, told: dict[str, Any]) -> None:
    if told["form"] == "events":
        whose = {"host": HOST, "session": name, "folder": told["folder"]}
        bank.observe([{**whose, **event} for event in told["events"]])
        bank.distil(name)
        return
    with bank.session(goal=told["goal"]) as session:
        for step in told["steps"]:
            session.append(observation=step["observation"], action=step["action"])


def _kept(bank: Bank) -> Iterator[Any]:
    yield from bank.list(kinds=KEPT, limit=1_000)
    yield from bank.upkeep.proposals(limit=1_000).proposals


def _text(memory: Any) -> str:
    body = getattr(memory, "body", {}) or {}
    parts = [getattr(memory, "title", None), memory.text, *map(str, body.get("facts", ()))]
    parts += [str(body[name]) for name in ("condition", "expected_outcome", "expected") if body.get(name)]
    return "\n".join(filter(None, parts))


def _judged(bank: Bank, name: str, told: dict[str, Any], kept: Sequence[str]) -> Judged:
    labels = told["keep"]
    wanted = [label["parts"] for label in (*labels, *told["may"], *told["questions"])]
    asked = []
    for question in told["questions"]:
        found = list(bank.recall(question["ask"]))[:FIRST]
        asked.append((question["ask"], any(holds(_text(hit.memory), question["parts"]) for hit in found)))
    return Judged(
        name,
        [(label["what"], any(holds(text, label["parts"]) for text in kept)) for label in labels],
        [(text, any(touches(text, parts) for parts in wanted)) for text in kept],
        asked,
    )


def holds(text: str, parts: Sequence[Sequence[str]]) -> bool:
    low = " ".join(text.lower().split())
    return all(any(" ".join(way.lower().split()) in low for way in ways) for ways in parts)


def touches(text: str, parts: Sequence[Sequence[str]]) -> bool:
    """Return whether the text holds most of the parts: a note need not say all of what a person would keep."""
    has = sum(holds(text, [ways]) for ways in parts)
    return 2 * has > len(parts) or has == len(parts)


def _show(judged: Judged) -> None:
    click.echo(f"\n=== {judged.name}")
    for title, rows in (("keep", judged.keep), ("kept", judged.kept), ("asked", judged.asked)):
        for text, fine in rows:
            click.echo(f"{title:6}{'+' if fine else '-'} {' '.join(text.split())[:400]}")


def _count(rows: Sequence[tuple[str, bool]]) -> str:
    return f"{sum(fine for _, fine in rows)} of {len(rows)}"


def _share(parts: Sequence[Sequence[tuple[str, bool]]]) -> str:
    groups = [[float(fine) for _, fine in rows] for rows in parts if rows]
    if not groups:
        return "nothing to judge"
    found: Estimate = mean_of_groups(groups)
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


if __name__ == "__main__":
    main()
