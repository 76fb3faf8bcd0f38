"""Upkeep on real banks: what a sleep writes and leaves alone, what fades and never fades, and repairs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import held
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import AdapterError, ConflictError
from pieria.record.changeset import Changeset
from pieria.record.filter import Viewer
from pieria.record.link import LinkRow

KEY = "AKIA" + "QWERTYUIOPASDFGH"
EGGS = " It has eggs, which Omar counted on the fifth of May."


@pytest.fixture
def thinking(tmp_path: Path, clock: HandClock) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens a bank with a language model."""
    with ExitStack() as stack:

        def opened(llm: object, **settings: Any) -> Bank:
            return stack.enter_context(pieria.Workspace(tmp_path, settings, clock=clock, llm=llm)).open("notes")

        yield opened


def talk(clock: HandClock, session: str = "s", days: float = 3, turns: int = 6, **more: Any) -> list[dict[str, Any]]:
    def turn(n: int) -> dict[str, Any]:
        text = f"Heron number {n} nests by the mill in {session}."
        said = {"text": text, "kind": "turn", "session": session, "author": ("Maya", "Omar")[n % 2]}
        return {**said, "id": f"{session}{n}", "at": clock.now - timedelta(days=days, minutes=-n), **more}

    return [turn(n) for n in range(turns)]


def test_sleep_sums_up_and_links_to_the_sources(bank: Bank, clock: HandClock) -> None:
    turns = talk(clock)
    turns[2]["valid_until"] = clock.now + timedelta(days=9)
    bank.remember_many(turns)
    before = len(bank.changes())
    shown = bank.upkeep.sleep(dry_run=True)
    assert (len(bank.changes()), shown.dry_run) == (before, True)
    slept = bank.upkeep.sleep()
    [summary] = slept.summaries
    assert [(one.id, one.text) for one in shown.summaries] == [(summary.id, summary.text)]
    made = held(bank, summary.id)
    assert (slept.examined, slept.consolidated, slept.left, slept.mind) == (6, 6, 0, "rules")
    assert (made.kind, made.tier, made.scope, made.session) == ("summary", "kept", "bank", "s")
    assert (made.at, made.text) == (held(bank, "s5").at, summary.text)
    assert made.valid_until == turns[2]["valid_until"]
    links = bank.links(made.id)
    assert {(link.relation, link.target.name) for link in links} == {("provenance", f"s{n}") for n in range(6)}
    assert {held(bank, f"s{n}").tier for n in range(6)} == {"kept"}
    assert {held(bank, f"s{n}").text for n in range(6)} == {turn["text"] for turn in turns}
    bank.remember_many(talk(clock, "t", turns=2))
    before = len(bank.changes())
    second = bank.upkeep.sleep()
    assert (second.examined, second.consolidated, len(bank.changes())) == (2, 0, before)
    assert summary.id in bank.purge("s1").also


def test_memories_in_use_are_left_alone_unless_forced(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock, days=0.5))
    assert [bank.upkeep.sleep(force=force).consolidated for force in (False, True)] == [0, 6]


def test_oldest_of_too_many_are_due_at_any_age(bank: Bank, clock: HandClock) -> None:
    bank.remember_many([turn for n in range(52) for turn in talk(clock, f"p{n}", days=0.9 - n / 100, turns=10)])
    slept = bank.upkeep.sleep()
    assert slept.examined == 20
    assert {memory.session for summary in slept.summaries for memory in summary.sources} == {"p0", "p1"}


def test_limit_leaves_the_rest_for_the_next_sleep(bank: Bank, clock: HandClock) -> None:
    """Memories without company do not stand in the way."""
    at = clock.now - timedelta(days=9)
    words = ["anchor", "basalt", "cellar", "dragoon", "ember", "fjord", "gable", "hamlet", "ingot", "jetty"]
    bank.remember_many([{"text": word, "at": at + timedelta(days=n / 10)} for n, word in enumerate(words)])
    bank.remember_many(talk(clock))
    told = []
    for dry_run in (False, True, False, False):
        slept = bank.upkeep.sleep(limit=10, dry_run=dry_run)
        told.append((slept.examined, slept.left, slept.consolidated))
    assert told == [(10, 6, 0), (6, 10, 6), (6, 10, 6), (10, 0, 0)]


