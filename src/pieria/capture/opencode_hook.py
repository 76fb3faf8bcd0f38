"""The payloads of our OpenCode plugin, read as events. The hook file loads this for that host only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ENDS = {"session.created": "start", "session.compacted": "compact", "session.deleted": "end"}


def event_of(
    payload: dict[str, Any], put_out: Callable[[Any], str], failed: Callable[[Any], bool | None]
) -> tuple[dict[str, Any] | None, Any]:
    """Return the event, None for another one, and the answer of a tool. `put_out` returns the text of an answer."""
    given, out = payload.get("input") or {}, payload.get("output") or {}
    event: dict[str, Any] = {"session": given.get("sessionID"), "folder": payload.get("directory")}
    hook = payload["hook"]
    if hook == "tool.execute.after":
        metadata = out.get("metadata") if isinstance(out.get("metadata"), dict) else {}
        event |= {"what": "tool", "own": given.get("callID"), "tool": given["tool"], "input": given.get("args") or {}}
        return event | {"text": put_out(out.get("output")), "failed": failed(metadata)}, metadata
    if hook == "chat.message":
        parts = out.get("parts") or ()
        said = [part["text"] for part in parts if part.get("type") == "text" and not part.get("synthetic")]
        event |= {"what": "prompt", "own": given.get("messageID") or (out.get("message") or {}).get("id")}
        return event | {"text": "\n".join(said)}, None
    if hook == "reply":
        return event | {"what": "reply", "own": given.get("messageID"), "text": out.get("text") or ""}, None
    return (event | {"what": _ENDS[hook], "text": hook} if hook in _ENDS else None), None
