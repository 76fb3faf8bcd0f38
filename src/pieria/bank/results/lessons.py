"""What the verbs on lessons and standing rules return: proposals with their evidence, and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pieria.record.memory import Memory
from pieria.record.reply import Listed, Reply, told
from pieria.record.time import iso


@dataclass(frozen=True, slots=True)
class Proposal:
    """A lesson with its state and evidence.

    `seen` counts the sessions that support it, `failed` those where it did not help. `sources` are ids of memories that
    it was derived from; `contradicts` are ids of rules that it would supersede. `held_back` says why it needs a
    person's decision at any confidence.
    """

    memory: Memory
    state: str
    seen: int
    failed: int
    evidence: tuple[Mapping[str, Any], ...]
    sources: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    held_back: str | None = None
    decided_by: str | None = None

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def type(self) -> str:
        return str(self.memory.body["type"])

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def confidence(self) -> float:
        return self.memory.confidence or 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": self.type,
            "state": self.state,
            "text": self.text,
            "confidence": self.confidence,
            "seen": self.seen,
            "failed": self.failed,
            "by": self.memory.body.get("by"),
            "at": iso(self.memory.at),
            "trust": self.memory.trust,
            "held_back": self.held_back,
            "decided_by": self.decided_by,
            "reason": self.memory.standing.reason,
            "superseded_by": self.memory.standing.superseded_by,
            "contradicts": list(self.contradicts),
            "sources": list(self.sources),
            "evidence": [dict(each) for each in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class Proposals(Listed[Proposal]):
    """Proposals, highest confidence first. `left` counts those beyond the limit."""

    proposals: tuple[Proposal, ...]
    left: int = 0


@dataclass(frozen=True, slots=True)
class Learnt(Reply):
    """What sessions taught, or in a dry run would teach: lessons that are new or changed.

    `problem` says why rules worded a lesson instead of a model.
    """

    dry_run: bool
    sessions: int
    proposals: tuple[Proposal, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Decided(Reply):
    """Proposals after a decision. `superseded` are ids of rules that it ended; `change` is the number for `undo`."""

    proposals: tuple[Proposal, ...]
    superseded: tuple[str, ...]
    change: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A standing rule: its words, its state (`told`, `waiting` or `declined`), and the reason.

    `proposal` is set if the rule is a lesson of sessions.
    """

    memory: Memory
    words: str
    state: str
    why: str
    proposal: Proposal | None = None

    @property
    def id(self) -> str:
        return self.memory.id

    def as_dict(self) -> dict[str, Any]:
        memory = self.memory.as_dict()
        origin = ("at", "via", "trust", "author", "author_type", "source", "session", "kind", "reason")
        told = {"id": self.id, "state": self.state, "words": self.words, "why": self.why}
        told |= {name: memory[name] for name in origin}
        return told if self.proposal is None else {**told, "proposal": self.proposal.as_dict()}


@dataclass(frozen=True, slots=True)
class Rules(Listed[Rule]):
    """Rules, active ones first. `left` is the number beyond the limit."""

    rules: tuple[Rule, ...]
    left: int = 0


@dataclass(frozen=True, slots=True)
class DecidedRules:
    """The rules after the decision, the ids of rules that it ended, and the number of the change."""

    rules: tuple[Rule, ...]
    superseded: Sequence[str]
    change: int

    def as_dict(self) -> dict[str, Any]:
        rules = [rule.as_dict() for rule in self.rules]
        return {**told(self), "rules": rules}