def test_no_summary_tells_one_reader_what_another_said(bank: Bank, clock: HandClock) -> None:
    for channel in ("red", "blue"):
        bank.remember_many(talk(clock, f"x-{channel}", scope="session", channel=channel))
    bank.remember_many(talk(clock, "open"))
    slept = bank.upkeep.sleep()
    # The reply shows a caller only what it may read.
    assert [one.last.session for one in slept.summaries] == ["open"]
    assert slept.reasons == ("summaries of other sessions, not shown: 2",)
    every = bank.core.filter(kinds="summary").having(viewer=Viewer(everything=True))
    with bank.core.reading() as reader:
        made = {(one.scope, one.channel): one.session for one in reader.select(every)}
    assert made == {("session", "red"): "x-red", ("session", "blue"): "x-blue", ("bank", None): "open"}
    assert [hit for hit in bank.recall("heron mill", k=50, kinds="summary") if hit.memory.scope == "session"] == []


def test_notes_of_one_subject_lie_together(bank: Bank, clock: HandClock) -> None:
    at = clock.now - timedelta(days=9)
    notes = [f"Note {n} tells of subject{n % 30}, matter{n % 30} and thing{n % 30}." for n in range(600)]
    bank.remember_many([{"text": text, "at": at + timedelta(seconds=n)} for n, text in enumerate(notes)])
    slept = bank.upkeep.sleep()
    assert slept.examined == 600 and slept.consolidated > 500
    for summary in slept.summaries:
        assert len({memory.text.partition("subject")[2].partition(",")[0] for memory in summary.sources}) == 1


def test_important_and_repeated_memories_are_settled(bank: Bank, clock: HandClock) -> None:
    turns = talk(clock)
    turns[0]["importance"] = 0.9
    bank.remember_many(turns)
    for day in range(3):
        at = clock.now - timedelta(days=2 + day)
        bank.remember("The mill pond freezes in January.", id=f"r{day}", at=at)
        # The same words in another order are another thing.
        bank.remember("Tom owes Maya money." if day % 2 else "Maya owes Tom money.", at=at)
    slept = bank.upkeep.sleep()
    assert {(one.memory.id, one.why) for one in slept.settled} == {("s0", "important"), ("r2", "said 3 times")}
    assert "s0" in {memory.id for summary in slept.summaries for memory in summary.sources}
    assert {held(bank, id).tier for id in ("s0", "r2")} == {"settled"}


def test_memory_repeated_after_sleeps_is_settled(bank: Bank, clock: HandClock) -> None:
    for number in range(4):
        bank.remember_many(talk(clock, f"s{number}", days=2))
        again = {"id": f"again{number}", "text": "Maya never eats fish."}
        bank.remember_many(talk(clock, f"s{number}", days=1.9, turns=1, **again))
        slept = bank.upkeep.sleep()
        assert [one.memory.id for one in slept.settled] == (["again0"] if number == 2 else [])
        clock.move(days=2)


@pytest.mark.parametrize("private", [{}, {"scope": "session"}])
def test_old_summaries_are_shortened(opened: Callable[..., Bank], clock: HandClock, private: dict[str, Any]) -> None:
    bank = opened(session="s")
    bank.remember_many([{**turn, "text": turn["text"] + EGGS} for turn in talk(clock, turns=12, **private)])
    [summary] = bank.upkeep.sleep().summaries
    clock.move(days=20)
    assert bank.upkeep.sleep().shortened == ()
    clock.move(days=20)
    [one] = bank.upkeep.sleep(dry_run=True).shortened
    assert bank.upkeep.sleep().shortened == (one,)
    assert len(one.text) < len(summary.text)
    if not private:
        assert [memory.text for memory in bank.history(summary.id)] == [summary.text, one.text]
    assert bank.upkeep.sleep().shortened == ()


class Model:
    """A language model that writes summaries, after a given number of failures."""

    model = "custom:summaries"

    def __init__(self, fails: int = 0, **kind: Any) -> None:
        self.fails = fails
        self.kind = kind
        self.calls = 0

    def chat(self, messages: Any, opts: Any = None) -> pieria.LLMResponse:
        self.calls += 1
        if self.calls <= self.fails:
            raise AdapterError(self.model, "chat", "it is down", **self.kind)
        return pieria.LLMResponse(f"Summary {self.calls}.", self.model, {"input_tokens": 10, "output_tokens": 5})

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> pieria.LLMResponse:
        raise AssertionError("a summary is words")


