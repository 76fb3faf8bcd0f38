"""Run an original's own tests against our toolset: `python -m benchmarks.originals mnemosyne`.

Installs the pinned original from the package index in a throwaway environment, and runs the tests of its sdist
twice: as they are, and with its functions calling our toolset. `--round-trip` fills the original, imports its data
here, exports it again, and compares.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.originals.environment import ORIGINALS, Environment, prepare, say
from benchmarks.originals.suites import Outcome, Result, load_reasons, reason_for, run_suite

LONGEST_TRIP = 1800.0


def compare_suites(environment: Environment, *, show: bool) -> int:
    """Print the counts of both runs and each failure of ours with its reason. Return 1 if a reason is missing."""
    name = environment.original.name
    reasons = load_reasons(name)
    say(f"running the tests of {environment.original.pinned} twice")
    theirs = run_suite(environment, reasons, adapted=False)
    ours = run_suite(environment, reasons, adapted=True)
    _print(f"{name}: {_counts(ours)} ours, {_counts(theirs)} theirs; {ours.inside} reach inside and are not counted")
    idle = [one for one in ours.ended("passed") if not one.calls]
    _print(f"  of ours, {len(idle)} passed without a call of our toolset; {len(ours.ended('skipped'))} were skipped")
    unexplained = 0
    for one in ours.ended("failed"):
        reason = reason_for(one.test, reasons.differs)
        unexplained += reason is None
        _print(f"  {one.test}: {reason or 'NO REASON: ' + _last_line(one)}")
        if show:
            _print(one.text)
    return 1 if unexplained else 0


def _counts(result: Result) -> str:
    return f"{len(result.ended('passed'))} of {len(result.counted)}"


def _last_line(one: Outcome) -> str:
    errors = [line[1:].strip() for line in one.text.splitlines() if line.startswith("E ")]
    return (errors or one.text.splitlines() or [""])[0][:200]


def make_round_trip(environment: Environment) -> int:
    """Print what the original's round trip says. Return its exit code."""
    run = environment.run(["-m", f"benchmarks.originals.trips.{environment.original.name}"], timeout=LONGEST_TRIP)
    _print((run.stdout + run.stderr).rstrip())
    return run.returncode


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.originals", description=__doc__)
    parser.add_argument("name", choices=ORIGINALS, help="The original.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Make the environment here, and use it again.")
    parser.add_argument("--show", action="store_true", help="Print the whole text of each failure.")
    parser.add_argument("--round-trip", action="store_true", help="Carry its data here and back instead.")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        environment = prepare(ORIGINALS[given.name], given.keep or Path(folder), say)
        return make_round_trip(environment) if given.round_trip else compare_suites(environment, show=given.show)


if __name__ == "__main__":
    sys.exit(main())
