"""The choices and defaults of callers, in a module of their own so that listing them imports no reader."""

from __future__ import annotations

FORMATS = ("claude-code", "codex", "opencode", "claude", "chatgpt", "slack", "text")

PROJECT, SAID = "project", "said"
"""Prefixes of the marks of files and of conversations."""
LARGEST = 1 << 20
"""Largest file, in bytes, that a person may have written."""
