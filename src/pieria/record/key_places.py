"""The forms of the setting `seal_key`, which says where a key is. A setting never holds the key itself."""

from __future__ import annotations

from pathlib import Path

from pieria.errors import InputError

KEYRING, FILE, COMMAND, VARIABLE = "keyring", "file", "command", "env"
KINDS = (KEYRING, FILE, COMMAND, VARIABLE)
ENTRY = "default"
"""The default name of the keyring entry."""


def checked_key_place(value: str, parameter: str = "seal_key") -> str:
    kind, colon, rest = value.strip().partition(":")
    rest = rest.strip()
    if not colon or kind not in KINDS or "\0" in rest or (kind != KEYRING and not rest):
        # Do not quote the value in the error: it may be a key.
        raise InputError(parameter, "keyring:, keyring:NAME, file:PATH, command:… or env:NAME", None)
    if kind == FILE and not Path(rest).expanduser().is_absolute():
        raise InputError(parameter, "a file in full, as file:/PATH or file:~/PATH", value)
    if kind == KEYRING and not rest:
        rest = ENTRY
    return f"{kind}:{rest}"
