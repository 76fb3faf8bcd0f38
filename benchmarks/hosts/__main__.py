"""Try real MCP hosts: `python -m benchmarks.hosts --npm FOLDER --fastmcp PYTHON`.

FOLDER is where the caller installed the npm packages `@anthropic-ai/claude-code`, `@openai/codex` and
`@modelcontextprotocol/inspector`; PYTHON is the interpreter of an environment with `fastmcp`. The hosts run in a
made-up home with what `pieria setup` writes there, and the agents with a scripted model on loopback.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hosts import terminal
from benchmarks.hosts.agents import AGENTS, try_agent
from benchmarks.hosts.clients import try_client, try_inspector
from benchmarks.hosts.place import Outcome, Place

MARKS = {True: "ok", False: "FAILED", None: "-"}


def outcomes(place: Place, npm: Path | None, fastmcp: str | None, only: str) -> Iterator[Outcome]:
    """Yield what each host did. A host that is not there is an outcome, too."""
    official, fast = try_client("official", sys.executable, place), try_client("fastmcp", fastmcp or "", place)
    tries = {"official": _tried("official", official)}
    tries["fastmcp"] = _missing("fastmcp", "--fastmcp") if fastmcp is None else _tried("fastmcp", fast)
    for name, program, found in _of_npm(place, Path() if npm is None else npm / "node_modules" / ".bin"):
        is_there = npm is not None and program.exists()
        tries[name] = _tried(name, found) if is_there else _missing(name, "--npm")
    for name, found in tries.items():
        if only.casefold() in name.casefold():
            yield from found


def _of_npm(place: Place, folder: Path) -> Iterator[tuple[str, Path, Iterator[Outcome]]]:
    inspector = folder / "mcp-inspector"
    yield "inspector", inspector, try_inspector(inspector, place)
    for agent in AGENTS:
        program = folder / agent.program
        yield agent.name, program, try_agent(agent, program, place)
    yield terminal.NAME, folder / "claude", terminal.try_terminal(folder / "claude", place)


def _missing(name: str, option: str) -> Iterator[Outcome]:
    yield Outcome(name, "all", None, f"not tried: {option} names no place that has it")


def _tried(name: str, found: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yield the outcomes, and turn a host that fails to run into one."""
    try:
        yield from found
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as problem:
        yield Outcome(name, "the rest", False, f"{type(problem).__name__}: {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hosts", description=__doc__)
    parser.add_argument("--npm", type=Path, help="The folder whose node_modules holds the hosts.")
    parser.add_argument("--fastmcp", metavar="PYTHON", help="A Python that can import fastmcp.")
    parser.add_argument("--only", default="", metavar="NAME", help="Only hosts with this in their name.")
    given = parser.parse_args()
    failed = 0
    with TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        npm = None if given.npm is None else given.npm.resolve()
        for one in outcomes(place, npm, given.fastmcp, given.only):
            failed += one.well is False
            line = f"{one.host:<20} {one.what:<24} {MARKS[one.well]:<7} {one.detail}"
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
