"""A fact without a source and its statement memory: each is found through the other, and both go together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept, held
from tests.bank.test_vectors import INSTALLED
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.bank.facts import older_facts
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.changeset import Changeset
from pieria.record.fact import row_of
from pieria.runtime import background

Opened = Callable[..., Bank]
ASKED = "where does Caroline live?"
IN_MADRID = "Caroline lives in Madrid."


@pytest.fixture
def bank(opened: Opened) -> Bank:
    return opened(embedder="hashing")


def madrid(bank: Bank, **more: Any) -> str:
    return bank.facts.add("Caroline", "lives_in", "Madrid", **more).id


def moved(bank: Bank, **more: Any) -> str:
    return bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01", **more).id


def texts(bank: Bank, question: str = ASKED, **asked: Any) -> list[str]:
    return [hit.memory.text for hit in bank.recall(question, **asked)]


def objects(bank: Bank, **asked: Any) -> list[str]:
    return [fact.object for fact in bank.facts.query("Caroline", **asked)]


def test_fact_is_the_first_hit_and_given_as_reason(bank: Bank) -> None:
    bank.remember("I want to live authentically.", author="Caroline")
    fact = bank.facts.add("Caroline", "lives_in", "Madrid", confidence=0.7, source="her letter")
    first, second = bank.recall(ASKED)
    assert (first.memory.id, first.memory.text, first.memory.kind) == (fact.id, IN_MADRID, "fact")
    assert first.why["fact"] == 1.0 and first.overturned is None
    assert first.score > second.score
    memory = held(bank, fact.id)
    assert fact.memory == fact.id and fact.source_memory is None
    assert (memory.confidence, memory.source, memory.place) == (0.7, "her letter", f"{bank.name}/fact")
    sentences = {("Maya", "LIKES_MOST", "tea"): "Maya likes most tea.", ("Maya", "asks", "why?"): "Maya asks why?"}
    assert {triple: held(bank, bank.facts.add(*triple).id).text for triple in sentences} == sentences


def test_superseded_value_comes_second_and_names_its_successor(kept: Kept) -> None:
    with kept.opened("notes", settings={"embedder": "hashing"}) as bank:
        old = madrid(bank, valid_from="2024-05-01")
        new = moved(bank)
        current, past = bank.recall(ASKED, k=2)
        assert (current.memory.id, current.overturned) == (new, None)
        assert past.memory.text == "Caroline lives in Madrid (from 2024-05-01 until 2026-01-31)."
        assert (past.memory.id, str(past.overturned)) == (old, f"overturned by {new} of 2026-02-01")
        [then] = bank.recall(ASKED, valid_at="2025-01-01")
        assert (then.memory.id, then.overturned) == (old, None)
        assert [texts(bank, valid_at=at) for at in ("2026-03-01", "2020-01-01")] == [["Caroline lives in Porto."], []]
        told = bank.context(query=ASKED).text
        assert "Caroline lives in Porto." in told and f"overturned 2026-02-01 by {new}" in told
        # The removed statement and its fact come back together.
        bank.remove(new)
        assert "Porto" not in str(objects(bank, history=True))
        bank.restore(new)
        assert objects(bank) == ["Porto"]
        assert bank.purge(new).erased["facts"] == 1
        assert objects(bank) == []


def test_ended_value_without_a_successor_is_past(bank: Bank, clock: HandClock) -> None:
    id = madrid(bank)
    known = bank.changes()[-1].at
    clock.move(days=1)
    bank.facts.invalidate("Caroline", "lives_in", "Madrid", at="2026-03-01")
    [hit] = bank.recall(ASKED)
    assert hit.overturned is not None and hit.overturned.by is hit.as_dict()["overturned"]["by"] is None
    assert str(hit.overturned) == "no longer so since 2026-03-02"
    assert held(bank, id).text == "Caroline lives in Madrid (until 2026-03-01)."
    assert texts(bank, known_at=known) == [IN_MADRID]


def test_question_for_the_past_finds_the_value_of_then_first(opened: Opened) -> None:
    bank = opened()
    madrid(bank, valid_from="2024-05-01")
    moved(bank)
    for when in ("in 2025", "before", "originally"):
        first, second = bank.recall(f"where did Caroline live {when}?", k=2)
        assert first.memory.text.startswith("Caroline lives in Madrid"), when
        assert first.overturned is not None and second.overturned is None


def test_memory_whose_fact_was_superseded_says_so(bank: Bank) -> None:
    old = bank.remember("Caroline lives in Madrid and works on billing.").id
    new = bank.remember("Her flat is in Porto by now.").id
    madrid(bank, memory=old)
    bank.facts.add("Caroline", "works_on", "billing", memory=old)
    moved(bank, memory=new)
    told = {hit.memory.id: hit.overturned for hit in bank.recall(ASKED)}
    by = told[old]
    assert by is not None and by.by == new and told[new] is None
    [about_work] = [hit for hit in bank.recall("what does Caroline works on?") if hit.memory.id == old]
    assert about_work.overturned is None


def test_fact_and_statement_come_and_go_together(bank: Bank) -> None:
    id = madrid(bank)
    [change] = bank.changes()
    assert change.ids == (id,)
    bank.undo(change.seq)
    assert (texts(bank), objects(bank)) == ([], [])
    bank.undo(bank.changes()[-1].seq)
    assert (texts(bank), objects(bank)) == ([IN_MADRID], ["Madrid"])
    for either in (bank, bank.facts):
        either.remove(id)
        assert (texts(bank), objects(bank, history=True)) == ([], [])
        bank.restore(id)
        assert (texts(bank), objects(bank)) == ([IN_MADRID], ["Madrid"])
    bank.remove(id)
    again = madrid(bank)
    assert again != id and (texts(bank), objects(bank)) == ([IN_MADRID], ["Madrid"])
    for either, gone in ((bank, id), (bank.facts, again)):
        assert either.purge(gone).erased["facts"] == 1
        assert bank.get(gone) is None
        with pytest.raises(NotFoundError, match=gone):
            bank.facts.history(gone)
    assert (texts(bank), objects(bank, history=True)) == ([], [])


def test_reworded_statement_corrects_its_fact(bank: Bank) -> None:
    id = madrid(bank)
    bank.update(id, text="Caroline lives in Lisbon.")
    assert (objects(bank), texts(bank)) == (["Lisbon"], ["Caroline lives in Lisbon."])
    assert [fact.object for fact in bank.facts.history(id)] == ["Madrid", "Lisbon"]
    revised = bank.revise(id, text="Caroline lives in Porto with Omar.", reason="she said so")
    assert (revised.id, revised.kind, objects(bank)) == (id, "fact", ["Porto with Omar"])
    ended = madrid(bank)
    bank.invalidate(ended, at="2026-02-01")
    assert (objects(bank), held(bank, ended).text) == (
        [], "Caroline lives in Madrid (until 2026-02-01).",
    )  # fmt: skip


def test_split_fact_has_two_statements(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    madrid(bank, valid_from="2020-01-01")
    bank.facts.add("Caroline", "lives_in", "Porto", valid_from="2022-01-01", valid_until="2022-12-31")
    facts = bank.facts.query("Caroline", history=True)
    assert [fact.object for fact in facts] == ["Madrid", "Porto", "Madrid"]
    assert [fact.memory for fact in facts] == [fact.id for fact in facts]
    first, *rest = texts(bank, k=5)
    assert (first, sorted(rest)) == (IN_MADRID, [
        "Caroline lives in Madrid (from 2020-01-01 until 2021-12-31).",
        "Caroline lives in Porto (from 2022-01-01 until 2022-12-31).",
    ])  # fmt: skip


def test_quarantine_and_forgetting_of_a_source_take_statements(bank: Bank) -> None:
    id = madrid(bank, source="evil.html")
    quarantine = bank.quarantine(source="evil.html")
    assert (quarantine.memories, quarantine.facts, quarantine.ids, texts(bank)) == (0, 1, (), [])
    assert quarantine.number is not None
    bank.lift(quarantine.number)
    assert texts(bank) == [IN_MADRID]
    told = bank.forget(source="evil.html")
    assert (told.ids, told.facts, texts(bank)) == ((), (id,), [])


def test_statements_stay_apart_from_other_memories(bank: Bank, folder: Kept) -> None:
    id = madrid(bank)
    note = bank.remember(IN_MADRID, unless_exists="text").id
    assert note != id and {hit.memory.id for hit in bank.recall(ASKED)} == {id, note}
    assert bank.count() == 1 and [memory.id for memory in bank.list()] == [note]
    assert bank.count(kinds="fact") == 1 and [memory.id for memory in bank.list(kinds="fact")] == [id]
    assert (bank.count(by="kind"), [one.memory.id for one in bank.similar(IN_MADRID)]) == ({"note": 1}, [note])
    assert not list(bank.upkeep.duplicates())
    assert [memory.id for memory in bank.identical(IN_MADRID)] == [note]
    with pytest.raises(ConflictError, match="evidence"):
        bank.upkeep.merge([id, note])
    with pytest.raises(InputError, match="kind") as refused:
        bank.remember(IN_MADRID, kind="fact")
    assert "facts.add" in str(refused.value.hint)
    with folder.opened("believed", via="outside") as outside:
        memory = held(outside, madrid(outside))
        assert (memory.via, memory.trust) == ("outside", 0.2)


def test_export_brings_fact_and_statement(bank: Bank, opened: Opened, tmp_path: Path) -> None:
    madrid(bank)
    file = bank.export(tmp_path / "out.jsonl").path
    empty, other = opened("empty", embedder="hashing"), opened("other", embedder="hashing")
    other.remember("Something else.")
    madrid(other)
    assert [each.import_(file).unchanged.get("facts", 0) for each in (empty, other)] == [0, 1]
    assert (texts(empty), objects(empty), other.count(kinds="fact")) == ([IN_MADRID], ["Madrid"], 1)


def without_statements(bank: Bank, names: int) -> None:
    """Write facts as an older version did, without statement memories."""
    for number in range(names):
        bank.facts.add(f"Maya {number}", "works_on", f"part {number}")
    facts = bank.facts.query()
    bank.purge([fact.id for fact in facts])
    with bank.core.store.writing() as writer:
        writer.apply(
            Changeset("facts add", facts=[row_of(fact)._replace(memory=None, valid_from=None) for fact in facts])
        )


def test_older_facts_get_statements_bit_by_bit(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    monkeypatch.setattr(older_facts, "AT_ONCE", 2)
    monkeypatch.setattr(background.background, "add", handed.append)
    for name in ("slowly", "at-once"):
        with kept.opened(name) as bank:
            without_statements(bank, 5)
            assert bank.recall("what does Maya 3 work on?").hits == ()
    stated = []
    for _ in range(4):
        with kept.opened("slowly") as bank:
            stated.append((bank.count(kinds="fact"), bank.changes()[-1].seq))
    assert ([count for count, _ in stated], stated[-1]) == ([2, 4, 5, 5], stated[-2])
    with kept.opened("slowly") as bank:
        assert texts(bank, "what does Maya 3 work on?", k=1) == ["Maya 3 works on part 3."]
    handed.clear()
    with kept.opened("at-once") as bank:
        [worker] = handed
        while worker.step() is not None:
            pass
        assert bank.count(kinds="fact") == 5


def test_older_fact_without_beginning_counts_from_when_it_came(folder: Kept) -> None:
    with folder.opened("notes") as bank:
        without_statements(bank, 1)
        [fact] = bank.facts.query()
        learnt = bank.facts.history(fact.id)[0].known_from
        assert (fact.memory, fact.valid_from) == (None, fact.known_from)
        bank.facts.declare("works_on")
    with folder.opened("notes") as bank:
        [fact] = bank.facts.query()
        assert (fact.memory, fact.valid_from) == (fact.id, learnt)
        assert bank.facts.query(valid_at="1999-01-01") == []
        assert texts(bank, "what does Maya 0 work on?", valid_at="1999-01-01") == []
        old = bank.facts.add("Maya 0", "works_on", "part 9", valid_from="2020-01-01")
        assert old.valid_until == learnt and [fact.object for fact in bank.facts.query()] == ["part 0"]


def test_fact_that_answers_is_likely_the_answer(opened: Opened) -> None:
    bank = opened(embedder="local", models=INSTALLED)
    bank.remember_many(["I want to live authentically.", "Caroline paints by the sea.", "We met Caroline at market."])
    madrid(bank)
    bank.sync()
    found = bank.recall(ASKED)
    assert found[0].memory.text == IN_MADRID and found.confidence >= 0.5
