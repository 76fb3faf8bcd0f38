"""OpenCode: its folder of JSON files (`storage/`), its database (`opencode.db`), or what `opencode export` wrote.

All three hold the same: sessions of messages, messages of parts. A part of the type `text` is what was said, unless it
is `synthetic`; the files of tool calls go with the reply that they are parts of.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pieria.mining.conversations.records import Record, json_elements
from pieria.mining.files import named_in
from pieria.mining.said import (
    BY_SUB_AGENTS,
    SPEAKERS,
    Found,
    Heard,
    Left,
    Said,
    Source,
    Turn,
    Unseen,
    Wrong,
    clean,
    titled,
    unheard,
    wrong,
)
from pieria.record.json_text import parsed

NAME = "opencode"
DATABASE = b"SQLite format 3\0"
_FILE = ".json"
_FILES = ("filePath", "path")
_TABLES = ("session", "message", "part")
_MILLISECOND = 1_000_000
_SESSIONS = "SELECT * FROM session ORDER BY id"
_MESSAGES = "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id"
_LAST_MESSAGE = "SELECT * FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"
_PARTS = "SELECT * FROM part WHERE message_id = ? ORDER BY id"


def matches(head: Mapping[str, Any]) -> bool:
    return isinstance(head.get("info"), dict) and "messages" in head


def read(path: Path, heard: Heard) -> Iterator[Said]:
    """Read a session that `opencode export` wrote."""
    for record in json_elements(path, heard):
        if not isinstance(record, Record):
            yield record
            continue
        told = record.value
        info = told.get("info") if isinstance(told, dict) else None
        messages = told.get("messages") if isinstance(told, dict) else None
        if not isinstance(info, dict) or not isinstance(info.get("id"), str) or not isinstance(messages, list):
            yield wrong(record.number, "an object with the info of a session and its messages", told)
            continue
        yield from _session(info, ((record.number, one, one.get("parts")) if isinstance(one, dict) else
                                   (record.number, None, None) for one in messages))  # fmt: skip


def storage(path: Path) -> Path | None:
    """Return the storage folder of OpenCode at a path, or None."""
    for folder in (path, path / "storage"):
        if (folder / "session").is_dir() and (folder / "message").is_dir():
            return folder
    return None


def stored(folder: Path) -> Iterator[Found]:
    """Yield a source for each session of the folder. Files may come and go while OpenCode runs."""
    closed: list[OSError] = []
    sessions = sorted(_below(folder / "session", closed))
    for problem in closed:
        if not isinstance(problem, FileNotFoundError):
            yield Unseen(str(problem.filename), f"cannot be looked into ({problem.strerror})")
    for path in sessions:
        try:
            about = path.stat()
            changed = max(about.st_mtime_ns, _messages_changed(folder / "message" / path.stem))
        except FileNotFoundError:
            continue
        except OSError as problem:
            yield Unseen(str(path), f"cannot be looked at ({problem.strerror})")
            continue
        yield Source(str(path), NAME, about.st_size, changed, partial(_stored, folder, path))


def _below(folder: Path, closed: list[OSError]) -> Iterator[Path]:
    for here, _, names in os.walk(folder, onerror=closed.append):
        yield from (Path(here, name) for name in names if name.endswith(_FILE))


def _messages_changed(folder: Path) -> int:
    """Return the newest change. A new message changes the folder; a finished message changes its file."""
    changed = 0
    for path in (folder, *named_in(folder, _FILE)[-1:]):
        with suppress(FileNotFoundError):
            changed = max(changed, path.stat().st_mtime_ns)
    return changed


def _stored(folder: Path, path: Path, _: Heard) -> Iterator[Said]:
    info = _one(path)
    if isinstance(info, Wrong) or not isinstance(info.get("id"), str):
        yield info if isinstance(info, Wrong) else wrong(1, "a session with an id", info)
        return
    yield from _session(info, _stored_messages(folder, info["id"]))


def _stored_messages(folder: Path, session: str) -> Iterator[tuple[int, Any, Any]]:
    for number, (path, message) in enumerate(_still_there(named_in(folder / "message" / session, _FILE)), 1):
        if isinstance(message, Wrong):
            yield number, message, None
            continue
        parts = [part for _, part in _still_there(named_in(folder / "part" / path.stem, _FILE))]
        yield number, message, parts or message.get("parts")


def _still_there(paths: Iterable[Path]) -> Iterator[tuple[Path, dict[str, Any] | Wrong]]:
    """Yield the content of the files that still exist."""
    for path in paths:
        try:
            said = _one(path)
        except FileNotFoundError:
            continue
        yield path, said


def _one(path: Path) -> dict[str, Any] | Wrong:
    """Return the object in a small file."""
    for record in json_elements(path, unheard):
        if isinstance(record, Record) and isinstance(record.value, dict):
            return record.value
        found = wrong(1, "an object", record.value) if isinstance(record, Record) else record
        return Wrong(found.record, f"{path.name}: {found.reason}", found.excerpt)
    return Wrong(1, f"{path.name}: expected an object, got an empty file")


def is_database(path: Path) -> bool:
    """Return whether the file is a database with OpenCode's tables."""
    with path.open("rb") as file:
        if file.read(len(DATABASE)) != DATABASE:
            return False
    with closing(_opened(path)) as database:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return names.issuperset(_TABLES)


