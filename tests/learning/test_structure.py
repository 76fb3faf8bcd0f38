"""From a trajectory to nodes, ties, metadata and vectors, and what remains of them after a failure."""

from __future__ import annotations

import logging
import threading
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.learning.trajectories import (
    GOAL,
    NOW,
    Told,
    clock,
    config,
    letters,
    named,
    of,
    outline,
    step,
    telemetry_heard,
    tied,
    trajectory,
)

from pieria.errors import AdapterError, EpisodeError, PipelineError, PromptError
from pieria.graph import Changeset
from pieria.learning import Episode, Step, Trajectory
from pieria.learning.knowledge import SIBLINGS
from pieria.learning.structuring import extract, extract_trajectory, structured
from pieria.models.mind import Procedure, Proposition, StepSeen

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
    return extract_trajectory(lived, GOAL, llm=told, clock=clock, **{"embedding": letters(), **more})


def episode(*trajectories: Trajectory) -> Episode:
    return Episode(GOAL, steps=tuple(step for one in trajectories for step in one.steps)).close()


def test_trajectory_becomes_tied_nodes_with_rewards() -> None:
    facts = (*FACTS, Proposition("It rains.", steps=(7, -1)), Proposition("It blows.", ("tests",), steps=(0,)))
    changeset = learnt(Told(facts, LESSONS, (0.1, 0.5, 1.0)), episode_id="ep_1")
    assert outline(changeset) == Path(__file__).with_name("learnt.txt").read_text("utf-8")
    [aim] = of(changeset, "subgoal")
    assert (aim.description, aim.parent_goal) == ("Aim 2", GOAL)
    sources = [(node.episode_id, node.step_index, node.plain_text) for node in of(changeset, "source")]
    assert sources == [("ep_1", n, f"Observed {n}.") for n in range(3)]
    first = of(changeset, "episodic")[0]
    assert (first.observation, first.action, first.state) == ("Observed 0.", "Did 0.", "red")
    assert (first.subgoal, first.reward, first.trajectory_id) == ("Aim 0", 0.2, "traj_1")
    assert [node.return_score for node in of(changeset, "procedural")] == [0.1, 0.5, 1.0]


def test_node_has_its_types_prefix_and_the_clocks_time() -> None:
    prefixes = {
        "subgoal": "sg_", "episodic": "ep_node_", "source": "src_", "semantic": "sem_", "tag": "tag_",
        "procedural": "proc_", "intent": "int_",
    }  # fmt: skip
    changeset = learnt()
    assert {node.node_type for node in changeset.additions} == set(prefixes)
    assert all(node.id.startswith(prefixes[node.node_type]) for node in changeset.additions)
    assert {node.created_at for node in changeset.additions} == {NOW}
    assert {entry.created_at for entry in changeset.metadata.values()} == {NOW}
    assert set(changeset.metadata) == {node.id for node in changeset.additions}


def test_only_near_facts_of_a_trajectory_are_siblings() -> None:
    changeset = learnt(Told([Proposition(f"Fact {n}.") for n in range(SIBLINGS + 10)]))
    siblings = tied(changeset, named(changeset, "Fact 0."), "sibling")
    assert len(siblings) == SIBLINGS - 1
    assert f"Fact {SIBLINGS + 9}." not in siblings


def test_what_is_not_graded_counts_as_its_steps() -> None:
    unjudged = learnt(Told((Proposition("None.", ("t",)),)), trajectory(None, None))
    assert {entry.reward_count for entry in unjudged.metadata.values()} == {0}
    ungraded = learnt(Told((), LESSONS, ()))
    assert {node.return_score for node in of(ungraded, "procedural")} == {None}
    assert ungraded.metadata[named(ungraded, "Push").id].avg_reward() == pytest.approx(0.4)


