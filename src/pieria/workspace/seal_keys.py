"""Find the key of sealed banks where the setting `seal_key` says, and create one if there is none."""

from __future__ import annotations

import os
import secrets
import shlex
import stat
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pieria.errors import SealedError, UnavailableError
from pieria.record.address import COMMAND, FILE, KEYRING, VARIABLE
from pieria.store.files import PRIVATE_FILE, PRIVATE_FOLDER, flush, storage_error
from pieria.store.seal import KEY_BYTES, Seal

if TYPE_CHECKING:
    from pieria.settings import Resolved

SERVICE = "pieria"
SECONDS = 60
"""Seconds for a command, which may have to ask a person."""
OPERATION = "open"
LONGEST = 4_096


def seal_of(resolved: Resolved) -> Seal | None:
    place = resolved.settings.seal_key
    return None if place is None else seal_at(place, resolved.environ)


def seal_at(place: str, environ: Mapping[str, str]) -> Seal:
    """Return the seal of a place as the setting names it. The key is read only when needed."""
    kind, _, rest = place.partition(":")
    ways: dict[str, Callable[[], str | None]] = {
        KEYRING: partial(_of_keyring, rest),
        FILE: partial(_of_file, Path(rest).expanduser()),
        COMMAND: partial(_of_command, rest, environ),
        VARIABLE: partial(environ.get, rest),
    }
    return Seal(place, partial(_read, place, ways[kind]))


def _read(place: str, look: Callable[[], str | None]) -> bytes:
    found = look()
    if not found:
        hint = "Put the key back there, or set seal_key to its place. `pieria seal --make-key` creates a first key."
        raise SealedError(OPERATION, f"no key was found in {place}", hint=hint)
    try:
        key = bytes.fromhex(found.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        reason = f"{place} holds no valid key: a key is {2 * KEY_BYTES} hexadecimal digits"
        raise SealedError(
            OPERATION, reason, hint="`openssl rand -hex 32` creates one, for a bank that is not sealed yet."
        )
    return key


def make_key(place: str, environ: Mapping[str, str]) -> bool:
    """Create a key and return True, or return False if there is one. Commands and variables cannot get a new key."""
    kind, _, rest = place.partition(":")
    if kind == KEYRING:
        if _of_keyring(rest):
            return False
        keyring = _keyring()
        try:
            keyring.set_password(SERVICE, rest, secrets.token_hex(KEY_BYTES))
        except keyring.errors.KeyringError as problem:
            raise _no_keyring(problem) from problem
        return True
    if kind == FILE:
        return _made_file(Path(rest).expanduser())
    try:
        seal_at(place, environ).key()
    except SealedError as problem:
        hint = "Put a key there yourself (`openssl rand -hex 32` creates one), or use keyring: or file:PATH."
        raise UnavailableError("seal_key", f"Pieria cannot create a key in {place}", hint=hint) from problem
    return False


def _made_file(path: Path) -> bool:
    """Write the key file atomically: a partial key would be useless and block a whole one."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, PRIVATE_FILE)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(KEY_BYTES)}\n")
        flush(aside)
        try:
            os.link(aside, path)
        except FileExistsError:
            return False
        finally:
            aside.unlink()
        flush(path.parent)
    except OSError as problem:
        raise storage_error("seal", path, problem) from problem
    return True


def _of_file(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            others = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077
            held = file.read(LONGEST)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise SealedError(OPERATION, f"the key file {path} cannot be read ({problem.strerror})") from problem
    if others:
        hint = f"Run `chmod 600 {path}`. If others may have read the key, change it with `pieria rekey`."
        raise SealedError(OPERATION, f"other users may read the key file {path}", hint=hint)
    return held.decode("ascii", "replace")


def _of_command(line: str, environ: Mapping[str, str]) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, out of the user's own settings
            shlex.split(line),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        # The output may be a key, or part of one: do not show it.
        raise SealedError(
            OPERATION,
            f"the command of seal_key gave no key ({type(problem).__name__})",
            hint="Run the command yourself: it must print only the key, and end with status 0.",
        ) from None
    return done.stdout.decode("ascii", "replace")


def _of_keyring(entry: str) -> str | None:
    keyring = _keyring()
    try:
        found: str | None = keyring.get_password(SERVICE, entry)
    except keyring.errors.KeyringError as problem:
        raise _no_keyring(problem) from problem
    return found


def _keyring() -> ModuleType:
    try:
        import keyring
        import keyring.errors
    except ImportError as problem:
        hint = 'Install it: pip install "pieria[sealed]"'
        raise SealedError(
            OPERATION, "the keyring needs the extra sealed, which is not installed", hint=hint
        ) from problem
    return keyring


def _no_keyring(problem: Exception) -> SealedError:
    hint = "Unlock it, or keep the key in a file: seal_key = file:PATH."
    return SealedError(OPERATION, f"the system's keyring cannot be used ({type(problem).__name__})", hint=hint)
