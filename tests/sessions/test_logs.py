"""The contract of session logs, run on every log."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest
from tests.bank.kept import Kept as Place

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


@pytest.fixture(params=["memory", "folder", "served"])
def logs(request: pytest.FixtureRequest) -> Iterator[Logs]:
    if request.param == "memory":
        graph = InMemoryBackend()
        yield Logs(MemoryLog(graph.apply_changeset), graph)
        return
    kept: Place = request.getfixturevalue(request.param)
    with kept.opened("trips") as bank:
        yield Logs(BankLog(bank), bank.graph)


def test_a_session_comes_back_as_it_was_kept(logs: Logs) -> None:
    assert logs.log.begin(FRESH) == FRESH
    assert logs.log.step(FRESH, RAW) == RAW
    assert logs.log.load(FRESH.id) == (FRESH, [RAW])
    grown = replace(FRESH, episode={"id": "ep_1", "current_trajectory_id": "traj_1"})
    assert logs.log.step(grown, JUDGED) == JUDGED
    assert logs.log.load(FRESH.id) == (grown, [JUDGED])
    failed = replace(grown, state="failed", committed=(0,), reason="no model answered", waiting=(FACT,))
    assert logs.log.keep(failed) == failed
    assert logs.log.load(FRESH.id) == (failed, [JUDGED])
    assert logs.log.kept() == [failed]


def test_a_kept_session_is_the_same_in_json() -> None:
    kept = replace(FRESH, committed=(0, 1), waiting=(FACT,), reason="no model answered")
    assert UnfinishedSession.from_dict(kept.as_dict()) == kept
    assert UnfinishedSession.from_dict(FRESH.as_dict()) == FRESH


def test_steps_come_back_in_their_order_whatever_their_number(logs: Logs) -> None:
    logs.log.begin(FRESH)
    for index in (11, 2, 0):
        logs.log.step(FRESH, replace(RAW, index=index))
    found = logs.log.load(FRESH.id)
    assert found is not None
    assert [step.index for step in found[1]] == [0, 2, 11]


def test_of_a_refused_step_nothing_stays(logs: Logs) -> None:
    logs.log.begin(FRESH)
    logs.log.step(FRESH, RAW)
    logs.log.withdraw(FRESH, 0)
    assert logs.log.load(FRESH.id) == (FRESH, [])


def test_knowledge_is_committed_with_what_the_session_says_of_it(logs: Logs) -> None:
    logs.log.begin(FRESH)
    for index in (0, 1):
        logs.log.step(FRESH, replace(JUDGED, index=index))
    after = replace(FRESH, committed=(0, 1))
    logs.log.commit(after, FACT, forget=[0])
    assert logs.log.load(FRESH.id) == (after, [replace(JUDGED, index=1)])
    assert [node.id for node in logs.graph.get_nodes_by_type(["semantic"])] == ["sem_1"]


def test_knowledge_that_cannot_be_written_leaves_the_session_as_it_was(logs: Logs) -> None:
    logs.log.begin(FRESH)
    logs.log.step(FRESH, JUDGED)
    with pytest.raises(InputError):
        logs.log.commit(replace(FRESH, committed=(0,)), BROKEN, forget=[0])
    assert logs.log.load(FRESH.id) == (FRESH, [JUDGED])
    assert logs.graph.get_nodes_by_type(["semantic"]) == []


def test_without_an_episode_a_session_has_no_steps(logs: Logs) -> None:
    idle = replace(FRESH, state="idle", episode=None)
    logs.log.begin(FRESH)
    logs.log.step(FRESH, JUDGED)
    logs.log.keep(idle)
    assert logs.log.load(FRESH.id) == (idle, [])
    logs.log.step(FRESH, JUDGED)
    logs.log.commit(idle, FACT)
    assert logs.log.load(FRESH.id) == (idle, [])


def test_a_session_is_held_by_one(logs: Logs) -> None:
    logs.log.begin(FRESH)
    with pytest.raises(SessionError, match="another process") as refused:
        logs.log.hold(FRESH.id)
    assert refused.value.reason == "held_elsewhere"
    logs.log.release(FRESH.id)
    logs.log.hold(FRESH.id)


def test_of_a_session_that_is_over_nothing_is_left(logs: Logs) -> None:
    logs.log.begin(FRESH)
    logs.log.step(FRESH, RAW)
    logs.log.end(FRESH.id)
    assert logs.log.load(FRESH.id) is None
    assert logs.log.kept() == []
    for use in (
        lambda: logs.log.hold(FRESH.id),
        lambda: logs.log.release(FRESH.id),
        lambda: logs.log.step(FRESH, RAW),
        lambda: logs.log.withdraw(FRESH, 0),
        lambda: logs.log.keep(FRESH),
        lambda: logs.log.commit(FRESH, FACT),
        lambda: logs.log.end(FRESH.id),
    ):
        with pytest.raises(NotFoundError, match=FRESH.id):
            use()
    assert logs.graph.get_nodes_by_type(["semantic"]) == []
