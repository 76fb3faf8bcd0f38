"""What an agent is told the morning after a long day: `python -m benchmarks.learning.morning [--show]`.

`long-day.json` holds some five hundred events of a coding session and what the agent of the next morning should know,
written by somebody who does not know the code. The events are captured and distilled. The output is the size of the
block at the start of the next session, how much of it is useful, and how much of what is useful is in it; and for six
prompts of that day, how often the block that comes with the prompt has what it needs.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.learning.judge import SETTINGS, holds, touches
from pieria import Workspace

DAY = Path(__file__).with_name("long-day.json")
WHOSE = {"host": "claude-code", "session": "long-day"}


@click.command
@click.option("--show", is_flag=True, help="Show the block, and what it lacks.")
def main(show: bool) -> None:
    day = json.loads(DAY.read_text("utf-8"))
    useful = {one["id"]: one for one in day["useful"]}
    with TemporaryDirectory(prefix="pieria-bench-") as data, Workspace(data, settings=SETTINGS) as workspace:
        bank = workspace.open("work")
        bank.observe([{**WHOSE, "folder": day["folder"], **event} for event in day["events"]])
        bank.distil()
        bank.sync(900)
        block = bank.context(session="next", keep=True)
        told = [bank.context(asked["prompt"], session="next", budget_tokens=800).text for asked in day["next"]]
    entries = entries_of(block.text)
    wanted = [any(touches(entry, one["parts"]) for one in useful.values()) for entry in entries]
    known = {id: holds(block.text, one["parts"]) for id, one in useful.items()}
    if show:
        for entry, fine in zip(entries, wanted, strict=True):
            click.echo(f"{'+' if fine else '-'} {entry[:300]}")
        for id, one in useful.items():
            click.echo(f"{'+' if known[id] else '-'} {id} {one['what'][:200]}")
    click.echo(f"{len(day['events'])} events, block of {block.tokens} tokens and {len(entries)} entries")
    click.echo(f"useful entries: {sum(wanted) / len(wanted):.2f}; of the text {_of_text(entries, wanted):.2f}")
    weights = {id: one.get("weight", 1) for id, one in useful.items()}
    share = sum(weights[id] for id in known if known[id]) / sum(weights.values())
    click.echo(f"useful things in it, by weight: {share:.2f}")
    for asked, text in zip(day["next"], told, strict=True):
        both = f"{block.text}\n{text}"
        has = [holds(both, useful[id]["parts"]) for id in asked["needs"]]
        click.echo(f"  {sum(has)} of {len(has)}: {asked['prompt'][:100]}")


def entries_of(text: str) -> list[str]:
    """Return the entries of a block: each begins with a dash, and goes on in indented lines."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith("- "):
            found.append(line)
        elif line.startswith("  ") and found:
            found[-1] += f" {line.strip()}"
    return found


def _of_text(entries: list[str], wanted: list[bool]) -> float:
    lengths = [len(entry) for entry in entries]
    return sum(length for length, fine in zip(lengths, wanted, strict=True) if fine) / max(1, sum(lengths))


if __name__ == "__main__":
    main()
