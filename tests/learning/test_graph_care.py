"""Upkeep of a graph: what is pruned, what stays, and the ties, uses and sources afterwards."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.store_helpers import HandClock
from tests.graph.histories import histories
from tests.learning.trajectories import config, telemetry_heard

from benchmarks.learning.answerable import settings as settings_of
from pieria import Bank, Config, Workspace, telemetry
from pieria.config import ExtractionProfile
from pieria.errors import InputError
from pieria.graph import (
    NODE_TYPES,
    Changeset,
    Edge,
    Episodic,
    Graph,
    GraphBackend,
    InMemoryBackend,
    Intent,
    Node,
    NodeMetadata,
    Procedural,
    Semantic,
    Source,
    Tag,
    all_linked_ids,
    cosine_similarity,
)
from pieria.learning.decay import decay
from pieria.learning.episodic_validation import validate
from pieria.learning.graph_repair import repair
from pieria.learning.semantic_consolidator import NEAREST, best_alike, consolidate
from pieria.learning.upkeep import GraphCleanup
from pieria.record.changeset import Changeset as Change
from pieria.record.fact import FactQuery
from pieria.record.link import End, row_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MADE = NOW - timedelta(days=60)
STEP = Episodic(id="step", observation="The ferry was full.", action="Waited.")
HOW = Procedural(id="how", instruction="Book early.")
AIM = Intent(id="aim", description="Work.")
VERDICTS = ("same", "other")
OTHER_WORDS: list[list[str]] = []
"""Pairs that say the same, but in words that rules take for a difference."""
TAG, LONELY, OWN = Tag(id="tag", label="tides"), Tag(id="lonely", label="x"), Tag(id="own", label="ferries")


def embed(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


@pytest.fixture
def clock() -> HandClock:
    return HandClock(MADE)


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with Workspace(tmp_path, embedder=embed, clock=clock) as opened:
        yield opened.open("notes")


@pytest.fixture
def memory() -> InMemoryBackend:
    return InMemoryBackend()


@pytest.fixture(params=["memory", "bank"])
def backend(request: pytest.FixtureRequest) -> GraphBackend:
    held: Bank | InMemoryBackend = request.getfixturevalue(request.param)
    return held.graph if isinstance(held, Bank) else held


def near(cosine: float, axis: int = 1) -> list[float]:
    """Return a vector with this cosine to the first axis."""
    vector = [cosine, 0.0, 0.0, 0.0]
    vector[axis] = (1 - cosine**2) ** 0.5
    return vector


def fact(id: str, vector: list[float] | None = None, text: str | None = None, **more: Any) -> Semantic:
    says = {"proposition": text or f"What {id} says.", "embedding": vector or near(1.0)}
    return Semantic(id=id, **{"created_at": MADE, **says, **more})


def used(count: int = 0, days: float = 60, **more: Any) -> NodeMetadata:
    at = NOW - timedelta(days=days)
    return NodeMetadata(access_count=count, created_at=MADE, last_accessed_at=at, **more)


def tagged(*ids: str, tag: str = "tag") -> list[tuple[str, str, Edge]]:
    return [(tag, id, Edge.MEMBERSHIP) for id in ids]


def put(backend: GraphBackend, nodes: list[Node], ties: list[Any] = [], uses: dict[str, NodeMetadata] = {}) -> None:  # noqa: B006
    """Write nodes; a node without given uses was made long ago and never used."""
    usual = {node.id: NodeMetadata(created_at=MADE) for node in nodes}
    backend.apply_changeset(Changeset(nodes, ties, usual | uses))


def ids(backend: GraphBackend, *types: str) -> set[str]:
    return {node.id for node in backend.get_nodes_by_type(types or NODE_TYPES)}


def node(backend: GraphBackend, id: str) -> Any:
    found = backend.get_node(id)
    assert found is not None
    return found


def consolidated(backend: GraphBackend, threshold: float = 0.85, **more: Any) -> GraphCleanup:
    return consolidate(backend, None, threshold, clock=lambda: NOW, **more)


def decayed(backend: GraphBackend, config: Config | None = None, **more: Any) -> GraphCleanup:
    return decay(backend, config, **{"clock": lambda: NOW, **more})


def test_only_facts_of_one_tag_above_the_threshold_merge(backend: GraphBackend) -> None:
    facts = [fact("a"), fact("same"), fact("alone"), fact("at", near(0.85)), fact("closer", near(0.86, 2))]
    ties = [*tagged("a", "same", "at", "closer"), *tagged("alone", tag="own")]
    put(backend, [*facts, TAG, OWN], ties, {"a": used(9)})
    at = [float(n) for n in node(backend, "at").embedding]
    done = consolidated(backend, cosine_similarity(near(1.0), at))
    assert (done["checked"], done["skipped"], done["deleted"]) == (5, 0, 2)
    assert set(done["deleted_ids"]) == {"same", "closer"}
    assert ids(backend, "semantic") == {"a", "alone", "at"}


def test_facts_that_differ_in_particulars_never_merge() -> None:
    groups = tomllib.loads(Path(__file__).with_name("apart.toml").read_text("utf-8"))
    elsewhere = fact("elsewhere", near(0.1), "The letter is for Anna, not for Bea.")
    for name, told in groups.items():
        backend = InMemoryBackend()
        others = [elsewhere] if name == "names_written_small" else []
        facts = [fact(id, text=text) for id, text in told.items()]
        put(backend, [*facts, *others, TAG], tagged(*told), {"first": used(9)})
        assert consolidated(backend)["deleted_ids"] == ["again"]


def way(id: str, text: str, **more: Any) -> Procedural:
    """Return a procedure, told as "condition => instruction"."""
    condition, _, instruction = text.rpartition(" => ")
    says = {"condition": condition.strip(), "instruction": instruction, "embedding": near(1.0)}
    return Procedural(id=id, **{"created_at": MADE, **says, **more})


def served(*ids: str, intent: str = "aim") -> list[tuple[str, str, Edge]]:
    return [(intent, id, Edge.HIERARCHICAL) for id in ids]


def pairs_of(part: str, verdict: str) -> list[list[str]]:
    """Return the pairs of `joins.toml`; a fact has no arrow."""
    read = tomllib.loads(Path(__file__).with_name("joins.toml").read_text("utf-8"))
    return [*read[part][verdict]["facts"], *read[part][verdict]["procedures"]]


def is_joined(backend: GraphBackend, one: str, other: str, **more: Any) -> bool:
    """Return whether the pair joins, by default with equal vectors."""
    told = {"one": one, "other": other}
    nodes: list[Node] = [way(id, text, **more) for id, text in told.items() if " => " in text]
    nodes += [fact(id, text=text, **more) for id, text in told.items() if " => " not in text]
    put(backend, [*nodes, TAG, AIM], [*tagged(*told), *served(*told)])
    return bool(consolidated(backend)["deleted"])


@pytest.mark.parametrize("part", ["tuning", "held"])
def test_pairs_that_differ_in_one_particular_never_join(part: str) -> None:
    joined = {
        verdict: [pair for pair in pairs_of(part, verdict) if is_joined(InMemoryBackend(), *pair)]
        for verdict in VERDICTS
    }
    assert joined == {"same": [pair for pair in pairs_of(part, "same") if pair not in OTHER_WORDS], "other": []}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_local_model_joins_most_that_says_the_same(tmp_path: Path) -> None:
    joined = dict.fromkeys(VERDICTS, 0)
    with Workspace(tmp_path, settings_of("local")) as workspace:
        for verdict in VERDICTS:
            for number, pair in enumerate([*pairs_of("tuning", verdict), *pairs_of("held", verdict)]):
                with workspace.open(f"{verdict}-{number}") as bank:
                    joined[verdict] += is_joined(bank.graph, *pair, embedding=None)
    assert joined["same"] >= 38 and joined["other"] == 0


def test_procedures_of_one_intent_join_like_facts(backend: GraphBackend) -> None:
    full = "When the disk is full => Run make clean"
    told: dict[str, tuple[str, dict[str, Any]]] = {
        "best": (full, {"expected_outcome": "The build passes"}),
        "again": ("If the disk is full => Run make clean", {}),
        "near": (full, {"embedding": near(0.9)}),
        "far": (full, {"embedding": near(0.8)}),
        "elsewhere": (full, {}),
        "always": (" => Run make clean", {}),
        "later": ("When the disk is full => Run make clean after the tests", {}),
        "empty": ("When the disk is empty => Run make clean", {}),
        "failing": (full, {"expected_outcome": "The build does not pass"}),
    }
    ways: list[Node] = [way(id, text, **more) for id, (text, more) in told.items()]
    step: list[Node] = [AIM, Intent(id="rest", description="Rest."), STEP, fact("fact", text="Run make clean"), TAG]
    ties = [*served(*(told.keys() - {"elsewhere"})), *served("elsewhere", intent="rest"), *tagged("fact")]
    ties += [("again", "step", Edge.PROVENANCE), ("best", "far", Edge.SIBLING)]
    put(backend, [*ways, *step], ties, {"best": used(9, 1)})
    backend.update_metadata({"again": used(2, 1, cumulative_reward=0.5, reward_count=1)})
    done = consolidated(backend)
    assert (done["checked"], sorted(done["deleted_ids"])) == (10, ["again", "near"])
    winner, counted = node(backend, "best"), backend.get_metadata(["best"])["best"]
    assert winner.links[Edge.PROVENANCE] == {"step"} and winner.expected_outcome == "The build passes"
    assert (counted.access_count, counted.cumulative_reward, counted.reward_count) == (11, 0.5, 1)


def test_words_of_the_nearest_nodes_alone_are_compared() -> None:
    compared: list[tuple[int, int]] = []

    def may(rank: int, other: int) -> bool:
        compared.append((rank, other))
        return other == 150

    lines = {rank: near(1 - rank / 10_000) for rank in range(200)}
    found = dict(best_alike(range(200), lambda ranks: {rank: lines[rank] for rank in ranks}, 0.9, may))
    assert found == dict.fromkeys(range(151, 151 + NEAREST), 150)
    assert len(compared) <= 200 * NEAREST


def test_winner_gets_the_ties_and_uses_of_the_loser(backend: GraphBackend) -> None:
    nodes = [fact("a"), fact("b"), fact("c", near(0.1)), STEP, TAG, OWN]
    ties = [*tagged("a", "b"), *tagged("b", tag="own"), ("b", "step", Edge.PROVENANCE), ("b", "c", Edge.SIBLING)]
    counted: list[tuple[str, int, int, float]] = [("a", 9, 1, 0.5), ("b", 2, 3, 0.25)]
    uses = {id: used(count, days, cumulative_reward=sum, reward_count=1) for id, count, days, sum in counted}
    put(backend, nodes, ties, uses)
    assert consolidated(backend)["deleted_ids"] == ["b"]
    winner = node(backend, "a")
    assert winner.text == "What a says."
    wanted = {Edge.MEMBERSHIP: {"tag", "own"}, Edge.PROVENANCE: {"step"}, Edge.SIBLING: {"c"}}
    assert {edge: winner.links[edge] for edge in wanted} == wanted
    held = backend.get_metadata(["a", "b"])
    assert held.keys() == {"a"}
    assert (held["a"].access_count, held["a"].cumulative_reward, held["a"].reward_count) == (11, 0.75, 2)
    assert held["a"].last_accessed_at == NOW - timedelta(days=1)


def test_chain_of_duplicates_ends_with_its_last_winner(backend: GraphBackend) -> None:
    chain = [fact("a", near(1.0)), fact("b", near(0.9)), fact("c", [0.62, 0.7846, 0, 0])]
    uses = {"a": used(20, 1), "b": used(9, 1), "c": used(3, 1)}
    put(backend, [*chain, TAG, OWN], [*tagged("a", "b", "c"), *tagged("c", tag="own")], uses)
    assert consolidated(backend)["deleted_ids"] == ["b", "c"]
    assert ids(backend, "semantic") == {"a"}
    assert node(backend, "a").links[Edge.MEMBERSHIP] == {"tag", "own"}
    assert backend.get_metadata(["a"])["a"].access_count == 32


def test_older_of_equals_stays_and_untied_nodes_go(memory: InMemoryBackend) -> None:
    younger = replace(fact("a"), created_at=NOW - timedelta(days=50))
    untied = [LONELY, Intent(id="intent", description="Travel.")]
    put(memory, [younger, fact("b"), TAG, *untied], tagged("a", "b"))
    assert consolidated(memory)["deleted_ids"] == ["a", "intent", "lonely"]
    assert ids(memory) == {"b", "tag"}


def test_bank_archives_the_loser_and_can_undo_it(bank: Bank) -> None:
    put(bank.graph, [fact("a"), fact("b"), TAG], tagged("a", "b"), {"a": used(9)})
    bank.facts.add("Ferry", "leaves_at", "nine", memory="b")
    consolidated(bank.graph)
    loser = bank.get("b")
    assert loser is not None and loser.standing.status == "archived" and loser.text == "What b says."
    assert loser.standing.reason == "consolidated into a"
    with bank.core.store.reading() as reader:
        assert [fact.object for fact in reader.facts(FactQuery(memory="a"), bank.core.filter())] == ["nine"]
        assert [link.target.name for link in reader.links([End("memory", "a")], "provenance")] == ["b"]
    bank.undo(next(change.seq for change in bank.changes() if change.what == "consolidate"))
    assert ids(bank.graph, "semantic") == {"a", "b"}
    bank.pin("a")
    bank.update("b", valid_until=NOW + timedelta(days=9))
    put(bank.graph, [fact("c")], tagged("c"))
    assert consolidated(bank.graph)["deleted_ids"] == ["c"], "the others are pinned or seen for a time only"


def test_worthless_nodes_decay_and_then_untied_ones(backend: GraphBackend) -> None:
    nodes = [fact("idle"), fact("used"), HOW, TAG, LONELY, Intent(id="intent", description="Travel."), STEP]
    nodes.append(replace(STEP, id="free"))
    ties = [*tagged("idle"), ("intent", "how", Edge.HIERARCHICAL), ("used", "step", Edge.PROVENANCE)]
    put(backend, nodes, ties, {"used": used(20, 1)})
    told: list[tuple[int, int]] = []
    done = decayed(backend, progress=lambda done, whole: told.append((done, whole)))
    assert (done["checked"], done["deleted"], told[-1]) == (3, 5, (5, 5))
    assert set(done["deleted_ids"]) == {"idle", "how", "tag", "lonely", "intent"}
    assert ids(backend) == {"used", "step", "free"}
    assert backend.get_metadata(["idle", "used"]).keys() == {"used"}
    assert decayed(backend)["deleted"] == 0
    assert decayed(backend, node_types=["episodic"])["deleted_ids"] == ["free"], "facts were drawn from the other"


def test_fresh_nodes_never_decay(memory: InMemoryBackend) -> None:
    profile = ExtractionProfile("mine", value_function_overrides={"semantic": {"lambda": 5.0}})
    low = config(value_function={"params": {"semantic": {"base_floor": 0.01}}}, extraction_profile=profile)
    floor_alone = config(value_function={"params": {"semantic": {"base_floor": 0.01, "lambda": 0.0}}})
    put(memory, [fact("young")])
    assert decayed(memory, low, threshold=1.0, clock=lambda: MADE + timedelta(days=6))["deleted"] == 0
    assert decayed(memory, floor_alone, threshold=1.0, min_age_hours=0)["deleted"] == 0
    assert decayed(memory, low, threshold=1.0, min_age_hours=0)["deleted"] == 1


def test_profile_and_value_function_decide_what_decays(memory: InMemoryBackend) -> None:
    class Named:
        def score(self, relevance: float, node: Node, metadata: Any, params: Any) -> float:
            return 0.0 if node.id == "bad" and metadata.created_at < NOW - timedelta(days=1) else relevance

    put(memory, [fact("bad"), fact("good"), HOW])
    profile = ExtractionProfile("mine", value_function_overrides={"semantic": {"lambda": 0.0001}})
    assert decayed(memory, config(extraction_profile=profile))["deleted_ids"] == ["how"]
    assert decayed(memory, config(value_function={"module": Named}))["deleted_ids"] == ["bad"]


def test_only_named_types_decay(memory: InMemoryBackend) -> None:
    put(memory, [fact("idle"), HOW])
    assert decayed(memory, node_types=["procedural"])["deleted_ids"] == ["how"]
    for wrong in ({"node_types": ["song"]}, {"threshold": 2}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            decayed(memory, **wrong)


def test_bank_archives_what_decays_and_keeps_the_rest(bank: Bank, tmp_path: Path, clock: HandClock) -> None:
    put(bank.graph, [fact(id) for id in ("idle", "pinned", "important", "settled")])
    bank.pin("pinned")
    bank.update("important", importance=0.9)
    bank.update("settled", tier="settled")
    clock.now = NOW
    assert bank.graph.prune()["deleted_ids"] == ["idle"]
    assert [memory.id for memory in bank.list(status="archived")] == ["idle"]
    with Workspace(tmp_path, {"upkeep_fades": "note"}, embedder=embed, clock=clock) as other:
        kept = other.open("kept").graph
        put(kept, [fact("b")])
        clock.move(days=60)
        assert kept.prune()["deleted"] == 0, "facts fade nowhere under these settings"


def grounded(backend: GraphBackend) -> None:
    sources = [Source(id=f"source-{n}", episode_id="e", step_index=n, embedding=near(1.0)) for n in range(2)]
    steps = [Episodic(id=f"step-{n}", observation="Seen.", action="Done.") for n in range(2)]
    facts = [fact("good", near(0.9)), fact("weak", near(0.1)), fact("orphan"), fact("unrewarded", near(0.1))]
    ties = [(f"step-{n}", f"source-{n}", Edge.PROVENANCE) for n in range(2)]
    ties += [(id, "step-0", Edge.PROVENANCE) for id in ("good", "weak", "unrewarded")]
    rewards = {id: used(1, 1, cumulative_reward=0.9, reward_count=1) for id in ("good", "weak", "orphan")}
    put(backend, [*sources, *steps, *facts], ties, rewards)


def rewards(backend: GraphBackend) -> dict[str, float]:
    held = backend.get_metadata(["good", "weak", "orphan", "unrewarded"])
    return {id: round(entry.cumulative_reward, 6) for id, entry in held.items()}


def test_weak_grounding_costs_rewards_once_until_mended(backend: GraphBackend) -> None:
    grounded(backend)
    counted = {"checked": 4, "grounded": 1, "penalized": 2, "orphaned": 1}
    assert validate(backend) == {**counted, "changed": 2}
    assert rewards(backend) == {"good": 0.9, "weak": 0.8, "orphan": 0.6, "unrewarded": 0.0}
    before = backend.get_metadata(["good", "weak", "orphan"])
    assert validate(backend) == {**counted, "changed": 0}
    assert backend.get_metadata(["good", "weak", "orphan"]) == before
    backend.apply_changeset(Changeset([], [("orphan", "step-1", Edge.PROVENANCE)]))
    assert validate(backend) == {"checked": 4, "grounded": 2, "penalized": 2, "orphaned": 0, "changed": 1}
    assert rewards(backend) == {"good": 0.9, "weak": 0.8, "orphan": 0.9, "unrewarded": 0.0}
    backend.update_metadata({"weak": backend.get_metadata(["weak"])["weak"].update_reward(0.5)})
    assert validate(backend)["changed"] == 0
    assert rewards(backend)["weak"] == 1.3
    backend.delete_nodes(["weak"])
    put(backend, [fact("weak")], [("weak", "step-0", Edge.PROVENANCE)])
    validate(backend)
    assert rewards(backend)["weak"] == 0.0, "it was put anew and has nothing to get back"


def test_configuration_says_what_weak_grounding_costs(memory: InMemoryBackend) -> None:
    grounded(memory)
    rules = {"validation_threshold": 0.05, "orphan_penalty": 0.5}
    assert validate(memory, config(episodic_validation=rules))["penalized"] == 0
    assert rewards(memory)["orphan"] == 0.4


def loaded(graph: Graph, metadata: dict[str, NodeMetadata]) -> InMemoryBackend:
    """Return a backend whose graph another program may have written."""

    class Loaded:
        def load(self) -> tuple[Graph, dict[str, NodeMetadata]]:
            return graph, metadata

        def save(self, *_: Any) -> None: ...

        delete = save_metadata = delete_metadata = save

    return InMemoryBackend(Loaded())


def test_repair_removes_broken_ties_and_stray_metadata() -> None:
    a = fact("a", links={Edge.PROVENANCE: frozenset({"gone", "lost"}), Edge.MEMBERSHIP: frozenset({"tag"})})
    tag = replace(TAG, links={Edge.MEMBERSHIP: frozenset({"a"})})
    lonely = replace(LONELY, links={Edge.MEMBERSHIP: frozenset({"gone"})})
    by_type = {"semantic": frozenset({"a"}), "tag": frozenset({"tag", "lonely"})}
    backend = loaded(
        Graph({node.id: node for node in (a, tag, lonely)}, by_type),
        {id: NodeMetadata() for id in ("gone", "elsewhere", "a")},
    )
    expected = {"checked": 3, "repaired_nodes": 2, "dangling_refs": 3, "orphans_deleted": 1, "orphan_ids": ["lonely"]}
    assert repair(backend, dry_run=True) == {**expected, "leftovers": 2}
    assert repair(backend).items() >= expected.items()
    assert ids(backend) == {"a", "tag"} and backend.metadata.keys() == {"a"}
    assert all_linked_ids(backend.graph.nodes["a"]) == {"tag"}
    assert repair(backend)["dangling_refs"] == 0


def test_bank_keeps_ties_to_removed_but_not_to_purged_nodes(bank: Bank) -> None:
    put(bank.graph, [fact("a"), fact("b"), TAG], [*tagged("a"), ("a", "b", Edge.SIBLING)])
    bank.remove("b")
    assert repair(bank.graph)["dangling_refs"] == 0
    bank.restore("b")
    assert node(bank.graph, "a").links[Edge.SIBLING] == {"b"}
    validate(bank.graph)
    with bank.core.store.writing() as writer:
        ties = [row_of(link) for link in writer.links() if "b" in (link.source.name, link.target.name)]
        writer.apply(Change("test", erase=["b"]))
        writer.apply(Change("test", links=ties))
    done = repair(bank.graph)
    assert (done["checked"], done["repaired_nodes"], done["dangling_refs"]) == (2, 1, 1)
    assert repair(bank.graph)["dangling_refs"] == 0


def test_dry_run_reports_what_the_run_then_does(backend: GraphBackend) -> None:
    grounded(backend)
    put(backend, [fact("a"), fact("b"), TAG, LONELY], tagged("a", "b"))
    before = ids(backend), rewards(backend)
    for run in (validate, consolidated, decayed, repair):
        held = ids(backend), rewards(backend)
        told = run(backend, dry_run=True)
        assert (ids(backend), rewards(backend)) == held
        assert run(backend) == told
    assert (ids(backend), rewards(backend)) != before


def test_each_upkeep_is_a_span_with_its_counts(memory: InMemoryBackend) -> None:
    put(memory, [fact("a"), TAG])
    with telemetry_heard() as heard:
        for run in (consolidated, decayed, validate, repair):
            run(memory, repo_id="mine")
    told = {name: (measured, about) for name, measured, about in heard}
    for name in ("consolidator.consolidate", "decay.prune", "episodic_validation.validate", "graph_repair.repair"):
        measured, about = told[f"{name}.stop"]
        assert about == {"repo_id": "mine"}
        assert measured.keys() - {"monotonic_time", "duration"} == set(telemetry.SPANS[name].stop)


@settings(max_examples=40)
@given(histories, st.sets(st.sampled_from("abcde"), max_size=2))
def test_after_a_repair_every_tie_leads_to_a_node(history: list[Any], gone: set[str]) -> None:
    graph = Graph()
    for step in history:
        graph = graph.apply_changeset(step) if isinstance(step, Changeset) else graph.without(step)
    left = {id: node for id, node in graph.nodes.items() if id not in gone}
    backend = loaded(Graph(left, {kind: frozenset(held & left.keys()) for kind, held in graph.by_type.items()}), {})
    repair(backend)
    nodes = backend.graph.nodes
    assert all(all_linked_ids(node) <= nodes.keys() for node in nodes.values())
    assert all(all_linked_ids(node) for node in nodes.values() if node.node_type in ("tag", "intent"))
    assert {id for id, node in left.items() if node.node_type not in ("tag", "intent")} <= nodes.keys()


AXES, SOME = st.integers(0, 3), st.sets(st.integers(0, 2))


@settings(max_examples=40)
@given(st.lists(st.tuples(AXES, SOME, SOME, st.integers(0, 9)), max_size=7))
def test_consolidation_keeps_every_source_tag_and_use(drawn: list[Any]) -> None:
    nodes: list[Node] = [replace(STEP, id=f"step-{n}") for n in range(3)]
    nodes += [Tag(id=f"tag-{n}", label=f"label {n}") for n in range(3)]
    nodes += [fact(f"fact-{n}", near((1.0, 0.95, 0.6, 0.1)[axis])) for n, (axis, *_) in enumerate(drawn)]
    ties = [(f"fact-{n}", f"step-{one}", Edge.PROVENANCE) for n, (_, froms, _, _) in enumerate(drawn) for one in froms]
    ties += [(f"tag-{one}", f"fact-{n}", Edge.MEMBERSHIP) for n, (_, _, on, _) in enumerate(drawn) for one in on]
    backend = InMemoryBackend()
    put(backend, nodes, ties, {f"fact-{n}": used(often, 1) for n, (*_, often) in enumerate(drawn)})
    consolidated(backend)
    for part, edge in ((1, Edge.PROVENANCE), (2, Edge.MEMBERSHIP)):
        wanted = {one for each in drawn for one in each[part]}
        kept = {id for node in backend.get_nodes_by_type(["semantic"]) for id in node.links[edge]}
        assert {int(id[-1]) for id in kept} == wanted
    counted = backend.get_metadata(list(ids(backend, "semantic")))
    assert sum(entry.access_count for entry in counted.values()) == sum(often for *_, often in drawn)
