"""`kill -9` at random moments: acknowledged work is kept, and the work under way is whole or absent."""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.capture.crowd import HIDDEN, SECRET, drain_until_killed, everything, said, speak, trimmed
from tests.capture.payloads import drained
from tests.contract.store_helpers import ALL, apply
from tests.durability.processes import killed, ready_to_go, started_together, working
from tests.durability.test_vectors import filled, well, windows, written_vectors
from tests.durability.verbs import Mix, Thing, observed
from tests.learning.replay import events
from tests.mining import written
from tests.trust import trusted_project

import pieria
from pieria import Bank
from pieria.mining import mine, miner
from pieria.store.sqlite import SQLiteStore

MOMENT = 0.02
"""Seconds: about as long as opening a bank, or as a few writes."""
ROUNDS_A_BANK = 25
"""Rounds before a new bank. Each round makes the bank larger and its checks slower."""
VERBS_CHANGES = 2
"""The most journal entries that one verb of the mix makes."""


# --- every verb


@dataclass
class Said:
    """The writes that writers acknowledged before they died, and the last journal number."""

    things: dict[Thing, str] = field(default_factory=dict)
    seq: int = 0
    interrupted: bool = False

    def hear(self, messages: list[object]) -> None:
        self.interrupted = messages[-1:] == ["begun"]
        for message in messages:
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


@pytest.mark.usefixtures("durable")
@pytest.mark.parametrize("rounds", [8, pytest.param(250, marks=pytest.mark.slow)])
def test_killed_writers_lose_nothing(tmp_path: Path, rounds: int) -> None:
    chance, said = random.Random(rounds), Said()
    acknowledged = interrupted = 0
    for number in range(rounds):
        folder = tmp_path / str(number // ROUNDS_A_BANK)
        if number % ROUNDS_A_BANK == 0:
            said = Said()
        before = len(said.things)
        # A third dies while the bank opens, the others during or between verbs after some acknowledgements.
        after = (0, 2, 2)[number % 3] * chance.randrange(1, 8)
        moment = chance.random() * MOMENT
        said.hear(killed(write_until_killed, str(folder), f"seed {number}", after=after, moment=moment))
        acknowledged += len(said.things) - before
        interrupted += said.interrupted
        with closing(pieria.open("killed", data=folder)) as bank:
            check(bank, said)
    # The rounds must include acknowledged writes and writers killed during one.
    assert acknowledged > rounds
    assert interrupted > rounds // 4


# --- one large piece of work


def make(pipe: Connection, folder: str, _: str) -> None:
    pipe.send("begun")
    with pieria.open("killed", data=folder) as bank:
        bank.remember("first")
        pipe.send("done")


def check_made(bank: Bank, exported: str, is_done: bool) -> None:
    texts = {memory.text for memory in bank.list()}
    assert texts == {"first"} if is_done else texts <= {"first"}
    bank.remember("second")
    assert len(bank.recall("second")) == 1


def bring_in(pipe: Connection, folder: str, exported: str) -> None:
    with pieria.open("killed", data=folder) as bank:
        pipe.send("begun")
        bank.import_(exported)
        pipe.send("done")


def check_brought_in(bank: Bank, exported: str, is_done: bool) -> None:
    assert bank.count() in ((1_500,) if is_done else (0, 1_500))
    if bank.count() == 0:
        bank.import_(exported)
    assert len(bank.recall("heron", k=2_000)) == 1_500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "check", "rounds", "moment"), [(make, check_made, 30, 0.012), (bring_in, check_brought_in, 8, 0.5)]
)
def test_killed_work_is_whole_or_absent(
    tmp_path: Path, work: Callable[..., None], check: Callable[..., None], rounds: int, moment: float
) -> None:
    chance, exported = random.Random(rounds), str(tmp_path / "notes.jsonl")
    with closing(pieria.open("notes", data=tmp_path)) as bank:
        bank.remember_many({"text": f"heron number {n}", "tags": ["bird"]} for n in range(1_500))
        bank.export(exported)
    for number in range(rounds):
        folder = tmp_path / str(number)
        said = killed(work, str(folder), exported, moment=chance.random() * moment)
        with closing(pieria.open("killed", data=folder)) as bank:
            assert bank.doctor().well
            check(bank, exported, "done" in said)


# --- vectors


def put_until_killed(pipe: Connection, path: str, seed: int) -> None:
    """Write memories with vectors and windows, replace and erase some, and send each acknowledged round."""
    chance = random.Random(seed)
    with closing(SQLiteStore(Path(path))) as store:
        pipe.send("begun")
        for n in range(1_000_000):
            rows = apply(store, *written_vectors(seed + n, 400, f"r{seed}n{n}m"), space=1).rows
            windows(store, rows, seed + n)
            windows(store, chance.sample(rows, 100), seed + n + 1)
            apply(store, erase=[f"r{seed}n{n}m{k}" for k in chance.sample(range(400), 20)])
            pipe.send(n)


@pytest.mark.slow
def test_vectors_survive_killed_writers(tmp_path: Path) -> None:
    path, chance = tmp_path / "b.db", random.Random(60)
    filled(path, 100)
    for number in range(15):
        killed(put_until_killed, str(path), 10_000 * (number + 1), after=1 + number % 2, moment=chance.random() * 0.4)
        with closing(SQLiteStore(path)) as store:
            well(store)
            with store.reading() as reader:
                rows = [memory.row for memory in reader.select(ALL, limit=100_000)]
                held = reader.vectors(rows)
                asked = chance.sample(rows, 10)
                found = [reader.near(held[row][0][1], ALL, 1).candidates[0].row for row in asked]
            assert len(rows) == len(held) >= 100
            assert found == asked
    # The rounds must include writes that survived a kill.
    assert len(rows) > 100


