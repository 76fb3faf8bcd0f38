"""Graph retrieval: near nodes, reachable nodes, scores, and the result after a failure."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.learning.asked import NOW, Space, Told, ago, asked, axis, clock, fact, graph, ids, procedure, tag

from pieria import Config, ExtractionProfile
from pieria.errors import AdapterError, InputError, PromptError
from pieria.graph import Edge, Episodic, GraphBackend, InMemoryBackend, Intent, NodeMetadata, Source, Subgoal
from pieria.learning.hop_refinement import Refined, Skipped, State, init, maybe_refine
from pieria.learning.recalled import TaggedCandidate, TouchedNode
from pieria.learning.retrieval import SURE
from pieria.record.value import IN_USE, DefaultValueFunction, alone

MODELS: dict[str, Any] = {"llm": {"model": "none"}, "embedding": {"model": "auto"}}
MEMBERSHIP, PROVENANCE, HIERARCHICAL = Edge.MEMBERSHIP, Edge.PROVENANCE, Edge.HIERARCHICAL
NO_REFINING = Config(**MODELS, refinement_budget=0)


def config(**values: Any) -> Config:
    return Config(**{**MODELS, **values})


def test_every_ruling_has_its_test() -> None:
    told = tomllib.loads(Path(__file__).with_name("retrieval_rulings.toml").read_text("utf-8"))
    written = "".join(path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    lacking = [name for names in told.values() for name in names if f"def {name}(" not in written]
    assert lacking == []


# --- near nodes


@pytest.mark.parametrize(
    ("mode", "found"),
    [("semantic", {"fact"}), ("procedural", {"how"}), ("episodic", {"step", "aim"}),
     ("mixed", {"fact", "how", "step", "aim"})],
)  # fmt: skip
def test_the_mode_says_which_types_answer(mode: str, found: set[str]) -> None:
    backend = graph([
        fact("fact", axis(0)),
        procedure("how", axis(0)),
        Episodic(id="step", observation="a", action="b", embedding=axis(0)),
        Subgoal(id="aim", description="c", embedding=axis(0)),
        tag("tag", axis(0)),
    ])  # fmt: skip
    result, trace = asked(backend, Told(mode=mode))
    assert (set(ids(result)), result.mode, trace.mode) == (found, mode, mode)
    assert trace.candidate_count == len(found) == trace.result_count


def test_a_guessed_mode_lets_every_type_answer() -> None:
    class Guessing(Told):
        guesses_modes = True

    backend = graph([fact("fact", axis(0, 0.5)), procedure("how", axis(0))])
    result, trace = asked(backend, Guessing(mode="semantic"))
    assert (ids(result), trace.mode) == (["how", "fact"], "semantic")


def test_a_mode_whose_types_are_unsure_is_widened() -> None:
    backend = graph([fact("fact", axis(0, 0.1)), procedure("how", axis(0))])
    result, trace = asked(backend, Told(mode="semantic"))
    assert (ids(result)[0], trace.mode) == ("how", "mixed")
    sure = graph([fact("fact", axis(0, 0.7)), procedure("how", axis(0))])
    assert ids(asked(sure, Told(mode="semantic"))[0]) == ["fact"]


def test_what_is_near_a_term_is_found_though_it_is_far_from_the_question() -> None:
    backend = graph([fact("near the term", axis(1)), fact("far", axis(2))])
    space = Space({"?": axis(0), "herons": axis(1)})
    result, trace = asked(backend, Told(plan=["herons", "herons", " "]), space)
    assert ids(result)[0] == "near the term"
    assert (result.tags, trace.tags) == (["herons"], ["herons"])


def test_a_procedure_that_fits_is_found_when_it_is_new_and_when_it_is_old() -> None:
    for past in (ago(), ago(days=400)):
        found, _ = asked(graph([procedure("how", axis(0, 0.6))], (), {"how": past}), Told(mode="procedural"))
        assert ids(found) == ["how"]
    found, _ = asked(graph([procedure("how", axis(0, 0.3))]), Told(mode="procedural"))
    assert ids(found) == ["how"], "how well it fits is told by its score"


def test_what_is_worth_less_than_the_threshold_is_left_out_and_counted() -> None:
    strict = {"params": {"semantic": {"threshold": 0.2}}}
    backend = graph([fact("near", axis(0)), fact("far", axis(0, 0.5))])
    found, _ = asked(backend, value_function=strict)
    assert ids(found) == ["near"]
    assert ids(asked(backend, value_function={"params": {"semantic": {"threshold": 0.8}}})[0]) == []


def test_parameters_of_one_type_leave_those_of_the_others_as_they_are() -> None:
    own = {"params": {"semantic": {"top_k": 1}}}
    vague = Subgoal(id="vague", description="c", embedding=axis(0, 0.3), created_at=NOW)
    backend = graph([fact("a", axis(0)), fact("b", axis(0, 0.9)), vague])
    found, _ = asked(backend, Told(mode="mixed"), value_function=own)
    assert ids(found) == ["a"], "the subgoal lies below the threshold of its type"


def test_a_profile_and_a_configuration_decide_what_a_candidate_is_worth() -> None:
    backend = graph([fact("a", axis(0))])
    plain = asked(backend)[0].all[0].score
    lifting = ExtractionProfile(name="p", value_function_overrides={"semantic": {"base_floor": 0.5}})
    lifted = asked(backend, config=config(extraction_profile=lifting))[0].all[0].score
    configured = config(value_function={"params": {"semantic": {"base_floor": 0.6}}})
    assert [plain, lifted] == pytest.approx([1 + IN_USE * 0.3, 1 + IN_USE * 0.45])
    assert asked(backend, config=configured)[0].all[0].score == pytest.approx(1 + IN_USE * 0.6)


def used(times: int, **more: Any) -> NodeMetadata:
    return NodeMetadata(created_at=NOW, last_accessed_at=NOW, access_count=times, **more)


def test_of_near_equals_what_was_used_and_served_well_comes_first_and_nothing_that_fits_less() -> None:
    served = used(50, cumulative_reward=50.0, reward_count=50)
    nodes = [fact("fits", axis(0)), fact("nearly", axis(0, 0.95)), fact("less", axis(0, 0.8))]
    assert ids(asked(graph(nodes, (), {"nearly": served}))[0])[0] == "nearly"
    assert ids(asked(graph(nodes, (), {"less": served, "fits": ago(days=4_000)}))[0])[0] == "fits"
    assert ids(asked(graph(nodes, (), {"fits": used(50, reward_count=50)}))[0])[0] == "fits"


def test_many_that_were_used_do_not_push_what_fits_out_of_what_is_kept() -> None:
    nodes = [fact("fits", axis(0)), *(fact(f"u{n}", axis(0, 0.5)) for n in range(40))]
    known = {f"u{n}": used(50) for n in range(40)} | {"fits": ago(days=400)}
    assert ids(asked(graph(nodes, (), known))[0])[0] == "fits"


def test_a_procedure_that_is_in_use_does_not_keep_an_older_one_from_being_found() -> None:
    backend = graph(
        [procedure("old", axis(0)), procedure("new", axis(0, 0.9))], (), {"old": ago(days=400), "new": used(9)}
    )
    assert ids(asked(backend, Told(mode="procedural"))[0]) == ["old", "new"]


def test_whoever_wants_the_whole_product_hands_over_the_function_itself() -> None:
    backend = graph([fact("fits", axis(0)), fact("less", axis(0, 0.8))], (), {"less": used(50)})
    assert ids(asked(backend, value_function=DefaultValueFunction(clock).score)[0]) == ["less", "fits"]


def _by_length(relevance: float, node: Any, metadata: Any, params: Mapping[str, Any]) -> float:
    return relevance / len(node.id)


class ByLength:
    def score(self, relevance: float, node: Any, metadata: Any, params: Mapping[str, Any]) -> float:
        return _by_length(relevance, node, metadata, params)


@pytest.mark.parametrize("own", [_by_length, ByLength, ByLength(), {"module": ByLength}])
def test_a_value_function_of_ones_own_is_a_function_an_object_or_a_class(own: object) -> None:
    backend = graph([fact("longest", axis(0)), fact("id", axis(0, 0.9))])
    assert ids(asked(backend, value_function=own)[0]) == ["id", "longest"]


def test_a_value_function_that_gives_no_number_is_told_of() -> None:
    with pytest.raises(InputError, match="finite number"):
        asked(graph([fact("a", axis(0))]), value_function=lambda *_: float("nan"))


# --- reachable nodes


def linked() -> InMemoryBackend:
    """Return a graph with two tags: one leads from `near` to `beyond`, the other from there to `far`."""
    nodes = [fact("near", axis(0)), fact("beyond", axis(0, 0.5)), fact("far", axis(0, 0.4))]
    nodes += [tag("first", axis(0)), tag("second", axis(0))]  # type: ignore[list-item]
    return graph(nodes, [
        ("first", "near", MEMBERSHIP), ("first", "beyond", MEMBERSHIP),
        ("second", "beyond", MEMBERSHIP), ("second", "far", MEMBERSHIP),
    ])  # fmt: skip


def test_each_hop_goes_one_tag_further() -> None:
    only_one = {"params": {"semantic": {"top_k": 1}}}
    reached = {hops: asked(linked(), max_hops=hops, value_function=only_one)[0] for hops in (0, 1, 2)}
    assert [set(ids(each)) for each in reached.values()] == [
        {"near"}, {"near", "beyond"}, {"near", "beyond", "far"},
    ]  # fmt: skip
    told = {each.node.id: (each.phase, each.hop) for each in reached[2].all}
    assert told == {"near": ("initial", 0), "beyond": ("multi_hop", 1), "far": ("multi_hop", 2)}
    assert reached[2].phases["far"] == "multi_hop"


def test_what_a_hop_reaches_is_valued_as_what_was_near_at_once() -> None:
    only_one = {"params": {"semantic": {"top_k": 1}}}
    at_once = {each.node.id: each.score for each in asked(linked())[0].all}
    by_hops = {each.node.id: each.score for each in asked(linked(), value_function=only_one)[0].all}
    assert by_hops == pytest.approx(at_once)
    assert max(by_hops, key=lambda id: by_hops[id]) == "near"


def test_steps_towards_the_same_aim_lead_to_each_other() -> None:
    steps = [Episodic(id=f"s{n}", observation="o", action="a", embedding=axis(0 if n == 0 else 3)) for n in range(3)]
    aim = Subgoal(id="aim", description="d", embedding=axis(0))
    backend = graph([*steps, aim], [("aim", step.id, HIERARCHICAL) for step in steps])
    one = {"params": {"episodic": {"top_k": 1}}}
    found, _ = asked(backend, Told(mode="episodic"), value_function=one)
    assert set(ids(found)) > {"aim", "s0"}


def test_what_only_leads_on_is_never_an_answer() -> None:
    backend = graph([fact("a", axis(0)), tag("t", axis(0)), Intent(id="i", description="x", embedding=axis(0))],
                    [("t", "a", MEMBERSHIP)])  # fmt: skip
    assert ids(asked(backend, Told(mode="mixed"))[0]) == ["a"]


def test_where_events_are_asked_for_their_sources_come_for_half_of_their_worth() -> None:
    step = Episodic(id="step", observation="o", action="a", embedding=axis(0))
    source = Source(id="source", episode_id="e", step_index=0, plain_text="o")
    backend = graph([step, source], [("step", "source", PROVENANCE)])
    result, _ = asked(backend, Told(mode="episodic"))
    [kept] = result.candidates["source"]
    assert (kept.phase, kept.hop) == ("provenance", None)
    assert kept.score == pytest.approx(result.candidates["episodic"][0].score / 2)
    assert "source" not in asked(backend, Told(mode="mixed"))[0].candidates


class Counted(InMemoryBackend):
    def __init__(self, of: InMemoryBackend) -> None:
        super().__init__()
        self._of, self.calls = of, 0

    def __getattribute__(self, name: str) -> Any:
        if name in ("_of", "calls") or name not in vars(GraphBackend):
            return object.__getattribute__(self, name)
        self.calls += 1
        return getattr(self._of, name)


@pytest.mark.parametrize("count", [2, 40])
def test_a_search_asks_a_backend_as_often_however_much_it_finds(count: int) -> None:
    nodes = [fact(f"f{n}", axis(0, 0.9)) for n in range(count)]
    backend = Counted(graph([*nodes, tag("t", axis(0))], [("t", node.id, MEMBERSHIP) for node in nodes]))
    asked(backend, max_hops=1, value_function={"params": {"semantic": {"top_k": 1}}}, config=NO_REFINING)
    assert backend.calls == 6


# --- refined queries


def candidates(score: float) -> list[TaggedCandidate]:
    return [TaggedCandidate(fact("a"), score, "initial", 0)]


def refined(state: State, score: float, mind: Any = None, **values: Any) -> Refined | Skipped:
    ctx: dict[str, Any] = {
        "llm": mind or Told(refine=["herons"]),
        "embedding": Space({}),
        "config": config(**values),
        "llm_opts": [],
    }
    return maybe_refine(state, "?", candidates(score), 1, ctx)


def test_the_budget_of_refining_is_that_of_the_configuration_and_no_more_than_the_hops() -> None:
    assert init(config(refinement_budget=3), 2) == State(2, 0.05, 0.6)
    assert init(config(refinement_budget=1, refinement_threshold=0.4, plateau_delta=0.1), 2) == State(1, 0.1, 0.4)


def test_a_question_is_asked_more_closely_below_the_threshold_or_on_a_plateau_and_not_otherwise() -> None:
    grown, still = State(1, 0.05, 0.6), State(1, 0.05, 0.88)
    assert isinstance(refined(grown, 0.5), Refined), "below the threshold"
    assert isinstance(refined(still, 0.9), Refined), "it has stopped growing"
    assert isinstance(refined(grown, 0.9), Skipped)
    assert isinstance(refined(replace(grown, budget_remaining=0), 0.1), Skipped)
    assert isinstance(refined(State(1, 0.0, 0.2), 0.5, refinement_threshold=0.4), Skipped)


def test_what_is_asked_for_costs_the_budget_and_what_comes_to_nothing_does_not() -> None:
    found = refined(State(2, 0.05, 0.6), 0.5)
    assert isinstance(found, Refined)
    assert (found.tags, len(found.vectors), found.state.budget_remaining) == (["herons"], 1, 1)
    [told] = found.state.refinements
    assert (told["hop"], told["tags"], told["previous_best_score"]) == (1, ["herons"], 0.6)
    for mind in (Told(refine=[]), Told(refine=PromptError("get_refined_query", "invalid_tags"))):
        skipped = refined(State(2, 0.05, 0.6), 0.5, mind)
        assert isinstance(skipped, Skipped)
        assert (skipped.state.budget_remaining, skipped.state.previous_best_score) == (2, 0.5)


def test_what_is_found_by_asking_more_closely_says_so() -> None:
    backend = graph([fact("far", axis(1)), fact("other", axis(0, 0.2))])
    mind, space = Told(refine=["herons"]), Space({"?": axis(0), "herons": axis(1)})
    one = {"params": {"semantic": {"top_k": 1}}}
    result, trace = asked(backend, mind, space, value_function=one)
    assert {each.node.id: each.phase for each in result.all} == {"far": "refinement", "other": "initial"}
    [told] = trace.refinements
    assert told["tags"] == ["herons"]
    assert told["new_best_score"] == pytest.approx(1.0)
    assert asked(backend, mind, space, config=NO_REFINING)[1].refinements == []


# --- partial failures


@pytest.mark.parametrize("answer", [PromptError("get_mode", "invalid_mode"), AdapterError("m", "chat", "gone"), "odd"])
def test_without_a_mode_all_kinds_are_looked_for(answer: Any) -> None:
    result, trace = asked(graph([fact("a", axis(0)), procedure("b", axis(0))]), Told(mode=answer))
    assert (result.mode, set(ids(result))) == ("mixed", {"a", "b"})
    assert len(trace.problems) == 1


def test_without_terms_or_their_vectors_the_question_alone_is_looked_for() -> None:
    backend, space = graph([fact("a", axis(0))]), Space({"?": axis(0)})
    space.fails = ["herons"]
    for mind in (Told(plan=PromptError("get_plan", "no_tags_generated")), Told(plan=["herons"])):
        result, trace = asked(backend, mind, space)
        assert ids(result) == ["a"]
        assert ["question alone" in problem for problem in trace.problems] == [True]


def test_a_question_that_cannot_be_embedded_is_an_error_where_no_words_are_read() -> None:
    space = Space({})
    space.fails = ["?"]
    with pytest.raises(AdapterError):
        asked(graph([fact("a", axis(0))]), space=space)


def test_refining_that_fails_leaves_what_was_found() -> None:
    mind = Told(refine=AdapterError("m", "chat", "gone"))
    result, trace = asked(graph([fact("a", axis(0, 0.5))]), mind)
    assert ids(result) == ["a"]
    assert any("more closely" in problem for problem in trace.problems)


# --- the trace


def test_a_trace_tells_how_it_went_and_nodes_only_in_detail() -> None:
    result, trace = asked(linked(), max_hops=1, value_function={"params": {"semantic": {"top_k": 1}}})
    assert trace.candidates_per_hop == {0: 1, 1: 2}
    assert trace.scores == {each.node.id: each.score for each in result.all}
    assert trace.phase_timings is not None
    assert {"hop_0", "multi_hop"} <= trace.phase_timings.keys()
    assert (trace.hops, trace.verbosity, trace.relevances) == (1, "summary", None)
    _, detailed = asked(linked(), config=config(trace_verbosity="detailed"))
    assert detailed.relevances is not None
    assert detailed.relevances["near"] == pytest.approx(1.0)
    shown = [TouchedNode.from_tagged(result.all[0], verbosity).node for verbosity in ("summary", "detailed")]
    assert shown == [None, result.all[0].node]


def test_a_good_record_stands_before_none_and_none_before_a_bad_one() -> None:
    judged = {"good": 0.9, "bad": 0.1}
    metadata = {
        id: NodeMetadata(created_at=NOW, cumulative_reward=reward, reward_count=1) for id, reward in judged.items()
    }
    backend = graph([fact(id, axis(0)) for id in ("bad", "none", "good")], (), metadata)
    assert ids(asked(backend)[0]) == ["good", "none", "bad"]


@pytest.mark.parametrize("wrong", [{"max_hops": -1}, {"backend": None}, {"value_function": {"colour": 1}}])
def test_what_cannot_be_right_is_refused(wrong: dict[str, Any]) -> None:
    given = {"backend": graph([fact("a", axis(0))]), **wrong}
    with pytest.raises(InputError):
        asked(given.pop("backend"), **given)


def test_how_sure_an_answer_is_goes_by_the_surest_that_answers_and_what_is_too_little_is_configured() -> None:
    near = graph([fact("a", axis(0, 0.5)), fact("b", axis(0, 0.3)), tag("t", axis(0))], [("t", "a", Edge.MEMBERSHIP)])
    result, _ = asked(near)
    assert result.confidence == pytest.approx(alone(0.5, 0.0), abs=1e-6)
    assert (result.sure, result.floors) == ({"semantic": result.confidence}, SURE)
    own = asked(near, config=config(answer_threshold=0.9))[0]
    assert (own.confidence, set(own.floors.values())) == (result.confidence, {0.9})
    assert asked(graph([]))[0].confidence == 0.0
