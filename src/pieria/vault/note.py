"""The note of a memory: how it is written, and what is read back after a user edited it.

It has front matter and the memory's text. Below a mark it has links and hashtags, which each sync rewrites. `decided`
compares the changes of a note and its memory since the last sync.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.record.usage import Usage
from pieria.vault import front, markdown

TARGETS = ("obsidian", "markdown")
MARK = "<!-- pieria: what stands below is written anew by each sync; what you add there becomes part of the text -->"
_MARKED = "<!-- pieria:"
LONGEST_TITLE = 120
LONGEST_CONTEXT = 10_000
AS_IT_WAS, REWRITE, EDITED, CONFLICT = "unchanged", "rewritten", "edited", "conflict"
_LISTS = ("tags", "entities")
"""Fields that merge: additions and removals of both sides are combined."""
Kept = Mapping[str, Any]


class Tie(NamedTuple):
    """A note that this one links to."""

    relation: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a memory's note: front matter, text, and the part below the mark."""

    front: dict[str, Any]
    text: str
    tail: str

    @property
    def digest(self) -> str:
        return _digest(json.dumps([self.front, self.text, self.tail], ensure_ascii=False, sort_keys=True))

    def written(self, before: str | None = None) -> str:
        """Return the whole note. `before` is its current front matter, whose other entries stay unchanged."""
        head = front.fenced(front.written(self.front, before or ""))
        tail = f"\n{self.tail}\n" if self.tail else ""
        return f"{head}\n{self.text}\n\n{MARK}\n{tail}"


@dataclass(frozen=True, slots=True)
class Said:
    """What a note says of its memory. In a saved earlier reading the texts are digests."""

    title: str
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    context: str
    text: str
    id: str | None = field(default=None, compare=False)
    bank: str | None = field(default=None, compare=False)
    marked: bool = field(default=False, compare=False)

    def over(self, page: Page, names: Collection[str]) -> Page:
        """Return the page with this note's version of the named texts, in place of the memory's."""
        head = {name: getattr(self, name) or None for name in ("title", "context") if name in names}
        return replace(page, front={**page.front, **head}, text=self.text if "text" in names else page.text)

    def kept(self) -> dict[str, Any]:
        """Return the reading in the form that is saved for the next comparison."""
        return {
            "title": self.title,
            "tags": sorted(self.tags),
            "entities": sorted(self.entities),
            "context": _digest(self.context),
            "text": _digest(self.text),
        }


def heading(memory: Memory) -> str:
    """Return the memory's title, or the start of its first line if it has none."""
    line = memory.title or next((line for line in memory.text.split("\n") if line.strip()), "")
    spelt = " ".join(line.strip().lstrip("#>-* ").split()) or " ".join(line.split())
    if len(spelt) <= LONGEST_TITLE:
        return spelt
    return f"{spelt[:LONGEST_TITLE].rpartition(' ')[0] or spelt[:LONGEST_TITLE]}…"


def page_of(memory: Memory, usage: Usage, ties: Sequence[Tie], *, bank: str, path: str, target: str) -> Page:
    used = [moment for moment in (usage.last_access, usage.last_review) if moment is not None]
    values = {
        "id": memory.id,
        "bank": bank,
        "kind": memory.kind,
        "title": heading(memory),
        "created": iso(memory.at),
        "last_used": iso(max(used)) if used else None,
        "use_count": usage.accesses,
        "strength": round(memory.strength, 4),
        "importance": round(memory.importance, 4),
        "tags": list(memory.tags),
        "entities": list(memory.entities),
        "source": memory.source,
        "context": None if memory.context is None else memory.context[:LONGEST_CONTEXT],
        "valid_from": None if memory.valid_from is None else iso(memory.valid_from),
        "valid_until": None if memory.valid_until is None else iso(memory.valid_until),
    }
    return Page(values, memory.text, _tail(memory, ties, path, target))


