"""The place of a workspace: a folder or a server, by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pieria.workspace.folders import Folder
from pieria.workspace.locations import Place

if TYPE_CHECKING:
    from pieria.settings import Settings


def place_of(settings: Settings) -> Place:
    data = settings.data
    if isinstance(data, Path):
        return Folder(data)
    from pieria.workspace.servers import Server

    return Server(data, settings.folder, settings.user, settings.connections, row_security=settings.row_security)
