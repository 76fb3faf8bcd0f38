"""The place of a workspace: a folder, a PostgreSQL server or a Pieria server, by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pieria.errors import InputError, UnavailableError
from pieria.record.address import WebAddress, is_web, split_bank
from pieria.record.banks import check_bank_name
from pieria.workspace.folders import Folder
from pieria.workspace.locations import Place
from pieria.workspace.web import Web

if TYPE_CHECKING:
    from pieria.settings import Settings


def place_of(settings: Settings) -> Place:
    data = settings.data
    if isinstance(data, Path):
        return Folder(data)
    if isinstance(data, WebAddress):
        return Web(data, settings)
    from pieria.workspace.servers import Server

    return Server(data, settings.folder, settings.user, settings.connections, row_security=settings.row_security)


def opening(name: str | None, data: str | Path | None, token: str | None) -> tuple[str | Path | None, dict[str, str]]:
    """Return `data` and the settings that the arguments of `open` name. `name` may be an address with the bank."""
    if isinstance(name, str) and is_web(name):
        if data is not None:
            raise InputError("name", "the name of a bank, since data has the address", None)
        data, name = split_bank(name)
    named = {} if name is None else {"bank": check_bank_name(name, "name")}
    return data, named if token is None else {**named, "token": token}


def check_token(token: str | None, place: Place) -> None:
    """Raise `UnavailableError` for a token that nothing would take."""
    if token is not None and not isinstance(place, Web):
        raise UnavailableError("token", "only a Pieria server takes one", hint="Give its address in data: https://…")
