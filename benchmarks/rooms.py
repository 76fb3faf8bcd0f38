"""`python -m benchmarks rooms`: the share of rooms with an answer that `mempalace_search` returns.

Each turn is a drawer, each session a room, and each conversation a wing of one palace.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.datasets import Asked, Conversation
from benchmarks.intervals import FIGURES, mean, mean_of_groups
from benchmarks.retrieval import Say
from pieria.toolsets import Banks, Host, called, registry
from pieria.toolsets.host import paths_of_user
from pieria.workspace import Workspace

ADD, SEARCH = "mempalace_add_drawer", "mempalace_search"
LIMIT = 100
"""Drawers requested: the tool's maximum."""
FIRST_ROOMS = (5, 10)
HEADLINE = "rooms R@10"
ALL = "all"
PALACE = "palace"


@dataclass(frozen=True, slots=True)
class Found:
    """The rooms of a query's drawers, in the order of each room's first drawer."""

    conversation: str
    asked: Asked
    wanted: frozenset[str]
    rooms: tuple[str, ...]
    seconds: float
    """Processor time."""

    @property
    def shares(self) -> dict[str, float]:
        return {f"rooms R@{k}": self._share(self.rooms[:k]) for k in FIRST_ROOMS} | {"rooms": self._share(self.rooms)}

    def _share(self, rooms: Sequence[str]) -> float:
        return len(self.wanted.intersection(rooms)) / len(self.wanted)

    def as_dict(self) -> dict[str, Any]:
        return {
            "conversation": self.conversation,
            "kind": self.asked.kind,
            "question": self.asked.text,
            "wanted": sorted(self.wanted),
            "rooms": list(self.rooms),
            "shares": {name: round(share, 6) for name, share in self.shares.items()},
        }


def found(conversations: Sequence[Conversation], say: Say, *, undated: bool) -> Iterator[Found]:
    """Yield each answerable question, asked of its conversation's wing in a palace that holds all conversations."""
    with _palace() as (workspace, host):
        for conversation in conversations:
            if undated:
                _file(conversation, host, say)
            else:
                _remember(conversation, workspace, say)
        workspace.open(PALACE).sync()
        for conversation in conversations:
            for number, asked in enumerate(conversation.asked, 1):
                if asked.evidence:
                    yield _asked(conversation, asked, asked.evidence, host)
                say(f"{conversation.name}: asking", number, len(conversation.asked))


def summary(rows: Sequence[Found]) -> dict[str, Any]:
    kinds: dict[str, list[Found]] = defaultdict(list)
    talks: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        kinds[ALL].append(row)
        kinds[row.asked.kind].append(row)
        talks[row.conversation].append(row.shares[HEADLINE])
    told = {
        kind: {
            "questions": len(of),
            **{name: mean([row.shares[name] for row in of]).as_dict() for name in of[0].shares},
        }
        for kind, of in sorted(kinds.items(), key=lambda held: (held[0] != ALL, held[0]))
    }
    return {
        "kinds": told,
        "by_conversation": mean_of_groups(list(talks.values())).as_dict(),
        "conversations": {name: round(fmean(shares), FIGURES) for name, shares in talks.items()},
        "search_ms": round(1000 * fmean(row.seconds for row in rows), 2),
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    for kind, told in result["kinds"].items():
        shares = "  ".join(f"{name} {_interval(of)}" for name, of in told.items() if name != "questions")
        yield f"{kind:<28} {told['questions']:>5}  {shares}"
    yield f"{HEADLINE}, where whole conversations are drawn anew: {_interval(result['by_conversation'])}"
    yield "  ".join(f"{name} {share:.3f}" for name, share in result["conversations"].items())
    yield f"a search took {result['search_ms']} ms of the processor"


def _interval(of: Mapping[str, float]) -> str:
    return f"{of['mean']:.3f} [{of['from']:.3f}, {of['to']:.3f}]"


@contextmanager
def _palace() -> Iterator[tuple[Workspace, Host]]:
    """Yield an empty palace where questions leave no traces."""
    with (
        TemporaryDirectory(prefix="pieria-bench-") as folder,
        Workspace(data=folder, settings={"count_uses": False}) as workspace,
    ):
        yield workspace, Host(Banks(workspace, "bench"), PALACE, None, paths_of_user(workspace))


def _remember(conversation: Conversation, workspace: Workspace, say: Say) -> None:
    """Store the turns with their times. Raise `AdapterError` if the model fails."""
    items = []
    for turn in conversation.said:
        place = f"{conversation.name}/{turn['session']}"
        items.append({**turn, "kind": "drawer", "place": place, "session": place})
    workspace.open(PALACE).remember_many(items, partial(say, f"{conversation.name}: filing"))


def _file(conversation: Conversation, host: Host, say: Say) -> None:
    """File the turns with the tool, which takes no time: all are dated today."""
    for number, turn in enumerate(conversation.said, 1):
        drawer = {
            "wing": conversation.name,
            "room": turn["session"],
            "content": turn["text"],
            "added_by": turn["author"],
            "source_file": turn["source"],
        }
        _called(ADD, drawer, host)
        say(f"{conversation.name}: filing", number, len(conversation.said))


def _asked(conversation: Conversation, asked: Asked, evidence: frozenset[str], host: Host) -> Found:
    begun = time.process_time()
    reply = _called(SEARCH, {"query": asked.text, "wing": conversation.name, "limit": LIMIT}, host)
    seconds = time.process_time() - begun
    rooms = tuple(dict.fromkeys(drawer["room"] for drawer in reply["results"]))
    room_of = {turn["source"]: turn["session"] for turn in conversation.said}
    return Found(conversation.name, asked, frozenset(room_of[turn] for turn in evidence), rooms, seconds)


def _called(tool: str, arguments: Mapping[str, Any], host: Host) -> Any:
    """Return the tool's reply, or raise its error."""
    reply = called(registry(), tool, arguments, host)
    if reply.error is not None:
        raise reply.error
    return reply.value
