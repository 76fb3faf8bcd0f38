"""Many processes on one file: none fails, none loses a write, and each sees acknowledged writes at once."""

import random
import time
from contextlib import ExitStack, closing, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import FORKED, PATIENCE, Worker, working
from tests.durability.verbs import Mix

import pieria
from pieria.bank import Bank

OVER = "over"
LEAST = 6
"""The least number of memories that each process writes, even if it gets little processor time."""


class Member:
    """One process of a crowd. It writes, sends its writes to the others, and checks the writes it receives."""

    def __init__(self, bank: Bank, name: str, others: list[Connection]) -> None:
        self.bank = bank
        self.name = name
        self.others = others
        self.talking: list[Any] = list(others)
        self.chance = random.Random(name)
        self.kept: list[tuple[str, str]] = []
        self.wrote = self.seen = self.number = 0

    def write(self) -> None:
        self.number += 1
        word = f"{self.name}word{self.number}"
        id = self.bank.remember(f"{word} of {self.name}", tags=[self.name]).id
        # A sent memory is never changed again, since others may check it late.
        fate = self.chance.choice(["kept", "kept", "kept", "updated", "removed", "purged"])
        if fate == "updated":
            word += "again"
            self.bank.update(id, text=f"{word} of {self.name}")
        elif fate == "removed":
            self.bank.remove(id)
        elif fate == "purged":
            self.bank.purge(id)
        there = fate in ("kept", "updated")
        if there:
            self.kept.append((id, word))
        self.wrote += 1 if fate == "kept" else 2
        self.tell(id, word, there)

    def tell(self, id: str, word: str, there: bool) -> None:
        for other in self.others:
            with suppress(BrokenPipeError):  # it failed and reports that
                other.send((id, word, there))

    def hear(self, timeout: float) -> int:
        heard = 0
        for other in wait(self.talking, timeout):
            assert isinstance(other, Connection)
            try:
                told = other.recv()
            except (EOFError, ConnectionResetError):  # it failed and reports that
                told = ("", OVER, False)
            if told[1] == OVER:
                self.talking.remove(other)
            else:
                self.check(*told)
                heard += 1
        self.seen += heard
        return heard

    def check(self, id: str, word: str, there: bool) -> None:
        got = self.bank.get(id)
        assert (got is not None) == there, (self.name, id, word, got)
        hits = [hit.memory.id for hit in self.bank.recall(word)]
        assert (id in hits) == there, (self.name, id, word, hits)


def crowd(pipe: Connection, folder: str, name: str, seconds: float, others: list[Connection]) -> None:
    """Write until the time is over, at least `LEAST` times. Then check the remaining messages of the others."""
    with pieria.open("crowd", data=folder, who=name) as bank:
        member = Member(bank, name, others)
        pipe.send("ready")
        assert pipe.recv() == "go"
        ends = time.monotonic() + seconds
        while time.monotonic() < ends or member.number < LEAST:
            member.write()
            while member.hear(0):
                pass
        member.tell("", OVER, False)
        ends = time.monotonic() + PATIENCE
        while member.talking and time.monotonic() < ends:
            member.hear(1.0)
        assert not member.talking
    pipe.send((member.kept, member.wrote, member.seen))


def a_crowd(folder: Path, size: int, seconds: float) -> None:
    names = [f"p{n}" for n in range(size)]
    mesh = {(a, b): FORKED.Pipe() for a in names for b in names if a < b}
    ends: dict[str, list[Connection]] = {name: [] for name in names}
    for (one, other), (here, there) in mesh.items():
        ends[one].append(here)
        ends[other].append(there)
    with ExitStack() as stack:
        workers: list[Worker] = [
            stack.enter_context(working(crowd, str(folder), name, seconds, ends[name])) for name in names
        ]
        for pipes in ends.values():
            for end in pipes:
                end.close()
        for worker in workers:
            assert worker.receive() == "ready"
        for worker in workers:
            worker.pipe.send("go")
        told = [worker.receive(seconds + PATIENCE) for worker in workers]
        for worker in workers:
            worker.finish()
    with closing(pieria.open("crowd", data=folder)) as bank:
        kept = {id: word for mine, _, _ in told for id, word in mine}
        for id, word in kept.items():
            memory = bank.get(id)
            assert memory is not None, (id, word)
            assert memory.text.startswith(f"{word} ")
        assert bank.count() == len(kept)
        changes = bank.changes()
        assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
        theirs = [change for change in changes if change.what != "recalled"]
        assert len(theirs) == sum(wrote for _, wrote, _ in told)
        assert {change.who for change in theirs} == set(names)
        assert bank.doctor().well
    # Every process wrote and checked the writes of others.
    assert all(wrote and seen > 5 for _, wrote, seen in told)


def test_a_crowd_of_four_for_a_moment(tmp_path: Path) -> None:
    a_crowd(tmp_path, 4, 2.5)


@pytest.mark.slow
def test_a_crowd_of_four_for_a_minute(tmp_path: Path) -> None:
    a_crowd(tmp_path, 4, 60.0)


def write_until_told(pipe: Connection, folder: str, turns: int, most: int) -> None:
    number = 0
    with pieria.open("shared", data=folder) as bank:
        pipe.send("ready")
        assert pipe.recv() == "go"
        while number < most and not pipe.poll():
            bank.remember(f"number {number}")
            number += 1
            if number in (turns, most):
                pipe.send(number)
    # A process that has written everything must stay until it gets its message.
    assert pipe.recv() == "enough"


