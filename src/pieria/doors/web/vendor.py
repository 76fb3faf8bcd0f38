"""Third-party files for browsers: copied from npm packages when Pieria is built, checked, and never committed.

`vendor.json` names the files, their packages and hashes; without the files every page works as plain HTML. `python -m
pieria.doors.web.vendor NODE_MODULES` copies them; `make web` runs it, and `hatch_build.py` does the same for a wheel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from pieria.errors import StorageError

FOLDER = Path(__file__).parent / "static" / "vendor"
LICENCES = "LICENSES.txt"
"""Beside the scripts: the licences of every package that went into them."""
ADVICE = "run make web in a clone, or install npm and build Pieria again"


@dataclass(frozen=True, slots=True)
class File:
    """`styles` are hashes of styles that the script adds to the page; the policy must list them."""

    name: str
    package: str
    path: str
    sha256: str
    styles: tuple[str, ...] = ()


@cache
def listed() -> tuple[File, ...]:
    read: list[Mapping[str, str]] = json.loads((files("pieria.doors.web") / "vendor.json").read_text("utf-8"))
    return tuple(File(**{**entry, "styles": tuple(entry.get("styles", ()))}) for entry in read)  # type: ignore[arg-type]


def missing(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the files that are missing or differ from their hash."""
    return tuple(file.name for file in listed() if _digest(folder / file.name) != file.sha256)


def copied(packages: Path, folder: Path = FOLDER) -> tuple[str, ...]:
    """Copy the files from a folder of packages. Raise `StorageError` if one differs, and copy nothing."""
    found = {}
    for file in listed():
        source = packages / file.package / file.path
        if _digest(source) != file.sha256:
            reason = f"{source} is missing, or is not the file that vendor.json names"
            raise StorageError("web", reason, hint="Run npm ci to install the pinned packages.")
        found[file.name] = source.read_bytes()
    licences = _licences(packages)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        (folder / name).write_bytes(content)
    (folder / LICENCES).write_text(licences, "utf-8")
    return tuple(found)


def _licences(packages: Path) -> str:
    """Return the licences of the installed packages, without those that only tests use."""
    installed = json.loads((packages / ".package-lock.json").read_text("utf-8"))["packages"]
    parts = []
    for path, about in installed.items():
        if not about.get("dev"):
            files = sorted((packages.parent / path).glob("LICEN[CS]E*"))
            name = path.removeprefix(f"{packages.name}/")
            parts.append("\n\n".join([f"{name} {about['version']}: {about['license']}", *map(_stripped, files)]))
    return "\n\n\n".join(parts) + "\n"


def _stripped(file: Path) -> str:
    return file.read_text("utf-8").strip()


def _digest(path: Path) -> str | None:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


if __name__ == "__main__":
    sys.stdout.write(f"{len(copied(Path(sys.argv[1])))} files are in {FOLDER}\n")
