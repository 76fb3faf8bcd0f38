"""Single reasons on real banks: where each applies and where not, and the order they produce."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.bank.test_recall_arms import NOW, ONCE, bank, embed, fill, full, ids, opened, session, wordy

import pieria
from pieria.bank import Bank
from pieria.errors import InputError
from pieria.language.analyser import terms
from pieria.recall.answer import Recall
from pieria.recall.query import without_names

__all__ = ["bank", "full", "opened", "wordy"]

HOURS = (("morning", 3), ("evening", 18))
"""Hours ago."""


def why(found: Recall) -> dict[str, Mapping[str, float]]:
    return {hit.memory.id: hit.why for hit in found}


def test_who_is_named_speaks_for_what_they_said_and_nobody_where_all_are(full: Bank) -> None:
    named = why(full.recall("what did Maya say about the heron", k=50))
    assert {id for id, reasons in named.items() if "author" in reasons} == {"s0", "s2", "s4"}
    both = why(full.recall("what did Maya and Omar say about the heron", k=50))
    assert not any("author" in reasons for reasons in both.values())


def test_the_matter_of_a_question_is_what_is_left_without_the_names_of_those_who_speak(bank: Bank) -> None:
    """Omar says Maya's name in every turn, so a question about her is near to his turns."""
    fill(
        bank,
        {"id": "hers", "text": "The physician was kind.", "kind": "turn", "session": "s", "author": "Maya"},
        {"id": "his", "text": "Maya, Maya, Maya!", "kind": "turn", "session": "t", "author": "Omar"},
    )
    found = bank.recall("What did Maya's doctor say?")
    assert found.plan["arms"]["dense"]["matter"] == "What did doctor say?"
    assert why(found)["his"]["matter"] < min(0.0, why(found)["hers"]["matter"])
    for nobody in ("What did the doctor say?", "Maya"):
        left = bank.recall(nobody)
        assert "matter" not in left.plan["arms"]["dense"]
        assert not any("matter" in reasons for reasons in why(left).values())


def test_a_model_that_cannot_embed_the_matter_leaves_it_out_and_says_so(tmp_path: Path) -> None:
    def moody(texts: list[str]) -> list[list[float]]:
        assert "What did doctor say?" not in texts
        return embed(texts)

    with pieria.Workspace(data=tmp_path, settings={"durability": "off"}, embedder=moody) as workspace:
        bank = workspace.open("notes")
        fill(bank, *({"id": who, "text": "The physician was kind.", "author": who} for who in ("Maya", "Omar")))
        found = bank.recall("What did Maya's doctor say?")
    assert "the function failed with AssertionError" in found.plan["left_out"]["matter"]
    assert ids(found)[0] == "Maya"
    assert all("dense" in reasons and "matter" not in reasons for reasons in why(found).values())


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Did Maya Lind's mill burn?", "Did mill burn?"),
        ("“Maya” / Lind: which mill?", "/ which mill?"),
        ("Which Mayan mill?", None),
        ("Who is Maya Lind?", None),
        ("", None),
    ],
)
def test_names_are_left_out_as_whole_words_where_a_question_remains(question: str, left: str | None) -> None:
    assert without_names(question, frozenset(terms("Maya Lind"))) == left


def test_a_name_of_the_only_one_who_speaks_or_of_a_role_is_a_matter_like_any_other(bank: Bank) -> None:
    fill(bank, {"id": "one", "text": "The bread of Maya.", "author": "Maya"})
    assert "matter" not in bank.recall("the bread of Maya").plan["arms"]["dense"]
    fill(bank, {"id": "two", "text": "A doctor for each user.", "author": "user"})
    assert "matter" not in bank.recall("the doctor of a user").plan["arms"]["dense"]


@pytest.mark.parametrize(
    ("question", "then"),
    [
        ("the budget on 4 January 2025", datetime(2025, 1, 4, 9, tzinfo=UTC)),
        ("the budget in June 2024", datetime(2024, 6, 20, tzinfo=UTC)),
        ("the budget on 24 December", datetime(2021, 12, 24, 15, tzinfo=UTC)),
    ],
)
def test_a_time_that_is_named_speaks_for_what_was_told_then(wordy: Bank, question: str, then: datetime) -> None:
    """Memories soon after the named time score higher. Memories before it score almost nothing."""
    moments = {"then": 0, "after": 40, "before": -40}
    fill(wordy, *({"id": id, "text": "The budget.", "at": then + timedelta(days=d)} for id, d in moments.items()))
    found = wordy.recall(question)
    reasons = {id: each.get("date", 0.0) for id, each in why(found).items()}
    assert reasons["then"] == 1.0
    assert reasons["then"] > reasons["after"] > reasons["before"]
    assert ids(found)[0] == "then"


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what of the heron yesterday?", [1, 2, 3, 4]),
        ("what of the heron two days ago?", [2, 1, 3, 9]),
        ("what of the heron last week?", [6, 10, 1, 15]),
        ("what of the heron two weeks ago?", [15, 8, 20, 1]),
        ("what of the heron the other day?", [4, 9, 15, 40]),
        ("what of the heron last month?", [25, 9, 60, 400]),
    ],
)
def test_what_was_said_then_goes_first_and_the_rest_by_how_far_from_it(
    wordy: Bank, question: str, days: list[int]
) -> None:
    """This holds even if the other memories match more of the question."""
    fill(wordy, *({"id": str(day), "text": "The heron.", "at": NOW - timedelta(days=day)} for day in days[1:]))
    fill(
        wordy,
        {
            "id": str(days[0]),
            "text": "Rain and a pike, and once, by the mill, a heron with others.",
            "at": NOW - timedelta(days=days[0]),
        },
    )
    found = wordy.recall(question)
    assert ids(found) == [str(day) for day in days]
    assert found[0].why["then"] == 1.0


