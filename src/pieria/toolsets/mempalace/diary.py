"""An agent's diary: complete entries, newest first, in a wing per agent."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.words import name, named, stamp

KIND, ROOM, GENERAL = "diary", "diary", "general"
DAY = len("2026-01-31")


def diary_write(call: Call, agent_name: str, entry: str, topic: str) -> dict[str, Any]:
    agent = _agent(agent_name)
    about = name(topic, "topic")
    kept = call.bank.remember(
        entry,
        kind=KIND,
        place=f"{_wing(agent)}/{ROOM}",
        author=agent,
        author_type="agent",
        entities=named(entry),
        body={"topic": about, "type": KIND},
    )
    return {
        "entry_id": kept.id,
        "agent": agent,
        "topic": about,
        "timestamp": stamp(kept.at),
        "wing": kept.wing,
        "chunks": 1,
    }


def diary_read(call: Call, agent_name: str, last_n: int) -> dict[str, Any]:
    bank = call.bank
    agent = _agent(agent_name)
    shelves = _shelves(agent)
    held = {entry.id: entry for shelf in shelves for entry in bank.list(limit=last_n, kinds=KIND, **shelf)}
    found = sorted(held.values(), key=lambda entry: (entry.at, entry.row), reverse=True)[:last_n]
    entries = [
        {
            "entry_id": entry.id,
            "date": iso(entry.at)[:DAY],
            "timestamp": iso(entry.at),
            "topic": entry.body.get("topic", GENERAL),
            "content": entry.text,
        }
        for entry in found
    ]
    told = {
        "agent": agent,
        "entries": entries,
        "total": _total(bank, shelves),
        "showing": len(entries),
    }
    return told if entries else {**told, "message": f"{agent} has no diary entries yet."}


def _shelves(agent: str) -> list[dict[str, Any]]:
    """Return the filters for an agent's entries: its diary, and entries it signed elsewhere."""
    return [{"place": f"{_wing(agent)}/{ROOM}"}, {"author": agent}]


def _total(bank: Bank, shelves: list[dict[str, Any]]) -> int:
    place, author = shelves
    on_each: int = sum(bank.count(kinds=KIND, **shelf) for shelf in shelves)
    on_both: int = bank.count(kinds=KIND, **place, **author)
    return on_each - on_both


def _agent(given: str) -> str:
    return name(given, "agent_name").lower()


def _wing(agent: str) -> str:
    return f"wing_{agent.replace(' ', '_')}"
