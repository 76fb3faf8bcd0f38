"""`pieria seal`, `unseal` and `rekey`: a bank encrypted where it lies, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.transfer import SealReport


@click.command(cls=Command)
@click.option("--make-key", is_flag=True, help="Only make the key that seal_key names, where there is none yet.")
@click.pass_obj
def seal(call: Call, /, make_key: bool) -> None:
    """Encrypt a bank where it lies, with the key that the setting seal_key names.

    A key is made there if there is none: keep a copy of it elsewhere, for without it the bank is lost. No other process
    may have the bank open. What may still hold words of it in plain is named.
    """
    from pieria import seal as sealed

    if make_key:
        from pieria.workspace.seal import key_made

        with call.workspace() as workspace:
            key, is_new = key_made(workspace)
        call.reply({"key": key.where, "key_made": is_new}, lambda: _key(key.where, is_new), [key.where])
        return
    _done(call, sealed)


@click.command(cls=Command)
@click.pass_obj
def unseal(call: Call, /) -> None:
    """Make a sealed bank a plain one again. No other process may have it open."""
    from pieria import unseal as unsealed

    _done(call, unsealed)


@click.command(cls=Command)
@click.option("--to", required=True, metavar="WHERE", help="Where the new key is, spelt as seal_key: keyring:NAME, "
              "file:PATH, command:… or env:NAME. It is made where there is none.")  # fmt: skip
@click.pass_obj
def rekey(call: Call, /, to: str) -> None:
    """Give a sealed bank another key. From then on seal_key has to name the new place.

    Backups that were made before still need the old key.
    """
    from pieria import rekey as rekeyed

    _done(call, rekeyed, to=to)


def _done(call: Call, act: Callable[..., SealReport], **more: Any) -> None:
    with call.workspace() as workspace:
        call.check_there(workspace)
        call.drain(workspace)
        bank = workspace.resolved.settings.bank
    with call.progress("converting") as progress:
        report = act(bank, data=call.data, progress=progress, **more)
    with call.workspace() as workspace:
        # What hooks wrote before they sealed it.
        if report.key == workspace.resolved.settings.seal_key:
            call.drain(workspace)
    call.reply(report.as_dict(), lambda: _told(report), [report.bank])


def _told(report: SealReport) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line(("sealed: " if report.sealed else "in plain now: ", "green"), (report.path, "bold"))
    if report.key is not None:
        yield from _key(report.key, report.key_made)
    for place in report.unreached:
        yield line(("may hold words in plain: ", "yellow"), place)


def _key(where: str, is_new: bool) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line("key: ", (where, "bold"))
    if is_new:
        yield line(("it was made just now; keep a copy elsewhere: without it the bank is lost for good", "yellow"))
