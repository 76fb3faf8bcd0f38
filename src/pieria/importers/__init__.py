"""Importers: bring the memories of another system into a bank.

Each module reads one system and yields plain items; `run` takes them in. How a bank stores memories does not belong
here, nor does any rule about trust: imported text is hearsay, whatever its labels say.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.importers.report import Report
from pieria.record import check

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.importers.items import Item
    from pieria.importers.run import Prepared, Progress
    from pieria.importers.source import Source

__all__ = ["IMPORTERS", "Importer", "Report", "found", "import_from", "importer", "prepare"]

IMPORTERS = (
    *("basic-memory", "chatgpt", "claude", "claude-mem", "gemini", "graphiti", "hindsight", "jsonl", "letta", "mem0"),
    *("mempalace", "mnemex", "mnemosyne", "obsidian", "open-mem", "plugmem", "zep"),
)
"""The names of all systems. The module of a system has its name, with _ for -."""


def nowhere(environment: Mapping[str, str], home: Path) -> Path | None:
    """Return None: this system keeps its memories where only the user knows."""
    return None


@dataclass(frozen=True, slots=True)
class Importer:
    """One system. `read` raises `TransferError` for a source of another kind before it yields anything."""

    name: str
    title: str
    expects: str
    """What the source should be, for errors: "a file that …, or the address of its server"."""
    read: Callable[[Source], Iterator[Item]]
    find: Callable[[Mapping[str, str], Path], Path | None] = nowhere
    """Return where its store usually lies on this machine, if there is one."""
    servers: bool = False
    """Whether the source may be the address of a server."""
    token: str | None = None
    """The environment variable with the server's token."""


def importer(system: str) -> Importer:
    """Return the importer of a system. Raise `InputError` for an unknown name."""
    check.one_of(system, "system", IMPORTERS)
    value: Importer = importlib.import_module(f"pieria.importers.{system.replace('-', '_')}").IMPORTER
    return value


def import_from(
    bank: Bank,
    system: str,
    source: str | os.PathLike[str],
    *,
    user: str | None = None,
    token: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Import what another system remembers; return counts, problems and what was left out.

    A second run adds only what is new, and changes what changed at the source. Memories that were corrected, removed or
    purged here stay so, unless `force`. Each batch is one transaction; after a kill, run it again. `dry_run` writes
    nothing. `user` takes only that user's memories, where the system has users. `token` is for a server. Raise
    `TransferError` if nothing in the source can be read.
    """
    return prepare(system, source, user=user, token=token).into(bank, dry_run=dry_run, force=force, progress=progress)


def prepare(
    system: str, source: str | os.PathLike[str], *, user: str | None = None, token: str | None = None
) -> Prepared:
    """Open the source and read its first record. Raise before any bank is opened if there is none."""
    from pieria.importers.run import Prepared
    from pieria.importers.source import Source

    chosen = importer(system)
    given = Source(source, user=user, token=token)
    if given.is_server and not chosen.servers:
        raise InputError("source", chosen.expects, given.name)
    return Prepared(chosen, given)


def found(environment: Mapping[str, str], home: Path) -> dict[str, Path]:
    """Return the stores of other systems on this machine, by system."""
    places: dict[str, Any] = {system: importer(system).find(environment, home) for system in IMPORTERS}
    return {system: path for system, path in places.items() if path is not None}
