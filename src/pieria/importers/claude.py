"""Claude.ai: its exported conversations, as mining reads them."""

from __future__ import annotations

from pieria.importers.conversations import conversations

IMPORTER = conversations("claude", "Claude.ai", "conversations.json of an export of Claude.ai, or its unpacked folder")
