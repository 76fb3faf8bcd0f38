"""What a recall brings back: candidates, what was made of them, and how it all came about. Plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from pieria.graph.nodes import Node
from pieria.models.mind import Mode
from pieria.record.memory import nothing

Phase = Literal["initial", "multi_hop", "refinement", "provenance"]


@dataclass(frozen=True, slots=True)
class TaggedCandidate:
    """A node that may answer, what it is worth to the question, and how it was found.

    `hop` is how many steps of the graph lead to it; None where it is only the source of another.
    """

    node: Node
    score: float
    phase: Phase
    hop: int | None

    @classmethod
    def from_hop_0(cls, node: Node, score: float) -> Self:
        return cls(node, score, "initial", 0)

    @classmethod
    def from_multi_hop(cls, node: Node, score: float, hop: int) -> Self:
        return cls(node, score, "multi_hop", hop)

    @classmethod
    def from_refinement(cls, node: Node, score: float, hop: int) -> Self:
        return cls(node, score, "refinement", hop)

    @classmethod
    def from_provenance(cls, node: Node, score: float) -> Self:
        return cls(node, score, "provenance", None)


@dataclass(frozen=True, slots=True)
class TouchedNode:
    """A candidate as whoever asked is told of it; the node itself where the trace is detailed."""

    id: str
    type: str
    score: float
    phase: Phase
    hop: int | None
    node: Node | None = None

    @classmethod
    def from_tagged(cls, candidate: TaggedCandidate, verbosity: str) -> Self:
        node = candidate.node
        shown = node if verbosity == "detailed" else None
        return cls(node.id, node.node_type, candidate.score, candidate.phase, candidate.hop, shown)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The candidates by type of node, the best first; `phases` tells of each id how it was found.

    `confidence` is how likely any of them answers, 0 to 1. `sure` is how sure the surest of each type makes an answer,
    empty where nobody measured it; below the floor of its type rules do not take it for one.
    """

    candidates: Mapping[str, list[TaggedCandidate]]
    mode: Mode
    tags: list[str] = field(default_factory=list)
    phases: Mapping[str, Phase] = field(default_factory=nothing)
    confidence: float | None = None
    sure: Mapping[str, float] = field(default_factory=nothing)
    floors: Mapping[str, float] = field(default_factory=nothing)

    @classmethod
    def of(cls, found: Iterable[TaggedCandidate], mode: Mode, tags: Sequence[str]) -> Self:
        candidates: dict[str, list[TaggedCandidate]] = {}
        for each in in_order(found):
            candidates.setdefault(each.node.node_type, []).append(each)
        phases = {one.node.id: one.phase for kept in candidates.values() for one in kept}
        return cls(candidates, mode, list(tags), phases)

    @property
    def all(self) -> list[TaggedCandidate]:
        """Of every type, the best first."""
        return in_order(each for kept in self.candidates.values() for each in kept)


def in_order(candidates: Iterable[TaggedCandidate]) -> list[TaggedCandidate]:
    """The best first; of those that are worth the same, the one that came in first."""
    return sorted(candidates, key=lambda each: (-each.score, each.node.created_at, each.node.id))


@dataclass(frozen=True, slots=True)
class ReasonedMemory:
    """What the candidates of each type say on the question; None where there were none, or nothing came of it.

    `cited` are the ids of the nodes that an answer rests on, by type; `shown` those that it was made from.
    """

    episodic: str | None = None
    semantic: str | None = None
    procedural: str | None = None
    cited: Mapping[str, tuple[str, ...]] = field(default_factory=nothing)
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=nothing)
    problems: tuple[str, ...] = ()
    """What kept an answer from being made."""
    failures: tuple[Mapping[str, str], ...] = ()
    """The same as names: the `step`, and the code of the `error`."""
    withheld: str | None = None
    """Why rules put nothing into words: what was found, if anything, is not sure enough to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallTrace:
    """How a recall went. Times are in microseconds.

    `candidates_per_hop` counts those of the beginning under 0, and all there were after the hops under 1; `rejected`
    those that were not worth enough, by phase. `problems` are what went wrong, and what was done all the same.
    """

    verbosity: str
    mode: Mode
    tags: list[str]
    candidate_count: int
    result_count: int
    hops: int
    duration_us: int
    candidates_per_hop: dict[int, int] | None = None
    scores: dict[str, float] | None = None
    rejected: dict[str, int] | None = None
    phase_timings: dict[str, int] | None = None
    relevances: dict[str, float] | None = None
    """How near each candidate is to the question, before its age and its use count: told in detail."""
    sure: dict[str, float] | None = None
    """How sure the surest candidate of each type makes an answer, 0 to 1."""
    refinements: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    withheld: str | None = None
    """Why rules put nothing into words: what was found, if anything, is not sure enough to answer."""
    llm_calls: int = 0
    tokens: Mapping[str, int] = field(default_factory=nothing)
    """What the language model read and wrote, as `input_tokens` and `output_tokens`."""
    model_calls: list[dict[str, Any]] = field(default_factory=list)
    """The same by `step` and `model`: `calls`, how many `failed`, tokens, and `duration_us`."""
    failures: list[Mapping[str, str]] = field(default_factory=list)
    """The problems as names, without a word of the question: the `step`, and the code of the `error`."""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What a workspace's `recall` returns. `touched_nodes` are all candidates, the best first; `confidence` is how
    likely one of them answers, 0 to 1.
    """

    reasoned: ReasonedMemory
    touched_nodes: list[TouchedNode]
    trace: RecallTrace
    candidates: Mapping[str, list[TaggedCandidate]] = field(default_factory=nothing)
    confidence: float = 0.0
