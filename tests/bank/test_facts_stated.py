"""A fact without a source and its statement memory: each is found through the other, and both go together."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.test_embedding import INSTALLED

import pieria
from pieria.bank import Bank
from pieria.bank.facts import older_facts
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.changeset import Changeset
from pieria.record.fact import row_of
from pieria.runtime import background

ASKED = "where does Caroline live?"


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("notes", settings={"embedder": "hashing"}) as bank:
        yield bank


def madrid(bank: Bank, **more: Any) -> str:
    return bank.facts.add("Caroline", "lives_in", "Madrid", **more).id


def texts(bank: Bank, question: str = ASKED, **asked: Any) -> list[str]:
    return [hit.memory.text for hit in bank.recall(question, **asked)]


def objects(bank: Bank, **asked: Any) -> list[str]:
    return [fact.object for fact in bank.facts.query("Caroline", **asked)]


# --- found


def test_a_fact_is_the_first_hit_and_told_as_reason(bank: Bank) -> None:
    bank.remember("I want to live authentically.", author="Caroline")
    id = madrid(bank)
    first, second = bank.recall(ASKED)
    assert (first.memory.id, first.memory.text, first.memory.kind) == (id, "Caroline lives in Madrid.", "fact")
    assert first.why["fact"] == 1.0 and first.overturned is None
    assert first.score > second.score


def test_a_fact_names_the_memory_that_states_it(bank: Bank) -> None:
    fact = bank.facts.add("Caroline", "lives_in", "Madrid", confidence=0.7, source="her letter")
    memory = bank.get(fact.id)
    assert memory is not None and fact.memory == fact.id and fact.source_memory is None
    assert (memory.confidence, memory.source, memory.place) == (0.7, "her letter", f"{bank.name}/fact")


def test_one_change_writes_both_and_undo_takes_both_back(bank: Bank) -> None:
    id = madrid(bank)
    [change] = bank.changes()
    assert change.ids == (id,)
    bank.undo(change.seq)
    assert texts(bank) == [] and objects(bank) == []
    bank.undo(bank.changes()[-1].seq)
    assert texts(bank) == ["Caroline lives in Madrid."] and objects(bank) == ["Madrid"]


@pytest.mark.parametrize(
    ("triple", "sentence"),
    [
        (("Maya", "works_on", "billing"), "Maya works on billing."),
        (("Maya", "worksAt", "Acme Inc."), "Maya works at Acme Inc."),
        (("Maya", "LIKES_MOST", "tea"), "Maya likes most tea."),
        (("Maya", "asks", "why?"), "Maya asks why?"),
    ],
)
def test_a_statement_reads_as_a_sentence(bank: Bank, triple: tuple[str, str, str], sentence: str) -> None:
    memory = bank.get(bank.facts.add(*triple).id)
    assert memory is not None and memory.text == sentence


# --- past


def test_a_superseded_value_comes_behind_and_says_what_took_its_place(bank: Bank) -> None:
    old = madrid(bank, valid_from="2024-05-01")
    new = bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01").id
    current, past = bank.recall(ASKED, k=2)
    assert (current.memory.id, current.overturned) == (new, None)
    assert past.memory.text == "Caroline lives in Madrid (from 2024-05-01 until 2026-01-31)."
    assert past.memory.id == old and past.overturned is not None
    assert str(past.overturned) == f"overturned by {new} of 2026-02-01"


def test_what_ended_and_was_not_replaced_is_told_as_past(bank: Bank) -> None:
    madrid(bank)
    bank.facts.invalidate("Caroline", "lives_in", "Madrid", at="2026-02-01")
    [hit] = bank.recall(ASKED)
    assert hit.overturned is not None and hit.overturned.by is None
    assert str(hit.overturned) == "no longer so since 2026-02-01"
    assert hit.as_dict()["overturned"]["by"] is None


def test_valid_at_finds_what_held_then_alone(bank: Bank) -> None:
    madrid(bank, valid_from="2024-05-01")
    bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01")
    [then] = bank.recall(ASKED, valid_at="2025-01-01")
    assert then.memory.text.startswith("Caroline lives in Madrid") and then.overturned is None
    assert texts(bank, valid_at="2026-03-01") == ["Caroline lives in Porto."]
    assert texts(bank, valid_at="2020-01-01") == []


def test_known_at_finds_what_was_known_then(bank: Bank) -> None:
    madrid(bank)
    known = bank.changes()[-1].at
    bank.facts.supersede("Caroline", "lives_in", "Porto")
    assert texts(bank, known_at=known) == ["Caroline lives in Madrid."]


@pytest.mark.parametrize(
    "question",
    ["where did Caroline live in 2025?", "where did Caroline live before?", "where did Caroline live originally?"],
)
def test_a_question_for_what_was_gets_the_value_of_then_first(kept: Kept, question: str) -> None:
    with kept.opened("words", settings={"embedder": "none"}) as bank:
        madrid(bank, valid_from="2024-05-01")
        bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01")
        first, second = bank.recall(question, k=2)
    assert first.memory.text.startswith("Caroline lives in Madrid")
    assert first.overturned is not None and second.overturned is None


def test_a_memory_whose_fact_was_superseded_says_so(bank: Bank) -> None:
    old = bank.remember("Caroline lives in Madrid and works on billing.").id
    new = bank.remember("Her flat is in Porto by now.").id
    bank.facts.add("Caroline", "lives_in", "Madrid", memory=old)
    bank.facts.add("Caroline", "works_on", "billing", memory=old)
    bank.facts.supersede("Caroline", "lives_in", "Porto", memory=new)
    told = {hit.memory.id: hit.overturned for hit in bank.recall(ASKED)}
    by = told[old]
    assert by is not None and by.by == new and told[new] is None
    [about_work] = [hit for hit in bank.recall("what does Caroline works on?") if hit.memory.id == old]
    assert about_work.overturned is None


# --- in step


@pytest.mark.parametrize("of_both", [lambda bank: bank, lambda bank: bank.facts], ids=["memory", "fact"])
def test_whichever_is_removed_the_other_goes_and_comes_back(bank: Bank, of_both: Any) -> None:
    id = madrid(bank)
    of_both(bank).remove(id)
    assert texts(bank) == [] and objects(bank, history=True) == []
    bank.restore(id)
    assert texts(bank) == ["Caroline lives in Madrid."] and objects(bank) == ["Madrid"]


@pytest.mark.parametrize("of_both", [lambda bank: bank, lambda bank: bank.facts], ids=["memory", "fact"])
def test_whichever_is_purged_both_are_gone_for_good(bank: Bank, of_both: Any) -> None:
    id = madrid(bank)
    assert of_both(bank).purge(id).erased["facts"] == 1
    assert texts(bank) == [] and bank.get(id) is None and objects(bank, history=True) == []
    with pytest.raises(NotFoundError, match=id):
        bank.facts.history(id)


def test_a_memory_that_is_invalidated_ends_its_fact(bank: Bank) -> None:
    id = madrid(bank)
    bank.invalidate(id, at="2026-02-01")
    assert objects(bank) == []
    memory = bank.get(id)
    assert memory is not None and memory.text == "Caroline lives in Madrid (until 2026-01-31)."


def test_a_statement_in_other_words_corrects_the_fact(bank: Bank) -> None:
    id = madrid(bank)
    bank.update(id, text="Caroline lives in Lisbon.")
    assert objects(bank) == ["Lisbon"] and texts(bank) == ["Caroline lives in Lisbon."]
    assert [fact.object for fact in bank.facts.history(id)] == ["Madrid", "Lisbon"]


def test_a_statement_of_something_else_becomes_a_note(bank: Bank) -> None:
    id = madrid(bank)
    before = bank.changes()[-1].seq
    bank.update(id, text="Caroline moved abroad.")
    memory = bank.get(id)
    assert memory is not None and memory.kind == "note" and objects(bank) == []
    bank.undo(before + 1)
    memory = bank.get(id)
    assert memory is not None and memory.kind == "fact" and objects(bank) == ["Madrid"]


def test_a_revision_of_a_statement_is_a_note(bank: Bank) -> None:
    id = madrid(bank)
    revised = bank.revise(id, text="Caroline lives in Porto with Omar.", reason="she said so")
    assert revised.kind == "note" and objects(bank) == []


def test_stating_it_again_after_a_removal_is_a_new_fact(bank: Bank) -> None:
    old = madrid(bank)
    bank.remove(old)
    new = madrid(bank)
    assert new != old and objects(bank) == ["Madrid"] and texts(bank) == ["Caroline lives in Madrid."]


def test_a_fact_that_is_split_has_two_statements(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    madrid(bank, valid_from="2020-01-01")
    bank.facts.add("Caroline", "lives_in", "Porto", valid_from="2022-01-01", valid_until="2022-12-31")
    facts = bank.facts.query("Caroline", history=True)
    assert [fact.object for fact in facts] == ["Madrid", "Porto", "Madrid"]
    assert [fact.memory for fact in facts] == [fact.id for fact in facts]
    assert texts(bank, k=5)[0] == "Caroline lives in Madrid."
    assert set(texts(bank, k=5)) == {
        "Caroline lives in Madrid.",
        "Caroline lives in Porto (from 2022-01-01 until 2022-12-31).",
        "Caroline lives in Madrid (from 2020-01-01 until 2021-12-31).",
    }


def test_a_source_in_quarantine_takes_the_statement_along(bank: Bank) -> None:
    madrid(bank, source="evil.html")
    held = bank.quarantine(source="evil.html")
    assert (held.memories, held.facts, held.ids) == (0, 1, ())
    assert texts(bank) == []
    assert held.number is not None
    bank.lift(held.number)
    assert texts(bank) == ["Caroline lives in Madrid."]


def test_forgetting_a_source_forgets_the_statement(bank: Bank) -> None:
    id = madrid(bank, source="letter")
    told = bank.forget(source="letter")
    assert (told.ids, told.facts) == ((), (id,))
    assert texts(bank) == []


def test_a_statement_is_believed_as_far_as_who_stated_it(kept: Kept) -> None:
    with kept.opened("believed", via="outside") as bank:
        memory = bank.get(madrid(bank))
        assert memory is not None and (memory.via, memory.trust) == ("outside", 0.2)


# --- apart from other memories


def test_lists_and_counts_show_statements_where_asked_for(bank: Bank) -> None:
    note = bank.remember("Caroline lives in Madrid.").id
    id = madrid(bank)
    assert bank.count() == 1 and [memory.id for memory in bank.list()] == [note]
    assert bank.count(kinds="fact") == 1 and [memory.id for memory in bank.list(kinds="fact")] == [id]
    assert bank.count(by="kind") == {"note": 1}


def test_the_same_said_as_a_note_swallows_no_fact(bank: Bank) -> None:
    id = madrid(bank)
    note = bank.remember("Caroline lives in Madrid.", unless_exists="text").id
    assert note != id and {hit.memory.id for hit in bank.recall(ASKED)} == {id, note}
    assert [one.memory.id for one in bank.similar("Caroline lives in Madrid.")] == [note]
    assert not list(bank.upkeep.duplicates())
    assert [memory.id for memory in bank.identical("Caroline lives in Madrid.")] == [note]


def test_only_the_facts_write_statements(bank: Bank) -> None:
    with pytest.raises(InputError, match="kind") as refused:
        bank.remember("Caroline lives in Madrid.", kind="fact")
    assert "facts.add" in str(refused.value.hint)


def test_a_statement_is_never_merged(bank: Bank) -> None:
    other = bank.remember("Caroline is at home in Madrid.").id
    with pytest.raises(ConflictError, match="evidence"):
        bank.upkeep.merge([madrid(bank), other])


def test_a_context_tells_a_fact_and_that_it_is_past(bank: Bank) -> None:
    madrid(bank, valid_from="2024-05-01")
    new = bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01").id
    told = bank.context(query=ASKED).text
    assert "Caroline lives in Porto." in told
    assert f"overturned 2026-02-01 by {new}" in told


# --- files, and facts of older versions


def test_an_export_brings_fact_and_statement(kept: Kept, bank: Bank, tmp_path: Path) -> None:
    madrid(bank)
    bank.export(tmp_path / "out.jsonl")
    with kept.opened("empty", settings={"embedder": "hashing"}) as empty:
        empty.import_(tmp_path / "out.jsonl")
        assert texts(empty) == ["Caroline lives in Madrid."] and objects(empty) == ["Madrid"]
    with kept.opened("other", settings={"embedder": "hashing"}) as other:
        other.remember("Something else.")
        madrid(other)
        report = other.import_(tmp_path / "out.jsonl")
        assert report.unchanged["facts"] == 1 and other.count(kinds="fact") == 1


def without_statements(bank: Bank, names: int) -> None:
    """Write facts as an older version did, without statement memories."""
    for number in range(names):
        bank.facts.add(f"Maya {number}", "works_on", f"part {number}")
    facts = bank.facts.query()
    bank.purge([fact.id for fact in facts])
    with bank.core.store.writing() as writer:
        writer.apply(Changeset("facts add", facts=[row_of(fact)._replace(memory=None) for fact in facts]))


def test_facts_of_an_older_version_are_stated_when_it_is_opened(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_facts, "AT_ONCE", 2)
    monkeypatch.setattr(background.background, "add", lambda worker: True)
    with kept.opened("notes") as bank:
        without_statements(bank, 5)
        assert bank.recall("what does Maya 3 work on?").hits == ()
    stated = []
    for _ in range(4):
        with kept.opened("notes") as bank:
            stated.append(bank.count(kinds="fact"))
    assert stated == [2, 4, 5, 5]
    with kept.opened("notes") as bank:
        assert texts(bank, "what does Maya 3 work on?", k=1) == ["Maya 3 works on part 3."]
        before = bank.changes()[-1].seq
    with kept.opened("notes") as bank:
        assert bank.changes()[-1].seq == before


def test_the_rest_of_older_facts_is_stated_in_the_background(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_facts, "AT_ONCE", 2)
    handed: list[Any] = []
    monkeypatch.setattr(background.background, "add", handed.append)
    with kept.opened("notes") as bank:
        without_statements(bank, 5)
    with kept.opened("notes") as bank:
        [worker] = handed
        while worker.step() is not None:
            pass
        assert bank.count(kinds="fact") == 5


def test_an_older_fact_without_beginning_counts_from_when_it_was_learnt(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        bank.facts.declare("works_on", single_valued=False)
        without_statements(bank, 1)
        learnt = bank.facts.query()[0].known_from
        bank.facts.declare("works_on")
    with kept.opened("notes") as bank:
        assert bank.facts.query()[0].memory is not None
        old = bank.facts.add("Maya 0", "works_on", "part 9", valid_from="2020-01-01")
        assert old.valid_until == learnt and [fact.object for fact in bank.facts.query()] == ["part 0"]


def test_a_fact_that_answers_is_likely_the_answer(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"embedder": "local", "models": INSTALLED}) as bank:
        for text in ("I want to live authentically.", "Caroline paints by the sea.", "We met Caroline at the market."):
            bank.remember(text)
        madrid(bank)
        bank.sync()
        found = bank.recall(ASKED)
        assert found[0].memory.text == "Caroline lives in Madrid."
        assert found.confidence >= 0.5
