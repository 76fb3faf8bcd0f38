"""`pieria remember`: one memory from the command line or a pipe, or many from a file of JSON lines."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, counted, line
from pieria.doors.cli.memories import words
from pieria.doors.cli.parser import Command, expecting, signing, speaking
from pieria.doors.cli.values import NUMBER, PAIRS, TIME, TIME_AHEAD, WHOLE, OneOf, decoded, given, piped_text, text_of
from pieria.errors import (
    Framework,
    InputError,
    PieriaError,
    PrivacyError,
    StorageError,
    TransferError,
    UnavailableError,
)
from pieria.record.banks import USER_BANK
from pieria.record.json_text import parsed
from pieria.record.memory import GIVEN_STATUSES, KINDS, SCOPES, TIERS, unchanged_source
from pieria.record.time import system_clock
from pieria.record.trust import HEARSAY

if TYPE_CHECKING:
    from pieria import Memory


MOST_PROBLEMS = 100
Function = TypeVar("Function", bound=Callable[..., Any])
_CLEARABLE = (
    "title", "body", "tags", "entities", "files", "context", "meta", "confidence", "valid_from", "valid_until",
)  # fmt: skip
_BESIDE = {"reason", "unless_changed_since"}
"""Options that change nothing on their own."""
_CONTENT_OPTIONS = (
    click.option("--title", help="The title."),
    click.option(
        "-t",
        "--tag",
        "tags",
        metavar="TAG",
        multiple=True,
        help="A tag; may be repeated. The given tags replace all old ones.",
    ),
    click.option("--entity", "entities", metavar="NAME", multiple=True, help="An entity, in the same way as tags."),
    click.option("--file", "files", metavar="PATH", multiple=True, help="A file, in the same way as tags."),
    click.option("--context", help="The situation in which it was said."),
    click.option("--meta", type=PAIRS, multiple=True, help="All your own values; key:=JSON if not text."),
    click.option("--body", type=PAIRS, multiple=True, help="All fields of its kind, in the same notation."),
    click.option("--importance", type=NUMBER, help="From 0 to 1."),
    click.option("--confidence", type=NUMBER, help="How certain it is, from 0 to 1."),
    click.option("--place", metavar="WING/ROOM", help="Where to store it."),
    click.option("--valid-from", type=TIME, help="Valid from this time on."),
    click.option("--valid-until", type=TIME_AHEAD, help="Valid until this time."),
    click.option(
        "--clear",
        type=OneOf(*_CLEARABLE),
        metavar="NAME",
        multiple=True,
        help="Empty this: title, tags, entities, files, context, meta, body, confidence, valid_from, …",
    ),
    click.option("--reason", help="The reason, which the history shows."),
)


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

    `pieria add` is the same command.
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
        call.reply(memory.as_dict(), _kept(memory, bank.name), [memory.id])


def _kept(memory: Memory, bank: str) -> Parts:
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
    call.reply({"remembered": len(ids), "ids": ids}, _counted(memories, bank.name), ids)


def _counted(memories: Sequence[Memory], bank: str) -> Parts:
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


def for_each(call: Call, ids: Iterable[str], done: str, verb: Callable[[str], Memory]) -> None:
    """Run the verb on each id and print the results under `done`; then raise the failures."""
    begun = system_clock()
    memories: list[Memory] = []
    failures: list[PieriaError] = []
    for id in dict.fromkeys(ids):
        try:
            memories.append(verb(id))
        except StorageError:
            raise
        except PieriaError as failure:
            failures.append(failure)
    document = {done: [memory.as_dict() for memory in memories]}
    people = ((became(done, memory, begun), (memory.id, "bold"), (f"  {words(memory)}", "dim")) for memory in memories)
    call.reply(document, people, [memory.id for memory in memories])
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise Framework(errors=failures)


def became(done: str, memory: Memory, begun: datetime) -> tuple[str, str]:
    """Return a label and its style. A memory whose version is older than the command was left unchanged."""
    return (f"{done} ", "green") if memory.known_from >= begun else ("unchanged ", "dim")


def _content(function: Function) -> Function:
    for option in reversed(_CONTENT_OPTIONS):
        function = option(function)
    return function


@click.command(cls=Command)
@click.argument("id")
@click.argument("text", nargs=-1)
@_content
@click.option("--strength", type=NUMBER, help="How well it resists fading, from 0 to 2.")
@click.option("--scope", type=OneOf("session", "bank"), help="Who can see it.")
@click.option("--status", type=OneOf(*GIVEN_STATUSES), help="The status. Archived memories are found only on request.")
@click.option("--tier", type=OneOf(*TIERS), help="How settled the memory is.")
@click.option("--at", type=TIME, help="When it was said, or happened.")
@expecting
@speaking
@click.pass_obj
def update(call: Call, /, id: str, text: tuple[str, ...], clear: tuple[str, ...], **values: Any) -> None:
    """Change the given fields of a memory, and keep the others.

    New content becomes the next version under the same id; the history keeps the old version. TEXT may be - for
    standard input.

    ID may be a fact's: TEXT is then its sentence with another object.
    """
    changes = _changes(text, clear, values)
    begun = system_clock()
    with call.opened() as bank:
        memory = bank.update(id, **changes)
    call.reply(memory.as_dict(), _said(became("updated", memory, begun), memory), [memory.id])


@click.command(cls=Command)
@click.argument("id")
@click.argument("text", nargs=-1)
@_content
@click.option("--at", type=TIME, help="When it was said; now by default.")
@signing
@expecting
@speaking
@click.pass_obj
def revise(call: Call, /, id: str, text: tuple[str, ...], clear: tuple[str, ...], **values: Any) -> None:
    """Replace a memory by a new one with a new id, and link the two.

    The new memory copies the fields that are not given. TEXT may be - for standard input. A fact keeps its id.
    """
    changes = _changes(text, clear, values)
    with call.opened() as bank:
        memory = bank.revise(id, **changes)
    call.reply(memory.as_dict(), _said(("revised ", "green"), memory), [memory.id])


@click.command(cls=Command)
@click.argument("id")
@click.option("--at", type=TIME, help="The time when it stopped being valid; now by default.")
@click.option("--replacement", metavar="ID", help="The memory that is valid instead.")
@click.option("--reason", help="The reason, which the history shows.")
@expecting
@speaking
@click.pass_obj
def invalidate(call: Call, /, id: str, **values: Any) -> None:
    """Mark a memory or fact as no longer valid. It stays in the bank, and recall finds it for earlier times."""
    with call.opened() as bank:
        memory = bank.invalidate(id, **given(values))
    call.reply(memory.as_dict(), _said(("invalidated ", "green"), memory), [memory.id])


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@speaking
@click.pass_obj
def pin(call: Call, /, ids: tuple[str, ...]) -> None:
    """Keep memories from fading."""
    with call.opened() as bank:
        for_each(call, ids, "pinned", bank.pin)


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@speaking
@click.pass_obj
def unpin(call: Call, /, ids: tuple[str, ...]) -> None:
    """Let pinned memories fade again."""
    with call.opened() as bank:
        for_each(call, ids, "unpinned", lambda id: bank.pin(id, False))


def _changes(text: tuple[str, ...], clear: tuple[str, ...], values: dict[str, Any]) -> dict[str, Any]:
    """Return the changes. The text may come from a pipe if no other change is given."""
    changes = given(values)
    for name in clear:
        if name not in _CLEARABLE or name in changes:
            raise click.BadParameter(
                f"{name} is given, too" if name in changes else f"choose from {', '.join(_CLEARABLE)}",
                click.get_current_context(),
                param_hint="--clear",
            )
        changes[name] = None
    if text and text != ("-",):
        changes["text"] = " ".join(text)
    elif text or not (changes.keys() - _BESIDE or sys.stdin.isatty()):
        changes["text"] = piped_text()
    return changes


def _said(what: tuple[str, str], memory: Memory) -> Parts:
    yield line(what, (memory.id, "bold"), (f"  version {memory.version}", "dim"))
    if memory.flags:
        yield line(("noticed ", "yellow"), "  ".join(memory.flags))
    for said in unchanged_source(memory):
        yield line((said, "dim"))
