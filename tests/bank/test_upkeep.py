"""Upkeep on real banks: what a sleep writes and leaves alone, what fades and never fades, and repairs."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.errors import AdapterError, ConflictError, InputError
from pieria.record.changeset import Changeset
from pieria.record.link import End, LinkRow
from pieria.record.memory import Memory


class HandClock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def opened(tmp_path: Path, clock: HandClock) -> Iterator[Callable[..., Bank]]:
    workspaces = []

    def made(name: str = "notes", **values: Any) -> Bank:
        settings = {"durability": "off", **values.pop("settings", {})}
        workspaces.append(pieria.Workspace(data=tmp_path, settings=settings, clock=clock, **values))
        return workspaces[-1].open(name)

    yield made
    for workspace in workspaces:
        workspace.close()


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return opened()


def held(bank: Bank, id: str) -> Memory:
    memory = bank.get(id)
    assert memory is not None
    return memory


def talk(clock: HandClock, session: str = "s", days: float = 3, turns: int = 6, **more: Any) -> list[dict[str, Any]]:
    begin = clock.now - timedelta(days=days)
    return [
        {
            "text": f"Heron number {n} nests by the mill in {session}.",
            "id": f"{session}{n}",
            "kind": "turn",
            "session": session,
            "author": ("Maya", "Omar")[n % 2],
            "at": begin + timedelta(minutes=n),
            **more,
        }
        for n in range(turns)
    ]


# --- sleep


def test_a_sleep_sums_up_and_leads_to_the_sources(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock))
    slept = bank.upkeep.sleep()
    [summary] = slept.summaries
    made = held(bank, summary.id)
    assert (slept.examined, slept.consolidated, slept.left, slept.mind) == (6, 6, 0, "rules")
    assert (made.kind, made.tier, made.scope, made.session) == ("summary", "kept", "bank", "s")
    assert made.at == held(bank, "s5").at
    assert made.text == summary.text
    sources = {link.target.name for link in (near.link for near in bank.neighbors(made.id, relation="provenance"))}
    assert sources == {f"s{n}" for n in range(6)}
    assert {held(bank, f"s{n}").tier for n in range(6)} == {"kept"}
    assert {held(bank, f"s{n}").text for n in range(6)} == {turn["text"] for turn in talk(clock)}


def test_a_dry_run_shows_the_very_texts_and_writes_nothing(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock))
    before = len(bank.changes())
    shown = bank.upkeep.sleep(dry_run=True)
    assert len(bank.changes()) == before
    assert shown.dry_run
    done = bank.upkeep.sleep()
    assert [summary.text for summary in shown.summaries] == [summary.text for summary in done.summaries]
    assert [summary.id for summary in shown.summaries] == [summary.id for summary in done.summaries]


def test_a_second_sleep_finds_nothing_to_do(bank: Bank, clock: HandClock) -> None:
    bank.remember_many([*talk(clock), *talk(clock, "t", turns=2)])
    first = bank.upkeep.sleep()
    before = len(bank.changes())
    second = bank.upkeep.sleep()
    assert first.consolidated == 6
    assert (second.examined, second.consolidated, len(bank.changes())) == (2, 0, before)


def test_what_is_being_worked_with_is_left_alone_unless_forced(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock, days=0.5))
    assert bank.upkeep.sleep().examined == 0
    assert bank.upkeep.sleep(force=True).consolidated == 6


def test_of_too_much_the_oldest_is_due_whatever_its_age(bank: Bank, clock: HandClock) -> None:
    bank.remember_many([turn for n in range(52) for turn in talk(clock, f"p{n}", days=0.9 - n / 100, turns=10)])
    slept = bank.upkeep.sleep()
    assert slept.examined == 20
    assert {memory.session for summary in slept.summaries for memory in summary.sources} == {"p0", "p1"}


def test_a_limit_leaves_the_rest_for_the_next_time(bank: Bank, clock: HandClock) -> None:
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", days=3)])
    first = bank.upkeep.sleep(limit=6)
    assert (first.examined, first.left, first.consolidated) == (6, 6, 6)
    assert bank.upkeep.sleep(limit=6).consolidated == 6


def test_no_summary_tells_one_reader_what_another_said(bank: Bank, clock: HandClock) -> None:
    for channel in ("red", "blue"):
        bank.remember_many(talk(clock, f"x-{channel}", scope="session", channel=channel))
    bank.remember_many(talk(clock, "open"))
    slept = bank.upkeep.sleep()
    seen = {
        (summary.last.scope, summary.last.channel): {m.session for m in summary.sources} for summary in slept.summaries
    }
    assert seen == {("session", "red"): {"x-red"}, ("session", "blue"): {"x-blue"}, ("bank", None): {"open"}}
    assert [hit for hit in bank.recall("heron mill", k=50, kinds="summary") if hit.memory.scope == "session"] == []


def test_notes_of_one_subject_lie_together(bank: Bank, clock: HandClock) -> None:
    at = clock.now - timedelta(days=5)
    for n in range(4):
        bank.remember(f"The deploy of billing runs on Friday, round {n}.", id=f"d{n}", at=at + timedelta(hours=n))
        bank.remember(f"Maya grows tomatoes on her balcony, pot {n}.", id=f"t{n}", at=at + timedelta(hours=n))
    groups = [{memory.id[0] for memory in summary.sources} for summary in bank.upkeep.sleep().summaries]
    assert sorted(groups, key=min) == [{"d"}, {"t"}]


def test_a_summary_holds_no_longer_than_its_sources(bank: Bank, clock: HandClock) -> None:
    until = clock.now + timedelta(days=9)
    turns = talk(clock)
    turns[2]["valid_until"] = until
    bank.remember_many(turns)
    [summary] = bank.upkeep.sleep().summaries
    assert held(bank, summary.id).valid_until == until


def test_what_is_important_or_said_again_is_settled(bank: Bank, clock: HandClock) -> None:
    turns = talk(clock)
    turns[0]["importance"] = 0.9
    bank.remember_many(turns)
    for day in range(3):
        bank.remember("The mill pond freezes in January.", id=f"r{day}", at=clock.now - timedelta(days=2 + day))
    slept = bank.upkeep.sleep()
    assert {(one.memory.id, one.why) for one in slept.settled} == {("s0", "important"), ("r0", "said 3 times")}
    assert "s0" in {memory.id for summary in slept.summaries for memory in summary.sources}
    assert slept.consolidated == 9
    assert held(bank, "s0").tier == "settled"
    assert held(bank, "r0").tier == "settled"


def test_summaries_grow_shorter_and_the_longer_wording_stays(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(
        [{**turn, "text": f"{turn['text']} It has {n + 2} eggs, which Omar counted on the fifth of May."}
         for n, turn in enumerate(talk(clock, turns=12))]
    )  # fmt: skip
    [summary] = bank.upkeep.sleep().summaries
    clock.now += timedelta(days=20)
    assert bank.upkeep.sleep().shortened == ()
    clock.now += timedelta(days=20)
    [one] = bank.upkeep.sleep(dry_run=True).shortened
    assert held(bank, summary.id).text == summary.text
    assert bank.upkeep.sleep().shortened == (one,)
    assert len(one.text) < len(summary.text)
    assert [memory.text for memory in bank.history(summary.id)] == [summary.text, one.text]
    assert bank.upkeep.sleep().shortened == ()


def test_purging_a_source_purges_what_was_drawn_from_it(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock))
    [summary] = bank.upkeep.sleep().summaries
    assert summary.id in bank.purge("s1").also


class Model:
    """A language model that writes summaries, after a given number of failures."""

    model = "custom:summaries"

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.calls = 0

    def chat(self, messages: Any, opts: Any = None) -> pieria.LLMResponse:
        self.calls += 1
        if self.calls <= self.fails:
            raise AdapterError(self.model, "chat", "it is down")
        return pieria.LLMResponse(f"Summary {self.calls}.", self.model, {"input_tokens": 10, "output_tokens": 5})

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> pieria.LLMResponse:
        raise AssertionError("a summary is words")


def test_a_model_that_fails_costs_its_group_alone(opened: Callable[..., Bank], clock: HandClock) -> None:
    bank = opened(llm=Model(fails=1))
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", days=3)])
    slept = bank.upkeep.sleep()
    assert [summary.text for summary in slept.summaries] == ["Summary 2."]
    [failed] = slept.failed
    assert failed.ids == tuple(f"a{n}" for n in range(6))
    assert "it is down" in failed.reason
    assert bank.upkeep.sleep().consolidated == 6


def test_a_budget_that_is_used_up_stops_a_sleep_which_goes_on_the_next_day(
    opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened(llm=Model(), settings={"budget_calls_per_day": 2})
    bank.remember_many([turn for n in range(4) for turn in talk(clock, f"b{n}", days=5 - n)])
    first = bank.upkeep.sleep()
    assert first.consolidated == 12
    assert first.stopped is not None
    assert "budget_calls_per_day" in first.stopped
    assert first.left == 12
    assert bank.upkeep.sleep().consolidated == 0
    clock.now += timedelta(days=1)
    assert bank.upkeep.sleep().consolidated == 12
    assert bank.upkeep.validate().ok


def test_a_sleep_as_a_job_is_put_off_where_the_budget_is_used_up(opened: Callable[..., Bank], clock: HandClock) -> None:
    bank = opened(llm=Model(), settings={"budget_calls_per_day": 1})
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", days=3)])
    job = bank.jobs.add("sleep")
    bank.jobs.worker().run(once=True)
    assert bank.jobs.get(job.id).state == "later"
    assert bank.count(kinds="summary") == 1
    clock.now += timedelta(days=1)
    bank.jobs.worker().run(once=True)
    assert bank.jobs.get(job.id).state == "done"
    assert bank.count(kinds="summary") == 2


def test_what_a_model_writes_is_screened_like_everything_else(opened: Callable[..., Bank], clock: HandClock) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    bank = opened(
        llm=lambda messages, schema: f"The key is {key} <private>and more</private>.", settings={"secrets": "redact"}
    )
    bank.remember_many(talk(clock))
    shown = bank.upkeep.sleep(dry_run=True).summaries[0].text
    [summary] = bank.upkeep.sleep().summaries
    assert summary.text == shown == held(bank, summary.id).text
    assert key not in summary.text
    assert "and more" not in summary.text


def test_a_group_of_which_nothing_can_be_kept_is_told_and_due_again(
    opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened(llm=lambda messages, schema: "<private>All of it.</private>")
    bank.remember_many(talk(clock, importance=0.9))
    slept = bank.upkeep.sleep()
    [failed] = slept.failed
    assert (failed.ids, slept.consolidated) == (tuple(f"s{n}" for n in range(6)), 0)
    assert slept.settled == ()
    assert bank.upkeep.sleep().examined == 6


def test_a_private_summary_is_shortened_whoever_keeps_the_bank(bank: Bank, clock: HandClock) -> None:
    more = " It has eggs, which Omar counted on the fifth of May."
    bank.remember_many(
        [{**turn, "text": turn["text"] + more} for turn in talk(clock, turns=12, scope="session", channel="red")]
    )
    assert len(bank.upkeep.sleep().summaries) == 1
    clock.now += timedelta(days=40)
    assert len(bank.upkeep.sleep().shortened) == 1


def test_notes_by_the_thousand_are_gone_over_in_one_sleep(bank: Bank, clock: HandClock) -> None:
    at = clock.now - timedelta(days=9)
    notes = [f"Note {n} tells of subject{n % 90}, matter{n % 90} and thing{n % 90}." for n in range(1_800)]
    bank.remember_many([{"text": text, "at": at + timedelta(seconds=n)} for n, text in enumerate(notes)])
    slept = bank.upkeep.sleep()
    assert slept.examined == 1_800
    assert slept.consolidated > 1_500
    for summary in slept.summaries:
        assert len({memory.text.partition("subject")[2].partition(",")[0] for memory in summary.sources}) == 1


def test_what_finds_no_company_does_not_stand_in_the_way(bank: Bank, clock: HandClock) -> None:
    at = clock.now - timedelta(days=9)
    words = ["anchor", "basalt", "cellar", "dragoon", "ember", "fjord", "gable", "hamlet", "ingot", "jetty"]
    bank.remember_many([{"text": word, "at": at + timedelta(days=n / 10)} for n, word in enumerate(words)])
    bank.remember_many(talk(clock))
    first = bank.upkeep.sleep(limit=10)
    assert (first.examined, first.left, first.consolidated) == (10, 6, 0)
    assert bank.upkeep.sleep(limit=10, dry_run=True).consolidated == 6
    second = bank.upkeep.sleep(limit=10)
    assert (second.examined, second.left, second.consolidated) == (6, 10, 6)
    third = bank.upkeep.sleep(limit=10)
    assert (third.examined, third.left, third.consolidated) == (10, 0, 0)


def test_a_sleep_that_was_taken_back_can_be_done_again(opened: Callable[..., Bank], clock: HandClock) -> None:
    model = Model()
    bank = opened(llm=model)
    bank.remember_many(talk(clock))
    [first] = bank.upkeep.sleep().summaries
    bank.undo(bank.changes()[-1].seq)
    assert bank.get(first.id) is None
    shown = bank.upkeep.sleep(dry_run=True)
    [second] = bank.upkeep.sleep().summaries
    assert second.id == shown.summaries[0].id != first.id
    calls = model.calls
    assert bank.upkeep.sleep().examined == 0
    assert model.calls == calls


def test_a_summary_that_is_short_enough_is_not_asked_for(opened: Callable[..., Bank], clock: HandClock) -> None:
    model = Model()
    bank = opened(llm=model)
    bank.remember_many(talk(clock))
    bank.upkeep.sleep()
    clock.now += timedelta(days=400)
    assert bank.upkeep.sleep().shortened == ()
    assert model.calls == 1


def test_a_shortened_summary_is_screened_as_well(opened: Callable[..., Bank], clock: HandClock) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    said = iter([" ".join(f"word{n}" for n in range(60)), *[f"{key} <private>and more</private> heron"] * 2])
    bank = opened(llm=lambda messages, schema: next(said), settings={"secrets": "redact"})
    bank.remember_many(talk(clock))
    bank.upkeep.sleep()
    clock.now += timedelta(days=40)
    shown = bank.upkeep.sleep(dry_run=True).shortened
    [made] = bank.upkeep.sleep().shortened
    assert [one.text for one in shown] == [made.text] == [held(bank, made.memory.id).text]
    assert key not in made.text
    assert "and more" not in made.text


def test_a_model_that_is_out_of_reach_ends_the_sleep(opened: Callable[..., Bank], clock: HandClock) -> None:
    calls = []

    def down(messages: Any, schema: Any) -> str:
        calls.append(messages)
        raise AdapterError("custom:down", "chat", "nobody is there", retryable=True)

    bank = opened(llm=down)
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", days=3)])
    slept = bank.upkeep.sleep()
    assert slept.stopped is not None
    assert "nobody is there" in slept.stopped
    assert (slept.left, slept.failed, len(calls)) == (12, (), 1)
    job = bank.jobs.add("sleep")
    bank.jobs.worker().run(once=True)
    told = bank.jobs.get(job.id)
    assert told.state == "later"
    assert "nobody is there" in str(told.as_dict())


def test_a_sleep_as_a_job_of_which_nothing_comes_is_dead_and_says_why(
    opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened(llm=Model(fails=9))
    bank.remember_many(talk(clock))
    job = bank.jobs.add("sleep")
    bank.jobs.worker().run(once=True)
    told = bank.jobs.get(job.id)
    assert told.state != "done"
    assert "it is down" in str(told.as_dict())


def test_what_is_said_again_after_sleeps_is_settled(bank: Bank, clock: HandClock) -> None:
    for number in range(4):
        bank.remember_many(
            [
                *talk(clock, f"s{number}", days=2),
                *talk(clock, f"s{number}", days=1.9, turns=1, id=f"again{number}", text="Maya never eats fish."),
            ]
        )
        slept = bank.upkeep.sleep()
        assert [one.memory.id for one in slept.settled] == ([] if number < 2 else [f"again{number}"])
        clock.now += timedelta(days=2)


def test_the_same_words_in_another_order_are_another_thing(bank: Bank, clock: HandClock) -> None:
    for number, text in enumerate(["Maya owes Tom money.", "Tom owes Maya money."] * 2):
        bank.remember(text, at=clock.now - timedelta(days=9 - number))
    assert bank.upkeep.sleep().settled == ()


# --- decay and collection


def test_what_faded_is_shown_then_removed_and_can_be_restored(bank: Bank, clock: HandClock) -> None:
    bank.remember("a passing remark", id="old")
    clock.now += timedelta(days=100)
    bank.remember("a fresh remark", id="new")
    shown = bank.upkeep.gc()
    assert ([one.memory.id for one in shown.faded], shown.dry_run) == (["old"], True)
    assert held(bank, "old").removed is False
    assert [one.memory.id for one in bank.upkeep.gc(dry_run=False).faded] == ["old"]
    assert [memory.id for memory in bank.list()] == ["new"]
    assert bank.restore("old").text == "a passing remark"


def test_decay_puts_away_and_what_is_put_away_is_still_there(bank: Bank, clock: HandClock) -> None:
    bank.remember("a passing remark", id="old")
    clock.now += timedelta(days=100)
    collected = bank.upkeep.archive()
    assert (collected.archived, [one.memory.id for one in collected.faded]) == (True, ["old"])
    assert held(bank, "old").status == "archived"
    assert [hit.memory.id for hit in bank.recall("remark", status="archived")] == ["old"]
    assert bank.upkeep.archive().faded == ()


def test_some_things_never_fade(bank: Bank, clock: HandClock) -> None:
    for kind in ("drawer", "observation", "turn", "diary"):
        bank.remember("kept", kind=kind)
    bank.remember("pinned", pinned=True)
    bank.remember("important", importance=0.8)
    bank.remember("source", id="source")
    bank.remember("drawn from it", id="drawn", importance=0.9)
    bank.link("drawn", "source", "provenance")
    bank.remember("promoted", id="promoted")
    bank.upkeep.promote("promoted")
    clock.now += timedelta(days=1_000)
    assert bank.upkeep.gc(threshold=1.0).faded == ()


def test_use_keeps_from_fading(bank: Bank, clock: HandClock) -> None:
    bank.remember("used", id="used")
    bank.remember("unused", id="unused")
    clock.now += timedelta(days=90)
    bank.touch("used", accesses=3)
    clock.now += timedelta(days=10)
    assert [one.memory.id for one in bank.upkeep.gc(dry_run=False).faded] == ["unused"]


def test_the_least_retained_goes_first_where_there_is_a_limit(bank: Bank, clock: HandClock) -> None:
    for n in range(4):
        bank.remember(f"remark {n}", id=f"r{n}")
        clock.now += timedelta(days=30)
    clock.now += timedelta(days=60)
    told: list[tuple[int, int]] = []
    collected = bank.upkeep.gc(dry_run=False, limit=2, progress=lambda done, whole: told.append((done, whole)))
    assert [one.memory.id for one in collected.faded] == ["r0", "r1"]
    assert collected.left == 2
    assert told == [(2, 2)]


# --- promotion, validation, repair


def test_what_is_the_users_own_is_promoted_in_its_own_bank(bank: Bank) -> None:
    id = bank.remember("Herons are what I like most.", scope="user").id
    with pytest.raises(ConflictError, match="user's own") as refused:
        bank.upkeep.promote(id)
    assert "@me" in str(refused.value.hint)


def test_what_is_used_is_promoted(bank: Bank, clock: HandClock) -> None:
    bank.remember("used a lot", id="used")
    bank.remember("not used", id="unused")
    bank.touch("used", accesses=6)
    shown = bank.upkeep.promote(dry_run=True)
    assert [(one.memory.id, one.uses) for one in shown.promoted] == [("used", 6)]
    assert held(bank, "used").status == "active"
    bank.upkeep.promote()
    assert (held(bank, "used").status, held(bank, "used").tier) == ("promoted", "settled")
    assert bank.upkeep.promote().promoted == ()
    assert [one.memory.id for one in bank.upkeep.promote(["unused"]).promoted] == ["unused"]


def test_what_has_nothing_left_to_stand_on_is_found_and_put_away(bank: Bank, clock: HandClock) -> None:
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
    assert bank.upkeep.validate().ok


def test_a_link_that_leads_nowhere_is_found_and_untied(bank: Bank) -> None:
    kept = bank.remember("kept", id="kept")
    row = LinkRow("stray", "memory", kept.id, "related", "memory", "gone", 1.0, None, None, "")
    with bank.core.store.writing() as writer:
        writer.apply(Changeset("link", links=[row]))
    assert [(problem.kind, problem.id) for problem in bank.upkeep.validate().problems] == [("dangling link", "stray")]
    repaired = bank.upkeep.repair()
    assert (repaired.repaired, repaired.ok, repaired.dry_run) == (("stray",), True, False)
    assert bank.upkeep.repair().dry_run is False


@pytest.mark.parametrize(
    ("verb", "given", "parameter"),
    [
        ("sleep", {"dry_run": "yes"}, "dry_run"),
        ("sleep", {"force": 1}, "force"),
        ("sleep", {"limit": 0}, "limit"),
        ("gc", {"threshold": 1.5}, "threshold"),
        ("gc", {"archive": "x"}, "archive"),
        ("archive", {"limit": -1}, "limit"),
        ("repair", {"dry_run": None}, "dry_run"),
    ],
)
def test_what_cannot_be_right_is_named(bank: Bank, verb: str, given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        getattr(bank.upkeep, verb)(**given)
    assert caught.value.parameter == parameter


def test_links_of_a_summary_are_of_provenance_alone(bank: Bank, clock: HandClock) -> None:
    bank.remember_many(talk(clock))
    [summary] = bank.upkeep.sleep().summaries
    with bank.core.store.reading() as reader:
        links = reader.links([End("memory", summary.id)])
    assert {link.relation for link in links} == {"provenance"}
