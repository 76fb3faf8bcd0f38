"""Every operation in every state, synchronous and asynchronous, and the queue of asynchronous calls."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.sessions.scripted_sessions import DOWN, Life, in_state, raising, reason, refusal, start

from pieria.errors import AdapterError, InputError, NotFoundError, SessionError
from pieria.sessions import Session, SessionState

IDLE, COLLECTING, EXTRACTING, READY, FAILED = SessionState
STATES = tuple(SessionState)
Row = tuple[str, str, str, str, str]

# The result: a state in capitals, or a reason. Manual mode, since only that has a state `ready`.
WAITED: dict[str, Row] = {
    "start_episode": ("COLLECTING", "not_idle", "extraction_in_progress", "not_idle", "session_failed"),
    "append": ("not_collecting", "COLLECTING", "extraction_in_progress", "not_idle", "session_failed"),
    "close": ("not_collecting", "EXTRACTING", "extraction_in_progress", "not_idle", "session_failed"),
    "commit": ("not_ready", "not_ready", "extraction_in_progress", "IDLE", "EXTRACTING"),
    "discard": ("not_discardable", "not_discardable", "extraction_in_progress", "IDLE", "IDLE"),
}
UNTIMELY = "invalid_queued_operation"
UNWAITED: dict[str, Row] = {
    "start_episode": ("COLLECTING", "invalid_operation", UNTIMELY, "invalid_operation", "session_failed"),
    "append": ("not_collecting", "COLLECTING", "extraction_in_progress", "not_idle", "session_failed"),
    "close": ("invalid_operation", "EXTRACTING", UNTIMELY, "invalid_operation", "session_failed"),
    "commit": ("invalid_operation", "invalid_operation", "queued: IDLE", "IDLE", "session_failed"),
    "discard": ("invalid_operation", "invalid_operation", "queued: IDLE", "IDLE", "session_failed"),
}
ARGUMENTS = {"start_episode": ("Sail",), "append": ("a loaf", "bread again")}
WORDS = dict(zip(WAITED, ("started", "appended", "closed", "committed", "discarded"), strict=True))


def waited(operation: str, state: SessionState) -> str:
    """Ask in this state. Return the next state in capitals, or the reason of the refusal."""
    session = in_state(Life(auto_commit=False), state)
    try:
        getattr(session, operation)(*ARGUMENTS.get(operation, ()))
    except SessionError as refused:
        assert (refused.state, session.state) == (None, state)
        return str(refused.reason)
    return session.state.name


def unwaited(operation: str, state: SessionState) -> str:
    """Do the same without waiting. What is put in the queue leaves the state alone until its turn."""
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, state)
    try:
        getattr(session, f"{operation}_async")(*ARGUMENTS.get(operation, ()), told.append)
    except SessionError as refused:
        assert refused.state is (READY if refused.reason == UNTIMELY else None)
        assert (session.state, told) == (state, [])
        return str(refused.reason)
    is_queued = state is EXTRACTING and not told
    life.run()
    [outcome] = told
    if outcome != WORDS[operation]:
        return str(reason(outcome))
    return f"queued: {session.state.name}" if is_queued else session.state.name


def test_every_operation_in_every_state_when_waited_for() -> None:
    assert {name: tuple(waited(name, state) for state in STATES) for name in WAITED} == WAITED


def test_every_operation_in_every_state_without_waiting() -> None:
    # Closing comes to its end when the threads have run.
    wanted = {**UNWAITED, "close": tuple(each.replace("EXTRACTING", "READY") for each in UNWAITED["close"])}
    assert {name: tuple(unwaited(name, state) for state in STATES) for name in UNWAITED} == wanted


def test_every_state_has_an_id_and_a_context() -> None:
    for state in STATES:
        session = in_state(Life(auto_commit=False), state)
        assert session.state == state.value
        assert (session.id[:8], len(session.id)) == ("session_", 19)
        steps = {"goal": "Bake bread", "recent_steps": ["bread 0 -> bread goes on"]}
        assert session.get_context() == (None if state is IDLE else steps)
    _, session = start(*["bread"] * 7)
    recent = [f"bread {n} -> bread goes on" for n in range(2, 7)]
    assert session.get_context() == {"goal": "Bake bread", "recent_steps": recent}


def test_input_that_is_no_text_or_callback_is_refused() -> None:
    life = Life()
    session: Any = life.begin()
    asks: list[tuple[str, Callable[[], object]]] = [
        ("observation", lambda: session.append(" ", " ")),
        ("goal", lambda: life.begin("  ")),
        *((wrong, partial(ask, *step)) for ask in (session.append, session.append_async)
          for wrong, step in (("action", ("flour", None)), ("observation", (7, "bread")))),
        *(("callback", partial(ask, callback)) for callback in ("print", 7)
          for ask in (partial(session.append_async, "flour", "bread"), session.close_async)),
    ]  # fmt: skip
    for wrong, ask in asks:
        with pytest.raises(InputError, match=wrong):
            ask()
    assert (life.log.load(session.id)[1], session.steps) == ([], ())
    with pytest.raises(NotFoundError, match="session_x"):
        Session.resume("session_x", life.surroundings())


def refused(ask: Callable[[], object]) -> tuple[object, object]:
    """Return the reason of the refusal, and the state that the queue leads to."""
    error = refusal(ask)
    return error.reason, error.state


def test_extraction_of_a_past_trajectory_queues_only_closing() -> None:
    for last in ("commit", "discard"):
        life, session = start("bread", "ships")
        assert life.extractions.waiting
        for operation in ("start_episode", "commit", "discard"):
            ask = partial(getattr(session, f"{operation}_async"), *ARGUMENTS.get(operation, ()))
            assert refused(ask) == (UNTIMELY, COLLECTING)
        assert refusal(session.close).reason == "extraction_in_progress"
        session.close_async()
        assert refused(getattr(session, f"{last}_async")) == (UNTIMELY, IDLE)


def test_closing_during_an_append_waits_for_the_step() -> None:
    (life, session), reasons, told = start(), list[Any](), list[Any]()

    def close() -> None:
        reasons.append(refusal(session.close).reason)
        session.close_async(told.append)

    life.mind.within["state"] = close
    session.append("flour", "bread begins")
    assert (reasons, session.state, told) == (["append_in_progress"], COLLECTING, [])
    life.run()
    assert (session.state, told, life.learnt()) == (IDLE, ["closed"], ["flour"])


def test_queued_operations_run_in_order() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    session.commit_async(lambda outcome: told.append((outcome, session.state)))
    assert refused(session.commit_async) == (UNTIMELY, IDLE)
    session.start_episode_async("Sail", lambda outcome: told.append((outcome, session.state)))
    session.close_async()
    session.commit_async()
    session.start_episode_async("Sail on")
    assert refusal(session.close_async).reason == "pending_queue_full"
    life.run()
    assert told == [("committed", IDLE), ("started", COLLECTING)]
    assert session.get_context() == {"goal": "Sail on", "recent_steps": []}


def test_queue_after_a_close_waits_for_the_extraction() -> None:
    (life, session), told = start(auto_commit=False), list[Any]()
    session.append_async("flour", "bread begins", told.append)
    session.close_async(told.append)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    session.discard_async(told.append)
    life.run()
    assert told == ["appended", "closed", "committed", "started", "closed", "discarded"]
    assert (session.state, life.learnt()) == (IDLE, ["flour"])


def test_no_step_enters_an_episode_about_to_close() -> None:
    (life, session), told = start(), list[Any]()
    session.append_async("flour", "bread begins", told.append)
    session.close_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.append_async("wind", "ships begin", told.append)
    assert "extraction" in str(refusal(lambda: session.append("wind", "ships begin")))
    life.run()
    first, *done = told
    assert reason(first) == "extraction_in_progress"
    assert (done, session.state, session.steps) == (["appended", "closed", "started"], COLLECTING, ())


def test_refused_or_failed_operation_drops_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    life.extractions.run()
    assert session.state is READY
    session.discard()
    life.run()
    assert [reason(each) for each in told] == ["invalid_operation", "preceding_op_failed", "preceding_op_failed"]
    assert session.state is IDLE
    told.clear()
    session = in_state(life, EXTRACTING)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    full = AdapterError("store", "write", "no space left")
    monkeypatch.setattr(life.log, "commit", raising(full))
    life.run()
    assert (told[0], reason(told[1]), session.state) == (full, "preceding_op_failed", READY)


@pytest.mark.parametrize("auto", [True, False])
def test_failed_extraction_is_told_to_all_in_the_queue(auto: bool) -> None:
    life, told = Life(auto_commit=auto), list[Any]()
    session = in_state(life, EXTRACTING)
    if not auto:
        session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    life.mind.fails("propositions", DOWN)
    life.run()
    assert session.state is FAILED
    assert [reason(each) for each in told] == ["extraction_failed"] * (2 if auto else 3)


def test_callback_may_go_on_with_the_session() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)

    def go_on(outcome: object) -> None:
        session.start_episode("Sail")
        session.close_async(told.append)

    session.commit_async(go_on)
    life.run()
    assert (session.state, told) == (READY, ["closed"])
