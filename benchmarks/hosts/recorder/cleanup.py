"""Replace what depends on the machine and the run in recorded payloads: paths, ids, ports. Leave out what hooks ignore.

The same id gets the same name everywhere, so that a fixture changes only if the host does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PROJECT, HOME = "/home/dev/shop", "/home/dev"
IGNORED = frozenset(
    [
        *("transcript_path", "agent_transcript_path", "permission_suggestions", "effort", "model"),
        *("background_tasks", "session_crons", "duration_ms", "resolvedModel", "totalDurationMs", "totalTokens"),
        *("usage", "toolStats", "totalToolUseCount", "time", "userModified"),
    ]
)
"""Keys that depend on the run, or that no hook reads."""
_ID = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:ses|msg|prt|que)_[0-9A-Za-z]{12,}\b"
    r"|\ba[0-9a-f]{16}\b"
)
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d{2,5}")
_OUTPUT = re.compile(r'[^\s"<>]+/tasks/')
_PLAN = re.compile(r"(?<=/plans/)[\w-]+(?=\.md)")


def clean_lines(lines: Iterable[str], project: Path, home: Path) -> Iterator[str]:
    """Yield the recorded payloads, each as a line of JSON."""
    names: dict[str, str] = {}

    def name_of(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"id-{len(names) + 1}")

    for line in lines:
        text = json.dumps(_without(json.loads(line)), ensure_ascii=False)
        for here, there in ((project, PROJECT), (home, HOME)):
            # Some paths lack their first slash.
            text = text.replace(str(here).lstrip("/"), there.lstrip("/"))
        text = _OUTPUT.sub("tasks/", text)
        yield _PLAN.sub("plan", _PORT.sub("8000", _ID.sub(name_of, text)))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items() if key not in IGNORED}
    if isinstance(value, str):
        return re.sub(r"<usage>.*?</usage>\n?", "", value, flags=re.DOTALL)
    return [_without(item) for item in value] if isinstance(value, list) else value