# --- captured events


@pytest.mark.slow
def test_killed_drains_lose_and_double_no_event(tmp_path: Path) -> None:
    """Four agents write all at once while the drain is killed again and again."""
    project, data = tmp_path / "app", tmp_path / "data"
    project.mkdir()
    trusted_project(project, 'bank = "app"\n')
    chance, count = random.Random("long"), 800
    sessions = ("ash", "birch", "cedar", "elm")
    calls = [(speak, str(data / "spool"), str(project), session, count) for session in sessions]
    with ExitStack() as stack:
        agents = [stack.enter_context(working(*call)) for call in calls]
        for _ in range(6):
            killed(drain_until_killed, str(data), after=0, moment=chance.random() * 0.6)
        for agent in agents:
            agent.finish()
    assert drained(data).refused == 0
    with pieria.open("app", data=data) as bank:
        for session in sessions:
            turns = Counter(trimmed(memory.text) for memory in bank.list(kinds="turn", session=session, limit=1_000))
            assert turns == Counter(said(session, count))
    held = everything(tmp_path)
    assert not any(word.encode() in held for word in (SECRET, HIDDEN))
    assert [path.name for path in (data / "spool").iterdir() if path.suffix in (".jsonl", ".taken", ".at")] == []


# --- mining


def mine_all(pipe: Connection, folder: str, path: str, batch: int) -> None:
    miner.BATCH = batch
    ready_to_go(pipe)
    with pieria.open("mined", data=folder) as bank:
        mine(bank, path, conversations=True)
    pipe.send("done")


def log(folder: Path, number: int, turns: int) -> None:
    """Write a session that repeats its texts, so that texts do not identify turns."""
    name, lines = f"session-{number}", []
    for turn in range(1, turns + 1):
        said = f"Step {turn % 7} of the move to the new queue."
        kind, content = ("user", said) if turn % 2 else ("assistant", [{"type": "text", "text": said}])
        lines.append(written.claude_code_line(1, kind, content, uuid=f"{name}-{turn}", sessionId=name))
    written.lines(folder / f"{name}.jsonl", lines)


def turns_of(bank: Bank) -> list[tuple[str, str, str | None, int | None]]:
    found = bank.list(kinds="turn", limit=1_000)
    return sorted((turn.id, turn.text, turn.session, turn.sequence) for turn in found)


@pytest.mark.slow
def test_killed_mine_is_taken_up_without_doubles(tmp_path: Path) -> None:
    chance, logs, midway, anew = random.Random(80), tmp_path / "logs", 0, 0
    for number in range(4):
        log(logs, number, 240)
    with closing(pieria.open("whole", data=tmp_path / "whole")) as bank:
        mine(bank, logs, conversations=True)
        whole = turns_of(bank)
    for number in range(20):
        folder = tmp_path / str(anew)
        with started_together(mine_all, (str(folder), str(logs), 20)) as [worker]:
            worker.process.join(chance.random() * 0.25)
            is_done = worker.kill() == ["done"]
        with closing(pieria.open("mined", data=folder)) as bank:
            assert bank.doctor().well
            midway += 0 < bank.count() < len(whole)
            assert set(turns_of(bank)) <= set(whole)
            if is_done or number == 19:
                assert mine(bank, logs, conversations=True).well
                assert turns_of(bank) == whole
                assert set(mine(bank, logs, conversations=True).memories) == {"unchanged"}
                anew += 1
    assert midway > 0


@pytest.mark.slow
def test_two_that_mine_the_same_bring_it_in_once(tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", str(tmp_path / "data")
    for number in range(3):
        log(logs, number, 200)
    with started_together(mine_all, (folder, str(logs), 20), (folder, str(logs), 33)) as miners:
        assert [each.finish() for each in miners] == [["done"]] * 2
    with closing(pieria.open("mined", data=folder)) as bank:
        assert bank.count() == 600
        assert len(bank.changes()) < 120
        assert bank.doctor().well


# --- distilling


def observe_and_distil(bank: Bank) -> None:
    day = events("shop")
    for start in range(0, len(day), 20):
        bank.observe(day[start : start + 20])
    bank.distil()


def distil_until_killed(pipe: Connection, folder: str) -> None:
    pipe.send("begun")
    with pieria.open("killed", data=folder) as bank:
        observe_and_distil(bank)


def distilled(bank: Bank) -> list[tuple[str, int, str, object]]:
    return sorted((m.id, m.version, m.text, m.body.get("times", 1)) for m in bank.list(limit=1_000))


@pytest.mark.slow
def test_distilling_comes_to_the_same_after_kills(tmp_path: Path) -> None:
    chance = random.Random("a day")
    for _ in range(6):
        killed(distil_until_killed, str(tmp_path), moment=chance.random() * 1.5)
    with pieria.open("killed", data=tmp_path) as bank, pieria.open("whole", data=tmp_path) as whole:
        observe_and_distil(bank)
        observe_and_distil(whole)
        assert len(distilled(whole)) > 50
        assert distilled(bank) == distilled(whole)
        with bank.core.reading() as reader:
            assert reader.records("events") == reader.records("events.sessions") == {}
