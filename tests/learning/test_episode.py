"""An episode grows step by step: what is asked, in which order, where it turns, and what failures leave of it."""

from __future__ import annotations

import json
import logging
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.models.scripted import Scripted

from pieria import Config, EmbeddingResponse, telemetry
from pieria.errors import AdapterError, EpisodeError, InputError, PromptError
from pieria.learning import Episode, EpisodeTrace, Step, Trajectory
from pieria.learning.models import embedder_of
from pieria.models.mind import StepSeen
from pieria.models.minds.rules import RuleMind

GOAL = "get the release out"
ALIKE, JUST_ALIKE, UNLIKE = [1.0, 0.0], [3.0, 2.645751311064590590501615753639], [0.6, 0.8]
"""Against the first of them the second stands at exactly 0.75, and the third below."""


class Vectors:
    """An embedding that gives the subgoals of a test the vectors that it wants."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], heard: list[str] | None = None) -> None:
        self._vectors = vectors
        self._heard = [] if heard is None else heard

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self.embed_batch([text], opts)

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        self._heard.append("embed")
        return EmbeddingResponse([list(self._vectors[text]) for text in texts], "vectors")


class Named(RuleMind):
    """Rules, but for the subgoal: it is the action itself."""

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        return action


def lived(*actions: str, vectors: Mapping[str, Sequence[float]]) -> Episode:
    episode = Episode(GOAL)
    for action in actions:
        episode, _ = episode.append("seen", action, llm=Named(), embedding=Vectors(vectors))
    return episode


def asked(llm: Scripted) -> list[str]:
    """What a model was asked for, by the closing words of each prompt."""
    return [
        "subgoal" if call.schema else "reward" if "What was observed afterwards" in call.user else "state"
        for call in llm.calls
    ]


def counting() -> Callable[[], float]:
    times = iter(range(1000))
    return lambda: next(times) / 1000


def structured(subgoal: str) -> dict[str, str]:
    return {"reasoning": "It leads there.", "subgoal": subgoal}


def test_a_step_is_judged_in_its_state_then_its_subgoal_and_then_the_step_before_is_graded() -> None:
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


def test_a_boundary_is_where_the_subgoal_is_strictly_less_alike_than_three_quarters_to_that_of_the_step_before() -> (
    None
):
    assert len(lived("a", "b", vectors={"a": ALIKE, "b": JUST_ALIKE}).close().trajectories) == 1
    assert len(lived("a", "b", vectors={"a": ALIKE, "b": UNLIKE}).close().trajectories) == 2


def test_a_step_is_compared_with_the_step_before_it_however_far_the_trajectory_has_drifted() -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.28, 0.96]}
    episode = lived("a", "b", "c", vectors=vectors)
    assert {step.trajectory_id for step in episode.steps} == {episode.current_trajectory_id}
    assert episode.current_subgoal_embedding == pytest.approx(vectors["c"])


def test_a_closed_episode_has_its_trajectories_in_order_each_with_the_subgoal_of_its_last_step() -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [-1.0, 0.0]}
    closed = lived("a", "b", "c", "a", vectors=vectors).close()
    assert [[step.index for step in found.steps] for found in closed.trajectories] == [[0, 1], [2], [3]]
    assert [found.subgoal for found in closed.trajectories] == ["b", "c", "a"]
    assert len({found.id for found in closed.trajectories}) == 3


def test_a_step_that_could_not_be_graded_counts_as_neither_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    llm = Scripted("S.", structured("look"), "S.", structured("look"), "no number", "none either")
    vectors = Vectors({"look": ALIKE})
    with caplog.at_level(logging.WARNING):
        episode, _ = Episode(GOAL).append("seen", "done", llm=llm, embedding=vectors)
        episode, told = episode.append("seen", "done", llm=llm, embedding=vectors)
    assert (episode.steps[0].reward, told.reward) == (0.5, 0.5)
    assert "could not be graded" in caplog.text


@pytest.mark.parametrize(
    ("replies", "error"),
    [
        ((AdapterError("m", "chat", "down"),), AdapterError),
        (("S.", AdapterError("m", "chat", "down")), AdapterError),
        (("S.", structured(" "), structured(" ")), PromptError),
    ],
)
def test_what_fails_in_judging_a_step_is_raised(replies: tuple[object, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        Episode(GOAL).append("seen", "done", llm=Scripted(*replies), embedding=Vectors({}))


def test_a_subgoal_that_cannot_be_embedded_is_raised() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        raise OSError("gone")

    with pytest.raises(AdapterError, match="OSError"):
        Episode(GOAL).append("seen", "done", embedding=broken)


def test_a_closed_episode_takes_nothing_more() -> None:
    closed = lived("a", vectors={"a": ALIKE}).close()
    for call, reason in (
        (lambda: closed.append("seen", "done"), "episode_closed"),
        (closed.score_pending_reward, "episode_closed"),
        (closed.close, "already_closed"),
    ):
        with pytest.raises(EpisodeError) as refused:
            call()
        assert refused.value.reason == reason


def test_the_last_step_is_graded_once_when_nobody_waits_for_another() -> None:
    llm = Scripted("0.9")
    episode = lived("a", "b", vectors={"a": ALIKE, "b": ALIKE})
    graded = episode.score_pending_reward(llm=llm)
    assert graded.steps[-1].reward == 0.9
    assert "nothing further was observed" in llm.calls[0].user
    assert graded.score_pending_reward(llm=llm) is graded
    empty = Episode(GOAL)
    assert empty.score_pending_reward(llm=llm) is empty


@pytest.mark.parametrize("verbosity", ["summary", "detailed"])
def test_a_trace_tells_how_a_step_was_appended(verbosity: str) -> None:
    config = Config(llm={"model": "none"}, embedding={"model": "none"}, trace_verbosity=verbosity)
    vectors = Vectors({"a": ALIKE, "b": UNLIKE})
    episode, first = Episode(GOAL).append("seen", "a", llm=Named(), embedding=vectors, config=config)
    episode, second = episode.append(
        "all 3 passed", "b", llm=Named(), embedding=vectors, config=config, clock=counting()
    )
    told = EpisodeTrace(
        verbosity=verbosity,  # type: ignore[arg-type]
        step_index=1,
        trajectory_id=episode.current_trajectory_id,
        boundary_detected=True,
        reward=episode.steps[0].reward,
        duration_us=1000,
    )
    if verbosity == "detailed":
        assert second.similarity_score == pytest.approx(0.6)
        score = second.similarity_score
        told = replace(told, subgoal="b", similarity_score=score, similarity_threshold=0.75)
    assert second == told
    assert (first.boundary_detected, first.reward, first.similarity_score) == (False, None, None)


def test_an_episode_is_json_and_comes_back_from_it() -> None:
    vectors = {"a": [0.1, 0.7], "b": UNLIKE}
    for episode in (Episode(GOAL), lived("a", "b", vectors=vectors), lived("a", "b", vectors=vectors).close()):
        assert Episode.from_dict(json.loads(json.dumps(episode.as_dict()))) == episode


def test_telemetry_tells_each_append_with_its_session_and_whether_it_turned() -> None:
    heard: list[tuple[Any, ...]] = []
    detach = telemetry.attach(lambda event, measured, metadata: heard.append((event, dict(measured), dict(metadata))))
    try:
        episode, _ = Episode(GOAL).append("seen", "look", session_id="s", repo_id="r")
        with pytest.raises(AdapterError):
            episode.append("seen", "done", llm=Scripted(AdapterError("m", "chat", "down")))
    finally:
        detach()
    own = [
        (event[-1], measured, metadata) for event, measured, metadata in heard if event[1:3] == ("episode", "append")
    ]
    assert [stage for stage, _, _ in own] == ["start", "stop", "start", "exception"]
    _, measured, metadata = own[1]
    assert (measured["step_count"], measured["new_trajectory"]) == (1, False)
    assert metadata == {"repo_id": "r", "session_id": "s"}


def test_rules_and_an_embedder_without_a_model_do_where_none_is_handed_over() -> None:
    episode, _ = Episode(GOAL).append("1 failed", "Open the log to see what failed")
    [step] = episode.steps
    assert (step.subgoal, step.state) == ("see what failed", "1 failed")
    assert step.embedding


def test_an_episode_goes_on_when_another_model_embeds_by_now() -> None:
    episode = lived("a", vectors={"a": [1.0, 0.0]})
    grown, _ = episode.append("seen", "a", llm=Named(), embedding=Vectors({"a": [0.0, 1.0, 0.0]}))
    assert grown.current_trajectory_id == episode.current_trajectory_id
    assert len(grown.current_subgoal_embedding or ()) == 3


@pytest.mark.parametrize(
    ("observation", "action", "parameter"),
    [(" ", "", "observation"), (None, "a", "observation"), ("a", "b\0", "action")],
)
def test_a_step_says_something_that_can_be_kept(observation: Any, action: str, parameter: str) -> None:
    with pytest.raises(InputError) as refused:
        Episode(GOAL).append(observation, action)
    assert refused.value.parameter == parameter


def test_every_ruling_on_episodes_is_kept_by_a_test() -> None:
    listed = tomllib.loads(Path(__file__).with_name("episode_rulings.toml").read_text("utf-8"))
    named = {name for names in listed["rulings"].values() for name in names}
    assert named <= globals().keys()


def test_a_trajectory_is_built_of_steps_that_belong_together() -> None:
    steps = [Step(2, "o", "a", "last", trajectory_id="traj_1"), Step(1, "o", "a", "first", trajectory_id="traj_1")]
    built = Episode.build_trajectory_from_steps(steps)
    assert built == Trajectory("traj_1", (steps[1], steps[0]), "last")
    for wrong in ([], [*steps, Step(3, "o", "a", trajectory_id="traj_2")]):
        with pytest.raises(InputError):
            Episode.build_trajectory_from_steps(wrong)


class AtHand(Vectors):
    """In this process, as a local model is."""

    is_at_hand = True


class Likened(RuleMind):
    """Rules that show what they are given of likeness."""

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        return "by words" if self._embed is None else f"by meaning {self._embed([action])}"


def test_rules_are_told_of_meaning_where_that_costs_nothing() -> None:
    vectors = {"done": ALIKE, "by words": UNLIKE, f"by meaning {[ALIKE]}": UNLIKE}
    for embedding, named in (
        (AtHand(vectors), f"by meaning {[ALIKE]}"),
        (Vectors(vectors), "by words"),
        (None, "by words"),
    ):
        episode, _ = Episode(GOAL).append("seen", "done", llm=Likened(), embedding=embedding)
        assert episode.steps[0].subgoal == named


def test_a_text_is_embedded_once_for_its_likeness() -> None:
    heard: list[str] = []
    embedder = embedder_of(AtHand({"done": ALIKE, f"by meaning {[ALIKE]}": UNLIKE}, heard))
    episode = Episode(GOAL)
    for _ in range(3):
        episode, _ = episode.append("seen", "done", llm=Likened(), embedding=embedder)
    assert len(heard) == 1 + 3, "what was done, once, and each subgoal"
