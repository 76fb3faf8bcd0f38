"""All toolsets by folder and all tools by name: what doors list and call, as each `tools.json` describes them.

Handlers live in their toolset's folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher, get_close_matches
from enum import IntEnum
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from pieria.errors import InputError, NotFoundError, PieriaError
from pieria.runtime.lazy import cached_property

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]


FILE = "tools.json"
_RESERVED = frozenset({"import", "get", "list"})
"""Python keywords, or names that would shadow a builtin."""
_SHARED: Mapping[str, Any] = {"speaks": {}, "takesNull": False, "takesNearest": False, "lean": False}
"""What a toolset declares for all of its tools, and what holds without that."""
LONGEST = 100
"""Longest name, in characters, that still counts as a misspelling."""
LOOKED_AT = 5
ALIKE, ALIKE_AFTER, MUCH_ALIKE = 0.5, 0.6, 0.75
FAMILY = len("mem-")
SHORTEST = 3
"""Shortest prefix or suffix, in characters, that counts as the longer name."""
ALL, OWN = "all", "pieria"
"""Every toolset, and the one that is offered if nothing else is asked for."""
OFFERED = 5
"""How many tool names a hint offers if no name is near."""


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
    module: str = ""
    """The module of the handler, in the toolset's package."""
    begins: bool = False
    reply_schema: Mapping[str, Any] | None = None
    """What a reply that is no error holds. A key that it does not require is left out of the reply if it is empty."""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    aliases: tuple[str, ...] = ()
    accepts: Mapping[str, str] = field(default_factory=dict)
    speaks: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[str, ...] = ()
    """Parameters that take JSON text or the object itself."""
    ignores: tuple[str, ...] = ()
    """Options of the original, or of its newer versions, that mean nothing here: left out with a warning."""
    takes_null: bool = False
    """Whether null means "left out", because some clients fill in every parameter. OpenAPI says so, too."""
    takes_nearest: bool = False
    """Whether a reading tool takes the nearest number in range for a limit or an offset out of it, with a warning."""
    settled: tuple[str, ...] = ()
    """Parameters whose listed default comes from a setting. If left out, the handler does not receive them."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.input_schema["properties"]
        return properties

    @property
    def output_schema(self) -> Mapping[str, Any] | None:
        """Return the schema of a reply as MCP sends it: lists are in an object."""
        schema = self.reply_schema
        if schema is None or schema["type"] == "object":
            return schema
        return {"type": "object", "required": ["result"], "properties": {"result": schema}}

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The cached validator: building one costs as much as ten checks."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.input_schema)


class Envelope(Protocol):
    """The part of a toolset's `words` that shapes replies."""

    def succeeded(self, call: Any, value: Any) -> Any: ...

    def failed(self, tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> Any: ...


@dataclass(frozen=True, slots=True)
class Toolset:
    """A toolset. `package` is its Python package; its modules are imported on the first call of their tools.

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
    is_lean: bool = False
    """Whether it lists only what a client cannot assume."""

    def handler_name(self, tool: Tool) -> str:
        name = tool.name.removeprefix(self.prefix).replace("-", "_")
        return f"{name}_" if name in _RESERVED else name

    def handler(self, tool: Tool) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"{self.package}.{tool.module}"), self.handler_name(tool))
        return found

    @property
    def envelope(self) -> Envelope:
        found: Envelope = import_module(f"{self.package}.words")
        return found


def toolset_in(package: str) -> Toolset:
    read = json.loads((files(package) / FILE).read_text("utf-8"))
    shared = {name: read.get(name, usual) for name, usual in _SHARED.items()}
    return Toolset(
        name=read["toolset"],
        title=read["title"],
        instructions=" ".join(read["instructions"]),
        prefix=read["prefix"],
        package=package,
        tools=tuple(_tool(entry, shared) for entry in read["tools"]),
        secrets=read.get("secrets"),
        is_lean=shared["lean"],
    )


def _tool(entry: Mapping[str, Any], shared: Mapping[str, Any]) -> Tool:
    """Return the tool. Hints are listed if a client would not assume them; a lean tool lists nothing else."""
    access = Access[entry["access"]]
    is_lean = shared["lean"]
    closed = {} if is_lean else {"additionalProperties": False}
    schema = {"type": "object", "properties": {}, **closed, **entry["inputSchema"]}
    hints: dict[str, Any] = {"readOnlyHint": True}
    if access is not Access.read:
        # Without both, hosts that ask before a change (Codex) ask for each memory, or refuse it.
        hints = {"destructiveHint": False, "openWorldHint": False}
    if not is_lean:
        hints = {"title": entry["title"], **hints, "openWorldHint": False}
    return Tool(
        name=entry["name"],
        description=entry["description"],
        input_schema=schema,
        access=access,
        module=entry["module"],
        begins=entry.get("begins", False),
        reply_schema=entry.get("outputSchema"),
        title=entry["title"],
        annotations={**hints, **entry.get("annotations", {})},
        aliases=tuple(entry.get("aliases", ())),
        accepts=entry.get("accepts", {}),
        speaks={**shared["speaks"], **entry.get("speaks", {})},
        objects=tuple(entry.get("objects", ())),
        ignores=tuple(entry.get("ignores", ())),
        takes_null=shared["takesNull"],
        takes_nearest=shared["takesNearest"],
        settled=tuple(entry.get("settled", ())),
    )


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the nearest known name, or None. Guess with care: models follow the guess, and its tool may write."""
    if len(name) > LONGEST:
        return None
    wanted = name.casefold()
    there = {other.casefold(): other for other in known}
    near = get_close_matches(wanted, there, LOOKED_AT, ALIKE)
    near.sort(key=lambda other: not _holds(wanted, other))
    return next((there[other] for other in near if _is_meant(wanted, other)), None)


def _is_meant(wanted: str, other: str) -> bool:
    """Return whether the names are near. Names with a shared prefix must also be near after the prefix."""
    if _holds(wanted, other):
        return True
    same = next((at for at, (one, its) in enumerate(zip(wanted, other, strict=False)) if one != its), 0)
    if same >= FAMILY:
        return _likeness(wanted[same:], other[same:]) >= ALIKE_AFTER
    return _likeness(wanted, other) >= MUCH_ALIKE


def _holds(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= SHORTEST and (longer.startswith(shorter) or longer.endswith(shorter))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, other, one).ratio()


class Guesses:
    """A budget of guesses for one answer."""

    def __init__(self, most: int) -> None:
        self._left = most

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        return nearest(name, known)


def meant(near: str | None) -> str | None:
    """Return the hint for a guess."""
    return near and f"Did you mean {near}?"


class Registry:
    """A choice of toolsets. Tool names and aliases are unique across all of them."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        self.toolsets: Mapping[str, Toolset] = MappingProxyType({toolset.name: toolset for toolset in toolsets})
        self._named: dict[str, tuple[Toolset, Tool]] = {}
        for toolset in self.toolsets.values():
            for tool in toolset.tools:
                for name in (tool.name, *tool.aliases):
                    if name in self._named:
                        raise ValueError(f"two tools are called {name}")
                    self._named[name] = toolset, tool

    def __iter__(self) -> Iterator[tuple[Toolset, Tool]]:
        for toolset in self.toolsets.values():
            for tool in toolset.tools:
                yield toolset, tool

    @property
    def names(self) -> list[str]:
        return [tool.name for _, tool in self]

    def found(self, name: str) -> tuple[Toolset, Tool]:
        """Return the toolset and tool of a name or alias. Raise `NotFoundError` with the nearest name."""
        held = self._named.get(name)
        if held is None:
            some = ", ".join(self.names[:OFFERED])
            hint = meant(nearest(name, self.names)) or f"There are {len(self.names)}, such as {some}."
            raise NotFoundError("tool", name, hint=hint)
        return held

    def only(self, chosen: str | Iterable[str], parameter: str = "toolset") -> Registry:
        """Return a registry of the chosen toolsets, such as `mnemosyne,open-mem` or `all`."""
        names = [name.strip() for name in chosen.split(",")] if isinstance(chosen, str) else list(chosen)
        if ALL in names:
            return self
        for name in names:
            if name not in self.toolsets:
                hint = meant(nearest(name, self.toolsets))
                raise InputError(parameter, f"{ALL}, or some of {', '.join(self.toolsets)}", name, hint=hint)
        return Registry(self.toolsets[name] for name in dict.fromkeys(names))

    def with_tools(self, names: str, parameter: str = "tools") -> Registry:
        """Return a registry of single tools of this one, such as `remember,recall`."""
        kept = set()
        for name in names.split(","):
            try:
                kept.add(self.found(name.strip())[1].name)
            except NotFoundError as problem:
                raise InputError(parameter, "names of tools", name.strip(), hint=problem.hint) from problem
        toolsets = (
            replace(toolset, tools=tuple(tool for tool in toolset.tools if tool.name in kept))
            for toolset in self.toolsets.values()
        )
        return Registry(toolset for toolset in toolsets if toolset.tools)


@cache
def registry() -> Registry:
    """Return the registry of every folder of this package that has a `tools.json`."""
    here = files("pieria.toolsets")
    folders = sorted(entry.name for entry in here.iterdir() if entry.is_dir() and (entry / FILE).is_file())
    return Registry(toolset_in(f"pieria.toolsets.{name}") for name in folders)
