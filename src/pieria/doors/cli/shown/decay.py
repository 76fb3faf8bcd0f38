"""How memories fade, for people: the curve of one memory, and those due for a review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, pairs, plain_ascii, row, table, verbatim
from pieria.doors.cli.shown.words import age, counted, stamp
from pieria.doors.drawn.curve import Picture, picture
from pieria.record.time import moment

if TYPE_CHECKING:
    from pieria.bank.upkeep.review import Curve, Reinforced, Retained

ROWS, COLUMNS = 14, 60


def drawn(curve: Curve) -> Iterator[RenderableType]:
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


def due(found: Sequence[Retained]) -> Iterator[RenderableType]:
    if found:
        made = table("left", "urgent", "id", "text", wide=("text",), right=("left", "urgent"))
        for one in found:
            row(made, f"{one.retention:.2f}", f"{one.urgency:.2f}", (one.memory.id, "dim"), one.memory.text)
        yield made
    yield line(f"{counted(len(found), 'memory is', 'memories are')} due for a review")


def reviewed(found: Reinforced) -> Iterator[RenderableType]:
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
