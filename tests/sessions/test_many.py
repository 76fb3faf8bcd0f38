"""Many sessions, a model that fails at random, and a process killed again and again.

Nothing is lost, nothing is learnt twice, and nothing is paid for twice. Each session takes its steps in order and
reports the acknowledged ones. A file holds what the model was asked and what was committed, in order.
"""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import working
from tests.sessions.scripted_sessions import TOPICS, embedded

from pieria import Config, Event, LLMResponse, Session, SessionState, Workspace
from pieria.errors import AdapterError, PieriaError

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


def fact(tag: str) -> str:
    return f"Learnt from {tag}"


class Notes:
    """A file that several threads append lines to. An appended line survives the end of the process."""

    def __init__(self, plan: Plan) -> None:
        self._file = os.open(f"{plan.folder}/notes.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, what: str, tags: Sequence[str]) -> None:
        os.write(self._file, f"{what} {' '.join(tags)}\n".encode())


class Failing:
    """A model that learns one fact from each step, which it knows by its tag, and fails at random."""

    def __init__(self, notes: Notes, seed: int) -> None:
        self._notes = notes
        self._chance = random.Random(seed)
        self._lock = threading.Lock()

    def chat(self, messages: Sequence[Mapping[str, str]], opts: Any = None) -> LLMResponse:
        self._may_fail()
        return LLMResponse("0.75, so far so good", "failing", {})

    def chat_structured(self, messages: Sequence[Mapping[str, str]], schema: Any, opts: Any = None) -> LLMResponse:
        lines = [json.loads(line) for line in messages[-1]["content"].splitlines() if line.startswith('{"step"')]
        found = [(line["step"], *TAG.findall(line["observed"])[0]) for line in lines]
        reply: dict[str, Any] = {name: [] for name in schema["properties"]}
        if "facts" in reply:
            self._notes.add("asked", [tag for _, tag, _ in found])
            reply["facts"] = [
                {"proposition": fact(tag), "concepts": [topic], "confidence": 1.0, "steps": [n]}
                for n, tag, topic in found
            ]
        elif "steps" in reply:
            reply["steps"] = [
                {"step": n, "state": f"At {tag}", "subgoal": f"Know about {topic}", "reward": 0.75}
                for n, tag, topic in found
            ]
        self._may_fail()
        return LLMResponse(reply, "failing", {})

    def _may_fail(self) -> None:
        with self._lock:
            fails = self._chance.random() < FAILING
        if fails:
            raise AdapterError("failing", "chat", "it is down")


class Committed:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def notify(self, repo_id: str, event: Event) -> None:
        if event.name == "changeset_applied":
            nodes = event.payload["changeset"].additions
            found = [tag for node in nodes if node.node_type == "source" for tag, _ in TAG.findall(node.plain_text)]
            self._notes.add("committed", found)


Known = dict[str, dict[int, Any]]
"""What the sessions said, by kind and number: with `begun` comes the id, with `step` the number of steps."""


def workspace(plan: Plan, run: int, seed: int = 0) -> Workspace:
    """Open a workspace an hour later in each run, so that no lease of a killed process is waited for."""
    notes = Notes(plan)

    made = Workspace(
        f"{plan.folder}/data", {"durability": "off"}, llm=Failing(notes, seed), embedder=embedded,
        notifier=Committed(notes), config=CONFIG, clock=lambda: datetime.now(UTC) + timedelta(hours=run),
    )  # fmt: skip
    made.open_repo(BANK)
    return made


def live(pipe: Connection, plan: Plan, run: int, known: Known) -> None:
    """Run all sessions to their end, several at once, and report each acknowledged step at once."""
    saying = threading.Lock()

    def say(*what: Any) -> None:
        with saying:
            pipe.send(what)

    numbers = [number for number in range(plan.sessions) if number not in known["ended"]]
    with workspace(plan, run, seed=run) as opened, ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda number: _session(opened, plan, number, known, say), numbers))
    say("done", -1, None)


def _session(opened: Workspace, plan: Plan, number: int, known: Known, say: Any) -> None:
    if number in known["begun"]:
        session = opened.session(known["begun"][number])
        steps = _taken_up(session, known["step"].get(number, 0))
    else:
        session = opened.session(opened.start_session(f"Goal {number}", BANK))
        say("begun", number, session.id)
        steps = 0
    if session.state is SessionState.COLLECTING:
        for index in range(steps, plan.steps):
            session.append(observation(number, index), f"Went on with {topic_of(index)}")
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


