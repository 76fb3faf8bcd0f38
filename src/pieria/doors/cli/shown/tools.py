"""Tools for people: a line each, or one with its parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, row, table
from pieria.toolsets import Tool
from pieria.toolsets.validation import in_words


def listed(tools: Iterable[Tool]) -> Iterator[RenderableType]:
    """Yield a line for each tool: its name, the access it needs, and its purpose."""
    made = table("tool", "access", "does", wide=("does",), wraps=True)
    for tool in tools:
        row(made, (tool.name, "bold"), tool.access.name, (tool.description, "dim"))
    yield made


def told(tool: Tool) -> Iterator[RenderableType]:
    """Yield a tool with its parameters; required ones are marked."""
    yield line((tool.name, "bold"), (f"  {tool.access.name}", "dim"))
    yield line(tool.description)
    required = tool.input_schema.get("required", ())
    made = table("parameter", "type", "meaning", wide=("type", "meaning"), wraps=True)
    for name, schema in tool.parameters.items():
        row(made, (f"{name}{'*' if name in required else ''}", "bold"), _taken(schema), schema.get("description"))
    yield made if made.row_count else line("This tool takes no parameters.")
    if required:
        yield line(("* required", "dim"))


def _taken(schema: Mapping[str, Any]) -> str:
    default = f"; {json.dumps(schema['default'], ensure_ascii=False)} by default" if "default" in schema else ""
    return in_words(schema) + default
