"""The settings that name folders: banks, this machine's own files, models."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from pieria.errors import ConfigError, UnavailableError
from pieria.record.address import (
    EXPECTED,
    HOW_TO_WRITE,
    HOW_TO_WRITE_WEB,
    UNREADABLE,
    Address,
    WebAddress,
    has_length,
    is_server,
    is_web,
)
from pieria.settings.source import PREFIX, PROJECT, Source

DATA = Path("~/.pieria")
MODELS = DATA / "models"
SERVERS = DATA / "servers"
"""Parent of the local folders, one for each server."""
OWN_MODELS = ("share", "pieria", "models")
"""Where a virtual environment may hold models for its programs."""

_KEYWORDS = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|service)\s*=", re.IGNORECASE)
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)


def data_of(sources: Sequence[Source], folder: Path) -> Path | Address:
    default = Source("default", {"data": DATA}, folder)
    source = next((source for source in sources if "data" in source.values), default)
    given = _text(source, "data")
    if _KEYWORDS.match(given):
        reason = "it looks like connection keywords; it is not shown, since it may contain a password"
        raise UnavailableError("data", reason, hint="Write it as postgresql://USER@HOST/DATABASE.")
    # The text after the scheme may hold a password: do not quote it.
    if not (address := _ADDRESS.match(given)):
        return _folder(source, "data", given)
    if not (is_server(given) or is_web(given)):
        reason = f"banks are in a folder or on a server, not behind a {address[1].lower()}:/ address"
        hint = "name a folder, or write https://HOST or postgresql://USER@HOST/DATABASE as a text"
        raise UnavailableError("data", reason, hint=hint)
    if source.origin == PROJECT:
        told = f"{source.file}: an address of a server cannot be set by a project"
        raise ConfigError(told, hint=f"Set {PREFIX}DATA instead.")
    found = WebAddress(given) if is_web(given) else Address(given.strip())
    if not found.is_sound:
        raise UnavailableError("data", UNREADABLE, hint=HOW_TO_WRITE_WEB if is_web(given) else HOW_TO_WRITE)
    return found


def local_folder(sources: Sequence[Source], address: Address) -> Path:
    """Return the local folder for a server and database. Each has its own, since access rights differ."""
    named = folder_of(next((source for source in sources if "local" in source.values), None), "local")
    if named is not None:
        return named
    if home_folder() is None:
        hint = f"Give the full path of the folder in local or {PREFIX}LOCAL."
        raise ConfigError(
            "the user's home folder is unknown, so there is no folder for this machine's own data", hint=hint
        )
    return SERVERS.expanduser() / address.stem


def models_folder(source: Source | None, data: Path) -> Path:
    """Return the folder of models: the virtual environment's, else the user's, else beside the banks."""
    if source is None and sys.prefix != sys.base_prefix and (own := Path(sys.prefix, *OWN_MODELS)).is_dir():
        return own
    usual = MODELS.expanduser() if home_folder() is not None else data / MODELS.name
    return folder_of(source, "models") or usual


def folder_of(source: Source | None, setting: str) -> Path | None:
    return None if source is None else _folder(source, setting, _text(source, setting))


def _text(source: Source, setting: str) -> str:
    value = source.values[setting]
    given = value.url if isinstance(value, Address) else os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(given, str) or not given.strip() or "\0" in given:
        raise source.problem(setting, "a folder", given)
    return given


def _folder(source: Source, setting: str, given: str) -> Path:
    """Return the full path. A relative one counts from the source's folder."""
    if not has_length(given):
        raise source.problem(setting, EXPECTED, given)
    try:
        path = source.folder / Path(given).expanduser()
    except RuntimeError as problem:
        hint = f"The user's home folder is unknown. Give the full path in {setting} or {PREFIX}{setting.upper()}."
        raise source.problem(setting, "a folder whose ~ can be resolved", given, hint) from problem
    if os.path.isfile(path):
        raise source.problem(setting, "a folder, not a file", given)
    return path.resolve() if ".." in path.parts else path


def working_folder(cwd: str | Path | None) -> Path:
    try:
        return Path.cwd() if cwd is None else Path(cwd).absolute()
    except FileNotFoundError as problem:
        raise ConfigError("the working folder no longer exists", hint="Change to one that does.") from problem


def home_folder() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None
