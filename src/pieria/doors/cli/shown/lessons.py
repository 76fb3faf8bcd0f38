"""Lessons from sessions, with their evidence, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line
from pieria.doors.cli.shown.words import counted

if TYPE_CHECKING:
    from pieria.bank.results.lessons import Decided, Learnt, Proposal, Proposals

COLOURS = {"accepted": "green", "declined": "red", "proposed": "yellow", "superseded": "dim"}


def proposals(reply: Proposals) -> Iterator[RenderableType]:
    for each in reply:
        yield from proposal(each)
    yield line(counted(len(reply), "lesson"))
    if reply.left:
        yield line(f"{reply.left:,} more")


def learnt(reply: Learnt) -> Iterator[RenderableType]:
    for each in reply.proposals:
        yield from proposal(each)
    if reply.problem:
        yield line(("rules did this instead of the model: ", "yellow"), reply.problem)
    would = "would come from" if reply.dry_run else "came from"
    yield line(f"{counted(len(reply.proposals), 'lesson')} {would} {counted(reply.sessions, 'session')}")


def decided(reply: Decided) -> Iterator[RenderableType]:
    for each in reply.proposals:
        yield line((f"{each.state} ", COLOURS[each.state]), each.text, " ", (each.id, "dim"))
    for id in reply.superseded:
        yield line("no longer valid: ", (id, "dim"))
    yield line(f"pieria undo {reply.change} reverts this")


def proposal(each: Proposal) -> Iterator[RenderableType]:
    yield line((f"{each.state} ", COLOURS[each.state]), each.text)
    told = [f"{each.type}, confidence {each.confidence:.2f}, seen in {counted(each.seen, 'session')}"]
    if each.failed:
        told.append(f"did not help in {each.failed}")
    if each.held_back:
        told.append(f"held back: {each.held_back}")
    if each.decided_by:
        told.append(f"decided by {each.decided_by}")
    yield line("  ", (each.id, "dim"), f"  {', '.join(told)}")
    for one in each.evidence:
        yield line("  ", (f"{str(one.get('at', ''))[:10]} ", "dim"), _evidence(one))
    for id in each.contradicts:
        yield line("  would end ", (id, "dim"))


def _evidence(one: object) -> str:
    """Return a line of evidence: a failure, its fix and the success, or a quote and the action before it."""
    if not isinstance(one, dict):
        return ""
    did = "; ".join(map(str, one.get("did", ())))
    if "said" in one:
        return f"“{one['said']}”" + (f", after the agent {did}" if did else "")
    return f"{one.get('failed', '')} → {did} → {one.get('passed', '')} went well"
