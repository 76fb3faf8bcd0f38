"""Single reasons on real banks: where each applies and where not, and the order they produce."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.bank.recall_pages import LETTERS, NOW, embed, embedding, fill, ids, numbered, session
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.language.analyser import terms
from pieria.recall.answer import Recall
from pieria.recall.arms import ARMS, LINKS_SEEN, QUOTA, RULES, RULES_SEEN
from pieria.recall.query import without_names
from pieria.recall.scores import WEIGHTS

__all__ = ["embedding"]


@pytest.fixture(autouse=True)
def wednesday(clock: HandClock) -> None:
    clock.now = NOW


@pytest.fixture
def vectors(embedding: Callable[..., Bank]) -> Bank:
    """Return a bank with vectors. `bank` has none."""
    return embedding()


def why(found: Recall) -> dict[str, Mapping[str, float]]:
    return {hit.memory.id: hit.why for hit in found}


def alone(arm: str) -> dict[str, float]:
    return {name: float(name in ARMS[arm].features) for name in WEIGHTS}


# --- who, what and when


def test_named_speaker_speaks_for_own_turns_only(vectors: Bank) -> None:
    """Omar says Maya's name in every turn, so a question about her is near to his turns."""
    turn = {"kind": "turn", "text": "The physician was kind."}
    fill(vectors, {**turn, "id": "hers", "session": "s", "author": "Maya"})
    assert "matter" not in vectors.recall("the physician of Maya").plan["arms"]["dense"]
    fill(vectors, {**turn, "id": "his", "session": "t", "author": "Omar", "text": "Maya, Maya, Maya!"})
    found = vectors.recall("What did Maya's doctor say?")
    assert {id for id, reasons in why(found).items() if "author" in reasons} == {"hers"}
    assert found.plan["arms"]["dense"]["matter"] == "What did doctor say?"
    assert why(found)["his"]["matter"] < min(0.0, why(found)["hers"]["matter"])
    both = vectors.recall("What did Maya and Omar say of the doctor?")
    assert not any("author" in reasons for reasons in why(both).values())
    fill(vectors, {"text": "A doctor for each user.", "author": "user"})
    for nobody in ("What did the doctor say?", "Maya", "the doctor of a user"):
        left = vectors.recall(nobody)
        assert "matter" not in left.plan["arms"]["dense"]
        assert not any("matter" in reasons for reasons in why(left).values())


def test_matter_that_cannot_be_embedded_is_left_out(embedding: Callable[..., Bank]) -> None:
    def moody(texts: list[str]) -> list[list[float]]:
        assert "What did doctor say?" not in texts
        return embed(texts)

    bank = embedding(moody)
    fill(bank, *({"id": who, "text": "The physician was kind.", "author": who} for who in ("Maya", "Omar")))
    found = bank.recall("What did Maya's doctor say?")
    assert "the function failed with AssertionError" in found.plan["left_out"]["matter"]
    assert ids(found)[0] == "Maya"
    assert all("dense" in reasons and "matter" not in reasons for reasons in why(found).values())


def test_names_are_left_out_as_whole_words() -> None:
    cases = {
        "Did Maya Lind's mill burn?": "Did mill burn?", "“Maya” / Lind: which mill?": "/ which mill?",
        "Which Mayan mill?": None, "Who is Maya Lind?": None, "": None,
    }  # fmt: skip
    assert {question: without_names(question, frozenset(terms("Maya Lind"))) for question in cases} == cases


def test_named_time_speaks_for_what_was_said_then(opened: Callable[..., Bank]) -> None:
    """Memories soon after the named time score higher. Memories before it score almost nothing."""
    days = {"then": 0, "after": 40, "before": -40, "earlier": -3 * 365}
    for name, moment in {"4 January 2025": "2025-01-04T09", "24 December": "2021-12-24T15"}.items():
        bank = opened(moment[:4])
        for id, away in days.items():
            bank.remember("The budget.", id=id, at=datetime.fromisoformat(f"{moment}:00Z") + timedelta(days=away))
        found = bank.recall(f"the budget on {name}")
        dates = {id: each.get("date", 0.0) for id, each in why(found).items()}
        assert dates["then"] == 1.0 > dates["after"] > dates["before"]
        # A day without a year is meant in any year.
        assert (dates["earlier"] > 0.8) == (name == "24 December")
        assert ids(found)[0] == "then"


