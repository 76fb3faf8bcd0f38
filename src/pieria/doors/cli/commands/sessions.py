"""`pieria session`: a run towards a goal, recorded step by step, one command after the other.

Each command is a process of its own: it loads the session by its id, and releases it at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call, asked, hosted
from pieria.doors.cli.console import Parts, block, counted, day_and_age, line, pairs, row, stamp, table
from pieria.doors.cli.parser import Command, Group, speaking
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import OneOf, decoded, text_of
from pieria.errors import InputError, PieriaError, TransferError
from pieria.record.json_text import parsed
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from pieria import Bank
    from pieria.bank.results.general import IngestReceipt, ScratchpadEntry


PROFILES = ("coding", "research", "customer_support")
FAILED, READY = "failed", "ready"
LONGEST = 3_600.0
"""Longest wait for learning, in seconds."""
_STYLES = {"collecting": "cyan", "extracting": "yellow", "ready": "green", "failed": "bold red"}
PIPE = "-"
NOTHING = "nothing was ingested"


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
    call.reply({"sessions": found}, show_sessions(found), [one["session_id"] for one in found])


@session.command()
@click.argument("id")
@click.pass_obj
def show(call: Call, /, id: str) -> None:
    """Show an unfinished session in full: its pending steps, and why learning failed if it did."""
    with hosted(call) as host:
        from pieria.toolsets.sessions.record import keeper, logged

        kept, steps = logged(host, id)
        vector = "embedding"
        plain = [{name: value for name, value in step.as_dict().items() if name != vector} for step in steps]
        document = {**_told(keeper(host, id), kept, steps), "steps": plain}
    call.reply(document, show_session(document), [id])


@session.command()
@click.argument("id")
@click.pass_obj
def resume(call: Call, /, id: str) -> None:
    """Continue the work that a process left unfinished: the reward of a step, or interrupted learning."""
    with hosted(call) as host, call.progress("learning") as report:
        from pieria.toolsets.sessions.record import taken_up

        taken = taken_up(host, id)
        told = {"session_id": id, "state": taken.wait(LONGEST, report), "goal": taken.goal}
    _answer(call, "resumed", told)


def _answer(call: Call, done: str, told: dict[str, Any]) -> None:
    call.reply(told, show_action(done, told), [told["session_id"]])


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


def show_action(done: str, told: Mapping[str, Any]) -> Parts:
    """Yield the action, the session's state and its result."""
    came = counted(len(told["node_ids"]), "node") if "node_ids" in told else told.get("goal", "")
    yield line((f"{done} ", "green"), (told["session_id"], "bold"), "  ", _state(told), (f"  {came}", "dim"))
    for step in told.get("recent_steps", ()):
        yield line("  ", step)
    if "error" in told:
        yield line(("  failed: ", "bold red"), told["error"]["message"])


def show_sessions(sessions: Iterable[Mapping[str, Any]]) -> Parts:
    made = table("session", "state", "goal", wide=("goal",))
    for one in sessions:
        row(made, (one["session_id"], "bold"), _state(one), one["goal"])
    yield made if made.row_count else line("No sessions.")


def show_session(one: Mapping[str, Any]) -> Parts:
    yield line((one["session_id"], "bold"), "  ", _state(one))
    yield pairs(
        [
            ("goal", one["goal"]),
            ("profile", one["profile"]),
            ("commits", "automatically" if one["auto_commit"] else "on request"),
            ("steps", f"{one['committed_steps']:,} committed, {one['uncommitted_steps']:,} not yet"),
            ("problem", one["reason"]),
        ]
    )
    for step in one["steps"]:
        yield line((f"{step['index']}  ", "dim"), step["observation"])
        reward = "" if step["reward"] is None else f"  reward {step['reward']:.2f}"
        yield line("   → ", step["action"], (reward, "dim"))


def _state(of: Mapping[str, Any]) -> tuple[str, str]:
    return str(of["state"]), _STYLES.get(str(of["state"]), "")


@click.command(cls=Command)
@click.argument("file")
@click.pass_obj
def ingest(call: Call, /, file: str) -> None:
    """Learn from experiences recorded elsewhere, in FILE; - reads standard input.

    FILE holds one JSON object, a list of them, or one a line: {"source_id": …, "goal": …, "steps": [{"observation": …,
    "action": …}, …], "metadata": {…}}. A payload that was ingested before costs nothing and adds nothing, even if its
    memories were erased. Another payload under the same source_id is refused.
    """
    given = _read(file)
    done = 0
    with call.opened() as bank, call.progress("learning") as report:

        def count(now: int, whole: int) -> None:
            nonlocal done
            done = now
            if report is not None:
                report(now, whole)

        try:
            receipts = bank.sessions.ingest_many(given, progress=count)
        except (PieriaError, KeyboardInterrupt) as problem:
            if done:
                call.note(f"{done:,} of {len(given):,} were ingested before this")
            elif isinstance(problem, InputError):
                raise TransferError(_name(file), NOTHING, [problem, *_inputs(problem)]) from problem
            raise
    document = {"receipts": [receipt.as_dict() for receipt in receipts], "new": sum(one.is_new for one in receipts)}
    call.reply(document, _shown(receipts), [receipt.source_id for receipt in receipts])


