"""Find conversations below a path and detect the format of each file by its content.

An unchanged known file is not opened. A file of unknown format is reported with its first record.
"""

from __future__ import annotations

import fnmatch
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pieria.mining.conversations import claude_code, codex, continue_dev, exports, gemini, opencode, slack, transcript
from pieria.mining.conversations.records import Record, json_elements, json_lines
from pieria.mining.files import digest_of
from pieria.mining.said import Found, Heard, Left, Said, Source, Unseen, Wrong, unheard, wrong

EMPTY = "empty files"
OTHERS = "files of other kinds"
BESIDE = "files beside conversations that contain none"
LINKS, OURS = "links", "Pieria's own data"
UNSPOKEN = "texts without speakers"
LOOKED_AT = 50
"""Lines read to detect a file's format."""
_LINES, _ELEMENTS, _PLAIN = (".jsonl", ".ndjson"), (".json",), (".txt", ".md", ".markdown", ".log", ".text")
_DATABASES = (".db", ".sqlite", ".sqlite3")
_BESIDE = frozenset(
    {
        "sessions-index.json", "history.jsonl", "settings.json", "settings.local.json", "users.json", "user.json",
        "projects.json", "memories.json", "message_feedback.json", "shared_conversations.json", "group_chats.json",
        "model_comparisons.json", "user_settings.json", "export_manifest.json", "integration_logs.json",
        "canvases.json", "channels.json", "groups.json", "dms.json", "mpims.json", "auth.json", "config.json",
        continue_dev.LIST,
    }
)  # fmt: skip
_ASIDE = frozenset(
    {".git", "node_modules", "tool-results", "todos", "shell-snapshots", "statsig", "plugins", "file-history", "log"}
)


class Format(NamedTuple):
    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Heard], Iterator[Said]]
    listed: bool = False


FILES = {
    one.name: one
    for one in (
        Format(claude_code.NAME, _LINES, claude_code.read),
        Format(codex.NAME, _LINES, codex.read),
        Format(opencode.NAME, _ELEMENTS, opencode.read),
        Format(gemini.NAME, (*_LINES, *_ELEMENTS), gemini.read),
        Format(continue_dev.NAME, _ELEMENTS, continue_dev.read),
        Format(exports.CLAUDE, _ELEMENTS, exports.read_claude),
        Format(exports.CHATGPT, _ELEMENTS, exports.read_chatgpt),
        Format(transcript.NAME, _PLAIN, transcript.read, listed=True),
    )
}
"""Formats that consist of single files; Slack and OpenCode's storage are folders."""
AtHand = Callable[[str, int, int], str | None]
"""Returns the format of a source known by this name, size and time, or None."""


def find(path: Path, format: str | None, at_hand: AtHand, data: Path | None = None) -> Iterator[Found]:
    """Yield every conversation at a file or folder, of one format or any. The folder `data` holds banks and is
    skipped.
    """
    if path.is_file():
        yield from _file(path, format, at_hand, named=True)
    else:
        yield from _folder(path, format, at_hand, data)


def is_conversation(path: Path) -> bool:
    """Return whether a file is a log or an export of conversations. Plain texts are not: they may be minutes."""
    suffix = path.suffix.lower()
    if suffix in _LINES:
        return isinstance(_of_lines(path), str)
    return suffix in _ELEMENTS and isinstance(_of_elements(path), str)


def _folder(path: Path, format: str | None, at_hand: AtHand, data: Path | None) -> Iterator[Found]:
    try:
        export = slack.folder(path) if format in (None, slack.NAME) else None
        storage = opencode.storage(path) if format in (None, opencode.NAME) else None
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as problem:
        yield Unseen(str(path), f"cannot be looked into ({problem.strerror})")
        return
    if export is not None:
        yield from slack.days(export)
        return
    if storage is not None:
        # Newer versions keep a database beside the old files. Records in both give the same memories.
        yield from opencode.stored(storage)
        for database in fnmatch.filter((entry.name for entry in entries), "opencode*.db"):
            yield from _file(path / database, format, at_hand)
        return
    for entry in entries:
        if entry.is_symlink():
            yield Left(LINKS)
        elif entry.is_dir():
            if Path(entry.path) == data:
                yield Left(OURS)
            elif entry.name not in _ASIDE:
                yield from _folder(Path(entry.path), format, at_hand, data)
        elif entry.is_file():
            yield from _file(Path(entry.path), format, at_hand)


