"""Validation: lower the reward of knowledge that has no sources or differs from them, for as long as it does."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pieria.config import VALIDATION
from pieria.graph.backend import GraphBackend
from pieria.graph.edge import Edge
from pieria.graph.similarity import EXACT, directions
from pieria.graph.view import Look, Tended, tended
from pieria.learning.upkeep import GraphValidation, Progress, Telling, spanned
from pieria.record import check

if TYPE_CHECKING:
    from pieria.config import Config

KNOWLEDGE = ("semantic", "procedural")
GROUNDED, WEAK, ORPHANED = "grounded", "penalized", "orphaned"


def validate(
    backend: GraphBackend,
    config: Config | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    repo_id: str | None = None,
) -> GraphValidation:
    """Check that facts and procedures have source steps with similar vectors.

    The penalties of `config.episodic_validation` are subtracted once, even over many runs, and returned when the
    sources match again. Nodes without a vector count as grounded. `changed` counts nodes whose reward changed.
    """
    check.flag(dry_run, "dry_run")
    graph = tended(backend)
    rules = {**VALIDATION, **((config and config.episodic_validation) or {})}
    owed = {GROUNDED: 0.0, WEAK: rules["weak_grounding_penalty"], ORPHANED: rules["orphan_penalty"]}
    with spanned("episodic_validation.validate", repo_id, "checked", WEAK, ORPHANED) as summary:
        grounds = _Grounds(graph)
        counted, changed, telling = Counter[str](), 0, Telling(progress, len(grounds.sources))
        for page in graph.looks(KNOWLEDGE):
            judged = grounds.judged(page, rules["validation_threshold"])
            counted.update(judged.values())
            moved = {look.id: owed[judged[look.id]] for look in page if _differs(look, owed[judged[look.id]])}
            changed += len(moved) if dry_run or not moved else len(graph.penalize(moved))
            telling.more(len(page))
        done = GraphValidation(
            checked=counted.total(),
            grounded=counted[GROUNDED],
            penalized=counted[WEAK],
            orphaned=counted[ORPHANED],
            changed=changed,
        )
        summary.update(done)
    return done


def _differs(look: Look, owed: float) -> bool:
    return look.metadata is not None and look.metadata.penalized(owed) != look.metadata


class _Grounds:
    """The sources of each piece of knowledge, found through its steps."""

    def __init__(self, graph: Tended) -> None:
        self._graph = graph
        self._looks = [look for page in graph.looks(("source",)) for look in page]
        numbers = {look.id: number for number, look in enumerate(self._looks)}
        steps = {look.id for page in graph.looks(("episodic",)) for look in page}
        known = {look.id for page in graph.looks(KNOWLEDGE) for look in page}
        of_step: defaultdict[str, array[int]] = defaultdict(lambda: array("l"))
        self.sources: dict[str, list[array[int]]] = {id: [] for id in known}
        for step, other in _from_steps(graph, steps):
            if other in numbers:
                of_step[step].append(numbers[other])
        for step, other in _from_steps(graph, steps):
            if other in known and step in of_step:
                self.sources[other].append(of_step[step])

    def judged(self, page: Sequence[Look], threshold: float) -> dict[str, str]:
        sources = {look.id: sorted({n for part in self.sources.get(look.id, ()) for n in part}) for look in page}
        wanted = sorted({number for numbers in sources.values() for number in numbers})
        vectors = self._graph.vectors([self._looks[number] for number in wanted])
        own = self._graph.vectors(page)
        return {
            look.id: ORPHANED
            if not sources[look.id]
            else _near(own.get(look.id), [vectors.get(self._looks[n].id) for n in sources[look.id]], threshold)
            for look in page
        }


def _from_steps(graph: Tended, steps: set[str]) -> Any:
    for one, other, edge in graph.ties():
        if edge is Edge.PROVENANCE:
            if one in steps:
                yield one, other
            if other in steps:
                yield other, one


def _near(own: Any, sources: Sequence[Any], threshold: float) -> str:
    """Return whether the nearest source reaches the threshold."""
    compared = [] if own is None else [vector for vector in sources if vector is not None and len(vector) == len(own)]
    if not compared:
        return GROUNDED
    lines = directions([own, *compared])
    return GROUNDED if float((lines[1:] @ lines[0]).max()) >= threshold - EXACT else WEAK
