"""A plugin of pytest that records which test files reach which lines: `pytest -p benchmarks.mutants.reach`."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from pathlib import Path

import coverage
import pytest

FOLDER = Path(os.environ.get("MUTANTS_REACH", ".reach"))


def _started() -> coverage.Coverage:
    own = coverage.Coverage(data_file=None, source_pkgs=["pieria"], config_file=False, messages=False)
    own.start()
    return own


class Reach:
    def __init__(self) -> None:
        self._coverage = coverage.Coverage.current() or _started()
        self._seconds: dict[str, float] = defaultdict(float)
        self._began = time.perf_counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid.partition("::")[0])
        self._began = time.perf_counter()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._seconds[nodeid.partition("::")[0]] += time.perf_counter() - self._began

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        data = self._coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            by_line = data.contexts_by_lineno(file)
            lines[file] = {line: [each for each in by_line[line] if each] for line in by_line}
        worker = os.environ.get("PYTEST_XDIST_WORKER", "one")
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{worker}.json").write_text(json.dumps({"lines": lines, "seconds": self._seconds}), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Reach(), "reach")
