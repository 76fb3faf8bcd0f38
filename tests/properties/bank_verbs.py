"""Rules for the verbs on memories. Each verb runs on the bank and on the oracle."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from tests.properties.bank_life import Life, without_row
from tests.properties.bank_values import (
    BOB,
    instants,
    memories,
    narrower,
    readers,
    reasons,
    revisions,
    spelt,
    updates,
    words,
)
from tests.properties.oracle import COUNTS, Entry, Oracle
from tests.properties.oracle_rules import PRIVATE, Reader, check_scope, may_see

import pieria
from pieria.errors import ConflictError, InputError, NotFoundError, PrivacyError
from pieria.record.time import moment
from pieria.record.usage import Usage

NAMES = st.sampled_from(["id", "source", "author", "session", "channel", "place"])


class Verbs(Life):
    # --- remembering

    @initialize(given=st.lists(memories, min_size=4, max_size=8))
    def begin(self, given: list[dict[str, Any]]) -> None:
        """Remember a few memories first, because most verbs need some."""
        plain = [{**each, "id": None, "unless_exists": None} for each in given]
        self.remember_many(BOB, plain)

    @rule(reader=readers, given=memories)
    def remember(self, reader: Reader, given: dict[str, Any]) -> None:
        self.agree(
            lambda: [self.handles[reader].remember(**spelt(given))],
            lambda made: self.keep(reader, [given], made),
        )

    @rule(reader=readers, given=st.lists(memories, min_size=1, max_size=3))
    def remember_many(self, reader: Reader, given: list[dict[str, Any]]) -> None:
        self.agree(
            lambda: self.handles[reader].remember_many([spelt(each) for each in given]),
            lambda made: self.keep(reader, given, made),
        )

    @rule(reader=readers, given=memories, name=NAMES)
    def remember_under_a_private_name(self, reader: Reader, given: dict[str, Any], name: str) -> None:
        """Check that a private name is refused. A name identifies something, so no part of it can be cut out."""
        before = self.state_of_the_files()
        with pytest.raises((PrivacyError, InputError)):
            self.handles[reader].remember(**spelt({**given, "unless_exists": None, name: f"x/{PRIVATE}y"}))
        assert self.state_of_the_files() == before

    def keep(self, reader: Reader, given: list[dict[str, Any]], made: list[pieria.Memory] | None) -> None:
        items = [reader.signed({k: v for k, v in each.items() if v is not None}) for each in given]
        for item in items:
            if item.get("unless_exists") == "id" and "id" not in item:
                raise InputError("unless_exists", "an id", "id")
            check_scope({"scope": "bank", "session": None, "channel": None} | item)
        parts = [
            (oracle, [n for n, item in enumerate(items) if (item.get("scope") == "user") == (oracle is self.mine)])
            for oracle in (self.mine, self.ours)
        ]
        for oracle, part in parts:
            self.check_ids(oracle, reader, [items[n] for n in part])
        assert made is not None
        assert len(made) == len(given)
        for oracle, part in parts:
            self.keep_part(oracle, reader, [(items[n], made[n]) for n in part])

    def check_ids(self, oracle: Oracle, reader: Reader, items: list[dict[str, Any]]) -> None:
        given = [item["id"] for item in items if "id" in item]
        if len(set(given)) < len(given):
            raise ConflictError("given twice", ids=tuple(given))
        for item in items:
            id = item.get("id")
            if id in oracle.purged:
                raise ConflictError("purged", ids=(id,))
            if id in oracle.memories:
                values = oracle.current(id)
                if values["ended"] or item.get("unless_exists") != "id" or not may_see(reader, values):
                    raise ConflictError("taken", ids=(id,))

    def keep_part(self, oracle: Oracle, reader: Reader, part: list[tuple[dict[str, Any], pieria.Memory]]) -> None:
        """Record one bank's part of a batch. A duplicate returns the existing memory, or the first of the batch."""
        twins = [self.twins(oracle, reader, item) for item, _ in part]
        first: dict[Any, str] = {}
        entry: Entry | None = None
        for (item, memory), found in zip(part, twins, strict=True):
            if "id" in item and item["id"] in oracle.memories:
                assert memory.id == item["id"]
                continue
            if item.get("unless_exists") == "text":
                said = self.identity(reader, item)
                same = found or {first.get(said)} - {None}
                if same:
                    assert memory.id in same
                    continue
                first[said] = memory.id
            assert memory.id not in oracle.memories
            assert memory.id == item.get("id", memory.id)
            entry = entry or oracle.change("remember")
            given = {name: value for name, value in item.items() if name not in ("id", "unless_exists")}
            oracle.remember(entry, memory.id, reader, given)
            self.check_shown(oracle, memory)

    def identity(self, reader: Reader, item: dict[str, Any]) -> tuple[Any, ...]:
        scope = item.get("scope", "bank")
        own = (item.get("session"), item.get("channel")) if scope == "session" else ()
        return (item["kind"], reader.kept(item["text"]), scope, *own)

    def twins(self, oracle: Oracle, reader: Reader, item: dict[str, Any]) -> set[str]:
        """Return the ids of memories with the same text, kind and readers."""
        scope = item.get("scope", "bank")
        asked = {"scope": scope, "kinds": item["kind"]}
        if scope == "session":
            asked |= {name: item[name] for name in ("session", "channel") if name in item}
        seen = oracle.visible(Reader(item.get("session"), item.get("channel")), **asked)
        return {id for id, stretch in seen.items() if stretch.values["text"] == reader.kept(item["text"])}

    # --- correcting

    @rule(data=st.data(), reader=readers, given=updates, reason=reasons)
    def update(self, data: st.DataObject, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        self.change(self.some_id(data), reader, given, reason)

    def sources(self) -> list[str]:
        """Return the ids of memories that other memories or facts are derived from."""
        ties = [stretch.values for oracle in (self.ours, self.mine) for stretch in oracle.ties().values()]
        named = [stretches[-1].values["memory"] for stretches in self.ours.facts.values()]
        return [values["target"] for values in ties if values["relation"] == "provenance"] + [id for id in named if id]

    @precondition(lambda self: self.sources())
    @rule(data=st.data(), reader=readers, given=narrower)
    def narrow_a_source(self, data: st.DataObject, reader: Reader, given: dict[str, Any]) -> None:
        self.change(data.draw(st.sampled_from(self.sources()), label="source"), reader, given, None)

    def change(self, id: str, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        def model(memory: pieria.Memory | None) -> None:
            if not given:
                raise InputError("update", "something", None)
            self.oracle_of(id).update(id, reader, given, reason)
            assert memory is not None
            self.check_shown(self.oracle_of(id), memory)

        self.agree(lambda: self.handles[reader].update(id, **spelt(given), reason=reason), model)

    @rule(data=st.data(), reader=readers, given=revisions, reason=reasons)
    def revise(self, data: st.DataObject, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        id = self.some_id(data)

        def model(memory: pieria.Memory | None) -> None:
            if not given.keys() - {"author", "author_type", "at"}:
                raise InputError("revise", "something", None)
            oracle = self.oracle_of(id)
            made, links = (memory.id, self.links_made(oracle)) if memory else ("", [])
            oracle.revise(id, reader, given, reason, made, links)
            assert memory is not None
            self.check_shown(oracle, memory)

        self.agree(lambda: self.handles[reader].revise(id, **spelt(given), reason=reason), model)

    def links_made(self, oracle: Oracle) -> list[dict[str, Any]]:
        """Return the links of the bank's newest change, which the oracle does not have yet."""
        bank = dict((each.name, bank) for each, bank in self.banks())[oracle.name]
        with bank.core.store.reading() as reader:
            return [link.as_dict() for link in reader.opened(len(oracle.journal) + 1)[1]]

    @rule(
        data=st.data(),
        reader=readers,
        at=st.none() | instants,
        replace=st.sampled_from([False, False, True]),
        reason=reasons,
    )
    def invalidate(
        self, data: st.DataObject, reader: Reader, at: int | None, replace: bool, reason: str | None
    ) -> None:
        id = self.some_id(data)
        other = self.some_id(data) if replace else None

        def model(memory: pieria.Memory | None) -> None:
            if other == id:
                raise InputError("replacement", "another", id)
            if other is not None:
                self.oracle_of(other).standing(other, reader)
            self.oracle_of(id).invalidate(id, reader, at, other, reason)
            assert memory is not None
            self.check_shown(self.oracle_of(id), memory)

        until = None if at is None else moment(at)
        self.agree(lambda: self.handles[reader].invalidate(id, at=until, replacement=other, reason=reason), model)

    @rule(data=st.data(), reader=readers, pinned=st.booleans())
    def pin(self, data: st.DataObject, reader: Reader, pinned: bool) -> None:
        id = self.some_id(data)
        self.agree(
            lambda: self.handles[reader].pin(id, pinned), lambda memory: self.oracle_of(id).pin(id, reader, pinned)
        )

    # --- forgetting

    @rule(data=st.data(), reader=readers, reason=reasons)
    def remove(self, data: st.DataObject, reader: Reader, reason: str | None) -> None:
        id = self.some_id(data)
        self.agree(
            lambda: self.handles[reader].remove(id, reason=reason),
            lambda memory: self.oracle_of(id).remove(id, reader, reason),
        )

    def removed(self) -> list[str]:
        every = [*self.ours.known(), *self.mine.known()]
        return [id for id, stretch in every if stretch.values["ended"] == "removed"]

    @precondition(lambda self: self.removed())
    @rule(data=st.data(), reader=readers, any_id=st.sampled_from([False, False, True]))
    def restore(self, data: st.DataObject, reader: Reader, any_id: bool) -> None:
        id = self.some_id(data) if any_id else data.draw(st.sampled_from(self.removed()), label="removed")

        def model(memory: pieria.Memory | None) -> None:
            self.oracle_of(id).restore(id, reader)
            assert memory is not None
            self.check_shown(self.oracle_of(id), memory)

        self.agree(lambda: self.handles[reader].restore(id), model)

    @rule(data=st.data(), reader=readers, several=st.integers(1, 2))
    def purge(self, data: st.DataObject, reader: Reader, several: int) -> None:
        ids = list(dict.fromkeys(self.some_id(data) for _ in range(several)))

        def model(receipt: pieria.Receipt | None) -> None:
            for id in ids:
                self.oracle_of(id).seen(id, reader)
            parts = [(oracle, [id for id in ids if self.oracle_of(id) is oracle]) for oracle in (self.ours, self.mine)]
            erased = dict.fromkeys(("memories", "versions", "links", "facts", "usage"), 0)
            named: set[str] = set()
            for oracle, part in parts:
                if part:
                    named |= self.erase(oracle, part, reader, erased)
            assert receipt is not None
            assert receipt.ids == tuple(ids)
            assert set(receipt.also) == named - set(ids)
            assert receipt.erased == erased
            # On a server, other transactions may block the cleanup for a while. A repair waits for them.
            left = (bank.doctor(repair=True) for _, bank in self.banks()) if receipt.unreached else ()
            assert all(each.well for diagnosis in left for each in diagnosis.findings if each.check == "purge")

        self.agree(lambda: self.handles[reader].purge(ids), model)

    def erase(self, oracle: Oracle, ids: list[str], reader: Reader, erased: dict[str, int]) -> set[str]:
        """Add the erased rows to the counts. Return the erased ids that the reader may see."""
        seen = {id for id in oracle.memories if may_see(reader, oracle.current(id))}
        versions = {
            id: len({held.values["version"] for held in stretches}) for id, stretches in oracle.memories.items()
        }
        used, links, facts = set(oracle.usage), len(oracle.links), len(oracle.facts)
        gone = oracle.purge(ids)
        erased["memories"] += len(gone)
        erased["versions"] += sum(versions[id] for id in gone)
        erased["links"] += links - len(oracle.links)
        erased["facts"] += facts - len(oracle.facts)
        erased["usage"] += len(used & gone)
        return gone & seen

    # --- usage

    @rule(
        data=st.data(), reader=readers, several=st.integers(1, 2), reward=st.none() | st.sampled_from([-1.0, 0.5]),
        accesses=st.integers(0, 3), reviews=st.integers(0, 2), crossings=st.integers(0, 1),
    )  # fmt: skip
    def touch(
        self,
        data: st.DataObject,
        reader: Reader,
        several: int,
        reward: float | None,
        accesses: int,
        reviews: int,
        crossings: int,
    ) -> None:
        ids = list(dict.fromkeys(self.some_id(data) for _ in range(several)))
        counted = {"accesses": accesses, "reviews": reviews, "crossings": crossings}

        def model(usage: dict[str, Usage] | None) -> None:
            if not any(counted.values()) and reward is None:
                raise InputError("accesses", "some use", accesses)
            for id in ids:
                self.oracle_of(id).standing(id, reader)
            for name in dict.fromkeys(self.oracle_of(id).name for id in ids):
                (self.mine if name == self.mine.name else self.ours).change("touch")
            for id in ids:
                self.oracle_of(id).touch(id, counted, reward)
            assert usage is not None
            self.check_usage(ids, usage)

        self.agree(lambda: self.handles[reader].touch(ids, reward=reward, boost=False, **counted), model)

    @rule(data=st.data(), reader=readers, several=st.integers(1, 3))
    def usage(self, data: st.DataObject, reader: Reader, several: int) -> None:
        ids = list(dict.fromkeys(self.some_id(data) for _ in range(several)))

        def model(usage: dict[str, Usage] | None) -> None:
            for id in ids:
                self.oracle_of(id).seen(id, reader)
            assert usage is not None
            self.check_usage(ids, usage)

        self.agree(lambda: self.handles[reader].usage(ids), model)

    def check_usage(self, ids: list[str], usage: dict[str, Usage]) -> None:
        assert list(usage) == ids
        for id in ids:
            held = self.oracle_of(id).usage.get(id, {})
            assert {name: getattr(usage[id], name) for name in COUNTS} == {name: held.get(name, 0) for name in COUNTS}
            assert usage[id].rewards == held.get("rewards", 0.0)
            for name in ("last_access", "last_review"):
                assert getattr(usage[id], name) == (moment(held[name]) if name in held else None)

    # --- a session's own notes

    @rule(data=st.data(), reader=readers, word=words, verb=st.sampled_from(["write", "write", "update", "clear"]))
    def scratch(self, data: st.DataObject, reader: Reader, word: str, verb: str) -> None:
        """Check the scratchpad: one per session, screened like memories, without undo."""
        notes, pad = self.notes[reader.session], self.handles[reader].scratchpad
        content = f"{word} {PRIVATE} {word}"
        if verb == "write":
            notes[pad.write(content).id] = f"{word} {word}"
            self.ours.change("scratchpad write")
        elif verb == "update":
            id = data.draw(st.sampled_from(["nobody", *notes]), label="entry")
            if id == "nobody":
                with pytest.raises(NotFoundError):
                    pad.update(id, content)
            else:
                assert pad.update(id, content).content == f"{word} {word}"
                notes[id] = f"{word} {word}"
                self.ours.change("scratchpad update")
        else:
            assert pad.clear() == len(notes)
            if notes:
                self.ours.change("scratchpad clear")
            notes.clear()
        assert {entry.id: entry.content for entry in pad.read()} == notes

    # --- by id

    @rule(reader=readers)
    def open_by_id(self, reader: Reader) -> None:
        before = self.state_of_the_files()
        every = [id for oracle in (self.ours, self.mine) for id in (*oracle.memories, *oracle.purged)]
        for id in ("nobody", *every):
            self.check_by_id(id, reader)
        assert self.state_of_the_files() == before, "a read wrote"

    def check_by_id(self, id: str, reader: Reader) -> None:
        oracle, bank = self.oracle_of(id), self.handles[reader]
        if not self.sees(id, reader):
            assert bank.get(id, include_removed=True) is None or "@" in id
            with pytest.raises(NotFoundError):
                bank.history(id)
            return
        stretches = oracle.memories[id]
        got = bank.get(id, include_removed=True)
        assert got is not None
        self.check_shown(oracle, got)
        assert (bank.get(id) is None) == (stretches[-1].values["ended"] == "removed")
        # Earlier versions that were private to a session stay private, although the memory is now public.
        past = [stretch for stretch in stretches if may_see(reader, stretch.values)]
        assert without_row(bank.history(id)) == [oracle.shown(id, stretch) for stretch in past]
        for version in {stretch.values["version"] for stretch in past}:
            if f"{id}@{version}" in {*self.ours.memories, *self.mine.memories}:
                continue
            last = [stretch for stretch in past if stretch.values["version"] == version][-1]
            one = bank.get(f"{id}@{version}", include_removed=True)
            assert one is not None
            assert without_row([one]) == [oracle.shown(id, last)]
        whole = bank.history(id, revisions=True)
        assert {memory.id for memory in whole} == {each for each in oracle.story(id) if self.was_seen(each, reader)}

    def was_seen(self, id: str, reader: Reader) -> bool:
        return any(may_see(reader, stretch.values) for stretch in self.oracle_of(id).memories[id])
