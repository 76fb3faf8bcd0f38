"""Random lives of a session: any request, failure, wait, expiry or crash, in any order.

The states are legal and refusals follow the table. Every callback is called once. Every acknowledged step is in the
graph once, or held, or discarded.
"""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.sessions.scripted_sessions import DOWN, TOPICS, Life
from tests.sessions.test_table import ARGUMENTS, STATES, WAITED

from pieria.errors import NotFoundError, PieriaError, SessionError
from pieria.sessions import MemoryLog, SessionState

pytestmark = pytest.mark.timeout(600)

LEGAL = {
    "idle": {"collecting"},
    "collecting": {"extracting", "idle"},
    "extracting": {"ready", "failed", "idle"},
    "failed": {"extracting", "idle"},
    "ready": {"idle"},
}
BUSY = {"append_in_progress", "extraction_in_progress"}
TOO_SOON = ("append", "close")
"""Operations that are refused while a step is judged, or while a close waits for an extraction."""
OPERATIONS = st.sampled_from([name for name in WAITED if name != "append"])
KINDS = st.sampled_from(["state", "subgoal", "reward", "propositions", "procedures"])


class FullDisk:
    """A log whose write raises and keeps nothing when the test says so."""

    def __init__(self, life: Life) -> None:
        self._log = MemoryLog(life.backend.apply_changeset)
        self.failing: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return partial(self._checked, name)

    def _checked(self, name: str, *arguments: Any) -> Any:
        if name in self.failing:
            self.failing.remove(name)
            raise DOWN
        return getattr(self._log, name)(*arguments)


class SessionLife(RuleBasedStateMachine):
    @initialize(auto=st.booleans())
    def begin(self, auto: bool) -> None:
        self.life = Life(auto_commit=auto)
        self.life.log = FullDisk(self.life)
        self.session = self.life.begin()
        self.number = 0
        self.asked = 0
        self.told: list[Any] = []
        self.acknowledged: set[str] = set()
        self.discarded: set[str] = set()

    def next_step(self, topic: str) -> tuple[str, str]:
        self.number += 1
        return f"{topic} {self.number}", f"{topic} goes on"

    def held(self) -> set[str]:
        return {step.observation for step in self.session.steps}

    @property
    def state(self) -> SessionState | None:
        return None if self.session.is_over else self.session.state

    # --- requests

    @precondition(lambda self: not self.life.errands.waiting)
    @rule(topics=st.lists(st.sampled_from(TOPICS), min_size=1, max_size=4))
    def append(self, topics: list[str]) -> None:
        """Append steps; no call may be waiting, as no thread would take it first."""
        for topic in topics:
            step, state = self.next_step(topic), self.state
            try:
                self.session.append(*step)
            except PieriaError as problem:
                self.check_refused("append", state, problem)
            else:
                assert state is SessionState.COLLECTING
                self.acknowledged.add(step[0])

    @rule(topic=st.sampled_from(TOPICS))
    def append_async(self, topic: str) -> None:
        self.call_async("append", *self.next_step(topic))

    @rule(operation=OPERATIONS)
    def ask(self, operation: str) -> None:
        state, held = self.state, self.held()
        try:
            getattr(self.session, operation)(*ARGUMENTS.get(operation, ()))
        except PieriaError as problem:
            self.check_refused(operation, state, problem)
        else:
            assert state is not None
            wanted = WAITED[operation][STATES.index(state)]
            assert self.session.state.name == wanted or (operation, self.session.state) == ("close", "idle")
            if operation == "discard":
                self.discarded |= held - self.in_graph()

    @rule(operation=OPERATIONS)
    def ask_async(self, operation: str) -> None:
        self.call_async(operation, *ARGUMENTS.get(operation, ()))

    def call_async(self, operation: str, *arguments: str) -> None:
        held = self.held()

        def hear(outcome: object) -> None:
            self.told.append(outcome)
            if outcome == "appended":
                self.acknowledged.add(arguments[0])
            elif outcome == "discarded":
                self.discarded |= held - self.in_graph()

        self.asked += 1
        try:
            getattr(self.session, f"{operation}_async")(*arguments, hear)
        except (SessionError, NotFoundError):
            assert operation != "append" or self.session.is_over
            self.asked -= 1

    def check_refused(self, operation: str, state: SessionState | None, problem: PieriaError) -> None:
        if state is None:
            assert isinstance(problem, NotFoundError)
        elif isinstance(problem, SessionError):
            wanted = WAITED[operation][STATES.index(state)]
            assert problem.reason in {wanted, "session_stopping"} or (operation in TOO_SOON and problem.reason in BUSY)
        else:
            assert problem is DOWN

    # --- background work

    @precondition(lambda self: self.life.extractions.waiting)
    @rule(data=st.data())
    def draw(self, data: st.DataObject) -> None:
        waiting = self.life.extractions.waiting
        waiting.pop(data.draw(st.integers(0, len(waiting) - 1)))()

    @precondition(lambda self: self.life.errands.waiting)
    @rule()
    def run_an_errand(self) -> None:
        self.life.errands.waiting.pop(0)()

    @rule()
    def run(self) -> None:
        self.life.run()

    @precondition(lambda self: self.state is not None)
    @rule(last=st.sampled_from(["commit", "discard"]))
    def come_to_rest(self, last: str) -> None:
        self.life.run()
        if self.state is SessionState.COLLECTING:
            self.ask("close")
            self.life.run()
        if self.state in (SessionState.READY, SessionState.FAILED):
            self.ask(last)
            self.life.run()
        if self.state is SessionState.IDLE:
            self.ask("start_episode")

    @rule(milliseconds=st.sampled_from([1_000, 120_000, 600_000]))
    def wait(self, milliseconds: int) -> None:
        self.life.timers.wait(milliseconds)

    @rule(kind=KINDS)
    def fail(self, kind: str) -> None:
        self.life.mind.fails(kind, DOWN)

    @rule(write=st.sampled_from(["step", "withdraw", "keep", "commit", "end"]))
    def fill_the_disk(self, write: str) -> None:
        self.life.log.failing.append(write)

    @precondition(lambda self: not self.session.is_over)
    @rule()
    def crash(self) -> None:
        """Replace the process; its waiting callers are gone as well."""
        self.life.anew()
        self.asked = len(self.told)
        self.session = self.life.resume(self.session.id)

    @precondition(lambda self: self.session.is_over)
    @rule()
    def begin_another(self) -> None:
        self.life.log.failing.clear()
        self.session = self.life.begin()

    # --- invariants

    def in_graph(self) -> set[str]:
        return set(self.life.steps())

    @invariant()
    def every_step_is_somewhere_and_nothing_is_there_twice(self) -> None:
        if not hasattr(self, "life"):
            return
        found = Counter(node.observation for node in self.life.nodes("episodic"))  # type: ignore[attr-defined]
        assert set(found.values()) <= {1}
        assert set(Counter(self.life.facts()).values()) <= {1}
        assert self.acknowledged <= set(found) | self.held() | self.discarded
        assert not self.discarded & set(found)

    @invariant()
    def every_transition_is_legal(self) -> None:
        if hasattr(self, "life"):
            assert all(new in LEGAL[old] for old, new in self.life.transitions())

    def teardown(self) -> None:
        if hasattr(self, "life"):
            self.life.mind.faults.clear()
            self.life.log.failing.clear()
            self.life.run()
            assert len(self.told) == self.asked


TestSessionLife = SessionLife.TestCase
TestSessionLife.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)
