"""The results of a recall as plain values: candidates, answers and trace."""

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
    """A candidate node with its score, and how it was found.

    `hop` is the number of hops to it; None for the source of another node.
    """

    node: Node
    score: float
    phase: Phase
    hop: int | None

    @classmethod
    def from_provenance(cls, node: Node, score: float) -> Self:
        return cls(node, score, "provenance", None)

    @classmethod
    def from_hop_0(cls, node: Node, score: float) -> Self:
        return cls(node, score, "initial", 0)

    @classmethod
    def from_multi_hop(cls, node: Node, score: float, hop: int) -> Self:
        return cls(node, score, "multi_hop", hop)

    @classmethod
    def from_refinement(cls, node: Node, score: float, hop: int) -> Self:
        return cls(node, score, "refinement", hop)


@dataclass(frozen=True, slots=True)
class TouchedNode:
    """A candidate as shown in the result; a detailed trace includes the node."""

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
    """The candidates by node type, best first; `phases` maps each id to how it was found.

    `confidence` is the probability from 0 to 1 that any candidate answers. `sure` holds the best probability for each
    type, and is empty if it was not measured. Rules do not answer a type below its floor.
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
        """Return the candidates of all types, best first."""
        return in_order(each for kept in self.candidates.values() for each in kept)


def in_order(candidates: Iterable[TaggedCandidate]) -> list[TaggedCandidate]:
    """Return the candidates best first; ties go to the older node."""
    return sorted(candidates, key=lambda each: (-each.score, each.node.created_at, each.node.id))


@dataclass(frozen=True, slots=True)
class ReasonedMemory:
    """The answer for each node type; None if there were no candidates or no answer.

    `cited` holds the ids of the nodes that an answer cites, by type; `shown` those that it was made from.
    """

    episodic: str | None = None
    semantic: str | None = None
    procedural: str | None = None
    cited: Mapping[str, tuple[str, ...]] = field(default_factory=nothing)
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=nothing)
    problems: tuple[str, ...] = ()
    """Why answers are missing."""
    failures: tuple[Mapping[str, str], ...] = ()
    """The same as names: `step`, and the code of `error`."""
    withheld: str | None = None
    """Why rules gave no answer: no candidate was sure enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallTrace:
    """How a recall ran. Times are in microseconds.

    `candidates_per_hop` counts candidates of the first search under 0, and all after the hops under 1. `rejected`
    counts candidates below the threshold, by phase. `problems` are the errors and how the recall went on.
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
    """Similarity of each candidate to the question, before age and use count. Only in a detailed trace."""
    sure: dict[str, float] | None = None
    """The best candidate's probability to answer, by type, 0 to 1."""
    refinements: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    withheld: str | None = None
    """Why rules gave no answer: no candidate was sure enough."""
    llm_calls: int = 0
    tokens: Mapping[str, int] = field(default_factory=nothing)
    """Tokens of the language model, as `input_tokens` and `output_tokens`."""
    model_calls: list[dict[str, Any]] = field(default_factory=list)
    """The same by `step` and `model`: `calls`, `failed`, tokens and `duration_us`."""
    failures: list[Mapping[str, str]] = field(default_factory=list)
    """The problems without text of the question: `step`, and the code of `error`."""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The result of a workspace's `recall`. `touched_nodes` are all candidates, best first; `confidence` is the
    probability from 0 to 1 that one of them answers."""

    reasoned: ReasonedMemory
    touched_nodes: list[TouchedNode]
    trace: RecallTrace
    candidates: Mapping[str, list[TaggedCandidate]] = field(default_factory=nothing)
    confidence: float = 0.0