SAID_THEN = {
    "yesterday": [1, 2, 3, 4], "two days ago": [2, 1, 3, 9], "last week": [6, 10, 1, 15],
    "two weeks ago": [15, 8, 20, 1], "the other day": [4, 9, 15, 40], "last month": [25, 9, 60, 400],
}  # fmt: skip
"""Days ago, from the nearest to the time meant to the farthest."""


def test_what_was_said_then_goes_first_and_the_rest_by_distance(opened: Callable[..., Bank]) -> None:
    """This holds even if the other memories match more of the question."""
    for said, days in SAID_THEN.items():
        bank = opened(said.replace(" ", "-"))
        for day in days:
            text = "Rain and a pike, and once, by the mill, a heron with others." if day == days[0] else "The heron."
            bank.remember(text, id=str(day), at=NOW - timedelta(days=day))
        found = bank.recall(f"what of the heron {said}?")
        assert ids(found) == [str(day) for day in days]
        assert found[0].why["then"] == 1.0


def test_day_is_that_of_the_asker(bank: Bank, clock: HandClock) -> None:
    """At noon in London it is the next day in Kiritimati, so yesterday there is today in London."""
    for id, ago in (("morning", 3), ("evening", 18)):
        fill(bank, {"id": id, "text": "The heron.", "at": NOW - timedelta(hours=ago)})
    for zone, first in (("Pacific/Kiritimati", "morning"), ("Europe/London", "evening"), (None, "evening")):
        assert ids(bank.recall("the heron yesterday", time_zone=zone))[0] == first
    # A clock with local time names the zone.
    clock.now = NOW.astimezone(timezone(timedelta(hours=14)))
    assert ids(bank.recall("the heron yesterday"))[0] == "morning"


# --- facts, links, labels and replies


def test_fact_that_answers_more_speaks_more(bank: Bank) -> None:
    fill(bank, *({"id": id, "text": f"They packed {id}."} for id in ("half", "both", "between", "none")))
    bank.facts.add("Maya", "lives in", "Lisbon", memory="half")
    bank.facts.add("Maya", "works with", "Omar", memory="both")
    bank.facts.add("Maya", "founded", "a mill", memory="between")
    bank.facts.add("Ines", "founded", "a school", memory="none")
    reasons = why(bank.recall("what have Maya and Omar founded"))
    assert {id: each["fact"] for id, each in reasons.items()} == {"half": 0.5, "both": 1.0, "between": 1.0}


