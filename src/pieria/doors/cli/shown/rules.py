"""Standing rules, their state and their reasons, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line
from pieria.doors.cli.shown.words import counted

if TYPE_CHECKING:
    from pieria.bank.results.lessons import DecidedRules, Rule, Rules

COLOURS = {"told": "green", "waiting": "yellow", "declined": "red"}


def listed(reply: Rules) -> Iterator[RenderableType]:
    for rule in reply:
        yield from one(rule)
    yield line(counted(len(reply), "rule"))
    if reply.left:
        yield line(f"{reply.left:,} more; --limit shows them")


def one(rule: Rule) -> Iterator[RenderableType]:
    yield line((f"{rule.state:<9}", COLOURS[rule.state]), rule.words or rule.memory.text[:300])
    yield line("         ", (rule.id, "dim"), f"  {rule.why}")


def explained(rule: Rule) -> Iterator[RenderableType]:
    yield from one(rule)
    memory = rule.memory
    yield line("came in  ", f"{memory.via}, trust {memory.trust:g}, {memory.at:%Y-%m-%d %H:%M} UTC")
    claimed = [memory.author, memory.author_type and f"({memory.author_type})"]
    if any(claimed):
        yield line("author   ", " ".join(filter(None, claimed)), (" as claimed", "dim"))
    for name in ("source", "session", "reason"):
        if value := getattr(memory, name):
            yield line(f"{name:<9}", value)
    if rule.proposal is not None:
        for id in rule.proposal.sources:
            yield line("derived from ", (id, "dim"))


def decided(reply: DecidedRules) -> Iterator[RenderableType]:
    for rule in reply.rules:
        yield from one(rule)
    for id in reply.superseded:
        yield line("no longer valid: ", (id, "dim"))
    yield line(f"pieria undo {reply.change} reverts this")
