"""`pieria update`, `revise`, `invalidate`, `pin` and `unpin`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.each import became, for_each
from pieria.doors.cli.parser import Command, expecting, signing, speaking
from pieria.doors.cli.values import NUMBER, PAIRS, TIME, TIME_AHEAD, OneOf, given, piped_text
from pieria.record.memory import GIVEN_STATUSES, TIERS
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Memory

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
    """
    changes = _changes(text, clear, values)
    begun = system_clock()
    with call.opened() as bank:
        memory = bank.update(id, **changes)
    call.reply(memory.as_dict(), lambda: _said(became("updated", memory, begun), memory), [memory.id])


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

    The new memory copies the fields that are not given. TEXT may be - for standard input.
    """
    changes = _changes(text, clear, values)
    with call.opened() as bank:
        memory = bank.revise(id, **changes)
    call.reply(memory.as_dict(), lambda: _said(("revised ", "green"), memory), [memory.id])


@click.command(cls=Command)
@click.argument("id")
@click.option("--at", type=TIME, help="The time when it stopped being valid; now by default.")
@click.option("--replacement", metavar="ID", help="The memory that is valid instead.")
@click.option("--reason", help="The reason, which the history shows.")
@expecting
@speaking
@click.pass_obj
def invalidate(call: Call, /, id: str, **values: Any) -> None:
    """Mark a memory as no longer valid. It stays in the bank, and recall finds it for earlier times."""
    with call.opened() as bank:
        memory = bank.invalidate(id, **given(values))
    call.reply(memory.as_dict(), lambda: _said(("invalidated ", "green"), memory), [memory.id])


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


def _said(what: tuple[str, str], memory: Memory) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line(what, (memory.id, "bold"), (f"  version {memory.version}", "dim"))
    if memory.flags:
        yield line(("noticed ", "yellow"), "  ".join(memory.flags))
