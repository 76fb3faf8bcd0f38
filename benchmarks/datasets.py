"""Published benchmarks of conversational memory, read from the user's files.

A `Conversation` holds memories and the questions about them. The files belong to others; Pieria ships none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

SECONDS_A_TURN = 20
UNANSWERABLE = ("adversarial", "abstention")

_SESSION_TIME = "%I:%M %p on %d %B, %Y"
_TURN = re.compile(r"D\d+:\d+")
_MARKER = re.compile(r"\s*->->\s*[\d,]+\s*$")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its evidence, or None if no turn answers it."""

    kind: str
    text: str
    evidence: frozenset[str] | None


@dataclass(slots=True)
class Conversation:
    """`piece_of` maps a memory's source to its piece of evidence; `session_of` maps a piece to its session."""

    name: str
    said: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    piece_of: dict[str, str] = field(default_factory=dict)
    session_of: Callable[[str], str] | None = None


def locomo(path: Path) -> Iterator[Conversation]:
    """Yield conversations with one memory a turn; evidence is counted in turns."""
    talks = _json(path)
    if not isinstance(talks, list) or not all(
        isinstance(t, dict) and {"conversation", "qa"} <= t.keys() for t in talks
    ):
        raise click.BadParameter(f"{path} is not a file of LoCoMo: a list of conversations, each with its questions")
    for talk in talks:
        found = Conversation(str(talk["sample_id"]), session_of=lambda piece: piece.partition(":")[0])
        for session, at, turns in _sessions(talk["conversation"]):
            for index, turn in enumerate(turns):
                shared = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                found.said.append(
                    {
                        "text": f"{turn['speaker']}: {turn['text']}{shared}",
                        "kind": "turn",
                        "source": turn["dia_id"],
                        "author": turn["speaker"],
                        "session": session,
                        "at": at + timedelta(seconds=SECONDS_A_TURN * index),
                    }
                )
                found.piece_of[turn["dia_id"]] = turn["dia_id"]
        for question in talk["qa"]:
            named = frozenset(_TURN.findall(" ".join(question.get("evidence", [])))) & found.piece_of.keys()
            if question["category"] == 5:
                found.asked.append(Asked("adversarial", question["question"], None))
            elif named:
                found.asked.append(Asked(f"category {question['category']}", question["question"], frozenset(named)))
        yield found


def beam(path: Path) -> Iterator[Conversation]:
    """Yield conversations with one memory a message; evidence is counted in exchanges: a user's message with its
    replies.
    """
    folders = [folder for folder in path.iterdir() if (folder / "chat.json").is_file()] if path.is_dir() else []
    if not folders:
        raise click.BadParameter(f"{path} is not a folder of BEAM: one folder a chat, with its chat.json")
    for folder in sorted(folders, key=lambda found: (len(found.name), found.name)):
        found = Conversation(folder.name)
        exchange = -1
        for number, batch in enumerate(_json(folder / "chat.json"), 1):
            for message in (message for turn in batch["turns"] for message in turn):
                by_user = message["role"] == "user"
                exchange += by_user or exchange < 0
                found.piece_of[str(message["id"])] = str(exchange)
                found.said.append(
                    {
                        "text": _MARKER.sub("", message["content"]),
                        "kind": "turn",
                        "source": str(message["id"]),
                        "author": message["role"],
                        "author_type": "human" if by_user else "agent",
                        "session": f"batch {number}",
                    }
                )
        for kind, questions in _json(folder / "probing_questions" / "probing_questions.json").items():
            for question in questions:
                ids = (str(number) for number in _numbers(question.get("source_chat_ids", [])))
                evidence = frozenset(found.piece_of[id] for id in ids if id in found.piece_of)
                if kind in UNANSWERABLE:
                    found.asked.append(Asked(kind, question["question"], None))
                elif evidence:
                    found.asked.append(Asked(kind, question["question"], evidence))
        yield found


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[str, datetime, list[Any]]]:
    number = 1
    while (day := conversation.get(f"session_{number}_date_time")) is not None:
        at = datetime.strptime(day.upper(), _SESSION_TIME).replace(tzinfo=UTC)
        yield f"session_{number}", at, conversation.get(f"session_{number}", [])
        number += 1


def _numbers(value: object) -> Iterator[int]:
    """Yield the ids in lists, mappings of lists, and texts with numbers."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int):
        yield value
    elif isinstance(value, str):
        yield from map(int, re.findall(r"\d+", value))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise click.BadParameter(f"{path} cannot be read as JSON ({problem})") from problem
