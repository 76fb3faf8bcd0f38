"""`pieria demo`: a story in a sample bank, which shows a newcomer in seconds what Pieria does.

Only the command is here: the story is in `story.jsonl`, the scenes in `scenes`, the display in `stage`. Never show a
result that was not computed from the bank in the same run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Apart
from pieria.doors.cli.values import OneOf


@click.command(cls=Apart)
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep the sample bank in this folder, to try it yourself.",
)
@click.option("--scenes", type=OneOf("short", "all"), default="short", show_default=True,
              help="Three scenes, or all of them.")  # fmt: skip
@click.option("--pause", is_flag=True, help="Wait for a key after each scene.")
@click.option("--json", "as_json", is_flag=True, help="Print every call and its result as JSON.")
@click.pass_context
def demo(ctx: click.Context, /, keep: Path | None, scenes: str, pause: bool, as_json: bool) -> None:
    """Show what Pieria does with the memories of a small team, in a few seconds.

    The demo creates a sample bank in a temporary folder, and touches none of your banks. It needs no key and no
    network.
    """
    from pieria.doors.demo.show import show

    call = ctx.ensure_object(Call)
    call.parameters = ctx.command.params
    as_json = as_json or bool(call.json)
    told = show(keep, scenes, shown=not as_json, pause=pause and sys.stdin.isatty())
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
