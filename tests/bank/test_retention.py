"""What is retained without use: its order, reviews of what is due, and use that makes it last longer."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.recall_pages import ids, shown, walk
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import InputError, NotFoundError
from pieria.recall.answer import Recall
from pieria.record.decay import DAY
from pieria.record.link import DRAWN_FROM
from pieria.record.time import micros

Opened = Callable[..., Bank]


def held(found: Any) -> list[str]:
    return [one.memory.id for one in found]


def test_most_retained_memories_come_first(kept: Kept, clock: HandClock) -> None:
    with pieria.Workspace(kept.data, kept.settings, clock=clock) as workspace:
        bank = workspace.open("retained")
        bank.remember("Herons nest by the mill.", id="old", tags=["birds"])
        bank.remember("Herons hunt.", id="used", place="mill/birds")
        clock.move(days=4)
        bank.touch("used", accesses=3)
        bank.remember("Tea.", id="new")
        assert (held(bank.upkeep.ranked()), held(bank.upkeep.ranked(k=1))) == (["used", "new", "old"], ["used"])
        assert held(bank.upkeep.ranked(tags="birds")) == ["old"]
        assert held(bank.upkeep.ranked(place="mill")) == ["used"]
        assert held(bank.upkeep.ranked(least=0.9)) == ["used", "new"]
        clock.move(days=1)
        bank.touch("old")
        assert held(bank.upkeep.ranked(used_since=clock.now)) == ["old"]
        bank.update("old", status="archived")
        assert held(bank.upkeep.ranked(status="archived")) == ["old"]
        with pytest.raises(InputError, match="least"):
            bank.upkeep.ranked(least=2)


def test_memories_of_the_user_are_among_the_retained(bank: Bank, clock: HandClock) -> None:
    for id, scope in (("first", "bank"), ("first own", "user"), ("second", "bank"), ("second own", "user")):
        bank.remember(f"Herons hunt, says {id}.", id=id, scope=scope)
        clock.move(hours=1)
    assert held(bank.upkeep.ranked()) == ["second own", "second", "first own", "first"]
    assert held(bank.upkeep.ranked(k=1)) == ["second own"]
    asked = ["second", "first own", "first"]
    assert [*bank.upkeep.retained(asked)] == [*bank.usage(asked)] == asked


def test_archived_memories_may_be_left_alone(bank: Bank, clock: HandClock) -> None:
    for id in ("active", "away"):
        bank.remember("Passing.", id=id)
    bank.update("away", status="archived")
    clock.move(days=90)
    assert set(held(bank.upkeep.gc().faded)) == {"active", "away"}
    assert held(bank.upkeep.gc(status="active").faded) == ["active"]
    assert bank.upkeep.gc(status="archived", archive=True).faded == ()
    with pytest.raises(InputError, match="status"):
        bank.upkeep.gc(status="promoted")


def test_recall_by_words_only_or_matches_only(opened: Opened) -> None:
    bank = opened(embedder="hashing", count_uses=True)
    beside = bank.remember("Tea is in the kitchen.", id="beside", session="s").id
    id = bank.remember("Herons nest by the mill.", id="match", session="s").id
    bank.sync()
    assert bank.embedded([beside, id]) == {beside, id}
    words = bank.recall("herons", policy="decay", by_meaning=False, counted=False)
    assert set(ids(words)) == {"beside", "match"}
    assert not any("dense" in hit.why for hit in words)
    assert words.plan["left_out"]["dense"] == "by_meaning is false"
    assert bank.recall("herons", policy="decay", counted=False)[0].why["dense"] > 0
    for asked in ({"policy": "decay", "by_meaning": False}, {}):
        assert ids(bank.recall("herons", matching=True, counted=False, **asked)) == ["match"]  # type: ignore[arg-type]
    assert ids(bank.recall("quarterly figures", matching=True)) == []
    bank.sync()
    assert bank.usage(id)[id].accesses == 0
    bank.recall("herons")
    bank.sync()
    assert bank.usage(id)[id].accesses == 1


@pytest.fixture
def herons(bank: Bank, clock: HandClock) -> Bank:
    """Return a bank with three notes on herons and one on bread, eight days old, and thirty new ones on herons."""
    for number in range(3):
        bank.remember(f"The heron number {number} nests by the old mill.", id=f"due{number}", tags=["bird"])
    bank.remember("Bread is baked with sourdough by the old mill.", id="bread")
    clock.move(days=8)
    for number in range(30):
        bank.remember(f"The heron was seen at the mill, report {number}.", id=f"new{number}")
    return bank


def reviewed(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found if "review" in hit.why]


def test_recently_used_memories_are_selected(herons: Bank, clock: HandClock) -> None:
    herons.touch("due1")
    yesterday = clock.now - timedelta(days=1)
    assert ids(herons.recall("nests", used_since=yesterday)) == ["due1"]
    assert herons.count(used_since=yesterday) == 31
    assert "due1" in {memory.id for memory in herons.list(used_since=yesterday, tags=["bird"])}
    assert herons.count(used_since=clock.now - timedelta(days=9)) == 34


def test_recall_without_faded_memories_has_as_many_hits(herons: Bank, clock: HandClock) -> None:
    clock.move(days=30)
    books = [f"book{number}" for number in range(3)]
    for book in books:
        herons.remember(f"Herons are grey, says {book}.", id=book)
    for k in (1, 2, 3, 10):
        for policy in ("hybrid", "decay", "similarity"):
            found = herons.recall("heron mill report nests", k=k, least_retention=0.5, policy=policy)
            assert set(books) >= set(ids(found))
            assert len(found) == min(k, 3)
    herons.touch("due0", accesses=20)
    assert ids(herons.recall("heron nests", k=1, least_retention=4.0)) == ["due0"]
    assert sorted(shown(walk(herons, "heron mill", 2, least_retention=0.5))) == [*books, "due0"]


def test_due_memories_come_beside_the_answers(herons: Bank, clock: HandClock) -> None:
    question = "Where was the heron seen at the mill?"
    plain, found = herons.recall(question, k=6), herons.recall(question, k=6, review=True)
    assert (reviewed(plain), reviewed(found)) == ([], ["due0", "due1"])
    assert [id for id in ids(found) if id not in reviewed(found)] == ids(plain)
    assert ["review" in hit.why for hit in found] == [False, False, True, False, False, True, False, False]
    assert all(0 < hit.why["review"] <= 1 for hit in found if "review" in hit.why)
    walked = shown(walk(herons, "heron mill", 5, review=0.6))
    assert len(walked) == len(set(walked)) == 34
    # They pass every filter and have to do with the question.
    assert "bread" not in reviewed(herons.recall("heron report", k=4, review=1.0))
    assert reviewed(herons.recall("heron report", k=4, review=1.0, since="2026-03-09")) == []
    assert reviewed(herons.recall("heron", k=4, review=0.0)) == []
    birds = herons.recall("heron nests", k=1, review=1.0, tags="bird")
    assert (len(birds), len(reviewed(birds))) == (2, 1)
    assert reviewed(herons.recall("heron nests", k=3, review=1.0, tags="bird")) == []
    # They fit into the tokens that are left.
    whole = herons.recall("heron mill", k=4, review=True)
    assert len(whole) == 6
    tokens = sum(len(hit.memory.text) // 3 for hit in whole if "review" not in hit.why)
    assert len(herons.recall("heron mill", k=4, review=True, budget_tokens=tokens)) < 6
    for values in ({"review": 1.5}, {"review": "yes"}, {"least_retention": -1}, {"used_since": "soon"}):
        with pytest.raises(InputError) as caught:
            herons.recall("heron", **values)
        assert caught.value.parameter == next(iter(values))
    clock.move(days=300)
    for question in ("heron", "sourdough"):
        assert ids(herons.recall(question, k=10, review=True)) == ids(herons.recall(question, k=10))
    assert ids(herons.recall("zebra", review=True)) == ids(herons.recall("", review=1.0)) == []


def test_memories_that_upkeep_keeps_are_never_due(herons: Bank) -> None:
    def due() -> list[str]:
        return reviewed(herons.recall("Where was the heron seen at the mill?", k=6, review=True))

    herons.link("new0", "due0", DRAWN_FROM)
    assert set(held(herons.upkeep.due())) == {"due1", "due2", "bread"}
    assert [herons.upkeep.curve(id).collected is None for id in ("due0", "due1")] == [True, False]
    assert due() == ["due1", "due2"]
    herons.pin("due1")
    values: list[dict[str, Any]] = [{"importance": 0.9}, {"importance": 0.5}, {"tier": "settled"}]
    for value in values:
        herons.update("due2", **value)
        assert due() == (["due2"] if value == {"importance": 0.5} else [])


@pytest.fixture
def apis(bank: Bank) -> Bank:
    bank.remember("We chose JWT for all APIs.", id="jwt", tags=["Security", "jwt"])
    bank.remember("The API has a backend.", id="api", tags=["api", "backend", "python"])
    bank.remember("Nobody gave it a tag.", id="bare")
    return bank


def test_reinforced_memories_grow_where_they_crossed_over(apis: Bank, clock: HandClock) -> None:
    clock.move(days=5)
    seq = apis.changes(last=1)[0].seq
    done = apis.upkeep.reinforce(["jwt", "api", "bare", "gone"], context_tags=["API", " Backend"])
    assert (done.count, done.crossings, done.reason) == (3, 1, None)
    assert [one.crossing for one in done.results] == [True, False, False, False]
    jwt, api, bare, gone = done.results
    assert jwt.before is not None and jwt.after is not None and api.after is not None and bare.after is not None
    assert (jwt.before.score, jwt.after.score) == pytest.approx((0.371, 2**0.6 * 1.1), abs=0.001)
    assert [one.memory.strength for one in (jwt.after, api.after, bare.after)] == [1.1, 1.0, 1.0]
    assert gone.missing is not None and gone.after is None
    used = apis.usage(["jwt", "api"])
    assert [(one.accesses, one.reviews, one.crossings) for one in used.values()] == [(1, 1, 1), (1, 1, 0)]
    assert apis.changes(last=1)[0].seq == seq + 1, "usage and strength come in one change"
    apis.remove("api")
    newer = apis.revise("jwt", text="JWT, rotated daily.").id
    removed, revised, new = apis.upkeep.reinforce(["api", "jwt", newer]).results
    assert "removed" in str(removed.missing) and newer in str(revised.missing) and new.missing is None
    with pytest.raises(InputError):
        apis.upkeep.reinforce([])


def test_settings_limit_strength_and_turn_reinforcing_off(opened: Opened, apis: Bank) -> None:
    for _ in range(12):
        last = apis.upkeep.reinforce("jwt", boost=True).results[0].after
    assert last is not None and last.memory.strength == 2.0
    other = opened(crossing_boost=0.4)
    other.touch("api", boost=True)
    assert [one.memory.strength for one in other.upkeep.retained(["api", "jwt"]).values()] == [1.4, 2.0]
    off = opened(reinforce=False)
    done = off.upkeep.reinforce(["bare"], context_tags=["api"], boost=True)
    assert (done.count, done.results, done.reason) == (0, (), "the setting reinforce is off")
    assert off.usage("bare")["bare"].accesses == 0
    assert off.upkeep.review("bare").count == 1


def test_memories_that_will_be_forgotten_soon_are_due(apis: Bank, clock: HandClock) -> None:
    for id, values in (("pinned", {"pinned": True}), ("drawer", {"kind": "drawer"}), ("top", {"importance": 0.9})):
        apis.remember(id, id=id, **values)
    apis.upkeep.promote("bare")
    assert apis.upkeep.due() == ()
    clock.move(days=3)
    apis.touch("api")
    clock.move(days=5)
    assert held(apis.upkeep.due()) == ["jwt"]
    clock.move(days=6)
    assert (held(apis.upkeep.due()), held(apis.upkeep.due(1))) == (["api", "jwt"], ["api"])
    [reviewed] = apis.upkeep.review("api").results
    assert reviewed.after is not None and reviewed.after.used.reviews == 1
    assert held(apis.upkeep.due()) == ["jwt"]
    clock.move(days=100)
    assert "jwt" not in held(apis.upkeep.due())


def test_curve_forecasts_review_and_forgetting(apis: Bank, clock: HandClock) -> None:
    written = micros(clock.now)
    clock.move(days=10)
    curve = apis.upkeep.curve("jwt")
    days = [at and (at - written) / DAY for at in (curve.review_from, curve.review_to, curve.collected)]
    assert days == pytest.approx([5.46, 15.8, 48.6], abs=0.05)
    assert (curve.now.score, curve.now.urgency, curve.promotion) == pytest.approx((0.223, 0.93, None), abs=0.01)
    scores = [score for _, score in curve.points]
    assert scores == sorted(scores, reverse=True)
    assert (scores[0], scores[-1]) == pytest.approx((1.0, 0.05), abs=0.001)
    clock.now += timedelta(microseconds=(curve.collected or 0) - micros(clock.now) + 1)
    assert "jwt" in held(apis.upkeep.gc().faded)
    apis.pin("jwt")
    assert apis.upkeep.curve("jwt").collected is None
    apis.touch("api", accesses=24)
    assert apis.upkeep.curve("api").promotion == "strong"
    with pytest.raises(NotFoundError):
        apis.upkeep.curve("gone")


USES: dict[str, Callable[[Bank, str], object]] = {
    "touch": lambda bank, id: bank.touch(id),
    "review": lambda bank, id: bank.upkeep.review(id),
    "reinforce": lambda bank, id: bank.upkeep.reinforce(id),
    "recall": lambda bank, id: (bank.recall(id), bank.sync()),
}


@pytest.mark.parametrize("how", USES)
def test_uses_on_several_days_last_longer_than_at_once(opened: Opened, clock: HandClock, how: str) -> None:
    bank = opened(decay_spacing=1.0, count_uses=True)
    for id in ("heron", "stork"):
        bank.remember(id, id=id)
    for _ in range(4):
        clock.move(days=3)
        USES[how](bank, "heron")
    for _ in range(4):
        USES[how](bank, "stork")
    kept = bank.upkeep.retained(["heron", "stork"]).values()
    assert [one.used.accesses for one in kept] == [4, 4]
    assert [one.lasting for one in kept] == pytest.approx([3.0, 1.8], abs=0.001)
    clock.move(days=100)
    assert held(bank.upkeep.gc(threshold=0.15).faded) == ["stork"]
    assert len({one.score for one in opened().upkeep.retained(["heron", "stork"]).values()}) == 1
