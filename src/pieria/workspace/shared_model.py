"""Embed for other processes of this user, with the model that this process has loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.models.embedders.shared import WHAT
from pieria.workspace.models import embedders

if TYPE_CHECKING:
    from pieria.workspace import Workspace


EMBED = WHAT
"""What other processes ask for."""


def vectors(workspace: Workspace, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a call. Raise `AdapterError` if this model has other vectors."""
    embedder = embedders.named(workspace.resolved.settings, None, workspace.data)
    if embedder is None:
        raise InputError("space", "nothing: this server has no model", asked.get("space"))
    return embedder.served(asked)
