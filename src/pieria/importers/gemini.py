"""Gemini: its exported conversations, as mining reads them."""

from __future__ import annotations

from pieria.importers.conversations import conversations

IMPORTER = conversations(
    "gemini", "Gemini", "MyActivity.json of a Google export, or the folder of sessions of Gemini CLI"
)
