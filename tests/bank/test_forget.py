"""What rests on a source: who sees it, how long it is valid, and that it goes when the source is forgotten."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.bank.kept import Kept, held

from pieria import Bank, Memory
from pieria.errors import ConflictError, InputError, NotFoundError

RUN: dict[str, Any] = {
    "source_id": "run-7",
    "goal": "Mend the nightly build",
    "steps": [
        {"observation": "The build fails: KeyError in settings.py", "action": "Open settings.py to see the key"},
        {"observation": "The key is read from the table of regions.", "action": "Run pytest"},
    ],
}


def ids(bank: Bank) -> set[str]:
    return {memory.id for memory in bank.list(limit=100)}


def fill(bank: Bank) -> None:
    """Remember two sources, what was drawn from one or both, and facts of each."""
    for source in ("rates", "old"):
        bank.remember(f"Said in {source}.", id=source, source=f"{source}.md")
    drawn = {"alone": ["rates"], "both": ["rates", "old"], "further": ["alone"]}
    for id, sources in drawn.items():
        bank.remember(f"From {sources}.", id=id, kind="summary")
        for source in sources:
            bank.link(id, source, "provenance")
    bank.facts.add("Maya", "works_on", "billing", source="rates.md")
    bank.facts.add("Maya", "works_on", "search", source="old.md")


def test_source_goes_with_what_rests_on_it_and_comes_back(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        fill(bank)
        before = ids(bank)
        told = bank.forget(source="rates.md", dry_run=True)
        assert (told.ids, set(told.also), ids(bank)) == (("rates",), {"alone", "further"}, before)
        done = bank.forget(source="rates.md", reason="withdrawn")
        assert (done.ids, done.also, done.dry_run) == (told.ids, told.also, False)
        assert (ids(bank), [fact.object for fact in bank.facts.query("Maya")]) == ({"old", "both"}, ["search"])
        gone = bank.get("further", include_removed=True)
        assert gone is not None and gone.reason == "withdrawn"
        assert done.seq is not None
        bank.undo(done.seq)
        assert (ids(bank), {fact.object for fact in bank.facts.query("Maya")}) == (before, {"billing", "search"})
        # What is left without its last source goes with that one.
        bank.forget(source="rates.md")
        bank.forget(source="old.md")
        assert ids(bank) == set()
        with pytest.raises(NotFoundError) as refused:
            bank.forget(source="rates.md")
        assert "`count` by source" in str(refused.value.hint)


def test_purge_of_a_source_erases_all_that_is_drawn_from_it(bank: Bank) -> None:
    fill(bank)
    bank.facts.add("Ola", "said", "rates rise", source="rates.md", memory="old")
    before = bank.changes()[-1].seq
    told = bank.forget(source="rates.md", purge=True, dry_run=True)
    done = bank.forget(source="rates.md", purge=True)
    assert [change.what for change in bank.changes(since=before)] == ["purge"]
    assert done.receipt is not None
    assert told.ids == done.ids == done.receipt.ids == ("rates",)
    assert {*told.also} == {*done.also} == {*done.receipt.also} == {"alone", "both", "further"}
    assert ((done.seq, len(done.facts), done.receipt.erased["facts"]), ids(bank)) == ((None, 2, 2), {"old"})
    assert bank.get("rates", include_removed=True) is None
    with bank.core.store.reading() as reader:
        assert [fact["object"] for fact in reader.dump("fact")] == ["search"]
    with pytest.raises(ConflictError, match="purged since"):
        bank.undo(1)
    fact = bank.facts.add("Maya", "works_on", "ads", source="facts alone")
    done = bank.forget(source="facts alone", purge=True)
    assert (done.ids, done.facts) == ((), (fact.id,))
    with pytest.raises(NotFoundError):
        bank.facts.history(fact.id)
    assert bank.doctor().well


def test_run_or_session_is_forgotten_whole(bank: Bank) -> None:
    kept = bank.remember("Something else.", session="other")
    receipt = bank.sessions.ingest(RUN)
    assert ids(bank) > {kept.id}
    done = bank.forget(source="run-7")
    assert ids(bank) == {kept.id}
    assert {*done.ids, *done.also} == set(receipt.node_ids)
    assert bank.sessions.ingest(RUN).is_new is False
    assert ids(bank) == {kept.id}
    with bank.session(goal=RUN["goal"]) as session:
        for step in RUN["steps"]:
            session.append(**step)
    bank.remember("Between us.", scope="session", session=session.id)
    bank.forget(session=session.id)
    assert (ids(bank), list(bank.list(session=session.id))) == ({kept.id}, [])


def test_tag_stays_while_another_memory_bears_it(bank: Bank) -> None:
    tag = bank.remember("regions", kind="tag", source="run-7").id
    _, theirs = [bank.remember("Borne.", source=source).id for source in ("run-7", "run-8")]
    for id in ids(bank) - {tag}:
        bank.link(tag, id, "membership")
    bank.forget(source="run-7")
    assert ids(bank) == {tag, theirs}
    bank.forget(source="run-8")
    assert ids(bank) == set()


def test_unseen_memories_and_wrong_words_are_refused(bank: Bank, tuesday: Bank) -> None:
    theirs = tuesday.remember("Between us.", scope="session", source="rates.md")
    with pytest.raises(NotFoundError):
        bank.forget(source="rates.md")
    assert tuesday.forget(source="rates.md").ids == (theirs.id,)
    wrong: list[dict[str, Any]] = [{}, {"source": ""}, {"source": 7}, {"source": "x", "purge": True, "reason": "y"}]
    for asked in wrong:
        with pytest.raises(InputError):
            bank.forget(**asked)


@pytest.fixture
def monday(opened: Callable[..., Bank]) -> Bank:
    return opened(session="monday", channel="kitchen")


@pytest.fixture
def tuesday(opened: Callable[..., Bank]) -> Bank:
    return opened(session="tuesday")


def of_session(bank: Bank, session: str, channel: str) -> Memory:
    return bank.remember(f"{session} in the {channel}", scope="session", session=session, channel=channel)


def test_memory_that_nobody_may_see_is_refused_or_removed(monday: Bank, tuesday: Bank) -> None:
    own, theirs = of_session(monday, "monday", "office"), of_session(monday, "tuesday", "kitchen")
    with pytest.raises(ConflictError, match="no caller may see both"):
        monday.link(own.id, theirs.id, "provenance")
    assert (tuesday.get(own.id), monday.get(own.id)) == (None, own)
    derived = monday.remember("a summary").id
    source = monday.remember("said on tuesday", session="tuesday", channel="kitchen").id
    for id in (own.id, source):
        monday.link(derived, id, "provenance")
    monday.update(source, scope="session")
    gone = monday.get(derived, include_removed=True)
    assert gone is not None and gone.removed
    assert gone.reason == "no caller may see both it and one of its sources"


def test_memory_from_two_sessions_belongs_to_their_channel(monday: Bank, tuesday: Bank) -> None:
    derived = monday.remember("a summary of both").id
    for session in ("monday", "tuesday"):
        monday.link(derived, of_session(monday, session, "kitchen").id, "provenance")
    assert tuesday.get(derived) is None
    assert (held(monday, derived).session, held(monday, derived).channel) == (None, "kitchen")


def test_memory_never_valid_with_its_source_is_not_restored(monday: Bank) -> None:
    source, derived = monday.remember("until spring", valid_until="2026-03-01"), monday.remember("a summary")
    tie = monday.link(derived.id, source.id, "provenance")
    monday.remove(derived.id)
    monday.update(source.id, valid_from="2026-04-01", valid_until=None)
    changes = monday.changes()
    with pytest.raises(ConflictError, match="never valid at the same time"):
        monday.restore(derived.id)
    assert monday.changes() == changes
    monday.unlink(tie.id)
    assert not monday.restore(derived.id).removed
