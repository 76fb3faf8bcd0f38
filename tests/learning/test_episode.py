"""An episode grows step by step: the questions to the mind, their order, the boundaries, and the effect of failures."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from tests.learning.trajectories import Embedding, telemetry_heard
from tests.models.scripted import Scripted

from pieria import Config
from pieria.errors import AdapterError, EpisodeError, InputError, PromptError
from pieria.learning import Episode, EpisodeTrace, Step, Trajectory
from pieria.learning.models import embedder_of
from pieria.models.minds.rules import RuleMind

GOAL = "get the release out"
ALIKE, JUST_ALIKE, UNLIKE = [1.0, 0.0], [3.0, 2.645751311064590590501615753639], [0.6, 0.8]
"""The second has a cosine of exactly 0.75 with the first, the third less."""
DOWN = AdapterError("m", "chat", "down")


class Vectors(Embedding):
    def __init__(self, vectors: Mapping[str, Sequence[float]], is_at_hand: bool = False) -> None:
        super().__init__(vectors.__getitem__)
        self.is_at_hand = is_at_hand


class Named(RuleMind):
    """Rules, except that the subgoal is the action."""

    def subgoal(self, goal: str, state: str | None, observation: str, action: str, **more: Any) -> str:
        return action


class Likened(RuleMind):
    """Rules whose subgoal says what they can embed."""

    def subgoal(self, goal: str, state: str | None, observation: str, action: str, **more: Any) -> str:
        return "by words" if self._embed is None else f"by meaning {self._embed([action])}"


def lived(*actions: str, vectors: Mapping[str, Sequence[float]]) -> Episode:
    episode = Episode(GOAL)
    for action in actions:
        episode, _ = episode.append("seen", action, llm=Named(), embedding=Vectors(vectors))
    return episode


def asked(llm: Scripted) -> list[str]:
    """Return the kind of each question to the model, recognised by the prompt's closing words."""
    return [
        "subgoal" if call.schema else "reward" if "What was observed afterwards" in call.user else "state"
        for call in llm.calls
    ]


def structured(subgoal: str) -> dict[str, str]:
    return {"reasoning": "It leads there.", "subgoal": subgoal}


def test_step_gets_a_state_a_subgoal_and_later_a_reward() -> None:
    llm = Scripted("A state.", structured("look"), "Another state.", structured("look"), "0.8")
    vectors = Vectors({"look": ALIKE})
    first, told = Episode(GOAL).append("a red build", "open the log", llm=llm, embedding=vectors)
    assert asked(llm) == ["state", "subgoal"]
    assert (first.steps[0].state, first.steps[0].subgoal, first.steps[0].reward) == ("A state.", "look", None)
    assert told.reward is None
    second, told = first.append("a missing key", "add the key", llm=llm, embedding=vectors)
    assert asked(llm)[2:] == ["state", "subgoal", "reward"]
    assert "A state." in llm.calls[2].user
    assert "open the log" in llm.calls[2].user
    assert "Another state." in llm.calls[3].user
    assert "a missing key" in llm.calls[4].user, "what came of the step is what was observed next"
    assert [step.reward for step in second.steps] == [0.8, None]
    assert told.reward == 0.8
    assert [step.reward for step in first.steps] == [None], "an episode is a value"


def test_boundary_is_where_subgoals_are_less_alike_than_0_75() -> None:
    for second, trajectories in ((JUST_ALIKE, 1), (UNLIKE, 2)):
        assert len(lived("a", "b", vectors={"a": ALIKE, "b": second}).close().trajectories) == trajectories


