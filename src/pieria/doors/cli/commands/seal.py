"""`pieria seal`, `unseal` and `rekey`: encrypt a bank in place, decrypt it, or change its key."""

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
@click.option("--make-key", is_flag=True, help="Only create the key that seal_key names, if it does not exist.")
@click.pass_obj
def seal(call: Call, /, make_key: bool) -> None:
    """Encrypt a bank in place, with the key that the setting seal_key names.

    The command creates the key if it does not exist. Keep a copy of the key elsewhere: without it, the bank is lost. No
    other process may have the bank open. The command lists places that may still hold unencrypted text.
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
    """Decrypt a sealed bank in place. No other process may have it open."""
    from pieria import unseal as unsealed

    _done(call, unsealed)


@click.command(cls=Command)
@click.option("--to", required=True, metavar="WHERE", help="The new key, written as for seal_key: keyring:NAME, "
              "file:PATH, command:… or env:NAME. A missing key is created.")  # fmt: skip
@click.pass_obj
def rekey(call: Call, /, to: str) -> None:
    """Change the key of a sealed bank. Afterwards, set seal_key to the new key.

    Earlier backups still need the old key.
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
        # Store the events that hooks wrote before the bank was sealed.
        if report.key == workspace.resolved.settings.seal_key:
            call.drain(workspace)
    call.reply(report.as_dict(), lambda: _told(report), [report.bank])


def _told(report: SealReport) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line(("sealed: " if report.sealed else "decrypted: ", "green"), (report.path, "bold"))
    if report.key is not None:
        yield from _key(report.key, report.key_made)
    for place in report.unreached:
        yield line(("may hold unencrypted text: ", "yellow"), place)


def _key(where: str, is_new: bool) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line("key: ", (where, "bold"))
    if is_new:
        yield line(("this key is new; keep a copy elsewhere: without it, the bank is lost for good", "yellow"))
