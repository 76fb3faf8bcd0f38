"""The hook file for context, which a host runs for each prompt: it asks a running server, and prints its answer.

Run as `python -I -S -B context_hook.py HOST FOLDER FALLBACK SECONDS`, with the host's payload on stdin. FOLDER is where
a server may be found; FALLBACK is the folder of the banks, if neither the environment nor the project names one, or
empty. Without a server, the command line takes over this process and answers itself. It imports only what Python brings
along, and `local_call`.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

WHAT = "hook context"
LARGEST = 16 << 20
SECONDS = 8
"""Seconds for the context; after that the hook returns nothing."""
SERVED = 3.0
"""Seconds that a server may take. The command line has the rest of the time."""


def run(arguments: list[str]) -> None:
    """Answer the hook, and end the process."""
    host, folder, fallback, seconds = arguments
    ends = time.monotonic() + float(seconds)
    written = _read()
    answer = _served(host, folder, fallback, written)
    if answer is None:
        _hand_over(host, fallback, ends - time.monotonic(), written)
    if answer:
        os.write(1, (json.dumps(answer) + "\n").encode())
    # Nothing needs cleanup.
    os._exit(0)


def _read() -> bytes:
    read = bytearray()
    while len(read) < LARGEST and (part := os.read(0, 1 << 20)):
        read += part
    return bytes(read)


def _served(host: str, folder: str, fallback: str, written: bytes) -> dict[str, Any] | None:
    """Return the answer of a server; None without one."""
    call = _local_call()
    named = os.environ.get("PIERIA_DATA", "")
    if named and "://" not in named:
        folder = os.path.expanduser(named)
    asked = {
        "host": host,
        "payload": written.decode("utf-8", "replace"),
        "environment": dict(os.environ),
        "fallback": fallback,
        "folder": os.getcwd(),
    }
    try:
        answer: dict[str, Any] | None = call.asked(folder, WHAT, asked, SERVED)
    except (call.RefusedError, OSError):
        return None
    return None if answer is None else answer["answer"]


def _local_call() -> ModuleType:
    """Import the file without the packages above it, whose import would take longer than the question."""
    sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "runtime"))
    import local_call  # type: ignore[import-not-found]

    return local_call  # type: ignore[no-any-return]


def _hand_over(host: str, fallback: str, seconds: float, written: bytes) -> None:
    """Become the command line, with the payload as its standard input."""
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        file.write(written)
        file.flush()
        file.seek(0)
        os.dup2(file.fileno(), 0)
    command = [sys.executable, "-I", "-m", "pieria", "context", "--hook", host, "--within", f"{seconds:.1f}"]
    # The same Python again, as the installer wrote it.
    os.execv(sys.executable, [*command, *(["--fallback-data", fallback] if fallback else [])])  # noqa: S606


if __name__ == "__main__":
    run(sys.argv[1:])
