"""The payload of open-mem's tool `mem-export`, which its tool `mem-import` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.exporters import Exporter
from pieria.exporters.fields import encode
from pieria.exporters.json_format import write_list
from pieria.record.clip import estimated_tokens
from pieria.record.time import iso

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pieria.bank.transfer.snapshot import Snapshot
    from pieria.record.memory import Memory

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
SHOWN_AS = {"plan": "decision"}
OTHER = "discovery"
TITLE = 80
WITHOUT = ("user", "session", "archived", "over")
TURNS = "turns, word for word"


def write(snapshot: Snapshot, path: Path) -> None:
    summaries: list[Memory] = []
    with path.open("w", encoding="utf-8", errors="replace") as file:
        file.write(f'{{"version": 1, "exportedAt": {encode(iso(snapshot.moment))}, "project": {encode(snapshot.bank)}')
        write_list(file, "observations", _observations(snapshot, summaries))
        write_list(file, "summaries", map(_summary, _one_a_session(snapshot, summaries)))
        file.write("}\n")
    for name, rest in (("facts", snapshot.facts()), ("links", snapshot.links())):
        snapshot.leave(name, sum(1 for _ in rest))
        snapshot.counts.pop(name, None)


def _observations(snapshot: Snapshot, summaries: list[Memory]) -> Iterator[dict[str, Any]]:
    for memory, _ in snapshot.memories(WITHOUT):
        if memory.kind == "turn":
            snapshot.leave(TURNS)
            snapshot.counts["memories"] -= 1
        elif memory.kind == "summary" and memory.session is not None:
            summaries.append(memory)
        else:
            yield _observation(memory)


def _observation(memory: Memory) -> dict[str, Any]:
    read = [file for file in memory.body.get("files_read") or () if file in memory.files]
    both = memory.body.get("files_modified") or ()
    held = memory.body.get("type")
    title = memory.title or " ".join(memory.text.split())[:TITLE]
    return {
        "id": memory.id, "sessionId": memory.session or "", "scope": "project",
        "type": held if held in TYPES else SHOWN_AS.get(str(held), OTHER), "title": title,
        "subtitle": memory.body.get("subtitle") or "", "facts": list(memory.body.get("facts") or ()),
        "narrative": memory.text, "concepts": list(memory.tags), "filesRead": read,
        "filesModified": [file for file in memory.files if file not in read or file in both],
        "toolName": memory.source or "", "createdAt": iso(memory.at),
        "tokenCount": estimated_tokens(f"{title} {memory.text}"),
        "discoveryTokens": memory.body.get("discovery_tokens") or 0, "importance": 1 + round(memory.importance * 4),
        "revisionOf": None, "deletedAt": None, "supersededBy": None, "supersededAt": None,
    }  # fmt: skip


def _one_a_session(snapshot: Snapshot, summaries: list[Memory]) -> list[Memory]:
    """Return the newest summary of each session: it keeps one."""
    newest = {memory.session: memory for memory in summaries}
    earlier = len(summaries) - len(newest)
    snapshot.leave("earlier summaries of a session", earlier)
    snapshot.counts["memories"] -= earlier
    return list(newest.values())


def _summary(memory: Memory) -> dict[str, Any]:
    told = {name: memory.body.get(name) or "" for name in ("request", "investigated", "learned", "completed")}
    return {
        "id": memory.id, "sessionId": memory.session, "summary": memory.text,
        "keyDecisions": list(memory.body.get("key_decisions") or ()), "filesModified": list(memory.files),
        "concepts": list(memory.tags), "createdAt": iso(memory.at), "tokenCount": estimated_tokens(memory.text),
        **told, "nextSteps": memory.body.get("next_steps") or "",
    }  # fmt: skip


EXPORTER = Exporter("open-mem", "open-mem", write)
