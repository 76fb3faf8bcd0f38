"""`pieria rules`: the standing rules that agents get, those that wait, and a person's decisions on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, counted, line
from pieria.doors.cli.parser import Command, Group

if TYPE_CHECKING:
    from pieria.bank.results.lessons import DecidedRules, Rule, Rules


STATES = ("told", "waiting", "declined")
WAYS = ("person", "agent", "hearsay", "outside")
REASON = click.option("--reason", help="The reason, stored with the decision.")
COLOURS = {"told": "green", "waiting": "yellow", "declined": "red"}


@click.group("rules", cls=Group, invoke_without_command=True)
@click.pass_context
def rules(context: click.Context, /) -> None:
    """List the standing rules for agents, and accept or decline them.

    Without a command, it lists the rules.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_rules)


@rules.command("list", cls=Command)
@click.option("--state", "states", type=click.Choice(STATES), multiple=True, default=STATES[:2], show_default=True,
              help="Only this state; may be repeated.")  # fmt: skip
@click.option("--via", "ways", type=click.Choice(WAYS), multiple=True, default=("agent",), show_default=True,
              help="For waiting rules: how they came in; may be repeated.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True, help="At most this many.")
@click.pass_obj
def list_rules(
    call: Call, /, states: tuple[str, ...] = STATES[:2], ways: tuple[str, ...] = ("agent",), limit: int = 100
) -> None:
    """List the rules that agents get, and those that wait for a person."""
    with call.opened(reading=True) as bank:
        found = bank.rules.list(states, via=ways, limit=limit)
    call.reply(found.as_dict(), show_rules(found), [rule.id for rule in found])


@rules.command(cls=Command)
@click.argument("id")
@click.pass_obj
def explain(call: Call, /, id: str) -> None:
    """Show one rule, how it came in, and why agents get it or it waits."""
    with call.opened(reading=True) as bank:
        rule = bank.rules.explain(id)
    call.reply(rule.as_dict(), show_explained(rule), [rule.id])


@rules.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def accept(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Make these memories rules for agents. Only a person at a terminal can do this."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.rules.accept(ids, reason=reason))


@rules.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def decline(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Stop giving these rules to agents. Only a person at a terminal can do this."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.rules.decline(ids, reason=reason))


def _reply(call: Call, decided: DecidedRules) -> None:
    call.reply(decided.as_dict(), show_decided_rules(decided), [rule.id for rule in decided.rules])


def show_rules(reply: Rules) -> Parts:
    for rule in reply:
        yield from show_rule(rule)
    yield line(counted(len(reply), "rule"))
    if reply.left:
        yield line(f"{reply.left:,} more; --limit shows them")


def show_rule(rule: Rule) -> Parts:
    yield line((f"{rule.state:<9}", COLOURS[rule.state]), rule.words or rule.memory.text[:300])
    yield line("         ", (rule.id, "dim"), f"  {rule.why}")


def show_explained(rule: Rule) -> Parts:
    yield from show_rule(rule)
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


def show_decided_rules(reply: DecidedRules) -> Parts:
    for rule in reply.rules:
        yield from show_rule(rule)
    for id in reply.superseded:
        yield line("no longer valid: ", (id, "dim"))
    yield line(f"pieria undo {reply.change} reverts this")
