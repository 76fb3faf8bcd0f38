"""One short process, timed as its caller sees it."""

from __future__ import annotations

import os
import time
from typing import NamedTuple


class Run(NamedTuple):
    """Times in milliseconds: from exec to exit, and of the processor."""

    milliseconds: float
    processor: float


def ran(command: list[str], given: bytes) -> Run:
    """Run a command with its input already in the pipe, and discard its output."""
    reading, writing = os.pipe()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    try:
        os.set_blocking(writing, False)
        left = os.write(writing, given)
        actions = [
            (os.POSIX_SPAWN_DUP2, reading, 0),
            (os.POSIX_SPAWN_CLOSE, writing),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ]
        begun = time.perf_counter()
        process = os.posix_spawn(command[0], command, environ, file_actions=actions)
        os.set_blocking(writing, True)
        while left < len(given):
            left += os.write(writing, given[left:])
        os.close(writing)
        writing = -1
        _, status, used = os.wait4(process, 0)
        took = 1000 * (time.perf_counter() - begun)
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)
    if status:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return Run(took, 1000 * (used.ru_utime + used.ru_stime))
