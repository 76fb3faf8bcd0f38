"""Agents write all at once while the drain is killed again and again: no event is lost or stored twice."""

import random
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.capture.crowd import HIDDEN, SECRET, drain_until_killed, everything, said, speak, trimmed
from tests.capture.making import drained
from tests.durability.processes import working
from tests.trust import trusted_project

import pieria

SESSIONS = ("ash", "birch", "cedar", "elm")


def captured(folder: Path, events: int, kills: int, seed: str) -> None:
    """Capture so many events of each session, and kill so many drains meanwhile. Check the bank afterwards."""
    project, data = folder / "app", folder / "data"
    project.mkdir()
    trusted_project(project, 'bank = "app"\n')
    spool = str(data / "spool")
    chance = random.Random(seed)
    with ExitStack() as stack:
        agents = [stack.enter_context(working(speak, spool, str(project), session, events)) for session in SESSIONS]
        for _ in range(kills):
            with working(drain_until_killed, str(data)) as drain:
                drain.pipe.poll(chance.random() * 0.6)
        for agent in agents:
            agent.finish()
    assert drained(data).refused == 0
    with pieria.open("app", data=data) as bank:
        for session in SESSIONS:
            turns = []
            cursor = None
            while True:
                page = bank.list(kinds="turn", session=session, limit=500, cursor=cursor)
                turns += [trimmed(memory.text) for memory in page]
                cursor = page.cursor
                if cursor is None:
                    break
            assert len(turns) == len(set(turns))
            assert set(turns) == said(session, events)
    held = everything(folder)
    assert SECRET.encode() not in held
    assert HIDDEN.encode() not in held
    assert [path.name for path in (data / "spool").iterdir() if path.suffix in (".jsonl", ".taken", ".at")] == []


def test_a_drain_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    captured(tmp_path, 60, 3, "short")


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_ten_thousand_events_of_four_sessions_survive_ten_killed_drains(tmp_path: Path) -> None:
    captured(tmp_path, 2_500, 10, "long")
