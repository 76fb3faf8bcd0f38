"""Build a bank's memories from what a source says: ids that follow from the source, places and metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath

from pieria.bank.capture.sources import DIGEST
from pieria.language.entities import entities
from pieria.mining.files import digest_of_text
from pieria.mining.formats import TEXT
from pieria.mining.passage_cutter import CODE, cut
from pieria.mining.said import Passage, Source, Turn
from pieria.mining.trees import kind_of
from pieria.project import work_root
from pieria.record.draft import NewMemory
from pieria.record.ids import derived_id
from pieria.record.place_name import GENERAL, place_name
from pieria.record.time import instant, iso

NAMED = 12
"""Most entities kept for one memory, the most frequent first."""
READ_FOR_NAMES = 8_000
"""Characters of a text searched for names."""
LONGEST_TURN = 200_000
"""Characters; a longer turn becomes several memories."""
MOST_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Filing:
    """`wing` and `place` come from the caller; `project` is the name of the tree's project."""

    wing: str | None = None
    place: str | None = None
    project: str = ""

    def passage(self, source: Source, passage: Passage, seen: Counter[str]) -> NewMemory:
        """Return the memory of a passage. Its id follows from its words and their count in the file, so other text may
        change.
        """
        digest = digest_of_text(passage.text)
        seen[digest] += 1
        path = PurePosixPath(source.title or PurePath(source.name).name)
        room = path.parts[0] if len(path.parts) > 1 else GENERAL
        return NewMemory(
            text=passage.text,
            id=derived_id("file_", source.name, digest, str(seen[digest])),
            kind="drawer",
            title=str(path),
            files=[str(path)],
            source=source.name,
            author_type="system",
            place=self._place(self.project, room),
            at=source.changed / 1e9,
            meta={DIGEST: digest},
        )

    def turn(self, source: Source, turn: Turn) -> Iterator[NewMemory]:
        """Yield the memories of a turn; several if it is longer than a bank accepts."""
        parts = cut(turn.text, limit=LONGEST_TURN)
        root = root_of(turn.folder) if turn.folder else None
        wing = root.name if root is not None else source.format
        at = turn.at if turn.at is not None else source.changed / 1e9
        for number, part in enumerate(parts, 1):
            yield NewMemory(
                text=part,
                id=derived_id("turn_", source.format, turn.unit, *([str(number)] if number > 1 else [])),
                kind="turn",
                files=tuple(_files(turn, root)),
                source=source.name,
                context=turn.title,
                author=_one_line(turn.author),
                author_type=turn.author_type,
                channel=_one_line(turn.channel) if turn.channel else None,
                session=_one_line(turn.session),
                sequence=turn.sequence,
                place=self._place(wing, turn.channel or (_day(at) if source.format == TEXT else source.format)),
                at=at,
                meta={DIGEST: digest_of_text(part)},
            )

    def _place(self, wing: str, room: str) -> str:
        return self.place or f"{place_name(self.wing or wing)}/{place_name(room)}"


def _day(at: str | float) -> str:
    return iso(instant(at, "at"))[:10]


def named(item: NewMemory) -> list[str]:
    """Return the people and things that a memory names, most frequent first. Names in code are not entities."""
    if item.kind == "drawer" and kind_of(PurePosixPath(item.title or "").name) == CODE:
        return []
    found = Counter(entity.name for entity in entities(item.text[:READ_FOR_NAMES]) if entity.name.isprintable())
    return [entity for entity, _ in found.most_common(NAMED)]


@lru_cache(1024)
def root_of(folder: str) -> Path:
    return work_root(folder, Path.home())


def _files(turn: Turn, root: Path | None) -> Iterator[str]:
    """Yield the files of a turn, relative to the project's root if they are below it."""
    for file in dict.fromkeys(turn.files[:MOST_FILES]):
        path = PurePath(file)
        inside = root is not None and path.is_absolute() and path.is_relative_to(root)
        kept = path.relative_to(root).as_posix() if inside and root is not None else file
        if kept.isprintable() and 0 < len(kept.strip()) <= 500:
            yield kept


def _one_line(spelt: str) -> str:
    """Return a name as a bank keeps it: short, on one line."""
    return " ".join("".join(char if char.isprintable() else " " for char in spelt).split())[:500]
