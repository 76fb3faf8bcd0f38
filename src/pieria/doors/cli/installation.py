"""How this Pieria was installed, and so which commands upgrade and remove it.

Only looks at what installers leave behind; runs nothing.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

NAME = "pieria"
Arguments = tuple[str, ...]
PIPX, UV_TOOL = "pipx_metadata.json", "uv-receipt.toml"
"""Files in the environments that pipx and `uv tool` make."""
MANAGED = "EXTERNALLY-MANAGED"


@dataclass(frozen=True, slots=True)
class Traces:
    """What installers left: `installer` and `origin` are from the package's metadata, `managed` says that the system's
    own package manager rules over this Python.
    """

    prefix: Path
    executable: str
    installer: str = "pip"
    origin: Mapping[str, Any] | None = None
    managed: bool = False


@dataclass(frozen=True, slots=True)
class Installation:
    """`why_not` says why there are no commands."""

    how: str
    where: Path
    upgrade: tuple[Arguments, ...] = ()
    uninstall: tuple[Arguments, ...] = ()
    why_not: str | None = None


def traces() -> Traces:
    import sysconfig

    found = distribution(NAME)
    origin = found.read_text("direct_url.json")
    is_own = sys.prefix != sys.base_prefix
    return Traces(
        Path(sys.prefix),
        sys.executable,
        (found.read_text("INSTALLER") or "pip").strip(),
        None if origin is None else json.loads(origin),
        not is_own and Path(sysconfig.get_path("stdlib"), MANAGED).exists(),
    )


def installation(left: Traces) -> Installation:
    if left.origin is not None and left.origin.get("dir_info", {}).get("editable"):
        folder = unquote(urlsplit(left.origin["url"]).path)
        pull = ("git", "-C", folder, "pull", "--ff-only")
        again = (*_pip(left, "install"), "--editable", folder)
        return Installation("editable", Path(folder), (pull, again), (_removal(left),))
    for file, how, main_of, tool in (
        (PIPX, "pipx", _main_of_pipx, ("pipx",)),
        (UV_TOOL, "uv tool", _main_of_uv, ("uv", "tool")),
    ):
        if (left.prefix / file).is_file():
            main = main_of(left.prefix / file)
            if main != NAME:
                why_not = f"it was added to the environment of {main}: change it there with {' '.join(tool)}"
                return Installation(how, left.prefix, why_not=why_not)
            called = left.prefix.name
            return Installation(how, left.prefix, ((*tool, "upgrade", called),), ((*tool, "uninstall", called),))
    if left.managed or left.installer not in ("pip", "uv"):
        why_not = f"another package manager installed it ({left.installer}): use that one"
        return Installation("other", left.prefix, why_not=why_not)
    source = _source(left.origin)
    upgrade = () if source is None else ((*_pip(left, "install"), "--upgrade", source),)
    return Installation(left.installer, left.prefix, upgrade, (_removal(left),), None if source else _FROM_FILE)


_FROM_FILE = "it was installed from a file or folder: install a newer one in the same way"


def _source(origin: Mapping[str, Any] | None) -> str | None:
    """Return what to install again: the package by its name, or from its repository; None for a file or folder."""
    if origin is None:
        return NAME
    if "vcs_info" not in origin:
        return None
    return f"{NAME} @ {origin['vcs_info']['vcs']}+{origin['url']}"


def _pip(left: Traces, verb: str) -> Arguments:
    if left.installer == "uv":
        return "uv", "pip", verb, "--python", left.executable
    return left.executable, "-m", "pip", verb


def _removal(left: Traces) -> Arguments:
    return *_pip(left, "uninstall"), *(() if left.installer == "uv" else ("--yes",)), NAME


def _main_of_pipx(file: Path) -> str:
    return str(json.loads(file.read_text("utf-8"))["main_package"]["package"])


def _main_of_uv(file: Path) -> str:
    return str(tomllib.loads(file.read_text("utf-8"))["tool"]["requirements"][0]["name"])
