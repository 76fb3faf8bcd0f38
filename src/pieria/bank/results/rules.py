"""What the verbs of `bank.rules` return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pieria.bank.results.lessons import Proposal
from pieria.record.memory import Memory


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
class Rules:
    """Rules, active ones first. `left` is the number beyond the limit."""

    rules: tuple[Rule, ...]
    left: int = 0

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, place: int) -> Rule:
        return self.rules[place]

    def as_dict(self) -> dict[str, Any]:
        return {"rules": [rule.as_dict() for rule in self.rules], "left": self.left}


@dataclass(frozen=True, slots=True)
class DecidedRules:
    """The rules after the decision, the ids of rules that it ended, and the number of the change."""

    rules: tuple[Rule, ...]
    superseded: Sequence[str]
    change: int

    def as_dict(self) -> dict[str, Any]:
        rules = [rule.as_dict() for rule in self.rules]
        return {"rules": rules, "superseded": list(self.superseded), "change": self.change}
