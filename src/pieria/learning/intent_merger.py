"""Merge nearly identical intents, within a changeset and with stored ones.

The cosine of their vectors decides. A mind words the merged intent, so that a name or a number of either is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.errors import PieriaError
from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset, rewritten
from pieria.graph.nodes import Intent, Node
from pieria.graph.similarity import cosine_similarity
from pieria.graph.value_function import params_of, score_of
from pieria.language.particulars import are_apart, particulars
from pieria.learning.likeness import nearest
from pieria.learning.models import embedder_of, mind_of
from pieria.models.embedder import Embedder
from pieria.models.mind import Mind
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.minds.llm import OwnPrompt

log = logging.getLogger(__name__)

MERGED, IDENTICAL = 0.8, 0.95
"""Default minimum cosines: two intents are merged under new wording, or count as one."""
NEAREST = 20
"""Stored intents compared with each new one."""


class Merged(NamedTuple):
    """The changeset, and for each merged intent: both wordings, the result and the similarity."""

    changeset: Changeset
    merges: list[dict[str, Any]]


def merge(
    changeset: Changeset,
    backend: GraphBackend | None = None,
    llm: object = None,
    embedding: object = None,
    config: Config | None = None,
    value_function: Mapping[str, Any] | None = None,
    *,
    prompts: Mapping[str, OwnPrompt] | None = None,
) -> Changeset:
    """Return the changeset with its intents merged. See `merging`."""
    return merging(changeset, backend, llm, embedding, config, value_function, prompts=prompts).changeset


def merging(
    changeset: Changeset,
    backend: GraphBackend | None = None,
    llm: object = None,
    embedding: object = None,
    config: Config | None = None,
    value_function: Mapping[str, Any] | None = None,
    *,
    prompts: Mapping[str, OwnPrompt] | None = None,
) -> Merged:
    """Merge each intent with the nearest one that is stored or came earlier.

    From `intent_identity_threshold` on, the new intent is dropped, unless the two differ in a name or a number. From
    `intent_merge_threshold` on, a mind words both as one, under the older id; if that fails, they count as the same. A
    `value_function`, as backends take it, chooses among several near intents; without one, the nearest is taken.
    """
    intents = [node for node in changeset.nodes().values() if isinstance(node, Intent)]
    with telemetry.during("intent_merger.merge", intent_count=len(intents)) as measured:
        if not intents:
            return Merged(changeset, [])
        embedder = None if embedding is None else embedder_of(embedding, config)
        work = _Merging(backend, mind_of(llm, config, prompts=prompts), embedder, config, value_function)
        for intent in _with_vectors(intents, embedder):
            work.take(intent)
        measured.update(merged=sum(one["merged"] != one["held"] for one in work.merges), rewrites=len(work.rewrites))
    return Merged(work.applied(changeset), work.merges)


class _Near(NamedTuple):
    intent: Intent
    cosine: float


class _Merging:
    def __init__(
        self,
        backend: GraphBackend | None,
        mind: Mind,
        embedder: Embedder | None,
        config: Config | None,
        value_function: Mapping[str, Any] | None,
    ) -> None:
        self._backend = backend
        self._mind = mind
        self._embedder = embedder
        self._least = MERGED if config is None else config.intent_merge_threshold
        self._same = IDENTICAL if config is None else config.intent_identity_threshold
        self._value_function = value_function
        self._kept: dict[str, Intent] = {}
        """Intents of the changeset that stay, in their current wording."""
        self._reworded: dict[str, Intent] = {}
        """Stored intents with a new wording."""
        self.rewrites: dict[str, str] = {}
        self.merges: list[dict[str, Any]] = []

    def take(self, intent: Intent) -> None:
        found = self._near(intent)
        same = [one for one in found if one.cosine >= self._same and not _are_apart(one.intent, intent)]
        near = same or [one for one in found if one.cosine >= self._least]
        if not near:
            self._kept[intent.id] = intent
            return
        self._join(self._chosen(near), intent, is_same=bool(same))

    def _join(self, found: _Near, intent: Intent, *, is_same: bool) -> None:
        held = found.intent
        merged = held if is_same else self._both(held, intent)
        self.rewrites[intent.id] = held.id
        told = {"id": held.id, "held": held.description, "new": intent.description}
        self.merges.append({**told, "merged": merged.description, "similarity": round(found.cosine, 4)})
        (self._kept if held.id in self._kept else self._reworded)[held.id] = merged

    def applied(self, changeset: Changeset) -> Changeset:
        kept = self._kept
        # In their current wording, with the links they came with.
        nodes = [replace(kept[node.id], links=node.links) if node.id in kept else node for node in changeset.additions]
        stored = [node for node in self._reworded.values() if node.id in self._worded_anew]
        return rewritten(replace(changeset, additions=[*nodes, *stored]), self.rewrites)

    @property
    def _worded_anew(self) -> set[str]:
        return {one["id"] for one in self.merges if one["merged"] != one["held"]}

    def _near(self, intent: Intent) -> list[_Near]:
        """Return stored intents first, then those of the changeset, each nearest first."""
        stored = [self._reworded.get(held.id, held) for held in self._stored(intent)]
        found = [_Near(held, _cosine(held, intent)) for held in stored if held.id != intent.id]
        batch = [_Near(held, _cosine(held, intent)) for held in self._kept.values()]
        return sorted(found, key=lambda near: -near.cosine) + sorted(batch, key=lambda near: -near.cosine)

    def _stored(self, intent: Intent) -> list[Intent]:
        """Return the stored intents near this one, and those with a new wording."""
        found: dict[str, Intent] = dict(self._reworded)
        if self._backend is not None:
            for node in nearest(self._backend, intent, NEAREST):
                if isinstance(node, Intent):
                    found.setdefault(node.id, node)
        return list(found.values())

    def _chosen(self, near: list[_Near]) -> _Near:
        if self._value_function is None or self._backend is None:
            return max(near, key=lambda found: found.cosine)
        score = score_of(self._value_function, system_clock)
        params = params_of(self._value_function, Intent.node_type)
        metadata = self._backend.get_metadata([found.intent.id for found in near])
        return max(near, key=lambda it: score(it.cosine, it.intent, metadata.get(it.intent.id), params))

    def _both(self, held: Intent, new: Intent) -> Intent:
        """Return the intent that stays, with wording and vector for both."""
        try:
            words = self._mind.merge_intent(held.description, new.description)
            vector = None if self._embedder is None else _vector(words, self._embedder)
        except PieriaError as problem:
            log.warning("two intents could not be put into one wording, and count as the same: %s", problem)
            return held
        return replace(held, description=words, embedding=vector, links={}) if words.strip() else held


def _are_apart(one: Intent, other: Intent) -> bool:
    return are_apart(particulars(one.description), particulars(other.description))


def _with_vectors(intents: list[Intent], embedder: Embedder | None) -> list[Intent]:
    """Embed intents that lack a vector. Without vectors, only equal texts count as the same."""
    bare = [intent for intent in intents if intent.embedding is None]
    if embedder is None or not bare:
        return intents
    try:
        made = embedder.passages([intent.description for intent in bare]).vectors
    except PieriaError as problem:
        log.warning("%d intents could not be embedded, and are compared by their words: %s", len(bare), problem)
        return intents
    vectors = {intent.id: [*map(float, row)] for intent, row in zip(bare, made, strict=True)}
    return [replace(intent, embedding=vectors.get(intent.id, intent.embedding)) for intent in intents]


def _cosine(one: Node, other: Node) -> float:
    if one.text.strip().casefold() == other.text.strip().casefold():
        return 1.0
    if one.embedding is None or other.embedding is None or len(one.embedding) != len(other.embedding):
        return 0.0
    return cosine_similarity(one.embedding, other.embedding)


def _vector(text: str, embedder: Embedder) -> list[float]:
    return [*map(float, embedder.passages([text]).vectors[0])]
