"""Several processes over one bank: one process holds a session at a time, and its lease limits a lost one."""

from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from threading import Event

import pytest
from tests.bank.kept import Kept
from tests.durability.processes import working

from pieria import Workspace
from pieria.errors import SessionError

LEASE = 60


def opened(kept: Kept, ahead: float = 0, lease: float = LEASE) -> Workspace:
    settings = {**kept.settings, "session_lease": lease}
    workspace = Workspace(kept.data, settings, clock=lambda: datetime.now(UTC) + timedelta(seconds=ahead))
    workspace.open_repo("trips")
    return workspace


def begin(pipe: Connection, kept: Kept, lease: float = LEASE) -> None:
    """Begin a session, and hold it until the process is killed or gets a message."""
    workspace = opened(kept, lease=lease)
    id = workspace.start_session("Plan the trip", "trips")
    workspace.append(id, "The user wants Tokyo in March", "Asked about dates")
    pipe.send(id)
    pipe.recv()


def take(pipe: Connection, kept: Kept, id: str) -> None:
    """Take up a session if it is free, and hold it until a message arrives."""
    with opened(kept, ahead=LEASE) as workspace:
        pipe.recv()
        try:
            steps = len(workspace.session(id).steps)
        except SessionError as problem:
            pipe.send(problem.reason)
        else:
            pipe.send(steps)
        pipe.recv()


@pytest.mark.parametrize("where", ["folder", pytest.param("served", marks=pytest.mark.slow)])
def test_session_of_a_killed_process_is_taken_up_once(request: pytest.FixtureRequest, where: str) -> None:
    kept: Kept = request.getfixturevalue(where)
    with working(begin, kept) as lost:
        id = lost.receive()
        with opened(kept) as here, pytest.raises(SessionError) as refused:
            here.append(id, "The user waits", "Said so")
        assert refused.value.reason == "held_elsewhere"
    with working(take, kept, id) as one, working(take, kept, id) as other:
        for worker in (one, other):
            worker.pipe.send("now")
        assert sorted([one.receive(), other.receive()], key=str) == [1, "held_elsewhere"]
        for worker in (one, other):
            worker.pipe.send("end")
            worker.finish()
    with opened(kept) as later:
        later.close_and_commit(id)
        assert len(later.get_nodes_by_type("trips", ["episodic"])) == 1


def signed(workspace: Workspace) -> dict[str, int]:
    with workspace.open("trips").core.reading() as reader:
        return reader.records("sessions.holders")


@pytest.mark.slow
def test_living_process_keeps_its_idle_session(folder: Kept) -> None:
    with working(begin, folder, 1) as living:
        living.receive()
        with opened(folder) as here:
            bank = here.open("trips")
            first, seq = signed(here), bank.changes()[-1].seq
            pause = Event()
            while signed(here) == first:
                pause.wait(0.05)
            assert not bank.changes(since=seq), "nobody has to hear of it"
        living.pipe.send("end")
