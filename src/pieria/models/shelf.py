"""The shelf: the folder of installed models, and checks of their files.

Nothing here fetches or changes files; `install` does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pieria.errors import ModelDamagedError, ModelMissingError
from pieria.models.catalogue import MODELS, Model, Pinned

Progress = Callable[[str, int, int], None]
"""Called with the stage, the bytes done and all bytes."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Shelved:
    """The state of a model on the shelf. `problems` has one error per bad file."""

    model: Model
    folder: Path
    state: Literal["installed", "missing", "damaged"]
    problems: tuple[ModelDamagedError, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        model = self.model
        return {
            "name": model.name,
            "state": self.state,
            "path": str(self.folder),
            "bytes": model.size,
            "dimension": model.dimension,
            "licence": model.licence,
            "problems": [problem.message for problem in self.problems],
        }


def folder_of(model: Model, models: Path) -> Path:
    return models / model.name


def sound_folder(model: Model, models: Path) -> Path:
    """Return the folder of a model whose files all match their pins. Raises if one does not."""
    return _sound(verified(model, models))


def sound_file(model: Model, models: Path, name: str) -> Path:
    """Return the path of one file of a model, if it matches its pin. Raises if it does not."""
    path, pinned = folder_of(model, models) / name, model.files[name]
    if not path.parent.is_dir():
        raise ModelMissingError(model.name, path.parent)
    problem = _size_problem(path, pinned) or _content_problem(path, pinned, Tally("verify", pinned.size, None))
    if problem is not None:
        raise problem
    return path


def seemingly_sound(model: Model, models: Path) -> None:
    """Raise as `sound_folder` does, judged by the names and sizes of the files."""
    _sound(_shelved(model, models, _size_problem))


def _sound(shelved: Shelved) -> Path:
    if shelved.state == "missing":
        raise ModelMissingError(shelved.model.name, shelved.folder)
    if shelved.problems:
        first, *rest = shelved.problems
        first.errors = tuple(rest)
        raise first
    return shelved.folder


def listed(models: Path) -> list[Shelved]:
    """Return the state of every known model, judged by the names and sizes of its files; `verified` reads them."""
    return [_shelved(model, models, _size_problem) for model in MODELS.values()]


def verified(model: Model, models: Path, progress: Progress | None = None) -> Shelved:
    """Read every byte of a model and return its state."""
    tally = Tally("verify", model.size, progress)

    def problem(path: Path, pinned: Pinned) -> ModelDamagedError | None:
        return _size_problem(path, pinned) or _content_problem(path, pinned, tally)

    return _shelved(model, models, problem)


class Tally:
    """Sums up the progress of one stage and reports it."""

    def __init__(self, stage: str, whole: int, progress: Progress | None) -> None:
        self._stage = stage
        self._whole = whole
        self._progress = progress
        self._done = 0

    def add(self, amount: int) -> None:
        self.reach(self._done + amount)

    def reach(self, done: int) -> None:
        self._done = min(done, self._whole)
        if self._progress is not None:
            self._progress(self._stage, self._done, self._whole)


def _shelved(model: Model, models: Path, problem: Callable[[Path, Pinned], ModelDamagedError | None]) -> Shelved:
    folder = folder_of(model, models)
    if not folder.is_dir():
        return Shelved(model, folder, "missing")
    judged = (problem(folder / name, pinned) for name, pinned in model.files.items())
    found = tuple(wrong for wrong in judged if wrong is not None)
    return Shelved(model, folder, "damaged" if found else "installed", found)


def _size_problem(path: Path, pinned: Pinned) -> ModelDamagedError | None:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return ModelDamagedError(path, "the file is missing")
    except OSError as problem:
        return unreadable(path, problem)
    if size != pinned.size:
        return ModelDamagedError(path, f"it has {size:,} bytes instead of {pinned.size:,}")
    return None


def _content_problem(path: Path, pinned: Pinned, tally: Tally) -> ModelDamagedError | None:
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                tally.add(len(chunk))
    except OSError as problem:
        return unreadable(path, problem)
    if digest.hexdigest() != pinned.sha256:
        return ModelDamagedError(path, "its content differs from the published file")
    return None


def unreadable(path: Path, problem: OSError) -> ModelDamagedError:
    return ModelDamagedError(path, f"it cannot be read ({problem.strerror})", hint="Allow this user to read it.")
