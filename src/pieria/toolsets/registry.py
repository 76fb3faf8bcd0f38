"""All toolsets by folder and all tools by name: what doors list and call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pieria.errors import InputError, NotFoundError
from pieria.toolsets.nearest import meant, nearest
from pieria.toolsets.tool import FILE, Tool, Toolset, toolset_in

ALL = "all"
OFFERED = 5
"""How many tool names a hint offers if no name is near."""


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


@cache
def registry() -> Registry:
    """Return the registry of every folder of this package that has a `tools.json`."""
    here = files("pieria.toolsets")
    folders = sorted(entry.name for entry in here.iterdir() if entry.is_dir() and (entry / FILE).is_file())
    return Registry(toolset_in(f"pieria.toolsets.{name}") for name in folders)
