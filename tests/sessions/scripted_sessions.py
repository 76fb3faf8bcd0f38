"""Sessions whose threads and timers a test moves by hand, and scripted minds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from pieria.config import Config
from pieria.errors import AdapterError, PieriaError, SessionError
from pieria.graph import InMemoryBackend, Node
from pieria.learning.models import embedder_of
from pieria.models.mind import Procedure, Proposition, StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.notifier import Event
from pieria.runtime.pool import Pool, Work
from pieria.runtime.timers import Timers
from pieria.sessions import Crew, Session, SessionState, Surroundings
from pieria.sessions.log import MemoryLog

DOWN = AdapterError("model", "chat", "it is down", retryable=True)
TOPICS = ("bread", "ships", "stars", "tea")
SEEN = "It was seen that "
FLUSH, TIMEOUT = 120_000, 600_000


class HandPool(Pool):
    """A pool that runs its jobs in the test's thread when the test calls `run`."""

    def __init__(self) -> None:
        super().__init__("by hand", 1)
        self.waiting: list[Work] = []

    def submit(self, work: Work) -> None:
        self.waiting.append(work)

    def run(self, most: int = 1_000) -> None:
        while self.waiting and most:
            most -= 1
            self.waiting.pop(0)()


class HandTimers(Timers):
    """Timers whose time passes when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.armed: dict[Hashable, tuple[float, Callable[[], object]]] = {}

    def arm(self, key: Hashable, milliseconds: float, ring: Callable[[], object]) -> None:
        self.armed[key] = (self.now + milliseconds, ring)

    def disarm(self, key: Hashable) -> None:
        self.armed.pop(key, None)

    def wait(self, milliseconds: float) -> None:
        until = self.now + milliseconds
        while due := [(when, str(key), key) for key, (when, _) in self.armed.items() if when <= until]:
            self.now, _, key = min(due)
            self.armed.pop(key)[1]()
        self.now = until

    @property
    def names(self) -> set[str]:
        return {key[0] for key in self.armed if isinstance(key, tuple)}


class TellingMind(RuleMind):
    """The first word of an action is its subgoal, and each step teaches its observation.

    `faults` are raised by the calls of a kind, one a call; `within` is called by each call of its kind. `asked` counts
    the questions; a question about knowledge includes the observations that it is drawn from.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[tuple[str, ...]] = Counter()
        self.faults: dict[str, list[BaseException]] = {}
        self.within: dict[str, Callable[[], object]] = {}

    @property
    def name(self) -> str:
        return "telling"

    def state(self, goal: str, observation: str, *, before: str | None = None, action: str | None = None) -> str:
        self._note("state", observation)
        return f"{before or goal}; {observation}"[-200:]

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        self._note("subgoal", observation)
        return action.split(maxsplit=1)[0]

    def reward(self, subgoal: str, observation: str, action: str, outcome: str) -> float:
        self._note("reward", observation)
        return 0.75

    def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
        self._note("propositions", *(step.observation for step in steps))
        return [Proposition(f"{SEEN}{step.observation}.", ("seen",)) for step in steps]

    def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
        self._note("procedures", *(step.observation for step in steps))
        return []

    def count(self, kind: str) -> int:
        return sum(times for (what, *_), times in self.asked.items() if what == kind)

    def fails(self, kind: str, *problems: BaseException) -> None:
        self.faults.setdefault(kind, []).extend(problems)

    def _note(self, kind: str, *about: str) -> None:
        self.asked[(kind, *about)] += 1
        if kind in self.within:
            self.within[kind]()
        if self.faults.get(kind):
            raise self.faults[kind].pop(0)


def embedded(texts: Sequence[str]) -> list[list[float]]:
    """Return vectors: topics have nothing in common, and all other words are alike."""
    return [[float(topic in text) for topic in TOPICS] + [0.1] for text in texts]


