"""The contract of session logs, run on every log."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest
from tests.bank.kept import Kept

from pieria.bank.sessions.log import BankLog
from pieria.errors import InputError, NotFoundError, SessionError
from pieria.graph import Changeset, GraphBackend, InMemoryBackend, Semantic
from pieria.learning.steps import Step
from pieria.sessions.log import MemoryLog, SessionLog, UnfinishedSession

FRESH = UnfinishedSession("session_AAAAAAAAAAA", "trips", "Plan the trip", "collecting", {"id": "ep_1"})
RAW = Step(0, "User wants Tokyo in March", "Asked about dates")
JUDGED = replace(
    RAW, subgoal="Settle when to go", state="No dates yet", reward=0.5, embedding=(0.6, 0.8), trajectory_id="traj_1"
)
FACT = Changeset([Semantic(id="sem_1", proposition="The user wants Tokyo in March")])
BROKEN = FACT.add_node(Semantic(id="", proposition="A fact has an id"))


class Logs(NamedTuple):
    log: SessionLog
    graph: GraphBackend

    @property
    def facts(self) -> list[str]:
        return [node.id for node in self.graph.get_nodes_by_type(["semantic"])]


@pytest.fixture(params=["memory", "folder", "served"])
def logs(request: pytest.FixtureRequest) -> Iterator[Logs]:
    if request.param == "memory":
        graph = InMemoryBackend()
        yield Logs(MemoryLog(graph.apply_changeset), graph)
        return
    kept: Kept = request.getfixturevalue(request.param)
    with kept.opened("trips") as bank:
        yield Logs(BankLog(bank), bank.graph)


def test_session_and_steps_come_back_as_they_were_kept(logs: Logs) -> None:
    log = logs.log
    assert log.begin(FRESH) == FRESH
    assert log.step(FRESH, RAW) == RAW
    assert log.load(FRESH.id) == (FRESH, [RAW])
    grown = replace(FRESH, episode={"id": "ep_1", "current_trajectory_id": "traj_1"})
    assert log.step(grown, JUDGED) == JUDGED
    assert log.load(FRESH.id) == (grown, [JUDGED])
    failed = replace(grown, state="failed", committed=(0,), reason="no model answered", waiting=(FACT,))
    assert UnfinishedSession.from_dict(failed.as_dict()) == log.keep(failed) == failed
    assert (log.load(FRESH.id), log.kept()) == ((failed, [JUDGED]), [failed])
    for index in (11, 2):
        log.step(failed, replace(RAW, index=index))
    assert log.load(FRESH.id) == (failed, [JUDGED, replace(RAW, index=2), replace(RAW, index=11)])
    log.withdraw(failed, 2)
    assert log.load(FRESH.id) == (failed, [JUDGED, replace(RAW, index=11)])
    # Without an episode a session has no steps.
    idle = replace(FRESH, state="idle", episode=None)
    log.keep(idle)
    assert log.load(FRESH.id) == (idle, [])


def test_commit_writes_knowledge_and_session_or_neither(logs: Logs) -> None:
    log = logs.log
    log.begin(FRESH)
    steps = [replace(JUDGED, index=index) for index in (0, 1)]
    for step in steps:
        log.step(FRESH, step)
    with pytest.raises(InputError):
        log.commit(replace(FRESH, committed=(0,)), BROKEN, forget=[0])
    assert (log.load(FRESH.id), logs.facts) == ((FRESH, steps), [])
    after = replace(FRESH, committed=(0, 1))
    log.commit(after, FACT, forget=[0])
    assert (log.load(FRESH.id), logs.facts) == ((after, steps[1:]), ["sem_1"])
    idle = replace(FRESH, state="idle", episode=None)
    log.commit(idle, Changeset())
    assert log.load(FRESH.id) == (idle, [])


def test_session_is_held_by_one_until_nothing_is_left(logs: Logs) -> None:
    log = logs.log
    log.begin(FRESH)
    log.step(FRESH, RAW)
    with pytest.raises(SessionError, match="another process") as refused:
        log.hold(FRESH.id)
    assert refused.value.reason == "held_elsewhere"
    log.release(FRESH.id)
    log.hold(FRESH.id)
    log.end(FRESH.id)
    assert (log.load(FRESH.id), log.kept()) == (None, [])
    uses: list[Callable[[], object]] = [
        lambda: log.hold(FRESH.id), lambda: log.release(FRESH.id), lambda: log.step(FRESH, RAW),
        lambda: log.withdraw(FRESH, 0), lambda: log.keep(FRESH), lambda: log.commit(FRESH, FACT),
        lambda: log.end(FRESH.id),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(NotFoundError, match=FRESH.id):
            use()
    assert logs.facts == []
