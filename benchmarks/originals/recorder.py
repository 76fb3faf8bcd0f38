"""A pytest plugin that writes how each test ended to the file of `--outcomes`, one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OPTION = "--outcomes"
_CALLS = [0]


def count_call() -> None:
    """Count a call of our toolset for the test that runs."""
    _CALLS[0] += 1


def pytest_addoption(parser: Any) -> None:
    parser.addoption(OPTION, type=Path, required=True)


def pytest_configure(config: Any) -> None:
    config.pluginmanager.register(_Recorder(config.getoption(OPTION)))


class _Recorder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logstart(self) -> None:
        _CALLS[0] = 0

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write(report.nodeid, "failed", report.longreprtext)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed or report.skipped or report.when == "call":
            self._write(report.nodeid, report.outcome, report.longreprtext if report.failed else "")

    def _write(self, test: str, outcome: str, text: str) -> None:
        values = {"test": test.removeprefix("tests/"), "outcome": outcome, "text": text, "calls": _CALLS[0]}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
