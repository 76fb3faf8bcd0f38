"""The filter language of mem0, as a predicate over one flat item. It knows no bank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Test = Callable[[Any, Any], bool]


def _ordered(compare: Callable[[Any, Any], bool]) -> Test:
    """Return a test that fails for values without an order between them."""

    def test(value: Any, wanted: Any) -> bool:
        try:
            return value is not None and compare(value, wanted)
        except TypeError:
            return False

    return test


def _contains(value: Any, wanted: Any) -> bool:
    return wanted in value if isinstance(value, str | list | tuple) else False


TESTS: Mapping[str, Test] = {
    "eq": lambda value, wanted: bool(value == wanted),
    "ne": lambda value, wanted: bool(value != wanted),
    "in": lambda value, wanted: value in wanted,
    "nin": lambda value, wanted: value not in wanted,
    "gt": _ordered(lambda value, wanted: bool(value > wanted)),
    "gte": _ordered(lambda value, wanted: bool(value >= wanted)),
    "lt": _ordered(lambda value, wanted: bool(value < wanted)),
    "lte": _ordered(lambda value, wanted: bool(value <= wanted)),
    "contains": _contains,
    "icontains": lambda value, wanted: isinstance(value, str) and str(wanted).casefold() in value.casefold(),
}
ANY = "*"


def passes(item: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Return whether the item meets all conditions."""
    return all(_meets(item, name, condition) for name, condition in filters.items())


def _meets(item: Mapping[str, Any], name: str, condition: Any) -> bool:
    match name:
        case "AND":
            return all(passes(item, one) for one in condition)
        case "OR":
            return any(passes(item, one) for one in condition)
        case "NOT":
            return not any(passes(item, one) for one in condition)
    if condition == ANY:
        return name in item
    if isinstance(condition, Mapping):
        return all(TESTS[operator](item.get(name), wanted) for operator, wanted in condition.items())
    if isinstance(condition, list):
        return item.get(name) in condition
    return bool(item.get(name) == condition)


def check(filters: Mapping[str, Any]) -> None:
    """Raise `ValueError` for an unknown operator or a group that is no list of conditions."""
    for name, condition in filters.items():
        if name in ("AND", "OR", "NOT"):
            if not isinstance(condition, list) or not all(isinstance(one, Mapping) for one in condition):
                raise ValueError(f"filters.{name}: expected a list of conditions, got {type(condition).__name__}")
            for one in condition:
                check(one)
        elif isinstance(condition, Mapping) and (unknown := set(condition) - set(TESTS)):
            known = ", ".join(TESTS)
            raise ValueError(f"filters.{name}: expected operators among {known}, got {', '.join(sorted(unknown))}")
