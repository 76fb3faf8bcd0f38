"""Upkeep of a graph: what is pruned, what stays, and the ties, uses and sources afterwards."""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.histories import histories

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
from pieria.learning.semantic_consolidator import consolidate
from pieria.record.changeset import Changeset as Change
from pieria.record.fact import FactQuery
from pieria.record.link import End, row_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MODELS: dict[str, Any] = {"llm": {"model": "none"}, "embedding": {"model": "none"}}


class Time:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = NOW - timedelta(days=60)

    def __call__(self) -> datetime:
        return self.now


def embed(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def bank(tmp_path: Path, time: Time) -> Iterator[Bank]:
    given: dict[str, Any] = {"durability": "off"}
    with Workspace(tmp_path / "data", given, embedder=embed, clock=time) as opened:
        yield opened.open("notes")


@pytest.fixture(params=["memory", "bank"])
def backend(request: pytest.FixtureRequest) -> GraphBackend:
    if request.param == "memory":
        return InMemoryBackend()
    held: Bank = request.getfixturevalue("bank")
    return held.graph


def near(cosine: float, axis: int = 1) -> list[float]:
    """Return a vector with this cosine to the first axis."""
    vector = [cosine, 0.0, 0.0, 0.0]
    vector[axis] = (1 - cosine**2) ** 0.5
    return vector


def fact(id: str, vector: list[float] | None = None, **more: Any) -> Semantic:
    made = NOW - timedelta(days=60)
    return Semantic(id=id, proposition=f"What {id} says.", embedding=vector or near(1.0), created_at=made, **more)


def used(count: int = 0, days: float = 60, **more: Any) -> NodeMetadata:
    at = NOW - timedelta(days=days)
    return NodeMetadata(access_count=count, created_at=NOW - timedelta(days=60), last_accessed_at=at, **more)


def tagged(*ids: str, tag: str = "tag") -> list[tuple[str, str, Edge]]:
    return [(tag, id, Edge.MEMBERSHIP) for id in ids]


def put(backend: GraphBackend, nodes: list[Node], ties: list[Any] = [], uses: dict[str, NodeMetadata] = {}) -> None:  # noqa: B006
    """Write nodes; a node without given uses was made long ago and never used."""
    usual = {node.id: replace(used(), last_accessed_at=None) for node in nodes}
    backend.apply_changeset(Changeset(nodes, ties, usual | uses))


def ids(backend: GraphBackend, *types: str) -> set[str]:
    return {node.id for node in backend.get_nodes_by_type(types or NODE_TYPES)}


def now() -> datetime:
    return NOW


def consolidated(backend: GraphBackend, threshold: float = 0.85, **more: Any) -> dict[str, Any]:
    return consolidate(backend, None, threshold, clock=now, **more)


def decayed(backend: GraphBackend, config: Config | None = None, **more: Any) -> dict[str, Any]:
    return decay(backend, config, clock=now, **more)


# --- consolidation


def test_only_facts_that_share_a_tag_are_compared_and_only_above_the_threshold(backend: GraphBackend) -> None:
    facts = [fact("a"), fact("same"), fact("alone"), fact("at", near(0.85)), fact("closer", near(0.86, 2))]
    tags: list[Node] = [Tag(id="tag", label="tides"), Tag(id="other", label="ferries")]
    put(backend, [*facts, *tags], [*tagged("a", "same", "at", "closer"), *tagged("alone", tag="other")], {"a": used(9)})
    threshold = cosine_similarity(near(1.0), [float(n) for n in backend.get_node("at").embedding or ()])  # type: ignore[union-attr]
    done = consolidated(backend, threshold)
    assert done["checked"] == 5 and done["skipped"] == 0
    assert done["deleted"] == 2 and set(done["deleted_ids"]) == {"same", "closer"}
    assert ids(backend, "semantic") == {"a", "alone", "at"}


def test_facts_that_name_other_numbers_are_never_made_one(backend: GraphBackend) -> None:
    told = {
        "first": "The server b3 listens on port 8000.",
        "again": "Port 8000 is where the server B3 listens.",
        "port": "The server b3 listens on port 8001.",
        "server": "The server b4 listens on port 8000.",
    }
    facts: list[Node] = [replace(fact(id), proposition=text) for id, text in told.items()]
    put(backend, [*facts, Tag(id="tag", label="ports")], tagged(*told), {"first": used(9)})
    assert consolidated(backend)["deleted_ids"] == ["again"]


def test_facts_that_differ_in_a_name_a_path_or_a_denial_are_never_made_one(backend: GraphBackend) -> None:
    told = {
        "anna": "Anna prefers tea.",
        "again": "It is tea that Anna prefers.",
        "bea": "Bea prefers tea.",
        "denied": "Anna doesn't prefer tea.",
        "path": "Anna prefers tea, as /home/anna/tea.md says.",
        "other path": "Anna prefers tea, as /home/anna/cups.md says.",
    }
    facts: list[Node] = [replace(fact(id), proposition=text) for id, text in told.items()]
    put(backend, [*facts, Tag(id="tag", label="tea")], tagged(*told), {"anna": used(9)})
    assert consolidated(backend)["deleted_ids"] == ["again"]


def test_a_name_written_small_is_told_apart_where_another_fact_has_it_with_its_capital(backend: GraphBackend) -> None:
    told = {"anna": "anna prefers tea", "again": "it is tea that anna prefers", "bea": "bea prefers tea"}
    facts: list[Node] = [replace(fact(id), proposition=text) for id, text in told.items()]
    elsewhere = replace(fact("elsewhere", near(0.1)), proposition="The letter is for Anna, not for Bea.")
    put(backend, [*facts, elsewhere, Tag(id="tag", label="tea")], tagged(*told), {"anna": used(9)})
    assert consolidated(backend)["deleted_ids"] == ["again"]


def test_ties_and_uses_of_the_loser_are_the_winners(backend: GraphBackend) -> None:
    step = Episodic(id="step", observation="The ferry was full.", action="Waited.")
    nodes: list[Node] = [fact("a"), fact("b"), fact("c", near(0.1)), step, Tag(id="tag", label="tides")]
    nodes.append(Tag(id="own", label="ferries"))
    ties = [*tagged("a", "b"), *tagged("b", tag="own"), ("b", "step", Edge.PROVENANCE), ("b", "c", Edge.SIBLING)]
    rewarded = {
        "a": used(9, 1, cumulative_reward=0.5, reward_count=1),
        "b": used(2, 3, cumulative_reward=0.25, reward_count=1),
    }
    put(backend, nodes, ties, rewarded)
    assert consolidated(backend)["deleted_ids"] == ["b"]
    winner = backend.get_node("a")
    assert winner is not None and winner.text == "What a says."
    assert winner.links[Edge.MEMBERSHIP] == {"tag", "own"}
    assert winner.links[Edge.PROVENANCE] == {"step"} and winner.links[Edge.SIBLING] == {"c"}
    held = backend.get_metadata(["a", "b"])
    assert held.keys() == {"a"}
    assert (held["a"].access_count, held["a"].cumulative_reward, held["a"].reward_count) == (11, 0.75, 2)
    assert held["a"].last_accessed_at == NOW - timedelta(days=1)


def test_a_chain_of_duplicates_ends_with_its_last_winner(backend: GraphBackend) -> None:
    chain = [fact("a", near(1.0)), fact("b", near(0.9)), fact("c", [0.62, 0.7846, 0, 0])]
    tags = [Tag(id="tag", label="tides"), Tag(id="own", label="x")]
    uses = {"a": used(20, 1), "b": used(9, 1), "c": used(3, 1)}
    put(backend, [*chain, *tags], [*tagged("a", "b", "c"), *tagged("c", tag="own")], uses)
    assert consolidated(backend)["deleted_ids"] == ["b", "c"]
    assert ids(backend, "semantic") == {"a"}
    assert backend.get_node("a").links[Edge.MEMBERSHIP] == {"tag", "own"}  # type: ignore[union-attr]
    assert backend.get_metadata(["a"])["a"].access_count == 32


def test_of_equal_worth_the_older_stays(backend: GraphBackend) -> None:
    younger = replace(fact("a"), created_at=NOW - timedelta(days=50))
    put(backend, [younger, fact("b"), Tag(id="tag", label="tides")], tagged("a", "b"))
    assert consolidated(backend)["deleted_ids"] == ["a"]


def test_consolidation_puts_away_what_nothing_is_tied_to(backend: GraphBackend) -> None:
    put(backend, [fact("a"), Tag(id="lonely", label="x"), Intent(id="intent", description="Travel.")])
    assert consolidated(backend)["deleted_ids"] == ["intent", "lonely"]
    assert ids(backend) == {"a"}


def test_the_bank_archives_the_loser_and_the_winner_leads_to_it(bank: Bank) -> None:
    put(bank.graph, [fact("a"), fact("b"), Tag(id="tag", label="tides")], tagged("a", "b"), {"a": used(9)})
    bank.facts.add("Ferry", "leaves_at", "nine", memory="b")
    consolidated(bank.graph)
    loser = bank.get("b")
    assert loser is not None and loser.standing.status == "archived" and loser.text == "What b says."
    assert loser.standing.reason == "consolidated into a"
    with bank.core.store.reading() as reader:
        assert [fact.object for fact in reader.facts(FactQuery(memory="a"), bank.core.filter())] == ["nine"]
        assert [link.target.name for link in reader.links([End("memory", "a")], "provenance")] == ["b"]
    seq = next(change.seq for change in bank.changes() if change.what == "consolidate")
    bank.undo(seq)
    assert ids(bank.graph, "semantic") == {"a", "b"}


def test_what_different_readers_see_or_what_is_pinned_is_not_made_one(bank: Bank) -> None:
    put(bank.graph, [fact("a"), fact("b"), fact("c"), Tag(id="tag", label="tides")], tagged("a", "b", "c"))
    bank.pin("c")
    bank.update("b", valid_until=NOW + timedelta(days=9))
    assert consolidated(bank.graph)["deleted_ids"] == ["a"]
    assert ids(bank.graph, "semantic") == {"b", "c"}


# --- decay


def test_what_is_worth_little_goes_with_what_nothing_is_tied_to_then(backend: GraphBackend) -> None:
    nodes: list[Node] = [fact("idle"), fact("used"), Procedural(id="how", instruction="Book early.")]
    nodes += [Tag(id="tag", label="tides"), Tag(id="lonely", label="x"), Intent(id="intent", description="Travel.")]
    ties = [*tagged("idle"), ("intent", "how", Edge.HIERARCHICAL)]
    put(backend, nodes, ties, {"used": used(20, 1)})
    done = decayed(backend)
    assert done["checked"] == 3 and done["deleted"] == 5
    assert set(done["deleted_ids"]) == {"idle", "how", "tag", "lonely", "intent"}
    assert ids(backend) == {"used"}
    assert backend.get_metadata(["idle", "used"]).keys() == {"used"}
    assert decayed(backend)["deleted"] == 0


def test_only_the_types_that_are_named_decay(backend: GraphBackend) -> None:
    put(backend, [fact("idle"), Procedural(id="how", instruction="Book early.")])
    assert decayed(backend, node_types=["procedural"])["deleted_ids"] == ["how"]
    with pytest.raises(InputError, match="node_types"):
        decayed(backend, node_types=["song"])
    with pytest.raises(InputError, match="threshold"):
        decayed(backend, threshold=2)


def test_what_is_fresh_never_decays_whatever_the_floor_and_the_threshold(backend: GraphBackend) -> None:
    profile = ExtractionProfile("mine", value_function_overrides={"semantic": {"lambda": 5.0}})
    low = {"params": {"semantic": {"base_floor": 0.01}}}
    config = Config(**MODELS, value_function=low, extraction_profile=profile)
    put(backend, [fact("young")], [], {"young": NodeMetadata(created_at=NOW - timedelta(days=60))})
    at = backend.get_metadata(["young"])["young"].created_at
    early = decay(backend, config, threshold=1.0, clock=lambda: at + timedelta(days=6))
    assert early["deleted"] == 0
    floor_alone = Config(**MODELS, value_function={"params": {"semantic": {"base_floor": 0.01, "lambda": 0.0}}})
    assert decayed(backend, floor_alone, threshold=1.0, min_age_hours=0)["deleted"] == 0
    assert decayed(backend, config, threshold=1.0, min_age_hours=0)["deleted"] == 1


def test_the_parameters_of_the_profile_count(backend: GraphBackend) -> None:
    put(backend, [fact("slow"), Procedural(id="how", instruction="Book early.")])
    profile = ExtractionProfile("mine", value_function_overrides={"semantic": {"lambda": 0.0001}})
    assert decayed(backend, Config(**MODELS, extraction_profile=profile))["deleted_ids"] == ["how"]


def test_a_value_function_of_ones_own_decides(backend: GraphBackend) -> None:
    class Named:
        def score(self, relevance: float, node: Node, metadata: Any, params: Any) -> float:
            return 0.0 if node.id == "bad" and metadata.created_at < NOW - timedelta(days=1) else relevance

    put(backend, [fact("bad"), fact("good")])
    assert decayed(backend, Config(**MODELS, value_function={"module": Named}))["deleted_ids"] == ["bad"]


def test_what_others_were_drawn_from_does_not_decay(backend: GraphBackend) -> None:
    step = Episodic(id="step", observation="The ferry was full.", action="Waited.")
    free = replace(step, id="free")
    put(backend, [fact("a"), step, free], [("a", "step", Edge.PROVENANCE)], {"a": used(20, 1)})
    assert decayed(backend, node_types=["episodic"])["deleted_ids"] == ["free"]


def test_a_bank_archives_what_decays_and_keeps_what_may_not_be_forgotten(
    bank: Bank, tmp_path: Path, time: Time
) -> None:
    put(bank.graph, [fact(id) for id in ("idle", "pinned", "important", "settled")])
    bank.pin("pinned")
    bank.update("important", importance=0.9)
    bank.update("settled", tier="settled")
    time.now = NOW
    assert bank.graph.prune()["deleted_ids"] == ["idle"]
    assert [memory.id for memory in bank.list(status="archived")] == ["idle"]
    with Workspace(
        tmp_path / "data", {"durability": "off", "upkeep_fades": "note"}, embedder=embed, clock=time
    ) as other:
        assert other.open("kept").graph.prune()["deleted"] == 0
        put(other.open("kept").graph, [fact("b")])
        time.now = NOW + timedelta(days=60)
        assert other.open("kept").graph.prune()["deleted"] == 0


# --- validation


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


COUNTED = {"checked": 4, "grounded": 1, "penalized": 2, "orphaned": 1}


def test_weak_grounding_costs_rewards_once_however_often_it_is_looked_at(backend: GraphBackend) -> None:
    grounded(backend)
    assert validate(backend) == {**COUNTED, "changed": 2}
    assert rewards(backend) == {"good": 0.9, "weak": 0.8, "orphan": 0.6, "unrewarded": 0.0}
    before = backend.get_metadata(["good", "weak", "orphan"])
    assert validate(backend) == {**COUNTED, "changed": 0}
    assert backend.get_metadata(["good", "weak", "orphan"]) == before


def test_what_was_taken_is_given_back_when_the_grounding_is_back(backend: GraphBackend) -> None:
    grounded(backend)
    validate(backend)
    backend.apply_changeset(Changeset([], [("orphan", "step-1", Edge.PROVENANCE)]))
    assert validate(backend) == {"checked": 4, "grounded": 2, "penalized": 2, "orphaned": 0, "changed": 1}
    assert rewards(backend) == {"good": 0.9, "weak": 0.8, "orphan": 0.9, "unrewarded": 0.0}


def test_the_configuration_says_what_grounding_costs(backend: GraphBackend) -> None:
    grounded(backend)
    rules = {"validation_threshold": 0.05, "orphan_penalty": 0.5}
    assert validate(backend, Config(**MODELS, episodic_validation=rules))["penalized"] == 0
    assert rewards(backend)["orphan"] == 0.4


def test_rewards_that_come_later_count_and_the_penalty_stays_what_it_is(backend: GraphBackend) -> None:
    grounded(backend)
    validate(backend)
    held = backend.get_metadata(["weak"])["weak"]
    backend.update_metadata({"weak": held.update_reward(0.5)})
    assert validate(backend)["changed"] == 0
    assert rewards(backend)["weak"] == 1.3


def test_what_is_deleted_and_put_again_has_nothing_to_get_back(backend: GraphBackend) -> None:
    grounded(backend)
    validate(backend)
    backend.delete_nodes(["weak"])
    put(backend, [fact("weak")], [("weak", "step-0", Edge.PROVENANCE)])
    validate(backend)
    assert backend.get_metadata(["weak"])["weak"].cumulative_reward == 0.0


# --- repair of damage


def broken() -> InMemoryBackend:
    """Return a graph as another program may write it: ties to missing nodes, and metadata without a node."""
    ties = {Edge.PROVENANCE: frozenset({"gone", "lost"}), Edge.MEMBERSHIP: frozenset({"tag"})}
    a = fact("a", links=ties)
    tag = Tag(id="tag", label="tides", links={Edge.MEMBERSHIP: frozenset({"a"})})
    lonely = Tag(id="lonely", label="x", links={Edge.MEMBERSHIP: frozenset({"gone"})})
    graph = Graph(
        {node.id: node for node in (a, tag, lonely)},
        {"semantic": frozenset({"a"}), "tag": frozenset({"tag", "lonely"})},
    )

    class Loaded:
        def load(self) -> tuple[Graph, dict[str, NodeMetadata]]:
            return graph, {"gone": NodeMetadata(), "elsewhere": NodeMetadata(), "a": NodeMetadata()}

        def save(self, *_: Any) -> None: ...

        delete = save_metadata = delete_metadata = save

    return InMemoryBackend(Loaded())


def test_repair_unties_what_leads_nowhere_and_forgets_what_is_of_nobody() -> None:
    backend = broken()
    expected = {"checked": 3, "repaired_nodes": 2, "dangling_refs": 3, "orphans_deleted": 1, "orphan_ids": ["lonely"]}
    assert repair(backend, dry_run=True) == {**expected, "leftovers": 2}
    done = repair(backend)
    assert {key: done[key] for key in expected} == expected
    assert ids(backend) == {"a", "tag"} and backend.metadata.keys() == {"a"}
    assert all_linked_ids(backend.graph.nodes["a"]) == {"tag"}
    assert repair(backend)["dangling_refs"] == 0


def test_a_bank_unties_what_was_purged_from_under_its_ties(bank: Bank) -> None:
    put(bank.graph, [fact("a"), fact("b"), Tag(id="tag", label="tides")], [*tagged("a"), ("a", "b", Edge.SIBLING)])
    validate(bank.graph)
    with bank.core.store.writing() as writer:
        links = writer.links()
        writer.apply(Change("test", erase=["b"]))
        writer.apply(
            Change("test", links=[row_of(link) for link in links if "b" in (link.source.name, link.target.name)])
        )
    done = repair(bank.graph)
    assert (done["checked"], done["repaired_nodes"], done["dangling_refs"]) == (2, 1, 1)
    assert repair(bank.graph)["dangling_refs"] == 0


def test_what_was_removed_from_a_bank_is_not_missing_for_it_may_come_back(bank: Bank) -> None:
    put(bank.graph, [fact("a"), fact("b")], [("a", "b", Edge.SIBLING)])
    bank.remove("b")
    assert repair(bank.graph)["dangling_refs"] == 0
    bank.restore("b")
    assert bank.graph.get_node("a").links[Edge.SIBLING] == {"b"}  # type: ignore[union-attr]


# --- all steps together


def test_a_dry_run_tells_what_the_run_then_does(backend: GraphBackend) -> None:
    grounded(backend)
    put(backend, [fact("a"), fact("b"), Tag(id="tag", label="tides"), Tag(id="lonely", label="x")], tagged("a", "b"))
    before = ids(backend), rewards(backend)
    runs: list[Callable[..., dict[str, Any]]] = [validate, consolidated, decayed, repair]
    for run in runs:
        held = ids(backend), rewards(backend)
        told = run(backend, dry_run=True)
        assert (ids(backend), rewards(backend)) == held
        assert run(backend) == told
    assert (ids(backend), rewards(backend)) != before


def test_how_far_a_run_has_come_is_told(backend: GraphBackend) -> None:
    put(backend, [fact("a"), fact("b"), Tag(id="tag", label="tides")], tagged("a", "b"))
    told: list[tuple[int, int]] = []
    decayed(backend, progress=lambda done, whole: told.append((done, whole)))
    assert told[-1] == (3, 3)


def test_each_is_a_span_with_what_came_of_it() -> None:
    backend = InMemoryBackend()
    put(backend, [fact("a"), Tag(id="tag", label="tides")])
    heard: dict[str, Any] = {}
    detach = telemetry.attach(lambda event, told, of: heard.update({".".join(event[1:]): ({**told}, {**of})}))
    for run in (consolidated, decayed, validate, repair):
        run(backend, repo_id="mine")
    detach()
    spans = ["consolidator.consolidate", "decay.prune", "episodic_validation.validate", "graph_repair.repair"]
    for name in spans:
        told, of = heard[f"{name}.stop"]
        assert of == {"repo_id": "mine"}
        assert told.keys() - {"monotonic_time", "duration"} == set(telemetry.SPANS[name].stop)


@settings(max_examples=40)
@given(histories, st.sets(st.sampled_from("abcde"), max_size=2))
def test_after_a_repair_every_tie_leads_to_a_node(history: list[Any], gone: set[str]) -> None:
    graph = Graph()
    for step in history:
        graph = graph.apply_changeset(step) if isinstance(step, Changeset) else graph.without(step)
    left = {id: node for id, node in graph.nodes.items() if id not in gone}
    by_type = {kind: frozenset(held & left.keys()) for kind, held in graph.by_type.items()}

    class Loaded:
        def load(self) -> tuple[Graph, dict[str, NodeMetadata]]:
            return Graph(left, by_type), {}

        def save(self, *_: Any) -> None: ...

        delete = save_metadata = delete_metadata = save

    backend = InMemoryBackend(Loaded())
    repair(backend)
    nodes = backend.graph.nodes
    assert all(all_linked_ids(node) <= nodes.keys() for node in nodes.values())
    assert all(all_linked_ids(node) for node in nodes.values() if node.node_type in ("tag", "intent"))
    assert {id for id, node in left.items() if node.node_type not in ("tag", "intent")} <= nodes.keys()


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sets(st.integers(0, 2)), st.sets(st.integers(0, 2)), st.integers(0, 9)),
        max_size=7,
    )
)
def test_consolidation_keeps_every_source_tag_and_use(drawn: list[Any]) -> None:
    steps: list[Node] = [Episodic(id=f"step-{n}", observation="Seen.", action="Done.") for n in range(3)]
    tags: list[Node] = [Tag(id=f"tag-{n}", label=f"label {n}") for n in range(3)]
    facts: list[Node] = [fact(f"fact-{n}", near((1.0, 0.95, 0.6, 0.1)[axis])) for n, (axis, *_) in enumerate(drawn)]
    ties = [(f"fact-{n}", f"step-{one}", Edge.PROVENANCE) for n, (_, froms, _, _) in enumerate(drawn) for one in froms]
    ties += [(f"tag-{one}", f"fact-{n}", Edge.MEMBERSHIP) for n, (_, _, on, _) in enumerate(drawn) for one in on]
    backend = InMemoryBackend()
    put(backend, [*steps, *tags, *facts], ties, {f"fact-{n}": used(often, 1) for n, (*_, often) in enumerate(drawn)})
    consolidated(backend)
    for froms, edge in ((1, Edge.PROVENANCE), (2, Edge.MEMBERSHIP)):
        wanted = {one for each in drawn for one in each[froms]}
        kept = {id for node in backend.get_nodes_by_type(["semantic"]) for id in node.links[edge]}
        assert {int(id[-1]) for id in kept} == wanted
    counted = backend.get_metadata(list(ids(backend, "semantic")))
    assert sum(entry.access_count for entry in counted.values()) == sum(often for *_, often in drawn)


def test_each_ruling_and_defect_has_its_test() -> None:
    listed = tomllib.loads(Path(__file__).with_name("care_rulings.toml").read_text("utf-8"))
    named = {name for part in listed.values() for names in part.values() for name in names}
    folder = Path(__file__).parent.parent
    held = "\n".join(path.read_text("utf-8") for path in folder.glob("*/test_*graph_care*.py"))
    assert [name for name in sorted(named) if f"def {name}(" not in held] == []
