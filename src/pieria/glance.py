"""The folder's bank and the number of its memories, without the settings and the store, which take long to load.

Nothing here decides what a setting means: if a file or an unusual variable has a say, only the settings can tell.
"""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pieria.errors import InputError
from pieria.project import find_project
from pieria.record.banks import check_bank_name

ENDING = ".db"
_DATA, _BANK = "PIERIA_DATA", "PIERIA_BANK"
_DEFAULT_DATA, _DEFAULT_BANK = "~/.pieria", "default"
_FILE = "pieria.toml"
_DECIDES = frozenset({"bank", "data", "local"})
_ORIGINALS = ("CORTEXGRAPH_STORAGE_PATH", "MNEMEX_STORAGE_PATH")
_COUNT = Path(__file__).parent / "store" / "sqlite" / "glance.sql"


@dataclass(frozen=True, slots=True)
class Spot:
    data: Path
    bank: str

    @property
    def file(self) -> Path:
        return self.data / f"{self.bank}{ENDING}"


def spot(data: str | None, bank: str | None, environ: Mapping[str, str], folder: Path) -> Spot | None:
    """Return the data folder and bank that these options choose in a folder; None if only the settings can tell."""
    named = data or environ.get(_DATA)
    if any(environ.get(name) for name in _ORIGINALS) or (named and (":/" in named or "=" in named)):
        return None
    home = Path.home()
    project = find_project(folder, home)
    there = folder / Path(named or _DEFAULT_DATA).expanduser()
    if (project and project.file and _decides(project.file)) or _decides(there / _FILE):
        return None
    of_project = project.bank_name() if project else None
    try:
        return Spot(there, check_bank_name(bank or environ.get(_BANK) or of_project or _DEFAULT_BANK))
    except InputError:
        # The settings name the variable or option at fault.
        return None


def memories_in(file: Path) -> int | None:
    """Return the number of a bank's memories; None if the file cannot be read, such as a sealed one."""
    log = file.with_name(f"{file.name}-wal")
    # A database in WAL mode that is opened as immutable leaves nothing beside it.
    way = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{way}", uri=True)) as database:
            [(number,)] = database.execute(_COUNT.read_text("utf-8"))
    except sqlite3.Error:
        return None
    return int(number)


def _decides(file: Path) -> bool:
    """Return whether a settings file may name the bank or folder; an unreadable one is for the settings to report."""
    try:
        return bool(_DECIDES & tomllib.loads(file.read_text("utf-8")).keys())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
