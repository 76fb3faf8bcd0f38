"""Prepare learned knowledge for writing: reuse the tags, intents, facts and procedures that the graph has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset
from pieria.learning.intent_merger import merging
from pieria.learning.repeated_knowledge import strengthen
from pieria.learning.structuring import Structured
from pieria.learning.tag_deduplicator import deduplicate

if TYPE_CHECKING:
    from pieria.config import Config


def prepared(
    changeset: Changeset,
    backend: GraphBackend | None,
    mind: object = None,
    embedder: object = None,
    config: Config | None = None,
) -> Changeset:
    """Return the changeset with duplicate tags and intents merged, and without knowledge that the graph has."""
    once = deduplicate(changeset, backend=backend)
    return strengthen(merging(once, backend, mind, embedder, config).changeset, backend)


def settled(
    structured: Structured,
    backend: GraphBackend | None,
    mind: object = None,
    embedder: object = None,
    config: Config | None = None,
) -> Structured:
    """Prepare a trajectory's changeset; a detailed trace lists the merged intents."""
    once = deduplicate(structured.changeset, backend=backend)
    changeset, merges = merging(once, backend, mind, embedder, config)
    is_detailed = structured.trace.verbosity == "detailed"
    trace = replace(structured.trace, merged_intents=merges if is_detailed else None)
    return Structured(strengthen(changeset, backend), trace)