def _end(session: Session) -> None:
    for _ in _tries():
        if session.state is SessionState.IDLE:
            return
        with suppress(PieriaError):
            if session.state is SessionState.FAILED:
                session.commit()
            elif session.state is SessionState.COLLECTING:
                session.close_and_commit(max_retries=5)
            session.wait(60)


def _tries() -> Iterator[int]:
    yield from range(1_000)
    raise AssertionError("it never works")


LIVING = "SELECT c.text FROM state s JOIN content c ON c.row = s.row WHERE s.kind = ? AND s.known_until > 1 << 62"


def texts(plan: Plan, kind: str) -> list[str]:
    with closing(sqlite3.connect(f"file:{plan.folder}/data/{BANK}.db?mode=ro", uri=True)) as database:
        return [text for (text,) in database.execute(LIVING, (kind,))]


def lived(plan: Plan) -> list[str]:
    return [tag for text in texts(plan, "episodic") for tag, _ in TAG.findall(text)]


def noted(plan: Plan) -> list[tuple[str, list[str]]]:
    lines = [line.split(" ") for line in Path(f"{plan.folder}/notes.txt").read_text().splitlines()]
    return [(what, tags) for what, *tags in lines]


def hear(known: Known, said: tuple[str, int, Any]) -> None:
    what, number, more = said
    known[what][number] = more


def run_and_kill(plan: Plan, run: int, known: Known, after: int | None) -> None:
    with working(live, plan, run, known) as worker:
        for _ in count() if after is None else range(after):
            said = worker.receive()
            if said[0] == "done":
                worker.finish()
                return
            hear(known, said)
        for said in worker.kill():
            hear(known, said)


def tags(plan: Plan) -> Iterator[str]:
    return (f"{number}:{index}" for number in range(plan.sessions) for index in range(plan.steps))


def is_kept(plan: Plan, known: Known) -> None:
    """Every acknowledged step is in the graph or in the log, and every session is in a legal state."""
    there = set(lived(plan))
    with workspace(plan, 10_000) as opened:
        assert {each.state for each in opened.sessions(BANK)} <= set(SessionState)
        for number, steps in known["step"].items():
            missing = {f"{number}:{index}" for index in range(steps)} - there
            if missing:
                logged = opened._repository(BANK).sessions()._log.load(known["begun"][number])
                assert logged is not None
                assert missing <= {tag for step in logged[1] for tag, _ in TAG.findall(step.observation)}


def lives_through_kills(plan: Plan, kills: int, seed: str) -> None:
    chance, known = random.Random(seed), Known(begun={}, step={}, ended={})
    said = plan.sessions * (plan.steps + 2)
    finished: list[tuple[int, set[str]]] = []
    for run in range(kills):
        left = said - len(known["begun"]) - sum(known["step"].values()) - len(known["ended"])
        run_and_kill(plan, run, known, max(1, min(left - 1, int(said / kills * chance.uniform(0.3, 1.3)))))
        finished.append((len(noted(plan)), set(lived(plan))))
        is_kept(plan, known)
    run_and_kill(plan, kills, known, None)
    nothing_is_lost_or_twice(plan, known)
    nothing_is_paid_twice(plan, finished)


def nothing_is_lost_or_twice(plan: Plan, known: Known) -> None:
    assert known["ended"].keys() == set(range(plan.sessions))
    wanted = [observation(number, index) for number in range(plan.sessions) for index in range(plan.steps)]
    assert sorted(text.partition(" → ")[0] for text in texts(plan, "episodic")) == sorted(wanted)
    assert sorted(texts(plan, "source")) == sorted(wanted)
    assert Counter(texts(plan, "semantic")) == Counter(fact(tag) for tag in tags(plan))
    with workspace(plan, 10_000) as opened:
        standing = opened.sessions(BANK)
        assert {each.id for each in standing} >= set(known["begun"].values())
        # A session that began just before the kill, and never reported its id, has nothing to lose.
        assert {each.state for each in standing if each.id in known["begun"].values()} == {SessionState.IDLE}
        assert {each.state for each in standing} <= {SessionState.IDLE, SessionState.COLLECTING}


def nothing_is_paid_twice(plan: Plan, finished: list[tuple[int, set[str]]]) -> None:
    """No process asks a model about a step after it was committed."""
    done: set[str] = set()
    later = dict(finished)
    for line, (what, tags) in enumerate(noted(plan)):
        done |= later.get(line, set())
        if what == "asked":
            assert not done.intersection(tags), line
        else:
            done.update(tags)


@pytest.mark.slow
@pytest.mark.timeout(1_500)
def test_sessions_live_through_failures_and_kills(tmp_path: Path) -> None:
    lives_through_kills(Plan(str(tmp_path), 400, 10), kills=12, seed="many")
