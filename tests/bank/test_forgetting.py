"""Forgetting everything from one source, with what rests on that alone, in one change that can be undone."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.bank.kept import Kept

from pieria import Bank
from pieria.errors import ConflictError, InputError, NotFoundError

RUN: dict[str, Any] = {
    "source_id": "run-7",
    "goal": "Mend the nightly build",
    "steps": [
        {"observation": "The build fails: KeyError in settings.py", "action": "Open settings.py to see the key"},
        {"observation": "The key is read from the table of regions.", "action": "Run pytest"},
    ],
}


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("notes") as bank:
        yield bank


def ids(bank: Bank) -> set[str]:
    return {memory.id for memory in bank.list(limit=100)}


def test_a_source_goes_with_what_was_drawn_from_it_alone_and_comes_back_with_one_undo(bank: Bank) -> None:
    said, other = (
        bank.remember("Rates rise in May.", source="rates.md"),
        bank.remember("Rates were low.", source="old.md"),
    )
    alone, both = (bank.remember(text, kind="summary") for text in ("Up in May.", "From low to high."))
    further = bank.remember("Up.", kind="summary")
    for one, source in ((alone, said), (both, said), (both, other), (further, alone)):
        bank.link(one.id, source.id, "provenance")
    before = ids(bank)
    told = bank.forget(source="rates.md", dry_run=True)
    assert (told.ids, set(told.also), ids(bank)) == ((said.id,), {alone.id, further.id}, before)
    done = bank.forget(source="rates.md", reason="withdrawn")
    assert (done.ids, done.also, done.dry_run) == (told.ids, told.also, False)
    assert ids(bank) == {other.id, both.id}
    gone = bank.get(further.id, include_removed=True)
    assert gone is not None
    assert gone.reason == "withdrawn"
    assert done.seq is not None
    bank.undo(done.seq)
    assert ids(bank) == before


def test_what_is_left_without_its_last_source_goes_with_that_one(bank: Bank) -> None:
    both = bank.remember("From low to high.", kind="summary")
    for source in ("rates.md", "old.md"):
        bank.link(both.id, bank.remember(f"Said in {source}.", source=source).id, "provenance")
    bank.forget(source="rates.md")
    assert ids(bank) > {both.id}
    bank.forget(source="old.md")
    assert ids(bank) == set()


def test_a_run_that_was_taken_in_goes_whole_and_is_not_learnt_again(bank: Bank) -> None:
    kept = bank.remember("Something else.")
    receipt = bank.sessions.ingest(RUN)
    assert ids(bank) > {kept.id}
    done = bank.forget(source="run-7")
    assert ids(bank) == {kept.id}
    assert {*done.ids, *done.also} == set(receipt.node_ids)
    assert bank.sessions.ingest(RUN).is_new is False
    assert ids(bank) == {kept.id}


def test_tags_that_others_bear_stay_whoever_brought_them_in(bank: Bank) -> None:
    tag = bank.remember("regions", kind="tag", source="run-7")
    mine, theirs = bank.remember("One.", source="run-7"), bank.remember("Two.", source="run-8")
    for one in (mine, theirs):
        bank.link(tag.id, one.id, "membership")
    bank.forget(source="run-7")
    assert ids(bank) == {tag.id, theirs.id}
    bank.forget(source="run-8")
    assert ids(bank) == set()


def test_a_session_goes_with_what_it_said_to_itself_and_what_was_learnt_in_it(bank: Bank) -> None:
    kept = bank.remember("Something else.", session="other")
    with bank.session(goal=RUN["goal"]) as session:
        for step in RUN["steps"]:
            session.append(**step)
    bank.remember("Between us.", scope="session", session=session.id)
    bank.forget(session=session.id)
    assert ids(bank) == {kept.id}
    assert list(bank.list(session=session.id)) == []


def test_with_purge_it_is_erased_with_all_that_was_drawn_from_it(bank: Bank) -> None:
    both = bank.remember("From low to high.", kind="summary")
    said, other = (bank.remember(f"Said in {source}.", source=source) for source in ("rates.md", "old.md"))
    for each in (said, other):
        bank.link(both.id, each.id, "provenance")
    told = bank.forget(source="rates.md", purge=True, dry_run=True)
    done = bank.forget(source="rates.md", purge=True)
    assert done.receipt is not None
    assert told.ids == done.ids == done.receipt.ids == (said.id,)
    assert told.also == done.also == done.receipt.also == (both.id,)
    assert ids(bank) == {other.id}
    assert bank.get(said.id, include_removed=True) is None


def test_facts_that_name_the_source_are_taken_back_and_come_back_with_it(bank: Bank) -> None:
    bank.facts.add("Maya", "works_on", "billing", source="rates.md")
    bank.facts.add("Maya", "works_on", "search", source="old.md")
    done = bank.forget(source="rates.md")
    assert [fact.object for fact in bank.facts.query("Maya")] == ["search"]
    assert done.seq is not None
    bank.undo(done.seq)
    assert {fact.object for fact in bank.facts.query("Maya")} == {"billing", "search"}


def test_a_purge_is_one_change_and_erases_the_facts_from_there_as_well(bank: Bank) -> None:
    kept = bank.remember("Rates were low.", source="old.md")
    bank.remember("Rates rise in May.", id="may", source="rates.md")
    bank.facts.add("Maya", "works_on", "billing", source="rates.md")
    bank.facts.add("Ola", "said", "rates rise", source="rates.md", memory=kept.id)
    bank.facts.add("Maya", "works_on", "search", source="old.md")
    before = bank.changes()[-1].seq
    done = bank.forget(source="rates.md", purge=True)
    assert [change.what for change in bank.changes(since=before)] == ["purge"]
    assert done.receipt is not None
    assert (done.seq, len(done.facts), done.receipt.erased["facts"]) == (None, 2, 2)
    with bank.core.store.reading() as reader:
        assert [fact["object"] for fact in reader.dump("fact")] == ["search"]
    with pytest.raises(ConflictError, match="purged since"):
        bank.undo(before + 1)


def test_where_nothing_but_facts_come_from_there_they_are_erased(bank: Bank) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing", source="rates.md")
    done = bank.forget(source="rates.md", purge=True)
    assert (done.ids, done.facts) == ((), (fact.id,))
    with pytest.raises(NotFoundError):
        bank.facts.history(fact.id)
    assert bank.doctor().well


def test_what_another_session_keeps_to_itself_is_not_forgotten_from_here(kept: Kept, bank: Bank) -> None:
    with kept.opened("notes", session="tuesday") as tuesday:
        theirs = tuesday.remember("Between us.", scope="session", source="rates.md")
        with pytest.raises(NotFoundError):
            bank.forget(source="rates.md")
        assert tuesday.forget(source="rates.md").ids == (theirs.id,)


@pytest.mark.parametrize("wrong", [{}, {"source": ""}, {"source": 7}, {"source": "x", "purge": True, "reason": "y"}])
def test_what_cannot_be_meant_is_refused(bank: Bank, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        bank.forget(**wrong)


def test_nothing_from_there_is_an_error_and_no_success(bank: Bank) -> None:
    with pytest.raises(NotFoundError) as refused:
        bank.forget(source="rates.md")
    assert "`count` by source" in str(refused.value.hint)
