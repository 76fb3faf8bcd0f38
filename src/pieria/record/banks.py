"""The names of banks: which are allowed, which mean the same bank, and how one is made from another name.

A bank's name is part of a file's name, so the rules are those that hold on every file system; where the file
lies is the workspace's business.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from pieria.errors import InputError, NotFoundError

USER_BANK = "@me"
"""The bank that belongs to the user rather than to a project: scope `user` is kept there."""

LONGEST = 100
MOST_BYTES = 160
"""A file's name may have 255 bytes on common file systems; backups and unfinished files add endings."""

MOST_OFFERED = 10
"""Names of banks that an error or a note lists."""

EXPECTED = "a bank's name: 1 to 100 letters, digits, hyphens, underscores and dots, no dot at either end"

_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})
_MARKS = frozenset({"Mn", "Mc"})
_AS_IT_IS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


def check_bank_name(value: object, parameter: str = "bank") -> str:
    """The name in its kept form (NFC), or `InputError`."""
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
    """Whoever scope `user` means on a server, by the id that they have wherever they sign in: any text, as it is."""
    if isinstance(value, str) and value.strip() and value.isprintable():
        name = unicodedata.normalize("NFC", value)
        if len(name.encode()) <= MOST_BYTES:
            return name
    raise InputError(parameter, f"a user's id: printable characters, at most {MOST_BYTES} bytes", value)


def user_bank_of(user: str) -> str:
    """How the user's own bank is called on a server, where every user has one. Ids that differ at all, be it in case,
    are different users: banks' names do not, so what they would confuse is spelt by its bytes.
    """
    return "@" + "".join(char if char in _AS_IT_IS else _bytes_of(char) for char in user)


def _bytes_of(char: str) -> str:
    return "".join(f"~{byte:02x}" for byte in char.encode())


def bank_name_from(text: str, longest: int = LONGEST, most_bytes: int = MOST_BYTES) -> str:
    """The text with a hyphen for whatever a name cannot hold; empty where nothing is left."""
    composed = unicodedata.normalize("NFC", text)
    words = "".join(char if _allowed(char) and char != "." else " " for char in composed)
    name = "-".join(words.split())[:longest]
    while len(name.encode()) > most_bytes:
        name = name[:-1]
    while name and (_is_mark(name[0]) or name[0] == "-"):
        name = name[1:]
    return f"{name}-bank" if name.casefold() in _DEVICES else name


def no_such_bank(name: str, there: Sequence[str], nowhere: str | None = None) -> NotFoundError:
    """With the names that may be meant, and how a bank comes to be. `nowhere` is their folder, where there is none."""
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
    """What two names share that differ in case alone: some file systems would give both the same file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _allowed(char: str) -> bool:
    return char in "-_." or unicodedata.category(char) in _LETTERS or _is_mark(char)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in _MARKS
