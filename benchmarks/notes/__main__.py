"""`python -m benchmarks.notes [SET …]`: how a sleep groups labelled notes, and what its summaries keep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from pieria.models.mind import Said
from pieria.models.minds.rules.mind import RuleMind
from pieria.upkeep.sleep import SHARES
from pieria.workspace import Workspace

FOLDER = Path(__file__).parent


class Grouping(NamedTuple):
    """Shares of pairs: those of one subject that are grouped, of the grouped those that are not of one subject, and of
    all pairs of different subjects those that are grouped."""

    found: float
    wrong_of_grouped: float
    wrong_of_different: float
    groups: int


class Keeping(NamedTuple):
    """The share of what a person would keep that the summaries keep, of its items and of their parts, and the length of
    summaries as a share of their sources, on average."""

    items: float
    parts: float
    length: float


@click.command
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    click.echo(f"{'set':20} {'pairs found':>12} {'wrong':>7} {'of others':>10} {'kept':>6} {'parts':>6} {'length':>7}")
    for file in sorted(FOLDER.glob("*.json")):
        if not names or file.stem in names:
            labelled = json.loads(file.read_text("utf-8"))
            grouping, keeping = grouped(labelled), kept(labelled)
            click.echo(
                f"{file.stem:20} {grouping.found:12.3f} {grouping.wrong_of_grouped:7.3f} "
                f"{grouping.wrong_of_different:10.4f} {keeping.items:6.3f} {keeping.parts:6.3f} {keeping.length:7.3f}"
            )


def grouped(labelled: dict[str, Any]) -> Grouping:
    """Sleep on the notes in a bank of their own, each remembered alone."""
    subjects = {note["id"]: note["subject"] for note in labelled["notes"]}
    with TemporaryDirectory(prefix="pieria-bench-") as folder, Workspace(folder) as workspace:
        bank = workspace.open("notes")
        for note in labelled["notes"]:
            bank.remember(note["text"], id=note["id"], at=datetime.fromisoformat(note["at"]), session=note["session"])
        slept = bank.upkeep.sleep(force=True)
    together = {frozenset(pair) for one in slept.summaries for pair in combinations((m.id for m in one.sources), 2)}
    same = {
        frozenset((one, other))
        for one, other in combinations(subjects, 2)
        if subjects[one] is not None and subjects[one] == subjects[other]
    }
    different = len(subjects) * (len(subjects) - 1) // 2 - len(same)
    wrong = len(together - same)
    return Grouping(
        len(together & same) / len(same), wrong / max(1, len(together)), wrong / different, len(slept.summaries)
    )


def kept(labelled: dict[str, Any]) -> Keeping:
    """Sum up each subject as it is labelled, so that its grouping does not count."""
    items: list[bool] = []
    parts: list[bool] = []
    lengths: list[float] = []
    for subject, notes in _by_subject(labelled):
        words = sum(len(note["text"].split()) for note in notes)
        said = [Said(note["text"], None, note["at"][:10]) for note in notes]
        text = RuleMind().summarize(said, int(SHARES[0] * words)).casefold()
        lengths.append(len(text.split()) / words)
        for item in subject["keep"]:
            has = [any(way.casefold() in text for way in ways) for ways in item["needs"]]
            items.append(all(has))
            parts += has
    return Keeping(sum(items) / len(items), sum(parts) / len(parts), sum(lengths) / len(lengths))


def _by_subject(labelled: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for subject in labelled["subjects"]:
        yield subject, [note for note in labelled["notes"] if note["subject"] == subject["id"]]


if __name__ == "__main__":
    main()
