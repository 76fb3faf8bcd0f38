"""`kill -9` on a writer at random moments: no acknowledged write is lost, and no repair is needed."""

import random
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import working
from tests.durability.verbs import Mix, Thing, observed

import pieria
from pieria.bank import Bank

MOMENT = 0.02
"""Seconds: about as long as opening a bank, or as a few writes."""
ROUNDS_A_BANK = 25
"""Rounds before a new bank. Each round makes the bank larger and its checks slower."""
VERBS_CHANGES = 2
"""The most journal entries that one verb of the mix makes."""


@dataclass
class Said:
    """The writes that a writer acknowledged before it died, and the last journal number."""

    things: dict[Thing, str] = field(default_factory=dict)
    seq: int = 0
    interrupted: bool = False

    def hear(self, message: object) -> None:
        self.interrupted = message == "begun"
        if isinstance(message, tuple):
            self.seq, things = message
            self.things.update(things)


def write_until_killed(pipe: Connection, folder: str, seed: str) -> None:
    """Announce every verb. Acknowledge it with the new values of everything it touched."""
    with pieria.open("killed", data=folder) as bank:
        mix = Mix(bank, seed)
        while True:
            pipe.send("begun")
            touched = {thing: observed(bank, thing) for thing in mix.take()}
            pipe.send((bank.changes()[-1].seq, touched))


def a_killed_writer(folder: Path, seed: str, said: Said) -> None:
    chance = random.Random(seed)
    said.interrupted = False
    with working(write_until_killed, str(folder), seed) as writer:
        # A third dies while the bank opens, the others during or between verbs after some acknowledgements.
        for _ in range(chance.choice([0, 2, 2]) * chance.randrange(1, 8)):
            said.hear(writer.receive())
        ends = time.monotonic() + chance.random() * MOMENT
        while (left := ends - time.monotonic()) > 0:
            if writer.pipe.poll(left):
                said.hear(writer.receive())
        writer.process.kill()
        for message in said_before(writer.pipe):
            said.hear(message)


def said_before(pipe: Connection) -> Iterator[object]:
    """Yield the messages left in the pipe. Drop one that was cut off by the kill."""
    while True:
        try:
            yield pipe.recv()
        except (EOFError, OSError):
            return


def check(bank: Bank, said: Said) -> None:
    """Check that everything acknowledged is there, and that any excess is one complete verb."""
    unsaid = bank.changes(since=said.seq)
    assert len(unsaid) <= VERBS_CHANGES
    touched = {id for change in unsaid for id in change.ids}
    purged = any(change.what == "purge" for change in unsaid)
    for thing, word in said.things.items():
        if (now := observed(bank, thing)) != word:
            assert thing[1] in touched or (purged and thing[0] != "memory"), thing
            said.things[thing] = now
    diagnosis = bank.doctor()
    assert diagnosis.well, diagnosis.as_dict()
    assert diagnosis.repaired == ()
    assert [change.seq for change in bank.changes()] == list(range(1, said.seq + len(unsaid) + 1))
    said.seq += len(unsaid)


def survive(tmp_path: Path, rounds: int, seed: str) -> None:
    said = Said()
    acknowledged = interrupted = 0
    folder = tmp_path
    for number in range(rounds):
        if number % ROUNDS_A_BANK == 0:
            said, folder = Said(), tmp_path / str(number)
        before = len(said.things)
        a_killed_writer(folder, f"{seed} {number}", said)
        acknowledged += len(said.things) - before
        interrupted += said.interrupted
        with closing(pieria.open("killed", data=folder)) as bank:
            check(bank, said)
    # The rounds must include acknowledged writes and writers killed during one.
    assert acknowledged > rounds
    assert interrupted > rounds // 4


def test_25_killed_writers_lose_nothing(tmp_path: Path) -> None:
    survive(tmp_path, 25, "quick")


@pytest.mark.slow
def test_500_killed_writers_lose_nothing(tmp_path: Path) -> None:
    survive(tmp_path, 500, "slow")


def make_until_killed(pipe: Connection, folder: str) -> None:
    pipe.send("begun")
    with pieria.open("new", data=folder) as bank:
        bank.remember("first")
        pipe.send("acknowledged")


@pytest.mark.parametrize("rounds", [15, pytest.param(150, marks=pytest.mark.slow)])
def test_a_bank_whose_making_was_killed_opens(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(rounds)
    for number in range(rounds):
        folder = tmp_path / str(number)
        with working(make_until_killed, str(folder)) as maker:
            assert maker.receive() == "begun"
            acknowledged = maker.pipe.poll(chance.random() * 0.012) and maker.receive() == "acknowledged"
            maker.process.kill()
        with closing(pieria.open("new", data=folder)) as bank:
            assert bank.doctor().well
            if acknowledged:
                assert [hit.memory.text for hit in bank.recall("first")] == ["first"]
            bank.remember("second")
            assert len(bank.recall("second")) == 1


def import_until_killed(pipe: Connection, folder: str, exported: str) -> None:
    with pieria.open("copy", data=folder) as bank:
        pipe.send("begun")
        bank.import_(exported)
        pipe.send("acknowledged")


@pytest.mark.parametrize("rounds", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_an_import_that_was_killed_is_whole_or_nothing(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(rounds)
    exported = tmp_path / "notes.jsonl"
    with closing(pieria.open("notes", data=tmp_path / "data", settings={"durability": "off"})) as bank:
        bank.remember_many({"text": f"heron number {n}", "tags": ["bird"]} for n in range(1_500))
        bank.export(exported)
    for number in range(rounds):
        folder = tmp_path / str(number)
        with working(import_until_killed, str(folder), str(exported)) as importer:
            assert importer.receive() == "begun"
            acknowledged = importer.pipe.poll(chance.random() * 0.5)
            importer.process.kill()
        with closing(pieria.open("copy", data=folder)) as bank:
            assert bank.doctor().well
            assert bank.count() in ((1_500,) if acknowledged else (0, 1_500))
            if bank.count() == 0:
                bank.import_(exported)
            assert len(bank.recall("heron", k=2_000)) == 1_500
