"""Import into a bank that holds memories: the mode decides on conflicts, and nothing removed comes back unasked."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bank.transfer_files import Lines, changed, everything, of

import pieria
from pieria.bank import Bank

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
Opens = Callable[..., Bank]


class HandClock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, hours: int = 1) -> None:
        self.now += timedelta(hours=hours)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def opens(tmp_path: Path, clock: HandClock) -> Iterator[Opens]:
    opened: list[Bank] = []

    def opens(name: str, **values: Any) -> Bank:
        opened.append(pieria.open(name, data=tmp_path / "data", clock=clock, **values))
        return opened[-1]

    yield opens
    for bank in opened:
        bank.close()


@pytest.fixture
def theirs(opens: Opens) -> Bank:
    return opens("theirs")


@pytest.fixture
def ours(opens: Opens) -> Bank:
    bank = opens("ours")
    bank.remember("Something of our own.", id="own")
    return bank


@pytest.fixture
def bring(theirs: Bank, ours: Bank, tmp_path: Path, clock: HandClock) -> Callable[..., Any]:
    """Return a function that exports their bank and imports it into ours, an hour later."""

    def bring(**values: Any) -> Any:
        theirs.export(tmp_path / "out.jsonl")
        clock.move()
        return ours.import_(tmp_path / "out.jsonl", **values)

    return bring


Bring = Callable[..., Any]
MODES = pytest.mark.parametrize("mode", ["skip", "merge", "replace"])


# --- what is new


@MODES
def test_new_memories_come_with_their_versions_and_are_known_from_now(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock, mode: str
) -> None:
    theirs.remember("first words", id="m", tags=["a"], at="2020-01-01")
    theirs.update("m", text="better words")
    theirs.pin("m")
    before = clock.now
    report = bring(mode=mode)
    assert [(memory.version, memory.text, memory.pinned) for memory in ours.history("m")] == [
        (1, "first words", False),
        (2, "better words", False),
        (2, "better words", True),
    ]
    assert all(memory.known_from > before for memory in ours.history("m"))
    found = ours.get("m")
    assert found is not None
    assert found.at == datetime(2020, 1, 1, tzinfo=UTC)
    assert ours.get("m", known_at=before) is None
    assert [hit.memory.id for hit in ours.recall("better")] == ["m"]
    assert ours.list(tags=["a"])[0].id == "m"
    assert not report.replayed
    assert (report.added["memories"], report.versions) == (1, 2)
    assert report.not_carried == {"changes": 3}
    assert {change.what for change in ours.changes(since=1)} == {"import"}
    assert ours.doctor().well


def test_tombstones_come_as_tombstones(theirs: Bank, ours: Bank, bring: Bring) -> None:
    theirs.remember("removed there", id="m")
    theirs.remove("m", reason="so")
    bring()
    assert ours.get("m") is None
    found = ours.get("m", include_removed=True)
    assert found is not None
    assert (found.removed, found.standing.reason) == (True, "so")
    assert ours.restore("m").text == "removed there"


def test_links_facts_usage_and_records_come_with_what_is_new(theirs: Bank, ours: Bank, bring: Bring) -> None:
    theirs.remember("one", id="m1")
    theirs.remember("two", id="m2")
    theirs.link("m1", "m2", "about", weight=0.5)
    theirs.facts.add("Maya", "works_on", "billing", memory="m1")
    theirs.facts.declare("works_on")
    theirs.facts.alias("M.", "Maya")
    theirs.touch("m1", reward=1.0)
    report = bring()
    assert [neighbor.memory.id for neighbor in ours.neighbors("m1") if neighbor.memory] == ["m2"]
    assert [(fact.object, fact.memory) for fact in ours.facts.query("M.")] == [("billing", "m1")]
    assert ours.usage("m1")["m1"].rewards == 1.0
    assert [predicate.single_valued for predicate in ours.facts.predicates()] == [True]
    assert report.added == {"memories": 2, "links": 1, "facts": 1, "usage": 1, "records": 2}


def test_an_import_can_be_undone(theirs: Bank, ours: Bank, bring: Bring) -> None:
    theirs.remember("one", id="m1")
    theirs.remember("two", id="m2")
    theirs.link("m1", "m2")
    report = bring()
    assert report.changes == (2, 2)
    ours.undo(2)
    assert [memory.id for memory in ours.list()] == ["own"]


def test_a_large_import_is_several_changes_and_one_transaction(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock
) -> None:
    theirs.remember_many({"text": f"number {n}"} for n in range(2_500))
    theirs.facts.add("Maya", "works_on", "billing", memory=theirs.remember("the last", id="last").id)
    report = bring()
    assert report.added["memories"] == 2_501
    assert report.added["facts"] == 1
    first, last = report.changes
    assert last - first >= 2
    assert max(len(change.ids) for change in ours.changes()) <= 2_000
    assert ours.doctor().well


# --- what is here already


def test_skip_leaves_what_is_here(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.remember("ours", id="m", tags=["o"])
    theirs.remember("theirs", id="m", tags=["t"])
    theirs.touch("m")
    before = everything(ours)
    report = bring()
    assert everything(ours) == before
    assert report.left == {"memories": {"here already": 1}, "usage": {"here already": 1}}
    assert report.changes is None


def test_replace_takes_what_the_file_says_and_keeps_the_past(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.remember("ours", id="m", tags=["o"], importance=0.9)
    ours.update("m", text="ours again")
    theirs.remember("theirs", id="m", tags=["t"], importance=0.1)
    theirs.update("m", status="promoted")
    report = bring(mode="replace")
    assert [(memory.version, memory.text) for memory in ours.history("m")] == [
        (1, "ours"),
        (2, "ours again"),
        (3, "theirs"),
    ]
    found = ours.get("m")
    assert found is not None
    assert (found.tags, found.importance, found.status) == (("t",), 0.1, "promoted")
    assert report.changed == {"memories": 1}
    assert [hit.memory.text for hit in ours.recall("theirs")] == ["theirs"]


def test_replace_reads_a_content_that_came_long_before_its_last_state(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.remember("ours", id="m")
    theirs.remember("theirs", id="m")
    for n in range(5):
        theirs.remember(f"another {n}")
    theirs.pin("m")
    bring(mode="replace")
    found = ours.get("m")
    assert found is not None
    assert (found.text, found.pinned) == ("theirs", True)


def test_merge_takes_the_later_content_and_the_labels_of_both(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock
) -> None:
    ours.remember("ours", id="m", tags=["Auth", "o"], files=["a.py"])
    clock.move()
    theirs.remember("theirs", id="m", tags=["auth", "t"], entities=["Maya"])
    bring(mode="merge")
    found = ours.get("m")
    assert found is not None
    assert (found.text, found.version) == ("theirs", 2)
    assert (found.tags, found.entities, found.files) == (("Auth", "o", "t"), ("Maya",), ("a.py",))


def test_merge_keeps_our_later_content_and_adds_their_labels(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock
) -> None:
    theirs.remember("theirs", id="m", tags=["t"])
    clock.move()
    ours.remember("ours", id="m", tags=["o"], importance=0.9)
    bring(mode="merge")
    found = ours.get("m")
    assert found is not None
    assert (found.text, found.tags, found.importance) == ("ours", ("o", "t"), 0.9)


def test_merge_judges_content_and_standing_each_by_its_own_time(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock
) -> None:
    theirs.remember("older words", id="m")
    clock.move()
    ours.remember("newer words", id="m")
    clock.move()
    theirs.update("m", importance=1.0)
    bring(mode="merge")
    found = ours.get("m")
    assert found is not None
    assert (found.text, found.importance, found.version) == ("newer words", 1.0, 1)


@pytest.mark.parametrize(("mode", "removed"), [("skip", False), ("merge", True), ("replace", True)])
def test_a_later_removal_is_taken_over(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock, mode: str, removed: bool
) -> None:
    ours.remember("the same", id="m")
    theirs.remember("the same", id="m")
    clock.move()
    theirs.remove("m")
    bring(mode=mode)
    assert (ours.get("m") is None) == removed
    if removed:
        assert ours.restore("m").text == "the same"


@MODES
def test_what_is_the_same_is_left_as_it_is(theirs: Bank, ours: Bank, bring: Bring, mode: str) -> None:
    theirs.remember("a memory", id="m", tags=["a"])
    bring()
    before = everything(ours)
    report = bring(mode=mode)
    assert everything(ours) == before
    assert report.changes is None


# --- nothing comes back unasked


@MODES
def test_what_was_removed_here_stays_removed(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock, mode: str
) -> None:
    ours.remember("ours", id="m")
    ours.remove("m")
    clock.move()
    theirs.remember("theirs", id="m")
    report = bring(mode=mode, force=True)
    assert ours.get("m") is None
    assert report.left == {"memories": {"removed here": 1}}


@MODES
def test_what_was_revised_here_stays_revised(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock, mode: str
) -> None:
    ours.remember("ours", id="m")
    revised = ours.revise("m", text="ours, revised")
    clock.move()
    theirs.remember("theirs", id="m")
    bring(mode=mode)
    assert [memory.id for memory in ours.list()] == [revised.id, "own"]


@MODES
def test_what_was_purged_here_stays_away_with_all_that_names_it(
    theirs: Bank, ours: Bank, bring: Bring, mode: str
) -> None:
    ours.remember("to be erased", id="m")
    ours.purge("m")
    theirs.remember("to be erased", id="m")
    theirs.update("m", text="to be erased, too")
    theirs.remember("another", id="n")
    theirs.link("n", "m")
    theirs.facts.add("a secret", "is", "told", memory="m")
    theirs.touch("m")
    report = bring(mode=mode)
    assert ours.get("m", include_removed=True) is None
    assert "erased" not in str(everything(ours))
    assert "secret" not in str(everything(ours))
    assert report.left == {
        "memories": {"purged here": 1},
        "usage": {"purged here": 1},
        "links": {"names a memory that is not here": 1},
        "facts": {"names a memory that is not here": 1},
    }


def test_force_brings_a_purged_memory_back(theirs: Bank, ours: Bank, bring: Bring, tmp_path: Path) -> None:
    ours.remember("erased", id="m")
    ours.purge("m")
    theirs.remember("wanted after all", id="m")
    report = bring(force=True)
    found = ours.get("m")
    assert found is not None
    assert found.text == "wanted after all"
    assert report.added == {"memories": 1}
    ours.export(tmp_path / "ours.jsonl")
    assert ours.import_(tmp_path / "ours.jsonl", mode="replace").changes is None


def test_purged_ids_of_the_file_are_remembered_but_erase_nothing(
    theirs: Bank, ours: Bank, bring: Bring, tmp_path: Path
) -> None:
    for id in ("gone", "kept"):
        theirs.remember("to be erased", id=id)
    theirs.purge(["gone", "kept"])
    ours.remember("stays", id="kept")
    report = bring()
    assert ours.get("kept") is not None
    assert report.added == {"purged": 1}
    assert report.left == {"purged": {"here already": 1}}
    assert [row["id"] for row in everything(ours)["purged"]] == ["gone"]
    assert bring().unchanged == {"purged": 1}


# --- links, facts and records


def test_a_tie_that_is_here_under_another_id_is_not_doubled(theirs: Bank, ours: Bank, bring: Bring) -> None:
    for bank in (theirs, ours):
        bank.remember("one", id="m1")
        bank.remember("two", id="m2")
        bank.link(*(("m1", "m2") if bank is ours else ("m2", "m1")), "sibling")
        bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01")
    report = bring(mode="merge")
    assert len(ours.neighbors("m1")) == 1
    assert len(ours.facts.query("Maya")) == 1
    assert report.unchanged["links"] == report.unchanged["facts"] == 1
    assert report.changes is None


def test_a_fact_of_other_times_is_another_fact(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01")
    theirs.facts.add("Maya", "works_on", "billing", valid_from="2026-01-01")
    theirs.facts.invalidate("Maya", "works_on", "billing", at="2026-02-01")
    report = bring(mode="merge")
    assert report.added == {"facts": 1}
    assert {row["valid_until"] for row in everything(ours)["fact"]} == {None, 1_769_904_000_000_000}


@pytest.mark.parametrize(("mode", "weight"), [("skip", 0.2), ("merge", 0.9), ("replace", 0.9)])
def test_a_link_under_the_same_id_follows_the_mode(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock, mode: str, weight: float
) -> None:
    theirs.remember("one", id="m1")
    theirs.remember("two", id="m2")
    link = theirs.link("m1", "m2", weight=0.2)
    bring()
    clock.move()
    theirs.link("m1", "m2", weight=0.9)
    bring(mode=mode)
    [neighbor] = ours.neighbors("m1")
    assert (neighbor.link.id, neighbor.link.weight) == (link.id, weight)


@MODES
def test_a_link_that_was_untied_here_stays_untied(
    theirs: Bank, ours: Bank, bring: Bring, clock: HandClock, mode: str
) -> None:
    theirs.remember("one", id="m1")
    theirs.remember("two", id="m2")
    link = theirs.link("m1", "m2", weight=0.2)
    bring()
    ours.unlink(link.id)
    clock.move()
    theirs.link("m1", "m2", weight=0.9)
    report = bring(mode=mode)
    assert ours.neighbors("m1") == []
    assert report.left["links"] == {"removed here": 1}


def test_facts_that_cannot_be_seen_from_here_are_known_all_the_same(opens: Opens, ours: Bank, tmp_path: Path) -> None:
    theirs = opens("session", session="theirs")
    theirs.remember("between us", id="m", scope="session")
    theirs.facts.add("Maya", "is", "here", memory="m")
    theirs.export(tmp_path / "out.jsonl")
    ours.import_(tmp_path / "out.jsonl")
    before = everything(ours)
    assert ours.facts.query("Maya") == []
    assert ours.import_(tmp_path / "out.jsonl", mode="merge").changes is None
    assert everything(ours) == before


@pytest.mark.parametrize(("mode", "spelling"), [("skip", "Works on"), ("merge", "Works on"), ("replace", "works_on")])
def test_a_record_under_the_same_key_follows_the_mode(
    theirs: Bank, ours: Bank, bring: Bring, mode: str, spelling: str
) -> None:
    ours.facts.declare("Works on")
    theirs.facts.declare("works_on")
    bring(mode=mode)
    assert [predicate.name for predicate in ours.facts.predicates()] == [spelling]


def test_aliases_join_so_that_every_name_finds_every_fact(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.facts.alias("M.", "Maya")
    theirs.facts.alias("Mayita", "Maya")
    theirs.facts.add("Mayita", "likes", "tea")
    report = bring()
    assert ours.facts.aliases() == {"M.": "Maya", "Mayita": "Maya"}
    assert [fact.object for fact in ours.facts.query("M.")] == ["tea"]
    assert report.added == {"facts": 1, "records": 1}


def test_an_alias_of_another_entity_here_stays_as_it_is(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.facts.alias("M.", "Maya")
    theirs.facts.alias("M.", "Marco")
    report = bring(mode="replace")
    assert ours.facts.aliases() == {"M.": "Maya"}
    assert report.left["records"] == {"here already": 1}


def test_the_scratchpads_of_both_are_kept(opens: Opens, theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.scratchpad.write("ours")
    theirs.scratchpad.write("theirs")
    bring()
    assert {entry.content for entry in ours.scratchpad.read()} == {"ours", "theirs"}


# --- all or nothing


def test_a_dry_run_of_a_join_writes_nothing(theirs: Bank, ours: Bank, bring: Bring) -> None:
    ours.remember("ours", id="m")
    theirs.remember("theirs", id="m")
    theirs.remember("new", id="n")
    before = everything(ours)
    rehearsed = bring(mode="replace", dry_run=True)
    assert everything(ours) == before
    assert rehearsed.dry_run
    assert rehearsed.added == {"memories": 1}
    assert rehearsed.changed == {"memories": 1}
    assert ours.remember("the next").known_from == ours.changes()[-1].at
    assert [memory.id for memory in ours.list(order="oldest")][:2] == ["own", "m"]


def test_broken_lines_keep_everything_out_unless_they_may_be_skipped(theirs: Bank, ours: Bank, tmp_path: Path) -> None:
    theirs.remember("whole", id="m")
    theirs.remember("broken", id="n")
    theirs.export(tmp_path / "out.jsonl")

    def spoil(lines: Lines) -> None:
        of(lines, "state", 1)["tier"] = "deep"

    path = changed(tmp_path / "out.jsonl", spoil)
    before = everything(ours)
    with pytest.raises(pieria.PieriaError, match="nothing was imported"):
        ours.import_(path, mode="merge")
    assert everything(ours) == before
    report = ours.import_(path, mode="merge", on_error="skip")
    assert report.added == {"memories": 1}
    assert report.left == {"memories": {"broken in the file": 1}}
    assert [problem.line for problem in report.problems] == [7]
    assert ours.get("n") is None