def test_nothing_learnt_is_an_answer_and_is_not_graded() -> None:
    mind, embedding = Told(FACTS, LESSONS), letters()
    assert learnt(mind, Trajectory("traj_1", (), ""), embedding=embedding).empty
    assert (mind.asked, embedding.batches) == ([], [])
    mind = Told()
    kinds = Counter(node.node_type for node in learnt(mind).additions)
    assert (kinds["episodic"], set(kinds)) == (3, {"subgoal", "episodic", "source"})
    assert sorted(mind.asked) == ["facts", "procedures"]


def test_step_without_a_state_gets_one_from_the_step_before() -> None:
    class Stating(Told):
        def state(self, goal: str, observation: str, **more: Any) -> str:
            return f"{more['before']}/{more['action']}/{observation}"

    stateless = Trajectory.of([step(0), step(1, state=None)])
    assert of(learnt(Stating(), stateless), "episodic")[1].state == "red/Did 0./Observed 1."


def test_all_texts_of_a_trajectory_are_embedded_at_once() -> None:
    embedding = letters()
    changeset = learnt(embedding=embedding)
    [batch] = embedding.batches
    assert len(batch) == len(set(batch))
    assert all(node.embedding is not None for node in changeset.additions)
    lived = of(changeset, "episodic")[2]
    assert lived.embedding == pytest.approx(named(changeset, "Aim 2", "subgoal").embedding)


def test_step_keeps_the_vector_of_its_subgoal_where_it_fits() -> None:
    def vector(held: tuple[float, ...], embedding: Any) -> Any:
        lived = Trajectory.of([Step(0, "o", "a", "Aim", "s", 0.5, held, "traj_1")])
        return of(learnt(Told(), lived, embedding=embedding), "episodic")[0].embedding

    held = (0.6, 0.8, 0, 0, 0, 0, 0, 0)
    assert vector(held, letters()) == held
    assert len(vector((0.6, 0.8), letters())) == 8
    assert vector(held, None) is None


def test_texts_that_cannot_be_embedded_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    for embedding in (None, letters(AdapterError("letters", "embed", "out of order"))):
        changeset = learnt(embedding=embedding)
        assert len(changeset.additions) == 16
        assert len(of(changeset, "tag")) == len(of(changeset, "intent")) == 2
        assert all(node.embedding is None for node in changeset.additions)
        assert ("kept without vectors" in caplog.text) == (embedding is not None)


def test_all_questions_of_an_episode_are_asked_at_once() -> None:
    together = threading.Barrier(6, timeout=60)

    class Meeting(Told):
        def answer(self, what: str, otherwise: Any = None) -> Any:
            together.wait()
            return []

    lived = episode(*(trajectory(0.5, id=f"traj_{n}", first=n) for n in range(3)))
    assert len(of(extract(lived, llm=Meeting()), "episodic")) == 3


def test_crash_in_a_question_is_raised_when_all_have_ended() -> None:
    for failing in ("facts", "procedures", "returns"):
        broken = KeyError("k")
        mind = Told(**{"facts": FACTS, "procedures": LESSONS, "returns": (0.5, 0.5, 0.5), failing: broken})
        with pytest.raises(PipelineError) as failure:
            learnt(mind)
        assert {"facts", "procedures"} <= set(mind.asked)
        assert (failure.value.reason, failure.value.__cause__) == ("task_crashed", broken)


def test_without_threads_questions_are_asked_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    usual = [type(node) for node in learnt().additions]
    monkeypatch.setattr(threading.Thread, "start", start)
    assert [type(node) for node in learnt().additions] == usual


def test_episode_teaches_its_trajectories_in_their_order() -> None:
    lived = episode(trajectory(0.5), trajectory(0.7, 0.9, id="traj_2", first=1))
    changeset = extract(lived, llm=Told(FACTS), embedding=letters(), clock=clock)
    assert [node.trajectory_id for node in of(changeset, "episodic")] == ["traj_1", "traj_2", "traj_2"]
    assert {node.episode_id for node in of(changeset, "source")} == {lived.id}
    assert len(of(changeset, "semantic")) == 4
    first, second = (node for node in of(changeset, "semantic") if node.text == FACTS[0].text)
    assert second.text not in tied(changeset, first, "sibling") - {FACTS[1].text}


