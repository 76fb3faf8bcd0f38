"""The export of any bank, imported into an empty one, gives the same bank with its past."""

import json
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.transfer_life import STEPS, Clock, Dump, Life, Step, banks, dump, is_sound

from pieria.bank import Bank
from pieria.errors import PieriaError
from pieria.record.changeset import FOREVER
from pieria.record.memory import Memory

MODES = st.sampled_from(["skip", "merge", "replace"])
DAY = timedelta(days=1)


def lived(bank: Bank, clock: Clock, steps: list[Step]) -> Life:
    life = Life(bank, clock)
    life.live(steps)
    return life


def shown(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    return [{**memory.as_dict(), "row": None} for memory in memories]


def between_header_and_end(path: Path) -> list[bytes]:
    """Return the lines between header and end. The header holds the time of export, the end a digest of it."""
    return path.read_bytes().splitlines()[1:-1]


def last_states(found: Dump) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in found["state"] if row["known_until"] == FOREVER}


def states_of(found: Dump, id: str) -> list[dict[str, Any]]:
    return [{**row, "row": None} for row in found["state"] if row["id"] == id]


@given(STEPS)
def test_an_import_into_an_empty_bank_is_the_bank_again(steps: list[Step]) -> None:
    with banks() as (opens, folder, clock):
        bank, copy = opens("bank"), opens("copy")
        lived(bank, clock, steps)
        report = bank.export(folder / "out.jsonl")
        clock.now += DAY
        taken = copy.import_(folder / "out.jsonl", trusted=True)
        again = copy.export(folder / "again.jsonl")
        assert dump(copy) == dump(bank)
        assert between_header_and_end(folder / "again.jsonl") == between_header_and_end(folder / "out.jsonl")
        assert again.counts == report.counts
        assert taken.problem_count == 0
        assert is_sound(copy)


@pytest.mark.slow
@given(STEPS)
def test_the_past_of_the_copy_answers_as_that_of_the_original(steps: list[Step]) -> None:
    with banks() as (opens, folder, clock):
        bank, copy = opens("bank"), opens("copy")
        lived(bank, clock, steps)
        bank.export(folder / "out.jsonl")
        copy.import_(folder / "out.jsonl", trusted=True)
        assert copy.changes() == bank.changes()
        for change in bank.changes():
            listed, stated = [], []
            for each in (bank, copy):
                everything = ("removed", "revised", "invalid", "archived")
                listed.append(shown(each.list(known_at=change.at, include=everything)))
                stated.append(each.facts.query(known_at=change.at, history=True))
            assert listed[0] == listed[1]
            assert stated[0] == stated[1]
        for id in last_states(dump(bank)):
            assert shown(copy.history(id)) == shown(bank.history(id))
            assert copy.usage(id) == bank.usage(id)
        for question in ("the same again", "JWT", "kept"):
            found = [[(hit.memory.id, hit.score, hit.why) for hit in each.recall(question)] for each in (bank, copy)]
            assert found[0] == found[1]


@given(STEPS, MODES)
def test_a_second_import_changes_nothing(steps: list[Step], mode: str) -> None:
    with banks() as (opens, folder, clock):
        bank, other = opens("bank"), opens("other")
        lived(bank, clock, steps)
        bank.export(folder / "out.jsonl")
        other.remember("it holds something already")
        other.import_(folder / "out.jsonl", mode=mode, trusted=True)
        before = dump(other)
        report = other.import_(folder / "out.jsonl", mode=mode, trusted=True)
        assert dump(other) == before
        assert report.changes is None
        assert not any(report.added.values())
        assert not any(report.changed.values())
        assert is_sound(other)


@given(STEPS, STEPS, MODES)
def test_two_lives_of_one_bank_join_by_the_rules(shared: list[Step], apart: list[Step], mode: str) -> None:
    with banks() as (opens, folder, clock):
        bank, twin = opens("bank"), opens("twin")
        life, other = lived(bank, clock, shared), Life(twin, clock)
        bank.export(folder / "shared.jsonl")
        twin.import_(folder / "shared.jsonl", trusted=True)
        other.ids, other.links = list(life.ids), list(life.links)
        life.live(apart[::2])
        other.live(apart[1::2])
        before = dump(twin)
        bank.export(folder / "out.jsonl")
        clock.now += DAY
        rehearsed = twin.import_(folder / "out.jsonl", mode=mode, dry_run=True, trusted=True)
        assert dump(twin) == before
        report = twin.import_(folder / "out.jsonl", mode=mode, trusted=True)
        assert {**rehearsed.as_dict(), "dry_run": False} == report.as_dict()
        after = dump(twin)
        now = last_states(after)
        assert after["content"][: len(before["content"])] == before["content"]
        assert {row["id"] for row in before["purged"]} <= {row["id"] for row in after["purged"]}
        for id, state in last_states(before).items():
            assert now[id] == state or not (mode == "skip" or state["ended"])
        assert not any(row["id"] in now for row in after["purged"])
        assert is_sound(twin)


@given(STEPS, st.data())
def test_a_damaged_file_is_refused_or_leaves_out_whole_memories(steps: list[Step], data: st.DataObject) -> None:
    with banks() as (opens, folder, clock):
        bank, copy = opens("bank"), opens("copy")
        lived(bank, clock, steps)
        path = folder / "out.jsonl"
        bank.export(path)
        lines = path.read_bytes().splitlines(keepends=True)
        number = data.draw(st.integers(1, len(lines) - 2))
        instead = (b"{}\n", b"nonsense\n", b"\n", b'{"line":"state"}\n', lines[number] * 2, b"")
        lines[number] = data.draw(st.sampled_from(instead))
        path.write_bytes(b"".join(lines))
        with pytest.raises(PieriaError):
            copy.import_(path, trusted=True)
        assert dump(copy)["journal"] == []
        report = copy.import_(path, on_error="skip", trusted=True)
        assert report.problem_count > 0
        assert json.dumps(report.as_dict())
        whole, kept = dump(bank), dump(copy)
        for id in last_states(kept):
            assert states_of(kept, id) == states_of(whole, id)
        assert is_sound(copy)


@given(STEPS, st.data())
def test_a_file_that_was_cut_off_anywhere_is_refused(steps: list[Step], data: st.DataObject) -> None:
    with banks() as (opens, folder, clock):
        bank, copy = opens("bank"), opens("copy")
        lived(bank, clock, steps)
        path = folder / "out.jsonl"
        whole = bank.export(path).bytes
        path.write_bytes(path.read_bytes()[: data.draw(st.integers(0, whole - 2))])
        for on_error in ("stop", "skip"):
            with pytest.raises(PieriaError):
                copy.import_(path, on_error=on_error, trusted=True)
        assert dump(copy)["journal"] == []
