"""Hidden text does not affect the scores of visible hits, by its meaning or its words."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.bank.background_queue import rested
from tests.properties.bank_values import START, WORDS, weights_of

import pieria
from pieria.bank import Bank
from pieria.bank.embedding.queue import Embedding
from pieria.recall.features import OWN_SHARE, RISE, WINDOW_SHARES
from pieria.record.time import micros, moment

MEANT = ("dense", "window", "rule_fit", "wish_fit")
SECRET = "The avocet is a physician, a doctor among avocets."
QUESTION = "which avocet is a doctor"
Opened = Callable[..., Bank]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    seconds = itertools.count()

    def clock() -> datetime:
        return START + timedelta(seconds=next(seconds))

    with pieria.Workspace(data=tmp_path, clock=clock, embedder="hashing") as workspace:
        yield workspace.open


def talk(bank: Bank, middle: str | None, inner: dict[str, Any] | None = None, **values: Any) -> None:
    """Remember four turns, or three if the one in the middle is None. `inner` holds for this one alone."""
    texts = ("The heron nests.", middle, "And the stork?", "Well.")
    bank.remember_many(
        [
            {"id": f"t{n}", "text": text, "kind": "turn", "session": "s", "sequence": n, **values}
            | (inner or {} if n == 1 else {})
            for n, text in enumerate(texts)
            if text is not None
        ]
    )
    assert bank.sync(20)


def meant(bank: Bank, **asked: Any) -> dict[str, dict[str, float]]:
    """Return each hit's reasons by meaning. Word frequencies of the whole bank are no secret."""
    found = bank.recall(QUESTION, k=50, **asked)
    return {hit.memory.id: {name: value for name, value in hit.why.items() if name in MEANT} for hit in found}


def guessed(shown: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the expected window score of each turn, from the dense scores of the visible turns alone."""
    turns = sorted(shown)
    found = {}
    for place, id in enumerate(turns):
        shares = {other: WINDOW_SHARES.get(abs(place - number), 0.0) for number, other in enumerate(turns)}
        shares[id] = OWN_SHARE
        near = sum(share * shown[other].get("dense", 0.0) for other, share in shares.items())
        found[id] = near / sum(shares.values()) * (1 + RISE)
    return found


def check_lends_nothing(bank: Bank, opened: Opened, **asked: Any) -> None:
    without = opened("without")
    if not without.count():
        talk(without, None)
    expected = meant(without)
    shown = meant(bank, **asked)
    assert shown.keys() == expected.keys() == {"t0", "t2", "t3"}
    for id, reasons in shown.items():
        assert reasons == pytest.approx(expected[id], abs=1e-6), (bank.name, id)


HIDING: Mapping[str, Callable[[Bank], object]] = {
    "removed": lambda bank: bank.remove("t1"),
    "purged": lambda bank: bank.purge("t1"),
    "private": lambda bank: bank.update("t1", scope="session"),
    "archived": lambda bank: bank.update("t1", status="archived"),
    "invalid": lambda bank: bank.invalidate("t1"),
    "not-yet-valid": lambda bank: bank.update("t1", valid_from="2026-06-01"),
}


def test_hidden_turn_lends_its_meaning_to_nobody(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the moment it is hidden, by another process too, and after the vectors are updated."""
    for (name, hide), by_other in itertools.product(HIDING.items(), (False, True)):
        bank = opened(f"{name}-{by_other}")
        talk(bank, SECRET)
        with_it = meant(bank)
        assert with_it["t0"]["window"] > 2 * with_it["t0"]["dense"]
        rested()
        if by_other:
            with monkeypatch.context() as patched:
                patched.setattr(bank.core.embedding, "catch_up", lambda most, seconds: None)
                with pieria.open(bank.name, data=tmp_path, settings={"embedder": "none"}, clock=bank.clock) as other:
                    hide(other)
                pending = bank.stats().pending
                shown = meant(bank)
                assert pending == bank.stats().pending != {}
            assert shown.keys() == {"t0", "t2", "t3"}
            # A turn without a window gets a score from itself and its visible neighbours.
            assert {id: reasons["window"] for id, reasons in shown.items()} == pytest.approx(guessed(shown)), name
        else:
            hide(bank)
        assert bank.sync(20)
        check_lends_nothing(bank, opened)


def test_private_turns_lend_nothing_to_others(opened: Opened) -> None:
    bank = opened("session")
    talk(opened("session", session="s"), SECRET, {"scope": "session"})
    assert "t1" in meant(opened("session", session="s"))
    check_lends_nothing(bank, opened)
    for question in (QUESTION, *WORDS):
        found = bank.recall(question, weights=weights_of("text"))
        assert not any("lexical" in hit.why for hit in found if "avocet" in question)
    assert len(bank.recall(QUESTION, weights={"dense": 0, "window": 0})) == 0
    bank = opened("channel", session="s", channel="one")
    talk(bank, SECRET, {"channel": "two"}, scope="session", channel="one")
    assert "t1" in meant(bank)
    check_lends_nothing(opened("channel", session="another", channel="one"), opened)


def test_turn_that_expires_lends_nothing_afterwards(opened: Opened) -> None:
    """Expiry writes nothing, so windows of lasting turns must never have held a turn that expires."""
    bank = opened("notes")
    talk(bank, SECRET, {"valid_until": "2026-03-05"})
    assert "t1" in meant(bank)
    check_lends_nothing(bank, opened, valid_at="2026-04-01")
    check_lends_nothing(bank, opened, valid_at="2026-04-01", status=("active", "promoted", "archived"))


def test_turn_shared_from_a_session_loses_its_old_window(opened: Opened) -> None:
    within = opened("notes", session="s")
    talk(within, SECRET, scope="session")
    with patch.object(Embedding, "catch_up", lambda *_: None), patch.object(Embedding, "step", lambda _: None):
        within.update("t0", scope="bank")
        shown = meant(opened("notes"))
    assert shown.keys() == {"t0"}
    assert shown["t0"].get("window", 0.0) == shown["t0"].get("dense", 0.0)


def test_window_of_the_past_holds_nothing_that_came_later(opened: Opened) -> None:
    bank = opened("notes")
    talk(bank, None)
    before = meant(bank)
    known = moment(max(micros(memory.known_from) for memory in bank.list()))
    bank.remember(SECRET, id="t1", kind="turn", session="s", sequence=1)
    assert bank.sync(20)
    assert meant(bank)["t0"]["window"] > 2 * before["t0"]["window"]
    then = meant(bank, known_at=known)
    assert then.keys() == before.keys()
    alone = guessed(then)
    for id, reasons in then.items():
        # If the old window was replaced, the score comes from the turns known at that time.
        assert reasons["dense"] == pytest.approx(before[id]["dense"], abs=1e-6)
        assert any(reasons["window"] == pytest.approx(value, abs=1e-6) for value in (before[id]["window"], alone[id]))
    by_window = bank.recall(QUESTION, known_at=known, weights=weights_of("window"))
    assert not any(hit.why.get("window", 0.0) > 0.1 for hit in by_window)
