"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.mnemosyne.diagnosing import diagnose, get_stats
from pieria.toolsets.mnemosyne.keeping import forget, invalidate, sleep, update
from pieria.toolsets.mnemosyne.moving import export, import_
from pieria.toolsets.mnemosyne.recalling import recall
from pieria.toolsets.mnemosyne.remembering import remember
from pieria.toolsets.mnemosyne.scratchpad import scratchpad_clear, scratchpad_read, scratchpad_write
from pieria.toolsets.mnemosyne.triples import triple_add, triple_query

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
