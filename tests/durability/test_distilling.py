"""`kill -9` while a process observes and distils: no event is lost or used twice, and the result is the same."""

import random
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import working
from tests.learning.replay import events

import pieria
from pieria.bank import Bank

pytestmark = pytest.mark.slow
DEATHS = 12
BATCH = 20
LONGEST = 1.5
"""The longest time until a kill, in seconds: about as long as all the work takes."""


def work_until_killed(pipe: Connection, folder: str) -> None:
    pipe.send("begun")
    with pieria.open("killed", data=folder) as bank:
        work(bank)


def work(bank: Bank) -> None:
    day = events("shop")
    for start in range(0, len(day), BATCH):
        bank.observe(day[start : start + BATCH])
    bank.distil()


def kept(bank: Bank) -> list[tuple[str, int, str, object]]:
    return sorted((m.id, m.version, m.text, m.body.get("times", 1)) for m in bank.list(limit=1_000))


def test_a_day_comes_to_the_same_however_often_its_worker_is_killed(tmp_path: Path) -> None:
    chance = random.Random("a day")
    folder = tmp_path / "data"
    for _ in range(DEATHS):
        with working(work_until_killed, str(folder)) as worker:
            worker.receive()
            worker.pipe.poll(chance.random() * LONGEST)
            worker.process.kill()
    with pieria.open("killed", data=folder) as bank, pieria.open("whole", data=folder) as whole:
        work(bank)
        work(whole)
        assert len(kept(whole)) > 50
        assert kept(bank) == kept(whole)
        with bank.core.reading() as reader:
            assert reader.records("events") == reader.records("events.sessions") == {}
