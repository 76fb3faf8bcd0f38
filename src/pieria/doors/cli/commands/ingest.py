"""`pieria ingest`: whole trajectories from a file, once each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import decoded
from pieria.errors import InputError, PieriaError, TransferError
from pieria.record.json_text import parsed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.general import IngestReceipt

PIPE = "-"
NOTHING = "nothing was ingested"


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
    call.reply(document, lambda: _shown(receipts), [receipt.source_id for receipt in receipts])


def _shown(receipts: Sequence[IngestReceipt]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line
    from pieria.doors.cli.shown.words import counted, stamp

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
    for number, line in enumerate(written.split("\n"), 1):
        try:
            read += [parsed(line)] if line.strip() else []
        except ValueError as problem:
            problems.append(InputError(f"line {number}", f"JSON ({problem})", line))
    if problems:
        raise TransferError(_name(file), NOTHING, problems)
    return read


def _inputs(problem: PieriaError) -> list[PieriaError]:
    found = list(problem.errors)
    problem.errors = ()
    return found


def _name(file: str) -> str:
    return "standard input" if file == PIPE else file