def test_a_busy_writer_leaves_the_others_their_turns(tmp_path: Path) -> None:
    """When one process has written its 1,000, all others must have written their 50."""
    turns, most = 50, 1_000
    with ExitStack() as stack:
        workers = [stack.enter_context(working(write_until_told, str(tmp_path), turns, most)) for _ in range(3)]
        for worker in workers:
            assert worker.receive() == "ready"
        for worker in workers:
            worker.pipe.send("go")
        waiting = set(workers)
        while waiting:
            ready = wait([worker.pipe for worker in workers], PATIENCE)
            assert ready, "nobody writes"
            for worker in workers:
                if worker.pipe in ready:
                    waiting.discard(worker)
                    assert worker.receive() < most, f"{len(waiting)} of {len(workers)} are kept waiting"
        for worker in workers:
            worker.pipe.send("enough")
        for worker in workers:
            worker.finish()


def open_together(pipe: Connection, folder: str, name: str) -> None:
    pipe.send("ready")
    assert pipe.recv() == "go"
    with pieria.open("together", data=folder) as bank:
        pipe.send(bank.remember(f"from {name}", id=name).id)
        bank.remember("of the user", scope="user", id=f"user-{name}")


@pytest.mark.parametrize("round_", range(3))
def test_many_processes_open_a_new_bank_at_once(tmp_path: Path, round_: int) -> None:
    names = [f"p{n}" for n in range(8)]
    with ExitStack() as stack:
        workers = [stack.enter_context(working(open_together, str(tmp_path), name)) for name in names]
        for worker in workers:
            assert worker.receive() == "ready"
        for worker in workers:
            worker.pipe.send("go")
        assert [worker.receive() for worker in workers] == names
        for worker in workers:
            worker.finish()
    with closing(pieria.open("together", data=tmp_path)) as bank:
        assert {memory.id for memory in bank.list()} == set(names)
        assert bank.doctor().well
        assert all(bank.get(f"user-{name}") for name in names)
    assert [path.name for path in tmp_path.glob("*.backup")] == []


def mix_until_told(pipe: Connection, folder: str, seed: str) -> None:
    with pieria.open("mixed", data=folder) as bank:
        mix = Mix(bank, seed)
        pipe.send("ready")
        while not pipe.poll():
            mix.take()
        assert pipe.recv() == "enough"
        pipe.send(len(bank.changes()))


def test_processes_mixing_every_verb_disturb_nobody(tmp_path: Path) -> None:
    with ExitStack() as stack:
        workers = [stack.enter_context(working(mix_until_told, str(tmp_path), f"seed {n}")) for n in range(3)]
        for worker in workers:
            assert worker.receive() == "ready"
        with closing(pieria.open("mixed", data=tmp_path)) as bank:
            while len(bank.changes()) < 150:
                assert bank.doctor().well
        for worker in workers:
            worker.pipe.send("enough")
        for worker in workers:
            assert worker.receive() >= 150
            worker.finish()


def test_copies_made_while_others_write_are_whole(tmp_path: Path) -> None:
    """Each copy holds the bank at one moment, and a later copy extends an earlier one."""
    data, copies = tmp_path / "data", tmp_path / "copies"
    with ExitStack() as stack:
        workers = [stack.enter_context(working(mix_until_told, str(data), f"seed {n}")) for n in range(2)]
        for worker in workers:
            assert worker.receive() == "ready"
        with closing(pieria.open("mixed", data=data)) as bank:
            for number in range(6):
                bank.backup(copies / f"copy{number}.db")
                bank.export(copies / f"copy{number}.jsonl")
        for worker in workers:
            worker.pipe.send("enough")
        for worker in workers:
            assert worker.receive()
            worker.finish()
    before: tuple[pieria.Change, ...] = ()
    for number in range(6):
        with closing(pieria.open(f"copy{number}", data=copies)) as copy:
            assert copy.doctor().well
            changes = copy.changes()
            assert changes[: len(before)] == before
            before = changes
        with closing(pieria.open(f"imported{number}", data=copies)) as imported:
            imported.import_(copies / f"copy{number}.jsonl")
            assert imported.doctor().well
            assert imported.changes()[: len(before)] == before


def use_while_restored(pipe: Connection, folder: str) -> None:
    with pieria.open("notes", data=folder) as bank:
        bank.remember("before the backup came back")
        pipe.send("open")
        assert pipe.recv() == "restored, or not"
        bank.remember("heron", id="acknowledged")
        pipe.send("acknowledged")


def test_a_bank_brought_back_under_another_process_loses_none_of_its_writes(tmp_path: Path) -> None:
    """A restore is refused while another process has the bank open, or that process continues in the restored bank."""
    with closing(pieria.open("notes", data=tmp_path)) as bank:
        bank.remember("in the backup")
        copied = bank.backup(tmp_path / "exports" / "copy.backup")
    with working(use_while_restored, str(tmp_path)) as worker:
        assert worker.receive() == "open"
        refused = None
        try:
            pieria.restore(copied, tmp_path, name="notes", replace=True)
        except pieria.PieriaError as problem:
            refused = problem
        worker.pipe.send("restored, or not")
        assert worker.receive() == "acknowledged"
        worker.finish()
    with closing(pieria.open("notes", data=tmp_path)) as bank:
        assert bank.get("acknowledged") is not None, f"lost; the restore was {'refused' if refused else 'done'}"
        assert bank.doctor().well
