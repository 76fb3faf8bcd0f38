"""A finished episode handed in from outside: parsed, checked and hashed.

An `Experience` holds no judgement; `Episode` judges the steps.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, Self

from pieria.errors import InputError
from pieria.record import check
from pieria.record.draft import Problems

FIELDS = ("source_id", "goal", "steps", "metadata")
TAKEN = ("observation", "action")
MOST_STEPS = 10_000


class Taken(NamedTuple):
    """One step of an experience."""

    observation: str
    action: str


@dataclass(frozen=True, slots=True)
class Experience:
    """`source_id` is the caller's own id; `metadata` is the caller's JSON text, or None."""

    source_id: str
    goal: str
    steps: tuple[Taken, ...]
    metadata: str | None = None

    @classmethod
    def of(cls, given: object) -> Self:
        """Read a mapping with these names. Raise `InputError` listing every problem."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise InputError("trajectory", f"a mapping with {', '.join(FIELDS)}", given)
        problems = Problems()
        problems.found += _unknown(given, FIELDS)
        read = cls(
            problems.of(check.identifier, given.get("source_id"), "source_id"),
            problems.of(check.text, given.get("goal"), "goal"),
            _steps(problems, given.get("steps")),
            problems.of(check.mapping, {} if given.get("metadata") is None else given["metadata"], "metadata"),
        )
        problems.settle()
        return read

    @property
    def digest(self) -> str:
        """Return a hash of the payload that does not depend on key order."""
        said = {"goal": self.goal, "steps": self.steps, "metadata": json.loads(self.metadata or "{}")}
        canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _steps(problems: Problems, given: object) -> tuple[Taken, ...]:
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_STEPS:
        problems.found.append(InputError("steps", f"a list of 1 to {MOST_STEPS:,} steps", given))
        return ()
    return tuple(_step(problems, one, f"steps[{number}]") for number, one in enumerate(given))


def _step(problems: Problems, given: object, parameter: str) -> Taken:
    if not isinstance(given, Mapping):
        problems.found.append(InputError(parameter, f"a mapping with {' and '.join(TAKEN)}", given))
        return Taken("", "")
    problems.found += _unknown(given, TAKEN, f"{parameter}.")
    return Taken(*(problems.of(check.text, given.get(name), f"{parameter}.{name}") for name in TAKEN))


def _unknown(given: Mapping[Any, Any], known: tuple[str, ...], within: str = "") -> list[InputError]:
    return [
        InputError(f"{within}{name}"[:200], f"no names but {', '.join(known)}", name, hint=_meant(str(name), known))
        for name in given
        if name not in known
    ]


def _meant(name: str, known: tuple[str, ...]) -> str | None:
    near = get_close_matches(name, known, 1)
    return f"Did you mean {near[0]}?" if near else None
