"""Random histories of a bank: every verb in any order, with the clock moved both ways, compared with the oracle.

After each step the bank must answer as the oracle does, now and at past moments, for two readers who see different
memories. This class asks the questions; its base classes change the bank.
"""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from tests.properties.bank_life import without_row
from tests.properties.bank_values import ALICE, EVERYBODY, EVERYTHING, KINDS, conditions, readers, words
from tests.properties.bank_verbs import Verbs
from tests.properties.oracle_rules import ROUTING, Reader, may_see, says

import pieria
from pieria.bank import Bank
from pieria.errors import NotFoundError, PieriaError
from pieria.record.changeset import FACTS_STATED
from pieria.record.time import micros, moment

pytestmark = pytest.mark.timeout(900)  # shrinking a failing history takes minutes

BY_WORDS = "similarity"
"""Without vectors, recall finds only what holds the word. `test_recall_leaks` covers the other arms."""
TIMES = ("since", "until", "valid_at")
LINK = ("source", "target", "relation", "weight", "label", "ended")
TABLES = ("content", "state", "link", "fact", "usage", "record", "journal", "purged")


class BankMachine(Verbs):
    @invariant()
    def journal_names_every_change(self) -> None:
        changes = self.handles[ALICE].changes()
        written = [(change.seq, micros(change.at), change.what) for change in changes]
        assert written == [(entry.seq, entry.at, entry.what) for entry in self.oracle.journal]
        assert self.handles[ALICE].changes(last=2) == changes[-2:]

    @invariant()
    def everybody_sees_what_they_may(self) -> None:
        before = self.state_of_the_file()
        for reader, bank in self.handles.items():
            self.check_listed(reader, None, EVERYTHING)
            assert {memory.id for memory in bank.list(limit=10_000)} == self.oracle.visible(reader).keys()
        assert self.state_of_the_file() == before, "a read wrote"

    def check_listed(self, reader: Reader, known: int | None, asked: dict[str, Any]) -> None:
        bank = self.handles[reader]
        expected = self.oracle.visible(reader, known, **asked)
        given: dict[str, Any] = {name: moment(value) if name in TIMES else value for name, value in asked.items()}
        at = None if known is None else moment(known)
        page = bank.list(**given, limit=10_000, known_at=at)
        assert {memory["id"]: memory for memory in without_row(page)} == {
            id: self.oracle.shown(id, stretch) for id, stretch in expected.items()
        }
        assert bank.count(**given, known_at=at) == len(expected)

    @invariant()
    def links_are_what_the_oracle_holds(self) -> None:
        rows = [(row["id"], row["known_from"], *(row[name] for name in LINK)) for row in dump(self.bank())["link"]]
        held = [(id, stretch) for id, stretches in self.oracle.links.items() for stretch in stretches]
        expected = [(id, stretch.begin, *(stretch.values[name] for name in LINK)) for id, stretch in held]
        assert sorted(rows, key=str) == sorted(expected, key=str)

    @invariant()
    def derived_memories_are_bounded(self) -> None:
        for id, stretch in self.oracle.known():
            for source in () if stretch.values["ended"] else self.oracle.drawn(id, upwards=True):
                held = self.oracle.current(source)
                assert all(may_see(each, held) for each in EVERYBODY if may_see(each, stretch.values))

    def bank(self) -> Bank:
        return self.handles[ALICE]

    @rule(reader=readers, word=words, at=st.none() | st.integers(0, 200), k=st.sampled_from([3, 10_000]))
    def recall(self, reader: Reader, word: str, at: int | None, k: int) -> None:
        """Check that recall returns all visible memories that hold the word, and no others."""
        before = self.state_of_the_file()
        known = None if at is None else self.a_moment(at)
        expected = {
            (id, stretch.values["version"])
            for id, stretch in self.oracle.visible(reader, known).items()
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
            scores = [hit.score for hit in page]
            assert scores == sorted(scores, reverse=True)
            assert all(0 <= score <= 1 for score in scores)
            if not cursor:
                break
        assert {(hit.memory.id, hit.memory.version) for hit in hits} == expected
        assert len(hits) == len(expected)
        assert self.state_of_the_file() == before, "a read wrote"

    @rule(reader=readers, at=st.integers(0, 200))
    def travel(self, reader: Reader, at: int) -> None:
        known = self.a_moment(at)
        self.check_listed(reader, known, EVERYTHING)
        for id in list(self.oracle.memories)[:3]:
            held = [stretch for stretch in self.oracle.memories[id] if stretch.held_at(known)]
            got = self.handles[reader].get(id, known_at=moment(known), include_removed=True)
            assert without_row([] if got is None else [got]) == [
                self.oracle.shown(id, stretch) for stretch in held if may_see(reader, stretch.values)
            ]

    @rule(reader=readers, asked=conditions, at=st.none() | st.integers(0, 200))
    def ask_with_a_filter(self, reader: Reader, asked: dict[str, Any], at: int | None) -> None:
        known = None if at is None else self.a_moment(at)
        self.check_listed(reader, known, asked)
        kinds = [stretch.values["kind"] for stretch in self.oracle.visible(reader, known, **asked).values()]
        given: dict[str, Any] = {name: moment(value) if name in TIMES else value for name, value in asked.items()}
        counted = self.handles[reader].count(**given, by="kind", known_at=None if known is None else moment(known))
        assert counted == {kind: kinds.count(kind) for kind in sorted(set(KINDS)) if kind in kinds}

    @rule(reader=readers)
    def open_by_id(self, reader: Reader) -> None:
        before = self.state_of_the_file()
        for id in ("nobody", *self.oracle.memories, *self.oracle.purged):
            self.check_by_id(id, reader)
        assert self.state_of_the_file() == before, "a read wrote"

    def check_by_id(self, id: str, reader: Reader) -> None:
        bank, stretches = self.handles[reader], self.oracle.memories.get(id, [])
        if not stretches or not may_see(reader, stretches[-1].values):
            assert bank.get(id, include_removed=True) is None or "@" in id
            with pytest.raises(NotFoundError):
                bank.history(id)
            return
        got = bank.get(id, include_removed=True)
        assert got is not None
        self.check_shown(got)
        assert (bank.get(id) is None) == (stretches[-1].values["ended"] == "removed")
        # Earlier versions that were private to a session stay private, although the memory is now public.
        past = [stretch for stretch in stretches if may_see(reader, stretch.values)]
        assert without_row(bank.history(id)) == [self.oracle.shown(id, stretch) for stretch in past]
        for version in {stretch.values["version"] for stretch in past}:
            if f"{id}@{version}" not in self.oracle.memories:
                last = [stretch for stretch in past if stretch.values["version"] == version][-1]
                one = bank.get(f"{id}@{version}", include_removed=True)
                assert without_row([] if one is None else [one]) == [self.oracle.shown(id, last)]
        revisions = {memory.id for memory in bank.history(id, revisions=True)}
        assert revisions == {
            each
            for each in self.oracle.story(id)
            if any(may_see(reader, stretch.values) for stretch in self.oracle.memories[each])
        }

    def teardown(self) -> None:
        try:
            if self.oracle.journal:
                self.clock = max(self.clock, moment(self.oracle.journal[-1].at))
            diagnosis = self.bank().doctor()
            assert diagnosis.well, diagnosis.as_dict()
            self.check_nothing_is_left_of_what_was_purged()
            self.check_copies()
        finally:
            self.close()

    def check_nothing_is_left_of_what_was_purged(self) -> None:
        """Check that a dump holds only the ids of purged memories."""
        found = dump(self.bank())
        of_memories = {row["id"] for table in ("content", "state", "usage") for row in found[table]}
        ends = {end for row in found["link"] for end in (row["source"], row["target"])}
        assert not self.oracle.purged.keys() & ends
        assert of_memories == self.oracle.memories.keys()
        assert {row["id"] for row in found["purged"]} == self.oracle.purged.keys()
        assert self.bank().stats().counts["links"] == len(self.oracle.ties())

    def check_copies(self) -> None:
        """Check that an export and a backup both give back the same bank with its past."""
        bank, path = self.bank(), self.aside / "out.jsonl"
        bank.export(path)
        with pieria.open(bank.name, data=self.aside / "imported", clock=bank.clock) as copy:
            copy.import_(path, trusted=True)
            assert dump(copy) == dump(bank)
            copy.export(self.aside / "again.jsonl")
        # The first line holds the time of the export, the last one a digest of it.
        lines = path.read_bytes().splitlines(keepends=True)
        assert (self.aside / "again.jsonl").read_bytes().splitlines(keepends=True)[1:-1] == lines[1:-1]
        self.check_damaged(lines)
        pieria.restore(bank.backup(self.aside / "backup"), data=self.aside, name="restored")
        with pieria.open("restored", data=self.aside, clock=bank.clock) as copy:
            assert dump(copy) == dump(bank)

    def check_damaged(self, lines: list[bytes]) -> None:
        """Check that a damaged export leaves out whole memories, if it is not refused."""
        if len(lines) < 3:
            return
        number, path = 1 + len(self.oracle.journal) % (len(lines) - 2), self.aside / "damaged.jsonl"
        with pieria.open("damaged", data=self.aside, clock=self.bank().clock) as copy:
            path.write_bytes(b"".join(lines)[: -len(lines[-1])])
            for on_error in ("stop", "skip"):
                with pytest.raises(PieriaError):
                    copy.import_(path, on_error=on_error, trusted=True)
            path.write_bytes(b"".join([*lines[:number], b"nonsense\n", *lines[number + 1 :]]))
            with pytest.raises(PieriaError):
                copy.import_(path, trusted=True)
            assert not copy.changes()
            assert copy.import_(path, on_error="skip", trusted=True).problem_count > 0
            kept, whole = dump(copy)["state"], dump(self.bank())["state"]
            for id in {row["id"] for row in kept}:
                assert states_of(kept, id) == states_of(whole, id)
            assert all(finding.well for finding in copy.core.store.check())


def states_of(rows: list[dict[str, Any]], id: str) -> list[dict[str, Any]]:
    return [{**row, "row": None} for row in rows if row["id"] == id]


def dump(bank: Bank) -> dict[str, list[dict[str, Any]]]:
    """Return every row, with the store's row numbers made consecutive: an import leaves no gaps.

    Leave out the record of how far older facts have statements: it is local to the file.
    """
    with bank.core.store.reading() as reader:
        found = {table: list(reader.dump(table)) for table in TABLES}
    found["record"] = [row for row in found["record"] if row["collection"] != FACTS_STATED]
    rows = {row["row"]: number for number, row in enumerate(found["content"])}
    for row in (*found["content"], *found["state"]):
        row["row"] = rows[row["row"]]
    for number, row in enumerate(sorted(found["link"], key=lambda row: row["entry"])):
        row["entry"] = number
    return found


SHORT, LONG = 8, 50  # histories in every run, and in the slow tests: one of 50 steps takes most of a second


class TestBank(BankMachine.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=SHORT, stateful_step_count=50)


@pytest.mark.slow
class TestBankForLong(BankMachine.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=LONG, stateful_step_count=60)
