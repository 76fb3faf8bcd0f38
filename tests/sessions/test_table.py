"""Every operation in every state, synchronous and asynchronous, has the promised result."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.sessions.living import Life, bake, in_state, reason

from pieria.errors import InputError, NotFoundError, SessionError
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


def pairs(table: dict[str, Row]) -> list[Any]:
    return [
        pytest.param(operation, state, wanted, id=f"{operation} when {state}")
        for operation, row in table.items()
        for state, wanted in zip(STATES, row, strict=True)
    ]


@pytest.mark.parametrize(("operation", "state", "wanted"), pairs(WAITED))
def test_what_is_waited_for_is_done_or_refused_as_the_state_has_it(
    operation: str, state: SessionState, wanted: str
) -> None:
    session = in_state(Life(auto_commit=False), state)
    ask: Callable[..., None] = getattr(session, operation)
    if wanted.isupper():
        ask(*ARGUMENTS.get(operation, ()))
        assert session.state.name == wanted
        return
    with pytest.raises(SessionError) as refused:
        ask(*ARGUMENTS.get(operation, ()))
    assert (refused.value.reason, refused.value.state) == (wanted, None)
    assert session.state is state


@pytest.mark.parametrize(("operation", "state", "wanted"), pairs(UNWAITED))
def test_what_is_not_waited_for_is_done_refused_or_put_in_the_queue(
    operation: str, state: SessionState, wanted: str
) -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, state)
    ask: Callable[..., None] = getattr(session, f"{operation}_async")
    if wanted.islower() and operation != "append":
        with pytest.raises(SessionError) as refused:
            ask(*ARGUMENTS.get(operation, ()), told.append)
        assert refused.value.reason == wanted
        assert refused.value.state is (READY if wanted == "invalid_queued_operation" else None)
        assert (session.state, told) == (state, [])
        return
    ask(*ARGUMENTS.get(operation, ()), told.append)
    if wanted.islower():
        assert [reason(each) for each in told] == [wanted]
        return
    if wanted.startswith("queued"):
        assert (session.state, told) == (state, [])
    if wanted.startswith("queued") or operation == "append":
        life.run()
    assert session.state.name == wanted.removeprefix("queued: ")
    assert told == [WORDS[operation]]


@pytest.mark.parametrize("state", STATES)
def test_the_state_the_id_and_the_context_are_told_in_every_state(state: SessionState) -> None:
    session = in_state(Life(auto_commit=False), state)
    assert session.state == state.value
    assert session.id.startswith("session_")
    assert len(session.id) == len("session_") + 11
    steps = {"goal": "Bake bread", "recent_steps": ["bread 0 -> bread goes on"]}
    assert session.get_context() == (None if state is IDLE else steps)


def test_a_context_tells_of_the_last_five_steps() -> None:
    session = Life().begin()
    bake(session, *["bread"] * 7)
    context = session.get_context()
    assert context is not None
    assert [line.split()[1] for line in context["recent_steps"]] == ["2", "3", "4", "5", "6"]


@pytest.mark.parametrize("queued", [("close", "commit"), ("close", "discard")])
def test_while_a_past_trajectory_is_drawn_from_only_what_leads_on_is_queued(queued: tuple[str, str]) -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    assert life.extractions.waiting
    for operation in ("start_episode", "commit", "discard"):
        with pytest.raises(SessionError) as refused:
            getattr(session, f"{operation}_async")(*ARGUMENTS.get(operation, ()))
        assert (refused.value.reason, refused.value.state) == ("invalid_queued_operation", COLLECTING)
    with pytest.raises(SessionError) as too_soon:
        session.close()
    assert too_soon.value.reason == "extraction_in_progress"
    session.close_async()
    with pytest.raises(SessionError) as never:
        getattr(session, f"{queued[1]}_async")()
    assert (never.value.reason, never.value.state) == ("invalid_queued_operation", IDLE)


def test_closing_while_a_step_comes_in_is_refused_or_put_behind_it() -> None:
    life, refused, told = Life(), list[Any](), list[Any]()
    session = life.begin()

    def close() -> None:
        try:
            session.close()
        except SessionError as problem:
            refused.append(problem.reason)
        session.close_async(told.append)

    life.mind.within["state"] = close
    session.append("flour", "bread begins")
    assert refused == ["append_in_progress"]
    assert (session.state, told) == (COLLECTING, [])
    life.run()
    assert (session.state, told) == (IDLE, ["closed"])
    assert life.facts() == ["It was seen that flour."]


@pytest.mark.parametrize("callback", ["print", 7])
def test_a_callback_that_cannot_be_called_is_refused(callback: Any) -> None:
    session = Life().begin()
    with pytest.raises(InputError, match="callback"):
        session.append_async("flour", "bread begins", callback)
    with pytest.raises(InputError, match="callback"):
        session.close_async(callback)


def test_what_is_not_a_text_is_refused_before_anything_is_kept() -> None:
    life = Life()
    session: Any = life.begin()
    for wrong in (("flour", None), (7, "bread")):
        with pytest.raises(InputError):
            session.append(*wrong)
        with pytest.raises(InputError):
            session.append_async(*wrong)
    with pytest.raises(InputError, match="goal"):
        life.begin("  ")
    assert life.log.load(session.id)[1] == []


def test_a_session_that_is_not_there_cannot_be_resumed() -> None:
    life = Life()
    with pytest.raises(NotFoundError, match="session_x"):
        Session.resume("session_x", life.surroundings())
