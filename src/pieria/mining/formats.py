"""What a caller may choose from, and what holds otherwise: kept apart, so that to offer it loads no reader."""

from __future__ import annotations

FORMATS = ("claude-code", "codex", "opencode", "claude", "chatgpt", "slack", "text")

PROJECT, SAID = "project", "said"
"""What the marks of files and of conversations begin with."""
LARGEST = 1 << 20
"""Bytes of a file that somebody may be supposed to have written."""
