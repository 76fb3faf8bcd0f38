"""What hatchling cannot know when it builds Pieria: the scripts of the web page, and where the README's links lead.

The scripts are never committed. They come from `make web`, or from npm during the build, and are checked by the hashes
in `vendor.json`. Without npm the page works as plain HTML. `HATCH_BUILD_NO_HOOKS=true` builds without them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGE = "https://github.com/pieria-memory/pieria"
SCRIPTS = "pieria/doors/web/static/vendor"
NPM = (
    *("npm", "ci", "--prefer-offline", "--omit=dev", "--ignore-scripts"),
    *("--no-audit", "--no-fund", "--no-update-notifier"),
)
SECONDS = 300
_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


class Scripts(BuildHookInterface[Any]):
    """Puts the page's scripts into the wheel and the sdist. An editable installation gets them from `make web`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        vendor = _vendor(Path(self.root))
        folder = vendor.FOLDER
        if vendor.missing() or not (folder / vendor.LICENCES).is_file():
            self._fetched = tempfile.TemporaryDirectory(prefix="pieria-web-")
            folder = Path(self._fetched.name)
            if not self._fetch(vendor, folder):
                return
        within = SCRIPTS if self.target_name == "wheel" else f"src/{SCRIPTS}"
        names = (*(file.name for file in vendor.listed()), vendor.LICENCES)
        build_data["force_include"].update({str(folder / name): f"{within}/{name}" for name in names})

    def _fetch(self, vendor: ModuleType, folder: Path) -> bool:
        """Fetch the scripts with npm, and return whether they are there. Raise an error if a hash differs."""
        if shutil.which("npm") is None:
            self._warn("npm was not found")
            return False
        for name in ("package.json", "package-lock.json"):
            shutil.copy(Path(self.root, "requirements", "web", name), folder)
        try:
            subprocess.run(NPM, cwd=folder, capture_output=True, check=True, text=True, timeout=SECONDS)  # noqa: S603 - as above
        except subprocess.TimeoutExpired:
            self._warn(f"npm took longer than {SECONDS} s")
            return False
        except subprocess.CalledProcessError as problem:
            self._warn(f"npm failed: {' '.join(problem.stderr.split())[:500]}")
            return False
        vendor.copied(folder / "node_modules", folder)
        return True

    def _warn(self, reason: str) -> None:
        self.app.display_warning(
            f"Pieria is built without the scripts of its web page, which works as plain HTML: {reason}."
        )


class Readme(MetadataHookInterface):
    """Makes the README's links absolute, since a package index shows it without the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, f"v{metadata['version']}")}


def absolute(text: str, tag: str) -> str:
    """Return Markdown whose relative links lead to the repository as it is under a tag."""

    def link(found: re.Match[str]) -> str:
        image, words, path = found.groups()
        return f"{image}{words}({PAGE}/{'raw' if image else 'blob'}/{tag}/{path})"

    return _LINK.sub(link, text)


def _vendor(root: Path) -> ModuleType:
    """Return the module that checks the scripts; it needs none of Pieria's dependencies."""
    sys.path.insert(0, str(root / "src"))
    from pieria.doors.web import vendor

    return vendor
