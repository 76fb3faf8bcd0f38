"""`pieria forget` and `unforget`: removing, erasing for good, and bringing back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.each import for_each
from pieria.doors.cli.parser import Command, expecting, speaking

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Bank, Receipt
    from pieria.bank.results.general import Forgotten

SHOWN = 20
"""Memories that a person is shown before all from one place is forgotten."""


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", metavar="SOURCE", help="Everything that came from there: a file, an address, a run taken in.")
@click.option("--of-session", metavar="ID", help="Everything that was said or learnt in this session.")
@click.option("--dry-run", is_flag=True, help="With --source, --of-session or --purge: say what would go, no more.")
@click.option("--as-told", metavar="DIGEST", help="Refuse where what goes is not what --dry-run told; its digest.")
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
    as_told: str | None,
    reason: str | None,
    purge: bool,
    yes: bool,
    unless_changed_since: str | None,
) -> None:
    """Remove memories: they are no longer found, and `pieria unforget` brings them back.

    With --source or --of-session it is everything that came from there, and what was drawn from nothing else: one
    change, which `pieria undo` takes back.

    --purge erases them instead. It asks first where a person sits at the terminal, and then erases what it told or
    nothing; it cannot be undone, and shows what was erased and what it could not reach.
    """
    from_there = source is not None or of_session is not None
    if bool(ids) == from_there:
        raise click.UsageError("name either ids, or where it all came from", click.get_current_context())
    if (dry_run or as_told) and not (from_there or purge):
        raise click.UsageError(
            "--dry-run and --as-told go with --source, --of-session or --purge", click.get_current_context()
        )
    if unless_changed_since is not None and from_there:
        raise click.UsageError("--unless-changed-since goes with ids", click.get_current_context())
    if purge and reason is not None:
        raise click.UsageError("a purge keeps nothing, so it takes no --reason", click.get_current_context())
    do: Callable[..., Forgotten | Receipt]
    with call.opened() as bank:
        if from_there:
            do = partial(bank.forget, source=source, session=of_session, purge=purge, reason=reason)
        elif purge:
            do = partial(bank.purge, ids, unless_changed_since=unless_changed_since)
        else:
            remove = partial(bank.remove, reason=reason, unless_changed_since=unless_changed_since)
            for_each(call, ids, "removed", remove)
            return
        if purge and not yes and not dry_run:
            as_told = _agreed(bank, partial(do, dry_run=True, as_told=as_told)) or as_told
        done = do(dry_run=dry_run, as_told=as_told)
    call.reply(done.as_dict(), lambda: _shown(done, dry_run), (*done.ids, *done.also))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@speaking
@click.pass_obj
def unforget(call: Call, /, ids: tuple[str, ...]) -> None:
    """Bring removed memories back, as they stood."""
    with call.opened() as bank:
        for_each(call, ids, "restored", bank.restore)


def _shown(done: Forgotten | Receipt, is_told: bool) -> Iterator[RenderableType]:
    from pieria import Receipt
    from pieria.doors.cli.shown.receipts import erased

    return erased(done, is_told) if isinstance(done, Receipt) else _gone(done)


def _gone(told: Forgotten) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs
    from pieria.doors.cli.shown.receipts import erased

    if told.receipt is not None:
        yield from erased(told.receipt, is_told=False)
    yield pairs(
        [
            ("would be forgotten" if told.dry_run else "forgotten", f"{len(told.ids):,}"),
            ("drawn from them alone", f"{len(told.also):,}"),
            ("facts", f"{len(told.facts):,}"),
            *([("digest", told.digest)] if told.dry_run else []),
        ]
    )
    if told.seq is not None and told.receipt is None:
        yield line((f"to bring it back: pieria undo {told.seq}", "dim"))


def _agreed(bank: Bank, tell: Callable[[], Forgotten | Receipt]) -> str | None:
    """The digest of what was told and agreed to; None where no person sits at the terminal to be told."""
    from pieria.doors.cli.inert import inert

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    told = tell()
    for id in told.ids[:SHOWN]:
        memory = bank.get(id, include_removed=True)
        said = (memory.title or memory.text)[:70] if memory else "not found"
        sys.stderr.write(f"  {inert(id)}  {inert(said, one_line=True)}\n")
    if len(told.ids) > SHOWN:
        sys.stderr.write(f"  and {len(told.ids) - SHOWN:,} more\n")
    if told.also:
        sys.stderr.write(f"  and with them {len(told.also):,}: {inert(' '.join(told.also[:SHOWN]), one_line=True)}\n")
    if not click.confirm("Erase for good, with every version of it?", err=True):
        sys.stderr.write("nothing was erased\n")
        click.get_current_context().exit(1)
    return told.digest