def worked(bank: Bank, id: str | None = None) -> Any:
    """Run the worker once and return this job, or a new one that sleeps."""
    id = id or bank.jobs.add("sleep").id
    bank.jobs.worker().run(once=True)
    return bank.jobs.get(id)


def test_failure_of_a_model_costs_its_group_alone(thinking: Callable[..., Bank], clock: HandClock) -> None:
    bank = thinking(Model(fails=1))
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", days=3)])
    slept = bank.upkeep.sleep()
    assert [summary.text for summary in slept.summaries] == ["Summary 2."]
    [failed] = slept.failed
    assert failed.ids == tuple(f"a{n}" for n in range(6))
    assert "it is down" in failed.reason
    assert bank.upkeep.sleep().consolidated == 6
    bank = thinking(Model(fails=9))
    bank.remember_many(talk(clock, "c"))
    job = worked(bank)
    assert job.state != "done" and "it is down" in str(job.as_dict())


def test_model_out_of_reach_ends_the_sleep(thinking: Callable[..., Bank], clock: HandClock) -> None:
    bank = thinking(model := Model(fails=9, retryable=True))
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", days=3)])
    slept = bank.upkeep.sleep()
    assert slept.stopped is not None and "it is down" in slept.stopped
    assert (slept.left, slept.failed, model.calls) == (12, (), 1)
    job = worked(bank)
    assert job.state == "later" and "it is down" in str(job.as_dict())


def test_sleep_stops_at_the_budget_until_the_next_day(thinking: Callable[..., Bank], clock: HandClock) -> None:
    bank = thinking(Model(), budget_calls_per_day=2)
    bank.remember_many([turn for n in range(6) for turn in talk(clock, f"b{n}", days=7 - n)])
    first = bank.upkeep.sleep()
    assert (first.consolidated, first.left) == (12, 24)
    assert first.stopped is not None and "budget_calls_per_day" in first.stopped
    assert bank.upkeep.sleep().consolidated == 0
    clock.move(days=1)
    job = worked(bank)
    assert (job.state, bank.count(kinds="summary")) == ("later", 4)
    clock.move(days=1)
    assert (worked(bank, job.id).state, bank.count(kinds="summary")) == ("done", 6)
    assert bank.upkeep.validate().ok


def test_texts_of_a_model_are_screened(thinking: Callable[..., Bank], clock: HandClock) -> None:
    """A key that no source has counts as made up, too: then the rules word the text."""
    said = "The heron nests by the mill. <private>and more</private> " + "heron " * 90
    replies = iter([said, said, f"{KEY} {said}", f"{KEY} {said}"])
    bank = thinking(lambda messages, schema: next(replies), secrets="redact")
    bank.remember_many([{**turn, "text": turn["text"] + EGGS} for turn in talk(clock, turns=12)])
    shown = bank.upkeep.sleep(dry_run=True).summaries[0].text
    [summary] = bank.upkeep.sleep().summaries
    assert summary.text == shown == held(bank, summary.id).text
    clock.move(days=40)
    [before] = bank.upkeep.sleep(dry_run=True).shortened
    [made] = bank.upkeep.sleep().shortened
    assert before.text == made.text == held(bank, summary.id).text
    assert not any(said in text for text in (summary.text, made.text) for said in (KEY, "more"))


def test_group_without_a_summary_is_reported_and_due_again(thinking: Callable[..., Bank], clock: HandClock) -> None:
    bank = thinking(lambda messages, schema: "<private>All of it.</private>")
    bank.remember_many(talk(clock, importance=0.9))
    slept = bank.upkeep.sleep()
    assert [failed.ids for failed in slept.failed] == [tuple(f"s{n}" for n in range(6))]
    assert (slept.consolidated, slept.settled) == (0, ())
    assert bank.upkeep.sleep().examined == 6


def test_undone_sleep_can_be_done_again(thinking: Callable[..., Bank], clock: HandClock) -> None:
    bank = thinking(model := Model())
    bank.remember_many(talk(clock))
    [first] = bank.upkeep.sleep().summaries
    bank.undo(bank.changes()[-1].seq)
    assert bank.get(first.id) is None
    shown = bank.upkeep.sleep(dry_run=True)
    [second] = bank.upkeep.sleep().summaries
    assert second.id == shown.summaries[0].id != first.id
    calls = model.calls
    assert bank.upkeep.sleep().examined == 0
    # The model is not asked to shorten a summary that is short enough.
    clock.move(days=400)
    assert bank.upkeep.sleep().shortened == ()
    assert model.calls == calls


