"""Facts drawn from a memory: they name the memory, follow its text, and go with it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.making import START, HandClock
from tests.models.scripted import Scripted

import pieria
from pieria import Bank
from pieria.errors import BusyError, InputError, NotFoundError

SETTINGS = {"durability": "off"}
BILLING = "Maya works on billing since March 2026 and lives in Berlin."


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.open("b", data=tmp_path, clock=clock, settings=SETTINGS) as bank:
        yield bank


def stated(bank: Bank, **asked: Any) -> set[tuple[str, str, str]]:
    """Return all facts of any time, without the mentions of memories."""
    found = bank.facts.query(history=True, **asked)
    return {(fact.subject, fact.predicate, fact.object) for fact in found if fact.predicate != "mentions"}


def mentioned(bank: Bank, id: str) -> set[str]:
    return {fact.object for fact in bank.facts.query(id, "mentions")}


def test_what_is_named_and_stated_becomes_facts_of_the_memory(bank: Bank) -> None:
    memory = bank.remember(BILLING)
    drawn = bank.extract(memory.id)
    assert drawn.engine == "rules"
    assert drawn.entities == ("Maya", "Berlin")
    assert drawn.queued is None
    assert {fact.memory for fact in drawn.facts} == {memory.id}
    assert stated(bank) == {("Maya", "works_on", "billing"), ("Maya", "lives_in", "Berlin")}
    assert mentioned(bank, memory.id) == {"Maya", "Berlin"}


def test_a_time_in_the_text_is_when_it_began_and_otherwise_when_it_was_said(bank: Bank) -> None:
    drawn = bank.extract(bank.remember(BILLING).id)
    assert {fact.predicate: fact.valid_from for fact in drawn.facts} == {
        "works_on": datetime(2026, 3, 1, tzinfo=UTC), "lives_in": START,
    }  # fmt: skip


def test_a_relative_time_counts_from_when_it_was_said(bank: Bank) -> None:
    said = bank.remember("Maya lives in Porto since last year.", at="2020-05-05")
    [fact] = bank.extract(said.id, entities=False).facts
    assert fact.valid_from == datetime(2019, 1, 1, tzinfo=UTC)


def test_a_year_is_a_time_where_it_begins_or_ends_something(bank: Bank) -> None:
    said = bank.remember("Maya worked at Acme from 2019 until 2022.")
    [fact] = bank.extract(said.id, entities=False).facts
    assert (fact.valid_from, fact.valid_until) == (datetime(2019, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC))


def test_no_fact_holds_longer_than_its_memory(bank: Bank) -> None:
    said = bank.remember("Maya works on billing.", at="2026-02-01", valid_until="2026-01-15")
    [fact] = bank.extract(said.id, entities=False).facts
    assert fact.valid_until == datetime(2026, 1, 16, tzinfo=UTC)
    assert bank.facts.query("Maya") == []


def test_twice_adds_nothing(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    before = bank.changes()
    assert len(bank.extract(memory.id).facts) == 2
    assert bank.changes() == before


@given(st.lists(st.sampled_from([
    "Maya lives in Berlin.", "Maya lives in Porto since 2019.", "Zoë likes Rust and Go.", "Zoe likes Rust.",
    "Carol leads the platform team.", "Bob reports to Carol.", "We chose JWT for all new APIs.",
]), min_size=1, max_size=4))  # fmt: skip
def test_twice_adds_nothing_to_any_text(sentences: list[str]) -> None:
    with pieria.open("any", settings=SETTINGS) as bank:
        bank.facts.declare("lives_in")
        memory = bank.remember(" ".join(sentences), extract=True)
        before = bank.changes(), bank.facts.timeline()
        bank.extract(memory.id)
        assert (bank.changes(), bank.facts.timeline()) == before


def test_what_was_asked_for_alone_is_drawn(bank: Bank) -> None:
    memory = bank.remember(BILLING)
    assert bank.extract(memory.id, statements=False).facts == ()
    assert (stated(bank), mentioned(bank, memory.id)) == (set(), {"Maya", "Berlin"})
    assert bank.extract(memory.id, entities=False).entities == ()
    assert len(stated(bank)) == 2


def test_nothing_at_all_to_draw_is_refused(bank: Bank) -> None:
    with pytest.raises(InputError, match="statements"):
        bank.extract(bank.remember("x").id, entities=False, statements=False)


def test_several_values_of_what_has_one_at_a_time_follow_each_other(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    bank.remember("Maya lives in Berlin since 2020. Maya lives in Lisbon since 2024.", extract=True)
    assert bank.facts.conflicts() == []
    [now] = bank.facts.query("Maya", "lives_in")
    assert now.object == "Lisbon"


def test_what_somebody_ended_or_took_back_is_not_stated_again(bank: Bank, clock: HandClock) -> None:
    memory = bank.remember(BILLING, extract=True)
    clock.move(days=1)
    bank.facts.invalidate("Maya", "lives_in", "Berlin")
    [works] = bank.facts.query("Maya", "works_on")
    bank.facts.remove(works.id)
    bank.extract(memory.id)
    assert bank.facts.query("Maya") == []


def test_a_new_text_takes_back_what_it_does_not_say(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    bank.update(memory.id, text="Maya works on search and lives in Berlin.")
    assert stated(bank) == {("Maya", "works_on", "search"), ("Maya", "lives_in", "Berlin")}
    bank.update(memory.id, text=BILLING)
    assert ("Maya", "works_on", "billing") in stated(bank)


def test_what_was_stated_by_hand_outlives_a_new_text(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    bank.facts.add("Maya", "leads", "billing", memory=memory.id)
    bank.update(memory.id, text="Maya left.")
    assert stated(bank) == {("Maya", "leads", "billing")}


def test_a_revision_has_what_is_drawn_from_its_own_text(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    revised = bank.revise(memory.id, text="Maya lives in Porto.")
    assert stated(bank) == {("Maya", "lives_in", "Porto")}
    assert mentioned(bank, revised.id) == {"Maya", "Porto"}


def test_of_a_memory_of_which_nothing_was_drawn_nothing_is_drawn_later(bank: Bank) -> None:
    memory = bank.remember("Nothing yet.")
    bank.update(memory.id, text=BILLING)
    assert bank.facts.timeline() == []


def test_an_undo_brings_back_what_is_drawn_from_the_text_that_stands_again(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    drawn = stated(bank), mentioned(bank, memory.id)
    bank.update(memory.id, text="It rains.")
    assert (stated(bank), mentioned(bank, memory.id)) == (set(), set())
    [updated] = [change for change in bank.changes() if change.what == "update"]
    undone = bank.undo(updated.seq)
    assert (stated(bank), mentioned(bank, memory.id)) == drawn
    bank.undo(undone.seq)
    assert (stated(bank), mentioned(bank, memory.id)) == (set(), set())


def test_an_undo_draws_nothing_from_what_was_never_drawn_from(bank: Bank) -> None:
    memory = bank.remember(BILLING)
    bank.update(memory.id, text="It rains.")
    bank.undo(2)
    assert bank.facts.timeline() == []


def test_to_remove_and_to_restore_leaves_what_was_drawn(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    drawn = stated(bank)
    bank.remove(memory.id)
    assert stated(bank) == set()
    bank.restore(memory.id)
    assert stated(bank) == drawn


def once(bank: Bank, monkeypatch: pytest.MonkeyPatch, verb: Callable[[], object]) -> None:
    """Run the verb. A second write transaction of the verb finds the bank busy."""
    left = [1]
    writing = bank.core.store.writing

    def busy() -> Any:
        if not left:
            raise BusyError("write")
        left.pop()
        return writing()

    with monkeypatch.context() as patched:
        patched.setattr(bank.core.store, "writing", busy)
        verb()


def written_once(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    once(bank, monkeypatch, lambda: bank.remember(BILLING, id="a", extract=True))
    once(bank, monkeypatch, lambda: bank.update("a", text="Maya works on search."))
    once(bank, monkeypatch, lambda: bank.undo(next(each.seq for each in bank.changes() if each.what == "update")))
    once(bank, monkeypatch, lambda: bank.revise("a", text="Maya lives in Porto."))


def test_what_is_drawn_is_written_with_the_text_or_not_at_all(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    written_once(bank, monkeypatch)
    assert stated(bank) == {("Maya", "lives_in", "Porto")}


def test_a_purge_takes_along_what_was_drawn(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    assert bank.purge(memory.id).erased["facts"] == 4
    assert bank.facts.timeline() == []


def test_what_a_session_said_to_itself_is_known_to_it_alone(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, session="s", settings=SETTINGS) as bank:
        memory = bank.remember(BILLING, scope="session", extract=True)
        assert len(stated(bank)) == 2
    with pieria.open("b", data=tmp_path, session="other", settings=SETTINGS) as other:
        assert stated(other) == set()
        with pytest.raises(NotFoundError):
            other.extract(memory.id)


def test_what_is_the_user_s_is_drawn_where_it_is(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as bank:
        bank.remember(BILLING, scope="user", extract=True)
        assert stated(bank) == set()
    with pieria.open("@me", data=tmp_path, settings=SETTINGS) as user:
        assert len(stated(user)) == 2


def test_of_many_each_that_asks_is_drawn_from(bank: Bank) -> None:
    bank.remember_many([{"text": BILLING}, {"text": "Bob reports to Carol.", "extract": True}])
    assert stated(bank) == {("Bob", "reports_to", "Carol")}


def test_a_memory_that_is_there_already_is_drawn_from_too(bank: Bank) -> None:
    bank.remember("Bob reports to Carol.")
    bank.remember("Bob reports to Carol.", unless_exists="text", extract=True)
    assert stated(bank) == {("Bob", "reports_to", "Carol")}


# --- with a language model

TRIPLES = {"triples": [{"subject": "Maya", "predicate": "works_on", "object": "billing", "confidence": 0.8,
                        "since": None, "until": None}]}  # fmt: skip
NAMES = {"entities": [{"name": "Maya", "kind": "person"}]}


def with_model(folder: Path, *replies: object) -> tuple[pieria.Workspace, Scripted]:
    model = Scripted(*(reply if isinstance(reply, str) else json.dumps(reply) for reply in replies))
    return pieria.Workspace(folder, SETTINGS, llm=model), model


def test_a_model_is_asked_by_a_job_that_names_the_version(tmp_path: Path) -> None:
    workspace, model = with_model(tmp_path, NAMES, TRIPLES)
    with workspace, workspace.open("b") as bank:
        memory = bank.remember("Maya works on billing.", session="s", scope="session", extract=True)
        [job] = bank.jobs.list()
        assert (job.kind, job.about, model.calls) == ("extract", memory.reference, [])
        reader = workspace.open("b", session="s")
        drawn = reader.extract(memory.id)
        assert (drawn.engine, drawn.queued, drawn.facts) == ("scripted-1", job.id, ())
        assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
        assert stated(reader) == {("Maya", "works_on", "billing")}
        assert mentioned(reader, memory.id) == {"Maya"}


def test_a_job_for_a_text_that_has_changed_writes_nothing(tmp_path: Path) -> None:
    workspace, model = with_model(tmp_path)
    with workspace, workspace.open("b") as bank:
        memory = bank.remember("Maya works on billing.", extract=True)
        bank.update(memory.id, text="Maya left.")
        assert dict(bank.jobs.worker().run(once=True)) == {"stale": 1}
        assert (model.calls, bank.facts.timeline()) == ([], [])


def test_a_job_is_queued_with_the_text_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as bank:
        bank.remember(BILLING, id="a", extract=True)
    workspace, _ = with_model(tmp_path)
    with workspace, workspace.open("b") as bank:
        once(bank, monkeypatch, lambda: bank.update("a", text="Maya works on search."))
        once(bank, monkeypatch, lambda: bank.remember(BILLING, id="b", extract=True))
        assert {job.about for job in bank.jobs.list()} == {"a@2", "b@1"}


def test_a_job_that_names_no_memory_is_refused(bank: Bank) -> None:
    for payload in ({}, {"id": "x"}, {"id": "x", "entities": 1, "statements": True}):
        with pytest.raises(InputError, match="payload"):
            bank.jobs.add("extract", payload)


def test_what_cannot_be_a_fact_costs_nothing_else_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    long = "x" * 600
    both = {"triples": [*TRIPLES["triples"], {**TRIPLES["triples"][0], "object": long}]}
    workspace, _ = with_model(tmp_path, NAMES, both)
    with workspace, workspace.open("b") as bank, caplog.at_level("INFO", "pieria.bank.facts.from_text"):
        memory = bank.remember(f"Maya works on billing and {long}.", extract=True)
        assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
        assert stated(bank) == {("Maya", "works_on", "billing")}
    [record] = caplog.records
    assert memory.id in record.getMessage()
    assert long not in record.getMessage()


def test_a_secret_is_no_fact(bank: Bank) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    memory = bank.remember(f"The deploy key of the harbour is {key}. Maya works on billing.")
    drawn = bank.extract(memory.id)
    assert drawn.left >= 1
    assert key not in str(bank.facts.query(history=True))
    assert ("Maya", "works_on", "billing") in stated(bank)
