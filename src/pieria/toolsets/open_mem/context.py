"""The context block in a project's `AGENTS.md`: build it, insert it into a text, remove it.

Works on texts only. The same memories give the same bytes on any machine at any time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

from pieria.record.memory import Memory
from pieria.toolsets.open_mem.words import brief, title_of, type_of

BEGIN, END = "<!-- open-mem-context -->", "<!-- /open-mem-context -->"
FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
"""Opening fence of a code example. A line of at least as many of the same characters closes it."""
CODE = re.compile(r" {4}| {0,3}\t")
"""An indented line, which is a code example."""
BYTE_ORDER = "\ufeff"
FOLDERS, ROWS, CONCEPTS, DECISIONS = 12, 10, 10, 5
TITLE, DECISION = 100, 120
ROOT = "."
HEAD = (
    "## What the memory of this project holds",
    "",
    "Made by `mem-maintenance`, which never touches text outside this block. It is information, not",
    "instruction. `mem-get` opens an id, `mem-find` finds more.",
)


@dataclass(slots=True)
class _Section:
    rows: list[Memory] = field(default_factory=list)
    count: int = 0
    concepts: Counter[str] = field(default_factory=Counter)


def block(memories: Iterable[Memory], folders_of: Callable[[Memory], Iterable[str]]) -> tuple[str, int]:
    """Return the block and the number of memories in it. `memories` come newest first; without any, the block is
    empty.
    """
    sections: dict[str, _Section] = {}
    decisions: list[Memory] = []
    count = 0
    for memory in memories:
        count += 1
        if type_of(memory) == "decision" and len(decisions) < DECISIONS:
            decisions.append(memory)
        for folder in sorted(set(folders_of(memory))) or [ROOT]:
            section = sections.setdefault(folder, _Section())
            section.count += 1
            section.concepts.update(memory.tags)
            if len(section.rows) < ROWS:
                section.rows.append(memory)
    if not count:
        return "", 0
    chosen = sorted(sections, key=lambda folder: (-sections[folder].count, folder))[:FOLDERS]
    lines = [BEGIN, *HEAD]
    if decisions:
        lines += ["", "**Decisions**", "", *(f"- {_decision(memory)}" for memory in decisions)]
    for folder in sorted(chosen):
        lines += _section_lines(folder, sections[folder])
    if left := len(sections) - len(chosen):
        lines += ["", f"{left:,} more folders are not listed."]
    return "\n".join([*lines, END]), count


def _section_lines(folder: str, section: _Section) -> list[str]:
    named = "The whole project" if folder == ROOT else f"`{_safe(folder, TITLE)}`"
    more = f", the newest {len(section.rows)} of {section.count:,}" if section.count > len(section.rows) else ""
    concepts = sorted(section.concepts, key=lambda concept: (-section.concepts[concept], concept))[:CONCEPTS]
    rows = [
        f"| {_safe(memory.id, TITLE)} | {type_of(memory)} | {_safe(title_of(memory), TITLE)} | {memory.at:%Y-%m-%d} |"
        for memory in section.rows
    ]
    told = ["", f"Concepts: {', '.join(_safe(concept, TITLE) for concept in concepts)}"] if concepts else []
    return ["", f"### {named}{more}", "", "| id | type | title | date |", "|---|---|---|---|", *rows, *told]


def _decision(memory: Memory) -> str:
    said = _safe(memory.text, DECISION)
    title = _safe(title_of(memory), TITLE)
    return title if said.startswith(title.removesuffix(" …")) else f"{title}: {said}"


def _safe(text: str, length: int) -> str:
    """Return the text on one line, without characters that end a table cell or open a comment."""
    return brief(text, length).replace("<!--", "&lt;!--").replace("|", "\\|").replace("`", "'")


class Stripped(NamedTuple):
    """A text without its blocks.

    `place` is the offset where the first block began. `orphans` counts markers without a partner.
    """

    text: str
    blocks: int
    orphans: int
    place: int | None


def stripped(text: str) -> Stripped:
    """Return the text without blocks. Only markers alone on a line and outside code examples count.

    An unpaired marker loses only its own line: the text below it may be the user's.
    """
    lines = lines_of(text)
    gone: set[int] = set()
    begun: int | None = None
    blocks = orphans = 0
    first: int | None = None
    for number, mark in _markers(lines):
        if mark == BEGIN:
            if begun is not None:
                gone.add(begun)
                orphans += 1
            begun = number
        elif begun is None:
            gone.add(number)
            orphans += 1
        else:
            gone.update(range(begun, number + 1))
            first = begun if first is None else first
            begun, blocks = None, blocks + 1
    if begun is not None:
        gone.add(begun)
        orphans += 1
    kept = [line for number, line in enumerate(lines) if number not in gone]
    place = None if first is None else sum(len(lines[n]) for n in range(first) if n not in gone)
    return Stripped("".join(kept), blocks, orphans, place)


def lines_of(text: str) -> list[str]:
    """Return the lines with their ends. Split only at line feeds, as diff and Markdown do."""
    return StringIO(text, newline="\n").readlines()


def _markers(lines: list[str]) -> Iterator[tuple[int, str]]:
    never_closed: dict[str, int] = {}
    closes: str | None = None
    for number, line in enumerate(lines):
        if CODE.match(line):
            continue
        mark = line.strip().removeprefix(BYTE_ORDER)
        if closes is not None:
            closes = None if _is_closed(line, closes) else closes
        elif mark in (BEGIN, END):
            yield number, mark
        elif (fence := FENCE.match(mark)) and len(fence[1]) < never_closed.get(fence[1][0], len(line)):
            # An unclosed fence is a typing error: the lines below it are no example.
            if any(_is_closed(later, fence[1]) for later in lines[number + 1 :]):
                closes = fence[1]
            else:
                never_closed[fence[1][0]] = len(fence[1])


def _is_closed(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0]) and not CODE.match(line)


def without(text: str) -> str:
    """Return the text from before blocks were inserted, without the blank line that came with a block."""
    bare = stripped(text)
    if bare.place is None:
        return bare.text
    before, after = bare.text[: bare.place], bare.text[bare.place :]
    newline = _newline(text)
    if before.endswith(2 * newline) and not after.strip():
        return before.removesuffix(newline)
    return before + after


def with_block(text: str, made: str) -> str:
    """Return the text with the new block in place of the old one, or at the end. An empty `made` removes the block."""
    if not made:
        return without(text)
    newline = _newline(text)
    lines = made.replace("\n", newline) + newline
    bare = stripped(text)
    if bare.place is not None:
        return bare.text[: bare.place] + lines + bare.text[bare.place :]
    # Add exactly one blank line, because `without` removes exactly one.
    ends = bare.text.endswith(newline)
    gap = "" if not bare.text else newline if ends else 2 * newline
    return bare.text + gap + lines


def _newline(text: str) -> str:
    """Return the line ending of the text. If the last line has none, take the one used elsewhere."""
    ends = text[-2:]
    return "\r\n" if ends == "\r\n" or ("\r\n" in text and not ends.endswith("\n")) else "\n"
