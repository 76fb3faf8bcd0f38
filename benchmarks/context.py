"""Latency of an agent's context, at the start and for a prompt, in a large bank with rules, pins and files."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.filled import Filled, Say
from benchmarks.rows import Row, quantile

TOLD = 100
OBSERVED, FILES, PINNED, RULES = 2_000, 200, 20, 20
SESSION = "bench"
TARGET = 30.0


def telling(full: Filled, say: Say) -> list[Row]:
    """Measure context. Queries have their vectors beforehand, so the model adds no time."""
    _prepare(full)
    full.bank.context(session=SESSION, keep=True)
    asked = {
        "": lambda number: {},
        ", of a session's kept moment": lambda number: {"session": SESSION},
        ", about a file": lambda number: {"files": _file(number)},
        ", of a question": lambda number: {"query": full.question()[0]},
    }
    return [_row(full, f"context at {full.size:,}{how}, p50", of, say) for how, of in asked.items()]


def _prepare(full: Filled) -> None:
    """Add the rules, pins and files that a context needs."""
    texts = list(full.workload.texts(OBSERVED))
    items: list[dict[str, Any]] = [
        {
            "text": text,
            "kind": "observation",
            "body": {"type": ("discovery", "bugfix", "decision")[number % 3]},
            "files": [_file(number)],
            "importance": number % 10 / 10,
            "pinned": number < PINNED,
        }
        for number, text in enumerate(texts)
    ]
    items += [
        {"text": f"Always write module{number} in lower case.", "author_type": "human"} for number in range(RULES)
    ]
    full.bank.remember_many(items)


def _file(number: int) -> str:
    return f"src/part{number % FILES}.py"


def _row(full: Filled, name: str, asked: Callable[[int], dict[str, Any]], say: Say) -> Row:
    took, worked, tokens = [], [], []
    for number in range(TOLD):
        given = asked(number)
        begun, idle = time.perf_counter(), time.process_time()
        told = full.bank.context(**given)
        worked.append(1000 * (time.process_time() - idle))
        took.append(1000 * (time.perf_counter() - begun))
        tokens.append(told.tokens)
        say(name, number + 1, TOLD)
    p50 = statistics.median(took)
    detail = {
        "p95_ms": round(quantile(took, 0.95), 3),
        "processor_p50_ms": round(statistics.median(worked), 3),
        "tokens_p50": statistics.median(tokens),
    }
    return Row(name, round(p50, 3), "ms", f"< {TARGET:g}", p50 < TARGET, detail)
