"""Many processes on one bank on a server: kills and lost connections lose no acknowledged write."""

import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import Worker, working
from tests.servers import own_server

import pieria
from pieria.bank import Bank
from pieria.errors import PieriaError

HOUSE = "house"
"""The bank that all processes of the crowd share."""


def _line(file: int, told: object) -> None:
    """Write a line in one call, so that a killed process leaves a whole line or none."""
    os.write(file, json.dumps(told).encode() + b"\n")


def _opened(book: str) -> int:
    return os.open(book, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _lines(path: Path) -> Iterator[Any]:
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def write_on(pipe: Connection, data: str, book: str, name: str) -> None:
    """Write until told to stop. Note each acknowledged write in the book."""
    chance = random.Random()
    file = _opened(book)
    number = sum(1 for _ in _lines(Path(book)))
    mine: list[str] = []
    with pieria.open(HOUSE, data=data) as bank:
        pipe.send("begun")
        while not pipe.poll():
            number += 1
            text = f"{name} wrote line {number} at {time.monotonic_ns()}"
            mine.append(bank.remember(text, tags=[name]).id)
            _line(file, ["kept", mine[-1], text])
            if chance.random() < 0.2:
                changed = mine.pop(chance.randrange(len(mine)))
                again = f"{name} wrote over {changed} at {time.monotonic_ns()}" if chance.random() < 0.5 else None
                _line(file, ["changing", changed, again])
                if again:
                    bank.update(changed, text=again)
                else:
                    bank.remove(changed)
                _line(file, ["kept", changed, again])


def read_on(pipe: Connection, data: str, book: str, _: str) -> None:
    """Note the number of every change, and continue after the last noted one."""
    file = _opened(book)
    since = max(_lines(Path(book)), default=0)
    with pieria.open(HOUSE, data=data) as bank:
        pipe.send("begun")
        while True:
            changes = bank.changes(since, 500)
            for change in changes:
                _line(file, change.seq)
                since = change.seq
            for id in changes[-1].ids if changes else ():
                bank.get(id)
            if not changes and pipe.poll():
                return
            if not changes:
                bank.wait(since, 0.05)


class Crowd:
    """Writers and readers in separate processes. A killed one is replaced."""

    def __init__(self, data: str, folder: Path, writers: int, readers: int) -> None:
        self.data = data
        self.folder = folder
        self.work = {f"writer{n}": write_on for n in range(writers)} | {f"reader{n}": read_on for n in range(readers)}

    def run(self, kills: int) -> None:
        with ExitStack() as stack:
            at_work = {name: self._begun(stack, name) for name in self.work}
            for _ in range(kills):
                name = random.choice(list(at_work))
                at_work[name].process.join(0.5)
                at_work[name].kill()
                at_work[name] = self._begun(stack, name)
            for what in ("writer", "reader"):
                _finish([worker for name, worker in at_work.items() if name.startswith(what)])

    def _begun(self, stack: ExitStack, name: str) -> Worker:
        worker = stack.enter_context(working(self.work[name], self.data, str(self.book(name)), name))
        assert worker.receive() == "begun"
        return worker

    def book(self, name: str) -> Path:
        return self.folder / f"{name}.book"


def _finish(workers: list[Worker]) -> list[Any]:
    """Tell the processes to end, and return the last message of each."""
    for worker in workers:
        worker.pipe.send("end")
    return [worker.finish()[-1:] for worker in workers]


def check_books(crowd: Crowd, bank: Bank) -> int:
    """Check that every acknowledged write is there. Return the number of memories checked."""
    seqs = [change.seq for change in bank.changes()]
    assert seqs == list(range(1, len(seqs) + 1))
    told: dict[str, list[tuple[str, str | None]]] = {}
    for name in crowd.work:
        if name.startswith("reader"):
            assert list(_lines(crowd.book(name))) == seqs, name
            continue
        for what, id, text in _lines(crowd.book(name)):
            told.setdefault(id, []).append((what, text))
    for id, said in told.items():
        memory = bank.get(id)
        # Where the process died before the acknowledgement, either value is right.
        allowed = [text for _, text in said[-2:]] if said[-1][0] == "changing" else [said[-1][1]]
        assert (memory and memory.text) in allowed, (id, said, memory)
    return len(told)


@pytest.mark.slow
def test_kills_lose_no_write_and_readers_miss_no_change(bare_database: str, tmp_path: Path) -> None:
    crowd, kills = Crowd(bare_database, tmp_path, writers=3, readers=2), 10
    crowd.run(kills)
    with pieria.open(HOUSE, data=crowd.data) as bank:
        assert check_books(crowd, bank) > kills
        diagnosis = bank.doctor()
        assert diagnosis.well, diagnosis.as_dict()


def write_through(pipe: Connection, data: str, book: str, name: str) -> None:
    """Write and recall while the server fails. Only retryable errors are allowed."""
    file = _opened(book)
    number = refused = 0
    pause = threading.Event()
    with pieria.open(HOUSE, data=data) as bank:
        pipe.send("begun")
        while not pipe.poll():
            number += 1
            text = f"{name} wrote line {number}"
            try:
                bank.remember(text, id=f"{name}-{number}")
                _line(file, [f"{name}-{number}", text])
                assert bank.recall(text, k=1)
            except PieriaError as problem:
                assert problem.retryable and problem.hint, problem
                refused += 1
                pause.wait(0.02)
        bank.remember(f"{name} is done", id=f"{name}-done")
        pipe.send(refused)


@pytest.mark.slow
@pytest.mark.usefixtures("durable")
def test_restarts_of_the_server_cost_only_new_tries(tmp_path: Path) -> None:
    names = [f"writer{number}" for number in range(4)]
    pause = threading.Event()
    with own_server() as server, ExitStack() as stack:
        data = server.url
        at_work = [stack.enter_context(working(write_through, data, str(tmp_path / name), name)) for name in names]
        for worker in at_work:
            assert worker.receive() == "begun"
        for number in range(3):
            pause.wait(0.7)
            server.restart("immediate" if number % 2 else "fast")
        pause.wait(0.7)
        assert any(refused for [refused] in _finish(at_work))
        with pieria.open(HOUSE, data=data) as bank:
            for name in names:
                assert bank.get(f"{name}-done") is not None
                for id, text in _lines(tmp_path / name):
                    memory = bank.get(id)
                    assert memory is not None and memory.text == text, id
            assert bank.doctor().well
