"""File names that every system accepts and every other program opens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePosixPath, PureWindowsPath

from pieria.errors import InputError

ENDING = ".md"
LONGEST = 80
MOST_BYTES = 180
_FORBIDDEN = re.compile(r"[<>:\"/\\|?*#^\[\]%\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)", re.IGNORECASE)


def note_name(title: str, id: str) -> str:
    """Return the name of a note without its ending: its title, as far as file names allow."""
    spelt = unicodedata.normalize("NFC", title).encode("utf-8", "replace").decode()
    spelt = " ".join(_FORBIDDEN.sub(" ", spelt).split())
    spelt = "".join(char for char in spelt if unicodedata.category(char) not in ("Cf", "Co", "Cn", "Cs"))
    spelt = _cut(spelt).strip(" .-")
    if not any(char.isalnum() for char in spelt):
        spelt = f"memory {_cut(_FORBIDDEN.sub('-', id))[:8].strip(' .-')}".strip()
    return f"_{spelt}" if _RESERVED.fullmatch(spelt.partition(".")[0].strip()) else spelt


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return the file name, with a number if it is taken. `taken` are names spelt by `same_name`."""
    number, name = 1, f"{wanted}{ENDING}"
    while same_name(name) in taken:
        number += 1
        name = f"{wanted} {number}{ENDING}"
    return name


def same_name(name: str) -> str:
    """Return a key that is equal for names that some file system treats as one."""
    return unicodedata.normalize("NFC", name).casefold()


def checked_folder(value: str, parameter: str = "vault_folder") -> str:
    """Return the folder as a path inside the vault. Raise `InputError` for any other path."""
    path = PurePosixPath(value.strip().replace("\\", "/"))
    parts = path.parts
    expected = "a folder inside the vault, such as Pieria or notes/agents"
    if not parts or path.is_absolute() or PureWindowsPath(value.strip()).drive or ".." in parts:
        raise InputError(parameter, expected, value)
    for part in parts:
        odd = _FORBIDDEN.search(part) or part.startswith(".") or part.endswith((".", " "))
        if odd or _RESERVED.fullmatch(part.partition(".")[0]) or len(part.encode("utf-8", "replace")) > MOST_BYTES:
            raise InputError(parameter, expected, value, hint=f"{part!r} cannot be the name of a folder everywhere.")
    return path.as_posix()


def _cut(spelt: str) -> str:
    """Cut to the limits, at a space if one is near enough."""
    kept = spelt[:LONGEST]
    while len(kept.encode()) > MOST_BYTES:
        kept = kept[:-1]
    if len(kept) < len(spelt) and " " in kept[LONGEST // 2 :]:
        kept = kept[: kept.rindex(" ")]
    return kept
