"""Desktop notices, if the bank's settings ask for them. This is the only process that capture starts."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)

SECONDS = 5.0
TITLE = "Pieria"


def notify(text: str) -> bool:
    """Show a notice. Return False if this machine has no tool for it, or the tool fails."""
    import subprocess

    command = _command(text)
    if command is None:
        log.info("no notice is shown: neither notify-send nor osascript was found")
        return False
    try:
        subprocess.run(command, check=True, timeout=SECONDS, capture_output=True)  # noqa: S603 - found just now
    except (OSError, subprocess.SubprocessError) as problem:
        log.warning("a notice could not be shown: %s", type(problem).__name__)
        return False
    return True


def _command(text: str) -> list[str] | None:
    """Return the command. The text is a separate argument, so no shell or script reads it."""
    from shutil import which

    if found := which("notify-send"):
        return [found, "--app-name", TITLE, "--", TITLE, text]
    if found := which("osascript"):
        script = 'on run told\ndisplay notification (item 1 of told) with title "Pieria"\nend run'
        return [found, "-e", script, text]
    return None
