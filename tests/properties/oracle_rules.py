"""The rules by which the oracle decides: who sees what, what a question asks for, what is kept of a text.

Functions of plain values alone; what a bank holds is the business of the oracle.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from pieria.errors import InputError

TRUST = {"person": 0.9, "agent": 0.6, "hearsay": 0.5, "outside": 0.2}
WORDING = ("text", "title", "body", "context")
TIMES = ("at", "valid_from", "valid_until")
CONTENT = ("title", "text", "body", "tags", "entities", "files", "context", "meta")
ROUTING = ("tag", "intent", "subgoal", "source")
SAME_NAME = ("author", "author_type", "session", "channel", "scope", "source", "pinned")
DIRECTIONLESS = ("sibling", "tunnel")

PRIVATE = "<private>hush</private>"
SECRET = "AKIAIOSFODNN7EXAMPLE"
CUT, FOUND, REDACTED = "private:cut", "secret:aws_access_key", "[secret: aws_access_key]"


@dataclass(frozen=True)
class Reader:
    """Who reads and writes: the session, channel and author a handle was opened for, and what it does with secrets."""

    session: str | None = None
    channel: str | None = None
    author: str | None = None
    author_type: str | None = None
    redacts: bool = False
    via: str = "agent"

    def signed(self, given: dict[str, Any]) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("session", "channel", "author", "author_type")}
        return {name: value for name, value in own.items() if value is not None} | given

    def screened(self, text: str) -> tuple[str, list[str]]:
        """What is kept of a text, and what was noticed in it. Private words stand before other words in our texts."""
        kept, flags = text.replace(f"{PRIVATE} ", ""), []
        if kept != text:
            flags.append(CUT)
        if SECRET in kept:
            flags.append(FOUND)
        return kept.replace(SECRET, REDACTED) if self.redacts else kept, flags

    def kept(self, text: str | None) -> str | None:
        return None if text is None else self.screened(text)[0]

    def screened_content(self, values: dict[str, Any]) -> dict[str, Any]:
        """The content as it is kept, with its flags: a label that is private as a whole is left out."""
        kept, flags = dict(values), []
        for name in ("text", "title", "context"):
            if values[name] is not None:
                kept[name], noticed = self.screened(values[name])
                flags += noticed
        kept["tags"] = [tag for tag in values["tags"] if tag != PRIVATE]
        if kept["tags"] != values["tags"]:
            flags.append(CUT)
        return {**kept, "flags": list(dict.fromkeys(flags))}


def may_see(reader: Reader, values: dict[str, Any]) -> bool:
    if values["scope"] != "session":
        return True
    own = values["session"] is not None and values["session"] == reader.session
    shared = values["channel"] is not None and values["channel"] == reader.channel
    return own or shared


def wanted(values: dict[str, Any], now: int, asked: dict[str, Any]) -> bool:
    """Whether a plain question, or one with these conditions, is answered with this memory."""
    include = asked.get("include", ())
    statuses = asked.get("status") or ("active", "promoted", *(["archived"] if "archived" in include else ()))
    labels: dict[str, Callable[[str], str]] = {"tags": str.casefold, "entities": str.casefold, "files": str}
    return (
        (values["ended"] == "" or values["ended"] in include)
        and values["status"] in statuses
        and (holds(values, asked.get("valid_at", now)) or "invalid" in include)
        and all(values[name] == asked[name] for name in SAME_NAME if name in asked)
        and ("kinds" not in asked or values["kind"] == asked["kinds"])
        and ("types" not in asked or values["type"] == asked["types"])
        and ("place" not in asked or asked["place"] in _places(values["place"]))
        and ("since" not in asked or values["at"] >= asked["since"])
        and ("until" not in asked or values["at"] < asked["until"])
        and ("meta" not in asked or asked["meta"].items() <= values["meta"].items())
        and all(
            fold(asked[name]) in [fold(label) for label in values[name]]
            for name, fold in labels.items()
            if name in asked
        )
    )


def _places(place: str) -> tuple[str, ...]:
    wing, _, room = place.partition("/")
    return place, wing, f"*/{room}"


def holds(values: dict[str, Any], at: int) -> bool:
    begin, end = values["valid_from"], values["valid_until"]
    return (begin is None or begin <= at) and (end is None or at < end)


def holds_ever(values: dict[str, Any]) -> bool:
    return None in (values["valid_from"], values["valid_until"]) or values["valid_from"] < values["valid_until"]


def says(values: dict[str, Any], word: str) -> bool:
    """Whether a text, title, label or body holds the word; the words of the tests have no other forms."""
    body = values["body"] or {}
    spoken = [values["text"], values["title"] or "", *values["tags"], *values["entities"], *values["files"]]
    spoken += [item for item in body.values() if isinstance(item, str)]
    return any(word in part.casefold().replace(".", " ").replace("/", " ").split() for part in spoken)


def said_by(held: dict[str, Any], author: str | None, author_type: str | None) -> dict[str, Any]:
    """Who says what takes the place of this. Nobody is lent what was known of another's name or type."""
    if author_type is not None:
        name = author or (held["author"] if held["author_type"] in (None, author_type) else None)
        return {"author": name, "author_type": author_type}
    if author is None or author == held["author"]:
        return {name: held[name] for name in ("author", "author_type")}
    return {"author": author, "author_type": None}


