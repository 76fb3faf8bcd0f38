"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.mempalace.diary import diary_read, diary_write
from pieria.toolsets.mempalace.drawers import (
    add_drawer,
    delete_by_source,
    delete_drawer,
    delete_drawers,
    get_drawer,
    get_drawers,
    list_drawers,
    rename_room,
    update_drawer,
)
from pieria.toolsets.mempalace.graph import find_tunnels, graph_stats, traverse
from pieria.toolsets.mempalace.hooks import hook_settings, memories_filed_away, reconnect
from pieria.toolsets.mempalace.markdown import export_markdown
from pieria.toolsets.mempalace.overview import get_aaak_spec, get_taxonomy, list_rooms, list_wings, status
from pieria.toolsets.mempalace.search import check_duplicate, search
from pieria.toolsets.mempalace.sync import sync
from pieria.toolsets.mempalace.triples import kg_add, kg_invalidate, kg_query, kg_stats, kg_supersede, kg_timeline
from pieria.toolsets.mempalace.tunnels import create_tunnel, delete_tunnel, follow_tunnels, list_tunnels

__all__ = [
    "add_drawer",
    "check_duplicate",
    "create_tunnel",
    "delete_by_source",
    "delete_drawer",
    "delete_drawers",
    "delete_tunnel",
    "diary_read",
    "diary_write",
    "export_markdown",
    "find_tunnels",
    "follow_tunnels",
    "get_aaak_spec",
    "get_drawer",
    "get_drawers",
    "get_taxonomy",
    "graph_stats",
    "hook_settings",
    "kg_add",
    "kg_invalidate",
    "kg_query",
    "kg_stats",
    "kg_supersede",
    "kg_timeline",
    "list_drawers",
    "list_rooms",
    "list_tunnels",
    "list_wings",
    "memories_filed_away",
    "reconnect",
    "rename_room",
    "search",
    "status",
    "sync",
    "traverse",
    "update_drawer",
]
