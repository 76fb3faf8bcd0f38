"""Try out what `pieria setup` wrote: for each host, remember and recall a text in a temporary bank."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pieria.capture.install import files
from pieria.capture.install.actions import Where
from pieria.capture.install.entries import Unusual
from pieria.capture.install.hosts import Host
from pieria.capture.install.servers import Launch
from pieria.capture.spool import ANYWHERE
from pieria.errors import PieriaError

TEXT, QUESTION = "Pieria was set up, and this agent remembers.", "Was Pieria set up?"
TRIED = ("--toolset", "pieria", "--tools", "remember,recall")
"""What a trial needs, even if the entry serves other tools."""
READ_ONLY = "--read-only"
UNFETCHED = {"PIERIA_FETCH_MODEL": "off"}
"""A trial ends too soon for a fetch of the model."""

_Key = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Trial:
    """`worked` is None if there was nothing to try."""

    worked: bool | None
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Trials:
    """Hosts that start the same command with the same environment share a trial."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._done: dict[_Key, Trial] = {}

    def of(self, host: Host) -> Trial:
        """Try out what the host's own file says now."""
        if host.servers is None:
            return _tried(lambda bank: _hermes(host.folder(self._where.environ, self._where.home), bank))
        file = host.server_path(self._where.environ, self._where.home)
        try:
            value = host.servers.found(files.read(file))
        except (PieriaError, Unusual) as problem:
            return Trial(False, f"{file}: {problem}")
        if value is None:
            return Trial(False, f"{file} has no {host.servers.entry}")
        launch = host.servers.launch(value)
        if not launch.is_ours:
            return Trial(None, f"{host.servers.entry} was written by hand, so it was not tried")
        if launch.program is None:
            return Trial(None, f"only {host.title} can find {launch.command}, so it was not tried")
        if READ_ONLY in launch.args:
            return Trial(None, f"{host.servers.entry} is read-only, so it was not tried")
        key = (launch.command, launch.args, tuple(sorted(launch.env.items())))
        if key not in self._done:
            program = launch.program
            self._done[key] = _tried(lambda bank: _server(program, launch, bank))
        return self._done[key]


def _tried(try_out: Callable[[str], tuple[Any, str | None]]) -> Trial:
    bank = f"setup-{secrets.token_hex(6)}"
    try:
        reply, problem = try_out(bank)
    except (PieriaError, OSError) as raised:
        return Trial(False, str(raised))
    if problem is not None:
        return Trial(False, problem)
    if TEXT in json.dumps(reply, ensure_ascii=False):
        return Trial(True, "remembered and recalled")
    return Trial(False, f"recall did not find what was remembered: {reply}")


def _server(program: str, launch: Launch, bank: str) -> tuple[Any, str | None]:
    from pieria.doors.mcp.trial import try_out

    try:
        return try_out(program, [*launch.args, *TRIED, "--bank", bank], {**launch.env, **UNFETCHED}, TEXT, QUESTION)
    finally:
        _remove(launch.folder, bank)


def _hermes(home: Path, bank: str) -> tuple[Any, str | None]:
    from mcp.client.stdio import get_default_environment

    from pieria.hermes import setup as hermes
    from pieria.hermes.trial import try_out

    try:
        return try_out(hermes.plugin_file(home), bank, TEXT, QUESTION, get_default_environment())
    finally:
        _remove(hermes.data_of(home), bank)


def _remove(data: str | None, bank: str) -> None:
    from pieria.workspace import Workspace

    with Workspace(data, folder=ANYWHERE, by_door=True) as workspace:
        if workspace.place.at(bank).is_there:
            workspace.remove_bank(bank)
