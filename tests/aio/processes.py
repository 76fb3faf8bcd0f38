"""Programs of their own, to see how they end."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

SOURCE = Path(__file__).parents[2] / "src"


def ended(program: str) -> str:
    """What it printed, once it has ended by itself without a complaint."""
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