def test_the_next_matters_outcome_grades_no_step_before_it() -> None:
    vectors = {"tell the team about the ferry": ALIKE, "restart the printer": UNLIKE, "ask about the ferry": ALIKE}
    for observation, action, reward in (
        ("The printer reports an error", "restart the printer", 0.5),
        ("Telling the team failed with an error", "restart the printer", 0.05),
        ("The printer reports an error", "ask about the ferry", 0.05),
        ("The printer works, all 12 tests passed", "restart the printer", 0.5),
        ("Telling the team worked, all 12 have read it", "restart the printer", 0.95),
        ("All 12 tests passed", "ask about the ferry", 0.95),
    ):
        begun = lived("tell the team about the ferry", vectors=vectors)
        grown, _ = begun.append(observation, action, llm=Named(), embedding=Vectors(vectors))
        assert grown.steps[0].reward == reward, (observation, action)


def test_step_is_compared_with_the_step_before_it() -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.28, 0.96], "d": [-1.0, 0.0]}
    drifted = lived("a", "b", "c", vectors=vectors)
    assert {step.trajectory_id for step in drifted.steps} == {drifted.current_trajectory_id}
    assert drifted.current_subgoal_embedding == pytest.approx(vectors["c"])
    closed = lived("a", "b", "d", "a", vectors=vectors).close()
    assert [[step.index for step in found.steps] for found in closed.trajectories] == [[0, 1], [2], [3]]
    assert [found.subgoal for found in closed.trajectories] == ["b", "d", "a"]
    assert len({found.id for found in closed.trajectories}) == 3


def test_episode_goes_on_when_another_model_embeds() -> None:
    episode = lived("a", vectors={"a": [1.0, 0.0]})
    grown, _ = episode.append("seen", "a", llm=Named(), embedding=Vectors({"a": [0.0, 1.0, 0.0]}))
    assert grown.current_trajectory_id == episode.current_trajectory_id
    assert len(grown.current_subgoal_embedding or ()) == 3


def test_step_without_a_grade_counts_as_neutral(caplog: pytest.LogCaptureFixture) -> None:
    llm = Scripted("S.", structured("look"), "S.", structured("look"), "no number", "none either")
    vectors = Vectors({"look": ALIKE})
    with caplog.at_level(logging.WARNING):
        episode, _ = Episode(GOAL).append("seen", "done", llm=llm, embedding=vectors)
        episode, told = episode.append("seen", "done", llm=llm, embedding=vectors)
    assert (episode.steps[0].reward, told.reward) == (0.5, 0.5)
    assert "could not be graded" in caplog.text


def test_failures_in_judging_a_step_are_raised() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        raise OSError("gone")

    no_subgoal = ("S.", structured(" "), structured(" "))
    for replies, error in (((DOWN,), AdapterError), (("S.", DOWN), AdapterError), (no_subgoal, PromptError)):
        with pytest.raises(error):
            Episode(GOAL).append("seen", "done", llm=Scripted(*replies), embedding=Vectors({}))
    with pytest.raises(AdapterError, match="OSError"):
        Episode(GOAL).append("seen", "done", embedding=broken)


def test_closed_episode_takes_nothing_more() -> None:
    closed = lived("a", vectors={"a": ALIKE}).close()
    calls: list[Callable[[], object]] = [
        lambda: closed.append("seen", "done"), closed.score_pending_reward, closed.close
    ]  # fmt: skip
    for call, reason in zip(calls, ("episode_closed", "episode_closed", "already_closed"), strict=True):
        with pytest.raises(EpisodeError) as refused:
            call()
        assert refused.value.reason == reason


def test_last_step_is_graded_once_without_another() -> None:
    llm = Scripted("0.9")
    graded = lived("a", "b", vectors={"a": ALIKE, "b": ALIKE}).score_pending_reward(llm=llm)
    assert graded.steps[-1].reward == 0.9
    assert "nothing further was observed" in llm.calls[0].user
    assert graded.score_pending_reward(llm=llm) is graded
    empty = Episode(GOAL)
    assert empty.score_pending_reward(llm=llm) is empty


