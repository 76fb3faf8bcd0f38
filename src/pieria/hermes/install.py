"""Write, inspect and remove the plugin folder, which tells Hermes about the provider."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from shlex import quote
from uuid import uuid4

from pieria.errors import ConfigError, ConflictError, StorageError

NAME = "pieria"
MARK = "Written by `pieria hermes install`"
MISSING, INSTALLED, OUTDATED, FOREIGN = "missing", "installed", "outdated", "foreign"


@dataclass(frozen=True, slots=True)
class Plugin:
    """`foreign`: the folder holds other files, which are left alone."""

    folder: Path
    state: str


def plugin(home: Path) -> Plugin:
    folder = home / "plugins" / NAME
    # List before reading: files that another installation writes meanwhile are not foreign.
    holds = set(os.listdir(folder)) if folder.exists() else set()
    there = {name: _text(folder / name) for name in contents()}
    if all(text is None for text in there.values()):
        return Plugin(folder, FOREIGN if holds else MISSING)
    if any(text is not None and MARK not in text for text in there.values()):
        return Plugin(folder, FOREIGN)
    return Plugin(folder, INSTALLED if there == contents() else OUTDATED)


def check_there(home: Path) -> None:
    """Raise `ConfigError` if there is no Hermes."""
    if not home.is_dir():
        hint = f"Where it is yet to come: pieria hermes install --home {quote(str(home))}."
        raise ConfigError(f"Hermes was not found at {home}; is HERMES_HOME right?", hint=hint)


def install(home: Path, *, dry_run: bool = False) -> Plugin:
    """Write or update the folder. Return its state before."""
    before = _ours(plugin(home))
    if not dry_run and before.state != INSTALLED:
        try:
            before.folder.mkdir(parents=True, exist_ok=True)
            for name, text in contents().items():
                _write(before.folder / name, text)
        except OSError as problem:
            raise StorageError("install", f"{before.folder} cannot be written ({problem.strerror})") from problem
    return before


def uninstall(home: Path, *, dry_run: bool = False) -> Plugin:
    """Remove the written files and Python's cache of them; options and banks stay. Return the state before."""
    before = _ours(plugin(home))
    if not dry_run and before.state != MISSING:
        try:
            for name in contents():
                (before.folder / name).unlink(missing_ok=True)
            shutil.rmtree(before.folder / "__pycache__", ignore_errors=True)
            if not any(before.folder.iterdir()):
                before.folder.rmdir()
        except OSError as problem:
            raise StorageError("uninstall", f"{before.folder} cannot be removed ({problem.strerror})") from problem
    return before


def _write(file: Path, text: str) -> None:
    """Write a file atomically: a partial file would count as foreign.

    The temporary file is beside the folder, since a leftover inside it would count as foreign too. Its name is unique,
    since several installations may run at once.
    """
    aside = file.parent.with_name(f".{file.parent.name}.{file.name}.{uuid4().hex}.new")
    try:
        aside.write_text(text, "utf-8")
        os.replace(aside, file)
    finally:
        aside.unlink(missing_ok=True)


def _ours(found: Plugin) -> Plugin:
    if found.state == FOREIGN:
        reason = f"{found.folder} holds files that Pieria did not write"
        raise ConflictError(reason, hint="Move them away, or name another --home.")
    return found


def contents() -> dict[str, str]:
    """Return the files of the plugin folder, by name."""
    templates = files("pieria.hermes") / "plugin"
    return {
        "__init__.py": (templates / "__init__.py.in").read_text("utf-8"),
        "plugin.yaml": (templates / "plugin.yaml.in").read_text("utf-8").replace("{version}", version("pieria")),
    }


def _text(file: Path) -> str | None:
    try:
        return file.read_text("utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
