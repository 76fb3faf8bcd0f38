"""Many sessions at once in a process that is killed, with a model that fails at random.

Each session takes its steps in order and reports the acknowledged ones. A file holds what the model was asked and what
was committed, in order.
"""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import Any

from pieria import Config, Event, LLMResponse, Session, SessionState, Workspace
from pieria.errors import AdapterError, PieriaError

TOPICS = ("bread", "ships", "stars", "tea")
TURN = 5
"""Steps about one topic before the next topic."""
FAILING = 0.2
"""The share of the model's calls that fail."""
AT_ONCE = 8
BANK = "many"
TAG = re.compile(r"Step (\d+:\d+) about (\w+)")
CONFIG = Config(
    llm={"model": "none"}, embedding={"model": "none"}, session={"flush_timeout_ms": None, "session_timeout_ms": None}
)


@dataclass(frozen=True)
class Plan:
    folder: str
    sessions: int
    steps: int


def topic_of(index: int) -> str:
    return TOPICS[index // TURN % len(TOPICS)]


def observation(number: int, index: int) -> str:
    return f"Step {number}:{index} about {topic_of(index)}"


def fact(tags: Sequence[str]) -> str:
    """Return the fact that a trajectory teaches."""
    return f"Learnt from {' '.join(tags)}"


def embedded(texts: Sequence[str]) -> list[list[float]]:
    return [[float(topic in text) for topic in TOPICS] + [0.1] for text in texts]


class Notes:
    """A file that several threads append lines to. An appended line survives the end of the process."""

    def __init__(self, plan: Plan) -> None:
        self._file = os.open(f"{plan.folder}/notes.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, what: str, tags: Sequence[str]) -> None:
        os.write(self._file, f"{what} {' '.join(tags)}\n".encode())


class Failing:
    """A model that recognises trajectories by their tags, and fails at random."""

    def __init__(self, notes: Notes, seed: int) -> None:
        self._notes = notes
        self._chance = random.Random(seed)
        self._lock = threading.Lock()

    def chat(self, messages: Sequence[Mapping[str, str]], opts: Any = None) -> LLMResponse:
        self._may_fail()
        return LLMResponse("0.75, so far so good", "failing", {})

    def chat_structured(self, messages: Sequence[Mapping[str, str]], schema: Any, opts: Any = None) -> LLMResponse:
        found = TAG.findall(messages[-1]["content"])
        reply: dict[str, Any] = {name: [] for name in schema["properties"]}
        if "facts" in reply:
            tags = [tag for tag, _ in found]
            self._notes.add("asked", tags)
            number = tags[0].partition(":")[0]
            reply["facts"] = [
                {"proposition": fact(tags), "concepts": [f"{found[0][1]} {number}"], "confidence": 1.0, "steps": []}
            ]
        elif "subgoal" in reply:
            reply = {"reasoning": "It was asked for.", "subgoal": f"Know about {found[-1][1]}"}
        self._may_fail()
        return LLMResponse(reply, "failing", {})

    def _may_fail(self) -> None:
        with self._lock:
            fails = self._chance.random() < FAILING
        if fails:
            raise AdapterError("failing", "chat", "it is down")


class Committed:
    """Notes a commit after it is done."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def notify(self, repo_id: str, event: Event) -> None:
        if event.name == "changeset_applied":
            nodes = event.payload["changeset"].additions
            found = [tag for node in nodes if node.node_type == "source" for tag, _ in TAG.findall(node.plain_text)]
            self._notes.add("committed", found)


@dataclass
class Known:
    """What the user of the sessions knows about them."""

    ids: dict[int, str] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    """The number of acknowledged steps, by session."""
    ended: set[int] = field(default_factory=set)

    def hear(self, said: tuple[str, int, Any]) -> None:
        what, number, more = said
        if what == "begun":
            self.ids[number] = more
        elif what == "step":
            self.steps[number] = more
        else:
            self.ended.add(number)


def workspace(plan: Plan, run: int, seed: int = 0) -> Workspace:
    """Open a workspace an hour later in each run, so that no lease of a killed process is waited for."""
    notes = Notes(plan)

    def clock() -> datetime:
        return datetime.now(UTC) + timedelta(hours=run)

    made = Workspace(
        f"{plan.folder}/data",
        {"durability": "off"},
        llm=Failing(notes, seed),
        embedder=embedded,
        notifier=Committed(notes),
        config=CONFIG,
        clock=clock,
    )
    made.open_repo(BANK)
    return made


def live(pipe: Connection, plan: Plan, run: int, known: Known) -> None:
    """Run all sessions to their end, several at once, and report each acknowledged step at once."""
    saying = threading.Lock()

    def say(*what: Any) -> None:
        with saying:
            pipe.send(what)

    with workspace(plan, run, seed=run) as opened, ThreadPoolExecutor(AT_ONCE) as threads:
        numbers = [number for number in range(plan.sessions) if number not in known.ended]
        for ended in [threads.submit(_session, opened, plan, number, known, say) for number in numbers]:
            ended.result()
    say("done", -1, None)


def _session(opened: Workspace, plan: Plan, number: int, known: Known, say: Any) -> None:
    if number in known.ids:
        session = opened.session(known.ids[number])
        steps = _taken_up(session, known.steps.get(number, 0))
    else:
        session = opened.session(opened.start_session(f"Goal {number}", BANK))
        say("begun", number, session.id)
        steps = 0
    if session.state is SessionState.COLLECTING:
        for index in range(steps, plan.steps):
            _until_it_works(session, number, index)
            say("step", number, index + 1)
    _end(session)
    say("ended", number, None)


def _taken_up(session: Session, acknowledged: int) -> int:
    """Return the number of steps once every unjudged step is judged or refused."""
    machine = session._machine
    with machine.changed:
        assert machine.changed.wait_for(lambda: not machine.line.is_busy, 60)
    steps = session.steps
    return max(acknowledged, steps[-1].index + 1 if steps else 0)


def _until_it_works(session: Session, number: int, index: int) -> None:
    for _ in _tries():
        with suppress(AdapterError):
            session.append(observation(number, index), f"Went on with {topic_of(index)}")
            return


def _end(session: Session) -> None:
    for _ in _tries():
        if session.state is SessionState.IDLE:
            return
        with suppress(PieriaError):
            if session.state is SessionState.FAILED:
                session.commit()
            elif session.state is SessionState.COLLECTING:
                session.close_and_commit(max_retries=5)
            session._machine.settled(60)


def _tries() -> Iterator[int]:
    yield from range(1_000)
    raise AssertionError("it never works")