@dataclass
class Life:
    """Everything around a session. Jobs for threads wait in `extractions` and `errands`."""

    auto_commit: bool = True
    flush: int | None = FLUSH
    timeout: int | None = TIMEOUT
    mind: TellingMind = field(default_factory=TellingMind)
    backend: InMemoryBackend = field(default_factory=InMemoryBackend)
    log: Any = None
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.backend.init({"repo_id": "kitchen"})
        self.log = self.log or MemoryLog(self.backend.apply_changeset)
        self.anew()

    def anew(self) -> None:
        """Replace the process: the new one finds the graph and the log."""
        self.extractions, self.errands, self.timers = HandPool(), HandPool(), HandTimers()
        self.crew = Crew(extractions=self.extractions, errands=self.errands, timers=self.timers)

    def surroundings(self, log: Any = None, crew: Crew | None = None) -> Surroundings:
        periods = {"flush_timeout_ms": self.flush, "session_timeout_ms": self.timeout}
        settings = {"auto_commit": self.auto_commit, **periods}
        return Surroundings(
            repo="kitchen",
            mind=self.mind,
            embedder=embedder_of(embedded),
            backend=self.backend,
            log=log or self.log,
            crew=crew or self.crew,
            tell=self.events.append,
            config=Config(llm={"model": "none"}, embedding={"model": "none"}, session=settings),
        )

    def begin(self, goal: str = "Bake bread", crew: Crew | None = None) -> Session:
        return Session.begin(goal, self.surroundings(crew=crew))

    def resume(self, id: str) -> Session:
        self.log.release(id)
        return Session.resume(id, self.surroundings())

    def run(self) -> None:
        while self.extractions.waiting or self.errands.waiting:
            self.extractions.run()
            self.errands.run()

    def close(self, session: Session) -> None:
        session.close()
        self.run()

    def commit(self, session: Session) -> None:
        session.commit()
        self.run()

    def wait(self, milliseconds: float) -> None:
        self.timers.wait(milliseconds)
        self.run()

    def told(self, name: str) -> list[dict[str, Any]]:
        return [event.payload for event in self.events if event.name == name]

    def transitions(self) -> list[tuple[str, str]]:
        return [(event["old_state"], event["new_state"]) for event in self.told("session_transition")]

    def nodes(self, kind: str) -> list[Node]:
        return self.backend.get_nodes_by_type([kind])

    def facts(self) -> list[str]:
        return sorted(node.text for node in self.nodes("semantic"))

    def learnt(self) -> list[str]:
        """Return the observations that were learnt from. The mind learns one fact from each."""
        return [fact.removeprefix(SEEN).removesuffix(".") for fact in self.facts()]

    def steps(self) -> dict[str, float | None]:
        return {node.observation: node.reward for node in self.nodes("episodic")}  # type: ignore[attr-defined]


def bake(session: Session, *topics: str) -> None:
    """Append a step for each topic: a topic that differs from the one before begins another trajectory."""
    for topic in topics:
        session.append(f"{topic} {session.steps[-1].index + 1 if session.steps else 0}", f"{topic} goes on")


def start(*topics: str, **settings: Any) -> tuple[Life, Session]:
    """Return a life under these settings and a session in it, with a step for each topic."""
    life = Life(**settings)
    session = life.begin()
    bake(session, *topics)
    return life, session


class Died(Exception):
    """The process ended here."""


class DyingLog:
    """A log whose process ends at a write, before or after it is done. Later writes are dropped."""

    WRITES = frozenset({"begin", "step", "withdraw", "keep", "commit", "end"})

    def __init__(self, log: MemoryLog, calls: int, *, after: bool) -> None:
        self._log = log
        self._left = calls
        self._after = after
        self.calls: list[str] = []

    @property
    def is_dead(self) -> bool:
        return self._left <= 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._log, name)
        return partial(self._written, name, method) if name in self.WRITES else method

    def _written(self, name: str, write: Callable[..., Any], *arguments: Any) -> Any:
        if self._left <= 0:
            raise Died(name)
        self._left -= 1
        self.calls.append(name)
        if not self._left and not self._after:
            raise Died(name)
        written = write(*arguments)
        if not self._left:
            raise Died(name)
        return written


def reason(error: object) -> object:
    assert isinstance(error, PieriaError), error
    return getattr(error, "reason", None)


def refusal(ask: Callable[[], object]) -> SessionError:
    with pytest.raises(SessionError) as refused:
        ask()
    return refused.value


def raising(problem: Exception) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise problem

    return refuse


def in_state(life: Life, state: SessionState) -> Session:
    """Return a session in this state, with a step if the state has an episode."""
    session = life.begin()
    if state is not SessionState.IDLE:
        bake(session, "bread")
    if state is SessionState.FAILED:
        life.mind.fails("propositions", DOWN)
    if state is not SessionState.COLLECTING:
        session.close()
    if state is not SessionState.EXTRACTING:
        life.run()
    if state is SessionState.IDLE and not life.auto_commit:
        session.commit()
    assert session.state is state
    return session
