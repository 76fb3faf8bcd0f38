"""Fading on real banks: each model and setting decides recall, collection and promotion."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contract.making import HandClock

import pieria
from pieria.bank import Bank


def left(bank: Bank, id: str) -> float:
    """Return the retention that recall reports."""
    [hit] = [hit for hit in bank.recall("heron", policy="decay") if hit.memory.id == id]
    return hit.why["retention"]


def collected(bank: Bank, **values: Any) -> dict[str, float]:
    return {one.memory.id: one.retained for one in bank.upkeep.gc(**values).faded}


def promoted(bank: Bank) -> list[str]:
    return [one.memory.id for one in bank.upkeep.promote(dry_run=True).promoted]


LEFT = {
    "power_law": {7: 0.293, 14: 0.167, 30: 0.081},
    "exponential": {7: 0.199, 14: 0.039, 30: 0.001},
    "two_component": {7: 0.150, 14: 0.075, 30: 0.015},
}
"""The expected retention after so many days."""


@pytest.mark.parametrize(("model", "days"), [(model, days) for model in LEFT for days in (7, 14, 30)])
def test_each_model_decides_what_recall_finds_and_what_is_collected_and_promoted(
    model: str, days: int, opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened(decay_model=model)
    bank.remember("The heron nests by the mill.", id="once")
    bank.remember("The heron eats frogs.", id="often")
    bank.touch("often", accesses=24)
    clock.move(days=days)
    kept = LEFT[model][days]
    assert left(bank, "once") == pytest.approx(kept, abs=0.001)
    assert left(bank, "often") == pytest.approx(min(1.0, kept * 25**0.6), abs=0.007)
    found = collected(bank)
    assert found.get("once", kept) == pytest.approx(kept, abs=0.001)
    assert [id for id, score in (("once", kept), ("often", kept * 25**0.6)) if score < 0.05] == sorted(found)[::-1]
    assert collected(bank, threshold=kept + 0.002).keys() >= {"once"}
    assert promoted(bank) == (["often"] if kept * 25**0.6 >= 0.65 or days <= 14 else [])


SETTINGS: dict[str, tuple[Any, float]] = {
    "decay_halflife_days": (10.0, 0.5),
    "decay_alpha": (4.0, 0.141),
    "decay_halflives": ("note=5, bird=10", 0.5),
}
"""The expected retention after ten days. It is 0.223 with default settings."""


@pytest.mark.parametrize("name", SETTINGS)
def test_each_number_of_the_power_law_counts(name: str, opened: Callable[..., Bank], clock: HandClock) -> None:
    value, kept = SETTINGS[name]
    bank = opened(**{name: value})
    bank.remember("The heron nests by the mill.", id="once", tags=["Bird"])
    clock.move(days=10)
    assert left(bank, "once") == pytest.approx(kept, abs=0.002)
    assert collected(bank, threshold=1.0) == {"once": pytest.approx(kept, abs=0.002)}


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"decay_model": "exponential", "decay_lambda": 1e-6}, 0.421),
        ({"decay_model": "two_component", "decay_weight_fast": 0.0}, 0.371),
        ({"decay_model": "two_component", "decay_lambda_slow": 1e-7}, 0.275),
        ({"decay_model": "two_component", "decay_lambda_fast": 1e-6}, 0.406),
    ],
)
def test_each_number_of_the_other_models_counts(
    settings: dict[str, Any], kept: float, opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened(**settings)
    bank.remember("The heron nests by the mill.", id="once")
    clock.move(days=10)
    assert left(bank, "once") == pytest.approx(kept, abs=0.001)


def test_use_counts_as_much_as_the_setting_says(opened: Callable[..., Bank], clock: HandClock) -> None:
    bank = opened(decay_beta=0.0)
    bank.remember("The heron nests by the mill.", id="often")
    bank.touch("often", accesses=24)
    clock.move(days=10)
    assert left(bank, "often") == pytest.approx(0.223, abs=0.001)


def test_what_is_collected_put_away_and_promoted_goes_by_the_settings(
    opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened(forget_threshold=0.25, promote_threshold=0.3, promote_uses=2, promote_days=20)
    bank.remember("never used", id="never")
    bank.remember("used once", id="once")
    bank.touch("once")
    clock.move(days=10)
    bank.remember("used twice", id="twice")
    bank.touch("twice", accesses=2)
    assert collected(bank).keys() == {"never"}
    assert {one.memory.id for one in bank.upkeep.archive(dry_run=True).faded} == {"never", "once"}
    assert promoted(bank) == ["once", "twice"]
    assert promoted(opened("notes", promote_uses=2)) == ["twice"]
    assert promoted(opened("notes")) == []


def test_what_is_new_is_not_promoted_for_that_nor_what_was_never_used(
    opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened()
    for number in range(3):
        bank.remember(f"trivia {number}", id=f"t{number}", strength=2.0)
    bank.touch(["t1", "t2"])
    for hours, expected in ((0, []), (23, []), (2, ["t1", "t2"])):
        clock.move(hours=hours)
        assert promoted(bank) == expected


def test_what_was_said_before_it_came_here_or_was_corrected_today_is_not_new(
    opened: Callable[..., Bank], clock: HandClock
) -> None:
    bank = opened()
    bank.remember("brought along", id="brought", at=clock().replace(year=clock().year - 1))
    bank.remember("corrected", id="corrected")
    clock.move(days=2)
    bank.update("corrected", text="corrected today")
    bank.touch(["brought", "corrected"])
    assert promoted(bank) == ["brought", "corrected"]


def test_to_put_away_is_no_use_and_to_put_into_other_words_is(opened: Callable[..., Bank], clock: HandClock) -> None:
    bank = opened()
    bank.remember("The heron nests by the mill.", id="one")
    bank.remember("The heron eats frogs.", id="other")
    bank.remember("The heron is grey.", id="newly", at=clock.now - timedelta(days=900))
    assert left(bank, "newly") == 1.0
    bank.touch("other")
    clock.move(days=30)
    bank.update("one", status="archived", tier="kept")
    bank.update("other", text="The heron eats frogs and fish.")
    clock.move(days=30)
    assert collected(bank, threshold=1.0) == {
        "one": pytest.approx(0.040, abs=0.001),
        "newly": pytest.approx(0.040, abs=0.001),
        "other": pytest.approx(0.081 * 2**0.6, abs=0.001),
    }


def test_doctor_tells_of_variables_that_mean_nothing_here(
    opened: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMEX_STORAGE_BACKEND", "sqlite")
    monkeypatch.setenv("CORTEXGRAPH_DECAY_MODEL", "exponential")
    diagnosis = opened().doctor()
    [finding] = [finding for finding in diagnosis.findings if finding.check == "environment"]
    assert (finding.well, finding.detail.split(":")[0]) == (True, "MNEMEX_STORAGE_BACKEND has no effect")
    assert diagnosis.settings["decay_model"] == ("exponential", "environment CORTEXGRAPH_DECAY_MODEL")


def test_a_store_of_mnemex_in_the_data_folder_is_told_of_and_not_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIERIA_DATA")
    monkeypatch.setenv("MNEMEX_STORAGE_PATH", str(tmp_path))
    (tmp_path / "memories.jsonl").write_text('{"id": "one", "content": "a note"}\n')
    for told in (1, 0):
        caplog.clear()
        with pieria.open("notes") as bank:
            assert bank.count() == 0
            [finding] = [finding for finding in bank.doctor().findings if finding.check == "import"]
        assert (finding.well, "--from mnemex" in str(finding.remedy)) == (True, True)
        assert [record.levelname for record in caplog.records] == ["WARNING"] * told