def _tail(memory: Memory, ties: Sequence[Tie], path: str, target: str) -> str:
    """Return the part below the mark: links with their relations, entities as links and tags as hashtags, in the
    target's syntax."""
    wiki = target == "obsidian"
    lines = []
    for tie in ties:
        link = markdown.wiki_link(tie.path, tie.title) if wiki else markdown.plain_link(tie.path, tie.title, path)
        lines.append(f"- {link}" if tie.relation == "related" else f"- {link} ({tie.relation})")
    if wiki:
        lines += [f"- [[{name}]]" for entity in memory.entities if (name := markdown.as_name(entity))]
    blocks = ["\n".join(lines)] if lines else []
    if wiki and (tags := markdown.hashtag_line(memory.tags)):
        blocks.append(tags)
    return "\n\n".join(blocks)


def may_be_of_memory(written: str) -> bool:
    """Return whether its front matter may name a memory and is worth parsing."""
    head = written[: front.LIMIT]
    return "bank:" in head and "id:" in head


def said_in(written: str, tail: str = "") -> Said:
    """Return what the note says. `tail` is the text last written below its mark. Raise `BadFrontError`."""
    parts = front.split(written)
    if parts.front is None:
        raise front.BadFrontError(parts.problem or "its front matter is missing")
    values = front.read(parts.front)
    text, added, marked = _cut(parts.body, tail)
    tags = dict.fromkeys(front.tags(values))
    known = {(markdown.as_hashtag(tag) or "").casefold() for tag in tags}
    tags |= {tag: None for tag in markdown.hashtags(f"{text}\n{added}") if f"#{tag}".casefold() not in known}
    prose = "\n".join(line for line in added.split("\n") if not _only_tags(line)).strip("\n")
    return Said(
        title=_text(values.get("title")),
        tags=tuple(tags),
        entities=tuple(dict.fromkeys(front.names(values.get("entities")))),
        context=_text(values.get("context")),
        text=f"{text}\n\n{prose}" if text and prose else text or prose,
        id=_text(values.get("id")) or None,
        bank=_text(values.get("bank")) or None,
        marked=marked,
    )


def changes(held: Memory, base: Mapping[str, Any], said: Said) -> dict[str, Any]:
    """Return the fields for `update` that apply the user's edits of the note to the memory."""
    found: dict[str, Any] = {}
    now = said.kept()
    for name in ("title", "context", "text"):
        if now[name] != base[name]:
            found[name] = getattr(said, name) or None
    for name in ("tags", "entities"):
        before, after = set(base[name]), getattr(said, name)
        if before != set(after):
            kept = [label for label in getattr(held, name) if label in after or label not in before]
            found[name] = list(dict.fromkeys([*kept, *(label for label in after if label not in before)]))
    return found


def _cut(body: str, tail: str) -> tuple[str, str, bool]:
    """Return the text, the additions below the mark, and whether the mark is present."""
    body = body.removeprefix("\n")
    lines = body.split("\n")
    place = next((number for number in range(len(lines) - 1, -1, -1) if lines[number].startswith(_MARKED)), None)
    if place is None:
        bare = body.rstrip()
        return _trimmed(bare.removesuffix(tail) if tail else bare), "", False
    known = set(tail.split("\n"))
    added = [line for line in lines[place + 1 :] if line not in known]
    return _trimmed("\n".join(lines[:place])), "\n".join(added).strip("\n"), True


def _trimmed(text: str) -> str:
    return text.strip("\n").rstrip()


def _only_tags(line: str) -> bool:
    return bool(line.strip()) and all(part.startswith("#") and len(part) > 1 for part in line.split())


def _text(value: front.Value) -> str:
    return value.strip() if isinstance(value, str) else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def decided(said: Kept, base: Kept, held: Kept, held_base: Kept) -> str:
    """Return the decision. `said` and `base` are the note now and at the last sync; `held` and `held_base` are the
    memory now and then, as a note would state it."""
    by_hand = {name for name in said if said[name] != base[name]}
    by_bank = {name for name in held if held[name] != held_base[name]}
    if not by_hand:
        return REWRITE if by_bank and said != held else AS_IT_WAS
    both = {name for name in by_hand & by_bank if said[name] != held[name]}
    if said == held:
        return AS_IT_WAS
    return CONFLICT if both.difference(_LISTS) else EDITED
