"""Read and write a host's file: atomically, through links, and with the same permissions."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pieria.errors import ConfigError, StorageError

MARK = "\ufeff"


def read(path: Path) -> str | None:
    """Return the text, with its line ends and byte order mark; None if there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as problem:
        raise ConfigError(
            f"{path}: not UTF-8, so it was not changed", hint="Convert it, then install again."
        ) from problem
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read ({problem.strerror})") from problem


def write(path: Path, text: str) -> None:
    """Write the text. A new file, and a new folder for it, are the user's alone."""
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        try:
            # A killed process with the same number may have left this file, and another process may have it open.
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
