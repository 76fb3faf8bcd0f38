"""Entities, aliases, and facts that come from memories: who sees them, and when they go."""

from typing import Any

import pytest
from tests.bank.test_facts import clock, objects
from tests.contract.store_helpers import HandClock

from pieria import Bank
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.facts import query as querying
from pieria.record.days import Given

__all__ = ["clock"]


def add(bank: Bank, *facts: str) -> None:
    for fact in facts:
        bank.facts.add(*fact.split(" ", 2))


def test_name_is_shown_as_it_was_first_spelt(bank: Bank) -> None:
    bank.facts.add("Zoë", "likes", "Tea")
    fact = bank.facts.add("ZOË", "Likes", "coffee")
    assert (fact.subject, fact.predicate) == ("Zoë", "likes")
    assert bank.facts.add("tea", "comes_from", "zoë").object == "Zoë"
    assert [entity.name for entity in bank.facts.entities()] == ["coffee", "Tea", "Zoë"]
    assert bank.facts.query("Zoe") == [], "accents count"


def test_many_names_are_looked_up_in_as_few_statements_as_one(bank: Bank) -> None:
    for number in range(30):
        add(bank, f"Zoe likes tea {number}", f"Ada likes tea {number % 2}")
    bank.facts.alias("Zo", "Zoe")
    bank.facts.alias("A tea", "tea 5")

    def taken(*names: str) -> tuple[int, int]:
        statements = []
        with bank.core.store.reading() as reader:
            # A transaction checks the quarantine once.
            reader.hides()
            session = reader._session  # type: ignore[attr-defined]
            execute = session.execute

            def noting(sql: str, values: object) -> object:
                statements.append(sql)
                return execute(sql, values)

            session.execute = noting
            filter = bank.facts._filter()
            if len(names) == 1:
                return len(querying.found(reader, querying.Question(entity=names[0]), filter)), len(statements)
            found = querying.found_each(reader, names, Given(filter.now, filter.now), None, filter)
        return sum(map(len, found.values())), len(statements)

    assert (taken("Zo"), taken("Ada")) == ((30, 5), (2, 4))
    assert taken("Ada", "Zo", "tea 5", "A tea", "nobody") == (2 + 30 + 1 + 1, 5)


def test_several_names_have_the_facts_that_each_has_alone(bank: Bank, clock: HandClock) -> None:
    for number in range(6):
        bank.facts.add("Zoe", "likes", f"tea {number}", valid_from=f"2026-01-{10 - number:02}")
        bank.facts.add(("Ada", "Zo")[number % 2], "knows", "zoë", valid_until=f"2026-0{4 + number}-01")
    add(bank, "Zoe knows Zoe")
    memory = bank.remember("Zoe likes tea 0.", valid_until="2026-09-01")
    bank.facts.add("Zoe", "likes", "tea 0", memory=memory.id)
    bank.facts.alias("Zo", "Zoe")
    known = bank.changes(last=1)[0].at
    clock.move(hours=1)
    bank.facts.alias("zoë", "Zoe")
    bank.facts.remove(bank.facts.query("Zoe", "likes", "tea 3")[0].id)
    names = ["Zo", "ZOE", "ada", "tea 0", "zoë", "nobody"]
    ways: list[dict[str, Any]] = [
        {}, {"limit": 2}, {"history": True}, {"valid_at": "2026-01-06", "limit": 4}, {"known_at": known},
    ]  # fmt: skip
    for way in ways:
        each = bank.facts.query_each(names, **way)
        alone = {name: bank.facts.query(entity=name, **way) for name in names}
        assert list(each.items()) == list(alone.items()), way
        assert sum(map(len, each.values())) > 5


def test_alias_counts_for_past_and_future(bank: Bank) -> None:
    tea = bank.facts.add("Zoe", "likes", "tea")
    add(bank, "Zoë likes coffee")
    entity = bank.facts.alias("ZOE", of="zoë")
    assert (entity.name, entity.aliases, entity.facts) == ("Zoë", ("Zoe",), 2)
    add(bank, "zoe likes milk", "Ada knows Zoe")
    for name in ("Zoe", "Zoë", "ZOË"):
        assert objects(bank.facts.query(name)) == ["tea", "coffee", "milk"]
        assert len(bank.facts.query(entity=name)) == len(bank.facts.timeline(name)) == 4
    assert bank.facts.add("Zoë", "likes", "tea") == tea
    assert bank.facts.aliases() == {"Zoe": "Zoë"}
    assert [(one.name, one.aliases, one.facts) for one in bank.facts.entities("zoe")] == [("Zoë", ("Zoe",), 4)]
    assert [one.name for one in bank.facts.entities()] == ["Ada", "coffee", "milk", "tea", "Zoë"]


