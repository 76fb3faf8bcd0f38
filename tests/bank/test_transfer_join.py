"""Import into a bank that holds memories: the mode decides on conflicts, and nothing removed comes back unasked."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import held
from tests.bank.transfer_files import everything, of, read, sealed
from tests.contract.store_helpers import HandClock

import pieria
from pieria import Bank

MODES = ("skip", "merge", "replace")
Opens = Callable[..., Bank]
Bring = Callable[..., Any]
ByMode = dict[str, Bank]


@pytest.fixture
def theirs(opened: Opens) -> Bank:
    return opened("theirs")


@pytest.fixture
def ours(opened: Opens) -> Bank:
    return with_own(opened("ours"))


def with_own(bank: Bank) -> Bank:
    bank.remember("Something of our own.", id="own")
    return bank


@pytest.fixture
def bring(theirs: Bank, ours: Bank, tmp_path: Path, clock: HandClock) -> Bring:
    """Return a function that exports their bank and imports it into ours, an hour later."""

    def bring(into: Bank = ours, **values: Any) -> Any:
        theirs.export(tmp_path / "out.jsonl")
        clock.move(hours=1)
        return into.import_(tmp_path / "out.jsonl", **values)

    return bring


@pytest.fixture
def by_mode(opened: Opens) -> ByMode:
    """Return a bank of ours for each mode."""
    return {mode: with_own(opened(f"ours-{mode}")) for mode in MODES}


def linked(bank: Bank) -> str:
    """Remember two memories with a link, and return the id of the link."""
    bank.remember("one", id="m1")
    bank.remember("two", id="m2")
    return bank.link("m1", "m2", weight=0.2).id


def test_new_memories_are_known_from_now(theirs: Bank, by_mode: ByMode, bring: Bring, clock: HandClock) -> None:
    theirs.remember("first words", id="m", tags=["a"], at="2020-01-01")
    theirs.update("m", text="better words")
    theirs.pin("m")
    theirs.remember("removed there", id="r")
    theirs.remove("r", reason="so")
    theirs.facts.add("Maya", "works_on", "billing", memory="m")
    theirs.facts.declare("works_on")
    theirs.facts.alias("M.", "Maya")
    theirs.touch("m", reward=1.0)
    link = linked(theirs)
    before = clock.now
    for mode, ours in by_mode.items():
        report = bring(ours, mode=mode)
        history = ours.history("m")
        assert [(memory.version, memory.text, memory.pinned) for memory in history] == [
            (1, "first words", False), (2, "better words", False), (2, "better words", True),
        ]  # fmt: skip
        assert all(memory.known_from > before for memory in history)
        assert held(ours, "m").at == datetime(2020, 1, 1, tzinfo=UTC)
        assert ours.get("m", known_at=before) is None
        assert ([hit.memory.id for hit in ours.recall("better")], ours.list(tags=["a"])[0].id) == (["m"], "m")
        found = ours.get("r", include_removed=True)
        assert ours.get("r") is None and found is not None
        assert (found.removed, found.standing.reason) == (True, "so")
        assert [link.id for link in ours.links("m1")] == [link]
        assert [(fact.object, fact.memory) for fact in ours.facts.query("M.")] == [("billing", "m")]
        assert ours.usage("m")["m"].rewards == 1.0
        assert [predicate.single_valued for predicate in ours.facts.predicates()] == [True]
        assert (report.replayed, report.versions, report.changes) == (False, 5, (2, ours.changes()[-1].seq))
        assert report.added == {"memories": 4, "links": 1, "facts": 1, "usage": 1, "records": 2}
        assert set(report.not_carried) == {"changes"}
        assert {change.what for change in ours.changes(since=1)} == {"import"}
        assert ours.doctor().well
        unchanged = everything(ours)
        assert bring(ours, mode=mode).changes is None
        assert everything(ours) == unchanged
        assert ours.restore("r").text == "removed there"


def test_import_can_be_undone(theirs: Bank, ours: Bank, bring: Bring) -> None:
    linked(theirs)
    assert bring().changes == (2, 2)
    ours.undo(2)
    assert [memory.id for memory in ours.list()] == ["own"]


def test_large_import_is_several_changes_and_one_transaction(theirs: Bank, ours: Bank, bring: Bring) -> None:
    theirs.remember_many({"text": f"number {n}"} for n in range(2_010))
    theirs.facts.add("Maya", "works_on", "billing", memory=theirs.remember("the last", id="last").id)
    report = bring()
    assert (report.added["memories"], report.added["facts"]) == (2_011, 1)
    first, last = report.changes
    assert last - first >= 2
    assert max(len(change.ids) for change in ours.changes()) <= 2_000
    assert ours.doctor().well


def test_skip_leaves_what_is_here(theirs: Bank, ours: Bank, bring: Bring) -> None:
    left = {"here already": 1}
    ours.remember("ours", id="m", tags=["o"])
    theirs.remember("theirs", id="m", tags=["t"])
    theirs.touch("m")
    before = everything(ours)
    assert bring().as_dict().items() >= {"left": {"memories": left, "usage": left}, "changes": None}.items()
    assert everything(ours) == before


def test_replace_takes_the_file_and_keeps_the_past(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.remember("ours", id="m", tags=["o"], importance=0.9)
    ours.update("m", text="ours again")
    theirs.remember("theirs", id="m", tags=["t"], importance=0.1)
    for n in range(5):
        theirs.remember(f"another {n}")
    theirs.update("m", status="promoted")
    report = bring(mode="replace")
    history = [(memory.version, memory.text) for memory in ours.history("m")]
    assert history == [(1, "ours"), (2, "ours again"), (3, "theirs")]
    found = held(ours, "m")
    assert (found.text, found.tags, found.importance, found.status) == ("theirs", ("t",), 0.1, "promoted")
    assert (report.changed, [hit.memory.text for hit in ours.recall("theirs")]) == ({"memories": 1}, ["theirs"])


def test_merge_takes_the_later_part_and_all_labels(theirs: Bank, ours: Bank, bring: Bring, clock: HandClock) -> None:
    ours.remember("ours", id="theirs later", tags=["Auth", "o"], files=["a.py"])
    theirs.remember("theirs", id="ours later", tags=["t"])
    theirs.remember("older words", id="each later")
    clock.move(hours=1)
    theirs.remember("theirs", id="theirs later", tags=["auth", "t"], entities=["Maya"])
    ours.remember("ours", id="ours later", tags=["o"], importance=0.9)
    ours.remember("newer words", id="each later")
    clock.move(hours=1)
    theirs.update("each later", importance=1.0)
    bring(mode="merge")
    found = held(ours, "theirs later")
    assert (found.text, found.version, found.tags) == ("theirs", 2, ("Auth", "o", "t"))
    assert (found.entities, found.files) == (("Maya",), ("a.py",))
    found = held(ours, "ours later")
    assert (found.text, found.tags, found.importance) == ("ours", ("o", "t"), 0.9)
    found = held(ours, "each later")
    assert (found.text, found.importance, found.version) == ("newer words", 1.0, 1)


def test_later_removal_wins_unless_skipped(theirs: Bank, by_mode: ByMode, bring: Bring, clock: HandClock) -> None:
    theirs.remember("the same", id="m")
    for ours in by_mode.values():
        ours.remember("the same", id="m")
    clock.move(hours=1)
    theirs.remove("m")
    for mode, ours in by_mode.items():
        bring(ours, mode=mode)
        assert (ours.get("m") is None) == (mode != "skip")
        assert mode == "skip" or ours.restore("m").text == "the same"


def test_removed_and_revised_memories_stay_away(theirs: Bank, by_mode: ByMode, bring: Bring, clock: HandClock) -> None:
    for ours in by_mode.values():
        ours.remember_many([{"text": "ours", "id": id} for id in "mr"])
        ours.remove("m")
        ours.revise("r", text="ours, revised")
    clock.move(hours=1)
    theirs.remember_many([{"text": "theirs", "id": id} for id in "mr"])
    for mode, ours in by_mode.items():
        report = bring(ours, mode=mode, force=True)
        assert {memory.text for memory in ours.list()} == {"Something of our own.", "ours, revised"}
        assert report.left["memories"]["removed here"] >= 1


def test_purged_memories_stay_away_with_their_ties(theirs: Bank, by_mode: ByMode, bring: Bring, tmp_path: Path) -> None:
    theirs.remember("to be erased", id="m")
    theirs.update("m", text="to be erased, too")
    theirs.remember("another", id="n")
    theirs.link("n", "m")
    theirs.facts.add("a secret", "is", "told", memory="m")
    theirs.touch("m")
    for mode, ours in by_mode.items():
        ours.remember("to be erased", id="m")
        ours.purge("m")
        report = bring(ours, mode=mode)
        assert ours.get("m", include_removed=True) is None
        assert "erased" not in str(everything(ours)) and "secret" not in str(everything(ours))
        purged, untied = {"purged here": 1}, {"names a memory that is not here": 1}
        assert report.left == {"memories": purged, "usage": purged, "links": untied, "facts": untied}
    assert bring(ours, force=True).added["memories"] == 1
    assert held(ours, "m").text == "to be erased, too"
    ours.export(tmp_path / "ours.jsonl")
    assert ours.import_(tmp_path / "ours.jsonl", mode="replace").changes is None


def test_purged_ids_of_the_file_erase_nothing(theirs: Bank, ours: Bank, bring: Bring) -> None:
    for id in ("gone", "kept"):
        theirs.remember("to be erased", id=id)
    theirs.purge(["gone", "kept"])
    ours.remember("stays", id="kept")
    report = bring()
    assert (held(ours, "kept").text, report.added) == ("stays", {"purged": 1})
    assert report.left == {"purged": {"here already": 1}}
    assert [row["id"] for row in everything(ours)["purged"]] == ["gone"]
    assert bring().unchanged == {"purged": 1}


def test_tie_that_is_here_under_another_id_is_not_doubled(theirs: Bank, ours: Bank, bring: Bring) -> None:
    for bank in (theirs, ours):
        bank.remember("one", id="m1")
        bank.remember("two", id="m2")
        bank.link(*(("m1", "m2") if bank is ours else ("m2", "m1")), "sibling")
        bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01")
    report = bring(mode="merge")
    assert len(ours.neighbors("m1")) == len(ours.facts.query("Maya")) == 1
    assert report.unchanged["links"] == report.unchanged["facts"] == 1
    assert report.changes is None
    # A fact of other times is another fact.
    theirs.facts.invalidate("Maya", "works_on", "billing", at="2026-02-01")
    assert bring(mode="merge").added == {"facts": 1}
    assert {row["valid_until"] for row in everything(ours)["fact"]} == {None, 1_769_990_400_000_000}


def test_link_of_the_same_id_follows_the_mode(theirs: Bank, by_mode: ByMode, bring: Bring, clock: HandClock) -> None:
    link = linked(theirs)
    for ours in by_mode.values():
        bring(ours)
    clock.move(hours=1)
    theirs.link("m1", "m2", weight=0.9)
    for mode, ours in by_mode.items():
        bring(ours, mode=mode)
        [neighbor] = ours.neighbors("m1")
        assert (neighbor.link.id, neighbor.link.weight) == (link, 0.2 if mode == "skip" else 0.9)
        # A link that was untied here stays untied.
        ours.unlink(link)
        clock.move(hours=1)
        theirs.link("m1", "m2", weight=0.9, label=mode)
        report = bring(ours, mode=mode)
        assert (ours.neighbors("m1"), report.left["links"]) == ([], {"removed here": 1})


def test_facts_that_cannot_be_seen_are_known_all_the_same(opened: Opens, ours: Bank, tmp_path: Path) -> None:
    theirs = opened("session", session="theirs")
    theirs.remember("between us", id="m", scope="session")
    theirs.facts.add("Maya", "is", "here", memory="m")
    theirs.export(tmp_path / "out.jsonl")
    ours.import_(tmp_path / "out.jsonl")
    before = everything(ours)
    assert ours.facts.query("Maya") == []
    assert ours.import_(tmp_path / "out.jsonl", mode="merge").changes is None
    assert everything(ours) == before


def test_records_of_both_are_kept(theirs: Bank, by_mode: ByMode, bring: Bring) -> None:
    theirs.facts.declare("works_on")
    theirs.facts.alias("Mayita", "Maya")
    theirs.facts.alias("Mo", "Marco")
    theirs.facts.add("Mayita", "likes", "tea")
    theirs.scratchpad.write("theirs")
    for mode, ours in by_mode.items():
        ours.facts.declare("Works on")
        ours.facts.alias("M.", "Maya")
        ours.facts.alias("Mo", "Maya")
        ours.scratchpad.write("ours")
        report = bring(ours, mode=mode)
        [*_, declared] = sorted(ours.facts.predicates(), key=lambda predicate: predicate.name != "likes")
        assert declared.name == ("works_on" if mode == "replace" else "Works on")
        assert ours.facts.aliases() == {"M.": "Maya", "Mo": "Maya", "Mayita": "Maya"}
        assert [fact.object for fact in ours.facts.query("M.")] == ["tea"]
        assert {entry.content for entry in ours.scratchpad.read()} == {"ours", "theirs"}
        assert report.left["records"]["here already"] >= 1


def test_broken_lines_keep_all_out_unless_skipped(theirs: Bank, ours: Bank, tmp_path: Path) -> None:
    theirs.remember("whole", id="m")
    theirs.remember("broken", id="n")
    lines = read(theirs.export(tmp_path / "out.jsonl").path)[:-1]
    of(lines, "state", 1)["tier"] = "deep"
    path = sealed(tmp_path / "out.jsonl", lines)
    before = everything(ours)
    with pytest.raises(pieria.PieriaError, match="nothing was imported"):
        ours.import_(path, mode="merge")
    assert everything(ours) == before
    report = ours.import_(path, mode="merge", on_error="skip")
    assert (report.added, report.left) == ({"memories": 1}, {"memories": {"broken in the file": 1}})
    assert [problem.line for problem in report.problems] == [7]
    assert ours.get("n") is None
