"""Opening by id and version, hook settings, and reports on a bank's health."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import InputError, NotFoundError


def test_stats_count_one_by_one(kept: Kept) -> None:
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
        assert (told.by_kind, told.by_status) == ({"note": 3, "observation": 2}, {"active": 4, "archived": 1})
        assert (told.by_tier, told.by_scope) == ({"working": 4, "kept": 1}, {"bank": 4, "session": 1})


def test_doctor_reads_no_more_than_asked(kept: Kept) -> None:
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
        with pytest.raises(InputError, match="up_to"):
            bank.doctor(repair=True, up_to=10)


def test_id_that_ends_like_a_version_comes_before_the_version(bank: Bank) -> None:
    def text(reference: str, version: int | None = None) -> str | None:
        memory = bank.get(reference, version=version)
        return None if memory is None else memory.text

    bank.remember("first of k1", id="k1")
    bank.update("k1", text="second of k1")
    assert text("k1@1") == "first of k1"
    bank.remember("an id of its own", id="k1@1")
    assert text("k1@1") == "an id of its own"
    bank.update("k1@1", text="its second version")
    assert [text("k1", number) for number in (1, 2, 3)] == ["first of k1", "second of k1", None]
    assert [text("k1@1", number) for number in (1, 2)] == ["an id of its own", "its second version"]
    assert text("k1@2", 1) is None
    mine = bank.remember("mine", scope="user")
    assert text(mine.id, 1) == text(f"{mine.id}@1") == "mine"
    bank.remove("k1")
    assert bank.get("k1", version=2, include_removed=True) is not None


def test_unknown_ids_and_keywords_are_refused(bank: Bank) -> None:
    for act in (lambda: bank.history("no"), lambda: bank.remove("no"), lambda: bank.scratchpad.update("no", "x")):
        with pytest.raises(NotFoundError) as missing:
            act()
        assert " ids" in str(missing.value.hint)
    verbs: list[tuple[Callable[..., Any], tuple[str, ...], str]] = [
        (bank.recall, ("heron",), "pinned"), (bank.list, (), "colour"), (bank.count, (), "colour"),
        (bank.list_each, ("tags", "heron"), "colour"), (bank.update, ("id",), "colour"),
        (bank.revise, ("id",), "strength"),
    ]  # fmt: skip
    for verb, given, name in verbs:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            verb(*given, **{name: 2.0})


def test_hook_settings_and_checkpoints_are_kept(bank: Bank, clock: HandClock, tmp_path: Any) -> None:
    assert bank.hooks.last() is None
    assert bank.hooks.settings().as_dict() == {"silent_save": True, "desktop_toast": False}
    assert bank.hooks.set(desktop_toast=True).as_dict() == {"silent_save": True, "desktop_toast": True}
    before = bank.changes()
    bank.hooks.set(silent_save=True, desktop_toast=True)
    assert bank.changes() == before
    wrong: list[dict[str, Any]] = [{}, {"silent_save": "yes"}]
    for values in wrong:
        with pytest.raises(InputError):
            bank.hooks.set(**values)
    with pieria.open("notes", data=tmp_path, session="one", clock=clock) as one:
        assert one.hooks.settings().desktop_toast
        one.hooks.checkpoint(15)
        clock.move(hours=1)
        said = bank.hooks.checkpoint(3)
        assert one.hooks.last() == one.hooks.last() == said
        clock.move(hours=1)
        one.hooks.checkpoint(30)
        last = bank.hooks.last()
        assert last is not None and last.at == "2026-03-01T14:00:00Z"
        assert (last.session, last.messages) == ("one", 30)
        assert "one" not in str(one.changes()[-1].ids)
