"""`python -m benchmarks.mutants`: the share of planted faults that the fast tests notice."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Queue

from tests.servers import ELSEWHERE, own_server

from benchmarks.mutants.faults import Fault, faults_of
from benchmarks.mutants.reach import FOLDER

ROOT = Path(__file__).parents[2]
SOURCE = "src/pieria"
AREAS = ("record", "store/sql", "recall", "facts", "toolsets")
AT_ONCE = 2
SECONDS, LONGEST = 40.0, 240.0
"""The time of the files that are run for a fault, and the time after which a fault that hangs is noticed."""


class Reached:
    """Which test files reach a line, the most particular first."""

    def __init__(self, folder: Path) -> None:
        self._files: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._seconds: dict[str, float] = defaultdict(float)
        self._reach: dict[str, int] = defaultdict(int)
        for part in folder.glob("*.json"):
            told = json.loads(part.read_text("utf-8"))
            for test, seconds in told["seconds"].items():
                self._seconds[test] += seconds
            for source, by_line in told["lines"].items():
                for line, tests in by_line.items():
                    self._files[str(Path(source).relative_to(ROOT / SOURCE)), int(line)].update(tests)
        for tests in self._files.values():
            for test in tests:
                self._reach[test] += 1

    def of(self, fault: Fault) -> list[str]:
        chosen: list[str] = []
        total = 0.0
        for test in sorted(self._files[fault.file, fault.line], key=lambda each: (self._reach[each], each)):
            if not chosen or total + self._seconds[test] <= SECONDS:
                chosen.append(test)
                total += self._seconds[test]
        return chosen


def record_reach() -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow",
        "-n",
        str(AT_ONCE),
        "-p",
        "benchmarks.mutants.reach",
    ]
    return subprocess.run([*command, "--dist", "loadfile"], cwd=ROOT, check=False).returncode


def copy_of_the_tree() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    named = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    for name in named.stdout.decode().splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def is_noticed(fault: Fault, tests: list[str], tree: Path, server: str) -> bool:
    """Run these tests on a tree with the fault."""
    file = tree / SOURCE / fault.file
    sound = file.read_text("utf-8")
    file.write_text(fault.plant(sound), "utf-8")
    options = ["-x", "-q", "-n", "0", "-m", "not slow", "-p", "no:randomly", "-p", "no:cacheprovider", "--timeout=60"]
    command = [sys.executable, "-m", "pytest", *options, "--hypothesis-profile=ci", *tests]
    environment = {**os.environ, ELSEWHERE: server, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=LONGEST, check=False)
            return done.returncode != 0
        return True
    finally:
        file.write_text(sound, "utf-8")


def judge(chosen: dict[str, list[Fault]], reached: Reached) -> dict[str, list[tuple[Fault, str]]]:
    """Return each fault with what became of it: noticed, missed, or not reached by any test."""
    trees: Queue[Path] = Queue()
    for _ in range(AT_ONCE):
        trees.put(copy_of_the_tree())
    count = sum(map(len, chosen.values()))

    def outcome(numbered: tuple[int, Fault]) -> tuple[Fault, str]:
        number, fault = numbered
        tests = reached.of(fault)
        if not tests:
            said = "not reached"
        else:
            tree = trees.get()
            try:
                said = "noticed" if is_noticed(fault, tests, tree, server.url) else "missed"
            finally:
                trees.put(tree)
        sys.stderr.write(f"{number} of {count}: {said}: {fault}\n")
        return fault, said

    with own_server({"fsync": "off", "synchronous_commit": "off"}) as server, ThreadPoolExecutor(AT_ONCE) as pool:
        numbered = list(enumerate((fault for faults in chosen.values() for fault in faults), 1))
        told = dict(zip((fault for _, fault in numbered), pool.map(outcome, numbered), strict=True))
    while not trees.empty():
        shutil.rmtree(trees.get())
    return {area: [told[fault] for fault in faults] for area, faults in chosen.items()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("areas", nargs="*", default=AREAS, help="folders of src/pieria (default: %(default)s)")
    parser.add_argument("--reach", action="store_true", help="record which test files reach which lines, and end")
    parser.add_argument("--most", type=int, default=60, help="faults of each area (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write each fault with its outcome to this file")
    given = parser.parse_args()
    if given.reach:
        return record_reach()
    if not FOLDER.is_dir():
        parser.error(f"there is no {FOLDER}: run `python -m benchmarks.mutants --reach` first")
    told = judge(faults_of(ROOT / SOURCE, tuple(given.areas), given.most), Reached(FOLDER))
    for area, outcomes in told.items():
        noticed = sum(said == "noticed" for _, said in outcomes)
        sys.stdout.write(f"{area}: {noticed} of {len(outcomes)} faults noticed\n")
    if given.json:
        rows = [{"fault": str(fault), "outcome": said} for outcomes in told.values() for fault, said in outcomes]
        given.json.write_text(json.dumps(rows, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
