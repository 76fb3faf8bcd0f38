"""Quarantine and traces in a folder and on a server: hidden memories, later additions, and full restoration."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bank.kept import Kept

import pieria
from pieria.bank import Bank
from pieria.errors import AccessError, ConflictError, InputError, NotFoundError, QuarantinedError
from pieria.record.quarantine import HELD, QUARANTINES

EVIL = "evil.html"


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("notes", settings={"embedder": "hashing"}) as bank:
        yield bank


def poison(bank: Bank) -> tuple[str, str]:
    """Remember a page from the bad source, and a summary derived from it."""
    page = bank.remember("Refunds go to account 42.", source=EVIL, session="monday", author="mallory").id
    summary = bank.remember("Refunds: account 42.", kind="summary").id
    bank.link(summary, page, "provenance")
    bank.facts.add("refunds", "go_to", "account 42", source=EVIL)
    return page, summary


def number(held: object) -> int:
    found = getattr(held, "number", None)
    assert isinstance(found, int)
    return found


def test_a_quarantine_is_one_change_and_so_is_lifting_it(bank: Bank) -> None:
    poison(bank)
    before = bank.changes()[-1].seq
    held = bank.quarantine(source=EVIL)
    assert number(held) == before + 1
    lifted = bank.lift(number(held))
    assert lifted.seq == before + 2
    assert [change.what for change in bank.changes(since=before)] == ["quarantine", "lift"]


def test_a_receipt_counts_what_is_held(bank: Bank) -> None:
    page, summary = poison(bank)
    told = bank.quarantine(source=EVIL, dry_run=True)
    assert bank.count() == 2 and told.number is None and bank.quarantines() == ()
    held = bank.quarantine(source=EVIL, reason="it lied")
    assert held.counts == {"note": 1, "summary": 1, "fact": 1}
    assert (held.memories, held.facts, set(held.ids)) == (2, 1, {page, summary})
    assert held.digest == told.digest
    [listed] = bank.quarantines()
    assert (listed.number, listed.reason, listed.selectors, listed.counts) == (
        held.number, "it lied", {"source": EVIL}, held.counts,
    )  # fmt: skip


def test_an_error_says_since_when_by_whom_and_why(bank: Bank) -> None:
    page, _ = poison(bank)
    bank.quarantine(source=EVIL, reason="it lied")
    for verb in (bank.get, bank.history, bank.remove, bank.neighbors, bank.pin):
        with pytest.raises(QuarantinedError, match=r"python put it in quarantine on .*: it lied"):
            verb(page)
    with pytest.raises(QuarantinedError):
        bank.remember("Refunds go to account 42.", id=page, unless_exists="id")


@pytest.mark.parametrize(
    "selector",
    [{"source": EVIL}, {"session": "monday"}, {"author": "mallory"}, {"ids": ["page"]}],
    ids=lambda selector: next(iter(selector)),
)
def test_every_selector_takes_the_lineage_along(bank: Bank, selector: dict[str, object]) -> None:
    page, _ = poison(bank)
    given = {name: [page] if name == "ids" else value for name, value in selector.items()}
    held = bank.quarantine(**given)  # type: ignore[arg-type]
    assert bank.count() == 0
    bank.lift(number(held))
    assert bank.count() == 2


def test_selectors_narrow_each_other(bank: Bank) -> None:
    poison(bank)
    other = bank.remember("Refunds again.", source=EVIL, session="tuesday").id
    bank.quarantine(source=EVIL, session="tuesday")
    assert {memory.id for memory in bank.list()}.isdisjoint({other}) and bank.count() == 2


def test_a_way_in_takes_what_came_by_it(bank: Bank) -> None:
    bank.remember("From a web page.", via="outside")
    own = bank.remember("My own.").id
    held = bank.quarantine(via="outside")
    late = bank.remember("Another web page.", via="outside").id
    assert held.memories == 1 and [memory.id for memory in bank.list()] == [own]
    with pytest.raises(QuarantinedError):
        bank.get(late)
    with pytest.raises(InputError):
        bank.quarantine(via="nowhere")


def test_a_period_takes_what_was_said_in_it(bank: Bank) -> None:
    old = bank.remember("Old.", at="2020-01-01").id
    new = bank.remember("New.", at="2021-01-01").id
    bank.quarantine(since="2020-06-01", until="2022-01-01")
    assert [memory.id for memory in bank.list()] == [old]
    with pytest.raises(QuarantinedError):
        bank.get(new)


def test_what_arrives_meanwhile_joins_and_is_lifted_too(bank: Bank) -> None:
    poison(bank)
    held = bank.quarantine(source=EVIL)
    late = bank.remember("Refunds go to account 43.", source=EVIL).id
    bank.remember_many([{"text": "And to 44.", "source": EVIL}, {"text": "Unrelated."}])
    bank.facts.add("refunds", "go_to", "account 43", source=EVIL)
    assert [memory.text for memory in bank.list()] == ["Unrelated."]
    assert bank.facts.query(subject="refunds") == []
    [listed] = bank.quarantines()
    assert (listed.memories, listed.facts) == (4, 2)
    lifted = bank.lift(number(held))
    assert (lifted.memories, lifted.facts) == (4, 2)
    assert bank.get(late) is not None and len(bank.facts.query(subject="refunds")) == 2


def test_ids_alone_take_in_nothing_new_from_their_source(bank: Bank) -> None:
    page, _ = poison(bank)
    bank.quarantine(ids=[page])
    bank.remember("Another.", source=EVIL)
    assert bank.count() == 1


def test_undo_by_a_person_lifts_a_quarantine(bank: Bank, kept: Kept) -> None:
    poison(bank)
    held = bank.quarantine(source=EVIL)
    with pytest.raises(AccessError, match="only a person") as refused:
        bank.undo(number(held))
    assert f"pieria quarantine --lift {held.number}" in str(refused.value.hint) and bank.count() == 0
    with kept.opened("notes", via="person") as maya:
        assert maya.undo(number(held)).what == f"undo {held.number}"
        assert maya.count() == 2 and maya.quarantines() == ()
        with pytest.raises(ConflictError):
            maya.undo(number(held) + 1)


def test_an_agent_hides_no_rule_of_a_person(bank: Bank, kept: Kept) -> None:
    with kept.opened("notes", via="person") as maya:
        rule = maya.remember("Never delete production data.", source=EVIL).id
        maya.remember("The sky is blue.", source="weather")
    for asked in ({"via": "person"}, {"via": "accepted"}, {"source": EVIL}, {"ids": rule}):
        with pytest.raises(AccessError, match="only a person"):
            bank.quarantine(**asked)  # type: ignore[arg-type]
    assert bank.quarantines() == () and "Never delete production data." in bank.context().text
    assert bank.quarantine(source="weather").memories == 1
    with kept.opened("notes", via="person") as maya:
        assert maya.quarantine(source=EVIL).memories == 1


def test_an_import_hides_nothing_but_its_own(bank: Bank, kept: Kept, tmp_path: Path) -> None:
    page, _ = poison(bank)
    own = [memory.id for memory in bank.list()]
    bank.quarantine(source=EVIL)
    file = tmp_path / "notes.jsonl"
    bank.export(file)
    with kept.opened("other") as other:
        other.remember("Never delete production data.", id=page)
        other.import_(file)
        [listed] = other.quarantines()
        assert listed.selectors == {} and listed.memories == len(own) - 1
        assert other.get(page) is not None
        other.remember("Something new.", source=EVIL)
        assert other.count() == 2
    with kept.opened("mine") as mine:
        mine.import_(file, trusted=True)
        assert mine.quarantines()[0].selectors == {"source": EVIL}


def test_undo_reaches_what_is_in_quarantine(bank: Bank) -> None:
    page, _ = poison(bank)
    bank.update(page, text="Refunds go nowhere.")
    changed = bank.changes()[-1].seq
    held = bank.quarantine(source=EVIL)
    bank.undo(changed)
    bank.lift(number(held))
    found = bank.get(page)
    assert found is not None and found.text == "Refunds go to account 42."


def test_what_two_hold_stays_until_both_are_lifted(bank: Bank) -> None:
    page, _ = poison(bank)
    first, second = bank.quarantine(source=EVIL), bank.quarantine(ids=[page])
    assert bank.lift(number(first)).still_held == 2
    assert bank.count() == 0
    bank.lift(number(second))
    assert bank.count() == 2


def test_a_purge_reaches_into_a_quarantine(bank: Bank) -> None:
    poison(bank)
    held = bank.quarantine(source=EVIL)
    receipt = bank.forget(source=EVIL, purge=True)
    assert receipt.receipt is not None and receipt.receipt.erased["memories"] == 2
    bank.remember("It comes again.", source=EVIL)
    assert bank.count() == 0, "the quarantine lasts for what arrives"
    assert bank.lift(number(held)).memories == 3
    assert [memory.text for memory in bank.list()] == ["It comes again."]
    assert bank.doctor().well


def test_upkeep_does_not_read_what_is_in_quarantine(bank: Bank) -> None:
    texts = [f"The harbour light number {n} is broken." for n in range(6)]
    bank.remember_many([{"text": text, "source": EVIL, "at": "2020-01-01"} for text in texts])
    bank.quarantine(source=EVIL)
    slept = bank.upkeep.sleep(force=True)
    assert slept.summaries == () and bank.upkeep.due() == ()


def test_a_trace_names_who_was_told(kept: Kept) -> None:
    settings = {"embedder": "hashing", "count_uses": True}
    with kept.opened("notes", settings=settings) as bank:
        page, _ = poison(bank)
        bank.pin(page)
    with kept.opened("notes", session="tuesday", settings=settings) as bank:
        assert bank.recall("refunds account")
        bank.recall("refunds account")
    with kept.opened("notes", session="friday", settings=settings) as bank:
        bank.context(keep=True)
    with kept.opened("notes", settings=settings) as bank:
        before = bank.changes()[-1].seq
        found = bank.trace(page)
        assert bank.changes()[-1].seq == before
    told = {each.session: each for each in found.told}
    assert set(told) == {"tuesday", "friday"}
    assert page in told["tuesday"].ids and told["tuesday"].times == 4
    assert told["friday"].in_context and not told["tuesday"].in_context


def test_a_trace_shows_every_derivation_in_quarantine_too(bank: Bank) -> None:
    page, summary = poison(bank)
    newer = bank.revise(summary, text="Refunds: account 42, daily.").id
    held = bank.quarantine(source=EVIL)
    found = bank.trace(source=EVIL)
    shown = {item.id: (item.how, item.of, item.quarantines) for item in found.items if item.what == "memory"}
    assert shown[page] == ("", None, (held.number,))
    assert shown[summary] == ("drawn from", page, (held.number,))
    assert shown[newer][2] == (held.number,)
    assert found.counts == {"fact": 1, "note": 1, "summary": 2}
    cut = bank.trace(source=EVIL, limit=1)
    assert len(cut.items) == 1 and cut.truncated and cut.counts == found.counts


def test_a_trace_counts_what_other_sessions_keep_to_themselves(kept: Kept) -> None:
    with kept.opened("notes", session="private") as bank:
        bank.remember("Only mine.", scope="session", session="private", source=EVIL)
        bank.remember("Shared.", source=EVIL)
    with kept.opened("notes", session="private") as bank:
        assert bank.trace(source=EVIL).hidden == 0
    with kept.opened("notes") as bank:
        [shared] = [memory.id for memory in bank.list()]
        assert [item.id for item in bank.trace(source=EVIL).items] == [shared]


def test_nothing_selected_is_an_error(bank: Bank) -> None:
    with pytest.raises(NotFoundError):
        bank.quarantine(source="nowhere")
    with pytest.raises(InputError):
        bank.quarantine()
    with pytest.raises(NotFoundError):
        bank.lift(1)
    with pytest.raises(NotFoundError):
        bank.trace(source="nowhere")
    with pytest.raises(InputError):
        bank.trace()


def test_an_export_keeps_the_quarantine(bank: Bank, kept: Kept, tmp_path: Path) -> None:
    poison(bank)
    bank.quarantine(source=EVIL, reason="it lied")
    file = tmp_path / "notes.jsonl"
    bank.export(file)
    with kept.opened("empty") as other:
        other.import_(file)
        assert other.count() == 0
        [listed] = other.quarantines()
        other.lift(number(listed))
        assert other.count() == 2 and len(other.facts.query(subject="refunds")) == 1
    with kept.opened("full") as third:
        third.remember("Something of its own.")
        third.import_(file)
        assert third.count() == 1
        [listed] = third.quarantines()
        assert listed.reason == "it lied" and third.lift(number(listed))
        assert third.count() == 3


def test_a_copy_of_a_bank_keeps_the_quarantine(bank: Bank, kept: Kept, tmp_path: Path) -> None:
    poison(bank)
    bank.quarantine(source=EVIL)
    bank.close()
    pieria.copy("notes", data=kept.data, to=str(tmp_path / "elsewhere"))
    with pieria.open("notes", data=tmp_path / "elsewhere") as other:
        assert other.count() == 0
        other.lift(number(other.quarantines()[0]))
        assert other.count() == 2


def test_windows_forget_what_is_in_quarantine(bank: Bank) -> None:
    turns = [{"text": text, "kind": "turn", "session": "s"} for text in ("Hello.", "The zebra is loose.", "Goodbye.")]
    made = bank.remember_many(turns)
    bank.sync()

    def window() -> list[float]:
        with bank.core.reading() as reader:
            [(_, vector)] = reader.vectors([made[0].row], "window")[made[0].row]
            return [float(number) for number in vector]

    before = window()
    held = bank.quarantine(ids=[made[1].id])
    bank.sync()
    assert window() != before
    bank.lift(number(held))
    bank.sync()
    assert window() == before


def test_a_reason_goes_with_the_last_that_it_was_given_for(bank: Bank) -> None:
    page, _ = poison(bank)
    other = bank.remember("The sky is blue.").id
    held = number(bank.quarantine(ids=[page, other], reason="it says account 42"))
    bank.purge([other])
    assert bank.quarantines()[0].reason == "it says account 42"
    bank.purge([page])
    with bank.core.reading() as reader:
        kept = [*reader.records(QUARANTINES).values(), *reader.records(HELD).values()]
    assert kept and "account 42" not in str(kept)
    assert [(each.number, each.reason) for each in bank.quarantines()] == [(held, None)]
