"""`pieria remember`: one memory from the command line or a pipe, or many from a file of JSON lines."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command, signing, speaking
from pieria.doors.cli.values import NUMBER, PAIRS, TIME, TIME_AHEAD, WHOLE, OneOf, decoded, given, text_of
from pieria.errors import InputError, PieriaError, PrivacyError, TransferError, UnavailableError
from pieria.record.banks import USER_BANK
from pieria.record.json_text import parsed
from pieria.record.memory import KINDS, SCOPES
from pieria.record.trust import HEARSAY

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Memory

MOST_PROBLEMS = 100


@click.command(cls=Command)
@click.argument("text", nargs=-1)
@click.option(
    "--many",
    metavar="FILE",
    help="Remember many texts: a file of JSON lines, or - for standard input. Each line "
    "is a text, or an object with the names below. Options apply where a line sets nothing.",
)
@click.option("-t", "--tag", "tags", metavar="TAG", multiple=True, help="A tag; may be repeated.")
@click.option(
    "--entity",
    "entities",
    metavar="NAME",
    multiple=True,
    help="A person or thing that the text is about; may be repeated.",
)
@click.option("--file", "files", metavar="PATH", multiple=True, help="A file that the text is about; may be repeated.")
@click.option("--kind", type=OneOf(*KINDS), metavar="KIND", help="note (the default), observation, drawer, diary, …")
@click.option("--title", help="A title.")
@click.option("--place", metavar="WING/ROOM", help="Where to store it; by default the bank's name and the kind.")
@click.option("--importance", type=NUMBER, help="From 0 to 1; 0.5 by default.")
@click.option("--confidence", type=NUMBER, help="How certain it is, from 0 to 1.")
@click.option("--strength", type=NUMBER, help="How well it resists fading, from 0 to 2; 1 by default.")
@click.option("--at", type=TIME, help="When it was said, or happened; now by default.")
@click.option("--valid-from", type=TIME, help="Valid from this time on.")
@click.option("--valid-until", type=TIME_AHEAD, help="Valid until this time.")
@click.option(
    "--scope", type=OneOf(*SCOPES), help="Who can see it: this session, this bank, or the user in every bank."
)
@click.option("--source", metavar="SOURCE", help="Where it comes from.")
@click.option("--context", help="The situation in which it was said.")
@click.option("--sequence", type=WHOLE, help="Its position in the session.")
@click.option("--meta", type=PAIRS, multiple=True, help="Your own values; key:=JSON if not text.")
@click.option("--body", type=PAIRS, multiple=True, help="The fields of its kind, in the same notation.")
@click.option("--id", metavar="ID", help="Your own id for it.")
@click.option("--pin", "pinned", is_flag=True, default=None, help="Keep it from fading.")
@click.option(
    "--unless-exists", type=OneOf("id", "text"), help="If a memory with this id or text exists, return it instead."
)
@click.option("--extract", is_flag=True, default=None, help="Also store what it names and states as facts.")
@signing
@speaking
@click.pass_obj
def remember(call: Call, /, text: tuple[str, ...], many: str | None, **values: Any) -> None:
    """Remember TEXT, or standard input.

    When the command returns, the memory is on disk and can be recalled. The same text twice makes two memories,
    unless you use --unless-exists.
    """
    said = given(values)
    if many is not None:
        if text:
            raise click.UsageError("give a text or --many, not both", click.get_current_context())
        _remember_many(call, many, said)
        return
    written = text_of(text, "the text")
    with call.opened() as bank:
        memory = bank.remember(written, **said)
        call.reply(memory.as_dict(), lambda: _kept(memory, bank.name), [memory.id])


def _kept(memory: Memory, bank: str) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line(("remembered ", "green"), (memory.id, "bold"), (f"  in {_keeper(memory, bank)}", "dim"))
    if memory.flags:
        yield line(("noticed ", "yellow"), "  ".join(memory.flags))


def _remember_many(call: Call, name: str, defaults: Mapping[str, Any]) -> None:
    items, numbers = _items(name, defaults)
    kept = 0
    with call.opened() as bank, call.progress("remembering") as report:

        def count(done: int, whole: int) -> None:
            nonlocal kept
            # The second half of the progress is for vectors.
            kept = min(done, len(items))
            if report is not None:
                report(done, whole)

        try:
            memories = bank.remember_many(items, progress=count)
        except (InputError, PrivacyError, UnavailableError) as problem:
            raise _on_its_lines(problem, name, numbers) from problem
        except (PieriaError, KeyboardInterrupt):
            if kept:
                call.note(f"{kept:,} of {len(items):,} were stored before this")
            raise
    ids = [memory.id for memory in memories]
    call.reply({"remembered": len(ids), "ids": ids}, lambda: _counted(memories, bank.name), ids)


def _counted(memories: Sequence[Memory], bank: str) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line
    from pieria.doors.cli.shown.words import counted

    keepers = Counter(_keeper(memory, bank) for memory in memories) or {bank: 0}
    for keeper, number in keepers.items():
        said = counted(number, "memory", "memories")
        yield line(("remembered ", "green"), (said, "bold"), (f"  in {keeper}", "dim"))


def _keeper(memory: Memory, bank: str) -> str:
    """Return the memory's bank: memories of the user are in a bank of their own."""
    return USER_BANK if memory.scope == "user" else bank


def _items(name: str, defaults: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the items and their line numbers. All unreadable lines are reported at once."""
    items: list[dict[str, Any]] = []
    numbers: list[int] = []
    problems: list[InputError] = []
    with ExitStack() as stack:
        for number, written in enumerate(_opened(name, stack), 1):
            try:
                read = _item(written, number)
            except InputError as problem:
                problems.append(problem)
                if len(problems) == MOST_PROBLEMS:
                    break
                continue
            if read is not None:
                items.append({**defaults, **read, "via": HEARSAY})
                numbers.append(number)
    if problems:
        raise TransferError(name, "nothing was remembered: some lines cannot be read", problems)
    return items, numbers


def _opened(name: str, stack: ExitStack) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(name).expanduser().open("rb"))
    except OSError as problem:
        raise TransferError(name, f"it cannot be read ({problem.strerror})") from problem


def _item(written: bytes, number: int) -> dict[str, Any] | None:
    where = f"line {number}"
    line = decoded(written, where)
    if not line.strip():
        return None
    try:
        read = parsed(line)
    except ValueError as problem:
        raise InputError(where, f"JSON ({problem})", written) from None
    if isinstance(read, str):
        return {"text": read}
    if not isinstance(read, dict):
        raise InputError(where, "an object or a text", read)
    if "via" in read:
        raise InputError(f"{where}: via", "no such key: a file cannot say how its texts came in", read["via"])
    return read


def _on_its_lines(problem: PieriaError, name: str, numbers: list[int]) -> TransferError:
    """Return the errors with line numbers instead of the bank's item numbers."""
    told = []
    for one in (problem, *problem.errors):
        index, _, rest = one.message.removeprefix("items[").partition("]")
        moved = copy(one)
        moved.errors = ()
        moved.args = (f"line {numbers[int(index)]}: {rest.lstrip('.: ')}",)
        told.append(moved)
    return TransferError(name, "nothing was remembered", told)
