"""Random histories of a bank before an export: the verbs its users may have called."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import strategies as st

import pieria
from pieria.bank import Bank
from pieria.errors import PieriaError
from pieria.record.changeset import FACTS_STATED
from pieria.record.link import Place

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = ("Maya", "billing", "Tokyo", "ÉCOLE")
TABLES = ("content", "state", "link", "fact", "usage", "record", "journal", "purged")
Dump = dict[str, list[dict[str, Any]]]

SAYINGS = ("We chose JWT.", "the same again", "<private>hush</private> kept", "key AKIAIOSFODNN7EXAMPLE")
TEXTS = st.one_of(
    st.sampled_from(SAYINGS),
    st.text(min_size=1, max_size=30).filter(lambda text: text.strip() != "" and "\0" not in text),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.one_of(st.integers(-9, 9), FLOATS, st.booleans(), st.none(), st.text())
METAS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)
MOMENTS = st.one_of(st.none(), st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))
VERBS = (
    "remember", "remember", "many", "update", "update", "standing", "revise", "remove", "restore", "invalidate", "pin",
    "link", "link", "unlink", "fact", "fact", "end_fact", "alias", "touch", "note", "purge", "undo", "clock_moves",
)  # fmt: skip


class Step(NamedTuple):
    """A verb, two numbers that choose its target and arguments, and its text."""

    verb: str
    n: int
    m: int
    text: str
    meta: dict[str, Any]
    at: datetime | None


PARTS = (st.sampled_from(VERBS), st.integers(0, 9), st.integers(0, 9), TEXTS, METAS, MOMENTS)
STEPS = st.lists(st.builds(Step, *PARTS), min_size=5, max_size=30)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def banks() -> Iterator[tuple[Callable[[str], Bank], Path, Clock]]:
    """Yield a function that opens banks, their folder, and the clock they share."""
    clock = Clock()
    opened: list[Bank] = []
    with TemporaryDirectory() as folder:

        def opens(name: str) -> Bank:
            durability = {"durability": "off"}
            opened.append(pieria.open(name, data=folder, session="s1", channel="c", settings=durability, clock=clock))
            return opened[-1]

        try:
            yield opens, Path(folder), clock
        finally:
            for bank in opened:
                bank.close()


def dump(bank: Bank) -> Dump:
    """Return every row, with the store's row numbers made consecutive: an import leaves no gaps.

    Leave out the record of how far older facts have statements: it is local to the file.
    """
    with bank.core.store.reading() as reader:
        found = {table: list(reader.dump(table)) for table in TABLES}
    found["record"] = [row for row in found["record"] if row["collection"] != FACTS_STATED]
    rows = {row["row"]: number for number, row in enumerate(found["content"])}
    for row in (*found["content"], *found["state"]):
        row["row"] = rows[row["row"]]
    entries = sorted(row["entry"] for table in ("link", "fact") for row in found[table])
    for row in (*found["link"], *found["fact"]):
        row["entry"] = entries.index(row["entry"])
    return found


def is_sound(bank: Bank) -> bool:
    return all(finding.well for finding in bank.core.store.check())


class Life:
    """Run steps on a bank. Steps that the bank refuses are skipped; other tests cover refusals."""

    def __init__(self, bank: Bank, clock: Clock) -> None:
        self.bank = bank
        self.clock = clock
        self.ids: list[str] = []
        self.links: list[str] = []

    def begin(self) -> None:
        """Write a few memories, a link and a fact for the steps to act on."""
        for number in range(3):
            self.remember(Step("remember", number, number, f"the beginning {number}", {}, None))
        self.link(Step("link", 0, 1, "", {}, None))
        self.fact(Step("fact", 0, 1, "", {}, None))

    def live(self, steps: list[Step]) -> None:
        if not self.ids:
            self.begin()
        for step in steps:
            try:
                getattr(self, step.verb)(step)
            except PieriaError:
                continue

    def one(self, number: int) -> str:
        """Return one of the five newest ids."""
        return self.ids[-1 - number % min(len(self.ids), 5)]

    def remember(self, step: Step) -> None:
        kind = ("note", "diary", "drawer")[step.n % 3]
        new = self.bank.remember(
            step.text,
            kind=kind,
            title=step.text if step.m > 5 else None,
            body=step.meta if kind == "drawer" else None,
            tags=[f"t{step.n}"] if step.n > 4 else (),
            meta=step.meta,
            at=step.at,
            importance=step.n / 9,
            scope="session" if step.m > 7 else "bank",
            sequence=step.m,
            context="why" if step.m == 3 else None,
            author="me",
            author_type="human" if step.n > 6 else None,
        )
        self.ids.append(new.id)

    def many(self, step: Step) -> None:
        items = [{"text": f"{step.text} {end}", "id": f"{step.n}{step.m}{end}"} for end in "ab"]
        self.ids += [memory.id for memory in self.bank.remember_many(items)]

    def update(self, step: Step) -> None:
        self.bank.update(self.one(step.n), text=step.text, tags=[f"t{step.m}"], meta=step.meta, reason="so")

    def standing(self, step: Step) -> None:
        status = ("active", "archived")[step.m % 2]
        self.bank.update(self.one(step.n), importance=step.m / 9, status=status)

    def revise(self, step: Step) -> None:
        self.ids.append(self.bank.revise(self.one(step.n), text=step.text).id)

    def remove(self, step: Step) -> None:
        self.bank.remove(self.one(step.n), reason="so")

    def restore(self, step: Step) -> None:
        removed = [memory.id for memory in self.bank.list(include=("removed", "invalid", "archived")) if memory.removed]
        self.bank.restore(removed[step.n % len(removed)] if removed else self.one(step.n))

    def invalidate(self, step: Step) -> None:
        one, other = self.one(step.n), self.one(step.m)
        self.bank.invalidate(one, at=step.at, replacement=other if step.m > 5 and other != one else None)

    def pin(self, step: Step) -> None:
        self.bank.pin(self.one(step.n), step.m > 4)

    def link(self, step: Step) -> None:
        end = Place("wing/room") if step.m > 7 else self.one(step.m)
        relation = ("about", "sibling", "provenance")[step.n % 3]
        self.links.append(self.bank.link(self.one(step.n), end, relation, weight=step.m / 9, meta=step.meta).id)

    def unlink(self, step: Step) -> None:
        self.bank.unlink(self.links[step.m % len(self.links)])

    def fact(self, step: Step) -> None:
        self.bank.facts.add(
            NAMES[step.n % 2],
            "is",
            NAMES[step.m % 3],
            valid_from=step.at,
            confidence=step.n / 9,
            memory=self.one(step.n) if step.m > 6 else None,
        )

    def end_fact(self, step: Step) -> None:
        at = None if step.m < 4 else step.at
        self.bank.facts.invalidate(NAMES[step.n % 2], "is", NAMES[step.m % 3], at=at)

    def alias(self, step: Step) -> None:
        self.bank.facts.alias(step.text[:20], NAMES[step.n % 4])

    def touch(self, step: Step) -> None:
        self.bank.touch([self.one(step.n), self.one(step.m)], accesses=step.n, reviews=step.m % 2, reward=step.n / 9)

    def note(self, step: Step) -> None:
        self.bank.scratchpad.write(step.text)

    def purge(self, step: Step) -> None:
        self.bank.purge(self.one(step.n))

    def undo(self, step: Step) -> None:
        self.bank.undo(self.bank.changes()[-1 - step.n % 3].seq)

    def clock_moves(self, step: Step) -> None:
        self.clock.now += timedelta(microseconds=step.n, hours=step.m - 2)
