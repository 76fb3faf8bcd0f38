"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.mnemex.analyzing import analyze_for_recall, analyze_message
from pieria.toolsets.mnemex.gathering import cluster_memories, consolidate_memories
from pieria.toolsets.mnemex.managing import gc, promote_memory
from pieria.toolsets.mnemex.opening import create_relation, open_memories
from pieria.toolsets.mnemex.saving import edit_memory, forget_memory, recover_memory, save_memory
from pieria.toolsets.mnemex.searching import search_memory, search_unified
from pieria.toolsets.mnemex.using import observe_memory_usage, touch_memory

__all__ = [
    "analyze_for_recall",
    "analyze_message",
    "cluster_memories",
    "consolidate_memories",
    "create_relation",
    "edit_memory",
    "forget_memory",
    "gc",
    "observe_memory_usage",
    "open_memories",
    "promote_memory",
    "recover_memory",
    "save_memory",
    "search_memory",
    "search_unified",
    "touch_memory",
]
