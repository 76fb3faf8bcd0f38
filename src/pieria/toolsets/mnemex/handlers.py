"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.mnemex.analysis import analyze_for_recall, analyze_message
from pieria.toolsets.mnemex.clusters import cluster_memories, consolidate_memories
from pieria.toolsets.mnemex.collection import gc, promote_memory
from pieria.toolsets.mnemex.nodes import create_relation, open_memories
from pieria.toolsets.mnemex.save import edit_memory, forget_memory, recover_memory, save_memory
from pieria.toolsets.mnemex.search import search_memory, search_unified
from pieria.toolsets.mnemex.touch import observe_memory_usage, touch_memory

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
