"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.open_mem.export import export, import_
from pieria.toolsets.open_mem.find import find
from pieria.toolsets.open_mem.get import get_
from pieria.toolsets.open_mem.guide import help
from pieria.toolsets.open_mem.history import history
from pieria.toolsets.open_mem.maintenance import maintenance
from pieria.toolsets.open_mem.write import create, remove, revise

__all__ = ["create", "export", "find", "get_", "help", "history", "import_", "maintenance", "remove", "revise"]
