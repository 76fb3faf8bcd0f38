"""Exporters: write what a bank holds in the format of another system.

Each module writes one format from a snapshot. A bank's own export, with its history, belongs to `pieria.transfer`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.record import check
from pieria.record.reply import Reply

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.transfer.snapshot import Snapshot

__all__ = ["EXPORTERS", "Exporter", "Report", "export_to", "exporter"]

EXPORTERS = ("csv", "json", "jsonl", "markdown", "mem0", "mempalace", "mnemex", "mnemosyne", "open-mem")
"""The names of all formats. The module of a format has its name with `_format`, and _ for -."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Exporter:
    """One format. `write` gets a file, or an empty folder if `is_folder`, and counts in the snapshot what it leaves."""

    name: str
    title: str
    write: Callable[[Snapshot, Path], None]
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Report(Reply):
    """The result of an export. `left` counts what the format cannot carry, by reason."""

    path: Path
    format: str
    bank: str
    counts: Mapping[str, int]
    left: Mapping[str, int]
    bytes: int


def exporter(format: str) -> Exporter:
    """Return the exporter of a format. Raise `InputError` for an unknown name."""
    check.one_of(format, "format", EXPORTERS)
    module = importlib.import_module(f"pieria.exporters.{format.replace('-', '_')}_format")
    value: Exporter = module.EXPORTER
    return value


def export_to(
    bank: Bank,
    format: str,
    path: str | os.PathLike[str],
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Write what the bank holds now to a file or folder in another format; return counts and what was left out.

    Removed, purged, quarantined and private text stays out. An existing file is kept, unless `replace`.
    """
    from pieria.bank.transfer.snapshot import snapshot, written

    chosen = exporter(format)
    target = Path(os.fspath(path))
    with snapshot(bank.core, progress) as held, written(target, is_folder=chosen.is_folder, replace=replace) as aside:
        chosen.write(held, aside)
        size = _size(aside)
    counts = {what: number for what, number in held.counts.items() if number}
    return Report(target.expanduser().absolute(), format, bank.name, counts, dict(held.left), size)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
