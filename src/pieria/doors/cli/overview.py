"""`pieria` alone: what there is here, and the next step. It must be quick, so it loads no settings and no store."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pieria import glance
from pieria.doors import serve_address
from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, counted, line, pairs

FILES = 16 << 20
"""Most bytes of an agent's settings that are searched for Pieria."""
_ENTRY = re.compile(rb'[/\\]pieria[/\\]+capture|`pieria hooks install`|"pieria"\s*:|mcp_servers\.pieria\b')
"""Pieria's hooks, plugin and MCP server in an agent's settings, but no project that has the same name."""
NEW, EMPTY, USED = "pieria setup", 'pieria remember "…"', 'pieria recall "…"'


def overview(call: Call) -> None:
    document = found(call)
    call.reply(document, _shown(document), [document["bank"]["name"]])


def found(call: Call) -> dict[str, Any]:
    """Return the version, data folder, bank, agents with hooks, running server, and the next command."""
    spot = glance.spot(call.data, call.bank, os.environ, Path.cwd())
    data, own, name, file = _in_full(call) if spot is None else (str(spot.data), spot.data, spot.bank, spot.file)
    exists = file is not None and file.exists()
    memories = glance.memories_in(file) if file is not None and exists else None
    agents = _agents(os.environ)
    return {
        "version": version("pieria"),
        "data": data,
        "bank": {"name": name, "exists": exists, "memories": memories},
        "agents": agents,
        "server": serve_address.address(own),
        "next": USED if exists and memories != 0 else EMPTY if agents else NEW,
    }


def _in_full(call: Call) -> tuple[str, Path, str, Path | None]:
    """Return the place of the banks, this machine's own folder, the bank and its file, as the settings have them."""
    with call.workspace() as workspace:
        name = workspace.resolved.settings.bank
        is_file = not workspace.place.is_shared
        return str(workspace.place), workspace.data, name, Path(str(workspace.place.at(name))) if is_file else None


def _agents(environ: Mapping[str, str]) -> list[str]:
    """Return the agents of this user whose settings name Pieria."""
    from pieria.capture.install.hosts import HOSTS

    home = Path.home()
    return [host.title for host in HOSTS.values() if any(map(_names_us, host.files(environ, home)))]


def _names_us(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return _ENTRY.search(stream.read(FILES)) is not None
    except OSError:
        return False


def _shown(document: dict[str, Any]) -> Parts:
    bank = document["bank"]
    number = bank["memories"]
    unread = "sealed or unreadable" if bank["exists"] else "not created yet"
    holds = unread if number is None else counted(number, "memory", "memories")
    yield line(("Pieria ", "bold"), document["version"], (": long-term memory for AI agents", "dim"))
    yield pairs(
        [
            ("data", document["data"]),
            ("bank", f"{bank['name']}, {holds}"),
            ("agents", ", ".join(document["agents"]) or "none is connected yet"),
            ("server", document["server"] or "not running"),
            ("next", (document["next"], "bold cyan")),
        ]
    )
    yield line(("`pieria --help` lists all commands.", "dim"))
