"""`kill -9` in a session: each acknowledged step is learnt from, and none twice."""

import random
import time
from collections import Counter
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import working

import pieria
from pieria.record.time import system_clock

ROUNDS = 12
MOMENT = 0.15
"""Seconds: a few steps with their extraction."""
SIDES = ("north", "south", "east", "west")
LATER = timedelta(minutes=2)
"""After this time the lease of a killed process has expired."""


def live_until_killed(pipe: Connection, folder: str) -> None:
    """Send each acknowledged step. Every third step changes the subject, so that trajectories end often."""
    with pieria.Workspace(folder) as workspace:
        workspace.open_repo("killed")
        id = workspace.start_session("Look after the house", "killed")
        pipe.send(id)
        number = 0
        while True:
            observation = f"Window {number} of room {number // 3} is open"
            workspace.append(
                id, observation, f"Closed the shutters of {['north', 'south', 'east', 'west'][number // 3 % 4]}"
            )
            pipe.send(observation)
            number += 1


def killed(folder: Path, chance: random.Random) -> tuple[str, list[str]]:
    """Run a session and kill its process. Return the session and the acknowledged steps."""
    with working(live_until_killed, str(folder)) as living:
        id: str = living.receive()
        told = [living.receive()]
        ends = time.monotonic() + chance.random() * MOMENT
        while (left := ends - time.monotonic()) > 0:
            if living.pipe.poll(left):
                told.append(living.receive())
        living.process.kill()
        living.process.join()
        while living.pipe.poll():
            try:
                told.append(living.pipe.recv())
            except EOFError:
                break
    return id, told


@pytest.mark.slow
def test_a_session_survives_its_process(tmp_path: Path) -> None:
    chance = random.Random(11)
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        id, told = killed(folder, chance)
        with pieria.Workspace(folder, clock=lambda: system_clock() + LATER) as workspace:
            workspace.open_repo("killed")
            assert workspace.session_state(id) == "collecting"
            with workspace.session(id) as session:
                session.append("All is shut", "Closed the shutters of the east")
            nodes = workspace.get_nodes_by_type("killed", ["episodic"])
            found = Counter(node.observation for node in nodes)  # type: ignore[attr-defined]
            assert set(told) <= set(found)
            assert set(found.values()) == {1}
            sources = [node.step_index for node in workspace.get_nodes_by_type("killed", ["source"])]  # type: ignore[attr-defined]
            assert sorted(sources) == list(range(len(found)))