def lowered(held: dict[str, Any], via: str) -> dict[str, Any]:
    """The values, believed no more than what comes in that way."""
    return held if held["trust"] <= TRUST[via] else {**held, "via": via, "trust": TRUST[via]}


def lays_down(held: dict[str, Any]) -> bool:
    """Whether a person said a rule there. Tests put rules as "Always ask the heron …" and "I prefer heron."."""
    return held["via"] == "person" and str(held["text"]).startswith(("Always ask ", "I prefer "))


def lasts_longer(held: dict[str, Any], changed: dict[str, Any]) -> bool:
    """Whether the changed values are told where the held ones are not."""
    if changed["ended"] or changed["status"] == "archived":
        return False
    ends_later = (changed["valid_until"] or inf) > (held["valid_until"] or inf)
    begins_sooner = (changed["valid_from"] or 0) < (held["valid_from"] or 0)
    return bool(held["ended"]) or held["status"] == "archived" or ends_later or begins_sooner


def told_again(held: dict[str, Any], changed: dict[str, Any], reader: Reader) -> dict[str, Any]:
    """The changed values. A person's rule that an agent brings back, or lets hold for longer, becomes the agent's."""
    if reader.via == "person" or not lays_down(held) or not lasts_longer(held, changed):
        return changed
    return lowered(changed, reader.via)


def brings_back(held: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether putting the old values in place of the held ones is a person's to do."""
    if old["ended"]:
        return False
    if TRUST[old["via"]] > TRUST[held["via"]]:
        return True
    return lays_down(old) and (lasts_longer(held, old) or not lays_down(held) or held["text"] != old["text"])


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


def within(inner: dict[str, Any], outer: dict[str, Any]) -> dict[str, Any]:
    """The values of the first, held to the time that both hold."""
    begins = [values["valid_from"] for values in (inner, outer) if values["valid_from"] is not None]
    ends = [values["valid_until"] for values in (inner, outer) if values["valid_until"] is not None]
    return {**inner, "valid_from": max(begins, default=None), "valid_until": min(ends, default=None)}


def bounded(derived: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """What is drawn from a source is trusted no more, holds no longer and is seen by nobody who may not see that."""
    trust = min(derived["trust"], source["trust"])
    via = next(way for way, most in TRUST.items() if most <= trust)
    held = {**within(derived, source), "trust": trust, "via": via}
    why_not = None
    if not holds_ever(held):
        why_not = "a memory it was drawn from does not hold at the same time"
    if source["scope"] == "session":
        names = ("session", "channel")
        if derived["scope"] == "session":
            held |= {name: derived[name] if derived[name] == source[name] else None for name in names}
        else:
            held |= {"scope": "session"} | {name: source[name] for name in names}
        if held["session"] is None and held["channel"] is None:
            why_not = why_not or "nobody may see both it and a memory it was drawn from"
    if why_not:
        return {**derived, "ended": "removed", "reason": why_not, "trust": held["trust"], "via": held["via"]}
    return held
