"""What was learnt, made ready to be written: with tags and intents that are there already, and not a second time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset
from pieria.learning.intent_merger import merging
from pieria.learning.tag_deduplicator import deduplicate
from pieria.learning.trajectory import Structured

if TYPE_CHECKING:
    from pieria.config import Config


def prepared(
    changeset: Changeset,
    backend: GraphBackend | None,
    mind: object = None,
    embedder: object = None,
    config: Config | None = None,
) -> Changeset:
    """The changeset with each tag once and its intents merged, for whoever writes it to the backend."""
    return merging(deduplicate(changeset, backend=backend), backend, mind, embedder, config).changeset


def settled(
    structured: Structured,
    backend: GraphBackend | None,
    mind: object = None,
    embedder: object = None,
    config: Config | None = None,
) -> Structured:
    """The same of a trajectory's changeset with its trace: told in detail, it says which intents were merged."""
    once = deduplicate(structured.changeset, backend=backend)
    changeset, merges = merging(once, backend, mind, embedder, config)
    is_detailed = structured.trace.verbosity == "detailed"
    return Structured(changeset, replace(structured.trace, merged_intents=merges if is_detailed else None))
