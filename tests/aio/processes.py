"""Run programs in a process of their own to check how they end."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

SOURCE = Path(__file__).parents[2] / "src"


def ended(program: str) -> str:
    """Return the program's output; fail if it exits with an error or writes to stderr."""
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(program)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (found.returncode, found.stderr) == (0, ""), f"status {found.returncode}: {found.stdout}{found.stderr}"
    return found.stdout
