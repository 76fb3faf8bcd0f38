"""The tools for hooks (their settings and last save) and `reconnect`."""

from __future__ import annotations

from typing import Any

from pieria.toolsets.host import Call


def hook_settings(call: Call, silent_save: bool | None = None, desktop_toast: bool | None = None) -> dict[str, Any]:
    hooks = call.bank.hooks
    given = {"silent_save": silent_save, "desktop_toast": desktop_toast}
    wanted = {name: value for name, value in given.items() if value is not None}
    before = hooks.settings().as_dict()
    held = (hooks.set(**wanted) if wanted else hooks.settings()).as_dict()
    changed = [f"{name}: {str(before[name]).lower()} → {str(value).lower()}" for name, value in held.items()
               if value != before[name]]  # fmt: skip
    return {**held, "settings": held, **({"updated": changed} if wanted else {})}


def memories_filed_away(call: Call) -> dict[str, Any]:
    last = call.bank.hooks.last()
    if last is None:
        message = "No hook has saved this palace yet."
        return {
            "filed": False,
            "message_count": 0,
            "timestamp": None,
            "status": "quiet",
            "message": message,
            "count": 0,
        }
    return {
        "filed": True,
        "message_count": last.messages,
        "timestamp": last.at,
        "status": "ok",
        "message": f"{last.messages:,} messages were saved at {last.at}.",
        "count": last.messages,
    }


def reconnect(call: Call) -> dict[str, Any]:
    """Report the palace's state. There is no connection to renew: every call reads committed data."""
    bank = call.bank
    embedding = bank.recall("").plan["embedding"]
    # An empty palace has no vectors yet; that is no fault.
    by_meaning = embedding["usable"] or ("model" in embedding and "note" not in embedding)
    told: dict[str, Any] = {
        "message": "Every call reads the current palace, so there was nothing to reconnect.",
        "drawers": sum(bank.places.counts().values()),
        "vector_disabled": not by_meaning,
        "pending": embedding.get("pending", 0),
    }
    if not by_meaning:
        told["vector_disabled_reason"] = str(embedding["note"])
    return told
