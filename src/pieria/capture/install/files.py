"""Reading and writing a host's file: whole or not at all, behind the links that lead to it, as readable as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pieria.errors import ConfigError, StorageError

MARK = "\ufeff"


def read(path: Path) -> str | None:
    """None where it is not there. Line ends, and a mark at the beginning, are part of the text."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: not UTF-8, so it is let be", hint="Convert it, then install again.") from problem
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read ({problem.strerror})") from problem


def write(path: Path, text: str) -> None:
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        try:
            # One of this name may have been left by a killed process, whose number comes again, and be open elsewhere.
            aside.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(aside, flags, mode), "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            aside.chmod(mode)
            os.replace(aside, target)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as problem:
        raise StorageError("install", f"{path} cannot be written ({problem.strerror})") from problem


def remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise StorageError("uninstall", f"{path} cannot be removed ({problem.strerror})") from problem
