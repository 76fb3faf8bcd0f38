"""Graph retrieval: near nodes, reachable nodes, scores, and the result after a failure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.learning.asked import NOW, Space, ago, asked, axis, clock, fact, graph, ids, procedure, tag
from tests.learning.trajectories import Told, config

from pieria import ExtractionProfile
from pieria.errors import AdapterError, InputError, PromptError
from pieria.graph import Edge, Episodic, GraphBackend, InMemoryBackend, Intent, NodeMetadata, Source, Subgoal
from pieria.learning.hop_refinement import Refined, Skipped, State, init, maybe_refine
from pieria.learning.recalled import TaggedCandidate, TouchedNode
from pieria.learning.retrieval import SURE
from pieria.record.value import IN_USE, DefaultValueFunction, alone

ONE = {"params": {"semantic": {"top_k": 1}}}


def used(times: int, **more: Any) -> NodeMetadata:
    return NodeMetadata(created_at=NOW, last_accessed_at=NOW, access_count=times, **more)


def test_mode_decides_which_types_answer() -> None:
    nodes = [
        fact("fact", axis(0)),
        procedure("how", axis(0)),
        Episodic(id="step", observation="a", action="b", embedding=axis(0)),
        Subgoal(id="aim", description="c", embedding=axis(0)),
        tag("tag", axis(0)),
        Intent(id="intent", description="x", embedding=axis(0)),
    ]
    backend = graph(nodes, [("tag", "fact", Edge.MEMBERSHIP)])
    wanted = {"semantic": {"fact"}, "procedural": {"how"}, "episodic": {"step", "aim"}}
    wanted["mixed"] = {"fact", "how", "step", "aim"}
    for mode, found in wanted.items():
        result, trace = asked(backend, Told(mode=mode))
        assert (set(ids(result)), result.mode, trace.mode) == (found, mode, mode)
        assert trace.candidate_count == len(found) == trace.result_count


def test_guessed_or_unsure_mode_is_widened() -> None:
    class Guessing(Told):
        guesses_modes = True

    def found(near: float, mind: Told) -> tuple[list[str], str | None]:
        result, trace = asked(graph([fact("fact", axis(0, near)), procedure("how", axis(0))]), mind)
        return ids(result), trace.mode

    assert found(0.5, Guessing(mode="semantic")) == (["how", "fact"], "semantic")
    unsure, mode = found(0.1, Told(mode="semantic"))
    assert (unsure[0], mode) == ("how", "mixed")
    assert found(0.7, Told(mode="semantic")) == (["fact"], "semantic")


def test_node_near_a_term_is_found_far_from_the_question() -> None:
    backend = graph([fact("near the term", axis(1)), fact("far", axis(2))])
    space = Space({"?": axis(0), "herons": axis(1)})
    result, trace = asked(backend, Told(plan=["herons", "herons", " "]), space)
    assert ids(result)[0] == "near the term"
    assert (result.tags, trace.tags) == (["herons"], ["herons"])


def test_fitting_procedure_is_found_at_any_age() -> None:
    for near, past in ((0.6, ago()), (0.6, ago(days=400)), (0.3, ago())):
        found, _ = asked(graph([procedure("how", axis(0, near))], (), {"how": past}), Told(mode="procedural"))
        assert ids(found) == ["how"]


def test_threshold_and_parameters_hold_for_their_type() -> None:
    near_and_far = graph([fact("near", axis(0)), fact("far", axis(0, 0.5))])
    for threshold, kept in ((0.2, ["near"]), (0.8, [])):
        strict = {"params": {"semantic": {"threshold": threshold}}}
        assert ids(asked(near_and_far, value_function=strict)[0]) == kept
    vague = Subgoal(id="vague", description="c", embedding=axis(0, 0.3), created_at=NOW)
    backend = graph([fact("a", axis(0)), fact("b", axis(0, 0.9)), vague])
    found, _ = asked(backend, Told(mode="mixed"), value_function=ONE)
    assert ids(found) == ["a"], "the subgoal lies below the threshold of its type"


def test_profile_and_configuration_change_the_worth() -> None:
    lifting = ExtractionProfile(name="p", value_function_overrides={"semantic": {"base_floor": 0.5}})
    configured = {"params": {"semantic": {"base_floor": 0.6}}}
    settings = [None, config(extraction_profile=lifting), config(value_function=configured)]
    scores = [asked(graph([fact("a", axis(0))]), config=each)[0].all[0].score for each in settings]
    assert scores == pytest.approx([1 + IN_USE * share for share in (0.3, 0.45, 0.6)])


def test_use_and_rewards_decide_between_near_equals_only() -> None:
    served = used(50, cumulative_reward=50.0, reward_count=50)
    nodes = [fact("fits", axis(0)), fact("nearly", axis(0, 0.95)), fact("less", axis(0, 0.8))]
    for known, first in (
        ({"nearly": served}, "nearly"),
        ({"less": served, "fits": ago(days=4_000)}, "fits"),
        ({"fits": used(50, reward_count=50)}, "fits"),
    ):
        assert ids(asked(graph(nodes, (), known))[0])[0] == first
    crowd = [fact("fits", axis(0)), *(fact(f"u{n}", axis(0, 0.5)) for n in range(40))]
    busy = {f"u{n}": used(50) for n in range(40)} | {"fits": ago(days=400)}
    assert ids(asked(graph(crowd, (), busy))[0])[0] == "fits"
    ways = [procedure("old", axis(0)), procedure("new", axis(0, 0.9))]
    backend = graph(ways, (), {"old": ago(days=400), "new": used(9)})
    assert ids(asked(backend, Told(mode="procedural"))[0]) == ["old", "new"]


def test_good_record_comes_before_none_and_none_before_bad() -> None:
    rewards = {"good": 0.9, "bad": 0.1}
    known = {id: NodeMetadata(created_at=NOW, cumulative_reward=it, reward_count=1) for id, it in rewards.items()}
    backend = graph([fact(id, axis(0)) for id in ("bad", "none", "good")], (), known)
    assert ids(asked(backend)[0]) == ["good", "none", "bad"]


def _by_length(relevance: float, node: Any, metadata: Any, params: Mapping[str, Any]) -> float:
    return relevance / len(node.id)


class ByLength:
    score = staticmethod(_by_length)


def test_own_value_function_may_be_function_object_or_class() -> None:
    backend = graph([fact("longest", axis(0)), fact("id", axis(0, 0.9))])
    for own in (_by_length, ByLength, ByLength(), {"module": ByLength}):
        assert ids(asked(backend, value_function=own)[0]) == ["id", "longest"]
    less_used = graph([fact("fits", axis(0)), fact("less", axis(0, 0.8))], (), {"less": used(50)})
    assert ids(asked(less_used, value_function=DefaultValueFunction(clock).score)[0]) == ["less", "fits"]
    with pytest.raises(InputError, match="finite number"):
        asked(backend, value_function=lambda *_: float("nan"))


def linked() -> InMemoryBackend:
    """Return a graph with two tags: one leads from `near` to `beyond`, the other from there to `far`."""
    facts = [fact("near", axis(0)), fact("beyond", axis(0, 0.5)), fact("far", axis(0, 0.4))]
    ties = [("first", "near"), ("first", "beyond"), ("second", "beyond"), ("second", "far")]
    tags = [tag("first", axis(0)), tag("second", axis(0))]
    return graph([*facts, *tags], [(*ends, Edge.MEMBERSHIP) for ends in ties])


def test_each_hop_goes_one_tag_further() -> None:
    reached = {hops: asked(linked(), max_hops=hops, value_function=ONE)[0] for hops in (0, 1, 2)}
    assert [set(ids(each)) for each in reached.values()] == [{"near"}, {"near", "beyond"}, {"near", "beyond", "far"}]
    told = {each.node.id: (each.phase, each.hop) for each in reached[2].all}
    assert told == {"near": ("initial", 0), "beyond": ("multi_hop", 1), "far": ("multi_hop", 2)}
    assert reached[2].phases["far"] == "multi_hop"
    at_once = {each.node.id: each.score for each in asked(linked())[0].all}
    assert {each.node.id: each.score for each in reached[2].all} == pytest.approx(at_once)
    assert ids(reached[2])[0] == "near"


def test_steps_of_one_aim_lead_to_each_other() -> None:
    steps = [Episodic(id=f"s{n}", observation="o", action="a", embedding=axis(0 if n == 0 else 3)) for n in range(3)]
    aim = Subgoal(id="aim", description="d", embedding=axis(0))
    backend = graph([*steps, aim], [("aim", step.id, Edge.HIERARCHICAL) for step in steps])
    found, _ = asked(backend, Told(mode="episodic"), value_function={"params": {"episodic": {"top_k": 1}}})
    assert set(ids(found)) > {"aim", "s0"}


def test_sources_of_events_come_for_half_their_worth() -> None:
    step = Episodic(id="step", observation="o", action="a", embedding=axis(0))
    source = Source(id="source", episode_id="e", step_index=0, plain_text="o")
    backend = graph([step, source], [("step", "source", Edge.PROVENANCE)])
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


def test_backend_calls_do_not_grow_with_the_results() -> None:
    for count in (2, 40):
        nodes = [fact(f"f{n}", axis(0, 0.9)) for n in range(count)]
        backend = Counted(graph([*nodes, tag("t", axis(0))], [("t", node.id, Edge.MEMBERSHIP) for node in nodes]))
        asked(backend, max_hops=1, value_function=ONE, config=config(refinement_budget=0))
        assert backend.calls == 6


def refined(state: State, score: float, mind: Any = None, **values: Any) -> Refined | Skipped:
    ctx: dict[str, Any] = {"llm": mind or Told(refine=["herons"]), "embedding": Space({}), "llm_opts": []}
    found = [TaggedCandidate(fact("a"), score, "initial", 0)]
    return maybe_refine(state, "?", found, 1, {**ctx, "config": config(**values)})


def test_configuration_and_hops_limit_refining() -> None:
    assert init(config(refinement_budget=3), 2) == State(2, 0.05, 0.6)
    assert init(config(refinement_budget=1, refinement_threshold=0.4, plateau_delta=0.1), 2) == State(1, 0.1, 0.4)


def test_low_score_or_plateau_refines_the_question() -> None:
    grown, still = State(1, 0.05, 0.6), State(1, 0.05, 0.88)
    assert isinstance(refined(grown, 0.5), Refined), "below the threshold"
    assert isinstance(refined(still, 0.9), Refined), "it has stopped growing"
    assert isinstance(refined(grown, 0.9), Skipped)
    assert isinstance(refined(replace(grown, budget_remaining=0), 0.1), Skipped)
    assert isinstance(refined(State(1, 0.0, 0.2), 0.5, refinement_threshold=0.4), Skipped)


def test_only_a_refined_question_costs_the_budget() -> None:
    found = refined(State(2, 0.05, 0.6), 0.5)
    assert isinstance(found, Refined)
    assert (found.tags, len(found.vectors), found.state.budget_remaining) == (["herons"], 1, 1)
    [told] = found.state.refinements
    assert (told["hop"], told["tags"], told["previous_best_score"]) == (1, ["herons"], 0.6)
    for mind in (Told(refine=[]), Told(refine=PromptError("get_refined_query", "invalid_tags"))):
        skipped = refined(State(2, 0.05, 0.6), 0.5, mind)
        assert isinstance(skipped, Skipped)
        assert (skipped.state.budget_remaining, skipped.state.previous_best_score) == (2, 0.5)


def test_results_of_refining_are_marked_and_traced() -> None:
    backend = graph([fact("far", axis(1)), fact("other", axis(0, 0.2))])
    mind, space = Told(refine=["herons"]), Space({"?": axis(0), "herons": axis(1)})
    result, trace = asked(backend, mind, space, value_function=ONE)
    assert {each.node.id: each.phase for each in result.all} == {"far": "refinement", "other": "initial"}
    [told] = trace.refinements
    assert told["tags"] == ["herons"]
    assert told["new_best_score"] == pytest.approx(1.0)
    assert asked(backend, mind, space, config=config(refinement_budget=0))[1].refinements == []


def test_without_a_mode_all_types_are_searched() -> None:
    for answer in (PromptError("get_mode", "invalid_mode"), AdapterError("m", "chat", "gone"), "odd"):
        result, trace = asked(graph([fact("a", axis(0)), procedure("b", axis(0))]), Told(mode=answer))
        assert (result.mode, set(ids(result)), len(trace.problems)) == ("mixed", {"a", "b"}, 1)


def test_failing_models_leave_what_the_question_finds() -> None:
    for failing, problem in (
        ({"plan": PromptError("get_plan", "no_tags_generated")}, "question alone"),
        ({"plan": ["herons"]}, "question alone"),
        ({"refine": AdapterError("m", "chat", "gone")}, "more closely"),
    ):
        result, trace = asked(graph([fact("a", axis(0, 0.5))]), Told(**failing), Space({"?": axis(0)}, "herons"))
        assert ids(result) == ["a"]
        assert any(problem in each for each in trace.problems)
    with pytest.raises(AdapterError):
        asked(graph([fact("a", axis(0))]), space=Space({}, "?"))


def test_trace_shows_hops_and_in_detail_the_nodes() -> None:
    result, trace = asked(linked(), max_hops=1, value_function=ONE)
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


def test_wrong_arguments_are_refused() -> None:
    backend = graph([fact("a", axis(0))])
    for given, wrong in ((backend, {"max_hops": -1}), (None, {}), (backend, {"value_function": {"colour": 1}})):
        with pytest.raises(InputError):
            asked(given, **wrong)


def test_confidence_is_that_of_the_surest_answer() -> None:
    near = graph([fact("a", axis(0, 0.5)), fact("b", axis(0, 0.3)), tag("t", axis(0))], [("t", "a", Edge.MEMBERSHIP)])
    result, _ = asked(near)
    assert result.confidence == pytest.approx(alone(0.5, 0.0), abs=1e-6)
    assert (result.sure, result.floors) == ({"semantic": result.confidence}, SURE)
    own = asked(near, config=config(answer_threshold=0.9))[0]
    assert (own.confidence, set(own.floors.values())) == (result.confidence, {0.9})
    assert asked(graph([]))[0].confidence == 0.0
