"""The reminder to save, for banks that want it. The hook file loads this only if there is such a bank."""

from __future__ import annotations

import os
from json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ASKED = "asked"
EVERY = 15
"""Prompts between two reminders to save, if the bank wants them."""
ASK = (
    "Pieria: {count} prompts came since the last reminder. Write into your memory what of them, and of what you "
    "did, is worth keeping (decisions, what was learnt, what is still open), by the tools you have for it; then stop."
)


def remind(spool: str, wanted: str, payload: dict[str, Any], event: dict[str, Any]) -> None:
    """Count a prompt, or remind the agent after enough of them. `wanted` lists the folders of the banks, as JSON."""
    if event["folder"] not in loads(wanted):
        return
    counted = os.path.join(spool, ASKED, "".join(c for c in str(event["session"]) if c.isalnum() or c == "-")[:80])
    os.makedirs(os.path.dirname(counted), 0o700, exist_ok=True)
    prompts = os.open(counted, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if event["what"] == "prompt":
            os.write(prompts, b".")
        elif not payload.get("stop_hook_active") and (count := os.fstat(prompts).st_size) >= EVERY:
            os.ftruncate(prompts, 0)
            os.write(1, dumps({"decision": "block", "reason": ASK.format(count=count)}).encode())
    finally:
        os.close(prompts)
