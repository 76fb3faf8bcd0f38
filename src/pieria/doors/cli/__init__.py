"""The command line: `pieria`. Only its entry point is here, so that help and completion start at once."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with a documented exit code."""
    try:
        if sys.argv[1:3] == ["hooks", "run"]:
            _run_hook(sys.argv[3:])
        from pieria.doors.cli.root import cli
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main(prog_name="pieria")


def _run_hook(arguments: list[str]) -> None:
    """Run a plug-in's hook without loading the other commands, and end the process. Return if it is called wrongly."""
    from pieria.capture import plugin_hook

    match arguments:
        case [host, what] if host in plugin_hook.HOSTS and what in plugin_hook.WHATS:
            plugin_hook.run(host, what)
