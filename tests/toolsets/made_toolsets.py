"""Made-up toolsets, to test the shared core without any of the five."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from pieria.toolsets import Access, Registry, Tool, Toolset


def tool(name: str = "made_do", access: Access = Access.write, **values: Any) -> Tool:
    properties = values.pop("properties", {"text": {"type": "string"}})
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := values.pop("required", None):
        schema["required"] = required
    return Tool(name, "Does something.", schema, access, **{"module": "handlers", **values})


def toolset(*tools: Tool, name: str = "made", **values: Any) -> Toolset:
    return Toolset(name, "Made", "Use it.", f"{name}_", f"tests.toolsets.made_up_{name}", tools, **values)


@contextmanager
def serving(made: Toolset, **handlers: Callable[..., Any]) -> Iterator[Registry]:
    """Yield a registry of this toolset only, with these functions as handlers and an envelope that adds nothing."""

    def failed(tool: Tool, arguments: Mapping[str, Any], error: Any) -> dict[str, Any]:
        return {"error": error.as_dict(), "arguments": dict(arguments)}

    modules = {part: ModuleType(f"{made.package}.{part}") for part in ("handlers", "words")}
    vars(modules["handlers"]).update(handlers)
    vars(modules["words"]).update(succeeded=lambda call, value: {"value": value}, failed=failed)
    named = {made.package: ModuleType(made.package), **{f"{made.package}.{part}": it for part, it in modules.items()}}
    sys.modules.update(named)
    try:
        yield Registry([made])
    finally:
        for name in named:
            del sys.modules[name]
