"""Many sessions, a model that fails at random, and a process killed again and again.

Nothing is lost, nothing is learnt twice, and nothing is paid for twice.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from tests.durability.processes import working
from tests.sessions.many import BANK, TAG, TURN, Known, Plan, fact, live, observation, workspace

from pieria.sessions.state import SessionState

LIVING = "SELECT c.text FROM state s JOIN content c ON c.row = s.row WHERE s.kind = ? AND s.known_until > 1 << 62"


def texts(plan: Plan, kind: str) -> list[str]:
    with closing(sqlite3.connect(f"file:{plan.folder}/data/{BANK}.db?mode=ro", uri=True)) as database:
        return [text for (text,) in database.execute(LIVING, (kind,))]


def lived(plan: Plan) -> list[str]:
    return [tag for text in texts(plan, "episodic") for tag, _ in TAG.findall(text)]


def noted(plan: Plan) -> list[tuple[str, list[str]]]:
    lines = [line.split(" ") for line in Path(f"{plan.folder}/notes.txt").read_text().splitlines()]
    return [(what, tags) for what, *tags in lines]


def run_and_kill(plan: Plan, run: int, known: Known, after: int | None) -> None:
    """Kill the process after it has sent `after` messages."""
    with working(live, plan, run, known) as worker:
        for _ in count() if after is None else range(after):
            said = worker.receive()
            if said[0] == "done":
                worker.finish()
                return
            known.hear(said)
        for said in worker.kill():
            known.hear(said)


def trajectories(plan: Plan) -> Iterator[list[str]]:
    for number in range(plan.sessions):
        for start in range(0, plan.steps, TURN):
            yield [f"{number}:{index}" for index in range(start, min(start + TURN, plan.steps))]


def is_kept(plan: Plan, known: Known) -> None:
    """Every acknowledged step is in the graph or in the log, and every session is in a legal state."""
    there = set(lived(plan))
    with workspace(plan, 10_000) as opened:
        assert {each.state for each in opened.sessions(BANK)} <= set(SessionState)
        for number, steps in known.steps.items():
            missing = {f"{number}:{index}" for index in range(steps)} - there
            if missing:
                logged = opened._repository(BANK).sessions()._log.load(known.ids[number])
                assert logged is not None
                assert missing <= {tag for step in logged[1] for tag, _ in TAG.findall(step.observation)}


def lives_through_kills(plan: Plan, kills: int, seed: str) -> None:
    chance, known = random.Random(seed), Known()
    said = plan.sessions * (plan.steps + 2)
    finished: list[tuple[int, set[str]]] = []
    for run in range(kills):
        left = said - len(known.ids) - sum(known.steps.values()) - len(known.ended)
        run_and_kill(plan, run, known, max(1, min(left - 1, int(said / kills * chance.uniform(0.3, 1.3)))))
        finished.append((len(noted(plan)), set(lived(plan))))
        is_kept(plan, known)
    run_and_kill(plan, kills, known, None)
    nothing_is_lost_or_twice(plan, known)
    nothing_is_paid_twice(plan, finished)


def nothing_is_lost_or_twice(plan: Plan, known: Known) -> None:
    assert known.ended == set(range(plan.sessions))
    wanted = [observation(number, index) for number in range(plan.sessions) for index in range(plan.steps)]
    assert sorted(text.partition(" → ")[0] for text in texts(plan, "episodic")) == sorted(wanted)
    assert sorted(texts(plan, "source")) == sorted(wanted)
    assert Counter(texts(plan, "semantic")) == Counter(map(fact, trajectories(plan)))
    with workspace(plan, 10_000) as opened:
        standing = opened.sessions(BANK)
        assert {each.id for each in standing} >= set(known.ids.values())
        # A session that began just before the kill, and never reported its id, has nothing to lose.
        assert {each.state for each in standing if each.id in known.ids.values()} == {SessionState.IDLE}
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
    lives_through_kills(Plan(str(tmp_path), 200, 10), kills=8, seed="many")