def test_hidden_facts_leave_room_for_those_asked_for(
    opened: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts of memories that are not asked for, of none, and facts that hold no more."""
    monkeypatch.setattr("pieria.recall.arms.FACTS_SEEN", 5)
    hiding: tuple[dict[str, Any], ...] = ({}, {"scope": "session"}, {"valid_until": "2026-03-17"}, {"kind": "diary"})
    for place, values in enumerate(hiding):
        bank, other = opened(f"b{place}"), opened(f"b{place}", session="else")
        bank.remember("It was there.", id="seen")
        bank.facts.add("Vienna", "holds", "a bridge", memory="seen")
        until = None if values else "2026-03-17"
        for number in range(6):
            other.remember(f"It was there, number {number}.", id=f"m{number}", **values)
            other.facts.add("Vienna", "holds", f"thing {number}", memory=f"m{number}", valid_until=until)
            bank.facts.add("Vienna", "has", f"district {number}", valid_until=until)
        assert ids(bank.recall("what holds Vienna?", weights=alone("facts"), kinds=["note"])) == ["seen"], values


def test_link_speaks_both_ways_as_far_as_its_other_end_fits(bank: Bank) -> None:
    fill(bank, {"id": "a", "text": "The heron nests by the mill."}, {"id": "b", "text": "It was empty."})
    fill(bank, {"id": "c", "text": "The heron."}, {"id": "d", "text": "Nobody came."})
    bank.link("a", "b")
    bank.link("d", "c")
    reasons = why(bank.recall("where does the heron nest by the mill"))
    assert reasons["b"]["link"] == 1.0
    assert 0 < reasons["d"]["link"] < 1.0
    assert not any("link" in reasons[id] for id in ("a", "c"))


def test_newest_of_many_links_count(bank: Bank) -> None:
    bank.remember("The hub.", id="hub")
    ends = [f"n{n:03}" for n in range(3 * LINKS_SEEN)]
    fill(bank, *({"id": end, "text": f"Elsewhere {end}."} for end in ends))
    for n, end in enumerate(ends):
        bank.link(*(("hub", end) if n % 2 else (end, "hub")), "related")
    bank.remove(ends[-1])
    bank.unlink("hub", ends[-3])
    found = ids(bank.recall("the hub", weights={**alone("links"), "lexical": 0.5}, k=100))
    assert "hub" in found and len(found) > 1
    with bank.core.store.reading() as reader:
        filter = bank.core.filter()
        tied = reader.tied(["hub"], filter, LINKS_SEEN)["hub"]
        shown = [memory.id for memory in map(reader.memories(tied, filter).__getitem__, tied)]
    forth, back = ends[-5::-2], ends[-2::-2]
    assert shown == [*forth[:LINKS_SEEN], *back[:LINKS_SEEN]]
    assert set(found) - {"hub"} <= set(shown)


def test_newest_bearers_of_a_label_come(bank: Bank) -> None:
    numbered(bank, 60, "Nothing {}.", entities=["Vienna"])
    found = bank.recall("who was in Vienna?", weights=alone("entities"), k=QUOTA)
    assert set(ids(found)) == {f"m{n}" for n in range(60 - QUOTA, 60)}


def test_question_is_shown_with_its_reply(bank: Bank) -> None:
    fill(bank, *session("s", "Where does the heron nest?", "By the mill.", "Where else?", "And when?", "In May."))
    asked = "the heron, its nest, its eggs in spring"
    assert {id for id, each in why(bank.recall(asked)).items() if "reply" in each} == {"s1"}
    [hit] = bank.recall(asked, k=1)
    assert (hit.memory.id, hit.reply and hit.reply.id) == ("s0", "s1")
    assert hit.as_dict()["reply"]["text"] == "By the mill."
    replies = {hit.memory.id: hit.reply and hit.reply.id for hit in bank.recall(asked, k=4)}
    assert (replies["s0"], replies.get("s2")) == (None, None)
    bank.remove("s1")
    [hit] = bank.recall(asked, k=1)
    assert hit.reply is None


# --- rules and overviews


def test_nearest_of_many_rules_is_found(embedding: Callable[..., Bank], opened: Callable[..., Bank]) -> None:
    def letters(texts: list[str]) -> list[list[float]]:
        return [[1.0 + text.lower().count(letter) for letter in LETTERS] for text in texts]

    bank = embedding(letters)
    fill(bank, {"id": "oldest", "text": "Always ask about the quay before you write a letter.", "author_type": "human"})
    texts = (f"Always put {'bed' * (n % 9 + 1)} {n} in the letter." for n in range(RULES_SEEN + 10))
    fill(bank, *({"text": text, "author_type": "human"} for text in texts))
    found = bank.recall("Write me a letter about the quay.", weights=alone("rules"), k=RULES)
    assert "oldest" in ids(found)
    assert found.plan["arms"]["rules"]["newest"] == RULES_SEEN
    # Without vectors the newest are taken.
    for more, newest in ((0, None), (1, RULES)):
        bank = opened(f"words{more}")
        fill(bank, *({"text": f"Always greet number {n}.", "author_type": "human"} for n in range(RULES + more)))
        found = bank.recall("Write me a letter.", weights=alone("rules"), k=100)
        assert (found.plan["arms"]["rules"].get("newest"), len(found)) == (newest, RULES)


def test_overview_spreads_over_sessions(bank: Bank) -> None:
    fill(bank, *session("long", *(f"The heron, the heron and the mill, {n}." for n in range(12))))
    fill(bank, *session("short", "Well.", "There was something of a heron besides all else that was said.", "Bye."))
    overview = "Give me a summary of everything about the heron"
    for spread, sessions in ((-0.5, {"long", "short"}), (0, {"long"})):
        found = bank.recall(overview, k=4, weights={"spread": spread})
        assert {hit.memory.session for hit in found} == sessions
    assert any("spread" in hit.why for hit in bank.recall("Give me a summary of the heron", k=14))


def test_only_copies_of_one_author_and_time_are_folded(bank: Bank) -> None:
    heron = "The heron is remembered once, and long enough that it would be a waste of room to show it twice."
    for id, author, at, text in (
        ("one", "Maya", NOW, heron), ("two", "Maya", NOW, heron), ("hers", "Ines", NOW, heron),
        ("earlier", "Maya", NOW - timedelta(days=3), heron), ("short1", "Maya", NOW, "The heron."),
        ("short2", "Maya", NOW, "The heron."),
    ):  # fmt: skip
        bank.remember(text, id=id, author=author, at=at)
    found = bank.recall("heron")
    [(shown, folded)] = found.plan["folded"].items()
    assert {shown, *folded} == {"one", "two"}
    assert set(ids(found)) == {shown, "hers", "earlier", "short1", "short2"}
