"""A tool as it is listed and checked, and a toolset: what its `tools.json` says, without any of its handlers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

FILE = "tools.json"


class Access(IntEnum):
    """What a caller may do; each holds those before it."""

    read = 1
    write = 2
    admin = 3


@dataclass(frozen=True)
class Tool:
    """`aliases` are further names of it, `accepts` further names of its parameters: taken, and not listed.

    A bank that is not there comes to be by a tool that `begins` one, and by no other: its name may be misspelt.
    `speaks` says which of its parameters stands for which of the engine's, so that an error names what the caller gave.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    access: Access
    begins: bool = False
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    accepts: Mapping[str, str] = field(default_factory=dict)
    speaks: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[str, ...] = ()
    """Parameters that are JSON text, and are taken as the object itself, too."""
    takes_null: bool = False
    """Whether null stands for what is left out, as clients send it that fill in every parameter. OpenAPI says so."""
    settled: tuple[str, ...] = ()
    """Parameters whose listed default is that of a setting: where one is left out, its handler is not given it."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.input_schema["properties"]
        return properties

    @cached_property
    def validator(self) -> Draft202012Validator:
        """Made once: to make one costs as much as to check ten calls."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.input_schema)


@dataclass(frozen=True, slots=True)
class Toolset:
    """`package` is the folder's name in Python; its module `handlers` is imported when a tool is first called.

    A handler is named like its tool without the toolset's `prefix`, in the spelling of Python.
    """

    name: str
    title: str
    instructions: str
    prefix: str
    package: str
    tools: tuple[Tool, ...]
    secrets: str | None = None
    """What becomes of secrets that come through these tools, where nobody set that."""

    @property
    def handlers(self) -> ModuleType:
        return import_module(f"{self.package}.handlers")

    def handler_name(self, tool: Tool) -> str:
        name = tool.name.removeprefix(self.prefix).replace("-", "_")
        return f"{name}_" if name in _RESERVED else name


_RESERVED = frozenset({"import", "get", "list"})
"""Names that Python keeps for itself, or that would hide one of its own."""


def toolset_in(package: str) -> Toolset:
    read = json.loads((files(package) / FILE).read_text("utf-8"))
    shared, takes_null = read.get("speaks", {}), read.get("takesNull", False)
    return Toolset(
        name=read["toolset"],
        title=read["title"],
        instructions=" ".join(read["instructions"]),
        prefix=read["prefix"],
        package=package,
        tools=tuple(_tool(entry, shared, takes_null=takes_null) for entry in read["tools"]),
        secrets=read.get("secrets"),
    )


def _tool(entry: Mapping[str, Any], speaks: Mapping[str, str], *, takes_null: bool) -> Tool:
    schema = {"type": "object", "properties": {}, "additionalProperties": False, **entry["inputSchema"]}
    access = Access[entry["access"]]
    hints = {
        "readOnlyHint": access is Access.read,
        "destructiveHint": False,
        "idempotentHint": access is Access.read,
        "openWorldHint": False,
    }
    return Tool(
        name=entry["name"],
        description=entry["description"],
        input_schema=schema,
        access=access,
        begins=entry.get("begins", False),
        output_schema=entry.get("outputSchema"),
        annotations={"title": entry["title"], **hints, **entry.get("annotations", {})},
        aliases=tuple(entry.get("aliases", ())),
        accepts=entry.get("accepts", {}),
        speaks={**speaks, **entry.get("speaks", {})},
        objects=tuple(entry.get("objects", ())),
        takes_null=takes_null,
        settled=tuple(entry.get("settled", ())),
    )
