"""What happened while an agent worked, in the form that spool lines, captured JSON and raw records share.

Reading a host's payload and handling an event do not belong here. The same event always has the same id, so sending
it twice is safe.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from pieria.errors import InputError
from pieria.record import check
from pieria.record.ids import derived_id
from pieria.record.memory import nothing
from pieria.record.place_name import place_name
from pieria.record.time import instant, iso

WHAT = ("start", "prompt", "reply", "tool", "compact", "checkpoint", "end")
SPOKEN = ("prompt", "reply")
"""Events with speech. Their text is kept whole, as a turn; all other texts are capped."""

OUTPUT_LIMIT, REPORT_LIMIT = 2_000, 8_000
"""Characters kept of a command's output, and of a plan or findings: head and tail. Other outputs keep less."""
ARGUMENT_LIMIT = 600
ARGUMENTS_LIMIT = 2_000
_ITEMS = 20
_DEPTH = 4
_HEAD = 0.4
_GAP = "\n[… {} characters left out …]\n"
GAP = re.compile(r"\[… [\d,]+ characters left out …\]")
"""The line that stands for what was cut."""
_FILES = 100
_PATH_LIMIT = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """Something that happened while an agent worked."""

    id: str
    """Built by `event_id` from the host, the session and the host's own id, or from the other fields."""
    what: str
    """One of `WHAT`."""
    at: datetime
    host: str
    """claude-code, codex, opencode, hermes, or a name given on capture."""
    session: str
    """The host's session id."""
    folder: str | None = None
    """Where the agent worked."""
    project: str | None = None
    """The name of the project, under which its turns are kept; by default the last part of the folder."""
    text: str = ""
    """What was said, a tool's output, or the reason for the end."""
    tool: str | None = None
    input: Mapping[str, Any] = field(default_factory=nothing)
    """A tool's arguments."""
    files: tuple[str, ...] = ()
    """Relative to the project's root if inside it."""
    failed: bool | None = None
    """None if unknown."""
    length: int = 0
    """Characters of the whole text if `text` is capped."""
    digest: str = ""
    """SHA-256 of the whole text in hex, if `text` is capped."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, without empty ones."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        told["at"] = iso(self.at)
        told["input"] = dict(self.input)
        told["files"] = list(self.files)
        return {name: value for name, value in told.items() if value not in (None, "", 0, {}, []) or value is False}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> AgentEvent:
        """Return a checked event, or raise `InputError`. A missing id is derived from the other fields."""
        if not isinstance(told, Mapping):
            raise InputError("event", "a mapping", told)
        unknown = sorted(str(name) for name in told if name not in _FIELDS)
        if unknown:
            raise InputError("event", "the fields " + ", ".join(_FIELDS), ", ".join(unknown))
        for name in ("what", "at", "host", "session"):
            if told.get(name) is None:
                raise InputError(name, f"the event's {name}", None)
        event = cls(
            id="",
            what=check.one_of(told["what"], "what", WHAT),
            at=instant(told["at"], "at"),
            host=check.name(told["host"], "host"),
            session=check.name(told["session"], "session"),
            folder=None if not told.get("folder") else check.text(told["folder"], "folder", _PATH_LIMIT, "shorten it"),
            project=_optional(told.get("project"), "project"),
            text=_text(told.get("text"), "text"),
            tool=_optional(told.get("tool"), "tool"),
            input=_arguments(told.get("input")),
            files=_files(told.get("files")),
            failed=None if told.get("failed") is None else check.flag(told["failed"], "failed"),
            length=check.whole(told.get("length") or 0, "length"),
            digest=_optional(told.get("digest"), "digest") or "",
        )
        given = told.get("id")
        return replace(event, id=event._own_id() if given is None else check.identifier(given, "id"))

    @property
    def place(self) -> str | None:
        """The place of its turn; None if the project is unknown."""
        wing = self.project or PurePath(self.folder or "").name
        return f"{place_name(wing)}/{place_name(self.host)}" if wing else None

    def capped(self) -> AgentEvent:
        """Return the event with capped tool output and arguments. Prompts and replies stay whole."""
        if self.what in SPOKEN:
            return self
        text, length, digest = capped(self.text, REPORT_LIMIT)
        return replace(
            self,
            text=text,
            length=self.length or length,
            digest=self.digest or digest,
            input=capped_arguments(self.input),
            files=self.files[:_FILES],
        )

    def _own_id(self) -> str:
        whole = self.digest or digest_of(self.text)
        parts = (iso(self.at), self.tool or "", repr(sorted(self.input.items())), " ".join(self.files), whole)
        return event_id(self.host, self.session, self.what, *parts)


_FIELDS = tuple(one.name for one in fields(AgentEvent))


def event_id(host: str, session: str, what: str, *own: str) -> str:
    """Return an event's id from the host's own id of it, or from a line's nonce."""
    return derived_id("event", host, session, what, *own)


