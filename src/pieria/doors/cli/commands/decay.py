"""`pieria review` and `decay`: memories that will soon be forgotten, and how one memory fades."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, age, counted, line, pairs, plain_ascii, row, stamp, table, verbatim
from pieria.doors.cli.parser import Command
from pieria.doors.drawn import Picture, picture
from pieria.record.time import moment

if TYPE_CHECKING:
    from pieria.bank.upkeep.review import Curve, Reinforced, Retained


PICTURE = click.Path(dir_okay=False, writable=True, path_type=Path)
ROWS, COLUMNS = 14, 60


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

        call.reply({"due": [one.as_dict() for one in found]}, show_due(found), [one.memory.id for one in found])
        return
    with call.opened() as bank:
        counted = bank.upkeep.review(ids)
    call.reply(counted.as_dict(), show_reviewed(counted), [one.id for one in counted.results if one.missing is None])
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
        from pieria.doors.drawn import picture
        from pieria.doors.drawn import png as painted

        png.write_bytes(painted(picture(curve)))
    if svg is not None:
        from pieria.doors.drawn import picture
        from pieria.doors.drawn import svg as painted

        svg.write_bytes(painted(picture(curve)))
    call.reply(curve.as_dict(), show_curve(curve), [curve.now.memory.id])


def show_curve(curve: Curve) -> Parts:
    now, at = curve.now, moment(curve.at)
    yield line((now.memory.text, "bold"))
    yield verbatim("\n".join(_plot(picture(curve))))
    yield pairs(
        [
            ("left", f"{now.retention:.3f}" + (f" (score {now.score:.3f})" if now.score > 1 else "")),
            ("last used", _when(now.last_used, at)),
            ("uses", f"{now.used.accesses:,}, {now.used.reviews:,} of them reviews"),
            ("strength", f"{now.memory.strength:g}"),
            ("model", curve.fading.model),
            ("review due", _span(curve, at)),
            ("collected", _when(curve.collected, at)),
            ("promoted", _promoted(curve)),
        ]
    )


def show_due(found: Sequence[Retained]) -> Parts:
    if found:
        made = table("left", "urgent", "id", "text", wide=("text",), right=("left", "urgent"))
        for one in found:
            row(made, f"{one.retention:.2f}", f"{one.urgency:.2f}", (one.memory.id, "dim"), one.memory.text)
        yield made
    yield line(f"{counted(len(found), 'memory is', 'memories are')} due for a review")


def show_reviewed(found: Reinforced) -> Parts:
    for one in found.results:
        if one.before is not None and one.after is not None:
            change = f"{one.before.retention:.2f} to {one.after.retention:.2f}"
            yield line(("reviewed ", "green"), one.id, f"  retention {change}")
        else:
            yield line(("not reviewed ", "yellow"), one.id, f"  {one.missing}")


def _plot(what: Picture) -> list[str]:
    """Return the curve as dots in a frame, with the labels of horizontal lines at the left."""
    dot, bar, dash = ("*", "|", "-") if plain_ascii() else ("●", "┊", "╌")
    cells = [[" "] * (COLUMNS + 1) for _ in range(ROWS + 1)]
    names = [""] * (ROWS + 1)
    for level in what.across:
        height = round(level.at * ROWS)
        cells[height] = [dash] * (COLUMNS + 1)
        names[height] = level.label
    for level in what.down:
        for height in range(ROWS + 1):
            cells[height][round(level.at * COLUMNS)] = bar
    for across, up in what.points:
        cells[round(up * ROWS)][round(across * COLUMNS)] = dot
    width = max(map(len, names))
    marks = [" "] * (COLUMNS + 20)
    for level in what.down:
        place = round(level.at * COLUMNS)
        if all(mark == " " for mark in marks[max(0, place - 1) : place + len(level.label) + 1]):
            marks[place : place + len(level.label)] = level.label
    body = [f"{names[height]:>{width}} {''.join(cells[height])}".rstrip() for height in range(ROWS, -1, -1)]
    ends = what.begins + what.ends.rjust(COLUMNS + 1 - len(what.begins))
    return [" " * (width + 1) + "".join(marks).rstrip(), *body, " " * (width + 1) + ends]


def _when(at: int | None, now: datetime) -> str:
    return "never" if at is None else f"{stamp(moment(at))} ({age(moment(at), now)})"


def _span(curve: Curve, now: datetime) -> str:
    if curve.review_from is None:
        return "never"
    return f"{_when(curve.review_from, now)}, until {_when(curve.review_to, now)}"


def _promoted(curve: Curve) -> str:
    if curve.now.memory.status == "promoted":
        return "yes"
    return f"due: {curve.promotion}" if curve.promotion else "not yet"