@pytest.fixture
def zoned(tmp_path: Path) -> Iterator[Callable[[datetime], Bank]]:
    """Yield a function that opens a bank at this time, with memories of the hours before."""
    with ExitStack() as stack:

        def opened(now: datetime) -> Bank:
            bank = stack.enter_context(pieria.open("zoned", data=tmp_path, clock=lambda: now))
            fill(bank, *({"id": name, "text": "The heron.", "at": now - timedelta(hours=ago)} for name, ago in HOURS))
            return bank

        yield opened


def test_a_day_is_that_of_whoever_asks(zoned: Callable[[datetime], Bank]) -> None:
    """At noon in London it is the next day in Kiritimati, so yesterday there is today in London."""
    bank = zoned(datetime(2026, 3, 18, 12, tzinfo=UTC))
    for zone, first in (("Pacific/Kiritimati", "morning"), ("Europe/London", "evening"), (None, "evening")):
        assert ids(bank.recall("the heron yesterday", time_zone=zone))[0] == first
    with pytest.raises(InputError, match="time_zone"):
        bank.recall("the heron yesterday", time_zone="Mars")
    with pytest.raises(InputError):
        bank.recall("heron", cursor=bank.recall("heron", k=1, time_zone="UTC").cursor)


def test_a_clock_that_tells_local_time_says_whose_days_they_are(zoned: Callable[[datetime], Bank]) -> None:
    bank = zoned(datetime(2026, 3, 19, 2, tzinfo=timezone(timedelta(hours=14))))
    assert ids(bank.recall("the heron yesterday"))[0] == "morning"


def test_a_day_of_each_year_is_meant_in_any(wordy: Bank) -> None:
    fill(wordy, *({"id": f"y{year}", "text": "The budget.", "at": f"{year}-12-24T15:00:00Z"} for year in (2019, 2023)))
    fill(wordy, {"id": "summer", "text": "The budget.", "at": "2023-07-01T15:00:00Z"})
    reasons = why(wordy.recall("the budget on 24 December"))
    assert reasons["y2019"]["date"] > 0.8
    assert reasons["y2023"]["date"] > 0.8
    assert reasons["summer"].get("date", 0.0) < 0.01


def test_a_fact_that_answers_more_speaks_more(wordy: Bank) -> None:
    fill(wordy, *({"id": id, "text": f"They packed {id}."} for id in ("half", "both", "between", "none")))
    wordy.facts.add("Maya", "lives in", "Lisbon", memory="half")
    wordy.facts.add("Maya", "works with", "Omar", memory="both")
    wordy.facts.add("Maya", "founded", "a mill", memory="between")
    wordy.facts.add("Ines", "founded", "a school", memory="none")
    reasons = why(wordy.recall("what have Maya and Omar founded"))
    assert {id: each["fact"] for id, each in reasons.items()} == {"half": 0.5, "both": 1.0, "between": 1.0}


def test_a_link_speaks_both_ways_as_much_as_what_it_leads_to_fits(wordy: Bank) -> None:
    fill(wordy, {"id": "a", "text": "The heron nests by the mill."}, {"id": "b", "text": "It was empty."})
    fill(wordy, {"id": "c", "text": "The heron."}, {"id": "d", "text": "Nobody came."})
    wordy.link("a", "b")
    wordy.link("d", "c")
    reasons = why(wordy.recall("where does the heron nest by the mill"))
    assert reasons["b"]["link"] == 1.0
    assert 0 < reasons["d"]["link"] < 1.0
    assert not any("link" in reasons[id] for id in ("a", "c"))


def test_the_share_of_things_that_are_named_counts(wordy: Bank) -> None:
    fill(wordy, {"id": "one", "text": "Zephyr Labs closed."}, {"id": "two", "text": "Zephyr Labs bought Orion Works."})
    reasons = why(wordy.recall("Did Zephyr Labs buy Orion Works?"))
    assert (reasons["one"]["entity"], reasons["two"]["entity"]) == (0.5, 1.0)


def test_whoever_asks_for_a_moment_is_told_of_one(wordy: Bank) -> None:
    fill(wordy, {"id": "time", "text": "The heron came on Tuesday."}, {"id": "none", "text": "The heron came alone."})
    asked = why(wordy.recall("when did the heron come"))
    assert "when" in asked["time"]
    assert "when" not in asked["none"]
    assert not any("when" in reasons for reasons in why(wordy.recall("did the heron come")).values())


