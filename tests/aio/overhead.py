"""Measure what an async call costs beside the synchronous one.

`python tests/aio/overhead.py` prints the medians of both, measured in turn. The bank is made for the measurement, with
default durability and no embedder.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

import numpy as np

import pieria
import pieria.aio

QUESTION = "which notes speak of APIs?"


async def measured(calls: int) -> dict[str, dict[str, float]]:
    """Return the microseconds of both calls by verb, their ratio, and the same for processor time.

    Processor time is the better figure on a busy machine.
    """
    settings = {"embedder": "none"}
    with tempfile.TemporaryDirectory() as folder, pieria.open("notes", data=folder, settings=settings) as bank:
        bank.remember_many([{"text": f"note {number} about APIs and tokens"} for number in range(1_000)])
        async with pieria.aio.open("notes", data=folder, settings=settings) as awaited:
            id = bank.remember("We chose JWT for all new APIs.").id
            return {
                "get": await _both(lambda: bank.get(id), lambda: awaited.get(id), calls),
                "remember": await _both(lambda: bank.remember("a word"), lambda: awaited.remember("a word"), calls),
                "recall": await _both(lambda: bank.recall(QUESTION), lambda: awaited.recall(QUESTION), calls // 5),
            }


async def _both(call: Callable[[], object], awaited: Callable[[], Awaitable[object]], calls: int) -> dict[str, float]:
    plain, asynchronous = [], []
    for _ in range(calls):
        begun = _now()
        call()
        between = _now()
        await awaited()
        plain.append(between - begun)
        asynchronous.append(_now() - between)
    one, other = (np.median(taken, axis=0) * 1e6 for taken in (plain, asynchronous))
    found: dict[str, float] = {}
    for who, (passed, used) in (("pieria", one), ("aio", other)):
        found |= {f"us_{who}": round(passed), f"processor_us_{who}": round(used)}
    return {**found, "times": round(other[0] / one[0], 2), "processor_times": round(other[1] / one[1], 2)}


def _now() -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array([time.perf_counter(), time.process_time()])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(measured(1_000)), indent=1) + "\n")