def test_trace_shows_how_a_step_was_appended() -> None:
    in_detail = {"subgoal": "b", "similarity_score": pytest.approx(0.6), "similarity_threshold": 0.75}
    for verbosity in ("summary", "detailed"):
        config = Config(llm={"model": "none"}, embedding={"model": "none"}, trace_verbosity=verbosity)
        given: Any = {"llm": Named(), "embedding": Vectors({"a": ALIKE, "b": UNLIKE}), "config": config}
        episode, first = Episode(GOAL).append("seen", "a", **given)
        episode, second = episode.append("all 3 passed", "b", clock=iter((0.0, 0.001)).__next__, **given)
        told = {"step_index": 1, "trajectory_id": episode.current_trajectory_id, "boundary_detected": True}
        told |= {"verbosity": verbosity, "reward": episode.steps[0].reward, "duration_us": 1000, "judged_by": "rules"}
        expected: dict[str, Any] = {**told, **(in_detail if verbosity == "detailed" else {})}
        assert second == EpisodeTrace(**expected)
        assert (first.boundary_detected, first.reward, first.similarity_score) == (False, None, None)


def test_episode_comes_back_from_json() -> None:
    vectors = {"a": [0.1, 0.7], "b": UNLIKE}
    for episode in (Episode(GOAL), lived("a", "b", vectors=vectors), lived("a", "b", vectors=vectors).close()):
        assert Episode.from_dict(json.loads(json.dumps(episode.as_dict()))) == episode


def test_telemetry_reports_each_append_with_its_session() -> None:
    with telemetry_heard() as heard:
        episode, _ = Episode(GOAL).append("seen", "look", session_id="s", repo_id="r")
        with pytest.raises(AdapterError):
            episode.append("seen", "done", llm=Scripted(DOWN))
    own = [(name[15:], took, about) for name, took, about in heard if name.startswith("episode.append.")]
    assert [stage for stage, *_ in own] == ["start", "stop", "start", "exception"]
    _, measured, metadata = own[1]
    assert (measured["step_count"], measured["new_trajectory"]) == (1, False)
    assert metadata == {"repo_id": "r", "session_id": "s"}


def test_without_a_mind_and_an_embedder_rules_judge() -> None:
    episode, _ = Episode(GOAL).append("1 failed", "Open the log to see what failed")
    [step] = episode.steps
    assert (step.subgoal, step.state) == ("see what failed", "1 failed")
    assert step.embedding


def test_step_has_texts_that_can_be_kept() -> None:
    for parameter, step in (("observation", (" ", "")), ("observation", (None, "a")), ("action", ("a", "b\0"))):
        with pytest.raises(InputError) as refused:
            Episode(GOAL).append(*step)
        assert refused.value.parameter == parameter


def test_trajectory_is_built_of_steps_that_belong_together() -> None:
    steps = [Step(2, "o", "a", "last", trajectory_id="traj_1"), Step(1, "o", "a", "first", trajectory_id="traj_1")]
    assert Episode.build_trajectory_from_steps(steps) == Trajectory("traj_1", (steps[1], steps[0]), "last")
    for wrong in ([], [*steps, Step(3, "o", "a", trajectory_id="traj_2")]):
        with pytest.raises(InputError):
            Episode.build_trajectory_from_steps(wrong)


def test_rules_use_an_embedder_at_hand_once_a_text() -> None:
    by_meaning = f"by meaning {[ALIKE]}"
    vectors = {"done": ALIKE, "by words": UNLIKE, by_meaning: UNLIKE}
    for embedding in (Vectors(vectors), None):
        episode, _ = Episode(GOAL).append("seen", "done", llm=Likened(), embedding=embedding)
        assert episode.steps[0].subgoal == "by words"
    at_hand = Vectors(vectors, is_at_hand=True)
    episode, embedder = Episode(GOAL), embedder_of(at_hand)
    for _ in range(3):
        episode, _ = episode.append("seen", "done", llm=Likened(), embedding=embedder)
    assert [step.subgoal for step in episode.steps] == [by_meaning] * 3
    assert len(at_hand.batches) == 1 + 3, "what was done, once, and each subgoal"
