"""`pieria forget` and `unforget`: removing, erasing for good, and bringing back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.each import for_each
from pieria.doors.cli.parsing import Command, speaking

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Bank, Receipt


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", help="Why; its history shows it.")
@click.option("--purge", is_flag=True, help="Erase them for good: every version, and what was drawn from them.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@speaking
@click.pass_obj
def forget(call: Call, /, ids: tuple[str, ...], reason: str | None, purge: bool, yes: bool) -> None:
    """Remove memories: they are no longer found, and `pieria unforget` brings them back.

    --purge erases them instead. It asks first where a person sits at the terminal, cannot be undone, and shows what
    was erased and what it could not reach.
    """
    if purge and reason is not None:
        raise click.UsageError("a purge keeps nothing, so it takes no --reason", click.get_current_context())
    with call.opened() as bank:
        if not purge:
            for_each(call, ids, "removed", lambda id: bank.remove(id, reason=reason))
            return
        if not yes and sys.stdin.isatty() and sys.stderr.isatty():
            _ask(bank, ids)
        receipt = bank.purge(ids)
    call.reply(receipt.as_dict(), lambda: _erased(receipt), (*receipt.ids, *receipt.also))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@speaking
@click.pass_obj
def unforget(call: Call, /, ids: tuple[str, ...]) -> None:
    """Bring removed memories back, as they stood."""
    with call.opened() as bank:
        for_each(call, ids, "restored", bank.restore)


def _ask(bank: Bank, ids: tuple[str, ...]) -> None:
    from pieria.doors.cli.inert import inert

    for id in ids:
        memory = bank.get(id, include_removed=True)
        said = (memory.title or memory.text)[:70] if memory else "not found"
        sys.stderr.write(f"  {inert(id)}  {inert(said, one_line=True)}\n")
    if not click.confirm("Erase for good, with every version of it?", err=True):
        sys.stderr.write("nothing was erased\n")
        click.get_current_context().exit(1)


def _erased(receipt: Receipt) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs

    yield line(("erased for good", "bold red"))
    yield pairs(
        [
            ("ids", " ".join(receipt.ids)),
            ("erased with them", " ".join(receipt.also)),
            *((name, f"{number:,}") for name, number in receipt.erased.items()),
        ]
    )
    for place in receipt.unreached:
        yield line(("not reached: ", "yellow"), place)
