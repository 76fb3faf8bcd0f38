"""Ids of JSON-RPC requests: a text or a whole number. A request with another id would pass for a notification.

What a transport does with such a request is not decided here.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pieria.record.json_text import parsed

EXPECTED = "id: expected a text or a whole number"
_SUSPECT = re.compile(r'"id"\s*:\s*(?:[^"\d\s-]|-?\d+[.eE])')
"""What no id of ours looks like. Arguments may hold it as well, so that the line is read then."""


def is_misnumbered(text: str) -> bool:
    """Tell whether a message is a request whose id is neither a text nor a whole number."""
    if _SUSPECT.search(text) is None:
        return False
    try:
        message: Any = parsed(text)
    except ValueError:
        return False
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return False
    id = message["id"]
    return isinstance(id, bool) or not isinstance(id, str | int)


def refusal() -> str:
    """Return the answer to such a request. Its own id cannot be told back."""
    error = {"code": -32600, "message": f"{EXPECTED}."}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
