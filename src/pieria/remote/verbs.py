"""The verbs that a bank offers over HTTP: the access that each needs, and the few that are not offered.

Every public verb of a bank has a row here; a test compares the table with the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

READ: Final = "read"
WRITE: Final = "write"
ADMIN: Final = "admin"
_GRAPH = {
    READ: (
        "find_candidates find_equal find_tags get_linked_nodes get_metadata get_node get_nodes_by_type graph init "
        "latest page"
    ),
    WRITE: "apply_changeset consolidate delete_metadata delete_nodes prune repair update_metadata validate",
}
_TABLE: Mapping[str, Mapping[str, str]] = {
    "": {
        READ: (
            "around changes context count embedded expect_questions get history identical links list list_each "
            "neighbors neighbors_each recall similar stats usage"
        ),
        WRITE: (
            "distil extract forget invalidate link observe pin purge quarantine remember remember_many remove restore "
            "revise session sync touch undo unlink update widen"
        ),
        ADMIN: "backup doctor export import_ lift quarantines trace use_embedder",
    },
    "facts": {
        READ: "aliases conflicts entities history predicates query query_each stats timeline",
        WRITE: "add alias declare invalidate purge remove state supersede unalias",
    },
    "graph": _GRAPH,
    "graph.everything": _GRAPH,
    "hooks": {READ: "last settings", WRITE: "checkpoint set"},
    "jobs": {READ: "counts", ADMIN: "add cancel get list replay"},
    "places": {READ: "all counts entities naming shared", WRITE: "relink rename"},
    "rules": {READ: "explain list", WRITE: "accept decline"},
    "scratchpad": {READ: "read", WRITE: "clear update write"},
    "session": {
        READ: "fault get_context goal is_over node_ids state steps wait",
        WRITE: "append close close_and_commit close_and_wait commit discard leave start_episode take",
    },
    "sessions": {READ: "draft list load receipt status", WRITE: "ingest ingest_many", ADMIN: "statuses unfinished"},
    "sources": {READ: "ids known"},
    "sources.intake": {READ: "unknown", WRITE: "take"},
    "text": {READ: "analyze enrich names"},
    "upkeep": {
        READ: (
            "curve due duplicates is_summed_up members proposals ranked retained sleep_log storage validate"
        ),
        WRITE: (
            "accept archive clusters decline gc merge promote propose reinforce relate repair review sleep "
            "sleep_later summarize summarize_later"
        ),
        ADMIN: "compact",
    },
    "vault": {READ: "by_hand is_set path_of paths status", WRITE: "promote", ADMIN: "look sync"},
}  # fmt: skip
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "jobs.worker": "the server does the jobs of its banks",
        "sessions.close": "the server keeps sessions open for all its callers",
    }
)
"""Verbs that a bank behind HTTP does not offer, with the reason."""
OWN = ("close", "follow", "sources.intake", "wait")
"""Verbs that the client does: it closes, follows the stream of events, and makes an intake."""
PROPERTIES = frozenset(
    ["graph.graph", "graph.everything.graph", "vault.is_set"]
    + [f"session.{name}" for name in ("fault", "goal", "is_over", "node_ids", "state", "steps")]
)
"""Attributes that are read like verbs without arguments."""
WAITING = frozenset(
    ("sync", "session.close_and_commit", "session.close_and_wait", "session.leave", "session.wait", "upkeep.sleep")
)
"""Verbs that may wait long for a model, another process or an extraction."""
DOWNLOADS = frozenset(("backup", "export"))
"""Verbs whose file the client fetches."""


def _accesses() -> dict[str, str]:
    return {
        f"{group}.{name}" if group else name: access
        for group, rows in _TABLE.items()
        for access, names in rows.items()
        for name in names.split()
    }


VERBS: Mapping[str, str] = MappingProxyType(_accesses())
"""The access that each verb needs, by the verb's name: `remember`, `facts.add`, `sources.intake.take`."""
_MODEL = "the server's settings choose it"
UNSENT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "session": {name: _MODEL for name in ("config", "llm", "embedding", "notifier")},
        "sources.intake.take": {"pasts": "only an import on the server's machine may say how memories were used"},
        **{f"{group}.{verb}": {"config": _MODEL} for group in ("graph", "graph.everything")
           for verb in ("consolidate", "prune", "validate")},
    }
)  # fmt: skip
"""Parameters that are not sent, by verb, with the reason."""
CLAIMING = frozenset(("remember", "remember_many", "update", "sources.intake.take"))
"""Verbs whose arguments may say by `via` how a text came in."""