def test_aliases_share_single_values_and_may_contradict(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    add(bank, "Em lives_in Rome", "Maya lives_in Oslo")
    assert bank.facts.conflicts() == []
    bank.facts.alias("Em", of="Maya")
    [conflict] = bank.facts.conflicts("em")
    assert (conflict.subject, objects(conflict.facts)) == ("Maya", ["Rome", "Oslo"])
    assert conflict.as_dict()["facts"][0]["object"] == "Rome"
    bank.facts.add("Maya", "lives_in", "Bern", valid_from="2026-07-01")
    assert objects(bank.facts.query("Em", valid_at="2026-08-01")) == ["Bern"]
    assert bank.facts.invalidate("Em", "lives in", "BERN", at="2026-08-01")[0].object == "Bern"


def test_alias_of_an_alias_names_the_same_entity(bank: Bank) -> None:
    add(bank, "M. likes tea")
    for name, of in (("M.", "Em"), ("Em", "Maya"), ("Maja", "M.")):
        bank.facts.alias(name, of=of)
    assert bank.facts.aliases() == {"Em": "Maya", "M.": "Maya", "Maja": "Maya"}
    for name in ("Maya", "Em", "M.", "Maja"):
        assert objects(bank.facts.query(name)) == ["tea"]
    changes = bank.changes()
    assert bank.facts.alias("M.", of="Maya").name == "Maya"
    with pytest.raises(ConflictError, match="circle"):
        bank.facts.alias("Maya", of="M.")
    with pytest.raises(ConflictError) as caught:
        bank.facts.alias("Em", of="Emily")
    assert "unalias" in str(caught.value.hint)
    with pytest.raises(InputError):
        bank.facts.alias("Maya", of="MAYA")
    assert bank.changes() == changes


def test_alias_can_be_taken_back(bank: Bank) -> None:
    add(bank, "Em likes tea", "Maya likes coffee")
    for name in ("Em", "M."):
        bank.facts.alias(name, of="Maya")
    assert bank.facts.unalias("em").name == "Em"
    assert objects(bank.facts.query("Em")) == ["tea"]
    assert objects(bank.facts.query("M.")) == objects(bank.facts.query("Maya")) == ["coffee"]
    bank.facts.unalias("M.")
    assert bank.facts.aliases() == {}
    for name in ("M.", "Maya"):
        with pytest.raises(NotFoundError):
            bank.facts.unalias(name)
    bank.facts.alias("Em", of="Emily")
    bank.facts.declare("likes")
    journal = " ".join(f"{change.what} {change.ids}" for change in bank.changes()).casefold()
    assert not any(name in journal for name in ("maya", "em'", "likes", "tea"))


def test_fact_names_a_memory_that_is_there(bank: Bank) -> None:
    memory = bank.remember("Maya likes tea.")
    assert bank.facts.add("Maya", "likes", "tea", memory=memory.id).memory == memory.id
    with pytest.raises(InputError) as caught:
        bank.facts.add("Maya", "likes", "milk", memory=memory)  # type: ignore[arg-type]
    assert ".id" in str(caught.value.hint)
    bank.remove(memory.id)
    for id in (memory.id, "nothing"):
        for verb in (bank.facts.add, bank.facts.supersede):
            with pytest.raises(NotFoundError, match="memory"):
                verb("Maya", "likes", "milk", memory=id)


def test_fact_comes_and_goes_with_its_memory(bank: Bank) -> None:
    memory = bank.remember("Maya likes tea.")
    fact = bank.facts.add("Maya", "likes", "tea", memory=memory.id)
    bank.remove(memory.id)
    assert bank.facts.query("Maya") == bank.facts.timeline() == []
    assert bank.facts.entities() == []
    with pytest.raises(NotFoundError) as caught:
        bank.facts.invalidate("Maja", "likes", "tea")
    assert "Maya" not in str(caught.value.hint)
    bank.restore(memory.id)
    assert bank.facts.query("Maya") == [fact]
    assert bank.purge(memory.id).erased["facts"] == 1
    assert bank.facts.timeline() == []
    with pytest.raises(NotFoundError):
        bank.facts.history(fact.id)


def test_fact_stands_on_every_memory_that_states_it(bank: Bank, clock: HandClock) -> None:
    memories = [bank.remember(f"Maya likes tea, she said {n} times.").id for n in (1, 2)]
    one, other = (bank.facts.add("Maya", "likes", "tea", memory=memory) for memory in memories)
    assert bank.facts.add("Maya", "likes", "tea", memory=memories[1]) == other
    assert bank.facts.query("Maya") == bank.facts.timeline("Maya") == [one]
    assert bank.facts.stats().facts == 1
    assert [bank.facts.query(memory=memory) for memory in memories] == [[one], [other]]
    assert bank.facts.query("Jonas", memory=memories[0]) == bank.facts.query(memory="nobody") == []
    bank.purge(memories[0])
    assert bank.facts.query("Maya") == [other]
    said = bank.facts.add("Maya", "likes", "tea")
    assert bank.facts.query("Maya") == [said]
    clock.move(hours=1)
    assert {fact.id for fact in bank.facts.invalidate("Maya", "likes", "tea")} == {other.id, said.id}
    assert bank.facts.query("Maya") == []
    for since, until in (("2020-01-01", "2022-01-01"), ("2020-06-01", "2021-01-01"), ("2021-06-01", "2023-01-01")):
        memory = bank.remember("about Maya").id
        bank.facts.add("Maya", "leads", "search", valid_from=since, valid_until=until, memory=memory)
    stretches = [fact for fact in bank.facts.timeline() if fact.object == "search"]
    assert [str(fact.valid_from)[:10] for fact in stretches] == ["2020-01-01", "2021-06-01"]
    assert len(bank.facts.query("Maya", "leads", valid_at="2021-07-01")) == 1


def test_fact_holds_no_longer_than_its_memory(bank: Bank, clock: HandClock) -> None:
    memory = bank.remember("Maya is away.", valid_from="2026-05-01", valid_until="2026-06-30")
    wide = bank.facts.add("Maya", "is", "away", memory=memory.id)
    assert (wide.valid_from, wide.valid_until) == (memory.valid_from, memory.valid_until)
    with pytest.raises(InputError) as caught:
        bank.facts.add("Maya", "is", "back", valid_from="2026-08-01", memory=memory.id)
    assert caught.value.parameter == "memory"
    known = bank.changes()[-1].at
    clock.move(days=5)
    bank.invalidate(memory.id, at="2026-06-02")
    assert (bank.facts.query("Maya"), len(bank.facts.query("Maya", valid_at="2026-06-01"))) == ([], 1)
    assert len(bank.facts.query("Maya", valid_at="2026-06-20", known_at=known)) == 1
    bank.undo(bank.changes()[-1].seq)
    assert bank.facts.query("Maya") == [wide]


def test_superseding_from_a_memory_keeps_to_its_time(bank: Bank, clock: HandClock) -> None:
    bank.facts.add("Maya", "leads", "search", valid_from="2020-01-01")
    old = bank.remember("Maya leads billing.", valid_from="2024-01-01")
    fact = bank.facts.supersede("Maya", "leads", "billing", memory=old.id)
    assert (fact.valid_from, fact.valid_until) == (clock(), None)
    planned = bank.remember("Maya will lead payments for a month.", valid_from="2026-07-01", valid_until="2026-07-31")
    fact = bank.facts.supersede("Maya", "leads", "payments", memory=planned.id)
    assert (fact.valid_from, fact.valid_until) == (planned.valid_from, planned.valid_until)
    assert objects(bank.facts.query("Maya")) == ["billing"]
    assert objects(bank.facts.query("Maya", valid_at="2026-07-15")) == ["payments"]


def test_spellings_of_a_predicate_are_one(bank: Bank) -> None:
    for predicate, city in (("lives-in", "Rome"), ("livesIn", "Oslo"), ("lives in", "Bern"), ("lives_in", "Porto")):
        bank.facts.add("Maya", predicate, city)
    assert [fact.object for fact in bank.facts.query("Maya", "livesIn")] == ["Porto"]
    assert [predicate.name for predicate in bank.facts.predicates() if predicate.facts] == ["lives-in"]