def test_only_closed_episodes_are_structured() -> None:
    assert extract(Episode(GOAL).close(), llm=Told()).empty
    with pytest.raises(EpisodeError) as failure:
        extract(Episode(GOAL), llm=Told())
    assert failure.value.reason == "episode_not_closed"


def test_failing_trajectory_fails_the_episode_at_its_end(caplog: pytest.LogCaptureFixture) -> None:
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


def test_trace_counts_and_in_detail_shows_what_was_learnt() -> None:
    mind = Told(FACTS, LESSONS, (0.1, 0.5, 1.0))
    brief = structured(LIVED, GOAL, llm=mind, embedding=letters()).trace
    counts = (brief.semantic_count, brief.procedural_count, brief.tag_count, brief.intent_count)
    assert (brief.verbosity, brief.trajectory_id, counts) == ("summary", "traj_1", (2, 3, 2, 2))
    assert brief.duration_us > 0
    assert (brief.semantic_nodes, brief.procedural_nodes, brief.merged_intents, brief.phase_timings) == (None,) * 4
    found = structured(LIVED, GOAL, llm=mind, embedding=letters(), config=config(trace_verbosity="detailed"))
    trace = found.trace
    assert trace.verbosity == "detailed"
    assert trace.semantic_nodes and trace.procedural_nodes and trace.phase_timings
    assert trace.semantic_nodes[0] == {
        "id": of(found.changeset, "semantic")[0].id, "proposition": FACTS[0].text, "confidence": 0.9,
        "concepts": ["suite", "tests"], "steps": [1],
    }  # fmt: skip
    assert [node["return_score"] for node in trace.procedural_nodes] == [0.1, 0.5, 1.0]
    assert set(trace.phase_timings) == {"states", "semantic", "procedural", "return", "embedding"}


def test_telemetry_counts_what_an_episode_came_to() -> None:
    with telemetry_heard() as heard:
        extract(episode(trajectory(0.5)), llm=Told(FACTS), repo_id="r", session_id="s")
    told = {name: (measured, about) for name, measured, about in heard}
    whole, about = told["structuring.extract.stop"]
    assert about == {"repo_id": "r", "session_id": "s"}
    assert (whole["trajectory_count"], whole["nodes_created"], whole["links_created"]) == (1, 7, 8)
    assert told["structuring.extract_trajectory.stop"][0]["nodes_created"] == 7


def test_each_profile_changes_what_rules_extract() -> None:
    profiles = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text("utf-8"))
    told = "\n".join(profiles.pop("sentences"))
    lived = Trajectory.of([Step(0, told, "ran it, because it fails", "Know it", "s", 0.9, None, "traj_1")])

    def learnt(profile: str | None) -> tuple[dict[str, float], set[str]]:
        found = extract_trajectory(lived, "Know it", config=config(extraction_profile=profile))
        facts = {node.proposition: node.confidence for node in of(found, "semantic")}
        return facts, {node.instruction for node in of(found, "procedural")}

    plain, done = learnt(None)
    assert done == {"ran it, because it fails"}
    for name, changed in profiles.items():
        facts, taught = learnt(name)
        assert taught == (done if name != "research" else set())
        assert {text: facts[text] for text in changed["kept"]} == {
            text: plain.get(text, 0.7) for text in changed["kept"]
        }
        halves = {text: round(plain[text] / 2, 4) for text in changed["halved"] if text in plain}
        assert {text: facts[text] for text in halves} == halves
        assert facts.keys().isdisjoint(changed["dropped"])
        same = plain.keys() - {*changed["halved"], *changed["dropped"]}
        assert {text: facts[text] for text in same} == {text: plain[text] for text in same}
    assert "My editor is Vim." in plain