def _shown(receipts: Sequence[IngestReceipt]) -> Parts:
    for one in receipts:
        said = counted(len(one.node_ids), "node")
        if one.is_new:
            yield line(("learned from ", "green"), (one.source_id, "bold"), (f"  {said}", "dim"))
        elif one.purged and not one.node_ids:
            yield line(
                ("erased since ", "yellow"), (one.source_id, "bold"), "  it cannot be ingested again under this id"
            )
        else:
            erased = f", {len(one.purged):,} erased since" if one.purged else ""
            said = f"{said}, {stamp(one.stored_at)}{erased}"
            yield line(("already ingested ", "yellow"), (one.source_id, "bold"), f"  {said}")


def _read(file: str) -> list[Any]:
    written = _text(file)
    try:
        whole = parsed(written)
    except ValueError:
        return _lines(file, written)
    return whole if isinstance(whole, list) else [whole]


def _text(file: str) -> str:
    if file == PIPE:
        return decoded(sys.stdin.buffer.read(), _name(file))
    try:
        return decoded(Path(file).expanduser().read_bytes(), file)
    except OSError as problem:
        raise TransferError(file, f"it cannot be read ({problem.strerror})") from problem


def _lines(file: str, written: str) -> list[Any]:
    """Return one object a line, for text that is not JSON as a whole. Split at newlines only: JSON texts may hold
    other line ends.
    """
    read, problems = [], []
    for number, each in enumerate(written.split("\n"), 1):
        try:
            read += [parsed(each)] if each.strip() else []
        except ValueError as problem:
            problems.append(InputError(f"line {number}", f"JSON ({problem})", each))
    if problems:
        raise TransferError(_name(file), NOTHING, problems)
    return read


def _inputs(problem: PieriaError) -> list[PieriaError]:
    found = list(problem.errors)
    problem.errors = ()
    return found


def _name(file: str) -> str:
    return "standard input" if file == PIPE else file


@click.group(cls=Group)
def scratchpad() -> None:
    """Keep working notes for a session. They are no memories: recall never finds them, and they stay until cleared.

    Each session has its own notes. Without --session, the command uses one shared scratchpad.
    """


@scratchpad.command()
@click.argument("text", nargs=-1)
@speaking
@click.pass_obj
def write(call: Call, /, text: tuple[str, ...]) -> None:
    """Write an entry, from the arguments or a pipe."""
    content = text_of(text, "the text")
    with call.opened() as bank:
        entry = bank.scratchpad.write(content)
    call.reply(entry.as_dict(), [(("written ", "green"), (entry.id, "bold"))], [entry.id])


@scratchpad.command()
@click.argument("id")
@click.argument("text", nargs=-1)
@speaking
@click.pass_obj
def update(call: Call, /, id: str, text: tuple[str, ...]) -> None:
    """Replace the text of an entry."""
    content = text_of(text, "the text")
    with call.opened() as bank:
        entry = bank.scratchpad.update(id, content)
    call.reply(entry.as_dict(), [(("updated ", "green"), (entry.id, "bold"))], [entry.id])


@scratchpad.command()
@speaking
@click.pass_obj
def read(call: Call, /) -> None:
    """Show the entries, newest first."""
    with call.opened(reading=True) as bank:
        entries = bank.scratchpad.read()
    document = {"entries": [entry.as_dict() for entry in entries]}
    call.reply(document, _entries(entries), [entry.id for entry in entries])


@scratchpad.command()
@speaking
@click.pass_obj
def clear(call: Call, /) -> None:
    """Delete every entry of the session."""
    with call.opened() as bank:
        count = bank.scratchpad.clear()
    call.reply({"cleared": count}, [(("cleared ", "green"), (f"{count:,}", "bold"))], [str(count)])


def _entries(entries: Iterable[ScratchpadEntry]) -> Parts:
    now = system_clock()
    none = True
    for entry in entries:
        none = False
        written = day_and_age(datetime.fromisoformat(entry.updated_at), now)
        yield line((f"{entry.id}  {written}", "dim"))
        yield block(entry.content)
    if none:
        yield line("The scratchpad is empty.")
