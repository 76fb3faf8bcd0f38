"""Facts drawn from a memory: they name the memory, follow its text, and go with it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.bank.test_facts import day
from tests.contract.store_helpers import START, HandClock
from tests.models.scripted import Scripted

import pieria
from pieria import Bank, Workspace
from pieria.errors import BusyError, InputError, NotFoundError

BILLING = "Maya works on billing since March 2026 and lives in Berlin."
SEARCH = "Maya works on search and lives in Berlin."
WORKS, LIVES = ("Maya", "works_on", "billing"), ("Maya", "lives_in", "Berlin")
CAROL = "Bob reports to Carol."


def stated(bank: Bank, **asked: Any) -> set[tuple[str, str, str]]:
    """Return all facts of any time, without the mentions of memories."""
    found = bank.facts.query(history=True, **asked)
    return {(fact.subject, fact.predicate, fact.object) for fact in found if fact.predicate != "mentions"}


def mentioned(bank: Bank, id: str) -> set[str]:
    return {fact.object for fact in bank.facts.query(id, "mentions")}


def test_names_and_statements_become_facts_of_the_memory(bank: Bank) -> None:
    memory = bank.remember(BILLING)
    assert bank.extract(memory.id, statements=False).facts == ()
    assert (stated(bank), mentioned(bank, memory.id)) == (set(), {"Maya", "Berlin"})
    assert bank.extract(memory.id, entities=False).entities == ()
    drawn = bank.extract(memory.id)
    assert (drawn.engine, drawn.entities, drawn.queued) == ("rules", ("Maya", "Berlin"), None)
    assert {fact.memory for fact in drawn.facts} == {memory.id}
    assert stated(bank) == {WORKS, LIVES}
    since = {fact.predicate: fact.valid_from for fact in drawn.facts}
    assert since == {"works_on": datetime(2026, 3, 1, tzinfo=UTC), "lives_in": START}
    with pytest.raises(InputError, match="statements"):
        bank.extract(memory.id, entities=False, statements=False)
    assert bank.purge(memory.id).erased["facts"] == 4
    assert bank.facts.timeline() == []


def test_times_in_the_text_bound_its_facts(bank: Bank) -> None:
    texts: dict[str, tuple[dict[str, Any], str, str | None]] = {
        "Maya lives in Porto since last year.": ({"at": "2020-05-05"}, "2019-01-01", None),
        "Maya worked at Acme from 2019 until 2022.": ({}, "2019-01-01", "2023-01-01"),
        "Maya works on ads.": ({"at": "2026-01-01", "valid_until": "2026-01-15"}, "2026-01-01", "2026-01-16"),
    }
    for text, (told, since, until) in texts.items():
        [fact] = bank.extract(bank.remember(text, **told).id, entities=False).facts
        assert (fact.valid_from, fact.valid_until) == (day(since), day(until)), text
    assert bank.facts.query("Maya", "works_on") == []


def test_extracting_twice_adds_nothing(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    texts = [
        "Maya lives in Berlin.", "Maya lives in Porto since 2019.", "Zoë likes Rust and Go. Zoe likes Rust.",
        "Carol leads the platform team. Bob reports to Carol.", "We chose JWT for all new APIs.",
    ]  # fmt: skip
    for one, other in product(texts, texts):
        memory = bank.remember(f"{one} {other}", extract=True)
        before = bank.changes(), bank.facts.timeline()
        bank.extract(memory.id)
        assert (bank.changes(), bank.facts.timeline()) == before


def test_several_single_values_of_a_text_follow_each_other(bank: Bank) -> None:
    bank.facts.declare("lives_in")
    bank.remember("Maya lives in Berlin since 2020. Maya lives in Lisbon since 2024.", extract=True)
    assert bank.facts.conflicts() == []
    assert [fact.object for fact in bank.facts.query("Maya", "lives_in")] == ["Lisbon"]


def test_fact_that_a_person_ended_is_not_stated_again(bank: Bank, clock: HandClock) -> None:
    memory = bank.remember(BILLING, extract=True)
    clock.move(days=1)
    bank.facts.invalidate(*LIVES)
    [works] = bank.facts.query("Maya", "works_on")
    bank.facts.remove(works.id)
    bank.extract(memory.id)
    assert bank.facts.query("Maya") == []


def test_fact_that_was_corrected_by_its_id_stays_corrected(bank: Bank) -> None:
    memory = bank.remember(BILLING, extract=True)
    [fact] = bank.facts.query(*LIVES)
    bank.update(fact.id, text="Maya lives in Bern.")
    bank.extract(memory.id)
    assert stated(bank) == {WORKS, ("Maya", "lives_in", "Bern")}
    bank.update(memory.id, text=SEARCH)
    assert stated(bank) == {("Maya", "works_on", "search"), ("Maya", "lives_in", "Bern")}


def test_facts_follow_every_change_of_the_text(bank: Bank) -> None:
    id = bank.remember(BILLING, extract=True).id
    bank.remove(id)
    assert stated(bank) == set()
    bank.restore(id)
    assert (stated(bank), mentioned(bank, id)) == ({WORKS, LIVES}, {"Maya", "Berlin"})
    bank.update(id, text=SEARCH)
    assert stated(bank) == {("Maya", "works_on", "search"), LIVES}
    for text in (BILLING, "It rains."):
        bank.update(id, text=text)
    for facts, names in ((set(), set()), ({WORKS, LIVES}, {"Maya", "Berlin"}), (set(), set())):
        assert (stated(bank), mentioned(bank, id)) == (facts, names)
        bank.undo(bank.changes()[-1].seq)
    bank.facts.add("Maya", "leads", "billing", memory=id)
    bank.update(id, text="Maya left.")
    assert stated(bank) == {("Maya", "leads", "billing")}, "what was stated by hand outlives a new text"
    revised = bank.revise(id, text="Maya lives in Porto.")
    assert stated(bank) == {("Maya", "lives_in", "Porto")}
    assert mentioned(bank, revised.id) == {"Maya", "Porto"}


def test_only_memories_that_ask_for_it_are_drawn_from(bank: Bank) -> None:
    memory = bank.remember("Nothing yet.")
    for text in (BILLING, "It rains."):
        bank.update(memory.id, text=text)
    bank.undo(bank.changes()[-1].seq)
    assert bank.facts.timeline() == []
    bank.remember_many([{"text": BILLING}, {"text": CAROL, "extract": True}])
    bob = ("Bob", "reports_to", "Carol")
    assert stated(bank) == {bob}
    bank.remember("Ola reports to Bob.")
    bank.remember("Ola reports to Bob.", unless_exists="text", extract=True)
    assert stated(bank) == {bob, ("Ola", "reports_to", "Bob")}


def busy_after_one_write(bank: Bank, monkeypatch: pytest.MonkeyPatch, verb: Callable[[], object]) -> None:
    """Run a verb. Its second write transaction finds the bank busy."""
    writes = iter([bank.core.store.writing])

    def writing() -> Any:
        for first in writes:
            return first()
        raise BusyError("write")

    with monkeypatch.context() as patched:
        patched.setattr(bank.core.store, "writing", writing)
        verb()


def test_facts_are_written_with_the_text_or_not_at_all(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    once = partial(busy_after_one_write, bank, monkeypatch)
    once(lambda: bank.remember(BILLING, id="a", extract=True))
    once(lambda: bank.update("a", text="Maya works on search."))
    once(lambda: bank.undo(next(each.seq for each in bank.changes() if each.what == "update")))
    once(lambda: bank.revise("a", text="Maya lives in Porto."))
    assert stated(bank) == {("Maya", "lives_in", "Porto")}


def test_facts_are_known_to_readers_of_their_memory(opened: Callable[..., Bank]) -> None:
    bank, other = opened(session="s"), opened(session="other")
    memory = bank.remember(BILLING, scope="session", extract=True)
    bank.remember(CAROL, scope="user", extract=True)
    assert (stated(bank), stated(other)) == ({WORKS, LIVES}, set())
    with pytest.raises(NotFoundError):
        other.extract(memory.id)
    assert stated(opened("@me")) == {("Bob", "reports_to", "Carol")}


def test_secret_becomes_no_fact(bank: Bank) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    memory = bank.remember(f"The deploy key of the harbour is {key}. Maya works on billing.")
    assert bank.extract(memory.id).left >= 1
    assert key not in str(bank.facts.query(history=True))
    assert WORKS in stated(bank)


# --- with a language model

TRIPLE: dict[str, Any] = {"subject": "Maya", "predicate": "works_on", "object": "billing", "confidence": 0.8}
TRIPLE |= {"since": None, "until": None}
NAMES = {"entities": [{"name": "Maya", "kind": "person"}]}


@contextmanager
def with_model(folder: Path, *replies: object) -> Iterator[tuple[Workspace, Bank, Scripted]]:
    model = Scripted(*(json.dumps(reply) for reply in replies))
    with Workspace(folder, llm=model) as workspace:
        yield workspace, workspace.open("b"), model


def test_model_is_asked_by_a_job_that_names_the_version(tmp_path: Path) -> None:
    with with_model(tmp_path, NAMES, {"triples": [TRIPLE]}) as (workspace, bank, model):
        memory = bank.remember("Maya works on billing.", session="s", scope="session", extract=True)
        [job] = bank.jobs.list()
        assert (job.kind, job.about, model.calls) == ("extract", memory.reference, [])
        reader = workspace.open("b", session="s")
        drawn = reader.extract(memory.id)
        assert (drawn.engine, drawn.queued, drawn.facts) == ("scripted-1", job.id, ())
        assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
        assert stated(reader) == {WORKS}
        assert mentioned(reader, memory.id) == {"Maya"}
        changed = bank.remember("Maya works on billing.", id="changed", extract=True)
        asked = len(model.calls)
        bank.update(changed.id, text="Maya left.")
        assert bank.jobs.worker().run(once=True)["stale"] == 1
        assert len(model.calls) == asked
        wrong: list[dict[str, Any]] = [{}, {"id": "x"}, {"id": "x", "entities": 1, "statements": True}]
        for payload in wrong:
            with pytest.raises(InputError, match="payload"):
                bank.jobs.add("extract", payload)


def test_job_is_queued_with_the_text_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pieria.open("b", data=tmp_path) as bank:
        bank.remember(BILLING, id="a", extract=True)
    with with_model(tmp_path) as (_, bank, _):
        once = partial(busy_after_one_write, bank, monkeypatch)
        once(lambda: bank.update("a", text="Maya works on search."))
        once(lambda: bank.remember(BILLING, id="b", extract=True))
        assert {job.about for job in bank.jobs.list()} == {"a@2", "b@1"}


def test_reply_that_is_no_fact_is_left_out_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    long = "x" * 600
    caplog.set_level("INFO", "pieria.bank.facts.from_text")
    with with_model(tmp_path, NAMES, {"triples": [TRIPLE, {**TRIPLE, "object": long}]}) as (_, bank, _):
        memory = bank.remember(f"Maya works on billing and {long}.", extract=True)
        assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
        assert stated(bank) == {WORKS}
    [record] = caplog.records
    assert memory.id in record.getMessage()
    assert long not in record.getMessage()