def test_what_follows_a_question_that_fits_is_its_answer(wordy: Bank) -> None:
    fill(wordy, *session("s", "Where does the heron nest?", "By the mill.", "Where else?", "Nowhere."))
    reasons = why(wordy.recall("where does the heron nest"))
    assert {id for id, each in reasons.items() if "reply" in each} == {"s1"}


def test_a_question_is_shown_with_its_reply(wordy: Bank) -> None:
    fill(wordy, *session("s", "Where does the heron nest?", "By the mill.", "Where else?", "And when?", "In May."))
    [hit] = wordy.recall("where does the heron nest", k=1)
    assert (hit.memory.id, hit.reply and hit.reply.id) == ("s0", "s1")
    assert hit.as_dict()["reply"]["text"] == "By the mill."
    replies = {hit.memory.id: hit.reply and hit.reply.id for hit in wordy.recall("where does the heron nest", k=4)}
    assert replies["s0"] is None
    assert replies.get("s2") is None


def test_nobody_is_shown_a_reply_that_is_hidden_from_him(wordy: Bank) -> None:
    fill(wordy, *session("s", "Where does the heron nest?", "By the mill."))
    wordy.remove("s1")
    [hit] = wordy.recall("where does the heron nest", k=1)
    assert hit.reply is None


# --- the order


def test_places_are_kept_for_rules_where_they_bind(wordy: Bank) -> None:
    fill(wordy, *({"text": f"A letter about herons, number {n}, and a letter about mills."} for n in range(30)))
    fill(wordy, {"id": "rule", "text": "Never use abbreviations."})
    weights = {"rule": 0.01}
    asked = wordy.recall("Write a letter about herons and mills for me.", k=20, weights=weights)
    assert asked.plan["kept_for_rules"] == ["rule"]
    assert ids(asked)[7] == "rule"
    assert asked[7].score >= asked[8].score
    fewer = wordy.recall("Write a letter about herons and mills for me.", k=5, weights=weights)
    assert fewer.plan["kept_for_rules"] == []
    told_of = wordy.recall("what did I write about herons and mills", k=20, weights=weights)
    assert told_of.plan["kept_for_rules"] == []
    assert "rule" not in ids(told_of)


def test_an_overview_spreads_over_sessions(wordy: Bank) -> None:
    fill(wordy, *session("long", *(f"The heron, the heron and the mill, {n}." for n in range(12))))
    fill(wordy, *session("short", "Well.", "There was something of a heron besides all else that was said.", "Bye."))
    weights = {"spread": -0.5}
    spread = wordy.recall("Give me a summary of everything about the heron", k=4, weights=weights)
    heaped = wordy.recall("Give me a summary of everything about the heron", k=4, weights={"spread": 0})
    assert {hit.memory.session for hit in heaped} == {"long"}
    assert {hit.memory.session for hit in spread} == {"long", "short"}
    assert any("spread" in hit.why for hit in wordy.recall("Give me a summary of the heron", k=14))


def test_a_copy_is_folded_and_told(wordy: Bank) -> None:
    heron = f"The heron is {ONCE}."
    fill(
        wordy,
        {"id": "one", "text": heron, "author": "Maya"},
        {"id": "two", "text": heron, "author": "Maya"},
        {"id": "hers", "text": heron, "author": "Ines"},
        {"id": "earlier", "text": heron, "author": "Maya", "at": NOW - timedelta(days=3)},
        {"id": "short1", "text": "The heron.", "author": "Maya"},
        {"id": "short2", "text": "The heron.", "author": "Maya"},
    )
    found = wordy.recall("heron")
    [(shown, folded)] = found.plan["folded"].items()
    assert {shown, *folded} == {"one", "two"}
    assert set(ids(found)) == {shown, "hers", "earlier", "short1", "short2"}


def test_copies_stay_folded_on_every_page(wordy: Bank) -> None:
    copies = [{"id": f"c{n}", "text": f"The heron is {ONCE}.", "author": "Maya"} for n in range(300)]
    fill(wordy, *copies, *({"id": f"o{n}", "text": f"One more heron, {n}."} for n in range(300)))
    page = wordy.recall("heron", k=50)
    found = ids(page)
    while page.cursor is not None:
        page = wordy.recall("heron", k=50, cursor=page.cursor)
        found += ids(page)
    assert sorted(id for id in found if id.startswith("o")) == sorted(f"o{n}" for n in range(300))
    assert sum(id.startswith("c") for id in found) == 1


def test_what_is_drawn_from_another_stands_behind_it_and_is_told(bank: Bank) -> None:
    fill(bank, {"id": "evidence", "text": "A heron came, and the doctor saw it with all others who had come that day."})
    fill(bank, {"id": "drawn", "text": "heron doctor"})
    assert ids(bank.recall("heron doctor")) == ["drawn", "evidence"]
    bank.link("drawn", "evidence", "provenance")
    found = bank.recall("heron doctor")
    assert ids(found) == ["evidence", "drawn"]
    assert found.plan["behind_sources"] == ["drawn"]
    assert found[0].score > found[1].score
