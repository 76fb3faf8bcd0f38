"""A memory that says that an older one is out of date ranks before it, while it is current itself."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock

import pieria
from pieria import Bank, Memory
from pieria.errors import PieriaError

OLD, NEW = "We deploy with Helm.", "We no longer deploy with Helm; we use Kustomize instead."
ASKED = "What do we deploy with?"
BEFORE = "What did we deploy with before?"
JANUARY = "2026-01-05"
Opened = Callable[..., Bank]


def both(bank: Bank, **values: Any) -> tuple[Memory, Memory]:
    return bank.remember(OLD, at=JANUARY, **values), bank.remember(NEW, **values)


def overturned(bank: Bank, **asked: Any) -> dict[str, str]:
    """Return the overturned memories, each with the id of the memory that overturns it."""
    hits = bank.recall(ASKED, **asked)
    return {hit.memory.id: hit.overturned.by or "" for hit in hits if hit.overturned is not None}


def ends(bank: Bank, id: str) -> list[str]:
    return [link.target.name for link in bank.links(id)]


def test_overturned_memory_is_linked_stands_behind_and_says_so(kept: Kept) -> None:
    with kept.opened("reversals") as bank:
        old, new = both(bank)
        [link] = bank.links(relation="overturns")
        assert (link.source.name, link.target.name) == (new.id, old.id)
        assert link in bank.links(old.id)
        [neighbor] = bank.neighbors(old.id, relation="overturns", direction="in")
        assert neighbor.memory is not None and neighbor.memory.id == new.id
        found = bank.recall(ASKED)
        assert [hit.memory.id for hit in found] == [new.id, old.id]
        assert found[0].overturned is None
        assert found[1].why["overturned"] == 1
        assert found[1].as_dict()["overturned"] == {"by": new.id, "at": new.as_dict()["at"]}
        assert str(found[1].overturned) == f"overturned by {new.id} of {new.at.date()}"
        past = bank.recall(BEFORE)[0]
        assert past.memory.id == old.id
        assert 0 < past.why["overturned"] < 0.2
        assert (bank.get(old.id), len(bank.history(old.id))) == (old, 1)


def test_before_the_reversal_was_known_the_old_one_is_current(bank: Bank) -> None:
    old = bank.remember(OLD, at=JANUARY)
    then = bank.changes()[-1].at
    new = bank.remember(NEW)
    assert overturned(bank) == {old.id: new.id}
    assert overturned(bank, known_at=then) == overturned(bank, valid_at="2026-02-01") == {}


ENDS: dict[str, Callable[[Bank, Memory], object]] = {
    "remove": lambda bank, new: bank.remove(new.id),
    "purge": lambda bank, new: bank.purge(new.id),
    "undo": lambda bank, new: bank.undo(bank.changes()[-1].seq),
    "invalidate": lambda bank, new: bank.invalidate(new.id),
    "forget": lambda bank, new: bank.forget(session="monday"),
}


def test_effect_ends_with_the_reversal(opened: Opened) -> None:
    for name, end in ENDS.items():
        bank = opened(name)
        old, new = bank.remember(OLD, at=JANUARY), bank.remember(NEW, session="monday")
        assert overturned(bank) == {old.id: new.id}
        end(bank, new)
        assert (overturned(bank), bank.recall(ASKED)[0].memory.id) == ({}, old.id)


def test_effect_returns_with_the_reversal(bank: Bank, opened: Opened, tmp_path: Path) -> None:
    old, new = both(bank)
    bank.remove(new.id)
    bank.restore(new.id)
    assert overturned(bank) == {old.id: new.id}
    bank.unlink(new.id, old.id, "overturns")
    assert overturned(bank) == {}
    bank.undo(bank.changes()[-1].seq)
    assert overturned(bank) == {old.id: new.id}
    bank.export(tmp_path / "bank.jsonl")
    copy = opened("copy")
    copy.import_(tmp_path / "bank.jsonl")
    assert overturned(copy) == {old.id: new.id}
    bank.undo(1)
    assert [hit.memory.id for hit in bank.recall(ASKED)] == [new.id]
    copy.purge(old.id)
    assert (copy.links(), copy.get(new.id) is None) == ([], False)


def test_only_earlier_statements_are_overturned(bank: Bank) -> None:
    old, later, new = (
        bank.remember(text, at=at) for text, at in ((OLD, JANUARY), (OLD, "2026-09-05"), (NEW, "2026-05-05"))
    )
    assert ends(bank, new.id) == [old.id]
    assert later.id not in overturned(bank)


MAY = {
    ("person", "person"): True, ("hearsay", "hearsay"): True, ("outside", "agent"): True,
    ("person", "agent"): False, ("agent", "hearsay"): False, ("hearsay", "outside"): False,
}  # fmt: skip


def test_less_believed_text_overturns_nothing(opened: Opened) -> None:
    for (old_way, new_way), may in MAY.items():
        bank = opened(f"{old_way}-{new_way}")
        old, new = bank.remember(OLD, at=JANUARY, via=old_way), bank.remember(NEW, via=new_way)
        assert len(bank.links()) == may
        if not may:
            bank.link(new.id, old.id, "overturns")
        assert overturned(bank) == ({old.id: new.id} if may else {}), "not even where somebody ties them by hand"


NOTHING: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "pasted text": (
        [{"text": OLD, "via": "person"}],
        {"text": f"{NEW}\n\nHere is the log:\n```\nERROR helm: 3\n```", "via": "person"},
    ),
    "a standing rule": ([{"text": "Always deploy with Helm.", "via": "person"}], {"text": NEW, "via": "person"}),
    "a summary": ([{"text": OLD, "kind": "summary"}], {"text": NEW}),
    "a common word": ([{"text": f"We eat soup {number}."} for number in range(20)], {"text": "I gave up soup."}),
}


def test_text_that_overturns_nothing(opened: Opened) -> None:
    for name, (older, newer) in NOTHING.items():
        bank = opened(name.replace(" ", "-"))
        for item in older:
            bank.remember(**item, at=JANUARY)
        bank.remember(**newer)
        assert bank.links() == [], name


def test_memory_drawn_from_another_is_not_overturned(bank: Bank) -> None:
    source = bank.remember("The deploy notes of spring.", at="2026-01-04")
    drawn = bank.remember(OLD, at=JANUARY)
    bank.link(drawn.id, source.id, "provenance")
    bank.remember(NEW)
    assert bank.links(relation="overturns") == []


def test_first_person_overturns_nobody_else(bank: Bank) -> None:
    bank.remember("I drink coffee in the morning.", at=JANUARY, author="Maya")
    mine = bank.remember("I drink coffee in the evening.", at=JANUARY, author="Omar")
    new = bank.remember("I stopped drinking coffee.", author="Omar")
    assert ends(bank, new.id) == [mine.id]


def test_memory_of_a_session_overturns_only_within_it(bank: Bank, opened: Opened) -> None:
    shared = bank.remember(OLD, at=JANUARY)
    monday, tuesday = opened(session="monday"), opened(session="tuesday")
    for theirs in (monday, tuesday):
        theirs.remember(OLD, at=JANUARY, scope="session")
    new = monday.remember(NEW, scope="session")
    [target] = ends(monday, new.id)
    assert target != shared.id
    assert shared.id not in overturned(monday)
    assert overturned(tuesday) == {}


def test_new_wording_of_either_memory_counts(bank: Bank) -> None:
    helm = bank.remember(OLD, at=JANUARY)
    jenkins = bank.remember("We build with Jenkins.", at=JANUARY)
    new = bank.remember("The kitchen is blue.")
    bank.update(new.id, text=NEW)
    assert ends(bank, new.id) == [helm.id]
    bank.update(new.id, text="We deploy with Helm, and we no longer build with Jenkins.")
    assert ends(bank, new.id) == [jenkins.id]
    bank.undo(bank.changes()[-1].seq)
    assert ends(bank, new.id) == [helm.id]
    for text, overturns in (("We deploy with Helm 3.", {helm.id: new.id}), ("We deploy with Kustomize.", {})):
        bank.update(helm.id, text=text)
        assert overturned(bank) == overturns


def test_revision_takes_reversals_over_unless_it_takes_them_back(bank: Bank, opened: Opened) -> None:
    old, new = both(bank)
    for text in ("Deploys are done with Kustomize 5.", "Deploys are done with Kustomize 6."):
        new = bank.revise(new.id, text=text)
        assert overturned(bank) == {old.id: new.id}
    other = opened("other")
    _, new = both(other)
    other.revise(new.id, text="A misunderstanding: we do deploy with Helm.")
    assert overturned(other) == {}


def test_context_holds_what_is_current_and_marks_the_rest(bank: Bank, clock: HandClock) -> None:
    old = bank.remember(OLD, at=JANUARY)
    bank.context(session="monday", keep=True)
    clock.move(days=3)
    new = bank.remember(NEW)
    assert f"note · id {old.id}" in bank.context(session="monday").text, "the context of before has no mark"
    for context in (bank.context(), bank.context(ASKED)):
        assert new.id in context.text
        assert f"id {old.id}" not in context.text
    said = f"overturned {new.at.date()} by {new.id} · id {old.id}"
    assert said in bank.context(BEFORE).text
    bank.pin(old.id)
    assert said in bank.context(ASKED).text


STEPS = st.sampled_from(["remove", "restore", "archive", "activate", "undo", "unlink", "pin", "purge"])


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(STEPS, st.sampled_from([0, 1])), max_size=8))
def test_reversal_holds_while_both_stand(homes: Path, steps: list[tuple[str, int]]) -> None:
    with pieria.open("bank", data=tempfile.mkdtemp(dir=homes)) as bank:
        pair = both(bank)
        for what, which in steps:
            with suppress(PieriaError):
                _do(bank, what, pair, pair[which].id)
            standing = [memory for memory in pair if (held := bank.get(memory.id)) is not None and not held.removed]
            tied = any(link.relation == "overturns" for link in bank.links())
            wanted = {pair[0].id: pair[1].id} if tied and len(standing) == 2 else {}
            assert overturned(bank, status=("active", "promoted", "archived")) == wanted
            assert len(bank.links()) <= 1


def _do(bank: Bank, what: str, pair: tuple[Memory, Memory], id: str) -> None:
    if what in ("archive", "activate"):
        bank.update(id, status="archived" if what == "archive" else "active")
    elif what == "undo":
        bank.undo(bank.changes()[-1].seq)
    elif what == "unlink":
        bank.unlink(pair[1].id, pair[0].id)
    else:
        getattr(bank, what)(id)


def test_links_by_hand_count_as_well(bank: Bank) -> None:
    old = bank.remember("Standups happen in the kitchen.", at=JANUARY)
    new = bank.remember("See you at the quay for standups.")
    bank.link(new.id, old.id, "overturns")
    hits = {hit.memory.id: hit for hit in bank.recall("Where do standups happen?")}
    assert hits[old.id].overturned is not None
