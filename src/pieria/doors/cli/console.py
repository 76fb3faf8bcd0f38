"""The terminal, and the parts of every answer. All text of others goes through `inert` here.

Never print a string as markup: remembered text must not be able to style or hide anything. rich is loaded only when a
part is made, because programs get JSON.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text


Part: TypeAlias = "str | tuple[str, str] | Text"
Line: TypeAlias = "tuple[Part, ...]"
Parts: TypeAlias = "Iterator[RenderableType | Line]"
"""An answer for people: parts that are printed one below another. A tuple is the parts of one line."""

PATIENCE = 0.4
MANY = 5_000
"""Number of items, or of seconds, that makes a progress bar worth showing."""
# Control characters (escape sequences begin with one), direction overrides, invisible characters that can hide text,
# and surrogates. Joiners stay: emoji and Persian need them.
_OBEYED = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SPELT_OUT = re.compile(f"[{_OBEYED}]")
_SPACES = re.compile(r"\s+")
_UNITS = (
    ("y", 365 * 86_400),
    ("mo", 30 * 86_400),
    ("d", 86_400),
    ("h", 3_600),
    ("min", 60),
)


def console() -> Console:
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def show(parts: Iterable[RenderableType | Line]) -> None:
    """Print the parts one below another, as wide as the terminal."""
    from rich.text import Text

    screen = console()
    for each in parts:
        part = line(*each) if isinstance(each, tuple) else each
        screen.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def plain_ascii() -> bool:
    """Return whether the output holds only ASCII."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def line(*parts: Part) -> Text:
    """Return one line from its parts: plain strings, and pairs of a string and its style."""
    from rich.text import Text

    text = Text()
    for part in parts:
        text.append_text(_one(part))
    return text


def stacked(lines: Iterable[Text]) -> Text:
    """Return the lines one below another, as one text."""
    from rich.text import Text

    return Text("\n").join(lines)


def unbroken(*parts: Part) -> Text:
    """Return one line for copying: only the terminal may wrap it."""
    text = line(*parts)
    text.no_wrap = True
    return text


def block(written: str) -> Text:
    """Return text with its line breaks."""
    from rich.text import Text

    return Text(inert(written))


def verbatim(written: str) -> Text:
    """Return text with its own line breaks and no others."""
    text = block(written)
    text.no_wrap = True
    return text


def table(*headings: str, wide: Sequence[str] = (), right: Sequence[str] = (), wraps: bool = False) -> Table:
    """Return an empty table of one-line rows. `wide` columns take the remaining width; longer cells are cut, or
    wrapped with `wraps`.
    """
    from rich.table import Table

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
    of.add_row(*(_one("" if cell is None else cell) for cell in cells))


def pairs(rows: Iterable[tuple[str, Part | None]]) -> Table:
    """Return a table of names and values, without empty ones; long values wrap."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        said = None if value is None else _one(value)
        if said:
            made.add_row(_one(name), said)
    return made


def _one(part: Part) -> Text:
    """Return a part as one line of text."""
    from rich.text import Text

    if isinstance(part, Text):
        return part
    written, style = part if isinstance(part, tuple) else (part, "")
    return Text(" ".join(inert(written).split("\n")), style=style)


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes the done and total counts. It shows a bar on stderr if the work takes long."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task(what)
    begun = time.monotonic()
    with ExitStack() as stack:

        def report(done: int, whole: int) -> None:
            progress.update(task, completed=done, total=whole)
            long = whole >= MANY or time.monotonic() - begun > PATIENCE
            if long and done < whole and not progress.live.is_started:
                stack.enter_context(progress)

        yield report


def inert(text: str, *, one_line: bool = False) -> str:
    """Return the text with invisible characters spelt out. Tabs and line breaks stay, or become spaces with
    `one_line`.
    """
    if text.isprintable():
        return text
    told = _SPELT_OUT.sub(_spelt, text.replace("\r\n", "\n"))
    return _SPACES.sub(" ", told).strip() if one_line else told


def inert_json(written: str) -> str:
    """Return JSON with invisible characters as escapes, so that no data is lost."""
    return written if written.isascii() and "\x7f" not in written else _SPELT_OUT.sub(_escaped, written)


def _spelt(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def day_and_age(moment: datetime | None, now: datetime) -> str | None:
    return None if moment is None else f"{stamp(moment)} ({age(moment, now)})"


def stamp(moment: datetime) -> str:
    """Return a time to the minute, in UTC."""
    from pieria.record.time import iso

    return f"{iso(moment)[:16].replace('T', ' ')}Z"


def age(moment: datetime, now: datetime) -> str:
    """Return the distance to now in the largest unit that fits."""
    seconds = (now - moment).total_seconds()
    for unit, length in _UNITS:
        if abs(seconds) >= length:
            count = f"{int(abs(seconds) // length)} {unit}"
            return f"{count} ago" if seconds > 0 else f"in {count}"
    return "just now"


def size(count: int) -> str:
    """Return a number of bytes in a readable unit."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def interval(begin: datetime | None, end: datetime | None) -> str | None:
    """Return a half-open interval in words, or None if it has no bounds."""
    said = [] if begin is None else [f"from {stamp(begin)}"]
    if end is not None:
        said.append(f"until {stamp(end)}")
    return " ".join(said) or None
