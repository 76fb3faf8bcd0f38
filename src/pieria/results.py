"""What the verbs return, and the types of what they take: each loaded when it is first asked for."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from pieria.bank.capture.distill import DistilledSessions, Observed
    from pieria.bank.capture.hooks import Checkpoint, HookSettings
    from pieria.bank.capture.sources import Mark, Past, Taken
    from pieria.bank.facts.extracted import Extracted
    from pieria.bank.facts.text_analysis import Analysis, Enriched
    from pieria.bank.filters import Filters, ListFilters
    from pieria.bank.graph.verbs import NodePage
    from pieria.bank.jobs.queue import JobList
    from pieria.bank.jobs.run import WorkerTimes
    from pieria.bank.places import PlaceSummary
    from pieria.bank.read.similar import Likeness
    from pieria.bank.results.general import (
        Around,
        Diagnosis,
        Forgotten,
        IngestReceipt,
        Lifted,
        Neighborhood,
        Quarantine,
        ScratchpadEntry,
        Sessions,
        Stats,
        Trace,
    )
    from pieria.bank.results.lessons import Decided, DecidedRules, Learnt, Proposals, Rule, Rules
    from pieria.bank.results.sleeps import SleepLog, SleepRun
    from pieria.bank.results.transfer import (
        CopyReport,
        ExportReport,
        ImportReport,
        RemovalReport,
        RestoreReport,
        SealReport,
        Synced,
        VaultPromoted,
        VaultStatus,
    )
    from pieria.bank.results.upkeep import (
        Clusters,
        Collected,
        Compacted,
        Duplicates,
        Merged,
        Promoted,
        Related,
        Slept,
        Storage,
        Validated,
    )
    from pieria.bank.sessions.drafts import SessionDraft, SessionStatus, SessionStatuses
    from pieria.bank.upkeep.review import Reinforced
    from pieria.bank.write.update import Changes, Revised
    from pieria.facts.predicates import Predicate
    from pieria.facts.query import Conflict, Entity, FactStats, StatedFact
    from pieria.graph.backend import GraphBackend
    from pieria.graph.changeset import Changeset
    from pieria.graph.edge import Edge
    from pieria.graph.graph import Graph
    from pieria.graph.metadata import NodeMetadata
    from pieria.graph.nodes import Node, Tag
    from pieria.language.grammar import Named
    from pieria.learning.experience import Experience
    from pieria.learning.recalled import RecallResult
    from pieria.learning.steps import EpisodeTrace, Step
    from pieria.learning.upkeep import GraphCleanup, GraphRepair, GraphValidation
    from pieria.models.minds.llm.request import Override, OwnPrompt
    from pieria.record.event import AgentEvent
    from pieria.record.job import Job
    from pieria.record.memory import End
    from pieria.sessions.log import UnfinishedSession
    from pieria.sessions.opened import SessionSummary
    from pieria.upkeep.review import Curve, Retained

__all__ = [
    "AgentEvent",
    "Analysis",
    "Around",
    "Changes",
    "Changeset",
    "Checkpoint",
    "Clusters",
    "Collected",
    "Compacted",
    "Conflict",
    "CopyReport",
    "Curve",
    "Decided",
    "DecidedRules",
    "Diagnosis",
    "DistilledSessions",
    "Duplicates",
    "Edge",
    "End",
    "Enriched",
    "Entity",
    "EpisodeTrace",
    "Experience",
    "ExportReport",
    "Extracted",
    "FactStats",
    "Filters",
    "Forgotten",
    "Graph",
    "GraphBackend",
    "GraphCleanup",
    "GraphRepair",
    "GraphValidation",
    "HookSettings",
    "ImportReport",
    "IngestReceipt",
    "Job",
    "JobList",
    "Learnt",
    "Lifted",
    "Likeness",
    "ListFilters",
    "Mark",
    "Merged",
    "Named",
    "Neighborhood",
    "Node",
    "NodeMetadata",
    "NodePage",
    "Observed",
    "Override",
    "OwnPrompt",
    "Past",
    "PlaceSummary",
    "Predicate",
    "Promoted",
    "Proposals",
    "Quarantine",
    "RecallResult",
    "Reinforced",
    "Related",
    "RemovalReport",
    "RestoreReport",
    "Retained",
    "Revised",
    "Rule",
    "Rules",
    "ScratchpadEntry",
    "SealReport",
    "SessionDraft",
    "SessionStatus",
    "SessionStatuses",
    "SessionSummary",
    "Sessions",
    "SleepLog",
    "SleepRun",
    "Slept",
    "StatedFact",
    "Stats",
    "Step",
    "Storage",
    "Synced",
    "Tag",
    "Taken",
    "Trace",
    "UnfinishedSession",
    "Validated",
    "VaultPromoted",
    "VaultStatus",
    "WorkerTimes",
]

_HOMES = {
    "AgentEvent": "pieria.record.event",
    "Analysis": "pieria.bank.facts.text_analysis",
    "Around": "pieria.bank.results.general",
    "Changes": "pieria.bank.write.update",
    "Changeset": "pieria.graph.changeset",
    "Checkpoint": "pieria.bank.capture.hooks",
    "Clusters": "pieria.bank.results.upkeep",
    "Collected": "pieria.bank.results.upkeep",
    "Compacted": "pieria.bank.results.upkeep",
    "Conflict": "pieria.facts.query",
    "CopyReport": "pieria.bank.results.transfer",
    "Curve": "pieria.upkeep.review",
    "Decided": "pieria.bank.results.lessons",
    "DecidedRules": "pieria.bank.results.lessons",
    "Diagnosis": "pieria.bank.results.general",
    "DistilledSessions": "pieria.bank.capture.distill",
    "Duplicates": "pieria.bank.results.upkeep",
    "Edge": "pieria.graph.edge",
    "End": "pieria.record.memory",
    "Enriched": "pieria.bank.facts.text_analysis",
    "EpisodeTrace": "pieria.learning.steps",
    "Entity": "pieria.facts.query",
    "Experience": "pieria.learning.experience",
    "ExportReport": "pieria.bank.results.transfer",
    "Extracted": "pieria.bank.facts.extracted",
    "FactStats": "pieria.facts.query",
    "Filters": "pieria.bank.filters",
    "Forgotten": "pieria.bank.results.general",
    "Graph": "pieria.graph.graph",
    "GraphBackend": "pieria.graph.backend",
    "GraphCleanup": "pieria.learning.upkeep",
    "GraphRepair": "pieria.learning.upkeep",
    "GraphValidation": "pieria.learning.upkeep",
    "HookSettings": "pieria.bank.capture.hooks",
    "ImportReport": "pieria.bank.results.transfer",
    "IngestReceipt": "pieria.bank.results.general",
    "Job": "pieria.record.job",
    "JobList": "pieria.bank.jobs.queue",
    "Learnt": "pieria.bank.results.lessons",
    "Lifted": "pieria.bank.results.general",
    "Likeness": "pieria.bank.read.similar",
    "ListFilters": "pieria.bank.filters",
    "Mark": "pieria.bank.capture.sources",
    "Named": "pieria.language.grammar",
    "Merged": "pieria.bank.results.upkeep",
    "Neighborhood": "pieria.bank.results.general",
    "Node": "pieria.graph.nodes",
    "NodeMetadata": "pieria.graph.metadata",
    "NodePage": "pieria.bank.graph.verbs",
    "Observed": "pieria.bank.capture.distill",
    "Override": "pieria.models.minds.llm.request",
    "OwnPrompt": "pieria.models.minds.llm.request",
    "Past": "pieria.bank.capture.sources",
    "PlaceSummary": "pieria.bank.places",
    "Predicate": "pieria.facts.predicates",
    "Promoted": "pieria.bank.results.upkeep",
    "Proposals": "pieria.bank.results.lessons",
    "Quarantine": "pieria.bank.results.general",
    "RecallResult": "pieria.learning.recalled",
    "Reinforced": "pieria.bank.upkeep.review",
    "Related": "pieria.bank.results.upkeep",
    "RemovalReport": "pieria.bank.results.transfer",
    "RestoreReport": "pieria.bank.results.transfer",
    "Retained": "pieria.upkeep.review",
    "Revised": "pieria.bank.write.update",
    "Rule": "pieria.bank.results.lessons",
    "Rules": "pieria.bank.results.lessons",
    "ScratchpadEntry": "pieria.bank.results.general",
    "SealReport": "pieria.bank.results.transfer",
    "SessionDraft": "pieria.bank.sessions.drafts",
    "SessionStatus": "pieria.bank.sessions.drafts",
    "SessionStatuses": "pieria.bank.sessions.drafts",
    "SessionSummary": "pieria.sessions.opened",
    "Sessions": "pieria.bank.results.general",
    "SleepLog": "pieria.bank.results.sleeps",
    "SleepRun": "pieria.bank.results.sleeps",
    "Slept": "pieria.bank.results.upkeep",
    "StatedFact": "pieria.facts.query",
    "Stats": "pieria.bank.results.general",
    "Step": "pieria.learning.steps",
    "Storage": "pieria.bank.results.upkeep",
    "Synced": "pieria.bank.results.transfer",
    "Tag": "pieria.graph.nodes",
    "Taken": "pieria.bank.capture.sources",
    "Trace": "pieria.bank.results.general",
    "UnfinishedSession": "pieria.sessions.log",
    "Validated": "pieria.bank.results.upkeep",
    "VaultPromoted": "pieria.bank.results.transfer",
    "VaultStatus": "pieria.bank.results.transfer",
    "WorkerTimes": "pieria.bank.jobs.run",
}

# Hidden from type checkers, which would otherwise take any name for one that is there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'pieria.results' has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
