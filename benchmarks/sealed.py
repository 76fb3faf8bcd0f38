"""`python -m benchmarks speed --sealed`: a sealed and a plain bank with the same memories, asked in turn."""

from __future__ import annotations

import random
import secrets
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.filled import Say
from benchmarks.rows import Row
from benchmarks.speed import QUESTIONS, WRITE_EVERY, machine
from benchmarks.workload import Workload
from pieria.bank import Bank
from pieria.workspace import Workspace

MOST = 1.3
"""Largest ratio of recall times, sealed to plain."""
AT_ONCE = 10_000
TERMS = 8
"""Terms of one text in a query."""


def measure_sealed(sizes: list[int], say: Say) -> dict[str, Any]:
    rows: list[Row] = []
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        for size in sorted(sizes):
            data = Path(folder) / str(size)
            environ = {"KEY": secrets.token_hex(32)}
            given: dict[str, Any] = {"data": data, "embedder": "none", "environ": environ}
            with (
                Workspace(**given) as plainly,
                Workspace(settings={"seal_key": "env:KEY"}, **given) as sealing,
                plainly.open("plain") as plain,
                sealing.open("sealed") as sealed,
            ):
                rows += _beside(plain, sealed, size, say)
    return {"machine": machine(), "sizes": sorted(sizes), "rows": [row.as_dict() for row in rows], "notes": []}


def _beside(plain: Bank, sealed: Bank, size: int, say: Say) -> list[Row]:
    workload, chance = Workload(), random.Random(1)
    texts = list(workload.texts(size))
    for start in range(0, size, AT_ONCE):
        for bank in (plain, sealed):
            bank.remember_many({"text": text} for text in texts[start : start + AT_ONCE])
        say("filling", min(start + AT_ONCE, size), size)
    recalled: dict[Bank, list[float]] = {plain: [], sealed: []}
    written: dict[Bank, list[float]] = {plain: [], sealed: []}
    for number in range(QUESTIONS):
        words = " ".join(chance.sample(chance.choice(texts).split(), TERMS))
        for bank in (plain, sealed) if number % 2 else (sealed, plain):
            if number % WRITE_EVERY == 0:
                written[bank].append(_timed(bank.remember, words))
            recalled[bank].append(_timed(bank.recall, words))
        say("recalling", number + 1, QUESTIONS)
    return [
        _row(f"recall at {size:,}, sealed", recalled[plain], recalled[sealed], MOST),
        _row(f"remember at {size:,}, sealed", written[plain], written[sealed], None),
    ]


def _timed(act: Callable[[str], object], words: str) -> float:
    begun = time.perf_counter()
    act(words)
    return 1000 * (time.perf_counter() - begun)


def _row(name: str, plain: list[float], sealed: list[float], most: float | None) -> Row:
    times = statistics.median(sealed) / statistics.median(plain)
    detail = {"plain_p50_ms": round(statistics.median(plain), 3), "sealed_p50_ms": round(statistics.median(sealed), 3)}
    met = None if most is None else times <= most
    return Row(name, round(times, 2), "times plain", "" if most is None else f"≤ {most}", met, detail)