def test_faded_memories_are_shown_then_removed_or_archived(bank: Bank, clock: HandClock) -> None:
    for id in ("old", "older", "used"):
        bank.remember("a passing remark", id=id)
    clock.move(days=90)
    bank.touch("used", accesses=3)
    clock.move(days=10)
    shown = bank.upkeep.gc()
    assert ([one.memory.id for one in shown.faded], shown.dry_run) == (["old", "older"], True)
    assert held(bank, "old").removed is False
    assert len(bank.upkeep.gc(dry_run=False).faded) == 2
    assert [memory.id for memory in bank.list()] == ["used"]
    bank.restore("old")
    collected = bank.upkeep.archive()
    assert (collected.archived, [one.memory.id for one in collected.faded]) == (True, ["old"])
    assert held(bank, "old").status == "archived"
    assert [hit.memory.id for hit in bank.recall("remark", status="archived")] == ["old"]
    assert bank.upkeep.archive().faded == ()


def test_some_memories_never_fade(bank: Bank, clock: HandClock) -> None:
    for kind in ("drawer", "observation", "turn", "diary"):
        bank.remember("kept", kind=kind)
    bank.remember("pinned", pinned=True)
    bank.remember("important", importance=0.8)
    bank.remember("source", id="source")
    bank.remember("drawn from it", id="drawn", importance=0.9)
    bank.link("drawn", "source", "provenance")
    bank.remember("promoted", id="promoted")
    bank.upkeep.promote("promoted")
    clock.move(days=1_000)
    assert bank.upkeep.gc(threshold=1.0).faded == ()


def test_least_retained_go_first_under_a_limit(bank: Bank, clock: HandClock) -> None:
    for n in range(4):
        bank.remember(f"remark {n}", id=f"r{n}")
        clock.move(days=30)
    clock.move(days=60)
    told: list[tuple[int, int]] = []
    collected = bank.upkeep.gc(dry_run=False, limit=2, progress=lambda done, whole: told.append((done, whole)))
    assert ([one.memory.id for one in collected.faded], (collected.left, told)) == (["r0", "r1"], (2, [(2, 2)]))


def test_used_memories_are_promoted(bank: Bank) -> None:
    for id in ("used", "unused"):
        bank.remember(f"{id} a lot", id=id)
    bank.touch("used", accesses=6)
    shown = bank.upkeep.promote(dry_run=True)
    assert [(one.memory.id, one.uses) for one in shown.promoted] == [("used", 6)]
    assert held(bank, "used").status == "active"
    bank.upkeep.promote()
    assert (held(bank, "used").status, held(bank, "used").tier) == ("promoted", "settled")
    assert bank.upkeep.promote().promoted == ()
    assert [one.memory.id for one in bank.upkeep.promote(["unused"]).promoted] == ["unused"]
    id = bank.remember("Herons are what I like most.", scope="user").id
    with pytest.raises(ConflictError, match="user's own") as refused:
        bank.upkeep.promote(id)
    assert "@me" in str(refused.value.hint)


def test_baseless_summaries_and_dangling_links_are_repaired(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock))
    [summary] = bank.upkeep.sleep().summaries
    assert bank.upkeep.validate().ok
    for n in range(6):
        bank.remove(f"s{n}")
    found = bank.upkeep.validate()
    assert [(problem.kind, problem.id) for problem in found.problems] == [("baseless", summary.id)]
    assert bank.upkeep.repair(dry_run=True).problems == found.problems
    assert bank.upkeep.repair().repaired == (summary.id,)
    assert held(bank, summary.id).status == "archived"
    kept = bank.remember("kept", id="kept")
    row = LinkRow("stray", "memory", kept.id, "related", "memory", "gone", 1.0, None, None, "")
    with bank.core.store.writing() as writer:
        writer.apply(Changeset("link", links=[row]))
    assert [(problem.kind, problem.id) for problem in bank.upkeep.validate().problems] == [("dangling link", "stray")]
    repaired = bank.upkeep.repair()
    assert (repaired.repaired, repaired.ok, repaired.dry_run) == (("stray",), True, False)
    assert bank.upkeep.validate().ok
