"""The parts of a session's summary, from its notes: what was asked, decided, found, changed and left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pieria.language.analyser import query_terms
from pieria.language.grammar.times import has_relative_time
from pieria.language.sentences import sentences
from pieria.record.clip import clipped
from pieria.record.memory import Memory

PARTS = {
    "decided": ("decision", "plan"),
    "found": ("bugfix", "discovery", "fact", "howto"),
    "changed": ("feature", "refactor", "change"),
    "open": ("debt",),
}
"""The types of observations in each part, in the order of the text. Other memories are found."""
MOST = 8
"""Items of a part, the most important first."""
ASKED, TELLING = 160, 3
"""Characters quoted of the first request, and the fewest informative terms that make a prompt a request."""
SENTENCE = 200
"""Characters of a sentence that represents a text."""
_OPEN, _DONE, _BY = "open", "done", "by"


def parts_of(sources: Sequence[Memory]) -> dict[str, list[str]]:
    """Return what a session's observations and notes say, by part, without empty parts. `sources` are in order."""
    noted = [memory for memory in sources if memory.kind != "turn"]
    found: dict[str, list[str]] = {"asked": _asked(sources)}
    for part in PARTS:
        held = [memory for memory in noted if _part(memory) == part]
        best = sorted(held, key=lambda memory: -memory.importance)[:MOST]
        found[part] = [_titled(memory) for memory in held if memory in best]
    return {part: items for part, items in found.items() if items}


def render_parts(parts: Mapping[str, Sequence[str]], words: int) -> str:
    """Return the parts as a text of at most `words` words. Each part gets room before another one gets more."""
    kept: dict[str, list[str]] = {part: [] for part in parts}
    left = words - len(parts)
    for number in range(MOST):
        for part, items in parts.items():
            if number < len(items) and len(items[number].split()) <= left:
                kept[part].append(items[number])
                left -= len(items[number].split())
    return " ".join(f"{part.capitalize()}: {'; '.join(items)}." for part, items in kept.items() if items)


def _asked(sources: Sequence[Memory]) -> list[str]:
    prompts = [memory for memory in sources if memory.kind == "turn" and memory.author_type != "agent"]
    for memory in prompts:
        text = clipped(memory.text, ASKED).rstrip(".")
        if _is_telling(text):
            return [f"({memory.at:%Y-%m-%d}) {text}" if has_relative_time(text) else text]
    return []


def _is_telling(text: str) -> bool:
    return len({term.term for term in query_terms(text) if not term.stop}) >= TELLING


def _part(memory: Memory) -> str | None:
    if _OPEN in memory.tags:
        return "open"
    type = memory.body.get("type")
    part = next((part for part, types in PARTS.items() if type in types), "found")
    return None if part == "open" and _DONE in memory.body else part


def _titled(memory: Memory) -> str:
    """Return the title if the memory was distilled or begins with a quotation, otherwise its first sentence."""
    due = memory.body.get("due")
    first = next((memory.text[start:end] for start, end in sentences(memory.text)), "")
    is_named = memory.title and (_BY in memory.body or "“" in first)
    said = str(memory.title) if is_named else clipped(first, SENTENCE)
    return f"{said.rstrip('.')} (due {due})" if isinstance(due, str) else said.rstrip(".")
