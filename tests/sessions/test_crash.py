"""A process may end at any moment: every acknowledged step is there when the session is resumed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.sessions.scripted_sessions import DOWN, FLUSH, TIMEOUT, Died, DyingLog, Life, in_state, refusal, start

from pieria.errors import SessionError
from pieria.sessions import Session, SessionState

BROKEN = ZeroDivisionError("by a mind")
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
    life.mind.fails("subgoal", ZeroDivisionError())
    assert refusal(lambda: session.append("never", "bread goes on")).reason in ("append_crashed", "held_elsewhere")
    life.wait(FLUSH)
    life.mind.fails("propositions", DOWN)
    appended(session, told, "ships", "stars")
    life.run()
    life.close(session)
    session.start_episode("Sail")
    appended(session, told, "tea")
    life.wait(TIMEOUT)


def by_hand(life: Life, session: Session, told: Told) -> None:
    """An end that fails, a second try, and another episode."""
    appended(session, told, "bread", "ships")
    life.mind.fails("propositions", DOWN)
    life.close(session)
    life.commit(session)
    session.commit()
    session.start_episode("Sail")
    appended(session, told, "tea")
    session.close_async()
    session.commit_async()
    life.run()


def lived(story: Story, auto: bool, calls: int, after: bool) -> tuple[Life, DyingLog, Told]:
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
    life.run()
    if session.state is SessionState.COLLECTING:
        life.close(session)
    if session.state is SessionState.FAILED:
        life.commit(session)
    if session.state is SessionState.READY:
        session.commit()
    assert session.state is SessionState.IDLE


def drawn_from(life: Life) -> Counter[str]:
    found: Counter[str] = Counter()
    for (kind, *about), times in life.mind.asked.items():
        found.update({each: times for each in about if kind == "propositions"})
    return found


def in_graph(life: Life) -> Counter[str]:
    return Counter(node.observation for node in life.nodes("episodic"))  # type: ignore[attr-defined]


def waiting(life: Life, id: str) -> set[str]:
    kept, _ = life.log.load(id)
    return {getattr(node, "observation", "") for part in kept.waiting for node in part.additions}


@pytest.mark.parametrize("after", [False, True], ids=["before it is written", "once it is written"])
@pytest.mark.parametrize(
    ("story", "auto", "writes"),
    [
        (automatic, True, {"begin", "step", "withdraw", "keep", "commit", "end"}),
        (by_hand, False, {"begin", "step", "keep", "commit"}),
    ],
    ids=["automatic", "by hand"],
)
def test_process_may_end_at_any_write(story: Story, auto: bool, writes: set[str], after: bool) -> None:
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
            assert set(told) <= {*held, *found, *waiting(life, id)}, where
            ended(life, session)
        facts = Counter(life.facts())
        assert set(told) <= set(in_graph(life)), where
        assert set(in_graph(life).values()) <= {1}, f"{where}: a step is there twice"
        assert set(facts.values()) <= {1}, f"{where}: a fact is there twice"
        assert {each: asked[each] for each in found} == {each: drawn_from(life)[each] for each in found}, where
        assert None not in life.steps().values(), f"{where}: a step was never rewarded"
        assert max((life.mind.asked[("state", each)] for each in told), default=1) == 1, where


def died_in_a_step(life: Life, *faults: BaseException) -> Session:
    """Take up a session whose process ended before its first step was judged. These faults meet the judgement."""
    session = Session.begin("Bake", life.surroundings(log=DyingLog(life.log, 3, after=True)))
    assert "appending the step failed" in str(refusal(lambda: session.append("flour", "bread begins")))
    life.anew()
    life.events.clear()
    life.mind.fails("state", *faults)
    return life.resume(session.id)


def test_unjudged_step_is_judged_when_the_session_resumes() -> None:
    life, told = Life(), list[Any]()
    session = died_in_a_step(life)
    assert refusal(session.close).reason == "append_in_progress"
    session.append_async("water", "bread begins", told.append)
    life.errands.run()
    assert [(step.index, step.observation) for step in session.steps] == [(0, "flour"), (1, "water")]


def test_unjudged_step_comes_before_the_next_one() -> None:
    life = Life()
    session = died_in_a_step(life, BROKEN)
    life.run()
    session.append("sails", "ships begin")
    assert [(step.index, step.observation) for step in session.steps] == [(0, "flour"), (1, "sails")]
    life.run()
    assert life.learnt() == ["flour"]


@pytest.mark.parametrize("auto", [True, False])
def test_step_stays_until_it_can_be_judged(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = died_in_a_step(life, BROKEN, BROKEN, BROKEN)
    life.run()
    assert refusal(lambda: session.append("water", "bread goes on")).reason == "append_crashed"
    assert life.told("append_failed") == [{"session_id": session.id, "error": BROKEN}] * 2
    assert [(step.observation, step.subgoal) for step in session.steps] == [("flour", "")]
    life.close(session)
    assert session.state is SessionState.FAILED
    session.commit()
    assert life.timers.armed == {}
    ended(life, session)
    assert life.timers.armed == {}
    assert life.steps() == {"flour": 0.75}
    assert life.log.load(session.id)[1] == []


def test_unjudged_step_goes_with_a_discarded_episode() -> None:
    life = Life()
    session = died_in_a_step(life, BROKEN, BROKEN)
    life.run()
    life.close(session)
    session.discard()
    session.start_episode("Sail")
    session.append("sails", "ships begin")
    assert [step.observation for step in session.steps] == ["sails"]


def test_interrupted_extraction_is_done_after_resuming() -> None:
    life, session = start("bread", "ships")
    assert refusal(lambda: Session.resume(session.id, life.surroundings())).reason == "held_elsewhere"
    life.anew()
    taken_up = life.resume(session.id)
    assert life.timers.names == {"flush", "session"}
    life.run()
    assert life.learnt() == ["bread 0"]
    assert taken_up.steps == session.steps


def test_resumed_session_keeps_its_mode_and_failure() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.FAILED)
    assert life.log.load(session.id)[0].reason == "adapter model.chat: it is down"
    life.auto_commit = True
    life.anew()
    taken_up = life.resume(session.id)
    assert taken_up.state is SessionState.FAILED
    life.commit(taken_up)
    assert (taken_up.state, life.learnt()) == (SessionState.READY, [])
    taken_up.commit()
    assert (taken_up.state, life.learnt()) == (SessionState.IDLE, ["bread 0"])


def test_log_of_a_long_episode_holds_only_what_is_needed() -> None:
    life, session = start()
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
    life.close(taken_up)
    assert len(life.facts()) == len(life.steps()) == 25
    assert life.log.load(session.id)[1] == []


def test_erased_step_is_not_shown_or_judged_by() -> None:
    life, session = start("bread", "bread")
    life.wait(FLUSH)
    kept, (_, second) = life.log.load(session.id)
    life.log.step(kept, replace(second, observation="", action="", subgoal="", state=None, embedding=None))
    assert session.get_context() == {"goal": "Bake bread", "recent_steps": ["bread 0 -> bread goes on"]}
    session.append("flour", "bread goes on")
    assert "bread 1" not in str(session.steps[-1])
    assert [step.observation for step in session.steps] == ["bread 0", "", "flour"]
    assert session.steps[1].reward == 0.75
