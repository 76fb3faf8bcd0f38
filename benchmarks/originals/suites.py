"""An original's tests, run as they are or against our toolset, and the reasons for what differs."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.originals.environment import Environment

REASONS = Path(__file__).with_name("reasons")
LONGEST_RUN = 3600.0


@dataclass(frozen=True)
class Outcome:
    """How one test ended: `passed`, `failed` or `skipped`, its failure's text, and its calls of our toolset."""

    test: str
    outcome: str
    text: str
    calls: int


@dataclass(frozen=True)
class Reasons:
    """Why tests are left out (`inside`) and why tests fail (`differs`), by name or pattern."""

    inside: dict[str, str]
    differs: dict[str, str]


@dataclass(frozen=True)
class Result:
    """The counted outcomes, and the number of tests that are left out because they reach inside the original."""

    counted: tuple[Outcome, ...]
    inside: int

    def ended(self, outcome: str) -> list[Outcome]:
        return [one for one in self.counted if one.outcome == outcome]


def load_reasons(name: str) -> Reasons:
    path = REASONS / f"{name}.toml"
    read: dict[str, Any] = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    return Reasons(read.get("inside", {}), read.get("differs", {}))


def reason_for(test: str, reasons: dict[str, str]) -> str | None:
    """Return the reason under the test's name, or else under the first pattern that matches it."""
    if test in reasons:
        return reasons[test]
    return next((reason for pattern, reason in reasons.items() if fnmatchcase(test, pattern)), None)


def run_suite(environment: Environment, reasons: Reasons, *, adapted: bool) -> Result:
    """Run the original's tests, with `adapted` against our toolset, and sort out those that reach inside."""
    outcomes = _outcomes(environment, adapted=adapted)
    counted = tuple(one for one in outcomes if reason_for(one.test, reasons.inside) is None)
    return Result(counted, len(outcomes) - len(counted))


def _outcomes(environment: Environment, *, adapted: bool) -> list[Outcome]:
    original = environment.original
    plugins = ["benchmarks.originals.recorder", *original.plugins]
    if adapted:
        plugins.append(f"benchmarks.originals.adapters.{original.name}")
    loaded = [argument for plugin in plugins for argument in ("-p", plugin)]
    with TemporaryDirectory() as folder:
        found = Path(folder) / "outcomes.jsonl"
        run = environment.run(
            ["-m", "pytest", "-q", "-o", "addopts=", *loaded, "--outcomes", str(found), *original.tests],
            timeout=LONGEST_RUN,
        )
        if not found.exists():
            raise RuntimeError(f"pytest wrote no outcome: {(run.stdout + run.stderr)[-2000:]}")
        lines = found.read_text("utf-8").splitlines()
    # A test that fails in its teardown has two lines; the worse one counts.
    worst: dict[str, Outcome] = {}
    for line in lines:
        one = Outcome(**json.loads(line))
        if one.test not in worst or one.outcome == "failed":
            worst[one.test] = one
    return list(worst.values())
