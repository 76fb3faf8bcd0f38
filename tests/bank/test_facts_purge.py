"""`facts.purge`: a fact is erased with all its versions. The receipt names what else states it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.bank.kept import Kept

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError


def test_purge_erases_every_version_of_a_fact(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
        bank.facts.add("Maya", "works_on", "billing", valid_from="2025-01-10")
        left = bank.facts.add("Maya", "lives_in", "Berlin")
        bank.facts.remove(fact.id, reason="told in confidence")
        receipt = bank.facts.purge(fact.id)
        assert (receipt.ids, dict(receipt.erased)) == ((fact.id,), {"facts": 1, "versions": 3})
        assert [each.id for each in bank.facts.timeline()] == [left.id]
        assert bank.facts.query(entity="billing", history=True) == []
        assert [entity.name for entity in bank.facts.entities()] == ["Berlin", "Maya"]
        last = bank.changes()[-1]
        assert (last.what, last.ids) == ("facts purge", (fact.id,))
        for verb in (bank.facts.remove, bank.facts.history, bank.facts.purge):
            with pytest.raises(NotFoundError) as missing:
                verb(fact.id)
        assert "erased for good" in str(missing.value.hint)
        for change in bank.changes():
            if fact.id in change.ids:
                with pytest.raises((ConflictError, NotFoundError)):
                    bank.undo(change.seq)


def test_dry_run_announces_and_its_digest_binds(bank: Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
    told = bank.facts.purge(fact.id, dry_run=True)
    assert bank.facts.history(fact.id)
    bank.facts.add("Maya", "works_on", "billing", valid_from="2025-01-10")
    for dry_run in (False, True):
        with pytest.raises(ConflictError):
            bank.facts.purge(fact.id, as_told=told.digest, dry_run=dry_run)
    again = bank.facts.purge(fact.id, dry_run=True)
    assert bank.facts.purge(fact.id, as_told=again.digest).digest == again.digest


def test_several_facts_are_purged_or_none(opened: Callable[..., Bank], bank: Bank) -> None:
    one, two = bank.facts.add("Maya", "knows", "Ola"), bank.facts.add("Ola", "knows", "Maya")
    mine = opened(session="mine")
    secret = mine.remember("Maya works on billing.", scope="session")
    unseen = mine.facts.add("Maya", "works_on", "billing", memory=secret.id)
    for missing in ("none such", unseen.id):
        with pytest.raises(NotFoundError):
            bank.facts.purge([one.id, missing])
    assert len(bank.facts.timeline()) == 2
    mine.facts.purge(unseen.id)
    assert bank.facts.purge([one.id, two.id]).erased["facts"] == 2
    assert bank.facts.timeline() == []
    with pytest.raises(InputError):
        bank.facts.purge([])


def test_receipt_names_what_else_states_the_fact(bank: Bank) -> None:
    memory = bank.remember("Maya works on billing.")
    alone = bank.facts.add("Maya", "works_on", "billing")
    drawn = bank.facts.add("Maya", "works_on", "billing", memory=memory.id)
    bank.facts.alias("Mayo", of="Maya")
    bank.facts.declare("works_on")
    assert alone.id != drawn.id
    unreached = bank.facts.purge(drawn.id).unreached
    assert f"the memory {memory.id}, its source: `pieria forget --purge` erases it" in unreached
    assert f"the fact {alone.id}, which says the same" in unreached
    assert "the aliases of Maya: `pieria facts unalias` removes them" in unreached
    assert any(line.startswith("that works_on was declared") for line in unreached)
    assert bank.get(memory.id) is not None
    assert [fact.id for fact in bank.facts.query("Maya", "works_on")] == [alone.id]


def test_import_does_not_bring_a_purged_fact_back(bank: Bank, tmp_path: Path) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing")
    other = bank.facts.add("Maya", "lives_in", "Berlin")
    bank.facts.add("Maya", "likes", "tea", source="diary.txt")
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    bank.export(before)
    bank.facts.purge(fact.id)
    bank.forget(source="diary.txt", purge=True)
    report = bank.import_(before)
    assert [each.id for each in bank.facts.timeline()] == [other.id]
    assert report.left["facts"] == {"purged here": 2}
    bank.export(after)
    assert "billing" not in after.read_text(encoding="utf-8")
    with pieria.open("copy", data=tmp_path / "elsewhere") as copy:
        copy.remember("something")
        copy.import_(after)
        copy.import_(before)
        assert [each.id for each in copy.facts.timeline()] == [other.id]
    bank.import_(before, force=True)
    assert len(bank.facts.timeline()) == 3
    assert bank.facts.purge(fact.id).erased["facts"] == 1


def test_value_that_a_purged_one_ended_keeps_its_end(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    first = bank.facts.add("Maya", "lives_in", "Berlin", valid_from="2024-05-01")
    second = bank.facts.add("Maya", "lives_in", "Lisbon", valid_from="2026-03-01")
    bank.facts.purge(second.id)
    [left] = bank.facts.timeline("Maya")
    assert (left.id, left.valid_until) == (first.id, second.valid_from)
