"""Store an agent's experience in its bank: turns, delegated work, and the agent's own notes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pieria.errors import Invalid
from pieria.hermes.recall import without_recalled
from pieria.record.check import TEXT_LIMIT
from pieria.record.privacy import cut_private
from pieria.record.trust import AGENT, PERSON

if TYPE_CHECKING:
    from pieria import Bank, Memory

log = logging.getLogger(__name__)

SOURCE = "hermes"
NOTED = 0.7
"""Importance of the agent's own notes."""
PART = TEXT_LIMIT // 4
"""Characters of a turn in one memory; a character takes up to four bytes."""
PAGE = 500


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    author: str
    author_type: str
    at: datetime


class Keeping:
    """Pieces of turns to store. After a failure, `into` goes on with the same piece."""

    def __init__(self, session: str, pieces: Iterable[Turn], meta: Mapping[str, Any] | None = None) -> None:
        self._session = session
        self._meta = meta
        self._left = iter(pieces)
        self._next: Turn | None = None

    def into(self, bank: Bank) -> None:
        """Store the pieces. A piece that the bank refuses, such as a private one, is skipped."""
        while (piece := self._next or next(self._left, None)) is not None:
            self._next = piece
            try:
                bank.remember(
                    piece.text, kind="turn", author=piece.author, author_type=piece.author_type, session=self._session,
                    at=piece.at, source=SOURCE, meta=self._meta, via=PERSON if piece.author_type == "human" else AGENT,
                )  # fmt: skip
            except Invalid as problem:
                log.info("a turn was not kept: %s", problem)
            self._next = None


def keep_missing(bank: Bank, session: str, turns: Sequence[Turn], earlier: Iterable[str]) -> None:
    """Store the turns that occur more often than in the bank, in this session and the `earlier` ones it continues."""
    sessions = dict.fromkeys((session, *earlier))
    held = Counter(memory.text for one in sessions for memory in _listed(bank, kinds="turn", session=one))
    missing = []
    for piece in pieces(turns):
        text = cut_private(piece.text)[0]
        if held[text] > 0:
            held[text] -= 1
        else:
            missing.append(piece)
    Keeping(session, missing).into(bank)


def pieces(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Split turns into pieces that fit one memory."""
    return (replace(turn, text=part) for turn in turns for part in _parts(said(turn.text)))


def said(text: str) -> str:
    """Return what was said in a form that a bank can hold: without the host's additions and without invalid
    characters.
    """
    return without_recalled(text).replace("\0", "").encode("utf-8", "replace").decode()


def spoken(message: Mapping[str, Any]) -> str:
    """Return the text of a message, which may be in parts. Parts without text, such as pictures, are left out."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


class Mirror:
    """The agent's own notes, as memories. A digest of the note finds its memory again."""

    def __init__(self, bank: Bank, profile: str, session: str) -> None:
        self._bank = bank
        self._profile = profile
        self._session = session

    def written(self, action: str, target: str, content: str, metadata: Mapping[str, Any]) -> None:
        """Apply `add`, `replace` or `remove`, as the agent's tool did."""
        source = source_of(self._profile, target)
        before = None if action == "add" else self._before(source, metadata, content if action == "remove" else "")
        if action == "remove":
            if before is not None:
                self._bank.remove(before, reason="removed from the agent's notes")
            return
        now = self._there(source, content) or self._added(source, content)
        if before is not None and before != now:
            self._bank.invalidate(before, replacement=now, reason="replaced in the agent's notes")

    def _added(self, source: str, content: str) -> str:
        note = {"note": _digest(content)}
        return self._bank.remember(
            said(content), source=source, session=self._session, author_type="agent", importance=NOTED, meta=note
        ).id

    def _before(self, source: str, metadata: Mapping[str, Any], content: str) -> str | None:
        """Return the id of the changed note. Older hosts give only a part of it; if several notes match, return
        None.
        """
        whole, part = metadata.get("previous_content") or content, metadata.get("old_text")
        if isinstance(whole, str) and (there := self._there(source, whole)):
            return there
        if not isinstance(part, str) or not part:
            return None
        found = [memory.id for memory in _listed(self._bank, source=source) if part in memory.text]
        return found[0] if len(found) == 1 else None

    def _there(self, source: str, content: str) -> str | None:
        found = self._bank.list(source=source, meta={"note": _digest(content)}, limit=1)
        return found[0].id if found else None


def source_of(profile: str, target: str) -> str:
    return f"{SOURCE}/{profile or 'default'}/{target}"


def _digest(content: str) -> str:
    return blake2b(content.strip().encode("utf-8", "replace"), digest_size=10).hexdigest()


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a text that fit a memory; nothing for a blank text."""
    if len(text) <= PART:
        whole = [text]
    else:
        # Remove private text before cutting: a part might hold only one of its two marks.
        cut, _ = cut_private(text)
        whole = [cut[start : start + PART] for start in range(0, len(cut), PART)]
    yield from (part for part in whole if part.strip())


def _listed(bank: Bank, **asked: Any) -> Iterator[Memory]:
    cursor: str | None = None
    while True:
        page = bank.list(limit=PAGE, cursor=cursor, **asked)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return
