"""`pieria logs`: what hooks and the drain have logged. Servers log to stderr alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

import click

from pieria.capture.hook_log import HookLog, Logged
from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Line, show
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import WHOLE

PAUSE = 0.5
"""Seconds between two looks at the file."""


@click.command(cls=Command)
@click.option("-n", "--lines", "number", type=WHOLE, default=50, show_default=True, metavar="N",
              help="The most lines to show.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Go on with new lines until Ctrl-C; into a pipe, one JSON object a line.")
@click.pass_obj
def logs(call: Call, /, number: int, follow: bool) -> None:
    """Show the problems that hooks and the drain have logged, newest last.

    Servers and workers log to stderr: see the program that started them, such as the agent's own log.
    """
    from pieria.capture.spool import spool_of
    from pieria.record import check

    check.whole(number, "lines", 1, 1_000_000)
    with call.workspace() as workspace:
        log = HookLog(spool_of(workspace).folder)
    found = log.new()[-number:]
    if not follow:
        document = {"file": str(log.file), "lines": [one.as_dict() for one in found]}
        call.reply(document, _shown(found) or [("No problem is logged.",)], [one.at for one in found])
        return
    while True:
        _print(call, found)
        time.sleep(PAUSE)
        found = log.new()


def _print(call: Call, found: Iterable[Logged]) -> None:
    if call.json or (call.json is None and not sys.stdout.isatty()):
        call.lines(one.as_dict() for one in found)
    else:
        show(_shown(found))
    sys.stdout.flush()


def _shown(found: Iterable[Logged]) -> list[Line]:
    return [((f"{one.at}  ", "dim"), one.text) for one in found]
