"""A process may end at any moment: every acknowledged step is there when the session is resumed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.sessions.living import DOWN, Died, DyingLog, Life, bake

from pieria.errors import AdapterError, SessionError
from pieria.sessions import Session, SessionState

FLUSH, TIMEOUT = 120_000, 600_000
Told = list[str]
Story = Callable[[Life, Session, Told], None]


def appended(session: Session, told: Told, *topics: str) -> None:
    for topic in topics:
        observation = f"{topic} {len(told)}"
        session.append(observation, f"{topic} goes on")
        told.append(observation)


def automatic(life: Life, session: Session, told: Told) -> None:
    """Boundaries, a refused step, a failed extraction, a flush with a late reward, an end, and another episode."""
    appended(session, told, "bread", "bread", "ships")
    life.run()
    life.mind.fails("subgoal", DOWN)
    with pytest.raises(AdapterError):
        session.append("never", "bread goes on")
    life.timers.wait(FLUSH)
    life.run()
    life.mind.fails("propositions", DOWN)
    appended(session, told, "ships", "stars")
    life.run()
    session.close()
    life.run()
    session.start_episode("Sail")
    appended(session, told, "tea")
    life.timers.wait(TIMEOUT)
    life.run()


def by_hand(life: Life, session: Session, told: Told) -> None:
    """An end that fails, a second try, and another episode."""
    appended(session, told, "bread", "ships")
    life.mind.fails("propositions", DOWN)
    session.close()
    life.run()
    session.commit()
    life.run()
    session.commit()
    session.start_episode("Sail")
    appended(session, told, "tea")
    session.close_async()
    session.commit_async()
    life.run()


def lived(story: Story, auto: bool, calls: int, after: bool) -> tuple[Life, DyingLog, Told]:
    """Run the story until its process ends."""
    life, told = Life(auto_commit=auto), list[Any]()
    dying = DyingLog(life.log, calls, after=after)
    try:
        story(life, Session.begin("Bake", life.surroundings(log=dying)), told)
    except Died:
        pass
    except SessionError as problem:  # an operation after the process has ended
        assert dying.is_dead, problem
    life.anew()
    life.mind.faults.clear()
    return life, dying, told


def ended(life: Life, session: Session) -> None:
    """Commit all that is left of the session."""
    life.run()
    if session.state is SessionState.COLLECTING:
        session.close()
        life.run()
    if session.state is SessionState.FAILED:
        session.commit()
        life.run()
    if session.state is SessionState.READY:
        session.commit()
    assert session.state is SessionState.IDLE


def drawn_from(life: Life) -> Counter[str]:
    """Return how often knowledge was drawn from each observation."""
    found: Counter[str] = Counter()
    for (kind, *about), times in life.mind.asked.items():
        found.update({each: times for each in about if kind == "propositions"})
    return found


def in_graph(life: Life) -> Counter[str]:
    return Counter(node.observation for node in life.nodes("episodic"))  # type: ignore[attr-defined]


@pytest.mark.parametrize("after", [False, True], ids=["before it is written", "once it is written"])
@pytest.mark.parametrize(
    ("story", "auto", "writes"),
    [
        (automatic, True, {"begin", "step", "withdraw", "keep", "commit", "end"}),
        (by_hand, False, {"begin", "step", "keep", "commit"}),
    ],
    ids=["automatic", "by hand"],
)
def test_a_process_may_end_at_any_write(story: Story, auto: bool, writes: set[str], after: bool) -> None:
    _, whole, _ = lived(story, auto, 10_000, after)
    assert set(whole.calls) == writes
    for calls in range(1, len(whole.calls) + 1):
        life, _, told = lived(story, auto, calls, after)
        where = f"at write {calls}, {whole.calls[calls - 1]}"
        found, asked = in_graph(life), drawn_from(life)
        for id in [kept.id for kept in life.log.kept()]:
            session = life.resume(id)
            assert session.state in SessionState, where
            held = [step.observation for step in session.steps if step.trajectory_id]
            assert set(told) <= {*held, *found, *_waiting(life, id)}, where
            ended(life, session)
        facts = Counter(life.facts())
        assert set(told) <= set(in_graph(life)), where
        assert set(in_graph(life).values()) <= {1}, f"{where}: a step is there twice"
        assert set(facts.values()) <= {1}, f"{where}: a fact is there twice"
        assert {each: asked[each] for each in found} == {each: drawn_from(life)[each] for each in found}, where
        assert None not in life.steps().values(), f"{where}: a step was never rewarded"
        assert max((life.mind.asked[("state", each)] for each in told), default=1) == 1, where


def _waiting(life: Life, id: str) -> set[str]:
    kept, _ = life.log.load(id)
    return {getattr(node, "observation", "") for part in kept.waiting for node in part.additions}


def test_a_step_that_was_not_judged_is_judged_when_the_session_is_taken_up() -> None:
    life, told = Life(), list[Any]()
    session = Session.begin("Bake", life.surroundings(log=DyingLog(life.log, 3, after=True)))
    with pytest.raises(SessionError, match="appending the step failed"):
        session.append("flour", "bread begins")
    life.anew()
    taken_up = life.resume(session.id)
    with pytest.raises(SessionError) as too_soon:
        taken_up.close()
    assert too_soon.value.reason == "append_in_progress"
    taken_up.append_async("water", "bread begins", told.append)
    life.errands.run()
    assert [step.observation for step in taken_up.steps] == ["flour", "water"]
    assert [step.index for step in taken_up.steps] == [0, 1]


@pytest.mark.parametrize("auto", [True, False])
def test_a_step_that_cannot_be_judged_then_either_stays_until_it_can_be(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = Session.begin("Bake", life.surroundings(log=DyingLog(life.log, 3, after=True)))
    with pytest.raises(SessionError, match="appending the step failed"):
        session.append("flour", "bread begins")
    life.anew()
    life.events.clear()
    life.mind.fails("state", DOWN, DOWN, DOWN)
    taken_up = life.resume(session.id)
    life.run()
    with pytest.raises(AdapterError):
        taken_up.append("water", "bread goes on")
    assert life.told("append_failed") == [{"session_id": session.id, "error": DOWN}] * 2
    assert [(step.observation, step.subgoal) for step in taken_up.steps] == [("flour", "")]
    taken_up.close()
    life.run()
    assert taken_up.state is SessionState.FAILED
    taken_up.commit()
    assert life.timers.armed == {}
    ended(life, taken_up)
    assert life.timers.armed == {}
    assert life.steps() == {"flour": 0.75}
    assert life.log.load(session.id)[1] == []


def test_a_step_that_was_left_goes_with_the_episode_that_is_discarded() -> None:
    life = Life()
    session = Session.begin("Bake", life.surroundings(log=DyingLog(life.log, 3, after=True)))
    with pytest.raises(SessionError, match="appending the step failed"):
        session.append("flour", "bread begins")
    life.anew()
    life.mind.fails("state", DOWN, DOWN)
    taken_up = life.resume(session.id)
    life.run()
    taken_up.close()
    life.run()
    taken_up.discard()
    taken_up.start_episode("Sail")
    taken_up.append("sails", "ships begin")
    assert [step.observation for step in taken_up.steps] == ["sails"]


def test_a_step_that_was_left_comes_before_the_next_one() -> None:
    life = Life()
    session = Session.begin("Bake", life.surroundings(log=DyingLog(life.log, 3, after=True)))
    with pytest.raises(SessionError, match="appending the step failed"):
        session.append("flour", "bread begins")
    life.anew()
    life.mind.fails("state", DOWN)
    taken_up = life.resume(session.id)
    life.run()
    taken_up.append("sails", "ships begin")
    assert [(step.index, step.observation) for step in taken_up.steps] == [(0, "flour"), (1, "sails")]
    life.run()
    assert life.facts() == ["It was seen that flour."]


def test_what_was_being_drawn_is_drawn_when_the_session_is_taken_up() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.anew()
    taken_up = life.resume(session.id)
    assert life.timers.names == {"flush", "session"}
    life.run()
    assert life.facts() == ["It was seen that bread 0."]
    assert taken_up.steps == session.steps


def test_a_session_keeps_the_mode_it_was_begun_in() -> None:
    life = Life(auto_commit=False)
    session = life.begin()
    bake(session, "bread")
    life.auto_commit = True
    life.anew()
    taken_up = life.resume(session.id)
    taken_up.close()
    life.run()
    assert taken_up.state is SessionState.READY


def test_a_failure_of_before_is_told_by_whoever_goes_on() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.mind.fails("propositions", DOWN)
    session.close()
    life.run()
    assert life.log.load(session.id)[0].reason == "adapter model.chat: it is down"
    life.anew()
    taken_up = life.resume(session.id)
    assert taken_up.state is SessionState.FAILED
    taken_up.commit()
    life.run()
    assert (taken_up.state, life.facts()) == (SessionState.IDLE, ["It was seen that bread 0."])


def test_one_session_is_not_gone_on_with_in_two_places() -> None:
    life = Life()
    session = life.begin()
    with pytest.raises(SessionError) as refused:
        Session.resume(session.id, life.surroundings())
    assert refused.value.reason == "held_elsewhere"


def test_of_a_long_episode_only_what_is_still_needed_stays_in_the_log() -> None:
    life = Life()
    session = life.begin()
    for turn in range(6):
        for loaf in range(4):
            session.append(f"loaf {turn}-{loaf}", f"{('bread', 'ships')[turn % 2]} goes on")
        life.run()
    assert [step.index for step in life.log.load(session.id)[1]] == list(range(19, 24))
    assert list(session.steps) == life.log.load(session.id)[1]
    context = session.get_context()
    life.anew()
    taken_up = life.resume(session.id)
    assert taken_up.get_context() == context
    taken_up.append("flour", "ships go on")
    assert (taken_up.steps[-1].index, taken_up.steps[-1].trajectory_id) == (24, session.steps[-1].trajectory_id)
    taken_up.close()
    life.run()
    assert len(life.facts()) == len(life.steps()) == 25
    assert life.log.load(session.id)[1] == []


def test_what_was_erased_of_a_step_is_not_told_or_judged_by_any_more() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "bread")
    life.timers.wait(FLUSH)
    life.run()
    kept, (_, second) = life.log.load(session.id)
    life.log.step(kept, replace(second, observation="", action="", subgoal="", state=None, embedding=None))
    assert session.get_context() == {"goal": "Bake bread", "recent_steps": ["bread 0 -> bread goes on"]}
    session.append("flour", "bread goes on")
    assert "bread 1" not in str(session.steps[-1])
    assert [step.observation for step in session.steps] == ["bread 0", "", "flour"]
    assert session.steps[1].reward == 0.75
