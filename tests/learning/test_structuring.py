"""From a trajectory to nodes, ties, metadata and vectors, and what remains of them after a failure."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from tests.learning.living import GOAL, NOW, Letters, Told, clock, named, of, step, tied, trajectory

from pieria import Config, telemetry
from pieria.errors import (
    AdapterError,
    EpisodeError,
    PieriaError,
    PipelineError,
    PromptError,
    ReplyUnreadableError,
)
from pieria.graph import Changeset, NodeMetadata, Procedural, Semantic
from pieria.learning import Episode, Step, Trajectory
from pieria.learning.knowledge import SIBLINGS
from pieria.learning.structuring import extract, extract_trajectory, structured
from pieria.models.mind import Procedure, Proposition, StepSeen
from pieria.models.minds.rules import RuleMind

FACTS = (
    Proposition("The suite has 412 tests.", ("suite", "tests"), 0.9, (1,)),
    Proposition("Line 40 was wrong.", ("tests",)),
)
LESSONS = (
    Procedure("Repair a build", "a test fails", "Read the log", "the cause", (0,)),
    Procedure("Repair a build", "it is known", "Change the line", "green"),
    Procedure("Publish", "green", "Push", "published"),
)
LIVED = trajectory(0.2, None, 0.6)


def learnt(mind: Any = None, lived: Trajectory = LIVED, **more: Any) -> Changeset:
    told = mind or Told(FACTS, LESSONS, (0.1, 0.5, 1.0))
    return extract_trajectory(lived, GOAL, llm=told, clock=clock, **{"embedding": Letters(), **more})


def test_a_trajectory_becomes_nodes_of_seven_types() -> None:
    changeset = learnt(episode_id="ep_1")
    counts = {kind: len(of(changeset, kind)) for kind in ("subgoal", "episodic", "source", "semantic", "procedural")}
    assert counts == {"subgoal": 1, "episodic": 3, "source": 3, "semantic": 2, "procedural": 3}
    assert [tag.label for tag in of(changeset, "tag")] == ["suite", "tests"]
    assert [intent.description for intent in of(changeset, "intent")] == ["Repair a build", "Publish"]
    [aim] = of(changeset, "subgoal")
    assert (aim.description, aim.parent_goal) == ("Aim 2", GOAL)
    assert [(node.episode_id, node.step_index, node.plain_text) for node in of(changeset, "source")] == [
        ("ep_1", 0, "Observed 0."), ("ep_1", 1, "Observed 1."), ("ep_1", 2, "Observed 2."),
    ]  # fmt: skip
    first = of(changeset, "episodic")[0]
    assert (first.observation, first.action, first.state, first.subgoal, first.reward, first.trajectory_id) == (
        "Observed 0.", "Did 0.", "red", "Aim 0", 0.2, "traj_1",
    )  # fmt: skip


def test_every_node_bears_the_prefix_of_its_type_and_is_dated_by_the_clock() -> None:
    prefixes = {
        "subgoal": "sg_", "episodic": "ep_node_", "source": "src_", "semantic": "sem_", "tag": "tag_",
        "procedural": "proc_", "intent": "int_",
    }  # fmt: skip
    changeset = learnt()
    assert all(node.id.startswith(prefixes[node.node_type]) for node in changeset.additions)
    assert {node.created_at for node in changeset.additions} == {NOW}
    assert {entry.created_at for entry in changeset.metadata.values()} == {NOW}
    assert set(changeset.metadata) == {node.id for node in changeset.additions}


def test_nodes_are_tied_as_knowledge_steps_and_sources_hang_together() -> None:
    changeset = learnt()
    counted, wrong = (named(changeset, fact.text) for fact in FACTS)
    assert tied(changeset, counted, "membership") == {"suite", "tests"}
    assert tied(changeset, counted, "sibling") == {wrong.text}
    assert tied(changeset, named(changeset, "tests"), "membership") == {counted.text, wrong.text}
    intent = named(changeset, "Repair a build")
    assert tied(changeset, intent, "hierarchical") == {"Read the log", "Change the line"}
    lived = of(changeset, "episodic")[1]
    assert tied(changeset, lived, "hierarchical") == {"Aim 2"}
    assert tied(changeset, lived, "provenance") >= {"Observed 1."}


def test_knowledge_leads_to_the_steps_it_came_from_and_to_all_where_the_mind_says_none() -> None:
    changeset = learnt()
    lived = [node.text for node in of(changeset, "episodic")]
    assert tied(changeset, named(changeset, FACTS[0].text), "provenance") == {lived[1]}
    assert tied(changeset, named(changeset, FACTS[1].text), "provenance") == set(lived)
    assert tied(changeset, named(changeset, "Read the log"), "provenance") == {lived[0]}
    strayed = learnt(Told([Proposition("It rains.", steps=(7, -1))]))
    assert tied(strayed, named(strayed, "It rains."), "provenance") == set(lived)


def test_rewards_are_those_of_the_steps_and_what_is_not_known_is_left_out_of_means() -> None:
    changeset = learnt(Told((Proposition("First.", ("t",), steps=(0,)), Proposition("All.", ("t",))), ()))
    averages = {node.text: changeset.metadata[node.id] for node in changeset.additions}
    assert (averages["First."].avg_reward(), averages["First."].reward_count) == (0.2, 1)
    assert averages["All."].avg_reward() == pytest.approx(0.4)
    assert averages["t"].avg_reward() == pytest.approx(0.3)
    unknown = learnt(Told((Proposition("Second.", steps=(1,)),)))
    assert unknown.metadata[named(unknown, "Second.").id].avg_reward() == pytest.approx(0.4)
    unjudged = learnt(Told((Proposition("None.", ("t",)),)), trajectory(None, None))
    assert {entry.reward_count for entry in unjudged.metadata.values()} == {0}
    lived = [changeset.metadata[node.id] for kind in ("episodic", "source", "subgoal") for node in of(changeset, kind)]
    assert lived == [NodeMetadata(created_at=NOW)] * len(lived)


def test_each_procedure_gets_the_return_that_it_was_graded_with() -> None:
    changeset = learnt()
    scores = {node.instruction: node.return_score for node in of(changeset, "procedural")}
    assert scores == {"Read the log": 0.1, "Change the line": 0.5, "Push": 1.0}
    rewards = {node.text: changeset.metadata[node.id].avg_reward() for node in changeset.additions}
    assert {text: rewards[text] for text in scores} == scores
    assert rewards["Repair a build"] == pytest.approx((0.2 + 0.4) / 2)
    ungraded = learnt(Told((), LESSONS, ()))
    assert {node.return_score for node in of(ungraded, "procedural")} == {None}
    assert ungraded.metadata[named(ungraded, "Push").id].avg_reward() == pytest.approx(0.4)


def test_no_facts_and_no_procedures_are_an_answer() -> None:
    changeset = learnt(Told())
    assert [len(of(changeset, kind)) for kind in ("semantic", "procedural", "tag", "intent")] == [0, 0, 0, 0]
    assert len(of(changeset, "episodic")) == 3
    mind = Told(FACTS)
    learnt(mind)
    assert sorted(mind.asked) == ["facts", "procedures"]


def test_all_texts_of_a_trajectory_are_embedded_at_once() -> None:
    letters = Letters()
    changeset = learnt(embedding=letters)
    [batch] = letters.batches
    assert len(batch) == len(set(batch))
    vectors = {node.text: node.embedding for node in changeset.additions}
    assert None not in vectors.values()
    assert vectors["Aim 2"] == pytest.approx(named(changeset, "Aim 2").embedding)
    lived = of(changeset, "episodic")[2]
    assert lived.embedding == pytest.approx(named(changeset, "Aim 2", "subgoal").embedding)


def test_the_vector_of_a_step_is_that_of_its_subgoal_as_it_was_made_when_it_came() -> None:
    held = Step(0, "o", "a", "Aim", "s", 0.5, (0.6, 0.8, 0, 0, 0, 0, 0, 0), "traj_1")
    letters = Letters()
    changeset = learnt(Told(), Trajectory.of([held]), embedding=letters)
    assert of(changeset, "episodic")[0].embedding == held.embedding
    elsewhere = Trajectory.of([Step(0, "o", "a", "Aim", "s", 0.5, (0.6, 0.8), "traj_1")])
    assert len(of(learnt(Told(), elsewhere), "episodic")[0].embedding) == 8
    assert of(learnt(Told(), Trajectory.of([held]), embedding=None), "episodic")[0].embedding is None


@pytest.mark.parametrize("embedding", [None, Letters(AdapterError("letters", "embed", "out of order"))])
def test_what_could_not_be_embedded_is_kept_whole_and_without_vectors(
    embedding: Any, caplog: pytest.LogCaptureFixture
) -> None:
    changeset = learnt(embedding=embedding)
    assert len(changeset.additions) == 16
    assert len(of(changeset, "tag")) == len(of(changeset, "intent")) == 2
    assert all(node.embedding is None for node in changeset.additions)
    assert ("kept without vectors" in caplog.text) == (embedding is not None)


def test_a_step_without_a_state_gets_one_from_what_came_before() -> None:
    class Stating(Told):
        def state(self, goal: str, observation: str, *, before: str | None = None, action: str | None = None) -> str:
            return f"{before}/{action}/{observation}"

    stateless = Trajectory.of([step(0), step(1, state=None)])
    assert of(learnt(Stating(), stateless), "episodic")[1].state == "red/Did 0./Observed 1."


def test_facts_of_a_long_trajectory_are_siblings_of_those_around_them() -> None:
    changeset = learnt(Told([Proposition(f"Fact {n}.") for n in range(SIBLINGS + 10)]))
    first, last = named(changeset, "Fact 0."), named(changeset, f"Fact {SIBLINGS + 9}.")
    assert len(tied(changeset, first, "sibling")) == SIBLINGS - 1
    assert last.text not in tied(changeset, first, "sibling")


def test_a_trajectory_without_steps_teaches_nothing_and_costs_nothing() -> None:
    mind, letters = Told(FACTS, LESSONS), Letters()
    assert learnt(mind, Trajectory("traj_1", (), ""), embedding=letters).empty
    assert (mind.asked, letters.batches) == ([], [])


# --- failures


def test_facts_and_procedures_are_asked_for_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=60)

    class Meeting(Told):
        def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
            both.wait()
            return []

        def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
            both.wait()
            return []

    assert not learnt(Meeting()).empty


UNREAD = PromptError("get_return", "no_scores_extracted")


@pytest.mark.parametrize(
    ("failing", "problem", "raised"),
    [
        *((asked, AdapterError("m", "chat", "500"), AdapterError) for asked in ("facts", "procedures", "returns")),
        *((asked, KeyError("k"), None) for asked in ("facts", "procedures", "returns")),
        *((asked, PromptError("get", "x"), PromptError) for asked in ("facts", "procedures")),
    ],
)
def test_what_fails_is_raised_when_all_has_ended(
    failing: str, problem: Exception, raised: type[PieriaError] | None, caplog: pytest.LogCaptureFixture
) -> None:
    told: dict[str, Any] = {"facts": FACTS, "procedures": LESSONS, "returns": (0.5, 0.5, 0.5), failing: problem}
    mind = Told(**told)
    with pytest.raises(raised or PipelineError) as failure:
        learnt(mind)
    assert {"facts", "procedures"} <= set(mind.asked)
    if raised is None:
        assert isinstance(failure.value, PipelineError)
        assert failure.value.reason == "task_crashed"
        assert failure.value.__cause__ is problem


@pytest.mark.parametrize("problem", [UNREAD, ReplyUnreadableError("m")])
def test_grades_that_cannot_be_read_cost_nothing_that_was_learnt(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    changeset = learnt(Told(FACTS, LESSONS, problem))
    lessons = [node for node in changeset.additions if isinstance(node, Procedural)]
    assert [node.return_score for node in lessons] == [None] * len(LESSONS)
    assert all(changeset.metadata[node.id].avg_reward() is not None for node in lessons)
    assert any(isinstance(node, Semantic) for node in changeset.additions)
    assert "count as much as their steps" in caplog.text


def test_where_no_thread_is_to_be_had_facts_and_procedures_are_asked_for_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    usual = [type(node) for node in learnt().additions]
    monkeypatch.setattr(threading.Thread, "start", start)
    assert [type(node) for node in learnt().additions] == usual
    assert {Procedural, Semantic} <= set(usual)


def episode(*trajectories: Trajectory) -> Episode:
    steps = [step for one in trajectories for step in one.steps]
    return Episode(GOAL, steps=tuple(steps)).close()


def test_an_episode_teaches_what_its_trajectories_do_in_their_order() -> None:
    lived = episode(trajectory(0.5), trajectory(0.7, 0.9, id="traj_2", first=1))
    changeset = extract(lived, llm=Told(FACTS), embedding=Letters(), clock=clock)
    assert [node.trajectory_id for node in of(changeset, "episodic")] == ["traj_1", "traj_2", "traj_2"]
    assert {node.episode_id for node in of(changeset, "source")} == {lived.id}
    assert len(of(changeset, "semantic")) == 4
    first, second = (node for node in of(changeset, "semantic") if node.text == FACTS[0].text)
    assert second.text not in tied(changeset, first, "sibling") - {FACTS[1].text}


def test_trajectories_are_structured_in_parallel_as_far_as_there_are_workers() -> None:
    together = threading.Barrier(3, timeout=60)

    class Meeting(Told):
        def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
            together.wait()
            return []

    lived = episode(*(trajectory(0.5, id=f"traj_{n}", first=n) for n in range(3)))
    assert len(of(extract(lived, llm=Meeting()), "episodic")) == 3


def test_one_failing_trajectory_fails_the_episode_when_all_have_ended(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Told):
        def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
            self.asked.append(steps[0].observation)
            if steps[0].observation in ("Observed 0.", "Observed 2."):
                raise PromptError("get_semantic", steps[0].observation)
            return []

    mind = Failing()
    lived = episode(*(trajectory(0.5, id=f"traj_{n}", first=n) for n in range(4)))
    with caplog.at_level(logging.WARNING), pytest.raises(PromptError) as failure:
        extract(lived, llm=mind, workers=1)
    assert failure.value.reason == "Observed 0."
    assert {f"Observed {n}." for n in range(4)} <= set(mind.asked)
    assert "2 of 4 tasks failed" in caplog.text


def test_an_episode_that_goes_on_is_not_structured() -> None:
    with pytest.raises(EpisodeError) as failure:
        extract(Episode(GOAL), llm=Told())
    assert failure.value.reason == "episode_not_closed"
    assert extract(Episode(GOAL).close(), llm=Told()).empty


# --- telemetry


def test_a_trace_counts_and_in_detail_shows_what_was_learnt_and_how_long_each_phase_took() -> None:
    mind = Told(FACTS, LESSONS, (0.1, 0.5, 1.0))
    brief = structured(LIVED, GOAL, llm=mind, embedding=Letters()).trace
    counts = (brief.semantic_count, brief.procedural_count, brief.tag_count, brief.intent_count)
    assert (brief.verbosity, brief.trajectory_id, counts) == ("summary", "traj_1", (2, 3, 2, 2))
    assert brief.duration_us > 0
    assert (brief.semantic_nodes, brief.procedural_nodes, brief.merged_intents, brief.phase_timings) == (None,) * 4
    config = Config(llm={"model": "none"}, embedding={"model": "auto"}, trace_verbosity="detailed")
    found = structured(LIVED, GOAL, llm=mind, embedding=Letters(), config=config)
    trace = found.trace
    assert trace.verbosity == "detailed"
    assert trace.semantic_nodes and trace.procedural_nodes and trace.phase_timings
    assert trace.semantic_nodes[0] == {
        "id": of(found.changeset, "semantic")[0].id, "proposition": FACTS[0].text, "confidence": 0.9,
        "concepts": ["suite", "tests"], "steps": [1],
    }  # fmt: skip
    assert [node["return_score"] for node in trace.procedural_nodes] == [0.1, 0.5, 1.0]
    assert set(trace.phase_timings) == {"states", "semantic", "procedural", "return", "embedding"}


def test_telemetry_tells_of_trajectories_and_of_episodes_what_was_made() -> None:
    heard: list[tuple[Any, Any, Any]] = []
    stop = telemetry.attach(lambda *told: heard.append(told))
    try:
        extract(episode(trajectory(0.5)), llm=Told(FACTS), repo_id="r", session_id="s")
    finally:
        stop()
    stops = {event[1:-1]: (measured, metadata) for event, measured, metadata in heard if event[-1] == "stop"}
    whole, metadata = stops["structuring", "extract"]
    assert metadata == {"repo_id": "r", "session_id": "s"}
    assert (whole["trajectory_count"], whole["nodes_created"], whole["links_created"]) == (1, 7, 8)
    assert stops["structuring", "extract_trajectory"][0]["nodes_created"] == 7


def test_without_a_model_rules_draw_what_stands_there() -> None:
    lived = Trajectory.of([
        Step(0, "Hello! Maya works at Acme.", "note it", "Know Maya", "s", 0.9, None, "traj_1"),
        Step(1, "When the build fails, run the linter first.", "ok", "Know Maya", "s", 0.5, None, "traj_1"),
    ])  # fmt: skip
    changeset = extract_trajectory(lived, "Know the team", llm=RuleMind())
    assert tied(changeset, named(changeset, "Maya works at Acme."), "provenance") == {
        "Hello! Maya works at Acme. → note it"
    }
    assert "run the linter first" in {node.text for node in of(changeset, "procedural")}


# --- the effect of a profile on rules

PLAIN = {
    "The tests should pass because of the lock.": 0.7,
    "Brandt suggests rust is caused by salt.": 0.7,
    "The customer says the limit is three seats.": 0.7,
    "My editor is Vim.": 0.9,
    "The website is called Rustline, which is interesting.": 0.9,
}
"""Facts that rules accept in any profile, with their confidence."""
HEARD = (
    "The build fails with KeyError after midnight.",
    "Salt water correlates with rust.",
    "A known issue affects exports on Tuesdays.",
    "Thank you for waiting, the limit is three.",
)


@pytest.mark.parametrize(
    ("profile", "kept", "weaker", "dropped", "takes_steps"),
    [
        (None, None, None, None, True),
        ("coding", HEARD[0], "The tests should pass because of the lock.", "My editor is Vim.", True),
        (
            "research", HEARD[1], "Brandt suggests rust is caused by salt.",
            "The website is called Rustline, which is interesting.", False,
        ),
        ("customer_support", HEARD[2], "The customer says the limit is three seats.", None, True),
    ],
)  # fmt: skip
def test_each_profile_changes_what_rules_extract(
    profile: str | None, kept: str | None, weaker: str | None, dropped: str | None, takes_steps: bool
) -> None:
    lived = Trajectory.of([Step(0, " ".join((*PLAIN, *HEARD)), "ran it", "Know it", "s", 0.9, None, "traj_1")])
    config = Config(llm={"model": "none"}, embedding={"model": "auto"}, extraction_profile=profile)  # type: ignore[arg-type]
    changeset = extract_trajectory(lived, "Know it", config=config)
    expected = {text: sure / 2 if text == weaker else sure for text, sure in PLAIN.items() if text != dropped}
    expected |= {} if kept is None else {kept: 0.7}
    assert {node.proposition: node.confidence for node in of(changeset, "semantic")} == expected
    assert ("ran it" in {node.instruction for node in of(changeset, "procedural")}) == takes_steps
