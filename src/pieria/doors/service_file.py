"""The file with which the system starts `pieria serve` for a user at login: a systemd unit, or a launchd agent.

Only texts and commands: the command line writes the file, and asks before it runs anything.
"""

from __future__ import annotations

import os
import plistlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pieria.errors import ConfigError

NAME = "pieria.service"
LABEL = "io.github.pieria-memory.pieria"
MARK = "Pieria: long-term memory for AI agents"
HOME_PAGE = "https://github.com/pieria-memory/pieria"
_LOG = Path("Library/Logs/pieria.log")


@dataclass(frozen=True, slots=True)
class ServiceFile:
    """The file, and commands: start the server now and at each login, stop both, and succeed if it starts at login."""

    file: Path
    text: str
    start: tuple[str, ...]
    stop: tuple[str, ...]
    enabled: tuple[str, ...]
    log: str
    """Where the server's log is."""
    can_run: bool
    """Whether the system would understand the commands now."""


def service_file(
    arguments: Sequence[str], environ: Mapping[str, str], home: Path, platform: str = sys.platform
) -> ServiceFile:
    """Return the file for a command line. Raise `ConfigError` on systems without systemd and launchd."""
    if platform == "darwin":
        return _agent(arguments, home)
    if platform == "linux":
        return _unit(arguments, environ, home)
    raise ConfigError("only systemd and launchd are known here", hint="Start `pieria serve` in your system's own way.")


def command(data: Path | None, port: int) -> list[str]:
    """Return the command line of the server. `-P` keeps the working folder out of Python's path."""
    folder = [] if data is None else ["--data", str(data)]
    return [sys.executable, "-P", "-m", "pieria", "serve", "--port", str(port), *folder]


def _unit(arguments: Sequence[str], environ: Mapping[str, str], home: Path) -> ServiceFile:
    configuration = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    runtime = environ.get("XDG_RUNTIME_DIR")
    text = (
        f"[Unit]\nDescription={MARK}\nDocumentation={HOME_PAGE}\n\n"
        f"[Service]\nExecStart={' '.join(map(_quoted, arguments))}\nRestart=on-failure\n\n"
        "[Install]\nWantedBy=default.target\n"
    )
    return ServiceFile(
        configuration / "systemd" / "user" / NAME,
        text,
        ("systemctl", "--user", "enable", "--now", NAME),
        ("systemctl", "--user", "disable", "--now", NAME),
        ("systemctl", "--user", "is-enabled", "--quiet", NAME),
        f"journalctl --user --unit {NAME}",
        # The folder that systemd makes for a user's services.
        runtime is not None and Path(runtime, "systemd").is_dir(),
    )


def _quoted(argument: str) -> str:
    """Return an argument as systemd reads it back; it expands % and $ even within quotes."""
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if set(escaped) & set(" \t'\";") or not escaped else escaped


def _agent(arguments: Sequence[str], home: Path) -> ServiceFile:
    file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    log = str(home / _LOG)
    text = plistlib.dumps(
        {
            "Label": LABEL,
            "ServiceDescription": MARK,
            "ProgramArguments": list(arguments),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "StandardErrorPath": log,
        },
        sort_keys=False,
    ).decode()
    domain = f"gui/{os.getuid()}"
    return ServiceFile(
        file,
        text,
        ("launchctl", "bootstrap", domain, str(file)),
        ("launchctl", "bootout", f"{domain}/{LABEL}"),
        ("launchctl", "print", f"{domain}/{LABEL}"),
        log,
        True,
    )
