"""`pieria completion`: the script with which a shell completes Pieria's commands. click writes it."""

from __future__ import annotations

import sys

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.run import COMPLETE
from pieria.doors.cli.values import OneOf
from pieria.record import check

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=OneOf(*SHELLS))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print the script with which SHELL completes commands, options and banks: bash, zsh or fish.

    Put this line into the shell's own configuration: eval "$(pieria completion bash)"; for fish: pieria completion
    fish | source
    """
    from click.shell_completion import get_completion_class

    writer = get_completion_class(check.one_of(shell, "shell", SHELLS))
    assert writer is not None
    script = writer(ctx.find_root().command, {}, "pieria", COMPLETE).source()
    call = ctx.ensure_object(Call)
    if call.json:
        call.print_json({"shell": shell, "script": script})
    else:
        # A shell reads it from a pipe.
        sys.stdout.write(f"{script}\n")
