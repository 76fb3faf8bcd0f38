"""Read the command line of a tool call and tell whether it calls Pieria. Keep it light: every bank imports it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from pieria.record.clip import plain
from pieria.record.event import AgentEvent

COMMAND = ("command", "cmd", "script")
"""Arguments that hosts use for a command line."""
_OURS = r"(?i)(?:mcp__)?(?:\w+[_-])?pieria(?:[_-]|\b)"


def is_ours(event: AgentEvent) -> bool:
    """Return whether the event is a call of Pieria. Its output must not be stored again."""
    if event.tool and re.match(_OURS, event.tool):
        return True
    line = command_line(event.input)
    if "pieria" not in line:
        return False
    from pieria.learning.distilling import commands

    return any(command.program == "pieria" for command in commands.commands(line))


def command_line(given: Mapping[str, Any]) -> str:
    """Return the command line; some hosts pass a list."""
    for name in COMMAND:
        value = given.get(name)
        if isinstance(value, str):
            return plain(value)
        if isinstance(value, list | tuple) and value:
            words = [str(word) for word in value]
            if len(words) == 3 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc"):
                return plain(words[2])
            return plain(shlex.join(words))
    return ""
