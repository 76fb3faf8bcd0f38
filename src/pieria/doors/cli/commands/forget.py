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
"""Most memories shown before everything from one source is forgotten."""


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--source", metavar="SOURCE", help="Everything from this source: a file, an address, or an ingested experience."
)
@click.option("--of-session", metavar="ID", help="Everything said or learned in this session.")
@click.option(
    "--dry-run", is_flag=True, help="With --source, --of-session or --purge: only show what would be removed."
)
@click.option(
    "--as-told", metavar="DIGEST", help="Refuse if the digest differs from this one, which --dry-run printed."
)
@click.option("--reason", help="The reason, which the history shows.")
@click.option("--purge", is_flag=True, help="Erase them for good: every version, and everything derived from them.")
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
    """Remove memories, so that no search finds them. `pieria unforget` restores them.

    --source and --of-session remove everything from there, and everything derived from that alone. This is one change,
    which `pieria undo` reverts.

    --purge erases the memories instead, which cannot be undone. On a terminal the command first shows them and asks. It
    erases nothing if they have changed since. Afterwards it lists what it erased, and the places that it could not
    clean.
    """
    from_there = source is not None or of_session is not None
    if bool(ids) == from_there:
        raise click.UsageError("give either ids, or --source or --of-session", click.get_current_context())
    if (dry_run or as_told) and not (from_there or purge):
        raise click.UsageError(
            "--dry-run and --as-told go with --source, --of-session or --purge", click.get_current_context()
        )
    if unless_changed_since is not None and from_there:
        raise click.UsageError("--unless-changed-since goes with ids", click.get_current_context())
    if purge and reason is not None:
        raise click.UsageError("--purge keeps nothing, so it takes no --reason", click.get_current_context())
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
    """Restore removed memories unchanged."""
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
            ("would be removed" if told.dry_run else "removed", f"{len(told.ids):,}"),
            ("derived from them alone", f"{len(told.also):,}"),
            ("facts", f"{len(told.facts):,}"),
            *([("digest", told.digest)] if told.dry_run else []),
        ]
    )
    if told.seq is not None and told.receipt is None:
        yield line((f"to restore them: pieria undo {told.seq}", "dim"))


def _agreed(bank: Bank, tell: Callable[[], Forgotten | Receipt]) -> str | None:
    """Return the digest that a person saw and confirmed, or None without a terminal."""
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
        sys.stderr.write(
            f"  and {len(told.also):,} derived from them: {inert(' '.join(told.also[:SHOWN]), one_line=True)}\n"
        )
    if not click.confirm("Erase all of this for good, with every version?", err=True):
        sys.stderr.write("nothing was erased\n")
        click.get_current_context().exit(1)
    return told.digest
