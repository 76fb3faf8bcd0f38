"""The classes whose instances travel as JSON, by their names on the wire. No other class is ever built from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "pieria.bank.capture.distill": "DistilledSessions Observed",
        "pieria.bank.capture.hooks": "Checkpoint HookSettings",
        "pieria.bank.capture.sources": "Same Taken",
        "pieria.bank.facts.extracted": "Extracted",
        "pieria.bank.facts.text_analysis": "Analysis Enriched",
        "pieria.bank.graph.verbs": "NodePage",
        "pieria.bank.jobs.queue": "JobList",
        "pieria.bank.places": "PlaceSummary",
        "pieria.bank.read.similar": "Likeness",
        "pieria.bank.results.general": (
            "Around Diagnosis Drawn Forgotten IngestReceipt Lifted Neighbor Neighborhood Page Quarantine Receipt "
            "ScratchpadEntry SessionSeen Sessions Stats Telling Trace"
        ),
        "pieria.bank.results.lessons": "Decided DecidedRules Learnt Proposal Proposals Rule Rules",
        "pieria.bank.results.sleeps": "SleepLog SleepRun",
        "pieria.bank.results.transfer": (
            "BadNote ExportReport ImportReport Noted Synced VaultEvent VaultPromoted VaultStatus"
        ),
        "pieria.bank.results.upkeep": (
            "Clusters Collected Compacted Duplicates Failure Merged Promoted Related Slept Storage Validated"
        ),
        "pieria.bank.sessions.drafts": "SessionDraft SessionStatus SessionStatuses",
        "pieria.bank.upkeep.review": "Reinforced Reinforcement",
        "pieria.facts.predicates": "Predicate",
        "pieria.facts.query": "Conflict Entity FactStats StatedFact",
        "pieria.graph.changeset": "Changeset",
        "pieria.graph.edge": "Edge",
        "pieria.graph.graph": "Graph",
        "pieria.graph.metadata": "NodeMetadata",
        "pieria.graph.nodes": "Episodic Intent Procedural Semantic Source Subgoal Tag",
        "pieria.language.grammar": "Named",
        "pieria.language.intent.judgement": "Recalling Saving",
        "pieria.learning.steps": "EpisodeTrace Step",
        "pieria.recall.answer": "Context Hit Item Overturned Recall",
        "pieria.record.changeset": "Change",
        "pieria.record.decay": "Fading",
        "pieria.record.draft": "NewMemory",
        "pieria.record.fact": "Fact",
        "pieria.record.job": "Job JobProblem=Problem JobProgress=Progress Spent",
        "pieria.record.link": "Link",
        "pieria.record.memory": "End Judgement Labels Memory Origin Standing Times",
        "pieria.record.usage": "Usage",
        "pieria.sessions.log": "UnfinishedSession",
        "pieria.sessions.state": "SessionState",
        "pieria.store.protocol": "Finding",
        "pieria.upkeep.clusters": "Cluster Merging Pair",
        "pieria.upkeep.faded": "Faded",
        "pieria.upkeep.promotion": "Promotion",
        "pieria.upkeep.review": "Curve Retained",
        "pieria.upkeep.sleep": "Shortened Summary",
        "pieria.upkeep.validation": "ValidationProblem=Problem",
    }
)
"""Modules and their classes. `OTHER=Name` gives a class another name on the wire, where two share one."""
SENT = frozenset(
    (
        *("Changeset", "Edge", "End", "Episodic", "Intent", "NewMemory", "NodeMetadata", "Procedural"),
        *("Same", "Semantic", "Source", "Subgoal", "Tag"),
    )
)
"""The classes that a caller may send as arguments. The server builds them by their constructors, which check."""


def _places() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for module, names in _HOMES.items():
        for told in names.split():
            wire, _, name = told.partition("=")
            assert wire not in found, f"two classes are called {wire} on the wire"
            found[wire] = module, name or wire
    return found


PLACES = MappingProxyType(_places())
"""Module and class by the name on the wire."""
_WIRE = {place: wire for wire, place in PLACES.items()}


@cache
def record_named(wire: str) -> type | None:
    """Return the class of a name on the wire, or None."""
    place = PLACES.get(wire)
    return None if place is None else getattr(import_module(place[0]), place[1])


def wire_name(kind: type) -> str | None:
    """Return the name of a class on the wire, or None for a class that does not travel."""
    return _WIRE.get((kind.__module__, kind.__name__))
