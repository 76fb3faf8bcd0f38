"""Histories nobody thought of: every verb in any order, the clock moved both ways, against the plain oracle.

After each step the bank must answer as the oracle does: now and as it was known at moments of the past, to each of two
handles on one file that see different things. What two banks hold (the bank's own and the user's) is two oracles.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.properties.oracle import ROUTING, Oracle, Reader, may_see, says

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError
from pieria.record.time import iso, micros, moment
from pieria.record.usage import UNUSED

WORDS = ("heron", "stork", "crane", "egret", "bittern", "avocet")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = 3_600_000_000
KINDS = ("note", "note", "observation", "diary", "tag")
EVERYTHING: dict[str, Any] = {"include": ["removed", "revised", "invalid", "archived"]}
ALICE, BOB = Reader(), Reader("s1", "c1")
SIGNED = {ALICE: {}, BOB: {"session": "s1", "channel": "c1"}}

words = st.sampled_from(WORDS)
texts = st.lists(words, min_size=1, max_size=6).map(" ".join)
instants = st.integers(-48, 48).map(lambda hours: micros(START) + hours * HOUR)
maybe_reason = st.none() | st.sampled_from(["because", "after all"])
readers = st.sampled_from([ALICE, BOB])

contents: dict[str, st.SearchStrategy[Any]] = {
    "text": texts,
    "title": st.none() | texts,
    "tags": st.lists(words, max_size=2, unique=True),
    "entities": st.lists(words.map(str.title), max_size=2, unique=True),
    "files": st.lists(words.map("src/{}.py".format), max_size=1),
    "body": st.fixed_dictionaries({}, optional={"type": st.sampled_from(["bugfix", "feature"]), "subtitle": texts}),
    "context": st.none() | texts,
    "meta": st.fixed_dictionaries({}, optional={"n": st.integers(0, 3), "list": st.lists(st.booleans(), max_size=2)}),
}
judgements: dict[str, st.SearchStrategy[Any]] = {
    "importance": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    "confidence": st.none() | st.sampled_from([0.0, 0.9]),
    "strength": st.sampled_from([0.0, 1.0, 2.0]),
    "place": st.sampled_from(["attic/birds", "attic/notes", "cellar/birds"]),
    "at": instants,
}
standings: dict[str, st.SearchStrategy[Any]] = {
    "scope": st.sampled_from(["session", "bank"]),
    "status": st.sampled_from(["active", "promoted", "archived"]),
    "tier": st.sampled_from(["working", "kept"]),
}
periods = st.tuples(st.none() | instants, st.none() | st.integers(1, 48)).map(
    lambda drawn: {
        "valid_from": drawn[0],
        "valid_until": drawn[1] and (drawn[0] or micros(START)) + drawn[1] * HOUR,
    }
)
memories = st.builds(
    lambda fixed, more, period: {**fixed, **more, **{k: v for k, v in period.items() if v is not None}},
    st.fixed_dictionaries({"text": texts, "kind": st.sampled_from(KINDS)}),
    st.fixed_dictionaries(
        {},
        optional={
            **{name: values for name, values in contents.items() if name != "text"},
            **judgements,
            "scope": st.sampled_from(["session", "user", "bank"]),
            "session": st.sampled_from(["s1", "s2"]),
            "channel": st.sampled_from(["c1", "c2"]),
            "author": st.sampled_from(["maya", "ola"]),
            "author_type": st.sampled_from(["human", "agent", "system"]),
            "source": st.sampled_from(["mail", "chat"]),
            "sequence": st.integers(0, 9),
            "pinned": st.booleans(),
        },
    ),
    periods,
)


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    """As a caller writes it: instants as text or numbers of a kind, not as microseconds."""
    return {
        name: iso(moment(value)) if name in ("at", "valid_from", "valid_until") and value is not None else value
        for name, value in values.items()
    }


class BankMachine(RuleBasedStateMachine):
    """`self.clock` is what both handles read."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="pieria-machine-"))
        self.clock = START
        self.ours = Oracle("bank", self.now)
        self.mine = Oracle("@me", self.now)
        self.moments: list[int] = []
        self.facts_seen: list[tuple[int, Reader, list[dict[str, Any]]]] = []
        self.fact_changes: set[int] = set()
        self.notes: dict[str, list[str]] = {"": [], "s1": []}
        self.handles: dict[Reader, Bank] = {}
        self.open_handles()
        self.watch = sqlite3.connect(self.folder / "bank.db")

    def now(self) -> int:
        return micros(self.clock)

    def open_handles(self) -> None:
        """Two stores, since their settings differ: each has its own connections to the file."""
        for reader, seconds in ((ALICE, 10.0), (BOB, 11.0)):
            self.handles[reader] = pieria.open(
                "bank",
                data=self.folder,
                session=reader.session,
                channel=reader.channel,
                clock=lambda: self.clock,
                settings={"durability": "off", "busy_seconds": seconds},
            )

    def teardown(self) -> None:
        try:
            known = [moment(oracle.journal[-1].at) for oracle in self.oracles() if oracle.journal]
            self.clock = max(self.clock, *known, START)
            for bank in self.handles.values():
                diagnosis = bank.doctor()
                assert diagnosis.well, diagnosis.as_dict()
            self.purged_words_are_gone()
        finally:
            self.watch.close()
            for bank in self.handles.values():
                bank.close()
            shutil.rmtree(self.folder)

    def oracles(self) -> list[Oracle]:
        return [self.ours, self.mine]

    def oracle_of(self, id: str) -> Oracle:
        """The bank's own comes first; where nobody has it, the bank's own says so."""
        return self.mine if id in self.mine.memories and id not in self.ours.memories else self.ours

    def some_id(self, data: st.DataObject) -> str:
        """Mostly one that stands; sometimes one that is removed, revised, purged, hidden or was never there."""
        every = [id for oracle in self.oracles() for id in (*oracle.memories, *sorted(oracle.purged))]
        there = [id for oracle in self.oracles() for id, found in oracle.known() if not found.values["ended"]]
        if there and data.draw(st.integers(0, 9), label="any id?") > 0:
            return data.draw(st.sampled_from(there), label="standing id")
        return data.draw(st.sampled_from([*every, "nobody"]), label="id")

    def agree(self, real: Callable[[], Any], model: Callable[[Any], Any]) -> Any:
        """Both do it or both refuse it, with the same class of error. The model is told what the bank answered."""
        refused: PieriaError | None = None
        answer = None
        before = self.state_of_the_file()
        try:
            answer = real()
        except (InputError, NotFoundError, ConflictError) as error:
            refused = error
        if refused is None:
            model(answer)
        else:
            try:
                model(None)
            except type(refused):
                pass
            else:
                raise AssertionError("the oracle would have done it") from refused
            assert self.state_of_the_file() == before, "a refused verb wrote"
        return answer

    def state_of_the_file(self) -> tuple[int, int]:
        version: int = self.watch.execute("PRAGMA data_version").fetchone()[0]
        with self.handles[ALICE].store.reading() as reader:
            return version, reader.head().seq

    # --- the verbs

    @initialize(given=st.lists(memories, min_size=4, max_size=8))
    def begin(self, given: list[dict[str, Any]]) -> None:
        """Not from nothing: most verbs need memories."""
        self.moments.append(self.now())
        self.remember_several(BOB, given)

    @rule(hours=st.sampled_from([-30, -1, 0, 1, 1, 5, 30]), micro=st.integers(-1, 1))
    def move_the_clock(self, hours: int, micro: int) -> None:
        self.clock += timedelta(hours=hours, microseconds=micro)

    @rule()
    def reopen(self) -> None:
        for bank in self.handles.values():
            bank.close()
        self.open_handles()

    @rule(
        reader=readers,
        given=memories,
        id=st.none() | st.none() | st.integers(0, 5).map("id{}".format),
        unless=st.none() | st.sampled_from(["id", "text"]),
    )
    def remember(self, reader: Reader, given: dict[str, Any], id: str | None, unless: str | None) -> None:
        bank = self.handles[reader]
        if id is not None and given.get("scope") == "user":
            id = f"my-{id}"  # one id in two banks is the matter of another test
        self.agree(
            lambda: bank.remember(**spelt(given), id=id, unless_exists=unless),
            lambda memory: self.remembered(reader, given, id, unless, memory),
        )

    def remembered(
        self, reader: Reader, given: dict[str, Any], id: str | None, unless: str | None, memory: pieria.Memory | None
    ) -> None:
        given = {**SIGNED[reader], **given}
        oracle = self.mine if given.get("scope") == "user" else self.ours
        if unless == "id" and id is None:
            raise InputError("unless_exists", "an id", unless)
        if given.get("scope") == "session" and not given.get("session") and not given.get("channel"):
            raise InputError("scope", "a session", "session")
        if id is not None:
            if id in oracle.purged:
                raise ConflictError("purged", ids=(id,))
            if id in oracle.memories:
                values = oracle.current(id)
                if values["ended"] or unless != "id" or not may_see(reader, values):
                    raise ConflictError("taken", ids=(id,))
                assert memory is None or memory.id == id
                return
        if unless == "text":
            twins = self.twins(oracle, given)
            if twins:
                assert memory is None or memory.id in twins
                return
        assert memory is not None
        assert id is None or memory.id == id
        assert memory.id not in oracle.memories
        oracle.remember(oracle.change("remember"), memory.id, given)
        self.check_shown(oracle, memory)

    def twins(self, oracle: Oracle, given: dict[str, Any]) -> set[str]:
        """What says the same, of the same kind and to the same readers."""
        scope = given.get("scope") or "bank"
        asked = {"scope": scope, "kind": given.get("kind", "note")}
        if scope == "session":
            asked |= {name: given[name] for name in ("session", "channel") if given.get(name) is not None}
        seen = oracle.visible(Reader(given.get("session"), given.get("channel")), **asked)
        return {id for id, stretch in seen.items() if stretch.values["text"] == given["text"]}

    @rule(reader=readers, given=st.lists(memories, min_size=1, max_size=4))
    def remember_many(self, reader: Reader, given: list[dict[str, Any]]) -> None:
        self.remember_several(reader, given)

    def remember_several(self, reader: Reader, given: list[dict[str, Any]]) -> None:
        def model(made: list[pieria.Memory] | None) -> None:
            whole = [{**SIGNED[reader], **each} for each in given]
            if any(
                each.get("scope") == "session" and "session" not in each and "channel" not in each for each in whole
            ):
                raise InputError("items", "a session", "session")
            assert made is not None
            assert len(made) == len(given)
            for oracle in (self.mine, self.ours):
                own = [n for n, each in enumerate(whole) if (each.get("scope") == "user") == (oracle is self.mine)]
                entry = oracle.change("remember") if own else None
                for n in own:
                    assert entry is not None
                    oracle.remember(entry, made[n].id, whole[n])
                    self.check_shown(oracle, made[n])

        self.agree(lambda: self.handles[reader].remember_many([spelt(each) for each in given]), model)

    @rule(
        data=st.data(),
        reader=readers,
        given=st.fixed_dictionaries({}, optional={**contents, **judgements, **standings}),
        period=st.none() | periods,
        reason=maybe_reason,
    )  # fmt: skip
    def update(
        self,
        data: st.DataObject,
        reader: Reader,
        given: dict[str, Any],
        period: dict[str, Any] | None,
        reason: str | None,
    ) -> None:
        id = self.some_id(data)
        given = {**given, **(period or {})}

        def model(memory: pieria.Memory | None) -> None:
            if not given:
                raise InputError("update", "something", None)
            oracle = self.oracle_of(id)
            oracle.update(id, reader, given, reason)
            assert memory is not None
            self.check_shown(oracle, memory)

        self.agree(lambda: self.handles[reader].update(id, **spelt(given), reason=reason), model)

    @rule(
        data=st.data(),
        reader=readers,
        given=st.fixed_dictionaries({}, optional={**contents, "importance": judgements["importance"]}),
        reason=maybe_reason,
    )
    def revise(self, data: st.DataObject, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        id = self.some_id(data)

        def model(memory: pieria.Memory | None) -> None:
            if not given:
                raise InputError("revise", "something", None)
            oracle = self.oracle_of(id)
            oracle.revise(id, reader, given, reason, memory.id if memory else "")
            assert memory is not None
            self.check_shown(oracle, memory)

        self.agree(lambda: self.handles[reader].revise(id, **spelt(given), reason=reason), model)

    @rule(
        data=st.data(),
        reader=readers,
        at=st.none() | instants,
        replace=st.sampled_from([False, False, True]),
        reason=maybe_reason,
    )
    def invalidate(
        self, data: st.DataObject, reader: Reader, at: int | None, replace: bool, reason: str | None
    ) -> None:
        id = self.some_id(data)
        replacement = None
        if replace:
            same_bank = list(self.oracle_of(id).memories) or ["nobody"]
            replacement = data.draw(st.sampled_from(same_bank), label="replacement")
        self.agree(
            lambda: self.handles[reader].invalidate(
                id, at=None if at is None else moment(at), replacement=replacement, reason=reason
            ),
            lambda memory: self.oracle_of(id).invalidate(id, reader, at, replacement, reason),
        )

    @rule(data=st.data(), reader=readers, reason=maybe_reason)
    def remove(self, data: st.DataObject, reader: Reader, reason: str | None) -> None:
        id = self.some_id(data)
        self.agree(
            lambda: self.handles[reader].remove(id, reason=reason),
            lambda memory: self.oracle_of(id).remove(id, reader, reason),
        )

    def removed(self) -> list[str]:
        return [id for oracle in self.oracles() for id, s in oracle.known() if s.values["ended"] == "removed"]

    @precondition(lambda self: self.removed())
    @rule(data=st.data(), reader=readers)
    def restore(self, data: st.DataObject, reader: Reader) -> None:
        id = data.draw(st.sampled_from([*self.removed(), self.some_id(data)]), label="removed")
        self.agree(lambda: self.handles[reader].restore(id), lambda memory: self.oracle_of(id).restore(id, reader))

    @rule(data=st.data(), reader=readers, pinned=st.booleans())
    def pin(self, data: st.DataObject, reader: Reader, pinned: bool) -> None:
        id = self.some_id(data)
        self.agree(
            lambda: self.handles[reader].pin(id, pinned), lambda memory: self.oracle_of(id).pin(id, reader, pinned)
        )

    @rule(
        data=st.data(), reader=readers, accesses=st.integers(0, 3), reviews=st.integers(0, 2),
        reward=st.none() | st.sampled_from([-1.0, 0.5]),
    )  # fmt: skip
    def touch(self, data: st.DataObject, reader: Reader, accesses: int, reviews: int, reward: float | None) -> None:
        id = self.some_id(data)

        def model(usage: dict[str, pieria.Usage] | None) -> None:
            self.oracle_of(id).touch(id, reader, accesses, reviews, reward)
            assert usage is not None
            self.check_usage(id, usage[id])

        self.agree(lambda: self.handles[reader].touch(id, accesses=accesses, reviews=reviews, reward=reward), model)

    def check_usage(self, id: str, usage: pieria.Usage) -> None:
        held = self.oracle_of(id).usage.get(id, {})
        for name in ("accesses", "reviews", "rewarded", "rewards"):
            assert getattr(usage, name) == held.get(name, 0)
        for name in ("last_access", "last_review"):
            assert getattr(usage, name) == (moment(held[name]) if name in held else None)

    def some_end(self, data: st.DataObject) -> str:
        """Links are of the bank's own memories, and of places."""
        own = list(self.ours.memories) or ["nobody"]
        return data.draw(st.sampled_from([*own, *own, "attic/birds", "nobody"]), label="end")

    @precondition(lambda self: len(self.ours.memories) > 1)
    @rule(
        data=st.data(), reader=readers, relation=st.sampled_from(["related", "sibling", "provenance", "follows"]),
        weight=st.sampled_from([0.0, 0.5, 1.0]), label=maybe_reason,
    )  # fmt: skip
    def link(self, data: st.DataObject, reader: Reader, relation: str, weight: float, label: str | None) -> None:
        ends = [self.some_end(data), self.some_end(data)]
        source, target = (pieria.Place(end) if "/" in end else end for end in ends)
        if relation == "provenance" and any("/" in end for end in ends):
            relation = "related"
        self.agree(
            lambda: self.handles[reader].link(source, target, relation, weight=weight, label=label),
            lambda link: self.linked(reader, ends, relation, weight, label, link),
        )

    def linked(
        self, reader: Reader, ends: list[str], relation: str, weight: float, label: str | None, link: pieria.Link | None
    ) -> None:
        id = self.ours.link(reader, ends[0], ends[1], relation, weight, label, link.id if link else "")
        assert link is not None
        assert id == link.id or id.startswith("of revision ")

    @precondition(lambda self: any(not s[-1].values["ended"] for s in self.ours.links.values()))
    @rule(data=st.data(), reader=readers)
    def unlink(self, data: st.DataObject, reader: Reader) -> None:
        ties = [s[-1].values for s in self.ours.links.values() if not s[-1].values["ended"]]
        nothing = {"source": "nobody", "target": "attic/birds", "relation": None}
        held = data.draw(st.sampled_from([*ties, *ties, nothing]), label="tie")
        relation = data.draw(st.sampled_from([None, held["relation"]]))
        if held["relation"] == "revises":
            return
        one, other = (pieria.Place(end) if "/" in end else end for end in (held["source"], held["target"]))
        self.agree(
            lambda: self.handles[reader].unlink(one, other, relation),
            lambda links: self.ours.unlink(reader, held["source"], held["target"], relation),
        )

    @rule(data=st.data(), reader=readers)
    def undo(self, data: st.DataObject, reader: Reader) -> None:
        length = len(self.ours.journal)
        seq = max(1, data.draw(st.one_of(st.sampled_from([length] * 4 + [length - 1]), st.integers(1, length + 1))))
        opened = self.ours.journal[seq - 1].opened if seq <= length else []
        if any(self.ours.drawn_facts.get(id) for _, id in opened):
            return  # facts may rest on it, which they know themselves
        if seq in self.fact_changes:
            self.undo_facts(reader, seq)
        else:
            self.agree(lambda: self.handles[reader].undo(seq), lambda change: self.ours.undo(seq, reader))

    def undo_facts(self, reader: Reader, seq: int) -> None:
        """Whether later changes depend on it the facts know; when it is undone, they say what they said before."""
        last = seq == len(self.ours.journal)
        try:
            self.handles[reader].undo(seq)
        except ConflictError:
            return
        entry = self.ours.change(f"undo {seq}", undoable=False)
        self.fact_changes.add(entry.seq)
        if last:
            before = moment(self.ours.journal[seq - 1].at - 1)
            now, then = (
                [
                    self.as_known(fact.as_dict())
                    for fact in self.handles[ALICE].facts.query(history=True, known_at=known)
                ]
                for known in (None, before)
            )
            assert sorted(map(self.said, now)) == sorted(map(self.said, then))

    @rule(data=st.data(), reader=readers, several=st.booleans())
    def purge(self, data: st.DataObject, reader: Reader, several: bool) -> None:
        ids = [self.some_id(data)]
        if several:
            same = [id for id in self.oracle_of(ids[0]).memories if id not in ids]
            ids += data.draw(st.lists(st.sampled_from(same), max_size=2, unique=True)) if same else []

        def model(receipt: pieria.Receipt | None) -> None:
            oracle = self.oracle_of(ids[0])
            links, facts = len(oracle.links), sum(map(len, oracle.drawn_facts.values()))
            seen = {id for id in oracle.memories if may_see(reader, oracle.current(id))}
            gone = oracle.purge(ids, reader)
            assert receipt is not None
            assert {*receipt.ids, *receipt.also} == set(ids) | (gone & seen)
            assert receipt.unreached == ()
            assert receipt.erased["memories"] == len(gone)
            assert receipt.erased["links"] == links - len(oracle.links)
            assert receipt.erased["facts"] == facts - sum(map(len, oracle.drawn_facts.values()))

        self.agree(lambda: self.handles[reader].purge(ids), model)

    @rule(
        data=st.data(), reader=readers, verb=st.sampled_from(["add", "add", "supersede", "invalidate"]),
        said=st.tuples(words, st.sampled_from(["eats", "lives_in"]), words), at=st.none() | instants,
        source=st.booleans(),
    )  # fmt: skip
    def fact(
        self, data: st.DataObject, reader: Reader, verb: str, said: tuple[str, str, str], at: int | None, source: bool
    ) -> None:
        """What facts say to whom is the matter of other tests; here they are part of a history, and are recorded."""
        bank = self.handles[reader]
        when = None if at is None else moment(at)
        own = list(self.ours.memories)
        memory = data.draw(st.sampled_from(own), label="source") if source and own and verb != "invalidate" else None
        seq = self.handles[ALICE].changes(since=len(self.ours.journal))
        assert seq == ()
        try:
            if verb == "add":
                bank.facts.add(*said, valid_from=when, memory=memory)
            elif verb == "supersede":
                bank.facts.supersede(*said, at=when, memory=memory)
            else:
                bank.facts.invalidate(*said, at=when)
        except (NotFoundError, InputError):
            pass
        made = bank.changes(since=len(self.ours.journal))
        assert len(made) <= 1
        for change in made:
            entry = self.ours.change(change.what, undoable=False)
            self.fact_changes.add(entry.seq)
            assert micros(change.at) == entry.at
            if memory is not None:
                with bank.store.reading() as reading:
                    _, _, facts = reading.opened(change.seq)
                self.ours.drawn_facts.setdefault(memory, set()).update(
                    fact.id for fact in facts if fact.memory == memory
                )

    @rule(reader=readers, text=texts, clear=st.booleans())
    def scratch(self, reader: Reader, text: str, clear: bool) -> None:
        notes = self.notes[reader.session or ""]
        pad = self.handles[reader].scratchpad
        if clear:
            assert pad.clear() == len(notes)
            if notes:
                self.ours.change("scratchpad clear", undoable=False)
            notes.clear()
        else:
            pad.write(text)
            notes.append(text)
            self.ours.change("scratchpad write", undoable=False)
        assert sorted(entry.content for entry in pad.read()) == sorted(notes)

    # --- what must be true after every step

    def check_shown(self, oracle: Oracle, memory: pieria.Memory) -> None:
        shown = {name: value for name, value in memory.as_dict().items() if name != "row"}
        assert shown == oracle.shown(memory.id, oracle.memories[memory.id][-1])

    @invariant()
    def the_journal_tells_every_change(self) -> None:
        for oracle, bank in ((self.ours, self.handles[BOB]), (self.mine, self.handles[ALICE]._me(False))):
            if bank is not None:
                assert [(c.seq, micros(c.at), c.what) for c in bank.changes()] == [
                    (entry.seq, entry.at, entry.what) for entry in oracle.journal
                ]

    @invariant()
    def both_handles_see_what_they_may(self) -> None:
        before = self.state_of_the_file()
        users = self.handles[ALICE]._me(False)
        seen = [(self.ours, reader, bank) for reader, bank in self.handles.items()]
        seen += [] if users is None else [(self.mine, ALICE, users)]
        for oracle, reader, bank in seen:
            for asked in ({}, EVERYTHING):
                expected = oracle.visible(reader, **asked)
                page = bank.list(**asked, limit=10_000)
                assert {m.id: {k: v for k, v in m.as_dict().items() if k != "row"} for m in page} == {
                    id: oracle.shown(id, stretch) for id, stretch in expected.items()
                }
                assert bank.count(**asked) == len(expected)
        assert self.state_of_the_file() == before, "a read wrote"

    @rule(data=st.data(), reader=readers)
    def ask_by_id(self, data: st.DataObject, reader: Reader) -> None:
        id = self.some_id(data)
        oracle, bank = self.oracle_of(id), self.handles[reader]
        before = self.state_of_the_file()
        there = oracle.memories.get(id, [])
        seen = bool(there) and may_see(reader, there[-1].values)
        got = bank.get(id, include_removed=True)
        assert (got is not None) == seen
        plain = bank.get(id)
        assert (plain is not None) == (seen and there[-1].values["ended"] != "removed")
        if seen:
            assert got is not None
            self.check_shown(oracle, got)
            # What was its session's alone before stays so, though the memory is for all by now.
            past = [stretch for stretch in there if may_see(reader, stretch.values)]
            history = bank.history(id)
            assert [{k: v for k, v in m.as_dict().items() if k != "row"} for m in history] == [
                oracle.shown(id, stretch) for stretch in past
            ]
            for version in {stretch.values["version"] for stretch in past}:
                last = [stretch for stretch in past if stretch.values["version"] == version][-1]
                one = bank.get(f"{id}@{version}", include_removed=True)
                assert one is not None
                assert {k: v for k, v in one.as_dict().items() if k != "row"} == oracle.shown(id, last)
            with bank.store.reading() if oracle is self.ours else bank._me(False).store.reading() as reading:
                self.check_usage(id, reading.usage([id]).get(id, UNUSED))
        else:
            with pytest.raises(NotFoundError):
                bank.history(id)
        assert self.state_of_the_file() == before, "a read wrote"

    @rule(reader=readers, word=words, known=st.integers(0, 60), past=st.booleans())
    def recall(self, reader: Reader, word: str, known: int, past: bool) -> None:
        """Every visible memory that holds the word, and no other; the user's own among them."""
        before = self.state_of_the_file()
        at = self.a_moment(known) if past else None
        expected = {
            (oracle.name, id, stretch.values["version"])
            for oracle in self.oracles()
            for id, stretch in oracle.visible(reader, at).items()
            if says(stretch.values, word) and stretch.values["kind"] not in ROUTING
        }
        hits = self.handles[reader].recall(word, k=10_000, known_at=None if at is None else moment(at))
        banks = {"user": self.mine.name}
        found = [(banks.get(hit.memory.scope, self.ours.name), hit.memory.id, hit.memory.version) for hit in hits]
        assert set(found) == expected
        assert len(found) == len(expected)
        assert all(0 <= hit.score <= 1 for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert self.state_of_the_file() == before, "a read wrote"

    def a_moment(self, number: int) -> int:
        """A moment of the past: that of a change, or just before it."""
        known = [self.moments[0], *(entry.at for entry in self.ours.journal)]
        return known[(number // 2) % len(known)] - number % 2

    @rule(reader=readers, known=st.integers(0, 200))
    def travel(self, reader: Reader, known: int) -> None:
        at = self.a_moment(known)
        expected = self.ours.visible(reader, at, **EVERYTHING)
        page = self.handles[reader].list(**EVERYTHING, limit=10_000, known_at=moment(at))
        assert {m.id: {k: v for k, v in m.as_dict().items() if k != "row"} for m in page} == {
            id: self.ours.shown(id, stretch) for id, stretch in expected.items()
        }
        for id in list(self.ours.memories)[:3]:
            held = [stretch for stretch in self.ours.memories[id] if stretch.held_at(at)]
            seen = bool(held) and may_see(reader, held[0].values)
            got = self.handles[reader].get(id, known_at=moment(at), include_removed=True)
            assert (got is not None) == seen
            if got is not None:
                assert {k: v for k, v in got.as_dict().items() if k != "row"} == self.ours.shown(id, held[0])

    @rule(
        reader=readers,
        asked=st.fixed_dictionaries(
            {},
            optional={
                "tags": words, "entities": words, "files": words.map("src/{}.py".format),
                "author": st.sampled_from(["maya", "ola"]), "place": st.sampled_from(["attic", "cellar/birds"]),
                "since": instants, "valid_at": instants, "pinned": st.booleans(), "kind": st.sampled_from(KINDS),
                "scope": st.sampled_from(["session", "bank"]), "session": st.sampled_from(["s1", "s2"]),
                "channel": st.sampled_from(["c1", "c2"]),
            },
        ),
    )  # fmt: skip
    def ask_with_a_filter(self, reader: Reader, asked: dict[str, Any]) -> None:
        """A session or channel that is named is one the reader speaks for."""
        speaks = Reader(asked.get("session", reader.session), asked.get("channel", reader.channel))
        expected = self.ours.visible(speaks, **asked)
        given: dict[str, Any] = {
            ("kinds" if k == "kind" else k): moment(v) if k in ("since", "valid_at") else v for k, v in asked.items()
        }
        page = self.handles[reader].list(**given, limit=10_000)
        assert {m.id for m in page} == set(expected)
        assert self.handles[reader].count(**given) == len(expected)
        kinds = [stretch.values["kind"] for stretch in expected.values()]
        assert self.handles[reader].count(**given, by="kind") == {kind: kinds.count(kind) for kind in kinds}

    @rule(reader=readers, data=st.data())
    def walk(self, reader: Reader, data: st.DataObject) -> None:
        standing = [id for id in self.ours.visible(reader)]
        if not standing:
            return
        id = data.draw(st.sampled_from(standing))
        seen = self.ours.visible(reader)
        expected = set()
        for stretches in self.ours.links.values():
            held = stretches[-1].values
            ends = [held["source"], held["target"]]
            if id in ends and not held["ended"]:
                other = ends[0] if ends[1] == id else ends[1]
                if "/" in other or other in seen:
                    expected.add(other)
        found = self.handles[reader].neighbors(id, limit=1_000)
        assert {n.place or (n.memory.id if n.memory else "") for n in found} == expected
        assert len(found) == len(expected)

    @rule(reader=readers)
    def record_facts(self, reader: Reader) -> None:
        """What facts said at a moment, to be asked again later."""
        if self.ours.journal:
            said = [fact.as_dict() for fact in self.handles[reader].facts.query(history=True)]
            self.facts_seen.append((self.ours.journal[-1].at, reader, said))

    @precondition(lambda self: self.facts_seen)
    @rule(data=st.data())
    def ask_facts_of_the_past(self, data: st.DataObject) -> None:
        """As recorded, but for what was purged since; when a purge took a fact, another of the same words may show."""
        known, reader, said = data.draw(st.sampled_from(self.facts_seen), label="recorded")
        again = [fact.as_dict() for fact in self.handles[reader].facts.query(history=True, known_at=moment(known))]
        if any(fact["memory"] in self.ours.purged for fact in said):
            kept = [fact for fact in said if fact["memory"] not in self.ours.purged]
            assert {self.words_of(fact) for fact in kept} <= {self.words_of(fact) for fact in again}
            assert not any(fact["memory"] in self.ours.purged for fact in again)
            return
        assert [self.as_known(fact) for fact in again] == [self.as_known(fact) for fact in said]

    @staticmethod
    def words_of(fact: dict[str, Any]) -> tuple[str, str, str]:
        return fact["subject"], fact["predicate"], fact["object"]

    @staticmethod
    def said(fact: dict[str, Any]) -> tuple[str, ...]:
        """What a fact says, and for when; not when it was learnt."""
        names = ("subject", "predicate", "object", "valid_from", "valid_until", "memory", "confidence")
        return tuple(str(fact[name]) for name in names)

    @staticmethod
    def as_known(fact: dict[str, Any]) -> dict[str, Any]:
        """Until when it was known is what has become of it since."""
        return {**fact, "known_until": None}

    def purged_words_are_gone(self) -> None:
        """The ids of purged memories are in the journal; nothing else of them is in a dump."""
        for oracle, bank in ((self.ours, self.handles[ALICE]), (self.mine, self.handles[ALICE]._me(False))):
            if bank is None:
                continue
            with bank.store.reading() as reader:
                dumped = [row for table in ("content", "state", "usage") for row in reader.dump(table)]
                drawn = [row["memory"] for row in reader.dump("fact")]
                ends = [end for row in reader.dump("link") for end in (row["source"], row["target"])]
            assert not oracle.purged & {*(row["id"] for row in dumped), *drawn, *ends}
            assert {row["id"] for row in dumped} == oracle.memories.keys() | oracle.usage.keys()


class TestBank(BankMachine.TestCase):  # type: ignore[misc,valid-type]
    """Short enough for every run."""

    settings = settings(max_examples=60, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
class TestBankForLong(BankMachine.TestCase):  # type: ignore[misc,valid-type]
    """The same, longer and many times."""

    settings = settings(
        max_examples=300, stateful_step_count=100, deadline=None, suppress_health_check=list(HealthCheck)
    )
