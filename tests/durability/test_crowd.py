"""Many processes on one file: none fails, none loses a write, and each sees acknowledged writes at once."""

import random
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from itertools import combinations
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import FORKED, PATIENCE, ready_to_go, started_together, working
from tests.durability.verbs import Mix

import pieria
from pieria.bank import Bank
from pieria.recall.arms import ARMS
from pieria.recall.scores import WEIGHTS

OVER = "over"
LEAST = 4
"""The least number of memories that each process writes, even if it gets little processor time."""
VECTORS = {"embedder": "hashing"}


def only(arm: str) -> Mapping[str, float]:
    return {name: float(name in ARMS[arm].features) for name in WEIGHTS}


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
        hits = [hit.memory.id for hit in self.bank.recall(word, weights=only("text"))]
        assert (id in hits) == there, (self.name, id, word, hits)
        near = self.bank.recall(word, k=20, weights=only("dense"))
        is_near = id in [hit.memory.id for hit in near]
        assert is_near == there or near.plan["embedding"]["pending"], (self.name, id, word, near.plan)


def crowd(pipe: Connection, folder: str, name: str, seconds: float, others: list[Connection]) -> None:
    """Write until the time is over, at least `LEAST` times. Then check the remaining messages of the others."""
    with pieria.open("crowd", data=folder, who=name, settings=VECTORS) as bank:
        member = Member(bank, name, others)
        ready_to_go(pipe)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends or member.number < LEAST:
            member.write()
            while member.hear(0):
                pass
        member.tell("", OVER, False)
        while member.talking:
            assert wait(member.talking, PATIENCE), "the others say nothing"
            member.hear(0)
        assert bank.sync(PATIENCE)
    pipe.send((member.kept, member.wrote, member.seen))


@pytest.mark.parametrize(("size", "seconds"), [(3, 0.5), pytest.param(4, 10.0, marks=pytest.mark.slow)])
def test_crowd_sees_every_write_at_once(tmp_path: Path, size: int, seconds: float) -> None:
    ends: dict[str, list[Connection]] = {f"p{n}": [] for n in range(size)}
    for pair in combinations(ends.values(), 2):
        for own, end in zip(pair, FORKED.Pipe(), strict=True):
            own.append(end)
    calls = [(str(tmp_path), name, seconds, others) for name, others in ends.items()]
    with started_together(crowd, *calls) as workers:
        for others in ends.values():
            for end in others:
                end.close()
        told = [worker.receive(seconds + PATIENCE) for worker in workers]
        for worker in workers:
            worker.finish()
    with closing(pieria.open("crowd", data=tmp_path, settings=VECTORS)) as bank:
        kept = {id: word for mine, _, _ in told for id, word in mine}
        for id, word in kept.items():
            memory = bank.get(id)
            assert memory is not None, (id, word)
            assert memory.text.startswith(f"{word} ")
            assert id in [hit.memory.id for hit in bank.recall(word, k=20, weights=only("dense"))]
        assert bank.count() == len(kept)
        assert bank.stats().pending.get("vectors", 0) == 0
        changes = bank.changes()
        assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
        theirs = [change for change in changes if change.what != "recalled"]
        assert len(theirs) == sum(wrote for _, wrote, _ in told)
        assert {change.who for change in theirs} == set(ends)
        assert bank.doctor().well
    # Every process wrote and checked the writes of others.
    assert all(wrote and seen > 5 for _, wrote, seen in told)


def write_until_told(pipe: Connection, folder: str, turns: int, most: int) -> None:
    number = 0
    with pieria.open("shared", data=folder) as bank:
        ready_to_go(pipe)
        while number < most and not pipe.poll():
            bank.remember(f"number {number}")
            number += 1
            if number in (turns, most):
                pipe.send(number)
    # A process that has written everything must stay until it gets its message.
    assert pipe.recv() == "enough"


@pytest.mark.slow
def test_busy_writer_leaves_others_their_turns(tmp_path: Path) -> None:
    """When one process has written its 1,000, all others must have written their 50."""
    turns, most = 50, 1_000
    with started_together(write_until_told, *[(str(tmp_path), turns, most)] * 3) as workers:
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
    ready_to_go(pipe)
    with pieria.open("together", data=folder) as bank:
        pipe.send(bank.remember(f"from {name}", id=name).id)
        bank.remember("of the user", scope="user", id=f"user-{name}")


@pytest.mark.slow
def test_many_processes_open_a_new_bank_at_once(tmp_path: Path) -> None:
    names = [f"p{n}" for n in range(8)]
    for folder in (tmp_path / "first", tmp_path / "second"):
        with started_together(open_together, *[(str(folder), name) for name in names]) as workers:
            assert [worker.finish() for worker in workers] == [[name] for name in names]
        with closing(pieria.open("together", data=folder)) as bank:
            assert {memory.id for memory in bank.list()} == set(names)
            assert bank.doctor().well
            assert all(bank.get(f"user-{name}") for name in names)
        assert list(folder.glob("*.backup")) == []


def mix_until_told(pipe: Connection, folder: str, seed: str) -> None:
    with pieria.open("mixed", data=folder) as bank:
        mix = Mix(bank, seed)
        pipe.send("ready")
        while not pipe.poll():
            mix.take()
        assert pipe.recv() == "enough"


@pytest.mark.slow
def test_copies_made_while_others_write_are_whole(tmp_path: Path) -> None:
    """Each copy holds the bank at one moment, and a later copy extends an earlier one."""
    data, copies = tmp_path / "data", tmp_path / "copies"
    with ExitStack() as stack:
        workers = [stack.enter_context(working(mix_until_told, str(data), f"seed {n}")) for n in range(3)]
        assert [worker.receive() for worker in workers] == ["ready"] * 3
        with closing(pieria.open("mixed", data=data)) as bank:
            for number in range(4):
                seen = len(bank.changes())
                while len(bank.changes()) < seen + 40:
                    assert bank.doctor().well
                bank.backup(copies / f"copy{number}.db")
                bank.export(copies / f"copy{number}.jsonl")
        for worker in workers:
            worker.pipe.send("enough")
            worker.finish()
    before: tuple[pieria.Change, ...] = ()
    for number in range(4):
        with closing(pieria.open(f"imported{number}", data=copies)) as imported:
            imported.import_(copies / f"copy{number}.jsonl")
            with closing(pieria.open(f"copy{number}", data=copies)) as copy:
                changes = copy.changes()
                assert changes[: len(before)] == before
                assert imported.changes()[: len(changes)] == changes
                assert copy.doctor().well and imported.doctor().well
        before = changes


def use_while_restored(pipe: Connection, folder: str) -> None:
    with pieria.open("notes", data=folder) as bank:
        bank.remember("before the backup came back")
        pipe.send("open")
        assert pipe.recv() == "restored, or not"
        bank.remember("heron", id="acknowledged")


@pytest.mark.slow
def test_restore_under_another_process_loses_no_write(tmp_path: Path) -> None:
    """A restore is refused while another process has the bank open, or that process continues in the restored bank."""
    with closing(pieria.open("notes", data=tmp_path)) as bank:
        bank.remember("in the backup")
        copied = bank.backup(tmp_path / "exports" / "copy.backup")
    with working(use_while_restored, str(tmp_path)) as worker:
        assert worker.receive() == "open"
        with suppress(pieria.PieriaError):
            pieria.restore(copied, tmp_path, name="notes", replace=True)
        worker.pipe.send("restored, or not")
        worker.finish()
    with closing(pieria.open("notes", data=tmp_path)) as bank:
        assert bank.get("acknowledged") is not None
        assert bank.doctor().well
