"""Reports on the bank's health: true counts, and checks that read only as much as requested."""

from collections.abc import Callable

import pytest
from tests.bank.kept import Kept

from pieria.bank import Bank
from pieria.errors import InputError


def test_stats_are_the_counts_one_by_one(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        for number in range(4):
            bank.remember(f"Heron {number}.", id=f"h{number}", kind="observation" if number else "note")
        bank.remember("Only here.", scope="session", session="planning")
        bank.remember("It held once.", valid_until="2020-01-01")
        bank.update("h0", text="Heron, anew.")
        bank.update("h1", status="archived", tier="kept")
        bank.remove("h2")
        newer = bank.revise("h3", text="Stork.")
        bank.link("h0", newer.id)
        bank.facts.add("Maya", "saw", "a heron")
        told = bank.stats()
        counts = {name: number for name, number in told.counts.items() if name not in ("links", "changes")}
        assert counts == {"memories": 5, "versions": 9, "removed": 1, "facts": 1, "purged": 0, "quarantined": 0}
        assert told.counts["links"] == len(bank.links()) > 0
        assert told.counts["changes"] == bank.changes(last=1)[0].seq
        assert told.by_kind == {"note": 3, "observation": 2}
        assert told.by_status == {"active": 4, "archived": 1}
        assert told.by_tier == {"working": 4, "kept": 1}
        assert told.by_scope == {"bank": 4, "session": 1}


def test_a_bank_beyond_what_is_to_be_read_is_told_of_at_a_glance(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        bank.remember("Heron.", id="h")
        bank.update("h", text="Heron, anew.")
        seen: list[tuple[int, int]] = []
        whole = bank.doctor(up_to=2, progress=lambda *step: seen.append(step))
        glance = bank.doctor(up_to=1, progress=lambda *step: pytest.fail(f"{step} was read"))
        assert (whole.thorough, glance.thorough) == (True, False)
        read = [one.check for one in whole.findings if one.check not in {each.check for each in glance.findings}]
        assert seen == [(done, len(read)) for done in range(1, len(read) + 1)]
        assert {"rows", "states", "journal", "passages", "jobs", "text index"} <= set(read)
        assert {"analyser", "purge", "embedder", "work", "clock"} <= {one.check for one in glance.findings}
        assert whole.well and glance.well and glance.as_dict()["thorough"] is False


def test_what_is_to_be_mended_is_read_whole(opened: Callable[..., Bank]) -> None:
    bank = opened()
    with pytest.raises(InputError, match="up_to"):
        bank.doctor(repair=True, up_to=10)
