"""The place of a workspace: a folder, a PostgreSQL server or a Pieria server, by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pieria.record.address import WebAddress
from pieria.workspace.folders import Folder
from pieria.workspace.locations import Place

if TYPE_CHECKING:
    from pieria.settings import Settings


def place_of(settings: Settings) -> Place:
    data = settings.data
    if isinstance(data, Path):
        return Folder(data)
    if isinstance(data, WebAddress):
        from pieria.workspace.web import Web

        return Web(data, settings)
    from pieria.workspace.servers import Server

    return Server(data, settings.folder, settings.user, settings.connections, row_security=settings.row_security)