def capped(text: str, limit: int = OUTPUT_LIMIT) -> tuple[str, int, str]:
    """Return head and tail of a text, and the length and digest of the whole. 0 and "" if nothing was cut."""
    if len(text) <= limit:
        return text, 0, ""
    gap = _GAP.format(f"{len(text) - limit:,}")
    room = limit - len(gap)
    head = int(room * _HEAD)
    return text[:head] + gap + text[len(text) - (room - head) :], len(text), digest_of(text)


def capped_arguments(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments with long texts capped. Arguments beyond the total limit are only counted."""
    kept: dict[str, Any] = {}
    room = ARGUMENTS_LIMIT
    for name, value in given.items():
        # Of several edits or questions, each keeps a part.
        share = 3 * len(value) if isinstance(value, list | tuple) and value else 1
        short = _shortened(value, min(ARGUMENT_LIMIT, room // share), 0)
        if isinstance(short, list):
            short = _fitting(short, room - len(name))
        size = len(name) + len(str(short))
        if size > room:
            kept["…"] = f"{len(given) - len(kept)} more"
            break
        kept[name] = short
        room -= size
    return kept


def _fitting(items: list[Any], room: int) -> list[Any]:
    """Return the first items that fit, and how many were left out."""
    kept: list[Any] = []
    for item in items:
        if len(str([*kept, item])) > room - 20:
            return [*kept, f"… {len(items) - len(kept)} more"] if kept else items
        kept.append(item)
    return kept


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _shortened(value: Any, limit: int, depth: int) -> Any:
    if isinstance(value, str):
        return capped(value, max(limit, 80))[0]
    if isinstance(value, Mapping):
        if depth >= _DEPTH:
            return f"{len(value)} entries"
        return {str(key): _shortened(item, limit, depth + 1) for key, item in list(value.items())[:_ITEMS]}
    if isinstance(value, list | tuple):
        if depth >= _DEPTH:
            return f"{len(value)} items"
        return [_shortened(item, limit, depth + 1) for item in value[:_ITEMS]]
    return value


def _optional(value: object, parameter: str) -> str | None:
    return None if value is None or value == "" else check.name(value, parameter)


def _text(value: object, parameter: str) -> str:
    """Return a text that stores accept: without NUL characters and lone surrogates."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(parameter, "a text", value)
    return storable(value)


def storable(text: str) -> str:
    """Return the text with a mark for each character that no store holds: NUL, and half of a surrogate pair."""
    return text.replace("\0", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _arguments(value: object) -> Mapping[str, Any]:
    if value is None:
        return nothing()
    if not isinstance(value, Mapping):
        raise InputError("input", "a mapping of JSON values", value)
    kept = capped_arguments({_text(name, "input"): _cleaned(item) for name, item in value.items()})
    check.mapping(kept, "input")
    return kept


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(key) if isinstance(key, str) else key: _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def _files(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError("files", "a list of paths", value)
    return tuple(dict.fromkeys(check.name(path, "files") for path in value))
