"""The oracle's rules: who sees what, and which memories match a filter. They are functions of plain values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pieria.errors import InputError

TIMES = ("at", "valid_from", "valid_until")
CONTENT = ("title", "text", "body", "tags", "entities", "files", "context", "meta")
ROUTING = ("tag", "intent", "subgoal", "source")
SAME_NAME = ("author", "author_type", "session", "channel", "scope", "source", "pinned")
DIRECTIONLESS = ("sibling", "tunnel")


@dataclass(frozen=True)
class Reader:
    """A caller: the session, channel and author of a handle."""

    session: str | None = None
    channel: str | None = None
    author: str | None = None
    author_type: str | None = None

    def signed(self, given: dict[str, Any]) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("session", "channel", "author", "author_type")}
        return {name: value for name, value in own.items() if value is not None} | given


def may_see(reader: Reader, values: dict[str, Any]) -> bool:
    if values["scope"] != "session":
        return True
    own = values["session"] is not None and values["session"] == reader.session
    shared = values["channel"] is not None and values["channel"] == reader.channel
    return own or shared


def wanted(values: dict[str, Any], now: int, asked: dict[str, Any]) -> bool:
    """Return whether a question with these conditions matches the memory."""
    include = asked.get("include", ())
    statuses = asked.get("status") or ("active", "promoted", *(["archived"] if "archived" in include else ()))
    labels: dict[str, Callable[[str], str]] = {"tags": str.casefold, "entities": str.casefold, "files": str}
    wing, _, room = values["place"].partition("/")
    return (
        (values["ended"] == "" or values["ended"] in include)
        and values["status"] in statuses
        and (holds(values, asked.get("valid_at", now)) or "invalid" in include)
        and all(values[name] == asked[name] for name in SAME_NAME if name in asked)
        and ("kinds" not in asked or values["kind"] == asked["kinds"])
        and ("types" not in asked or values["type"] == asked["types"])
        and ("place" not in asked or asked["place"] in (values["place"], wing, f"*/{room}"))
        and ("since" not in asked or values["at"] >= asked["since"])
        and ("until" not in asked or values["at"] < asked["until"])
        and ("meta" not in asked or asked["meta"].items() <= values["meta"].items())
        and all(
            fold(asked[name]) in [fold(label) for label in values[name]]
            for name, fold in labels.items()
            if name in asked
        )
    )


def holds(values: dict[str, Any], at: int) -> bool:
    begin, end = values["valid_from"], values["valid_until"]
    return (begin is None or begin <= at) and (end is None or at < end)


def holds_ever(values: dict[str, Any]) -> bool:
    return None in (values["valid_from"], values["valid_until"]) or values["valid_from"] < values["valid_until"]


def says(values: dict[str, Any], word: str) -> bool:
    """Return whether a text, title, label or body holds the word. The test words have no inflections."""
    body = values["body"] or {}
    spoken = [values["text"], values["title"] or "", *values["tags"], *values["entities"], *values["files"]]
    spoken += [item for item in body.values() if isinstance(item, str)]
    return any(word in part.casefold().replace(".", " ").replace("/", " ").split() for part in spoken)


def said_by(held: dict[str, Any], author: str | None, author_type: str | None) -> dict[str, Any]:
    """Return the author of the replacement. The old name or type is kept only if it is the same author."""
    if author_type is not None:
        name = author or (held["author"] if held["author_type"] in (None, author_type) else None)
        return {"author": name, "author_type": author_type}
    if author is None or author == held["author"]:
        return {name: held[name] for name in ("author", "author_type")}
    return {"author": author, "author_type": None}


def tie(source: str, target: str, relation: str, weight: float, label: str | None) -> dict[str, Any]:
    return {
        "source": source, "target": target, "relation": relation, "weight": weight, "label": label, "ended": "",
    }  # fmt: skip


def check_valid(values: dict[str, Any]) -> None:
    if not holds_ever(values):
        raise InputError("valid_until", "later", values["valid_until"])


def check_scope(values: dict[str, Any]) -> None:
    if values["scope"] == "session" and values["session"] is None and values["channel"] is None:
        raise InputError("scope", "a session or channel", "session")


def bounded(derived: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """Return the values limited to the source's validity and readers."""
    begins = [values["valid_from"] for values in (derived, source) if values["valid_from"] is not None]
    ends = [values["valid_until"] for values in (derived, source) if values["valid_until"] is not None]
    held = {**derived, "valid_from": max(begins, default=None), "valid_until": min(ends, default=None)}
    why_not = None
    if not holds_ever(held):
        why_not = "it and one of its sources are never valid at the same time"
    if source["scope"] == "session":
        names = ("session", "channel")
        if derived["scope"] == "session":
            held |= {name: derived[name] if derived[name] == source[name] else None for name in names}
        else:
            held |= {"scope": "session"} | {name: source[name] for name in names}
        if held["session"] is None and held["channel"] is None:
            why_not = why_not or "no caller may see both it and one of its sources"
    if why_not:
        return {**derived, "ended": "removed", "reason": why_not}
    return held
