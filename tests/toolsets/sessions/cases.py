"""A call for every tool, and for every parameter two calls that differ only in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.toolsets.outcome import Case, Run, Step

from pieria.graph import Changeset, Edge, Episodic, NodeMetadata, Procedural, Semantic, Source, Tag
from pieria.toolsets import Banks

START, APPEND, CLOSE, COMMIT = (f"sessions_{verb}" for verb in ("start", "append", "close", "commit"))
RECALL, LATEST, NODE, NEIGHBORS = (f"sessions_{verb}" for verb in ("recall", "latest", "node", "neighbors"))
NODES, MAINTAIN, STATE, DISCARD = (f"sessions_{verb}" for verb in ("nodes", "maintain", "state", "discard"))
GOAL = {"goal": "Plan a trip to Japan"}
BREAD = {"goal": "Bake bread"}
TOKYO = {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}
OVEN = {"observation": "The oven is cold.", "action": "Heated the oven to 230 degrees."}


def nothing(run: Run) -> None:
    """Prepare nothing: the bank is empty."""


def known(run: Run) -> None:
    """Write two equivalent facts under a tag, a procedure, a step with its source, and another bank with one fact."""
    made: dict[str, Any] = {"created_at": run.clock.now}
    step = Episodic(id="step", observation="Hotels in Tokyo are full.", action="Booked a ryokan.", **made)
    source = Source(id="source", episode_id="ep", step_index=0, plain_text="Hotels in Tokyo are full.", **made)
    facts = [
        Semantic(id="busy", proposition="Tokyo is busy in March.", **made),
        Semantic(id="again", proposition="In March Tokyo is busy.", **made),
    ]
    how = Procedural(id="how", instruction="Book a ryokan early.", condition="March", **made)
    changeset = Changeset([step, source, how, Tag(id="tag", label="Tokyo", **made), *facts])
    ties = [("tag", "busy", Edge.MEMBERSHIP), ("tag", "again", Edge.MEMBERSHIP), ("busy", "again", Edge.SIBLING)]
    ties += [("busy", "step", Edge.PROVENANCE), ("step", "source", Edge.PROVENANCE)]
    for one, other, edge in ties:
        changeset = changeset.add_link(one, other, edge)
    run.host.bank.graph.apply_changeset(changeset.put_metadata("busy", NodeMetadata(access_count=30)))
    with run.workspace.open("other") as other_bank:
        elsewhere = Semantic(id="busy", proposition="Rye bread is sour.", **made)
        other_bank.graph.apply_changeset(Changeset([elsewhere, Tag(id="rye", label="rye", **made)]))
    run.clock.move(hours=1)


def embedded(run: Run) -> None:
    """Write the same in a bank that embeds."""
    run.host.banks.close()
    run.workspace = type(run.workspace)(
        run.folder / "data", {"durability": "off", "embedder": "none"}, embedder=axes, clock=run.clock
    )
    run.host = run.host.having(banks=Banks(run.workspace, "test"))
    known(run)


def axes(texts: list[str]) -> list[list[float]]:
    """Return near vectors for facts about March, and other ones for texts about bookings."""
    return [[float("March" in text), float("Book" in text), 0.3 * text.startswith("In"), 0.1] for text in texts]


def wordy(run: Run) -> None:
    run.host.bank.graph.apply_changeset(Changeset([Semantic(id="long", proposition="word " * 200)]))


def lived(run: Run, **values: Any) -> None:
    """Record two sessions with a step each, found under `$first` and `$second`."""
    told = {}
    for name, goal, step in (("first", GOAL, TOKYO), ("second", BREAD, OVEN)):
        told[name] = run.call(START, {**goal, **values}).value["session_id"]
        run.call(APPEND, {"session_id": told[name], **step})
    run.replies.append(told)


def collecting(run: Run) -> None:
    """Record two sessions without learning."""
    lived(run, auto_commit=False)


def held_back(run: Run) -> None:
    """Record and close both sessions, without a commit."""
    lived(run, auto_commit=False)
    for name in ("$first", "$second"):
        run.call(CLOSE, {"session_id": name})


def known_and_lived(run: Run) -> None:
    known(run)
    lived(run)


def of(base: Mapping[str, Any], prepare: Callable[[Run], None] = known, before: Sequence[Step] = (),
       after: Sequence[Step] = (), **changed: Any) -> Case:  # fmt: skip
    return Case(base, {**base, **changed}, before, after, prepare)


FIRST = {"session_id": "$first"}
SEEN = [(STATE, {"session_id": "$session_id"})]
QUERY = {"query": "Where is it busy in March?"}
DUPLICATES = {"operation": "consolidate"}
PARAMETERS: dict[tuple[str, str], Case] = {
    (START, "goal"): of(GOAL, goal="Bake bread"),
    (START, "profile"): of(GOAL, after=SEEN, profile="research"),
    (START, "auto_commit"): of(GOAL, after=SEEN, auto_commit=False),
    (START, "bank"): of(GOAL, bank="other"),
    (APPEND, "session_id"): of({**FIRST, **OVEN}, collecting, after=[(STATE, FIRST)], session_id="$second"),
    (APPEND, "observation"): of({**FIRST, **OVEN}, collecting, after=[(STATE, FIRST)], observation="The oven is hot."),
    (APPEND, "action"): of({**FIRST, **OVEN}, collecting, after=[(STATE, FIRST)], action="Waited."),
    (CLOSE, "session_id"): of(FIRST, lived, session_id="$second"),
    (CLOSE, "wait"): of(FIRST, lived, wait=False),
    (COMMIT, "session_id"): of(FIRST, held_back, session_id="$second"),
    (DISCARD, "session_id"): of(FIRST, held_back, after=[(STATE, FIRST)], session_id="$second"),
    (STATE, "session_id"): of(FIRST, lived, session_id="$second"),
    (RECALL, "query"): of(QUERY, query="Which bread is sour?"),
    (RECALL, "session_id"): of({**QUERY, **FIRST}, known_and_lived, session_id="$second"),
    (RECALL, "max_hops"): of(QUERY, max_hops=0),
    (RECALL, "verbosity"): of(QUERY, verbosity="detailed"),
    (RECALL, "bank"): of(QUERY, bank="other"),
    (LATEST, "top_k"): of({}, top_k=1),
    (LATEST, "types"): of({}, types=["episodic"]),
    (LATEST, "bank"): of({}, bank="other"),
    (NODE, "node_id"): of({"node_id": "busy"}, node_id="step"),
    (NODE, "bank"): of({"node_id": "busy"}, bank="other"),
    (NEIGHBORS, "node_id"): of({"node_id": "busy"}, node_id="step"),
    (NEIGHBORS, "edge_type"): of({"node_id": "busy"}, edge_type="sibling"),
    (NEIGHBORS, "bank"): of({"node_id": "busy"}, bank="other"),
    (NODES, "types"): of({"types": ["semantic"]}, types=["procedural"]),
    (NODES, "limit"): of({"types": ["semantic"]}, limit=1),
    (NODES, "cursor"): of(
        {"types": ["semantic"], "limit": 1}, before=[(NODES, {"types": ["semantic"], "limit": 1})],
        cursor="$next_cursor",
    ),
    (NODES, "bank"): of({"types": ["semantic"]}, bank="other"),
    (MAINTAIN, "operation"): of({"operation": "repair"}, operation="validate"),
    (MAINTAIN, "threshold"): of(DUPLICATES, embedded, threshold=0.999),
    (MAINTAIN, "dry_run"): of(DUPLICATES, embedded, dry_run=True),
    (MAINTAIN, "bank"): of({"operation": "repair"}, bank="other"),
}  # fmt: skip

Reply = tuple[Sequence[Step], Mapping[str, Any], Callable[[Run], None]]
REPLIES: dict[str, Reply] = {
    START: ([], GOAL, nothing),
    APPEND: ([], {**FIRST, **OVEN}, lived),
    CLOSE: ([], FIRST, lived),
    COMMIT: ([], FIRST, held_back),
    DISCARD: ([], FIRST, held_back),
    STATE: ([], FIRST, lived),
    RECALL: ([], {**QUERY, "verbosity": "detailed"}, known),
    LATEST: ([], {}, wordy),
    NODE: ([], {"node_id": "busy"}, known),
    NEIGHBORS: ([], {"node_id": "busy"}, known),
    NODES: ([], {"types": ["semantic"]}, known),
    MAINTAIN: ([], DUPLICATES, embedded),
    "sessions_list_banks": ([], {}, known),
}
