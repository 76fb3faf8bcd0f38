"""Checks of configuration values, which collect all problems before raising.

The caller knows what the values mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Any, TypeVar

from pieria.errors import ConfigError, InputError, PieriaError

T = TypeVar("T")


class Findings:
    """Collects problems; `settle` raises the first, with the others in `errors`."""

    def __init__(self) -> None:
        self._found: list[ConfigError] = []

    def add(self, parameter: str, expected: str, received: object, hint: str | None = None) -> None:
        self.take(InputError(parameter, expected, received, hint=hint))

    def take(self, problem: InputError) -> None:
        self._found.append(ConfigError(problem.message, hint=problem.hint))

    def within(self, parameter: str, problem: PieriaError) -> None:
        """Add the problems of a section that was checked separately."""
        for one in (problem, *problem.errors):
            reason = getattr(one, "reason", one.message)
            self._found.append(ConfigError(f"{parameter}.{reason}", hint=one.hint))

    def checked(self, checker: Callable[..., T], value: object, *rest: Any) -> T:
        """Return the checked value. An invalid one is returned unchanged, since `settle` will raise."""
        try:
            return checker(value, *rest)
        except InputError as problem:
            self.take(problem)
            return value  # type: ignore[return-value]

    def mapping(self, value: object, parameter: str, known: tuple[str, ...]) -> dict[str, Any]:
        """Return the members with known names, and add the others as problems."""
        if not isinstance(value, Mapping):
            self.add(parameter, f"a mapping of {', '.join(known)}", value, f"Write {{{known[0]!r}: …}}.")
            return {}
        for name in value:
            if name not in known:
                near = get_close_matches(str(name), known, 1)
                hint = f"Did you mean {near[0]}?" if near else None
                self.add(parameter, f"no names but {', '.join(known)}", name, hint)
        return {name: value[name] for name in known if name in value}

    def options(self, value: object, parameter: str) -> dict[str, Any]:
        """Return a copy of the options for a model or backend. Their values are not checked."""
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            self.add(parameter, "a mapping of options by name", value)
            return {}
        return {name: copied(item) for name, item in value.items()}

    def named(self, value: object, parameter: str, expected: str) -> Any:
        """Return the object, imported if it is a text such as `package.module:Name`."""
        if not isinstance(value, str):
            return value
        try:
            return resolve_name(value)
        except (ImportError, AttributeError, ValueError) as problem:
            hint = f"It could not be imported: {type(problem).__name__}. Write package.module:Name."
            self.add(parameter, expected, value, hint)
            return None

    def settle(self) -> None:
        if self._found:
            first, *others = self._found
            first.errors = tuple(others)
            raise first


def copied(value: Any) -> Any:
    """Copy mappings and lists recursively; other values are shared."""
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merged copy; `over` takes precedence, mapping by mapping."""
    both: dict[str, Any] = copied(base)
    for name, value in over.items():
        held = both.get(name)
        both[name] = merged(held, value) if isinstance(held, dict) and isinstance(value, Mapping) else copied(value)
    return both
