"""The terminal, and the parts of every answer. All text of others goes through `inert` here.

Never print a string as markup: remembered text must not be able to style or hide anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from pieria.doors.cli.inert import inert

Part = str | tuple[str, str] | Text


def console() -> Console:
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def show(parts: Iterable[RenderableType]) -> None:
    """Print the parts one below another, as wide as the terminal."""
    screen = console()
    for part in parts:
        screen.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def plain_ascii() -> bool:
    """Return whether the output holds only ASCII."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def line(*parts: Part) -> Text:
    """Return one line from its parts: plain strings, and pairs of a string and its style."""
    text = Text()
    for part in parts:
        text.append_text(_one(part, one_line=True))
    return text


def unbroken(*parts: Part) -> Text:
    """Return one line for copying: only the terminal may wrap it."""
    text = line(*parts)
    text.no_wrap = True
    return text


def block(written: str, style: str = "") -> Text:
    """Return text with its line breaks."""
    return Text(inert(written), style=style)


def verbatim(written: str) -> Text:
    """Return text with its own line breaks and no others."""
    return Text(inert(written), no_wrap=True)


def table(*headings: str, wide: Sequence[str] = (), right: Sequence[str] = (), wraps: bool = False) -> Table:
    """Return an empty table of one-line rows. `wide` columns take the remaining width; longer cells are cut, or
    wrapped with `wraps`.
    """
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), expand=bool(wide))
    for heading in headings:
        free = heading in wide
        made.add_column(
            heading,
            ratio=1 if free else None,
            no_wrap=not (free and wraps),
            overflow="fold" if free and wraps else "crop" if plain_ascii() else "ellipsis",
            justify="right" if heading in right else "left",
        )
    return made


def row(of: Table, *cells: Part | None) -> None:
    of.add_row(*(Text() if cell is None else _one(cell, one_line=True) for cell in cells))


def pairs(rows: Iterable[tuple[str, Part | None]]) -> Table:
    """Return a table of names and values, without empty ones; long values wrap."""
    made = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        said = None if value is None else _one(value, one_line=True)
        if said:
            made.add_row(Text(name), said)
    return made


def _one(part: Part, *, one_line: bool) -> Text:
    if isinstance(part, Text):
        return part
    written, style = part if isinstance(part, tuple) else (part, "")
    told = inert(written)
    return Text(" ".join(told.split("\n")) if one_line else told, style=style)
