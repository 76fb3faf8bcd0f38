"""Rules for links, facts, undo and import of the bank's own export."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.properties.bank_values import ALICE, PREDICATES, instants, readers, reasons, statements, texts, words
from tests.properties.bank_verbs import Verbs
from tests.properties.oracle import Oracle
from tests.properties.oracle_rules import DIRECTIONLESS, Reader, may_see, tie

import pieria
from pieria.bank import Bank
from pieria.bank.results.general import Neighborhood
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.fact import Fact
from pieria.record.link import End
from pieria.record.time import micros, moment

PLACE = "attic/birds"
RELATIONS = ("related", "sibling", "follows", "revises")
TIMES = ("valid_from", "valid_until")


def end_of(name: str) -> str | End:
    return pieria.Place(name) if "/" in name else name


def as_written(fact: Fact) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in ("subject", "predicate", "object", *TIMES)}
    values |= {name: None if values[name] is None else micros(values[name]) for name in TIMES}
    values |= {name: getattr(fact, name) for name in ("confidence", "source", "ended", "reason")}
    return values | {"memory": fact.source_memory}


class Ties(Verbs):
    # --- links

    def some_end(self, data: st.DataObject) -> str:
        return PLACE if data.draw(st.integers(0, 5), label="a place?") == 5 else self.some_id(data)

    def common_oracle(self, ends: list[str]) -> Oracle:
        """Return the oracle that holds all ends. Raise `ConflictError` if they are in two banks."""
        names = {self.oracle_of(end).name for end in ends if "/" not in end}
        if len(names) > 1:
            raise ConflictError("in two banks", ids=tuple(ends))
        return self.mine if names == {self.mine.name} else self.ours

    @rule(
        data=st.data(), reader=readers, relation=st.sampled_from(RELATIONS), weight=st.sampled_from([0.5, 1.0]),
        label=reasons,
    )  # fmt: skip
    def link(self, data: st.DataObject, reader: Reader, relation: str, weight: float, label: str | None) -> None:
        self.tie([self.some_end(data), self.some_end(data)], reader, relation, weight, label)

    @rule(data=st.data(), reader=readers, several=st.integers(1, 2))
    def derive(self, data: st.DataObject, reader: Reader, several: int) -> None:
        derived = self.some_id(data)
        for _ in range(several):
            self.tie([derived, self.some_id(data)], reader, "provenance", 1.0, None)

    def tie(self, ends: list[str], reader: Reader, relation: str, weight: float, label: str | None) -> None:
        def model(made: pieria.Link | None) -> None:
            if relation == "revises":
                raise InputError("relation", "one of your own", relation)
            if ends[0] == ends[1]:
                raise InputError("target", "another", ends[1])
            new = tie(ends[0], ends[1], relation, weight, label)
            id = self.common_oracle(ends).link(reader, new, made.id if made else "")
            assert made is not None
            assert made.id == id

        source, target = map(end_of, ends)
        self.agree(lambda: self.handles[reader].link(source, target, relation, weight=weight, label=label), model)

    def oracle_of_link(self, id: str) -> Oracle:
        return self.mine if id in self.mine.links else self.ours

    @precondition(lambda self: self.ours.ties() or self.mine.ties())
    @rule(data=st.data(), reader=readers, named=st.booleans(), by_id=st.booleans())
    def unlink(self, data: st.DataObject, reader: Reader, named: bool, by_id: bool) -> None:
        ties = {**self.ours.ties(), **self.mine.ties()}
        id = data.draw(st.sampled_from(list(ties)), label="link")
        oracle, held = self.oracle_of_link(id), ties[id].values
        bank, relation = self.handles[reader], held["relation"] if named else None
        one, other = held["source"], held["target"]
        if by_id:
            self.agree(lambda: bank.unlink(id), lambda links: oracle.unlink(reader, [id]))
            return

        def model(links: list[pieria.Link] | None) -> None:
            if relation == "revises":
                raise InputError("relation", "one of your own", relation)
            between = [
                each
                for each, stretch in oracle.ties().items()
                if {stretch.values["source"], stretch.values["target"]} == {one, other}
                and relation in (None, stretch.values["relation"])
            ]
            oracle.unlink(reader, between)
            assert links is not None
            assert {link.id for link in links} <= set(between)

        self.agree(lambda: bank.unlink(end_of(other), end_of(one), relation), model)

    @rule(
        data=st.data(), reader=readers, direction=st.sampled_from(["both", "out", "in"]), hops=st.integers(1, 3),
        relation=st.none() | st.sampled_from(RELATIONS), limit=st.sampled_from([1, 1_000]),
    )  # fmt: skip
    def neighbors(
        self, data: st.DataObject, reader: Reader, direction: str, hops: int, relation: str | None, limit: int
    ) -> None:
        start = self.some_end(data)

        def model(found: Neighborhood | None) -> None:
            oracle = self.oracle_of(start)
            if "/" not in start:
                oracle.standing(start, reader)
            expected = self.reached(oracle, start, reader, direction, hops, relation)
            assert found is not None
            assert len(found) == min(limit, len(expected))
            assert found.truncated == (len(expected) > limit)
            reached = {each.place or (each.memory.id if each.memory else ""): each.hops for each in found}
            assert reached.items() <= expected.items()

        bank = self.handles[reader]
        walk: dict[str, Any] = {"direction": direction, "hops": hops, "relation": relation, "limit": limit}
        self.agree(lambda: bank.neighbors(end_of(start), **walk), model)

    @rule(data=st.data(), reader=readers, hops=st.integers(1, 2), limit=st.sampled_from([1, 1_000]))
    def neighbors_of_several(self, data: st.DataObject, reader: Reader, hops: int, limit: int) -> None:
        bank, ends = self.handles[reader], [end_of(self.some_end(data)) for _ in range(3)]
        try:
            alone = {end: bank.neighbors(end, hops=hops, limit=limit) for end in ends}
        except (NotFoundError, ConflictError):
            with pytest.raises((NotFoundError, ConflictError)):
                bank.neighbors_each(ends, hops=hops, limit=limit)
        else:
            assert bank.neighbors_each(ends, hops=hops, limit=limit) == alone

    @rule(
        reader=readers, names=st.lists(words, min_size=1, max_size=3, unique=True), limit=st.sampled_from([1, 1_000]),
        by=st.sampled_from(["tags", "entities"]),
    )  # fmt: skip
    def list_and_state_of_several(self, reader: Reader, names: list[str], limit: int, by: str) -> None:
        bank = self.handles[reader]
        alone = {name: bank.list(limit=limit, **{by: [name]}) for name in names}  # type: ignore[arg-type]
        assert bank.list_each(by, names, limit=limit) == alone
        stated = {name: bank.facts.query(entity=name, limit=limit) for name in names}
        assert bank.facts.query_each(names, limit=limit) == stated

    def reached(
        self, oracle: Oracle, start: str, reader: Reader, direction: str, hops: int, relation: str | None
    ) -> dict[str, int]:
        seen = oracle.visible(reader)
        found = {start: 0}
        for hop in range(1, hops + 1):
            edge = [end for end, number in found.items() if number == hop - 1]
            for stretch in oracle.ties().values():
                ends = stretch.values["source"], stretch.values["target"]
                if relation not in (None, stretch.values["relation"]):
                    continue
                any_way = direction == "both" or stretch.values["relation"] in DIRECTIONLESS
                ways = [ends, ends[::-1]] if any_way else [ends if direction == "out" else ends[::-1]]
                for here, there in ways:
                    if here in edge and ("/" in there or there in seen):
                        found.setdefault(there, hop)
        del found[start]
        return found

    # --- facts

    @rule(
        data=st.data(), reader=readers, said=statements, times=st.tuples(st.none() | instants, st.none() | instants),
        supersedes=st.booleans(), named=st.booleans(), source=st.none() | texts,
    )  # fmt: skip
    def state(
        self,
        data: st.DataObject,
        reader: Reader,
        said: tuple[str, str, str],
        times: tuple[int | None, int | None],
        supersedes: bool,
        named: bool,
        source: str | None,
    ) -> None:
        facts = self.handles[reader].facts
        memory = self.some_id(data) if named else None
        begin, end = (None if at is None else moment(at) for at in times)
        seen = memory is None or (memory in self.ours.memories and self.may_name(memory, reader))
        before = self.state_of_the_files()
        try:
            if supersedes:
                fact = facts.supersede(*said, at=begin, memory=memory, source=source)
            else:
                fact = facts.add(*said, valid_from=begin, valid_until=end, memory=memory, source=source)
        except InputError:
            # The two times contradict each other, or the memory's validity.
            assert memory is not None or (begin and end and end <= begin)
            assert self.state_of_the_files() == before
        except NotFoundError:
            assert not seen
            assert self.state_of_the_files() == before
        else:
            assert seen
            self.learn_facts()
            # An answer with other words or another memory would be a different fact.
            assert (fact.subject, fact.predicate, fact.object, fact.source_memory) == (*said, memory)

    def may_name(self, id: str, reader: Reader) -> bool:
        values = self.ours.current(id)
        return may_see(reader, values) and not values["ended"]

    @rule(reader=readers, said=statements, at=st.none() | instants, reason=reasons)
    def end_a_fact(self, reader: Reader, said: tuple[str, str, str], at: int | None, reason: str | None) -> None:
        told = [
            tuple(fact[name] for name in ("subject", "predicate", "object")) for fact in self.ours.told(reader).values()
        ]
        try:
            ended = self.handles[reader].facts.invalidate(*said, at=None if at is None else moment(at), reason=reason)
        except NotFoundError:
            return
        assert said in told
        assert all((fact.subject, fact.predicate, fact.object) == said for fact in ended)
        self.learn_facts()

    @rule(data=st.data(), reader=readers, reason=reasons)
    def remove_a_fact(self, data: st.DataObject, reader: Reader, reason: str | None) -> None:
        id = data.draw(st.sampled_from([*self.ours.facts, "nobody"]), label="fact")

        def model(fact: Fact | None) -> None:
            held = self.ours.facts[id][-1].values if id in self.ours.facts else {"ended": "never"}
            if held["ended"] or (held["memory"] is not None and not self.may_name(held["memory"], reader)):
                raise NotFoundError("fact", id)
            entry = self.ours.change("facts remove")
            self.ours.open(entry, "fact", id, {**held, "ended": "removed", "reason": reader.kept(reason)})

        self.agree(lambda: self.handles[reader].facts.remove(id, reason=reason), model)

    def learn_facts(self) -> None:
        """Copy the facts that the bank's last change wrote into the oracle. The change may be empty."""
        bank = self.handles[ALICE]
        made = bank.changes(since=len(self.ours.journal))
        assert len(made) <= 1
        for change in made:
            entry = self.ours.change(change.what)
            with bank.core.store.reading() as reader:
                memories, links, facts = reader.opened(change.seq)
            # A fact without a source memory gets a statement memory with the same id. Oracles hold no statements.
            alone = {fact.id for fact in facts if fact.source_memory is None}
            assert {held.state.id for held in memories} == alone
            assert all(
                held.state.ended == fact.ended for held in memories for fact in facts if held.state.id == fact.id
            )
            assert not links
            for fact in facts:
                self.ours.open(entry, "fact", fact.id, as_written(fact))

    @rule(
        reader=readers, name=st.sampled_from(["Grey One", "Fisher"]), of=words, predicate=st.sampled_from(PREDICATES),
        verb=st.sampled_from(["alias", "alias", "unalias", "declare"]), single=st.booleans(),
    )  # fmt: skip
    def name_things(self, reader: Reader, name: str, of: str, predicate: str, verb: str, single: bool) -> None:
        """Check aliases and declarations. They keep no versions, and queries by either name return the same facts."""
        facts = self.handles[reader].facts
        known = facts.aliases()
        if verb == "declare":
            facts.declare(predicate, single)
        elif verb == "alias" and name not in known:
            facts.alias(name, of)
            assert facts.aliases() == {**known, name: of}
            assert facts.query(entity=name, history=True) == facts.query(entity=of, history=True)
        elif verb == "unalias" and name in known:
            facts.unalias(name)
            assert name not in facts.aliases()
            assert facts.query(entity=name, history=True) == []
        made = self.handles[ALICE].changes(since=len(self.ours.journal))
        for change in made:
            self.ours.change(change.what)
        assert len(made) <= 1

    # --- undoing, and taking in

    @rule(data=st.data(), reader=readers, theirs=st.sampled_from([False, False, True]))
    def undo(self, data: st.DataObject, reader: Reader, theirs: bool) -> None:
        users = self.handles[reader].core.user_core(False)
        bank: Bank = self.handles[reader] if users is None or not theirs else Bank(users)
        oracle = self.mine if bank.name == self.mine.name else self.ours
        any_seq = st.integers(1, len(oracle.journal) + 1)
        likely = [st.sampled_from(seqs) for seqs in (oracle.latest(), oracle.latest("remember")) if seqs]
        seq = data.draw(st.one_of(*likely, any_seq), label="change")
        self.agree(lambda: bank.undo(seq), lambda change: oracle.undo(seq, reader))

    @rule(mode=st.sampled_from(["skip", "merge", "replace"]))
    def take_in_what_was_taken_out(self, mode: str) -> None:
        """Check that importing the bank's own export changes nothing."""
        before = self.state_of_the_files()
        file = self.aside / "bank.jsonl"
        self.handles[ALICE].export(file)
        report = self.handles[ALICE].import_(file, mode=mode, trusted=True)
        file.unlink()
        assert self.state_of_the_files() == before
        assert report.problem_count == 0
        assert report.changes is None
