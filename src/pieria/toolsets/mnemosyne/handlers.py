"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.mnemosyne.diagnosis import diagnose, get_stats
from pieria.toolsets.mnemosyne.export import export, import_
from pieria.toolsets.mnemosyne.recall import recall
from pieria.toolsets.mnemosyne.remember import remember
from pieria.toolsets.mnemosyne.scratchpad import scratchpad_clear, scratchpad_read, scratchpad_write
from pieria.toolsets.mnemosyne.triples import triple_add, triple_query
from pieria.toolsets.mnemosyne.upkeep import forget, invalidate, sleep, update

__all__ = [
    "diagnose",
    "export",
    "forget",
    "get_stats",
    "import_",
    "invalidate",
    "recall",
    "remember",
    "scratchpad_clear",
    "scratchpad_read",
    "scratchpad_write",
    "sleep",
    "triple_add",
    "triple_query",
    "update",
]
