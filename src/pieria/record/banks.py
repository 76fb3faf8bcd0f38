"""Names of banks: which are valid, which mean the same bank, and how to derive one from other text.

A bank's name is part of a file name, so the rules hold on every file system. The file's location belongs in the
workspace.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from pieria.errors import InputError, NotFoundError

USER_BANK = "@me"
"""The bank of the user rather than of a project. Scope `user` is stored there."""

LONGEST = 100
MOST_BYTES = 160
"""Common file systems allow 255 bytes in a file name. Backups and temporary files add endings."""

MOST_OFFERED = 10
"""Most bank names that an error or a note lists."""

EXPECTED = "a bank's name: 1 to 100 letters, digits, hyphens, underscores and dots, no dot at either end"

_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})
_MARKS = frozenset({"Mn", "Mc"})
_AS_IT_IS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


def check_bank_name(value: object, parameter: str = "bank") -> str:
    """Return the name in normal form (NFC), or raise `InputError`."""
    if not isinstance(value, str):
        raise InputError(parameter, EXPECTED, value)
    name = unicodedata.normalize("NFC", value)
    if name == USER_BANK:
        return name
    if name.startswith("@"):
        hint = f"{USER_BANK} is the only name with an @: the user's own bank."
        raise InputError(parameter, EXPECTED, value, hint=hint)
    if len(name) > LONGEST or len(name.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise InputError(parameter, f"at most {LONGEST} characters and {MOST_BYTES} bytes", value)
    if not name or not all(map(_allowed, name)) or name[0] == "." or name[-1] == "." or _is_mark(name[0]):
        offer = bank_name_from(name)
        raise InputError(parameter, EXPECTED, value, hint=f"For example {offer}." if offer else None)
    if name.partition(".")[0].casefold() in _DEVICES:
        hint = "Some systems keep that name for a device, so the bank could not be moved there."
        raise InputError(parameter, "a name that is a file's on every system", value, hint=hint)
    return name


def check_user_name(value: object, parameter: str = "user") -> str:
    """Return the user id that scope `user` means on a server, or raise `InputError`. The id is not trimmed."""
    if isinstance(value, str) and value.strip() and value.isprintable():
        name = unicodedata.normalize("NFC", value)
        if len(name.encode()) <= MOST_BYTES:
            return name
    raise InputError(parameter, f"a user's id: printable characters, at most {MOST_BYTES} bytes", value)


def user_bank_of(user: str) -> str:
    """Return the name of a user's own bank on a server.

    User ids are case-sensitive and bank names are not. So any character but a-z, 0-9, -, _ and . is spelt as bytes.
    """
    return "@" + "".join(char if char in _AS_IT_IS else _bytes_of(char) for char in user)


def _bytes_of(char: str) -> str:
    return "".join(f"~{byte:02x}" for byte in char.encode())


def bank_name_from(text: str, longest: int = LONGEST, most_bytes: int = MOST_BYTES) -> str:
    """Return a valid bank name made from the text, with hyphens for invalid characters. Empty if nothing is left."""
    composed = unicodedata.normalize("NFC", text)
    words = "".join(char if _allowed(char) and char != "." else " " for char in composed)
    name = "-".join(words.split())[:longest]
    while len(name.encode()) > most_bytes:
        name = name[:-1]
    while name and (_is_mark(name[0]) or name[0] == "-"):
        name = name[1:]
    return f"{name}-bank" if name.casefold() in _DEVICES else name


def no_such_bank(name: str, there: Sequence[str], nowhere: str | None = None) -> NotFoundError:
    """Return the error for a missing bank, with similar names. `nowhere` is the banks' folder if it does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name.casefold(), [other.casefold() for other in there], 3)
    alike = [other for other in there if other.casefold() in near]
    if alike:
        offered = f"Did you mean {' or '.join(alike)}?"
    elif there:
        offered = f"Banks here: {', '.join(there[:MOST_OFFERED])}."
    else:
        offered = f"There is no folder {nowhere}." if nowhere else "There are no banks here yet."
    return NotFoundError("bank", name, hint=f"{offered} What is first written to a bank makes it.")


def same_bank(name: str) -> str:
    """Return the key of a bank's name. Names that differ only in case share it, as on some file systems."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _allowed(char: str) -> bool:
    return char in "-_." or unicodedata.category(char) in _LETTERS or _is_mark(char)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in _MARKS
