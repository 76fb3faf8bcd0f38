"""`pieria session`: a run towards a goal, recorded step by step, one command after the other.

Each command is a process of its own: it loads the session by its id, and releases it at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.tool_call import asked, hosted
from pieria.doors.cli.values import OneOf, text_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Bank

PROFILES = ("coding", "research", "customer_support")
FAILED, READY = "failed", "ready"


@click.group(cls=Group)
def session() -> None:
    """Record an agent's steps towards a goal, and learn from them.

    `start` prints the id for the other commands. A session outlives its commands: each one continues the last.
    """


@session.command()
@click.argument("goal", nargs=-1)
@click.option(
    "--profile", type=OneOf(*PROFILES), help="The kind of knowledge to learn: for coding, research or customer support."
)
@click.option("--auto-commit/--no-auto-commit", default=True, show_default=True,
              help="Store lessons at once, or only on `pieria session commit`.")  # fmt: skip
@click.pass_obj
def start(call: Call, /, goal: tuple[str, ...], profile: str | None, auto_commit: bool) -> None:
    """Start a session with this GOAL, and print its id."""
    said = text_of(goal, "the goal")
    _answer(
        call, "started", asked(call, "sessions_start", begins=True, goal=said, profile=profile, auto_commit=auto_commit)
    )


@session.command()
@click.argument("id")
@click.argument("observation")
@click.argument("action")
@click.pass_obj
def append(call: Call, /, id: str, observation: str, action: str) -> None:
    """Record a step: an observation, and the action that followed."""
    told = asked(call, "sessions_append", session_id=id, observation=observation, action=action)
    _answer(call, f"step {told['step_index']} of", told)


@session.command()
@click.argument("id")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until all lessons are stored.")
@click.pass_context
def close(ctx: click.Context, /, id: str, wait: bool) -> None:
    """Close a session, and learn from all its steps.

    With --no-wait, the next command on this session continues unfinished work. Exits with 1 if learning failed:
    `pieria session commit` tries again.
    """
    call: Call = ctx.obj
    told = asked(call, "sessions_close", session_id=id, wait=wait)
    _answer(call, "closed", told)
    if told["state"] == READY:
        call.note(f"nothing is stored yet: run pieria session commit {id}, or discard")
    if told["state"] == FAILED:
        call.note(f"{told['error']['message']}; pieria session commit {id} tries again")
        ctx.exit(REFUSED)


@session.command()
@click.argument("id")
@click.pass_obj
def commit(call: Call, /, id: str) -> None:
    """Store the lessons of a closed session. If learning failed, try it again first."""
    _answer(call, "committed", asked(call, "sessions_commit", session_id=id))


@session.command()
@click.argument("id")
@click.pass_obj
def discard(call: Call, /, id: str) -> None:
    """Delete the unstored lessons of a closed session, with its steps."""
    _answer(call, "discarded", asked(call, "sessions_discard", session_id=id))


@session.command()
@click.argument("id")
@click.pass_obj
def state(call: Call, /, id: str) -> None:
    """Show the state of a session, with its last steps."""
    _answer(call, "session", asked(call, "sessions_state", session_id=id))


@session.command(name="list")
@click.pass_obj
def list_sessions(call: Call, /) -> None:
    """List the unfinished sessions of the bank."""
    with call.opened(reading=True) as bank:
        found = [_told(bank, *loaded) for kept in bank.sessions.unfinished() if (loaded := bank.sessions.load(kept.id))]

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.sessions import listed

        yield from listed(found)

    call.reply({"sessions": found}, people, [one["session_id"] for one in found])


@session.command()
@click.argument("id")
@click.pass_obj
def show(call: Call, /, id: str) -> None:
    """Show an unfinished session in full: its pending steps, and why learning failed if it did."""
    with hosted(call) as host:
        from pieria.toolsets.sessions.bank_lookup import keeper, logged

        kept, steps = logged(host, id)
        document = {**_told(keeper(host, id), kept, steps), "steps": [_step(step) for step in steps]}

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.sessions import told

        yield from told(document)

    call.reply(document, people, [id])


@session.command()
@click.argument("id")
@click.pass_obj
def resume(call: Call, /, id: str) -> None:
    """Continue the work that a process left unfinished: the reward of a step, or interrupted learning."""
    with hosted(call) as host, call.progress("learning") as report:
        from pieria.toolsets.sessions.bank_lookup import taken_up

        taken = taken_up(host, id)
        told = {"session_id": id, "state": taken.wait(LONGEST, report), "goal": taken.goal}
    _answer(call, "resumed", told)


LONGEST = 3_600.0
"""Longest wait for learning, in seconds."""


def _answer(call: Call, done: str, told: dict[str, Any]) -> None:
    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.sessions import answered

        yield from answered(done, told)

    call.reply(told, people, [told["session_id"]])


def _told(bank: Bank, kept: Any, steps: Sequence[Any]) -> dict[str, Any]:
    """Return the session with the number of steps that are memories by now, and of those that wait."""
    taken = kept.committed if kept.auto_commit else ()
    return {
        "session_id": kept.id,
        "state": kept.state,
        "goal": kept.goal,
        "auto_commit": kept.auto_commit,
        "profile": None if kept.profile is None else kept.profile["name"],
        "committed_steps": bank.count(kinds="episodic", session=kept.id),
        "uncommitted_steps": sum(step.index not in taken for step in steps),
        "reason": kept.reason,
    }


def _step(step: Any) -> dict[str, Any]:
    """Return a step without its vector."""
    return {name: value for name, value in step.as_dict().items() if name != "embedding"}
