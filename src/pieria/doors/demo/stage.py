"""How the demo looks: scenes, calls and their results, as a person reads them and as JSON.

It knows nothing of the story. A call is shown as it runs, and its result is kept unchanged. So a reader who types the
same call gets the same result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from rich.console import Console
from rich.text import Text

from pieria.errors import PieriaError

Result = TypeVar("Result")

WIDEST = 100
INDENT = 4
MARGIN = 10
"""Column where results begin, right of their marks."""


class Stage:
    def __init__(self, *, shown: bool, pause: bool) -> None:
        self._console = Console(quiet=not shown, highlight=False, markup=False, emoji=False)
        self._console.width = min(self._console.width, WIDEST) if self._console.is_terminal else WIDEST
        self._pause = pause
        self.scenes: list[dict[str, Any]] = []

    def open(self, title: str, why: str) -> None:
        """Begin a scene with its title and its purpose."""
        if self.scenes and self._pause:
            self._console.input(Text("    ⏎ ", "dim"))
        self.scenes.append({"title": title, "why": why, "calls": []})
        self.gap()
        self._write(Text(title, "bold"), Text(f"{len(self.scenes):>2}  ", "bold cyan"))
        self._write(Text(why, "italic"))
        self.gap()

    def call(self, spelt: str, verb: Callable[..., Result], *arguments: Any, **values: Any) -> Result:
        """Run a verb, show the call and its duration, and keep the result."""
        begun = perf_counter()
        result = verb(*arguments, **values)
        self._called(_code(spelt, arguments, values), result, begun)
        return result

    def refused(self, spelt: str, verb: Callable[..., object], *arguments: Any, **values: Any) -> PieriaError:
        """Run a verb that must fail, and keep its error as the result."""
        begun = perf_counter()
        try:
            verb(*arguments, **values)
        except PieriaError as error:
            self._called(_code(spelt, arguments, values), error, begun)
            self.row("✗", str(error), error.hint or "", style="yellow")
            return error
        raise AssertionError(f"{spelt} should have been refused")

    def _called(self, code: str, result: object, begun: float) -> None:
        took = 1000 * (perf_counter() - begun)
        self.scenes[-1]["calls"].append({"call": code, "result": plain(result), "ms": round(took, 3)})
        self._write(Text.assemble((code, "cyan"), (f"   {took:.1f} ms", "dim")), Text("    › ", "cyan"))

    def finding(self, name: str, value: Any) -> None:
        """Keep a scene's own figure for JSON output."""
        self.scenes[-1].setdefault("found", {})[name] = plain(value)

    def say(self, *parts: str | tuple[str, str]) -> None:
        self._write(Text.assemble(*parts))

    def command(self, line: str) -> None:
        """Print the line unbroken, so that it can be copied."""
        self._console.print(Text(" " * INDENT + line, "cyan"), soft_wrap=True)

    def row(self, mark: str, text: str, note: str = "", *, style: str = "green") -> None:
        """Print a result: a mark or score before it, a note below it."""
        self._write(Text(text), Text(f"{mark:>{MARGIN - 2}}  ", f"bold {style}"))
        if note:
            self._write(Text(note, "dim"), Text(" " * MARGIN))

    def gap(self) -> None:
        self._console.print()

    def _write(self, text: Text, before: Text | None = None) -> None:
        """Print wrapped text with `before` in front of its first line, and no trailing blanks."""
        before = before or Text(" " * INDENT)
        for line in text.wrap(self._console, self._console.width - before.cell_len):
            line.rstrip()
            self._console.print(before + line, soft_wrap=True)
            before = Text(" " * before.cell_len)


def day(moment: datetime | None, otherwise: str = "…") -> str:
    return f"{moment.day} {moment:%b %Y}" if moment else otherwise


def plain(value: Any) -> Any:
    """Return a value as JSON data."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime | Path):
        return str(value)
    return value


def _code(spelt: str, arguments: Iterable[object], values: Mapping[str, object]) -> str:
    given = [*map(_written, arguments), *(f"{name}={_written(value)}" for name, value in values.items())]
    return f"{spelt}({', '.join(given)})"


def _written(value: object) -> str:
    """Return a value spelt as in code."""
    if isinstance(value, str):
        return '"' + value.replace('"', '\\"') + '"'
    if isinstance(value, Path):
        return f'"{value.name}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return repr(value)
