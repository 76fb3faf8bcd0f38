"""`python -m benchmarks vault`: what a look into the vault costs before a search, and that it finds what changed."""

from __future__ import annotations

import os
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.rows import Row
from benchmarks.speed import machine
from benchmarks.workload import Workload
from pieria.bank import Bank
from pieria.workspace import Workspace

LOOKS = 21
FOLDERS = 20
MOST = 50.0
"""Most milliseconds of a look when nothing has changed."""
AN_HOUR = 3_600
NOTE = "f0/latest.md"


class _Clock:
    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        """Return a time at which another look is due."""
        self.now += timedelta(seconds=2)
        return self.now


def measure(notes: int) -> dict[str, Any]:
    """Sync a vault, look into it while nothing changes, and search after one note was written, edited and removed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vault = folder / "vault"
        _fill(vault, notes)
        at = Workspace(folder / "data", {"vault": str(vault), "embedder": "none"}, clock=_Clock())
        with at as workspace, workspace.open("bench") as bank:
            bank.vault.sync()
            bank.vault.look()
            looks, bare = [], []
            for _ in range(LOOKS):
                looks.append(_seconds(bank.vault.look))
                bare.append(_seconds(lambda: _stat_each(vault)))
            found = _found(bank, vault / NOTE)
    ms, of_processor = (1_000 * median(each) for each in zip(*looks, strict=True))
    ratio = of_processor / (1_000 * median(processor for _, processor in bare))
    rows = [
        Row(f"a look into {notes:,} notes, unchanged, p50", round(ms, 1), "ms", f"<= {MOST:g}", ms <= MOST, {}),
        Row("its processor time, p50", round(of_processor, 1), "ms", "", None, {}),
        Row("the same beside asking for each file's size and time", round(ratio, 2), "times", "", None, {}),
        *(Row(f"a note that was {what} is found so", int(is_so), "of 1", "1", is_so, {}) for what, is_so in found),
    ]
    return {"machine": machine(), "items": notes, "rows": [row.as_dict() for row in rows], "notes": []}


def _fill(vault: Path, notes: int) -> None:
    then = time.time() - AN_HOUR
    for number, text in enumerate(Workload().texts(notes)):
        path = vault / f"f{number % FOLDERS}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntags: [t{number % 7}]\n---\n{text}\n\nSee [[note {number - 1}]].\n", "utf-8")
        os.utime(path, (then, then))
    for folder in (vault, *vault.iterdir()):
        os.utime(folder, (then, then))


def _seconds(act: Any) -> tuple[float, float]:
    """Return the seconds that passed, and those of the processor."""
    begun, used = time.perf_counter(), time.thread_time()
    act()
    return time.perf_counter() - begun, time.thread_time() - used


def _stat_each(folder: Path) -> int:
    number = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            number += _stat_each(Path(entry.path)) if entry.is_dir() else entry.stat().st_size
    return number


def _found(bank: Bank, note: Path) -> list[tuple[str, bool]]:
    def texts(query: str) -> list[str]:
        return [hit.memory.text for hit in bank.recall(query, k=3)]

    found = []
    for what, text in (("written", "The zanzibar treaty was signed."), ("edited", "The quokka pact was signed.")):
        note.write_text(text, "utf-8")
        found.append((what, texts(text)[:1] == [text]))
    note.unlink()
    found.append(("removed", "The quokka pact was signed." not in texts("quokka pact")))
    return found
