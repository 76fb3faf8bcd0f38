"""A call for every tool, and for every parameter two calls that differ only in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.toolsets.outcome import Case, Run, Step

from pieria.toolsets import Banks
from pieria.workspace import Workspace

SAVE, SEARCH, UNIFIED, CLUSTER, MERGE = (
    "save_memory",
    "search_memory",
    "search_unified",
    "cluster_memories",
    "consolidate_memories",
)
DEADLINE: dict[str, Any] = {
    "content": "The project deadline is December 15th",
    "tags": ["project", "deadline"],
    "entities": ["project", "december"],
    "source": "team meeting",
    "context": "Q4 planning discussion",
    "strength": 1.5,
}
DEPLOYS = ("The deploy runs every Friday at noon.", "The deploy runs every Friday at noon!", "Deploys run on Fridays.")


def nothing(run: Run) -> None:
    """Prepare nothing."""


def saving(parameter: str, base: Any, changed: Any) -> Case:
    """Return a case with two values of a parameter; None leaves the parameter out."""
    always = {"content": "Deploys are critical for the API."} if parameter != "content" else {}

    def arguments(value: Any) -> Mapping[str, Any]:
        return always if value is None else {**always, parameter: value}

    return Case(arguments(base), arguments(changed))


def remembered(run: Run) -> None:
    """Write memories by id, with several ages, uses, tags and statuses, and one that another relates to."""
    bank = run.host.bank
    bank.remember("Kestrels nested on the old tower.", id="old", tags=["birds"])
    run.clock.move(days=9)
    bank.remember("Kestrels hunt by the mill.", id="used", tags=["birds", "mill"], entities=["Kestrel"])
    bank.remember("Kestrels were counted in May.", id="away", tags=["birds"], source="census")
    bank.update("away", status="archived")
    run.clock.move(days=2)
    bank.touch("used", accesses=6)
    bank.remember("Kestrels eat voles.", id="new", tags=["food"], context="a walk", meta={"a": 1}, title="Food")
    bank.remember("Tea is in the kitchen.", id="tea", entities=["Kestrel"])
    bank.remember("Kestrels rest at night.", id="kept")
    bank.update("kept", status="promoted")
    bank.link("new", "used", "supports", weight=0.5)
    run.clock.move(hours=1)


def worn(run: Run) -> None:
    """Write twelve faded memories and a fresh one."""
    run.host.bank.remember_many([{"text": f"Passing thought {n}.", "id": f"m{n:02}"} for n in range(12)])
    run.clock.move(days=60)
    run.host.bank.remember("Not yet.", id="fresh")


def proven(run: Run) -> None:
    """Write two memories with enough uses and one without, and a vault to promote them to."""
    vault = run.folder / "vault"
    vault.mkdir()
    run.host.banks.close()
    run.workspace = Workspace(run.folder / "data", {"durability": "off", "vault": str(vault)}, clock=run.clock)
    run.host = run.host.having(banks=Banks(run.workspace, "test"))
    run.host.bank.remember("We chose JWT.", id="jwt")
    run.host.bank.remember("We chose SQLite.", id="sqlite")
    run.host.bank.remember("We saw a bird.", id="bird")
    run.host.bank.touch(["jwt", "sqlite"], accesses=6)
    run.clock.move(days=2)


def deploys(run: Run) -> None:
    for number, text in enumerate(DEPLOYS):
        run.host.bank.remember(text, id=f"d{number}", tags=["deploy"], entities=["CI"], source="Maya", context="ops")
        run.clock.move(minutes=1)
    run.host.bank.remember("Tea.", id="tea", tags=["deploy", "tea"])
    for number in range(2):
        run.host.bank.remember("Kestrels nest on the tower.", id=f"k{number}", tags=["birds"])


def of(base: Mapping[str, Any], prepare: Callable[[Run], None] = remembered, before: Sequence[Step] = (),
       settings: Mapping[str, Any] | None = None, after: Sequence[Step] = (), **changed: Any) -> Case:  # fmt: skip
    return Case(base, {**base, **changed}, before, after, prepare, settings or {})


QUERY = {"query": "kestrels"}
ALL = {"mode": "apply", "cluster_id": "$clusters.0.id"}
GROUPED = [(CLUSTER, {"threshold": 0.5})]
BY_MEANING = {"embedder": "hashing"}
PARAMETERS: dict[tuple[str, str], Case] = {
    (SAVE, "content"): saving("content", "One thing.", "Another thing."),
    (SAVE, "tags"): saving("tags", None, ["Machine Learning!"]),
    (SAVE, "entities"): saving("entities", None, ["Maya"]),
    (SAVE, "source"): saving("source", None, "team meeting"),
    (SAVE, "context"): saving("context", None, "planning"),
    (SAVE, "meta"): saving("meta", None, {"ticket": 7}),
    (SAVE, "strength"): saving("strength", None, 1.9),
    (SEARCH, "query"): of(QUERY, query="tea"),
    (SEARCH, "tags"): of(QUERY, tags=["mill"]),
    (SEARCH, "top_k"): of(QUERY, top_k=1),
    (SEARCH, "window_days"): of(QUERY, window_days=5),
    (SEARCH, "min_score"): of(QUERY, min_score=0.5),
    (SEARCH, "use_embeddings"): of(QUERY, settings=BY_MEANING, use_embeddings=True),
    (SEARCH, "status"): of(QUERY, status="archived"),
    (SEARCH, "include_review_candidates"): of({**QUERY, "top_k": 2}, include_review_candidates=False),
    (SEARCH, "page"): of({**QUERY, "page_size": 1}, page=2),
    (SEARCH, "page_size"): of({**QUERY, "page": 1}, page_size=1),
    (SEARCH, "preview_length"): of(QUERY, preview_length=8),
    (UNIFIED, "query"): of(QUERY, query="tea"),
    (UNIFIED, "tags"): of(QUERY, tags=["mill"]),
    (UNIFIED, "limit"): of(QUERY, limit=1),
    (UNIFIED, "stm_weight"): of(QUERY, stm_weight=0),
    (UNIFIED, "ltm_weight"): of(QUERY, ltm_weight=0),
    (UNIFIED, "window_days"): of(QUERY, window_days=5),
    (UNIFIED, "min_score"): of(QUERY, min_score=0.5),
    (UNIFIED, "verbose"): of(QUERY, verbose=True),
    (UNIFIED, "page"): of({**QUERY, "page_size": 1}, page=2),
    (UNIFIED, "page_size"): of({**QUERY, "page": 1}, page_size=1),
    (UNIFIED, "preview_length"): of(QUERY, preview_length=8),
    ("touch_memory", "memory_id"): of({"memory_id": "new"}, memory_id="used"),
    ("touch_memory", "boost_strength"): of({"memory_id": "new"}, boost_strength=True),
    ("observe_memory_usage", "memory_ids"): of({"memory_ids": ["new"]}, memory_ids=["used"]),
    ("observe_memory_usage", "context_tags"): of({"memory_ids": ["new"]}, context_tags=["api"]),
    ("analyze_message", "message"): Case({"message": "Remember: I prefer tea."}, {"message": "Is it raining?"}),
    ("analyze_for_recall", "message"): Case(
        {"message": "What did I say about tea?"}, {"message": "Is it raining?"}
    ),
    ("gc", "dry_run"): of({}, worn, dry_run=False),
    ("gc", "archive_instead"): of({}, worn, archive_instead=True),
    ("gc", "limit"): of({}, worn, limit=1),
    ("promote_memory", "memory_id"): of({"memory_id": "jwt", "dry_run": True}, proven, memory_id="sqlite"),
    ("promote_memory", "auto_detect"): of({"memory_id": "bird", "force": True}, proven, auto_detect=True),
    ("promote_memory", "dry_run"): of({"memory_id": "jwt"}, proven, dry_run=True),
    ("promote_memory", "target"): of({"memory_id": "jwt"}, proven, target="markdown"),
    ("promote_memory", "force"): of({"memory_id": "bird", "auto_detect": True}, proven, force=True),
    (CLUSTER, "strategy"): of({"threshold": 0.5}, deploys, strategy="tags"),
    (CLUSTER, "threshold"): of({}, deploys, threshold=0.5),
    (CLUSTER, "max_cluster_size"): of({"threshold": 0.5}, deploys, max_cluster_size=2),
    (CLUSTER, "find_duplicates"): of({}, deploys, find_duplicates=True),
    (CLUSTER, "duplicate_threshold"): of({"find_duplicates": True}, deploys, duplicate_threshold=0.5),
    (MERGE, "cluster_id"): of({"cluster_id": "$clusters.0.id"}, deploys, GROUPED, cluster_id="$clusters.1.id"),
    (MERGE, "mode"): of({"cluster_id": "$clusters.0.id"}, deploys, GROUPED, mode="apply"),
    (MERGE, "content"): of(ALL, deploys, GROUPED, content="Deploys run Fridays at noon."),
    ("open_memories", "memory_ids"): of({"memory_ids": "new"}, memory_ids=["new", "used"]),
    ("open_memories", "include_relations"): of({"memory_ids": "new"}, include_relations=False),
    ("open_memories", "include_scores"): of({"memory_ids": "new"}, include_scores=False),
    ("create_relation", "from_memory_id"): of(
        {"from_memory_id": "old", "to_memory_id": "tea", "relation_type": "related"}, from_memory_id="used"
    ),
    ("create_relation", "to_memory_id"): of(
        {"from_memory_id": "old", "to_memory_id": "tea", "relation_type": "related"}, to_memory_id="used"
    ),
    ("create_relation", "relation_type"): of(
        {"from_memory_id": "old", "to_memory_id": "tea", "relation_type": "related"}, relation_type="contradicts"
    ),
    ("create_relation", "strength"): of(
        {"from_memory_id": "old", "to_memory_id": "tea", "relation_type": "related"}, strength=0.25
    ),
    ("create_relation", "metadata"): of(
        {"from_memory_id": "old", "to_memory_id": "tea", "relation_type": "related"}, metadata={"by": "Maya"}
    ),
    ("edit_memory", "memory_id"): of({"memory_id": "new", "content": "Voles."}, memory_id="tea"),
    ("edit_memory", "content"): of({"memory_id": "new", "strength": 1.5}, content="Voles."),
    ("edit_memory", "tags"): of({"memory_id": "new", "strength": 1.5}, tags=["voles"]),
    ("edit_memory", "strength"): of({"memory_id": "new", "content": "Voles."}, strength=1.5),
    ("edit_memory", "reason"): of({"memory_id": "new", "content": "Voles."}, reason="seen"),
    ("forget_memory", "memory_id"): of({"memory_id": "new"}, memory_id="tea"),
    ("forget_memory", "reason"): of({"memory_id": "new"}, reason="wrong"),
    ("forget_memory", "erase"): of({"memory_id": "new"}, erase=True),
    ("recover_memory", "memory_id"): of({"memory_id": "away"}, memory_id="new"),
}  # fmt: skip

Reply = tuple[Sequence[Step], Mapping[str, Any], Callable[[Run], None]]
REPLIES: dict[str, Reply] = {
    SAVE: ([], DEADLINE, nothing),
    SEARCH: ([], {**QUERY, "page": 1}, remembered),
    UNIFIED: ([], {**QUERY, "page": 1}, remembered),
    "touch_memory": ([], {"memory_id": "new"}, remembered),
    "observe_memory_usage": ([], {"memory_ids": ["new", "used"], "context_tags": ["api"]}, remembered),
    "analyze_message": ([], {"message": "Remember: I prefer TypeScript over JavaScript for all new projects"}, nothing),
    "analyze_for_recall": ([], {"message": "What did I say about TypeScript?"}, nothing),
    "gc": ([], {"limit": 11}, worn),
    "promote_memory": ([], {"memory_id": "jwt"}, proven),
    CLUSTER: ([], {"threshold": 0.5}, deploys),
    MERGE: (GROUPED, ALL, deploys),
    "open_memories": ([], {"memory_ids": ["new", "nobody"]}, remembered),
    "create_relation": (
        [], {"from_memory_id": "old", "to_memory_id": "tea", "relation_type": "causes", "metadata": {"by": "Maya"}},
        remembered,
    ),
    "edit_memory": ([], {"memory_id": "new", "tags": ["Voles"]}, remembered),
    "forget_memory": ([], {"memory_id": "new"}, remembered),
    "recover_memory": ([], {"memory_id": "away"}, remembered),
}  # fmt: skip
