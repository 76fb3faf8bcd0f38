"""A small bank with rows of every kind and its answers, written once by every frozen version.

A bank of an older version must give the same answers as then. So questions are only added, together with the
version that can answer them.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pieria
from pieria.bank import Bank
from pieria.record.filter import Filter, Viewer
from pieria.record.time import micros
from pieria.store.protocol import Embedded, Kind

BEGAN = datetime(2026, 1, 10, 9, tzinfo=UTC)
ASKED = BEGAN + timedelta(days=90)
EVERY_TURN = Filter(micros(ASKED), Viewer(everything=True)).anything().having(endings=("",))


class Steps:
    """A clock that advances one hour with each reading."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(hours=1)
        return self.now


def open_bank(folder: Path, now: datetime = ASKED) -> Bank:
    return pieria.open("frozen", data=folder, session="s1", clock=Steps(now), settings={"durability": "off"})


def tell(bank: Bank) -> None:
    bank.remember("We chose JWT for all new APIs.", id="jwt", tags=["Auth"], importance=0.8, author="Maya",
                  author_type="human", title="Tokens", meta={"n": 1}, at="2026-01-09")  # fmt: skip
    bank.remember(
        "Die Straße zum Büro ist gesperrt. 道が閉鎖されています。", id="street", kind="diary", place="home/ways"
    )
    bank.remember("Only this session knows.", id="whisper", scope="session")
    bank.remember("Builds take ten minutes.", id="builds", files=["Makefile"], valid_until="2026-02-01")
    bank.remember("Fixed the login.", id="login", kind="observation", body={"type": "bugfix", "facts": ["a", "b"]})
    bank.remember("To be erased: brindlewolf.", id="erased")
    bank.update("jwt", text="We chose JWT, rotated daily.", reason="security review")
    bank.update("builds", status="promoted", importance=0.1)
    revised = bank.revise("login", text="Fixed the login for good.")
    bank.remember("A summary.", id="summary", kind="summary")
    bank.link("summary", "jwt", "provenance")
    bank.link("jwt", "street", "related", weight=0.5, label="by chance")
    bank.link("jwt", pieria.Place("office/security"))
    bank.remove("street", reason="moved")
    bank.restore("street")
    bank.remove("summary")
    bank.pin(revised.id)
    bank.touch(["jwt", "builds"], reviews=1, reward=0.5)
    bank.facts.declare("works_on", single_valued=True)
    bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", memory="jwt")
    bank.facts.supersede("Maya", "works_on", "search", at="2026-01-20")
    bank.facts.add("Ola", "knows", "Maya")
    bank.facts.alias("M. Lindqvist", "Maya")
    bank.scratchpad.write("a note to itself")
    for number in range(4):
        bank.remember(f"Turn {number}.", id=f"turn{number}", kind="turn", session="talk", author="Maya")
    bank.remember("Always answer in metric units.", id="metric", author_type="human")
    embed(bank)
    bank.remember("Turn 4.", id="turn4", kind="turn", session="talk", author="Ola")
    bank.jobs.add("embed", key="first", priority=2)
    bank.jobs.add("embed", key="about", about="jwt@2", due="2026-02-01")
    bank.jobs.cancel(bank.jobs.add("embed", key="called off").id)
    bank.core.meter.note("summarize", "test:model", {"input_tokens": 120, "output_tokens": 30}, 0.5)
    bank.purge(["erased", "turn0"])


def embed(bank: Bank) -> None:
    """Store vectors for all rows, often enough that the last ones reach past the end of a block."""
    with bank.core.store.writing() as writer:
        space = writer.set_space("frozen:rows", 8).number
        seen = writer.head().seq
        waiting = writer.pending(1_000)
        turns = [row for row, what in waiting if what == "window"]
        around = writer.around(turns, EVERY_TURN, 2, company=True)
        lasting = writer.rows(Filter(now=micros(ASKED), standing=("rule",)))
        members = {row: [other for _, other in around[row]] for row in turns}
        for _ in range(1 + 1_024 // len(waiting)):
            writer.put_vectors(
                space,
                [
                    Embedded(row, kind, 0, 0, 9, vector(row), members[row] if what == "window" else (), 1)
                    for row, what in waiting
                    for kind in ((what, "rule") if what == "passage" and row in lasting else (what,))
                ],
                seen,
            )


def vector(row: int) -> list[float]:
    return [float((row * factor) % 23 - 11) for factor in (1, 2, 3, 5, 7, 9, 4, 6)]


def near(bank: Bank, what: Kind) -> list[tuple[str, float]]:
    """Return ids and similarities, or an empty list if the bank has no vectors of this space."""
    asked = Filter(now=micros(ASKED))
    with bank.core.store.reading() as reader:
        found = reader.near(vector(2), asked, 5, what)
        memories = reader.memories([one.row for one in found.candidates], asked)
    return [(memories[one.row].id, round(one.similarity, 3)) for one in found.candidates]


def standing(bank: Bank) -> list[str]:
    asked = Filter(now=micros(ASKED), standing=("rule", "preference", "profile"))
    with bank.core.store.reading() as reader:
        return [memory.id for memory in reader.select(asked)]


def asked(bank: Bank) -> dict[str, Callable[[], Any]]:
    """Return the questions. Their answers hold no ids that the bank chose."""
    return {
        "history of jwt": lambda: [(m.version, m.text, m.known_until is None) for m in bank.history("jwt")],
        "jwt": lambda: shown(bank.get("jwt")),
        "jwt@1": lambda: shown(bank.get("jwt@1")),
        "street as it was known while it was removed": lambda: shown(bank.get("street", known_at=when(bank, "remove"))),
        "list": lambda: sorted((m.kind, m.place, m.status, m.text) for m in bank.list(include=["removed", "invalid"])),
        "counts": lambda: [bank.count(), bank.count(by="kind"), bank.count(by="tags")],
        "recall": lambda: {
            query: sorted(hit.memory.text for hit in bank.recall(query, valid_at="2026-01-15", policy="similarity"))
            for query in ("jwt", "straße", "閉鎖", "session", "fixed login", "Makefile", "brindlewolf")
        },
        "neighbors of jwt": lambda: sorted(
            (n.link.relation, n.place or (n.memory.text if n.memory else "")) for n in bank.neighbors("jwt")
        ),
        "usage of jwt": bank.usage("jwt")["jwt"].as_dict,
        "facts": lambda: [
            (f.subject, f.predicate, f.object, str(f.valid_from), str(f.valid_until))
            for f in bank.facts.query("M. Lindqvist")
        ],
        "facts at": lambda: [f.object for f in bank.facts.query("Maya", "works_on", valid_at="2026-01-12")],
        "notes": lambda: [entry.content for entry in bank.scratchpad.read()],
        "changes": lambda: [(change.seq, change.what, pieria.record.time.iso(change.at)) for change in bank.changes()],
        "near": lambda: [near(bank, "passage"), near(bank, "window")],
        "standing rules": lambda: [near(bank, "rule"), standing(bank)],
        "jobs": lambda: [(job.kind, job.key, job.state, job.about, job.priority) for job in bank.jobs.list()],
        "ledger": lambda: bank.stats().models["total"],
        "well": lambda: [finding.check for finding in bank.core.store.check() if not finding.well],
    }


def told(bank: Bank) -> dict[str, Any]:
    return {question: ask() for question, ask in asked(bank).items()}


def shown(memory: pieria.Memory | None) -> dict[str, Any] | None:
    return None if memory is None else {key: value for key, value in memory.as_dict().items() if key != "row"}


def when(bank: Bank, what: str) -> datetime:
    return next(change.at for change in bank.changes() if change.what == what)
