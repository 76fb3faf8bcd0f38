"""`pieria bench locomo` and `bench beam`: how much of the evidence recall brings back. No model judges it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import fmean, pstdev
from tempfile import TemporaryDirectory
from typing import Any

from pieria.bank import Bank
from pieria.doors.bench.datasets import Asked, Conversation
from pieria.doors.bench.sampling import interval, told_apart
from pieria.workspace import Workspace

FIRST = (5, 10, 20)
FIRST_SESSIONS = (5, 10)
DEPTH = 50
"""Hits that are asked for: several may belong to one piece of evidence."""
POLICY = "hybrid"
ALL = "all"
WHOLE = "everything on"
Say = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall brought for one question; `switched_off` says without which features."""

    switched_off: str
    conversation: str
    asked: Asked
    found: tuple[str, ...]
    confidence: float
    shares: Mapping[str, float]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "off": self.switched_off,
            "conversation": self.conversation,
            "kind": self.asked.kind,
            "question": self.asked.text,
            "evidence": sorted(self.asked.evidence) if self.asked.evidence is not None else None,
            "found": list(self.found[: max(FIRST)]),
            "confidence": round(self.confidence, 6),
            "shares": {name: round(share, 6) for name, share in self.shares.items()},
        }


def answers(conversations: Iterable[Conversation], *, policy: str | None, ablate: bool, say: Say) -> Iterator[Answer]:
    """Each question of each conversation, asked of a bank that holds that conversation alone."""
    for conversation in conversations:
        with _bank(conversation) as bank:
            bank.remember_many(conversation.said, partial(say, f"{conversation.name}: remembering"))
            off = _switched_off(bank, policy) if ablate else {WHOLE: {}}
            for round_, (name, weights) in enumerate(off.items()):
                for number, asked in enumerate(conversation.asked, 1):
                    yield _answer(bank, conversation, asked, name, weights, policy)
                    total = len(off) * len(conversation.asked)
                    say(f"{conversation.name}: asking", round_ * len(conversation.asked) + number, total)


def summary(rows: Sequence[Answer]) -> dict[str, Any]:
    """A table for everything on, and one line for each thing switched off."""
    whole = [row for row in rows if row.switched_off == WHOLE]
    return {
        "kinds": _by_kind(whole),
        "answerable": _answerable(whole),
        "conversations": _by_conversation(whole),
        "recall_ms": round(1000 * fmean(row.seconds for row in whole), 2) if whole else None,
        "without": _without(rows),
    }


@contextmanager
def _bank(conversation: Conversation) -> Iterator[Bank]:
    with TemporaryDirectory(prefix="pieria-bench-") as folder, Workspace(data=folder) as workspace:
        yield workspace.open(f"bench-{conversation.name}")


def _switched_off(bank: Bank, policy: str | None) -> dict[str, dict[str, float]]:
    """Nothing, each arm with all that it gives, then each feature alone."""
    plan = bank.recall("what is there?", k=1, policy=policy or POLICY).plan
    off: dict[str, dict[str, float]] = {WHOLE: {}}
    for arm, told in plan["arms"].items():
        off[f"arm {arm}"] = dict.fromkeys(told["features"], 0.0)
    for feature in plan["weights"]:
        off[f"feature {feature}"] = {feature: 0.0}
    return off


def _answer(
    bank: Bank, conversation: Conversation, asked: Asked, off: str, weights: Mapping[str, float], policy: str | None
) -> Answer:
    begun = time.perf_counter()
    recall = bank.recall(asked.text, k=DEPTH, policy=policy or POLICY, weights=weights or None)
    seconds = time.perf_counter() - begun
    pieces = [conversation.piece_of.get(hit.memory.source or "") for hit in recall]
    found = tuple(dict.fromkeys(piece for piece in pieces if piece is not None))
    shares = _shares(conversation, asked.evidence, found) if asked.evidence is not None else {}
    return Answer(off, conversation.name, asked, found, recall.confidence, shares, seconds)


def _shares(conversation: Conversation, evidence: frozenset[str], found: Sequence[str]) -> dict[str, float]:
    shares = {f"R@{k}": len(evidence & set(found[:k])) / len(evidence) for k in FIRST}
    if conversation.session_of is not None:
        wanted = {conversation.session_of(piece) for piece in evidence}
        sessions = list(dict.fromkeys(conversation.session_of(piece) for piece in found))
        shares |= {f"session R@{k}": len(wanted & set(sessions[:k])) / len(wanted) for k in FIRST_SESSIONS}
    return shares


def _by_kind(rows: Sequence[Answer]) -> dict[str, Any]:
    kinds: dict[str, list[Answer]] = defaultdict(list)
    for row in rows:
        if row.asked.evidence is not None:
            kinds[ALL].append(row)
            kinds[row.asked.kind].append(row)
    return {kind: {"questions": len(of), **_means(of)} for kind, of in sorted(kinds.items(), key=lambda k: k[0] != ALL)}


def _means(rows: Sequence[Answer]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name in rows[0].shares:
        values = [row.shares[name] for row in rows]
        low, high = interval(values)
        told[name] = {"mean": round(fmean(values), 4), "from": round(low, 4), "to": round(high, 4)}
    return told


def _answerable(rows: Sequence[Answer]) -> float | None:
    can = [row.confidence for row in rows if row.asked.evidence is not None]
    cannot = [row.confidence for row in rows if row.asked.evidence is None]
    area = told_apart(can, cannot)
    return None if area is None else round(area, 4)


def _by_conversation(rows: Sequence[Answer]) -> dict[str, Any]:
    """How far one conversation lies from another: what a new one may look like."""
    shares: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.asked.evidence is not None:
            shares[row.conversation].append(row.shares["R@10"])
    means = {name: round(fmean(values), 4) for name, values in shares.items()}
    spread = round(pstdev(means.values()), 4) if means else None
    return {"R@10": means, "spread": spread}


def _without(rows: Sequence[Answer]) -> dict[str, Any]:
    groups: dict[str, list[Answer]] = defaultdict(list)
    for row in rows:
        groups[row.switched_off].append(row)
    told = {}
    for name, of in groups.items():
        shares = [row.shares["R@10"] for row in of if row.asked.evidence is not None]
        if name != WHOLE and shares:
            told[name] = {"R@10": round(fmean(shares), 4), "answerable": _answerable(of)}
    return told
