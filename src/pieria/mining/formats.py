"""The choices and defaults of callers, in a module of their own so that listing them imports no reader."""

from __future__ import annotations

FORMATS = ("claude-code", "codex", "opencode", "gemini", "continue", "claude", "chatgpt", "slack", "text")

TEXT = "text"
"""Transcripts without a host: their rooms are days."""
PROJECT, SAID = "project", "said"
"""Prefixes of the marks of files and of conversations."""
LARGEST = 1 << 20
"""Largest file, in bytes, that a person may have written."""
