"""`pieria forget` and `unforget`: removing, erasing for good, and bringing back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.each import for_each
from pieria.doors.cli.parsing import Command, expecting, speaking

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Bank, Receipt
    from pieria.bank.replies import Forgotten

SHOWN = 20
"""Memories that a person is shown before all from one place is forgotten."""


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", metavar="SOURCE", help="Everything that came from there: a file, an address, a run taken in.")
@click.option("--of-session", metavar="ID", help="Everything that was said or learnt in this session.")
@click.option("--dry-run", is_flag=True, help="With --source or --of-session: say what would go, and do nothing.")
@click.option("--reason", help="Why; its history shows it.")
@click.option("--purge", is_flag=True, help="Erase them for good: every version, and what was drawn from them.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@expecting
@speaking
@click.pass_obj
def forget(
    call: Call,
    /,
    ids: tuple[str, ...],
    source: str | None,
    of_session: str | None,
    dry_run: bool,
    reason: str | None,
    purge: bool,
    yes: bool,
    unless_changed_since: str | None,
) -> None:
    """Remove memories: they are no longer found, and `pieria unforget` brings them back.

    With --source or --of-session it is everything that came from there, and what was drawn from nothing else: one
    change, which `pieria undo` takes back.

    --purge erases them instead. It asks first where a person sits at the terminal, cannot be undone, and shows what
    was erased and what it could not reach.
    """
    from_there = source is not None or of_session is not None
    if bool(ids) == from_there:
        raise click.UsageError("name either ids, or where it all came from", click.get_current_context())
    if dry_run and not from_there:
        raise click.UsageError("--dry-run goes with --source or --of-session", click.get_current_context())
    if unless_changed_since is not None and from_there:
        raise click.UsageError("--unless-changed-since goes with ids", click.get_current_context())
    if purge and reason is not None:
        raise click.UsageError("a purge keeps nothing, so it takes no --reason", click.get_current_context())
    with call.opened() as bank:
        if from_there:
            told = bank.forget(source=source, session=of_session, purge=purge, reason=reason, dry_run=True)
            if not dry_run:
                if purge and not yes:
                    _ask(bank, told.ids)
                told = bank.forget(source=source, session=of_session, purge=purge, reason=reason)
            call.reply(told.as_dict(), lambda: _gone(told), (*told.ids, *told.also))
            return
        if not purge:
            remove = partial(bank.remove, reason=reason, unless_changed_since=unless_changed_since)
            for_each(call, ids, "removed", remove)
            return
        if not yes:
            _ask(bank, ids)
        receipt = bank.purge(ids, unless_changed_since=unless_changed_since)
    call.reply(receipt.as_dict(), lambda: _erased(receipt), (*receipt.ids, *receipt.also))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@speaking
@click.pass_obj
def unforget(call: Call, /, ids: tuple[str, ...]) -> None:
    """Bring removed memories back, as they stood."""
    with call.opened() as bank:
        for_each(call, ids, "restored", bank.restore)


def _gone(told: Forgotten) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs

    if told.receipt is not None:
        yield from _erased(told.receipt)
    yield pairs(
        [
            ("would be forgotten" if told.dry_run else "forgotten", f"{len(told.ids):,}"),
            ("drawn from them alone", f"{len(told.also):,}"),
            ("facts", f"{len(told.facts):,}"),
        ]
    )
    if told.seq is not None and told.receipt is None:
        yield line((f"to bring it back: pieria undo {told.seq}", "dim"))


def _ask(bank: Bank, ids: tuple[str, ...]) -> None:
    """Only where a person sits at the terminal."""
    from pieria.doors.cli.inert import inert

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    for id in ids[:SHOWN]:
        memory = bank.get(id, include_removed=True)
        said = (memory.title or memory.text)[:70] if memory else "not found"
        sys.stderr.write(f"  {inert(id)}  {inert(said, one_line=True)}\n")
    if len(ids) > SHOWN:
        sys.stderr.write(f"  and {len(ids) - SHOWN:,} more\n")
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
