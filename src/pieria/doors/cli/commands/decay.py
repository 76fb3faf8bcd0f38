"""`pieria review` and `decay`: memories that will soon be forgotten, and how one memory fades."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command

if TYPE_CHECKING:
    from rich.console import RenderableType

PICTURE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command(cls=Command)
@click.argument("ids", nargs=-1)
@click.option("-k", "-n", "--limit", "k", type=click.IntRange(1, 10_000), default=20, show_default=True,
              help="At most this many.")  # fmt: skip
@click.pass_context
def review(ctx: click.Context, /, ids: tuple[str, ...], k: int) -> None:
    """List memories that will soon be forgotten, most urgent first. With IDS, record a review of these memories.

    Exits with 1 if one of the IDS does not exist.
    """
    call: Call = ctx.obj
    if not ids:
        with call.opened(reading=True) as bank:
            found = bank.upkeep.due(k)

        def people() -> Iterator[RenderableType]:
            from pieria.doors.cli.shown.decay import due

            yield from due(found)

        call.reply({"due": [one.as_dict() for one in found]}, people, [one.memory.id for one in found])
        return
    with call.opened() as bank:
        counted = bank.upkeep.review(ids)

    def told() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.decay import reviewed

        yield from reviewed(counted)

    call.reply(counted.as_dict(), told, [one.id for one in counted.results if one.missing is None])
    if counted.count < len(counted.results):
        ctx.exit(1)


@click.command(cls=Command)
@click.argument("id")
@click.option("--png", type=PICTURE, help="Write the plot to this file.")
@click.option("--svg", type=PICTURE, help="Write the plot to this file; it scales to any size.")
@click.pass_obj
def decay(call: Call, /, id: str, png: Path | None, svg: Path | None) -> None:
    """Plot how a memory fades: its retention, when a review is due, and when it is forgotten."""
    with call.opened(reading=True) as bank:
        curve = bank.upkeep.curve(id)
    if png is not None:
        from pieria.doors.drawn.curve import picture
        from pieria.doors.drawn.png import png as painted

        png.write_bytes(painted(picture(curve)))
    if svg is not None:
        from pieria.doors.drawn.curve import picture
        from pieria.doors.drawn.svg import svg as painted

        svg.write_bytes(painted(picture(curve)))

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.decay import drawn

        yield from drawn(curve)

    call.reply(curve.as_dict(), people, [curve.now.memory.id])
