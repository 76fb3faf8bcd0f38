"""A bank with rows of every kind, its answers, and copies of its file with one byte changed."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pieria
from pieria.bank import Bank
from pieria.errors import PieriaError, StorageError

ASKED = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = [
    "heron", "water", "bridge", "mill", "river", "stone", "market", "letter", "garden", "winter", "lantern", "harbour",
    "orchard", "copper", "ladder", "meadow", "engine", "basket", "thunder", "pebble", "willow", "anchor", "saddle",
    "candle",
]  # fmt: skip
Outcome = Literal["same", "raised", "told", "silent"]


def opened(folder: Path) -> Bank:
    settings = {"durability": "off", "count_uses": False, "embedder": "hashing"}
    return pieria.open("notes", data=folder, session="s1", clock=lambda: ASKED, settings=settings)


def fill(bank: Bank, size: int = 300) -> None:
    chance = random.Random(7)
    kinds = ("note", "observation", "drawer", "diary", "turn", "summary")
    items: list[dict[str, Any]] = []
    for n in range(size):
        kind = kinds[n % len(kinds)]
        items.append(
            {
                "id": f"m{n}",
                "text": f"{' '.join(chance.choices(WORDS, k=20))}, number {n}. Straße {n % 9} 道.",
                "kind": kind,
                "title": f"About {WORDS[n % 24]}" if n % 3 == 0 else None,
                "tags": chance.sample(WORDS, 2),
                "entities": [WORDS[n % 7].title()],
                "files": [f"src/{WORDS[n % 5]}.py"] if n % 4 == 0 else [],
                "importance": round(chance.random(), 2),
                "pinned": n % 40 == 0,
                "meta": {"n": n},
                "at": ASKED - timedelta(days=chance.randrange(200), minutes=n),
                "author": ("Maya", "Ola", None)[n % 3],
                "session": f"talk{n % 10}" if kind == "turn" else None,
                "valid_until": ASKED + timedelta(days=n) if n % 17 == 0 else None,
            }
        )
    bank.remember_many(items)
    for n in range(0, 80, 2):
        bank.link(f"m{n}", f"m{n + 1}", "follows", weight=0.5, label=f"step {n}")
    for n in range(60):
        subject, object = chance.sample(WORDS, 2)
        bank.facts.add(subject, "stands_by", object, memory=f"m{n}" if n % 2 else None, confidence=0.7)
    bank.facts.alias("Grey heron", "heron")
    for n in range(0, 40, 4):
        bank.update(f"m{n}", text=f"{WORDS[n % 24]} changed, number {n}", tags=["changed"])
    bank.revise("m3", text="willow revised")
    for n in range(5, 50, 15):
        bank.remove(f"m{n}")
    bank.restore("m5")
    bank.touch([f"m{n}" for n in range(10, 100, 3)], reviews=1, reward=0.5)
    bank.scratchpad.write("a note to itself")
    bank.jobs.add("embed", key="first", priority=2)
    bank.jobs.cancel(bank.jobs.add("embed", key="called off").id)
    bank.core.meter.note("summarize", "test:model", {"input_tokens": 120, "output_tokens": 30}, 0.5)
    bank.purge(["m7", "m8"])
    bank.sync()


def questions(bank: Bank) -> Iterator[Callable[[], Any]]:
    ids = [f"m{n}" for n in range(300)]
    standing = [id for id in ids[9:40] if id not in ("m20", "m35")]

    def told(query: str, **more: Any) -> list[Any]:
        return [(hit.memory.as_dict(), hit.score) for hit in bank.recall(query, **more)]

    yield lambda: [None if memory is None else memory.as_dict() for memory in map(bank.get, ids[::20])]
    yield lambda: [memory.as_dict() for memory in bank.list(limit=1_000, include=["removed", "invalid"])]
    yield lambda: told("heron by the water, number 42", k=20)
    yield lambda: told("willow revised", k=10, policy="similarity")
    yield lambda: told("Straße 道", tags=["garden"], k=20)
    yield lambda: [[each.as_dict() for each in bank.history(id)] for id in standing]
    yield lambda: [bank.count(by=by) for by in (None, "kind", "tags", "entities", "session", "place")]
    yield lambda: [[(n.link.as_dict(), n.place) for n in bank.neighbors(id)] for id in standing]
    yield lambda: [fact.as_dict() for word in WORDS for fact in bank.facts.query(word)]
    yield lambda: [bank.facts.stats().as_dict(), bank.facts.entities(), bank.facts.aliases()]
    yield lambda: [change.as_dict() for change in bank.changes(limit=1_000)]
    yield lambda: {id: used.as_dict() for id, used in bank.usage(ids[10:100:3]).items()}
    yield lambda: bank.context(query="heron").as_dict()
    yield lambda: {name: each for name, each in bank.stats().as_dict().items() if name != "store"}
    yield lambda: [entry.content for entry in bank.scratchpad.read()]
    yield lambda: [job.as_dict() for job in bank.jobs.list()]
    yield lambda: dumped(bank)


def dumped(bank: Bank) -> list[Any]:
    """Return what no verb shows in full: all versions of links, the vectors, the pending rows and the counters."""
    with bank.core.store.reading() as reader:
        vectors = {row: [(n, v.tolist()) for n, v in held] for row, held in reader.vectors(range(1, 330)).items()}
        return [reader.links(every_version=True), reader.head(), vectors, reader.pending(1_000), reader.counters()]


def fingerprint(folder: Path) -> list[str | None]:
    """Return every answer as text, or None where a `StorageError` refused it."""
    answers: list[str | None] = []
    with opened(folder) as bank:
        for question in questions(bank):
            try:
                answers.append(repr(question()))
            except StorageError:
                answers.append(None)
            except PieriaError as wrong:
                answers.append(repr(wrong))
    return answers


def is_well(folder: Path) -> bool:
    try:
        with opened(folder) as bank:
            return bank.doctor().well
    except PieriaError:
        return False


class Flip(NamedTuple):
    place: int
    change: int

    def made(self, content: bytes) -> bytes:
        return content[: self.place] + bytes([content[self.place] ^ self.change]) + content[self.place + 1 :]


def flips(content: bytes, number: int, seed: int) -> Iterator[Flip]:
    """Yield random changes of one byte. Half of them change one bit."""
    chance = random.Random(seed)
    for n in range(number):
        yield Flip(chance.randrange(len(content)), 1 << chance.randrange(8) if n % 2 else chance.randrange(1, 256))


def outcome(folder: Path, content: bytes, flip: Flip, whole: list[str | None]) -> Outcome:
    """Return how a flip shows: "told" by `doctor`, "same" answers, "raised" errors, or "silent" wrong answers."""
    path = folder / "notes.db"
    for beside in folder.iterdir():
        beside.unlink()
    path.write_bytes(flip.made(content))
    path.chmod(0o600)
    if not is_well(folder):
        return "told"
    path.write_bytes(flip.made(content))
    answers = fingerprint(folder)
    if any(one not in (None, other) for one, other in zip(answers, whole, strict=True)):
        return "silent"
    return "same" if answers == whole else "raised"