def kept(path: Path) -> Iterator[Found]:
    """Yield a source for each session of the database."""
    with closing(_opened(path)) as database:
        for row in database.execute(_SESSIONS):
            session = dict(row)
            last = database.execute(_LAST_MESSAGE, (session["id"],)).fetchone()
            times = [int(each.get("time_updated") or 0) for each in (session, dict(last or ()))]
            changed = max(times) * _MILLISECOND
            yield Source(f"{path}#{session['id']}", NAME, 0, changed, partial(_kept, path, session))


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    return database


def _kept(path: Path, session: Mapping[str, Any], _: Heard) -> Iterator[Said]:
    with closing(_opened(path)) as database:
        messages = enumerate(map(dict, database.execute(_MESSAGES, (session["id"],)).fetchall()), 1)
        info = {"parentID": session.get("parent_id"), **session}
        yield from _session(info, ((number, _data(one), _parts(database, one["id"])) for number, one in messages))


def _parts(database: sqlite3.Connection, message: str) -> list[Any]:
    return [_data(dict(part)) for part in database.execute(_PARTS, (message,))]


def _data(row: Mapping[str, Any]) -> Any:
    """Return the column `data`, combined with the columns `id` and `time_created`."""
    try:
        data = parsed(row["data"])
    except (TypeError, ValueError) as problem:
        return wrong(None, f"JSON in {row['id']} ({problem})", str(row.get("data")))
    return {"id": row["id"], "time": {"created": row.get("time_created")}, **data} if isinstance(data, dict) else data


def _session(info: Mapping[str, Any], messages: Iterable[tuple[int, Any, Any]]) -> Iterator[Said]:
    folder = info.get("directory")
    sequence = 0
    for number, message, parts in messages:
        said = _message(number, message, parts)
        if isinstance(said, Turn) and info.get("parentID"):
            yield Left(BY_SUB_AGENTS)
        elif isinstance(said, Turn):
            sequence += 1
            yield said._replace(
                session=info["id"],
                sequence=sequence,
                title=titled(info.get("title")),
                folder=folder if isinstance(folder, str) else None,
            )
        elif said is not None:
            yield said


def _message(number: int, message: Any, parts: Any) -> Said | None:
    if isinstance(message, Wrong):
        return message
    about = message.get("info", message) if isinstance(message, dict) else None
    speaker = SPEAKERS.get(str(about.get("role"))) if isinstance(about, dict) else None
    if not isinstance(about, dict) or speaker is None or not isinstance(about.get("id"), str):
        return wrong(number, "a message with an id and the role user or assistant", message)
    if not isinstance(parts, list):
        return wrong(number, "a message with a list of parts", message)
    if broken := next((part for part in parts if isinstance(part, Wrong)), None):
        return broken
    texts = [part["text"] for part in parts if _is_said(part)]
    text = clean("\n\n".join(texts))
    if not text:
        return None
    time = about.get("time")
    created = time.get("created") if isinstance(time, dict) else None
    return Turn(
        unit=about["id"],
        session="",
        sequence=0,
        author=speaker[0],
        author_type=speaker[1],
        text=text,
        at=created / 1000 if isinstance(created, int | float) else None,
        files=tuple(dict.fromkeys(_files(parts))),
    )


def _is_said(part: Any) -> bool:
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        return False
    return not part.get("synthetic") and not part.get("ignored") and bool(part["text"].strip())


def _files(parts: list[Any]) -> Iterator[str]:
    for part in parts:
        state = part.get("state") if isinstance(part, dict) and part.get("type") == "tool" else None
        given = state.get("input") if isinstance(state, dict) else None
        if isinstance(given, dict):
            yield from (given[name] for name in _FILES if isinstance(given.get(name), str))