def _file(path: Path, format: str | None, at_hand: AtHand, *, named: bool = False) -> Iterator[Found]:
    try:
        about = path.stat()
        known = at_hand(str(path), about.st_size, about.st_mtime_ns) or _format(path, format, named)
        if isinstance(known, str) and known == opencode.NAME and path.suffix in _DATABASES:
            yield from opencode.kept(path)
            return
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, sqlite3.Error) as problem:
        yield Unseen(str(path), f"cannot be read ({_why(problem)})")
        return
    if not isinstance(known, str):
        yield known
    elif format in (None, known):
        one = FILES[known]
        yield Source(
            name=str(path),
            format=known,
            size=about.st_size,
            changed=about.st_mtime_ns,
            read=partial(one.read, path),
            digest=partial(digest_of, path),
            listed=one.listed,
        )
    else:
        yield Left(OTHERS)


def _format(path: Path, format: str | None, named: bool) -> str | Wrong | Left:
    """Return a file's format, a reason to leave it out, or what is wrong with it."""
    suffix = path.suffix.lower()
    if path.name in _BESIDE and not named:
        return Left(BESIDE)
    if suffix in _DATABASES and (named or path.stem.startswith("opencode")):
        return opencode.NAME if opencode.is_database(path) else Left(OTHERS)
    if format is not None and format in FILES:
        return format if named or suffix in FILES[format].suffixes else Left(OTHERS)
    if not named and suffix not in (*_LINES, *_ELEMENTS, *_PLAIN):
        return Left(OTHERS)
    if not path.stat().st_size:
        return Left(EMPTY)
    if suffix in _LINES:
        return _of_lines(path)
    if suffix in _ELEMENTS or (suffix not in _PLAIN and _begins_like_json(path)):
        return _of_elements(path)
    if transcript.matches(path):
        return transcript.NAME
    return _wrong(path, 1, "speakers, by name or marked with >") if named else Left(UNSPOKEN)


def _of_lines(path: Path) -> str | Wrong | Left:
    told = list(islice(json_lines(path, unheard), LOOKED_AT))
    heads: list[dict[str, Any]] = [one.value for one in told if isinstance(one, Record) and isinstance(one.value, dict)]
    if gemini.matches(heads):
        return gemini.NAME
    if claude_code.matches(heads):
        return claude_code.NAME
    return codex.NAME if codex.matches(heads) else _unknown(path, told)


def _of_elements(path: Path) -> str | Wrong | Left:
    told = list(islice(json_elements(path, unheard), 1))
    head = told[0].value if told and isinstance(told[0], Record) else None
    if isinstance(head, dict):
        known = {
            exports.CHATGPT: exports.is_chatgpt,
            exports.CLAUDE: exports.is_claude,
            opencode.NAME: opencode.matches,
            continue_dev.NAME: continue_dev.matches,
            gemini.NAME: gemini.is_known,
        }
        for name, matches in known.items():
            if matches(head):
                return name
    return _unknown(path, told)


def _unknown(path: Path, told: list[Any]) -> Wrong | Left:
    if not told:
        return Left(EMPTY)
    first = told[0]
    if isinstance(first, Wrong):
        return replace(first, source=str(path))
    if isinstance(first, Left):
        return first
    return _wrong(path, first.number, "a conversation of a known format", first.value)


def _wrong(path: Path, record: int, expected: str, value: Any = None) -> Wrong:
    return replace(wrong(record, expected, value), source=str(path))


def _begins_like_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(LOOKED_AT).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{")


def _why(problem: Exception) -> str:
    if isinstance(problem, UnicodeDecodeError):
        return f"byte {problem.start:,} is not UTF-8"
    return str(getattr(problem, "strerror", None) or problem)
