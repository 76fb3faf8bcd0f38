"""Tools for people: a line each, or one with all that it takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, row, table
from pieria.toolsets import Tool
from pieria.toolsets.validation import in_words


def listed(tools: Iterable[Tool]) -> Iterator[RenderableType]:
    """A line for each: its name, what a caller must be allowed to do, and what it does."""
    made = table("tool", "access", "does", wide=("does",), wraps=True)
    for tool in tools:
        row(made, (tool.name, "bold"), tool.access.name, (tool.description, "dim"))
    yield made


def told(tool: Tool) -> Iterator[RenderableType]:
    """One with its parameters; those it cannot do without are marked."""
    yield line((tool.name, "bold"), (f"  {tool.access.name}", "dim"))
    yield line(tool.description)
    required = tool.input_schema.get("required", ())
    made = table("parameter", "takes", "for", wide=("takes", "for"), wraps=True)
    for name, schema in tool.parameters.items():
        row(made, (f"{name}{'*' if name in required else ''}", "bold"), _taken(schema), schema.get("description"))
    yield made if made.row_count else line("It takes nothing.")
    if required:
        yield line(("* must be given", "dim"))


def _taken(schema: Mapping[str, Any]) -> str:
    default = f"; {json.dumps(schema['default'], ensure_ascii=False)} by default" if "default" in schema else ""
    return in_words(schema) + default
