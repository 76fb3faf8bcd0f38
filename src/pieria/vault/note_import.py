"""Handwritten notes on their way into a bank: parses any note.

Problems are reported, and the readable part is imported all the same.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pieria.errors import InputError
from pieria.record.check import LABELS_LIMIT, NAME_LIMIT, TEXT_LIMIT
from pieria.record.draft import NewMemory
from pieria.record.ids import derived_id
from pieria.record.time import instant
from pieria.vault import front, markdown

WING, GENERAL = "vault", "general"
"""The place of notes: a room for each folder at the top of the vault."""
NOT_TEXT, EMPTY = "it is not text", "empty"
_DATES = ("date", "created", "created_at", "date created", "creation date")
_OWN = ("title", "tags", "tag", *_DATES)
_PART = TEXT_LIMIT - 4_096
_CONTROLS = frozenset(map(chr, [*range(9), 11, *range(14, 32), 127]))
_FEW = 0.02


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of parsing a note: memories, several if it is too long for one; and its links."""

    items: tuple[NewMemory, ...] = ()
    links: tuple[str, ...] = ()
    problem: str | None = None


def decoded(written: bytes) -> tuple[str | None, str | None]:
    """Return the text with plain line feeds, and any problem. The text is None if the file is no text."""
    coding = "utf-16" if written.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    problem = None
    if coding == "utf-8-sig" and b"\0" in written:
        return None, NOT_TEXT
    try:
        text = written.decode(coding)
    except UnicodeDecodeError:
        text = written.decode("cp1252", "replace")
        problem = "it is not UTF-8; it was read as Windows-1252"
        if sum(char in _CONTROLS for char in text[:8_192]) > _FEW * min(len(text), 8_192):
            return None, NOT_TEXT
    if "\0" in text:
        return None, NOT_TEXT
    return text.replace("\r\n", "\n").replace("\r", "\n"), problem


def taken(path: str, text: str, digest: str, changed: float, mark: str, ids: Sequence[str] = ()) -> Taken:
    """Parse a note. `digest` is of the file's bytes and goes into `meta` under `mark`. `changed` is the file's time of
    change. `ids` are the ids of memories it already has.
    """
    parts = front.split(text)
    values, problem = _values(parts)
    body = parts.body if problem is None or parts.front is None else text
    body = body.strip("\n").rstrip()
    if not body.strip():
        body = (parts.front or "").strip()
    if not body.strip():
        return Taken(problem=problem)
    title = _one_line(values.get("title")) or PurePosixPath(path).stem
    named, odd = _labels([*front.tags(values), *markdown.hashtags(body)])
    rest = {name: value for name, value in values.items() if value not in (None, "", []) and name.lower() not in _OWN}
    folders = PurePosixPath(path).parts
    pieces = list(_pieces(body))
    items = tuple(
        NewMemory(
            text=piece,
            id=ids[number - 1] if number <= len(ids) else note_id(ids[0] if ids else path, number),
            kind="drawer",
            title=title if len(pieces) == 1 else f"{title} ({number} of {len(pieces)})",
            body={"front_matter": rest} if rest and number == 1 else {},
            tags=named,
            files=[path],
            source=path,
            author_type="system",
            place=f"{WING}/{_room(folders[0]) if len(folders) > 1 else GENERAL}",
            at=_written_at(values, changed),
            meta={mark: digest},
        )
        for number, piece in enumerate(pieces, 1)
    )
    told = problem or (
        f"{odd} of its tags cannot be kept: they are too long, too many or hold odd characters" if odd else None
    )
    return Taken(items, markdown.links(body), told)


def note_id(path: str, part: object = 1) -> str:
    """Return the id of a note's memory, derived from the path where the note was first seen."""
    return derived_id("note_", path, *([str(part)] if part != 1 else []))


def _values(parts: front.Split) -> tuple[dict[str, front.Value], str | None]:
    if parts.front is None:
        return {}, parts.problem
    try:
        return front.read(parts.front), None
    except front.BadFrontError as problem:
        return {}, str(problem)


def _labels(tags: list[str]) -> tuple[tuple[str, ...], int]:
    """Return the tags that a bank can store, each once, and the number of others."""
    kept: dict[str, str] = {}
    odd = 0
    for tag in tags:
        spelt = " ".join(tag.split())
        if not spelt or len(spelt) > NAME_LIMIT or len(kept) == LABELS_LIMIT or _is_odd(spelt):
            odd += bool(spelt)
        else:
            kept.setdefault(spelt.casefold(), spelt)
    return tuple(kept.values()), odd


def _is_odd(spelt: str) -> bool:
    return any(unicodedata.category(char) in ("Cc", "Cs") for char in spelt)


def _one_line(value: Any) -> str:
    return " ".join(value.split())[:NAME_LIMIT] if isinstance(value, str) else ""


def _room(folder: str) -> str:
    return " ".join(folder.split())[:100] or GENERAL


def _written_at(values: Mapping[str, front.Value], changed: float) -> Any:
    for name in _DATES:
        value = values.get(name)
        if isinstance(value, str):
            try:
                return instant(value, name)
            except InputError:
                continue
    return changed


def _pieces(text: str) -> Iterator[str]:
    """Yield the text in pieces small enough for a memory, cut at paragraphs, lines or words if possible."""
    while len(text.encode()) > _PART:
        most = len(text.encode()[:_PART].decode("utf-8", "ignore"))
        cut = next((at for ends in ("\n\n", "\n", " ") if (at := text.rfind(ends, most // 2, most)) > 0), most)
        if text[:cut].strip():
            yield text[:cut]
        text = text[cut:].lstrip("\n ")
    if text.strip():
        yield text
