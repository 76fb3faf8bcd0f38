"""Quarantine and traces: hidden memories, later additions, and full restoration."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept

import pieria
from pieria.bank import Bank
from pieria.errors import AccessError, ConflictError, InputError, NotFoundError, QuarantinedError
from pieria.record.quarantine import HELD, QUARANTINES

EVIL = "evil.html"
RULE = "Never delete production data."
Opened = Callable[..., Bank]


@pytest.fixture
def person(bank: Bank, tmp_path: Path) -> Bank:
    """Return the same bank, opened by a person."""
    return pieria.open("notes", data=tmp_path, via="person")


def poison(bank: Bank) -> tuple[str, str]:
    """Remember a page from the bad source, and a summary derived from it."""
    page = bank.remember("Refunds go to account 42.", source=EVIL, session="monday", author="mallory").id
    summary = bank.remember("Refunds: account 42.", kind="summary").id
    bank.link(summary, page, "provenance")
    bank.facts.add("refunds", "go_to", "account 42", source=EVIL)
    return page, summary


def held(bank: Bank, **selectors: Any) -> int:
    """Put a selection into quarantine and return its number."""
    number = bank.quarantine(**selectors).number
    assert number is not None
    return number


def test_quarantine_holds_what_came_and_what_comes(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        page, summary = poison(bank)
        before = bank.changes()[-1].seq
        told = bank.quarantine(source=EVIL, dry_run=True)
        assert bank.count() == 2 and told.number is None and bank.quarantines() == ()
        receipt = bank.quarantine(source=EVIL, reason="it lied")
        counts = {"note": 1, "summary": 1, "fact": 1}
        assert (receipt.counts, receipt.memories, receipt.facts) == (counts, 2, 1)
        assert (set(receipt.ids), receipt.number, receipt.digest) == ({page, summary}, before + 1, told.digest)
        [listed] = bank.quarantines()
        assert (listed.number, listed.reason, listed.counts) == (before + 1, "it lied", counts)
        assert listed.selectors == {"source": EVIL}
        for verb in (bank.get, bank.history, bank.remove, bank.neighbors, bank.pin):
            with pytest.raises(QuarantinedError, match=r"python put it in quarantine on .*: it lied"):
                verb(page)
        with pytest.raises(QuarantinedError):
            bank.remember("Refunds go to account 42.", id=page, unless_exists="id")
        late = bank.remember("Refunds go to account 43.", source=EVIL).id
        bank.remember_many([{"text": "And to 44.", "source": EVIL}, {"text": "Unrelated."}])
        bank.facts.add("refunds", "go_to", "account 43", source=EVIL)
        assert [memory.text for memory in bank.list()] == ["Unrelated."]
        assert bank.facts.query(subject="refunds") == []
        [listed] = bank.quarantines()
        assert (listed.memories, listed.facts) == (4, 2)
        lifted = bank.lift(before + 1)
        assert (lifted.memories, lifted.facts, lifted.seq) == (4, 2, bank.changes()[-1].seq)
        assert {change.what for change in bank.changes(since=before)} >= {"quarantine", "lift"}
        assert bank.get(late) is not None and len(bank.facts.query(subject="refunds")) == 2


def test_selectors_take_the_lineage_and_narrow_each_other(bank: Bank) -> None:
    page, _ = poison(bank)
    for selector in ({"source": EVIL}, {"session": "monday"}, {"author": "mallory"}, {"ids": [page]}):
        number = held(bank, **selector)
        assert bank.count() == 0
        bank.lift(number)
        assert bank.count() == 2
    other = bank.remember("Refunds again.", source=EVIL, session="tuesday").id
    bank.quarantine(source=EVIL, session="tuesday")
    assert other not in {memory.id for memory in bank.list()} and bank.count() == 2
    # Ids alone take in nothing new from their source.
    bank.quarantine(ids=[page])
    bank.remember("Another.", source=EVIL, session="friday")
    assert [memory.text for memory in bank.list()] == ["Another."]


def test_way_in_and_period_select_memories(bank: Bank) -> None:
    bank.remember("My own.", at="2020-01-01")
    early, new = bank.remember("From a web page.", via="outside").id, bank.remember("New.", at="2021-01-01").id
    assert bank.quarantine(via="outside").memories == 1
    late = bank.remember("Another web page.", via="outside").id
    bank.quarantine(since="2020-06-01", until="2022-01-01")
    assert [memory.text for memory in bank.list()] == ["My own."]
    for id in (early, late, new):
        with pytest.raises(QuarantinedError):
            bank.get(id)


def test_only_a_person_undoes_a_quarantine(bank: Bank, person: Bank) -> None:
    page, _ = poison(bank)
    bank.update(page, text="Refunds go nowhere.")
    changed = bank.changes()[-1].seq
    number = held(bank, source=EVIL)
    with pytest.raises(AccessError, match="only a person") as refused:
        bank.undo(number)
    assert f"pieria quarantine --lift {number}" in str(refused.value.hint) and bank.count() == 0
    # Undo reaches what is in quarantine.
    bank.undo(changed)
    assert person.undo(number).what == f"undo {number}"
    assert person.count() == 2 and person.quarantines() == ()
    found = person.get(page)
    assert found is not None and found.text == "Refunds go to account 42."
    with pytest.raises(ConflictError):
        person.undo(bank.changes()[-1].seq)


def test_agent_hides_no_rule_of_a_person(bank: Bank, person: Bank) -> None:
    rule = person.remember(RULE, source=EVIL).id
    person.remember("The sky is blue.", source="weather")
    for asked in ({"via": "person"}, {"via": "accepted"}, {"source": EVIL}, {"ids": rule}):
        with pytest.raises(AccessError, match="only a person"):
            bank.quarantine(**asked)  # type: ignore[arg-type]
    assert bank.quarantines() == () and RULE in bank.context().text
    assert bank.quarantine(source="weather").memories == 1
    assert person.quarantine(source=EVIL).memories == 1


def test_memory_that_two_hold_stays_until_both_are_lifted(bank: Bank) -> None:
    page, _ = poison(bank)
    first, second = held(bank, source=EVIL), held(bank, ids=[page])
    assert (bank.lift(first).still_held, bank.count()) == (2, 0)
    bank.lift(second)
    assert bank.count() == 2


def test_purge_reaches_into_a_quarantine(bank: Bank) -> None:
    poison(bank)
    number = held(bank, source=EVIL)
    receipt = bank.forget(source=EVIL, purge=True)
    assert receipt.receipt is not None and receipt.receipt.erased["memories"] == 2
    bank.remember("It comes again.", source=EVIL)
    assert bank.count() == 0, "the quarantine lasts for what arrives"
    assert bank.lift(number).memories == 3
    assert [memory.text for memory in bank.list()] == ["It comes again."]
    assert bank.doctor().well


def test_upkeep_does_not_read_what_is_in_quarantine(bank: Bank) -> None:
    for number in range(6):
        bank.remember(f"The harbour light number {number} is broken.", source=EVIL, at="2020-01-01")
    bank.quarantine(source=EVIL)
    assert (*bank.upkeep.sleep(force=True).summaries, *bank.upkeep.due()) == ()


def test_trace_names_the_sessions_that_saw_it(kept: Kept) -> None:
    settings = {"count_uses": True}
    with kept.opened("notes", settings=settings) as bank:
        page, _ = poison(bank)
        bank.pin(page)
    with kept.opened("notes", session="tuesday", settings=settings) as bank:
        assert bank.recall("refunds account") and bank.recall("refunds account")
    with kept.opened("notes", session="friday", settings=settings) as bank:
        bank.context(keep=True)
    with kept.opened("notes", settings=settings) as bank:
        before = bank.changes()[-1].seq
        told = {each.session: each for each in bank.trace(page).told}
        assert bank.changes()[-1].seq == before
    assert {session: each.in_context for session, each in told.items()} == {"tuesday": False, "friday": True}
    assert page in told["tuesday"].ids and told["tuesday"].times == 4


def test_trace_shows_derivations_in_quarantine_too(bank: Bank) -> None:
    page, summary = poison(bank)
    newer = bank.revise(summary, text="Refunds: account 42, daily.").id
    held_by = (held(bank, source=EVIL),)
    found = bank.trace(source=EVIL)
    shown = {item.id: (item.how, item.of, item.quarantines) for item in found.items if item.what == "memory"}
    assert (shown[page], shown[summary]) == (("", None, held_by), ("drawn from", page, held_by))
    assert (shown[newer][2], found.counts) == (held_by, {"fact": 1, "note": 1, "summary": 2})
    cut = bank.trace(source=EVIL, limit=1)
    assert len(cut.items) == 1 and cut.truncated and cut.counts == found.counts


def test_trace_shows_nothing_private_to_other_sessions(bank: Bank, opened: Opened) -> None:
    private = opened(session="private")
    private.remember("Only mine.", scope="session", source=EVIL)
    shared = private.remember("Shared.", source=EVIL).id
    assert private.trace(source=EVIL).hidden == 0
    assert [item.id for item in bank.trace(source=EVIL).items] == [shared]


def test_bad_selections_are_refused(bank: Bank) -> None:
    for verb in (bank.quarantine, bank.trace):
        with pytest.raises(NotFoundError):
            verb(source="nowhere")
        with pytest.raises(InputError):
            verb()
    with pytest.raises(InputError):
        bank.quarantine(via="nowhere")
    with pytest.raises(NotFoundError):
        bank.lift(1)


def test_import_and_copy_keep_the_quarantine(bank: Bank, opened: Opened, tmp_path: Path) -> None:
    page, _ = poison(bank)
    bank.quarantine(source=EVIL, reason="it lied")
    file = tmp_path / "notes.jsonl"
    bank.export(file)
    pieria.copy("notes", data=tmp_path, to=tmp_path, name="copy")
    opened("full").remember("Something of its own.")
    for name, own in (("empty", 0), ("full", 1), ("copy", 0)):
        other = opened(name)
        if name != "copy":
            other.import_(file)
        assert other.count() == own
        [listed] = other.quarantines()
        assert listed.reason == "it lied"
        assert listed.number is not None and other.lift(listed.number)
        assert other.count() == own + 2 and len(other.facts.query(subject="refunds")) == 1
    # An import hides only its own memories, unless it is trusted.
    same, mine = opened("same"), opened("mine")
    same.remember(RULE, id=page)
    same.import_(file)
    [listed] = same.quarantines()
    assert listed.selectors == {} and listed.memories == 1
    assert same.get(page) is not None
    same.remember("Something new.", source=EVIL)
    assert same.count() == 2
    mine.import_(file, trusted=True)
    assert mine.quarantines()[0].selectors == {"source": EVIL}


def test_windows_leave_out_what_is_in_quarantine(opened: Opened) -> None:
    bank = opened(embedder="hashing")
    turns = [{"text": text, "kind": "turn", "session": "s"} for text in ("Hello.", "The zebra is loose.", "Goodbye.")]
    first, second, _ = bank.remember_many(turns)

    def window() -> list[float]:
        assert bank.sync()
        with bank.core.reading() as reader:
            [(_, vector)] = reader.vectors([first.row], "window")[first.row]
            return [float(number) for number in vector]

    before = window()
    number = held(bank, ids=[second.id])
    assert window() != before
    bank.lift(number)
    assert window() == before


def test_reason_goes_with_the_last_memory_it_was_for(bank: Bank) -> None:
    page, _ = poison(bank)
    other = bank.remember("The sky is blue.").id
    number = held(bank, ids=[page, other], reason="it says account 42")
    bank.purge([other])
    assert bank.quarantines()[0].reason == "it says account 42"
    bank.purge([page])
    with bank.core.reading() as reader:
        kept = [*reader.records(QUARANTINES).values(), *reader.records(HELD).values()]
    assert kept and "account 42" not in str(kept)
    assert [(each.number, each.reason) for each in bank.quarantines()] == [(number, None)]
