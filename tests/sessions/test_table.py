"""Every operation in every state, synchronous and asynchronous, and the queue of asynchronous calls."""

from functools import partial
from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, bake, in_state, reason

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
WORDS = {
    "start_episode": "started",
    "append": "appended",
    "close": "closed",
    "commit": "committed",
    "discard": "discarded",
}


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
        assert session.id.startswith("session_")
        assert len(session.id) == len("session_") + 11
        steps = {"goal": "Bake bread", "recent_steps": ["bread 0 -> bread goes on"]}
        assert session.get_context() == (None if state is IDLE else steps)


def test_context_shows_the_last_five_steps() -> None:
    session = Life().begin()
    bake(session, *["bread"] * 7)
    context = session.get_context()
    assert context is not None
    assert [line.split()[1] for line in context["recent_steps"]] == ["2", "3", "4", "5", "6"]


def test_input_that_is_no_text_or_callback_is_refused() -> None:
    life = Life()
    session: Any = life.begin()
    with pytest.raises(InputError, match="observation"):
        session.append(" ", " ")
    for wrong in (("flour", None), (7, "bread")):
        for ask in (session.append, session.append_async):
            with pytest.raises(InputError):
                ask(*wrong)
    for callback in ("print", 7):
        for ask in (partial(session.append_async, "flour", "bread"), session.close_async):
            with pytest.raises(InputError, match="callback"):
                ask(callback)
    with pytest.raises(InputError, match="goal"):
        life.begin("  ")
    assert life.log.load(session.id)[1] == []
    assert session.steps == ()
    with pytest.raises(NotFoundError, match="session_x"):
        Session.resume("session_x", life.surroundings())


# --- the queue


def refusal(ask: Any) -> tuple[object, object]:
    with pytest.raises(SessionError) as refused:
        ask()
    return refused.value.reason, refused.value.state


def test_extraction_of_a_past_trajectory_queues_only_closing() -> None:
    for last in ("commit", "discard"):
        life = Life()
        session = life.begin()
        bake(session, "bread", "ships")
        assert life.extractions.waiting
        for operation in ("start_episode", "commit", "discard"):
            ask = partial(getattr(session, f"{operation}_async"), *ARGUMENTS.get(operation, ()))
            assert refusal(ask) == (UNTIMELY, COLLECTING)
        assert refusal(session.close)[0] == "extraction_in_progress"
        session.close_async()
        assert refusal(getattr(session, f"{last}_async")) == (UNTIMELY, IDLE)


def test_closing_during_an_append_waits_for_the_step() -> None:
    life, refused, told = Life(), list[Any](), list[Any]()
    session = life.begin()

    def close() -> None:
        refused.append(refusal(session.close)[0])
        session.close_async(told.append)

    life.mind.within["state"] = close
    session.append("flour", "bread begins")
    assert refused == ["append_in_progress"]
    assert (session.state, told) == (COLLECTING, [])
    life.run()
    assert (session.state, told, life.learnt()) == (IDLE, ["closed"], ["flour"])


def test_queued_operations_run_in_order() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    session.commit_async(lambda outcome: told.append((outcome, session.state)))
    assert refusal(session.commit_async) == (UNTIMELY, IDLE)
    session.start_episode_async("Sail", lambda outcome: told.append((outcome, session.state)))
    session.close_async()
    session.commit_async()
    session.start_episode_async("Sail on")
    assert refusal(session.close_async)[0] == "pending_queue_full"
    life.run()
    assert told == [("committed", IDLE), ("started", COLLECTING)]
    assert session.get_context() == {"goal": "Sail on", "recent_steps": []}


def test_queue_after_a_close_waits_for_the_extraction() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = life.begin()
    session.append_async("flour", "bread begins", told.append)
    session.close_async(told.append)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    session.discard_async(told.append)
    life.run()
    assert told == ["appended", "closed", "committed", "started", "closed", "discarded"]
    assert (session.state, life.learnt()) == (IDLE, ["flour"])


def test_automatic_session_queues_the_next_episode() -> None:
    life, told = Life(), list[Any]()
    session = in_state(life, EXTRACTING)
    session.start_episode_async("Sail", told.append)
    assert refusal(session.commit_async) == (UNTIMELY, COLLECTING)
    life.run()
    assert (told, session.state, life.learnt()) == (["started"], COLLECTING, ["bread 0"])


def test_no_step_enters_an_episode_about_to_close() -> None:
    life, told = Life(), list[Any]()
    session = life.begin()
    session.append_async("flour", "bread begins", told.append)
    session.close_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.append_async("wind", "ships begin", told.append)
    with pytest.raises(SessionError, match="extraction"):
        session.append("wind", "ships begin")
    life.run()
    refused, *done = told
    assert reason(refused) == "extraction_in_progress"
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

    def refuse(*_: object) -> None:
        raise full

    monkeypatch.setattr(life.log, "commit", refuse)
    life.run()
    assert told[0] is full
    assert reason(told[1]) == "preceding_op_failed"
    assert session.state is READY


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
