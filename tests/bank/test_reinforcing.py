"""What was of use is reinforced, what is due is told, and a curve says what comes of a memory that nobody uses."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.contract.making import HandClock

from pieria.bank import Bank
from pieria.errors import InputError, NotFoundError
from pieria.record.decay import DAY
from pieria.record.time import micros


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    found: Bank = opened()
    found.remember("We chose JWT for all APIs.", id="jwt", tags=["Security", "jwt"])
    found.remember("The API has a backend.", id="api", tags=["api", "backend", "python"])
    found.remember("Nobody gave it a tag.", id="bare")
    return found


def test_what_was_of_use_is_counted_and_grows_where_it_crossed_over(bank: Bank, clock: HandClock) -> None:
    clock.move(days=5)
    seq = bank.changes(last=1)[0].seq
    done = bank.upkeep.reinforce(["jwt", "api", "bare", "gone"], context_tags=["API", " Backend"])
    assert (done.count, done.crossings, done.reason) == (3, 1, None)
    assert [one.crossing for one in done.results] == [True, False, False, False]
    jwt, api, bare, gone = done.results
    assert jwt.before is not None and jwt.after is not None and api.after is not None and bare.after is not None
    assert (jwt.before.score, jwt.after.score) == pytest.approx((0.371, 2**0.6 * 1.1), abs=0.001)
    assert [one.memory.strength for one in (jwt.after, api.after, bare.after)] == [1.1, 1.0, 1.0]
    assert gone.missing is not None and gone.after is None
    used = bank.usage(["jwt", "api"])
    assert [(one.accesses, one.reviews, one.crossings) for one in used.values()] == [(1, 1, 1), (1, 1, 0)]
    assert bank.changes(last=1)[0].seq == seq + 1, "usage and strength come in one change"
    assert bank.get("jwt") is not None


def test_strength_grows_to_its_most_and_by_what_the_setting_says(opened: Callable[..., Bank], bank: Bank) -> None:
    for _ in range(12):
        last = bank.upkeep.reinforce("jwt", boost=True).results[0].after
    assert last is not None and last.memory.strength == 2.0
    other: Bank = opened(crossing_boost=0.4)
    other.touch("api", boost=True)
    assert [one.memory.strength for one in other.upkeep.retained(["api", "jwt"]).values()] == [1.4, 2.0]


def test_where_reinforcing_is_off_it_is_said_and_nothing_is_changed(opened: Callable[..., Bank], bank: Bank) -> None:
    other: Bank = opened(reinforce=False)
    done = other.upkeep.reinforce(["jwt"], context_tags=["api"], boost=True)
    assert (done.count, done.results, done.reason) == (0, (), "the setting reinforce is off")
    assert other.usage("jwt")["jwt"].accesses == 0
    assert other.upkeep.review("jwt").count == 1


def test_what_was_removed_is_not_reinforced_and_the_reason_told(bank: Bank) -> None:
    bank.remove("api")
    newer = bank.revise("jwt", text="JWT, rotated daily.").id
    done = bank.upkeep.reinforce(["api", "jwt", newer])
    assert [one.missing is None for one in done.results] == [False, False, True]
    assert "removed" in str(done.results[0].missing) and newer in str(done.results[1].missing)


def test_what_is_due_is_what_may_be_forgotten_and_soon_will_be(bank: Bank, clock: HandClock) -> None:
    bank.remember("pinned", id="pinned", pinned=True)
    bank.remember("a drawer", id="drawer", kind="drawer")
    bank.remember("important", id="important", importance=0.9)
    bank.upkeep.promote("bare")
    assert bank.upkeep.due() == ()
    clock.move(days=3)
    bank.touch("api")
    clock.move(days=5)
    assert [one.memory.id for one in bank.upkeep.due()] == ["jwt"]
    clock.move(days=6)
    assert [one.memory.id for one in bank.upkeep.due()] == ["api", "jwt"]
    assert [one.memory.id for one in bank.upkeep.due(1)] == ["api"]
    [reviewed] = bank.upkeep.review("api").results
    assert reviewed.after is not None and reviewed.after.used.reviews == 1
    assert [one.memory.id for one in bank.upkeep.due()] == ["jwt"]
    clock.move(days=100)
    assert "jwt" not in {one.memory.id for one in bank.upkeep.due()}


def test_a_curve_says_when_a_review_is_due_and_when_it_is_forgotten(bank: Bank, clock: HandClock) -> None:
    written = micros(clock.now)
    clock.move(days=10)
    curve = bank.upkeep.curve("jwt")
    days = [
        None if at is None else (at - written) / DAY for at in (curve.review_from, curve.review_to, curve.collected)
    ]
    assert days == pytest.approx([5.46, 15.8, 48.6], abs=0.05)
    assert (curve.now.score, curve.now.urgency, curve.promotion) == pytest.approx((0.223, 0.93, None), abs=0.01)
    assert [score for _, score in curve.points] == sorted((score for _, score in curve.points), reverse=True)
    assert curve.points[0][1] == 1.0 and curve.points[-1][1] == pytest.approx(0.05, abs=0.001)
    clock.now += timedelta(microseconds=(curve.collected or 0) - micros(clock.now) + 1)
    assert "jwt" in {one.memory.id for one in bank.upkeep.gc().faded}
    bank.pin("jwt")
    assert bank.upkeep.curve("jwt").collected is None
    bank.touch("api", accesses=24)
    assert bank.upkeep.curve("api").promotion == "strong"


def test_a_memory_that_is_not_there_has_no_curve(bank: Bank) -> None:
    with pytest.raises(NotFoundError):
        bank.upkeep.curve("gone")
    with pytest.raises(InputError):
        bank.upkeep.reinforce([])


@pytest.mark.parametrize("how", ["touch", "review", "reinforce", "recall"])
def test_uses_on_several_days_make_it_last_longer_than_as_many_at_once(
    opened: Callable[..., Bank], clock: HandClock, how: str
) -> None:
    bank: Bank = opened(decay_spacing=1.0, count_uses=True)

    def use(id: str) -> None:
        if how == "recall":
            bank.recall(id)
            bank.sync()
        else:
            (bank.touch if how == "touch" else getattr(bank.upkeep, how))(id)

    bank.remember("heron", id="heron")
    bank.remember("stork", id="stork")
    for _ in range(4):
        clock.move(days=3)
        use("heron")
    for _ in range(4):
        use("stork")
    kept = bank.upkeep.retained(["heron", "stork"])
    assert [one.used.accesses for one in kept.values()] == [4, 4]
    assert [one.lasting for one in kept.values()] == pytest.approx([3.0, 1.8], abs=0.001)
    clock.move(days=100)
    assert [one.memory.id for one in bank.upkeep.gc(threshold=0.15).faded] == ["stork"]
    plain: Bank = opened()
    assert len({one.score for one in plain.upkeep.retained(["heron", "stork"]).values()}) == 1


def test_what_is_retained_comes_in_the_order_asked_from_the_bank_and_from_what_is_the_users(bank: Bank) -> None:
    mine = bank.remember("I like tea.", scope="user").id
    asked = ["bare", mine, "jwt"]
    assert [*bank.upkeep.retained(asked)] == [*bank.usage(asked)] == asked
