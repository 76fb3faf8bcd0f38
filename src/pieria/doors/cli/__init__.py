"""The command line: `pieria`. Only its entry point is here, so that help and completion start at once."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with a documented exit code."""
    try:
        from pieria.doors.cli.root import cli
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main(prog_name="pieria")
