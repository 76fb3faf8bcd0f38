"""Search a graph for a question: by mode and terms, then from node to node.

Every candidate is scored by the value function and its metadata. If a mind or model fails, that part is skipped and
the trace says so. This module only reads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

from pieria import telemetry
from pieria.errors import InputError, PieriaError
from pieria.graph.edge import Edge
from pieria.graph.nodes import Node
from pieria.graph.search import Question, Reached, Searching, Valued, searching_of
from pieria.graph.value_function import Values, params_of, values_of
from pieria.learning.hop_refinement import Refined, State, fires, init, maybe_refine
from pieria.learning.models import Options, embedder_of, judging
from pieria.learning.recalled import Phase, RecallTrace, RetrievalResult, TaggedCandidate, in_order
from pieria.models.meter import Tally
from pieria.models.mind import Knowledge, Mind, Mode
from pieria.record import check
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.config import Config
    from pieria.models.embedder import Passages

log = logging.getLogger(__name__)

ANSWERS: tuple[Knowledge, ...] = get_args(Knowledge)
MODES: Mapping[Mode, tuple[str, ...]] = {
    "semantic": ("semantic",),
    "procedural": ("procedural",),
    "episodic": ("episodic", "subgoal"),
    "mixed": ("episodic", "semantic", "procedural", "subgoal"),
}
"""The node types that answer."""
ROUTES: Mapping[Mode, tuple[str, ...]] = {
    "semantic": ("tag",),
    "procedural": ("intent",),
    "episodic": ("subgoal", "tag"),
    "mixed": ("tag", "intent"),
}
"""The node types to walk through."""
MOST = 100
"""Candidates kept."""
TAGS = 20
MOST_HOPS = 100
SURE: Mapping[str, float] = {"episodic": 0.3, "semantic": 0.35, "procedural": 0.35}
SURE_BY_WORDS: Mapping[str, float] = {"episodic": 0.15, "semantic": 0.15, "procedural": 0.2}
"""Default floor of each type, with an embedding model and with words only. Rules do not answer below it."""
PROVENANCE_SHARE = 0.5
"""A source's share of the score of its best step."""


class Embeds(Protocol):
    """The part of an embedder that a search needs."""

    @property
    def is_floor(self) -> bool: ...

    def query(self, text: str) -> NDArray[np.float32]: ...

    def passages(self, texts: Sequence[str]) -> Passages: ...


class _Met(NamedTuple):
    """A node that was found, and how."""

    valued: Valued
    phase: Phase
    hop: int


def retrieve(
    query: str,
    llm: object = None,
    embedding: object = None,
    backend: Any = None,
    value_function: object = None,
    llm_opts: Options = (),
    config: Config | None = None,
    max_hops: int = 2,
    *,
    repo_id: str | None = None,
    session_id: str | None = None,
    clock: Clock = system_clock,
) -> tuple[RetrievalResult, RecallTrace]:
    """Return the candidates for a question, by type, and the trace.

    `llm` is a language model or a mind; without one, rules judge. `embedding` is an embedding, an embedder or a
    function of a list of texts, and must be the one that embedded the graph; a bank uses its own. `value_function` is
    a function, an object or class with a method `score`, or a mapping with `module` and `params`; the configuration
    fills in the rest. Raise `AdapterError` if the question cannot be embedded and the backend is no bank. A bank can
    search by words.
    """
    if backend is None:
        raise InputError("backend", "what keeps a graph: pieria.graph.GraphBackend", backend)
    tally = Tally()
    searching = searching_of(backend, clock)
    looking = Looking(
        mind=judging(llm, config, llm_opts, tally),
        embedder=None if searching.embeds else embedder_of(embedding, config),
        searching=searching,
        values=values_of(value_function, config),
        config=config,
        max_hops=check.whole(max_hops, "max_hops", 0, MOST_HOPS),
        repo_id=repo_id,
        session_id=session_id,
    )
    result, trace = looking.find(check.text(query, "query", too_long="ask for the part that matters"))
    return result, replace(trace, llm_calls=tally.calls, tokens=dict(tally.tokens), model_calls=tally.by_step)


