"""A tool and a toolset as `tools.json` describes them. Handlers live in their toolset's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pieria.runtime.lazy import cached_property

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

FILE = "tools.json"


class Access(IntEnum):
    """What a caller may do; each level includes the lower ones."""

    read = 1
    write = 2
    admin = 3


@dataclass(frozen=True)
class Tool:
    """One tool.

    `aliases` are accepted names of the tool, `accepts` accepted names of parameters; neither is listed. Only a tool
    with `begins` creates a missing bank that the caller named, because the name may be misspelt. `speaks` maps the
    engine's parameters to the tool's, so that errors use the caller's names.
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
    """Parameters that take JSON text or the object itself."""
    takes_null: bool = False
    """Whether null means "left out", because some clients fill in every parameter. OpenAPI says so, too."""
    settled: tuple[str, ...] = ()
    """Parameters whose listed default comes from a setting. If left out, the handler does not receive them."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.input_schema["properties"]
        return properties

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The cached validator: building one costs as much as ten checks."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.input_schema)


@dataclass(frozen=True, slots=True)
class Toolset:
    """A toolset. `package` is its Python package; `handlers` in it is imported on the first call.

    A handler is named like its tool, without `prefix` and with underscores.
    """

    name: str
    title: str
    instructions: str
    prefix: str
    package: str
    tools: tuple[Tool, ...]
    secrets: str | None = None
    """How to treat secrets in these tools' texts if the setting has its default."""

    @property
    def handlers(self) -> ModuleType:
        return import_module(f"{self.package}.handlers")

    def handler_name(self, tool: Tool) -> str:
        name = tool.name.removeprefix(self.prefix).replace("-", "_")
        return f"{name}_" if name in _RESERVED else name


_RESERVED = frozenset({"import", "get", "list"})
"""Python keywords, or names that would shadow a builtin."""


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
