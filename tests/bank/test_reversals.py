"""A memory that says that an older one is out of date ranks before it, while it is current itself."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bank.kept import Kept
from tests.contract.making import HandClock

import pieria
from pieria import Bank, Memory
from pieria.errors import PieriaError

OLD, NEW = "We deploy with Helm.", "We no longer deploy with Helm; we use Kustomize instead."
ASKED = "What do we deploy with?"
Opened = Callable[..., Bank]


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("reversals") as bank:
        yield bank


def both(bank: Bank, **values: Any) -> tuple[Memory, Memory]:
    return bank.remember(OLD, at="2026-01-05", **values), bank.remember(NEW, **values)


def overturned(bank: Bank, **asked: Any) -> dict[str, str]:
    """Return the overturned memories, each with the id of the memory that overturns it."""
    hits = bank.recall(ASKED, **asked)
    return {hit.memory.id: hit.overturned.by or "" for hit in hits if hit.overturned is not None}


def order(bank: Bank, question: str = ASKED, **asked: Any) -> list[str]:
    return [hit.memory.id for hit in bank.recall(question, **asked)]


def test_reversal_is_linked_to_what_it_overturns(bank: Bank) -> None:
    old, new = both(bank)
    [link] = bank.links(relation="overturns")
    assert (link.source.name, link.target.name) == (new.id, old.id)
    assert link in bank.links(old.id)
    [neighbor] = bank.neighbors(old.id, relation="overturns", direction="in")
    assert neighbor.memory is not None
    assert neighbor.memory.id == new.id


def test_overturned_memory_stands_behind_and_says_so(bank: Bank) -> None:
    old, new = both(bank)
    assert order(bank)[:2] == [new.id, old.id]
    found = bank.recall(ASKED)
    hit = next(hit for hit in found if hit.memory.id == old.id)
    assert hit.why["overturned"] == 1
    assert hit.overturned is not None
    assert hit.as_dict()["overturned"] == {"by": new.id, "at": new.as_dict()["at"]}
    assert str(hit.overturned) == f"overturned by {new.id} of {new.at.date()}"
    assert found[0].overturned is None


def test_overturned_memory_itself_stays_as_it_is(bank: Bank) -> None:
    old, _ = both(bank)
    assert bank.get(old.id) == old
    assert len(bank.history(old.id)) == 1


def test_question_for_the_past_finds_what_was(bank: Bank) -> None:
    old, _ = both(bank)
    found = bank.recall("What did we deploy with before?")
    assert found[0].memory.id == old.id
    assert 0 < found[0].why["overturned"] < 0.2


def test_before_the_reversal_was_known_the_old_one_is_current(bank: Bank) -> None:
    old = bank.remember(OLD, at="2026-01-05")
    then = bank.changes()[-1].at
    new = bank.remember(NEW)
    assert overturned(bank) == {old.id: new.id}
    assert overturned(bank, known_at=then) == {}
    assert overturned(bank, valid_at="2026-02-01") == {}


@pytest.mark.parametrize("end", ["remove", "purge", "undo", "invalidate", "forget"])
def test_effect_ends_with_the_reversal(bank: Bank, end: str) -> None:
    old = bank.remember(OLD, at="2026-01-05")
    new = bank.remember(NEW, session="monday")
    seq = bank.changes()[-1].seq
    assert overturned(bank) == {old.id: new.id}
    if end == "undo":
        bank.undo(seq)
    elif end == "forget":
        bank.forget(session="monday")
    else:
        getattr(bank, end)(new.id)
    assert overturned(bank) == {}
    assert order(bank)[0] == old.id


def test_effect_returns_with_the_reversal(bank: Bank) -> None:
    old, new = both(bank)
    bank.remove(new.id)
    bank.restore(new.id)
    assert overturned(bank) == {old.id: new.id}


def test_unlink_takes_the_effect_back_and_undo_returns_it(bank: Bank) -> None:
    old, new = both(bank)
    bank.unlink(new.id, old.id, "overturns")
    assert overturned(bank) == {}
    bank.undo(bank.changes()[-1].seq)
    assert overturned(bank) == {old.id: new.id}


def test_purge_of_the_old_one_takes_the_link(bank: Bank) -> None:
    old, new = both(bank)
    bank.purge(old.id)
    assert bank.links() == []
    assert bank.get(new.id) == new


def test_old_one_can_be_undone_after_it_was_overturned(bank: Bank) -> None:
    bank.remember(OLD, at="2026-01-05")
    seq = bank.changes()[-1].seq
    new = bank.remember(NEW)
    bank.undo(seq)
    assert order(bank) == [new.id]


def test_export_keeps_reversals(bank: Bank, tmp_path: Path) -> None:
    old, new = both(bank)
    bank.export(tmp_path / "bank.jsonl")
    with pieria.open("copy", data=tmp_path / "data") as copy:
        copy.import_(tmp_path / "bank.jsonl")
        assert overturned(copy) == {old.id: new.id}


def test_batch_finds_reversals_within_itself(bank: Bank) -> None:
    old, other, new = bank.remember_many([
        {"text": OLD, "at": "2026-01-05"},
        {"text": OLD, "at": "2026-09-05"},
        {"text": NEW, "at": "2026-05-05"},
    ])  # fmt: skip
    assert [link.target.name for link in bank.links(new.id)] == [old.id]
    assert other.id not in overturned(bank)


def test_later_statement_is_not_overturned(bank: Bank) -> None:
    bank.remember(OLD, at="2026-05-05")
    bank.remember(NEW, at="2026-01-05")
    assert bank.links() == []


def test_common_word_alone_overturns_nothing(bank: Bank) -> None:
    bank.remember_many({"text": f"We eat soup {number}.", "at": "2026-01-05"} for number in range(20))
    bank.remember("I gave up soup.")
    assert bank.links() == []


# --- who may overturn whose words


@pytest.mark.parametrize(
    ("old_way", "new_way", "may"),
    [
        ("person", "person", True),
        ("agent", "person", True),
        ("agent", "agent", True),
        ("hearsay", "hearsay", True),
        ("outside", "agent", True),
        ("person", "agent", False),
        ("person", "hearsay", False),
        ("agent", "hearsay", False),
        ("agent", "outside", False),
        ("hearsay", "outside", False),
    ],
)
def test_less_believed_text_overturns_nothing(bank: Bank, old_way: str, new_way: str, may: bool) -> None:
    old = bank.remember(OLD, at="2026-01-05", via=old_way)
    new = bank.remember(NEW, via=new_way)
    assert len(bank.links()) == may
    if not may:
        bank.link(new.id, old.id, "overturns")
    assert overturned(bank) == ({old.id: new.id} if may else {}), "not even where somebody ties them by hand"


def test_pasted_text_does_not_overturn_a_person(bank: Bank) -> None:
    bank.remember(OLD, at="2026-01-05", via="person")
    bank.remember(f"{NEW}\n\nHere is the log:\n```\nERROR helm: 3\n```", via="person")
    assert bank.links() == []


def test_standing_rule_is_left_to_those_who_decide_on_rules(bank: Bank) -> None:
    bank.remember("Always deploy with Helm.", at="2026-01-05", via="person")
    bank.remember(NEW, via="person")
    assert bank.links() == []


def test_summary_is_not_overturned(bank: Bank) -> None:
    source = bank.remember("The deploy notes of spring.", at="2026-01-04")
    bank.remember(OLD, at="2026-01-05", kind="summary")
    drawn = bank.remember(OLD, at="2026-01-05")
    bank.link(drawn.id, source.id, "provenance")
    bank.remember(NEW)
    assert bank.links(relation="overturns") == []


def test_first_person_overturns_nobody_else(bank: Bank) -> None:
    bank.remember("I drink coffee in the morning.", at="2026-01-05", author="Maya")
    mine = bank.remember("I drink coffee in the evening.", at="2026-01-05", author="Omar")
    bank.remember("I stopped drinking coffee.", author="Omar")
    assert [link.target.name for link in bank.links()] == [mine.id]


def test_session_s_own_overturns_only_within_the_session(bank: Bank, kept: Kept) -> None:
    shared = bank.remember(OLD, at="2026-01-05")
    for session in ("monday", "tuesday"):
        with kept.opened("reversals", session=session) as theirs:
            theirs.remember(OLD, at="2026-01-05", scope="session")
    with kept.opened("reversals", session="monday") as monday:
        new = monday.remember(NEW, scope="session")
        [link] = monday.links(new.id)
        assert link.target.name != shared.id
        assert shared.id not in overturned(monday)
    with kept.opened("reversals", session="tuesday") as tuesday:
        assert overturned(tuesday) == {}


# --- new wording


def test_reworded_memory_overturns_by_its_new_words(bank: Bank) -> None:
    helm = bank.remember(OLD, at="2026-01-05")
    jenkins = bank.remember("We build with Jenkins.", at="2026-01-05")
    new = bank.remember("The kitchen is blue.")
    bank.update(new.id, text=NEW)
    assert [link.target.name for link in bank.links(new.id)] == [helm.id]
    bank.update(new.id, text="We deploy with Helm, and we no longer build with Jenkins.")
    assert [link.target.name for link in bank.links(new.id)] == [jenkins.id]
    bank.undo(bank.changes()[-1].seq)
    assert [link.target.name for link in bank.links(new.id)] == [helm.id]


def test_corrected_memory_is_no_longer_overturned(bank: Bank) -> None:
    old, new = both(bank)
    bank.update(old.id, text="We deploy with Helm 3.")
    assert overturned(bank) == {old.id: new.id}
    bank.update(old.id, text="We deploy with Kustomize.")
    assert overturned(bank) == {}


def test_revision_takes_reversals_over(bank: Bank) -> None:
    old, new = both(bank)
    revised = bank.revise(new.id, text="Deploys are done with Kustomize 5.")
    assert overturned(bank) == {old.id: revised.id}
    again = bank.revise(revised.id, text="Deploys are done with Kustomize 6.")
    assert overturned(bank) == {old.id: again.id}


def test_revision_that_takes_it_back_overturns_nothing(bank: Bank) -> None:
    _, new = both(bank)
    bank.revise(new.id, text="A misunderstanding: we do deploy with Helm.")
    assert overturned(bank) == {}


# --- contexts


def test_context_tells_only_what_is_current(bank: Bank) -> None:
    old, new = both(bank)
    for context in (bank.context(), bank.context(ASKED)):
        assert new.id in context.text
        assert f"id {old.id}" not in context.text


def test_context_marks_what_is_overturned(bank: Bank) -> None:
    old, new = both(bank)
    said = f"overturned {new.at.date()} by {new.id} · id {old.id}"
    assert said in bank.context("What did we deploy with before?").text
    bank.pin(old.id)
    assert said in bank.context(ASKED).text


def test_context_as_of_before_has_no_mark(opened: Opened, clock: HandClock) -> None:
    bank = opened()
    old = bank.remember(OLD)
    bank.context(session="monday", keep=True)
    clock.now += timedelta(days=3)
    bank.remember(NEW)
    assert f"note · id {old.id}" in bank.context(session="monday").text


# --- later changes to both


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["remove", "restore", "archive", "activate", "undo", "unlink", "pin", "purge"]),
            st.sampled_from([0, 1]),
        ),
        max_size=8,
    )
)
def test_reversal_holds_while_both_stand(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    with pieria.open("bank", data=tmp_path_factory.mktemp("bank"), settings={"embedder": "none"}) as bank:
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
    old = bank.remember("Standups happen in the kitchen.", at="2026-01-05")
    new = bank.remember("See you at the quay for standups.")
    bank.link(new.id, old.id, "overturns")
    hits = {hit.memory.id: hit for hit in bank.recall("Where do standups happen?")}
    assert hits[old.id].overturned is not None
