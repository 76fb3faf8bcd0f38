"""Random histories of a bank: every verb in any order, with the clock moved both ways, compared with the oracle.

After each step the bank must answer as the oracle does, now and at past moments, for two readers who see different
memories. This class asks the questions; its base classes change the bank.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from tests.properties.bank_life import QUICK, without_row
from tests.properties.bank_ties import Ties, as_written
from tests.properties.bank_values import ALICE, EVERYBODY, EVERYTHING, KINDS, conditions, readers, words
from tests.properties.oracle import Oracle
from tests.properties.oracle_rules import ROUTING, Reader, may_see, says, within
from tests.properties.transfer_life import dump

import pieria
from pieria.bank import Bank
from pieria.record.fact import Fact
from pieria.record.memory import STATEMENT
from pieria.record.time import micros, moment

pytestmark = pytest.mark.timeout(900)
"""Shrinking a failing history takes minutes."""

BANK_ALONE = ("session", "bank")
BY_WORDS = "similarity"
"""Without vectors, recall finds only what holds the word. `test_recall_leaks` covers the other arms."""
TIMES = ("since", "until", "valid_at")
LINK = ("source", "target", "relation", "weight", "label", "ended")
FACT = (
    "subject",
    "predicate",
    "object",
    "valid_from",
    "valid_until",
    "confidence",
    "memory",
    "source",
    "ended",
    "reason",
)


class Recorded(NamedTuple):
    """The answers a reader got at one moment. `ask_again` compares them later."""

    known: int
    now: int
    reader: Reader
    word: str
    memories: list[pieria.Memory]
    facts: list[Fact]
    hits: set[str]


def _of_another(row: dict[str, Any], name: str) -> Any:
    """Return a value of a row. For a fact without a source memory, ignore its statement."""
    return None if name == "memory" and row[name] == row["id"] else row[name]


class BankMachine(Ties):
    def __init__(self) -> None:
        super().__init__()
        self.recorded: list[Recorded] = []

    # --- what must be true after every step

    @invariant()
    def the_journal_tells_every_change(self) -> None:
        for oracle, bank in self.banks():
            told = [(change.seq, micros(change.at), change.what) for change in bank.changes()]
            assert told == [(entry.seq, entry.at, entry.what) for entry in oracle.journal]
            assert bank.changes(last=2) == bank.changes()[-2:]

    @invariant()
    def everybody_sees_what_they_may(self) -> None:
        before = self.state_of_the_files()
        seen = [(self.ours, reader, bank) for reader, bank in self.handles.items()]
        seen += [(oracle, ALICE, bank) for oracle, bank in self.banks() if oracle is self.mine]
        for oracle, reader, bank in seen:
            self.check_listed(bank, oracle, reader, None, EVERYTHING)
            assert {memory.id for memory in bank.list(limit=10_000)} == oracle.visible(reader).keys()
        assert self.state_of_the_files() == before, "a read wrote"

    def check_listed(
        self, bank: Bank, oracle: Oracle, reader: Reader, known: int | None, asked: dict[str, Any]
    ) -> None:
        expected = oracle.visible(reader, known, **asked)
        given: dict[str, Any] = {name: moment(value) if name in TIMES else value for name, value in asked.items()}
        at = None if known is None else moment(known)
        page = bank.list(**given, limit=10_000, known_at=at)
        assert {memory["id"]: memory for memory in without_row(page)} == {
            id: oracle.shown(id, stretch) for id, stretch in expected.items()
        }
        assert bank.count(**given, known_at=at) == len(expected)

    @invariant()
    def links_and_facts_are_what_the_oracle_holds(self) -> None:
        for oracle, bank in self.banks():
            with bank.core.store.reading() as reader:
                for table, held, names in (("link", oracle.links, LINK), ("fact", oracle.facts, FACT)):
                    rows = [
                        (row["id"], row["known_from"], *(_of_another(row, name) for name in names))
                        for row in reader.dump(table)
                    ]
                    assert sorted(rows, key=str) == sorted(
                        (
                            (id, stretch.begin, *(stretch.values[name] for name in names))
                            for id, stretches in held.items()
                            for stretch in stretches
                        ),
                        key=str,
                    )

    @invariant()
    def nobody_sees_what_is_drawn_from_what_they_may_not_see(self) -> None:
        for oracle in (self.ours, self.mine):
            for id, stretch in oracle.known():
                if stretch.values["ended"]:
                    continue
                for source in oracle.drawn(id, upwards=True):
                    held = oracle.current(source)
                    assert stretch.values["trust"] <= held["trust"]
                    assert all(may_see(each, held) for each in EVERYBODY if may_see(each, stretch.values))

    # --- questions

    @rule(reader=readers, word=words, at=st.none() | st.integers(0, 200), k=st.sampled_from([3, 10_000]))
    def recall(self, reader: Reader, word: str, at: int | None, k: int) -> None:
        """Check that recall returns all visible memories that hold the word, the user's own included, and no others."""
        before = self.state_of_the_files()
        known = None if at is None else self.a_moment(at)
        expected = {
            (oracle.name, id, stretch.values["version"])
            for oracle in (self.ours, self.mine)
            for id, stretch in oracle.visible(reader, known).items()
            if says(stretch.values, word) and stretch.values["kind"] not in ROUTING
        }
        hits: list[pieria.Hit] = []
        cursor: str | None = None
        while cursor or not hits:
            page = self.handles[reader].recall(
                word, k=k, known_at=None if known is None else moment(known), cursor=cursor, policy=BY_WORDS
            )
            hits += page
            cursor = page.cursor
            self.check_order(page)
            if not cursor:
                break
        banks = {"user": self.mine.name}
        stated = {hit.memory.id for hit in hits if hit.memory.kind == STATEMENT}
        assert stated == self.facts_that_say(word, reader, known)
        found = [
            (banks.get(hit.memory.scope, self.ours.name), hit.memory.id, hit.memory.version)
            for hit in hits
            if hit.memory.kind != STATEMENT
        ]
        assert set(found) == expected
        assert len(hits) == len(expected) + len(stated)
        assert self.state_of_the_files() == before, "a read wrote"

    def facts_that_say(self, word: str, reader: Reader, known: int | None) -> set[str]:
        """Return the facts without a source memory that hold the word. Recall finds each by its own sentence.

        It also finds those that are over, but not those that begin later.
        """
        return {
            id
            for id, fact in self.ours.told(reader, known).items()
            if fact["memory"] is None
            and (fact["valid_from"] or 0) <= self.ours.now()
            and word in f"{fact['subject']} {fact['predicate']} {fact['object']}".split()
        }

    def check_order(self, page: pieria.Recall) -> None:
        scores = [hit.score for hit in page]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= hit.score <= 1 for hit in page)

    @rule(reader=readers, at=st.integers(0, 200))
    def travel(self, reader: Reader, at: int) -> None:
        known = self.a_moment(at)
        self.check_listed(self.handles[reader], self.ours, reader, known, EVERYTHING)
        for id in list(self.ours.memories)[:3]:
            held = [stretch for stretch in self.ours.memories[id] if stretch.held_at(known)]
            got = self.handles[reader].get(id, known_at=moment(known), include_removed=True)
            assert without_row([] if got is None else [got]) == [
                self.ours.shown(id, stretch) for stretch in held if may_see(reader, stretch.values)
            ]

    @rule(reader=readers, asked=conditions, at=st.none() | st.integers(0, 200))
    def ask_with_a_filter(self, reader: Reader, asked: dict[str, Any], at: int | None) -> None:
        known = None if at is None else self.a_moment(at)
        self.check_listed(self.handles[reader], self.ours, reader, known, asked)
        kinds = [stretch.values["kind"] for stretch in self.ours.visible(reader, known, **asked).values()]
        given: dict[str, Any] = {name: moment(value) if name in TIMES else value for name, value in asked.items()}
        counted = self.handles[reader].count(**given, by="kind", known_at=None if known is None else moment(known))
        assert counted == {kind: kinds.count(kind) for kind in sorted(set(KINDS)) if kind in kinds}

    @rule(reader=readers, order=st.sampled_from(["newest", "oldest", "changed", "important"]), limit=st.integers(1, 4))
    def page_through(self, reader: Reader, order: str, limit: int) -> None:
        bank = self.handles[reader]
        found: list[pieria.Memory] = []
        cursor: str | None = None
        while cursor or not found:
            page = bank.list(order=order, limit=limit, cursor=cursor)
            found += page
            cursor = page.cursor
            if not cursor:
                break
        assert [memory.id for memory in found] == [memory.id for memory in bank.list(order=order, limit=10_000)]
        values = [{"important": each.importance, "changed": each.known_from}.get(order, each.at) for each in found]
        assert values == sorted(values, reverse=order != "oldest")  # type: ignore[type-var]

    @rule(reader=readers, at=st.none() | st.integers(0, 200))
    def ask_the_facts(self, reader: Reader, at: int | None) -> None:
        """Check that each visible fact is shown, within its memory's validity, or a wider one with the same words."""
        known = None if at is None else self.a_moment(at)
        told = self.ours.told(reader, known)
        answers = self.handles[reader].facts.query(history=True, known_at=None if known is None else moment(known))
        shown = {fact.id: as_written(fact) for fact in answers}
        assert shown == {id: told[id] for id in shown}
        assert all(any(covers(other, fact) for other in shown.values()) for fact in told.values())

    # --- what was said once

    @precondition(lambda self: self.ours.journal)
    @rule(reader=readers, word=words)
    def record(self, reader: Reader, word: str) -> None:
        """Store the bank's current answers for `ask_again`."""
        bank = self.handles[reader]
        self.recorded.append(
            Recorded(
                known=self.ours.journal[-1].at,
                now=self.now(),
                reader=reader,
                word=word,
                memories=list(bank.list(**EVERYTHING, limit=10_000)),
                facts=bank.facts.query(history=True),
                hits={hit.memory.reference for hit in bank.recall(word, k=10_000, scope=BANK_ALONE, policy=BY_WORDS)},
            )
        )

    @precondition(lambda self: self.recorded)
    @rule(data=st.data())
    def ask_again(self, data: st.DataObject) -> None:
        """Check that the past answers as before, apart from purged memories and the end of known time."""
        old = data.draw(st.sampled_from(self.recorded), label="recorded")
        bank, known, gone = self.handles[old.reader], moment(old.known), self.ours.purged
        listed = bank.list(**EVERYTHING, limit=10_000, known_at=known)
        assert without_end(listed) == without_end(memory for memory in old.memories if memory.id not in gone)
        asked: dict[str, Any] = {"k": 10_000, "scope": BANK_ALONE, "policy": BY_WORDS}
        hits = bank.recall(old.word, **asked, known_at=known, valid_at=moment(old.now))
        assert {hit.memory.reference for hit in hits} == old.hits - {
            reference for reference in old.hits if reference.rpartition("@")[0] in gone
        }
        facts = [replace(fact, known_until=None) for fact in bank.facts.query(history=True, known_at=known)]
        kept = [replace(fact, known_until=None) for fact in old.facts if fact.source_memory not in gone]
        if len(kept) == len(old.facts):
            assert facts == kept
        else:
            # After a purge took a fact, another fact with the same words may show.
            assert all(any(covers(as_written(fact), as_written(other)) for fact in facts) for other in kept)

    # --- what is left in the end

    def teardown(self) -> None:
        try:
            latest = [moment(oracle.journal[-1].at) for oracle in (self.ours, self.mine) if oracle.journal]
            self.clock = max(self.clock, *latest)
            for oracle, bank in self.banks():
                diagnosis = bank.doctor()
                assert diagnosis.well, diagnosis.as_dict()
                self.check_nothing_is_left_of_what_was_purged(oracle, bank)
                self.check_copies(bank)
            assert not [path for path in self.folder.rglob("*") if path.is_file() and b"hush" in path.read_bytes()]
        finally:
            self.close()

    def check_nothing_is_left_of_what_was_purged(self, oracle: Oracle, bank: Bank) -> None:
        """Check that a dump holds only the ids of purged memories."""
        found = dump(bank)
        of_memories = [row["id"] for table in ("content", "state", "usage") for row in found[table]]
        named = [row["memory"] for row in found["fact"]]
        ends = [end for row in found["link"] for end in (row["source"], row["target"])]
        assert not oracle.purged.keys() & {*of_memories, *named, *ends}
        statements = {row["id"] for row in found["fact"] if row["memory"] == row["id"]}
        assert set(of_memories) - statements == oracle.memories.keys()
        assert {row["id"] for row in found["purged"]} == oracle.purged.keys()
        counts = bank.stats().counts
        assert counts["links"] == len(oracle.ties())

    def check_copies(self, bank: Bank) -> None:
        """Check that an export and a backup both give back the same bank with its past."""
        path = bank.export(self.aside / "out.jsonl").path
        with pieria.open(bank.name, data=self.aside / "imported", clock=bank.clock, settings=QUICK) as copy:
            copy.import_(path, trusted=True)
            assert dump(copy) == dump(bank)
        name = f"restored-{bank.name.strip('@')}"
        pieria.restore(bank.backup(self.aside / "backup"), data=self.aside, name=name)
        with pieria.open(name, data=self.aside, clock=bank.clock, settings=QUICK) as copy:
            assert dump(copy) == dump(bank)


def without_end(memories: Iterable[pieria.Memory]) -> list[dict[str, Any]]:
    """Return the memories without `known_until`, which later changes set."""
    return [{**memory, "known_until": None} for memory in without_row(memories)]


def span(fact: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(fact[name] for name in ("subject", "predicate", "object", "valid_from", "valid_until"))


def covers(wide: dict[str, Any], narrow: dict[str, Any]) -> bool:
    """Return whether the wide fact says the same for all the narrow fact's time."""
    same = span(wide)[:3] == span(narrow)[:3]
    return same and span(within(narrow, wide)) == span(narrow)


EXAMPLES = 30 if settings.default is None else settings.default.max_examples // 3


class TestBank(BankMachine.TestCase):  # type: ignore[misc,valid-type]
    """Short histories, for every run."""

    settings = settings(max_examples=EXAMPLES, stateful_step_count=50)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
class TestBankForLong(BankMachine.TestCase):  # type: ignore[misc,valid-type]
    """Long histories. The nightly profile also makes them many."""

    settings = settings(max_examples=max(1, EXAMPLES // 2), stateful_step_count=100)
