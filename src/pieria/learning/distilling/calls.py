"""The command line of a tool call, and whether the call is one of Pieria itself. Light: every bank reads it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from pieria.record.clip import plain
from pieria.record.event import Event

COMMAND = ("command", "cmd", "script")
"""The arguments in which hosts hand over a command line."""
_OURS = r"(?i)(?:mcp__)?(?:\w+[_-])?pieria(?:[_-]|\b)"


def is_ours(event: Event) -> bool:
    """A call of Pieria itself: what comes out of the memory does not go into it again."""
    if event.tool and re.match(_OURS, event.tool):
        return True
    line = command_line(event.input)
    if "pieria" not in line:
        return False
    from pieria.learning.distilling import commands

    return any(command.program == "pieria" for command in commands.commands(line))


def command_line(given: Mapping[str, Any]) -> str:
    """Some hosts give it as a list."""
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
