"""`kill -9` on a mine at random moments: the next run gives the same result as an undisturbed one, without doubles."""

import json
import random
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import working
from tests.mining import written

import pieria
from pieria import Bank
from pieria.mining import mine, watch
from pieria.mining import miner as mining


def mine_until_killed(pipe: Connection, folder: str, path: str, batch: int) -> None:
    mining.BATCH = batch
    with pieria.open("mined", data=folder) as bank:
        pipe.send("begun")
        mine(bank, path, conversations=True)
        pipe.send("done")


def log(path: Path, turns: int) -> None:
    """Write a session that repeats its texts, so that texts do not identify turns."""
    lines = []
    for number in range(1, turns + 1):
        kind = "user" if number % 2 else "assistant"
        said = f"Step {number % 7} of the move to the new queue."
        content = said if kind == "user" else [{"type": "text", "text": said}]
        lines.append(written.claude_code_line(1, kind, content, uuid=f"{path.stem}-{number}", sessionId=path.stem))
    written.lines(path, lines)


def told(bank: Bank) -> list[tuple[str, str, str | None, int | None]]:
    found, cursor = [], None
    while True:
        page = bank.list(kinds="turn", limit=1_000, cursor=cursor)
        found += [(turn.id, turn.text, turn.session, turn.sequence) for turn in page]
        cursor = page.cursor
        if cursor is None:
            return sorted(found)


@pytest.mark.parametrize(("rounds", "turns"), [(8, 150), pytest.param(80, 1_500, marks=pytest.mark.slow)])
def test_a_killed_mine_is_taken_up_and_nothing_is_lost_or_there_twice(tmp_path: Path, rounds: int, turns: int) -> None:
    chance = random.Random(rounds)
    logs = tmp_path / "logs"
    for number in range(4):
        log(logs / f"session-{number}.jsonl", turns)
    with closing(pieria.open("whole", data=tmp_path / "whole")) as bank:
        mine(bank, logs, conversations=True)
        whole = told(bank)
    assert len(whole) == 4 * turns
    folder, begun_anew, midway = tmp_path / "killed", 0, 0
    for number in range(rounds):
        with working(mine_until_killed, str(folder / str(begun_anew)), str(logs), 20) as miner:
            assert miner.receive() == "begun"
            finished = miner.pipe.poll(chance.random() * 0.25)
            miner.process.kill()
        with closing(pieria.open("mined", data=folder / str(begun_anew))) as bank:
            assert bank.doctor().well
            there = bank.count()
            midway += 0 < there < len(whole)
            assert set(told(bank)) <= set(whole)
            if finished or number == rounds - 1:
                report = mine(bank, logs, conversations=True)
                assert report.well
                assert told(bank) == whole
                assert set(mine(bank, logs, conversations=True).memories) == {"unchanged"}
                begun_anew += 1
    assert midway > 0


def watch_until_killed(pipe: Connection, folder: str, path: str) -> None:
    with pieria.open("mined", data=folder) as bank:
        for report in watch(bank, path, wait=lambda: bool(pipe.recv()), conversations=True):
            pipe.send(json.dumps(report.as_dict()["memories"]))


def test_two_who_mine_the_same_at_once_bring_it_in_once(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for number in range(3):
        log(logs / f"session-{number}.jsonl", 200)
    folder = str(tmp_path / "data")
    with (
        working(mine_until_killed, folder, str(logs), 20) as one,
        working(mine_until_killed, folder, str(logs), 33) as two,
    ):
        for miner in (one, two):
            assert miner.receive() == "begun"
        for miner in (one, two):
            assert miner.receive() == "done"
            miner.finish()
    with closing(pieria.open("mined", data=folder)) as bank:
        assert bank.count() == 600
        assert len(bank.changes()) < 120
        assert bank.doctor().well


def test_a_watch_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", str(tmp_path / "data")
    log(logs / "session-0.jsonl", 40)
    with working(watch_until_killed, folder, str(logs)) as watcher:
        assert json.loads(watcher.receive()) == {"new": 40}
        watcher.process.kill()
    log(logs / "session-1.jsonl", 10)
    with working(watch_until_killed, folder, str(logs)) as watcher:
        assert json.loads(watcher.receive()) == {"new": 10, "unchanged": 40}
        log(logs / "session-2.jsonl", 5)
        watcher.pipe.send(False)
        assert json.loads(watcher.receive()) == {"new": 5, "unchanged": 50}
        watcher.pipe.send(True)
        watcher.finish()
