"""Rules for the verbs that change a bank. Each verb runs on the bank and on the oracle."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from tests.properties import bank_values as drawn
from tests.properties.bank_life import Life
from tests.properties.bank_values import ALICE, BOB, readers, reasons, spelt
from tests.properties.oracle import Entry
from tests.properties.oracle_rules import Reader, check_scope, may_see, tie

import pieria
from pieria.errors import ConflictError, InputError
from pieria.record.link import End
from pieria.record.time import moment

PLACE = "attic/birds"
RELATIONS = ("related", "sibling", "follows", "revises")


def end_of(name: str) -> str | End:
    return pieria.Place(name) if "/" in name else name


class Verbs(Life):
    @initialize(given=st.lists(drawn.memories, min_size=4, max_size=8))
    def begin(self, given: list[dict[str, Any]]) -> None:
        """Remember a few memories first, because most verbs need some."""
        self.remember_many(BOB, [{**each, "id": None, "unless_exists": None} for each in given])

    @rule(reader=readers, given=drawn.memories)
    def remember(self, reader: Reader, given: dict[str, Any]) -> None:
        self.agree(
            lambda: [self.handles[reader].remember(**spelt(given))], lambda made: self.keep(reader, [given], made)
        )

    @rule(reader=readers, given=st.lists(drawn.memories, min_size=1, max_size=3))
    def remember_many(self, reader: Reader, given: list[dict[str, Any]]) -> None:
        self.agree(
            lambda: self.handles[reader].remember_many([spelt(each) for each in given]),
            lambda made: self.keep(reader, given, made),
        )

    def keep(self, reader: Reader, given: list[dict[str, Any]], made: list[pieria.Memory] | None) -> None:
        """Record a batch. What exists already, by id or text, is returned: the oldest, or the first of the batch."""
        items = [reader.signed({k: v for k, v in each.items() if v is not None}) for each in given]
        self.check_batch(items, reader)
        assert made is not None
        twins = [self.twins(item) for item in items]
        first: dict[Any, str] = {}
        entry: Entry | None = None
        for item, memory, found in zip(items, made, twins, strict=True):
            id, unless = item.pop("id", memory.id), item.pop("unless_exists", None)
            if unless == "text":
                said = tuple(item.get(name) for name in ("text", "kind", *self.readers_of(item)))
                same = found or {first.get(said)} - {None}
                if same:
                    assert memory.id in same
                    continue
                first[said] = memory.id
            assert memory.id == id
            if unless == "id" and id in self.oracle.memories:
                continue
            assert id not in self.oracle.memories
            entry = entry or self.oracle.change("remember")
            self.oracle.remember(entry, id, item)
            self.check_shown(memory)

    def check_batch(self, items: list[dict[str, Any]], reader: Reader) -> None:
        ids = [item["id"] for item in items if "id" in item]
        for item in items:
            id, unless = item.get("id"), item.get("unless_exists")
            if unless == "id" and id is None:
                raise InputError("unless_exists", "an id", "id")
            check_scope({"scope": "bank", "session": None, "channel": None} | item)
        for id, unless in [(item.get("id"), item.get("unless_exists")) for item in items]:
            there = id in self.oracle.memories and self.oracle.current(id)
            returned = there and unless == "id" and not there["ended"] and may_see(reader, there)
            if ids.count(id) > 1 or id in self.oracle.purged or (there and not returned):
                raise ConflictError("taken", ids=(str(id),))

    def readers_of(self, item: dict[str, Any]) -> tuple[str, ...]:
        return ("scope", "session", "channel") if item.get("scope") == "session" else ("scope",)

    def twins(self, item: dict[str, Any]) -> set[str]:
        """Return the ids of memories with the same text, kind and readers."""
        asked = {"scope": "bank", "kinds": item["kind"]}
        asked |= {name: item[name] for name in self.readers_of(item) if name in item}
        seen = self.oracle.visible(Reader(item.get("session"), item.get("channel")), **asked)
        return {id for id, stretch in seen.items() if stretch.values["text"] == item["text"]}

    @rule(data=st.data(), reader=readers, given=drawn.updates, reason=reasons)
    def update(self, data: st.DataObject, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        self.change(self.some_id(data), reader, given, reason)

    def sources(self) -> list[str]:
        return [values["target"] for values in self.oracle.ties().values() if values["relation"] == "provenance"]

    @precondition(lambda self: self.sources())
    @rule(data=st.data(), reader=readers, given=drawn.narrower)
    def narrow_a_source(self, data: st.DataObject, reader: Reader, given: dict[str, Any]) -> None:
        self.change(data.draw(st.sampled_from(self.sources()), label="source"), reader, given, None)

    def change(self, id: str, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        def model(memory: pieria.Memory | None) -> None:
            if not given:
                raise InputError("update", "something", None)
            self.oracle.update(id, reader, given, reason)

        self.agree(lambda: self.handles[reader].update(id, **spelt(given), reason=reason), model)

    @rule(data=st.data(), reader=readers, given=drawn.revisions, reason=reasons)
    def revise(self, data: st.DataObject, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        id = self.some_id(data)

        def model(memory: pieria.Memory | None) -> None:
            if not given.keys() - {"author", "author_type", "at"}:
                raise InputError("revise", "something", None)
            made, links = (memory.id, self.links_made()) if memory else ("", [])
            self.oracle.revise(id, reader, given, reason, made, links)

        self.agree(lambda: self.handles[reader].revise(id, **spelt(given), reason=reason), model)

    def links_made(self) -> list[dict[str, Any]]:
        """Return the links of the bank's newest change, which the oracle does not have yet."""
        with self.handles[ALICE].core.store.reading() as reader:
            return [link.as_dict() for link in reader.opened(len(self.oracle.journal) + 1)[1]]

    @rule(data=st.data(), reader=readers, at=st.none() | drawn.instants, replace=st.sampled_from([False, False, True]))
    def invalidate(self, data: st.DataObject, reader: Reader, at: int | None, replace: bool) -> None:
        id = self.some_id(data)
        other = self.some_id(data) if replace else None
        reason = data.draw(reasons, label="reason")

        def model(memory: pieria.Memory | None) -> None:
            if other == id:
                raise InputError("replacement", "another", id)
            if other is not None:
                self.oracle.standing(other, reader)
            self.oracle.invalidate(id, reader, at, other, reason)

        until = None if at is None else moment(at)
        self.agree(lambda: self.handles[reader].invalidate(id, at=until, replacement=other, reason=reason), model)

    @rule(data=st.data(), reader=readers, pinned=st.booleans())
    def pin(self, data: st.DataObject, reader: Reader, pinned: bool) -> None:
        id = self.some_id(data)
        self.agree(lambda: self.handles[reader].pin(id, pinned), lambda memory: self.oracle.pin(id, reader, pinned))

    @rule(data=st.data(), reader=readers, reason=reasons)
    def remove(self, data: st.DataObject, reader: Reader, reason: str | None) -> None:
        id = self.some_id(data)
        self.agree(
            lambda: self.handles[reader].remove(id, reason=reason), lambda _: self.oracle.remove(id, reader, reason)
        )

    def removed(self) -> list[str]:
        return [id for id, stretch in self.oracle.known() if stretch.values["ended"] == "removed"]

    @precondition(lambda self: self.removed())
    @rule(data=st.data(), reader=readers, any_id=st.sampled_from([False, False, True]))
    def restore(self, data: st.DataObject, reader: Reader, any_id: bool) -> None:
        id = self.some_id(data) if any_id else data.draw(st.sampled_from(self.removed()), label="removed")
        self.agree(lambda: self.handles[reader].restore(id), lambda memory: self.oracle.restore(id, reader))

    @rule(data=st.data(), reader=readers, several=st.integers(1, 2))
    def purge(self, data: st.DataObject, reader: Reader, several: int) -> None:
        ids = self.some_ids(data, several)

        def model(receipt: pieria.Receipt | None) -> None:
            oracle = self.oracle
            for id in ids:
                oracle.seen(id, reader)
            seen = {id for id in oracle.memories if may_see(reader, oracle.current(id))}
            versions = {id: len({held.values["version"] for held in oracle.memories[id]}) for id in oracle.memories}
            links = len(oracle.links)
            gone = oracle.purge(ids)
            assert receipt is not None
            assert receipt.ids == tuple(ids)
            assert set(receipt.also) == gone & seen - set(ids)
            assert receipt.erased == {
                "memories": len(gone),
                "versions": sum(versions[id] for id in gone),
                "links": links - len(oracle.links),
                "facts": 0,
                "usage": 0,
            }
            if receipt.unreached:
                # On a server, other transactions may block the cleanup for a while. A repair waits for them.
                left = self.handles[ALICE].doctor(repair=True).findings
                assert all(each.well for each in left if each.check == "purge")

        self.agree(lambda: self.handles[reader].purge(ids), model)

    @rule(
        data=st.data(), reader=readers, relation=st.sampled_from(RELATIONS), weight=st.sampled_from([0.5, 1.0]),
        label=reasons,
    )  # fmt: skip
    def link(self, data: st.DataObject, reader: Reader, relation: str, weight: float, label: str | None) -> None:
        ends = [PLACE if data.draw(st.integers(0, 5), label="a place?") == 5 else self.some_id(data) for _ in "ab"]
        self.tie(ends, reader, relation, weight, label)

    @rule(data=st.data(), reader=readers, several=st.integers(1, 2))
    def derive(self, data: st.DataObject, reader: Reader, several: int) -> None:
        derived = self.some_id(data)
        for _ in range(several):
            self.tie([derived, self.some_id(data)], reader, "provenance", 1.0, None)

    def tie(self, ends: list[str], reader: Reader, relation: str, weight: float, label: str | None) -> None:
        def model(made: pieria.Link | None) -> None:
            id = self.oracle.link(reader, tie(ends[0], ends[1], relation, weight, label), made.id if made else "")
            assert made is not None
            assert made.id == id

        source, target = map(end_of, ends)
        self.agree(lambda: self.handles[reader].link(source, target, relation, weight=weight, label=label), model)

    @precondition(lambda self: self.oracle.ties())
    @rule(data=st.data(), reader=readers)
    def unlink(self, data: st.DataObject, reader: Reader) -> None:
        id = data.draw(st.sampled_from(list(self.oracle.ties())), label="link")
        self.agree(lambda: self.handles[reader].unlink(id), lambda links: self.oracle.unlink(reader, id))

    @rule(data=st.data(), reader=readers)
    def undo(self, data: st.DataObject, reader: Reader) -> None:
        any_seq = st.integers(1, len(self.oracle.journal) + 1)
        likely = [st.sampled_from(seqs) for seqs in (self.oracle.latest(), self.oracle.latest("remember")) if seqs]
        seq = data.draw(st.one_of(*likely, any_seq), label="change")
        self.agree(lambda: self.handles[reader].undo(seq), lambda change: self.oracle.undo(seq, reader))

    @rule(mode=st.sampled_from(["skip", "merge", "replace"]))
    def import_its_own_export(self, mode: str) -> None:
        before = self.state_of_the_file()
        file = self.aside / "bank.jsonl"
        self.handles[ALICE].export(file)
        report = self.handles[ALICE].import_(file, mode=mode, trusted=True)
        assert self.state_of_the_file() == before
        assert report.problem_count == 0
        assert report.changes is None
