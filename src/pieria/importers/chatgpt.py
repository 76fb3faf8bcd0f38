"""ChatGPT: its exported conversations, as mining reads them."""

from __future__ import annotations

from pieria.importers.conversations import conversations

IMPORTER = conversations("chatgpt", "ChatGPT", "conversations.json of an export of ChatGPT, or its unpacked folder")
