"""Slack: the folder of an export, with `users.json` and a folder for each channel with one file a day.

Each thread is a session, and so is a channel's day without its threads. Ids of people and channels become names.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pieria.mining.conversations.records import Record, json_elements
from pieria.mining.files import named_in
from pieria.mining.said import (
    HUMAN,
    SYSTEM,
    Found,
    Heard,
    Left,
    Said,
    Source,
    Turn,
    Unseen,
    Wrong,
    clean,
    unheard,
    wrong,
)

NAME = "slack"
LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
NOTICES = "notices such as who joined"
_TALK = (None, "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment", "reply_broadcast")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_MARKED = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_SIGNS = {"@": "@", "#": "#", "!": "@", "": ""}


def folder(path: Path) -> Path | None:
    """Return the folder if it is an export, else None."""
    is_export = (path / "users.json").is_file() and any((path / name).is_file() for name in LISTS)
    return path if is_export else None


def days(path: Path) -> Iterator[Found]:
    """Yield a source for each day of each channel."""
    names = _Names(path)
    yield from names.problems
    for channel in sorted(each for each in named_in(path, "") if each.is_dir()):
        try:
            written = named_in(channel, ".json")
        except OSError as problem:
            yield Unseen(str(channel), f"cannot be looked into ({problem.strerror})")
            continue
        yield from (found for day in written if _DAY.match(day.stem) and (found := _found(day, channel.name, names)))


def _found(day: Path, channel: str, names: _Names) -> Found | None:
    """Return the source of a day, or None if the file is gone."""
    try:
        about = day.stat()
    except FileNotFoundError:
        return None
    except OSError as problem:
        return Unseen(str(day), f"cannot be looked at ({problem.strerror})")
    return Source(str(day), NAME, about.st_size, about.st_mtime_ns, partial(_day, day, channel, names))


class _Names:
    """Names of people and channels from an export's lists."""

    def __init__(self, path: Path) -> None:
        self.problems: list[Wrong] = []
        self.of: dict[str, str] = {}
        for name in ("users.json", *LISTS):
            if (path / name).is_file():
                self._take(path / name)

    def _take(self, path: Path) -> None:
        for record in json_elements(path, unheard):
            told = record.value if isinstance(record, Record) else None
            if isinstance(record, Wrong):
                self.problems.append(replace(record, source=str(path)))
            elif isinstance(told, dict) and isinstance(told.get("id"), str):
                self.of[told["id"]] = _named(told) or told["id"]


def _named(told: Mapping[str, Any]) -> str | None:
    about = told.get("profile")
    profile: Mapping[str, Any] = about if isinstance(about, dict) else {}
    names = (profile.get("display_name"), profile.get("real_name"), told.get("real_name"), told.get("name"))
    return next((name.strip() for name in names if isinstance(name, str) and name.strip()), None)


def _day(path: Path, channel: str, names: _Names, heard: Heard) -> Iterator[Said]:
    sequence = 0
    for record in json_elements(path, heard):
        said = _message(record, path.stem, channel, names) if isinstance(record, Record) else record
        if isinstance(said, Turn):
            sequence += 1
            said = said._replace(sequence=sequence)
        if said is not None:
            yield said


def _message(record: Record, day: str, channel: str, names: _Names) -> Said | None:
    told = record.value
    if not isinstance(told, dict) or told.get("type") != "message" or not _is_time(told.get("ts")):
        return wrong(record.number, "a message with a ts", told)
    if told.get("subtype") not in _TALK:
        return Left(NOTICES)
    text = clean(_text(told, names))
    if not text:
        return None
    is_bot = told.get("subtype") == "bot_message" or (told.get("bot_id") and not told.get("user"))
    thread = told.get("thread_ts")
    return Turn(
        unit=f"{channel}:{told['ts']}",
        session=f"{channel}:{thread if isinstance(thread, str) else day}",
        sequence=0,
        author=_author(told, names),
        author_type=SYSTEM if is_bot else HUMAN,
        text=text,
        at=float(told["ts"]),
        title=f"#{channel}",
        channel=channel,
    )


def _is_time(ts: object) -> bool:
    return isinstance(ts, str) and re.fullmatch(r"\d{1,11}(?:\.\d{1,9})?", ts) is not None


def _author(told: Mapping[str, Any], names: _Names) -> str:
    about = told.get("user_profile")
    user = told.get("user")
    known = names.of.get(user) if isinstance(user, str) else None
    named = known or (_named({"profile": about}) if isinstance(about, dict) else None)
    others = (told.get("username"), user, told.get("bot_id"))
    return named or next((other for other in others if isinstance(other, str) and other.strip()), "somebody")


def _text(told: Mapping[str, Any], names: _Names) -> str:
    """Return the message's text, or else texts of attachments and titles of files."""
    if isinstance(told.get("text"), str) and told["text"].strip():
        return _spelt(told["text"], names)
    found = []
    for name, keys in (("attachments", ("text", "fallback")), ("files", ("title", "name"))):
        several = told.get(name)
        for one in several if isinstance(several, list) else ():
            said = [one[key] for key in keys if isinstance(one, dict) and isinstance(one.get(key), str) and one[key]]
            found += [_spelt(said[0], names)] if said else []
    return "\n".join(found)


def _spelt(text: str, names: _Names) -> str:
    """Replace ids by names, and put addresses behind their link text."""

    def one(found: re.Match[str]) -> str:
        sign, target, label = found[1], found[2], found[3]
        if sign:
            return _SIGNS[sign] + (label or names.of.get(target) or target.partition("^")[0])
        return f"{label} ({target})" if label and label != target else target

    return html.unescape(_MARKED.sub(one, text))
