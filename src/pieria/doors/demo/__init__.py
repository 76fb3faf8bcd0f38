"""`pieria demo`: a story told on a bank of its own, so that a newcomer sees in seconds what there is.

Here is only the command: what is told stands in `story.jsonl`, what is shown of it in `scenes`, how it looks in
`stage`. Nothing may be shown that was not computed from the bank in the same run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Apart


@click.command(cls=Apart)
@click.option("--keep", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep the bank there, to play with.")
@click.option("--pause", is_flag=True, help="Wait for a key after each scene.")
@click.option("--json", "as_json", is_flag=True, help="Print every call and its result as JSON.")
@click.pass_context
def demo(ctx: click.Context, /, keep: Path | None, pause: bool, as_json: bool) -> None:
    """Show what Pieria does: half a year of a small team, in a few seconds.

    It makes a bank of its own in a temporary folder and touches none of yours. It needs no key and no network.
    """
    from pieria.doors.demo.show import show

    call = ctx.ensure_object(Call)
    call.parameters = ctx.command.params
    as_json = as_json or bool(call.json)
    told = show(keep, shown=not as_json, pause=pause and sys.stdin.isatty())
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