@dataclass(slots=True, kw_only=True)
class Looking:
    """One search for one question. Use each instance once."""

    mind: Mind
    embedder: Embeds | None
    """None if the search embeds the question."""
    searching: Searching
    values: Values
    config: Config | None
    max_hops: int
    repo_id: str | None = None
    session_id: str | None = None
    verbosity: str | None = None
    """Verbosity of the trace, if it differs from the configuration."""
    _found: dict[str, _Met] = field(default_factory=dict)
    _problems: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _rejected: dict[str, int] = field(default_factory=dict)
    _timings: dict[str, int] = field(default_factory=dict)
    _types: Sequence[str] = ()
    """The node types that may answer."""
    _measured: float | None = None
    """The probability that any candidate answers, if the search measures it."""

    def find(self, query: str, context: str | None = None) -> tuple[RetrievalResult, RecallTrace]:
        """Return the result and the trace. `context` is the question with its session context.

        Models see the context; the search uses both the question and the context.
        """
        begun = perf_counter()
        asked = query if context is None else context
        with telemetry.during("retrieval.retrieve", repo_id=self.repo_id, session_id=self.session_id) as measured:
            with self._timed("mode"):
                mode = self._mode(asked)
            with self._timed("terms"):
                tags = self._tags(asked, mode)
            with self._timed("embedding"):
                question = self._question(query, context, tags)
            with self._timed("hop_0"):
                mode = self._first(mode, question)
            at_first = len(self._found)
            with self._timed("multi_hop"):
                state = self._walk(asked, question, mode)
            found = RetrievalResult.of([*self._tagged(), *self._provenance(mode)], mode, tags)
            result = replace(found, confidence=self._confidence, sure=self._sure, floors=self._floors)
            measured["candidates_found"] = count = len(result.all)
        self._timings["multi_hop"] -= self._timings.get("refinement", 0)
        verbosity = self.verbosity or ("summary" if self.config is None else self.config.trace_verbosity)
        met = {id: each.valued.relevance for id, each in self._found.items()}
        trace = RecallTrace(
            verbosity=verbosity,
            mode=mode,
            tags=tags,
            candidate_count=count,
            result_count=count,
            hops=self.max_hops,
            duration_us=int(1e6 * (perf_counter() - begun)),
            candidates_per_hop={0: at_first} | ({1: len(self._found)} if self.max_hops else {}),
            scores={each.node.id: each.score for each in result.all},
            relevances=met if verbosity == "detailed" else None,
            rejected={phase: number for phase, number in self._rejected.items() if number},
            phase_timings=self._timings,
            sure=dict(result.sure),
            refinements=state.refinements,
            problems=list(self._problems),
            failures=list(self._problems.values()),
        )
        return result, trace

    # --- the question

    def _mode(self, asked: str) -> Mode:
        try:
            mode: Mode = self.mind.mode(asked)
        except PieriaError as problem:
            told = f"the kind of question could not be determined, so all kinds were searched: {problem}"
            self._problem(told, "mode", problem.code)
            return "mixed"
        if mode not in get_args(Mode):
            self._problem(f"{mode!r} is no kind of question, so all kinds are looked for", "mode", "reply")
            return "mixed"
        return mode

    def _tags(self, asked: str, mode: Mode) -> list[str]:
        try:
            tags = [tag.strip() for tag in self.mind.plan(asked, mode)]
        except PieriaError as problem:
            self._problem(f"there are no terms, so the question alone is looked for: {problem}", "terms", problem.code)
            return []
        return list(dict.fromkeys(tag for tag in tags if tag))[:TAGS]

    def _question(self, query: str, context: str | None, tags: Sequence[str]) -> Question:
        """Return the question with its terms; without terms, with its context."""
        others = [] if context is None else [context]
        if self.embedder is None:
            return Question(query, terms=tags or others)
        own = [self.embedder.query(query).tolist()]
        return Question(query, own + self._embedded([*others, *tags]), tags)

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        assert self.embedder is not None
        try:
            return self.embedder.passages(texts).vectors.tolist() if texts else []
        except PieriaError as problem:
            told = f"terms could not be embedded, so the question alone is looked for: {problem}"
            self._problem(told, "embedding", problem.code)
            return []

    # --- the graph

    def _first(self, mode: Mode, question: Question) -> Mode:
        """Search near the question and return the mode.

        If the mode was guessed from words, every type may answer. Otherwise search the types of the mode, and every
        type if none of these is sure enough.
        """
        is_guessed = getattr(self.mind, "guesses_modes", False)
        self._types = MODES["mixed" if is_guessed else mode]
        self._take(self.searching.found(question, self._types, self.values), "initial", 0)
        if self._types == MODES["mixed"] or any(self._sure[kind] >= self._floors[kind] for kind in self._sure):
            return mode
        self._types, self._found = MODES["mixed"], {}
        self._take(self.searching.found(question, self._types, self.values), "initial", 0)
        return "mixed"

    def _walk(self, asked: str, question: Question, mode: Mode) -> State:
        """Walk from node to node. Stop early if nothing new is in reach and no refinement is left."""
        state = init(self.config, self.max_hops)
        frontier = list(self._found)
        for hop in range(1, self.max_hops + 1):
            reached = (
                self.searching.reached(question, frontier, ROUTES[mode], self._found.keys(), self.values)
                if frontier
                else Reached([])
            )
            frontier = self._take(reached, "multi_hop", hop)
            state, more = self._refined(state, asked, question, hop)
            frontier += more
            if not frontier and (state.budget_remaining <= 0 or not self._found):
                break
        return state

    def _refined(self, state: State, asked: str, question: Question, hop: int) -> tuple[State, list[str]]:
        """Refine the search and return the new nodes. Refinement depends on relevance: new, unused nodes score low
        even if they match."""
        best = max((each.valued.relevance for each in self._found.values()), default=0.0)
        if not fires(state, best, self.config):
            return replace(state, previous_best_score=best), []
        with self._timed("refinement"):
            ctx = {"llm": self.mind, "embedding": self.embedder or False, "config": self.config, "best": best}
            refined = maybe_refine(state, asked, self._tagged(), hop, ctx)
            if not isinstance(refined, Refined):
                if refined.problem is not None:
                    self._problem(refined.problem, "refinement", refined.error)
                return refined.state, []
            closer = Question(question.text, [*question.vectors[:1], *refined.vectors], refined.tags)
            new = self._take(self.searching.found(closer, self._types, self.values), "refinement", hop)
        told = refined.state.refinements[-1]
        told["new_best_score"] = max((each.valued.relevance for each in self._found.values()), default=best)
        return refined.state, new

    def _take(self, reached: Reached, phase: Phase, hop: int) -> list[str]:
        """Keep the best candidates and return the new ids. A known candidate keeps its highest score."""
        new = {each.id: _Met(each, phase, hop) for each in reached.valued if each.id not in self._found}
        for each in reached.valued:
            if each.id not in new and each.score > self._found[each.id].valued.score:
                self._found[each.id] = self._found[each.id]._replace(valued=each)
        both = sorted([*self._found.items(), *new.items()], key=lambda pair: -pair[1].valued.score)
        self._found = dict(both[:MOST])
        self._rejected[phase] = self._rejected.get(phase, 0) + reached.below + max(0, len(both) - MOST)
        for problem in reached.problems:
            self._problem(*problem)
        if reached.confidence is not None:
            self._measured = max(reached.confidence, self._measured or 0.0)
        return [id for id in new if id in self._found]

    @property
    def _confidence(self) -> float:
        """Return the measured confidence, or else the best candidate's probability."""
        return max(self._sure.values(), default=0.0) if self._measured is None else self._measured

    @property
    def _sure(self) -> dict[str, float]:
        """Return the best probability of each type. Routing nodes and summaries do not answer."""
        sure: dict[str, float] = {}
        for valued in (met.valued for met in self._found.values() if met.valued.node_type in ANSWERS):
            sure[valued.node_type] = max(valued.sure, sure.get(valued.node_type, 0.0))
        return sure

    @property
    def _floors(self) -> Mapping[str, float]:
        own = None if self.config is None else self.config.answer_threshold
        if own is not None:
            return dict.fromkeys(ANSWERS, own)
        by_words = self.searching.is_floor if self.embedder is None else self.embedder.is_floor
        return SURE_BY_WORDS if by_words else SURE

    def _tagged(self) -> list[TaggedCandidate]:
        nodes = self.searching.nodes(list(self._found))
        met = [(node, self._found[node.id]) for node in nodes]
        return [TaggedCandidate(node, each.valued.score, each.phase, each.hop) for node, each in met]

    def _provenance(self, mode: Mode) -> list[TaggedCandidate]:
        """Return the sources of the steps found for an episodic question, at half the best step's score."""
        steps = {id: met.valued.score for id, met in self._found.items() if met.valued.node_type == "episodic"}
        if mode != "episodic" or not steps:
            return []
        with self._timed("provenance"):
            sources = [node for node in self.searching.sources(list(steps)) if node.id not in self._found]
            tagged = in_order(TaggedCandidate.from_provenance(node, _share(node, steps)) for node in sources)
        return tagged[: int(params_of(self.values, "source")["top_k"])]

    def _problem(self, problem: str, step: str, error: str) -> None:
        log.info("recall: %s", problem)
        self._problems.setdefault(problem, {"step": step, "error": error})

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        begun = perf_counter()
        try:
            yield
        finally:
            self._timings[phase] = self._timings.get(phase, 0) + int(1e6 * (perf_counter() - begun))


def _share(source: Node, steps: Mapping[str, float]) -> float:
    best = max((steps[id] for id in source.links[Edge.PROVENANCE] if id in steps), default=0.0)
    return PROVENANCE_SHARE * best
