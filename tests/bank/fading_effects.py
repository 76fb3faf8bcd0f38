"""The effects of the settings of fading: what a memory's retention becomes under two values each."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank

Seen = Callable[[Path, Any], object]


def lived(folder: Path, **settings: Any) -> Bank:
    """Return a bank with one note used once, ten days ago, and one used three times, three days apart."""
    clock = HandClock()
    bank = pieria.open("b", data=folder, settings=settings, clock=clock)
    bank.remember("heron", id="once", tags=["bird"])
    bank.remember("stork", id="spaced")
    for _ in range(3):
        clock.move(days=3)
        bank.touch("spaced")
    bank.touch("once")
    clock.move(days=10)
    return bank


def told(what: Callable[[Bank], Any], **beside: Any) -> Callable[[str], Seen]:
    def seen(setting: str, folder: Path, value: Any) -> object:
        with lived(folder, **beside, **{setting: value}) as bank:
            return what(bank)

    return lambda setting: partial(seen, setting)


def left(id: str = "once", **beside: Any) -> Callable[[str], Seen]:
    return told(lambda bank: round(bank.upkeep.retained(id)[id].score, 2), **beside)


def collected(bank: Bank) -> list[str]:
    return [one.memory.id for one in bank.upkeep.gc().faded]


def due(bank: Bank) -> list[str]:
    return [one.memory.id for one in bank.upkeep.due()]


def promoted(bank: Bank) -> list[str]:
    return [one.memory.id for one in bank.upkeep.promote(dry_run=True).promoted]


def reviewed(bank: Bank) -> list[str]:
    bank.remember("heron again")
    return [hit.memory.id for hit in bank.recall("heron", k=1, review=True) if "review" in hit.why]


def crossed(bank: Bank) -> float:
    [one] = bank.upkeep.reinforce("once", context_tags=["fish"]).results
    assert one.after is not None
    return one.after.memory.strength


_OUTCOMES: dict[str, tuple[Callable[[str], Seen], dict[Any, object]]] = {
    "decay_model": (left(), {"power_law": 0.34, "exponential": 0.15, "two_component": 0.17}),
    "decay_halflife_days": (left(), {3.0: 0.34, 30.0: 1.14}),
    "decay_alpha": (left(), {1.1: 0.34, 3.0: 0.23}),
    "decay_lambda": (left(decay_model="exponential"), {2.673e-6: 0.15, 1e-6: 0.64}),
    "decay_lambda_fast": (left(decay_model="two_component"), {1.603e-5: 0.17, 1e-6: 0.62}),
    "decay_lambda_slow": (left(decay_model="two_component"), {1.147e-6: 0.17, 1e-7: 0.42}),
    "decay_weight_fast": (left(decay_model="two_component"), {0.7: 0.17, 0.1: 0.51}),
    "decay_beta": (left(), {0.6: 0.34, 0.0: 0.22}),
    "decay_halflives": (left(), {None: 0.34, "bird=10": 0.76, "note=5": 0.5}),
    "decay_spacing": (left("spaced"), {0.0: 0.51, 1.0: 0.98}),
    "forget_threshold": (told(collected), {0.05: [], 0.4: ["once"], 0.9: ["once", "spaced"]}),
    "promote_threshold": (told(promoted), {0.65: [], 0.5: ["spaced"]}),
    "promote_uses": (told(promoted, promote_days=30), {5: [], 3: ["spaced"]}),
    "promote_days": (told(promoted, promote_uses=3), {14.0: [], 30.0: ["spaced"]}),
    "review_from": (told(due), {0.15: ["once"], 0.34: []}),
    "review_to": (told(due), {0.35: ["once"], 0.3: [], 0.9: ["spaced", "once"]}),
    "review_share": (told(reviewed), {0.0: [], 0.3: ["once"]}),
    "reinforce": (told(lambda bank: bank.upkeep.reinforce("once").count), {True: 1, False: 0}),
    "crossing_boost": (told(crossed), {0.1: 1.1, 0.5: 1.5}),
}
FADES = {name: (seen(name), outcomes) for name, (seen, outcomes) in _OUTCOMES.items()}
OF_MNEMEX = {
    "cluster_threshold", "cluster_most", "duplicate_threshold", "preview_chars", "search_by_meaning",
    "short_term_weight", "long_term_weight", "vault", "vault_folder",
}  # fmt: skip
"""Settings with an effect in the toolset alone. Its tests show the effect."""
