"""What a bank learns of a session by rules alone: facts, procedures, rewards and tags of written steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pieria
from pieria import Bank

ROOT = Path(__file__).parents[2]
STATED = [
    "In the merged sheet the newer row wins for Hansen and the older row wins for Ruiz",
    "The old mailer was replaced by the digest job",
    "Our reference for the claim is KL-77/2041",
    "The lock of a parcel is freed with release_parcel_lock(number)",
    "The upsert needs ON CONFLICT (parcel_no), otherwise a rerun doubles every parcel",
]
OUTPUT = [
    "1 failed, 12 passed in 3.2s",
    "FAILED tests/test_parcels.py::test_rerun - KeyError: 'zone'\n1 failed, 12 passed in 3.21s",
    "E   AssertionError: assert 3 == 4\n===== 1 failed in 0.1s =====",
    "Tests: 2 failed, 8 passed, 10 total",
]
SHIFT = [
    ("The backup of the ledger failed: no space left on device", "Listed the replication slots"),
    ("The slot of the old mailer keeps 180 GB of logs", "Ran pg_drop_replication_slot on it"),
    ("Disk usage fell to 29 %", "Started the backup again"),
    ("The backup is complete", "Wrote it in the log of the shift"),
    ("The alert fired in the drill and was resolved", "Tell Bea and the user"),
    ("Bea knows", "Closed the ticket"),
]


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("work", data=tmp_path) as bank:
        yield bank


def live(bank: Bank, goal: str, steps: list[tuple[str, str]]) -> None:
    with bank.session(goal=goal) as session:
        for observation, action in steps:
            session.append(observation=observation, action=action)


def texts(bank: Bank, kind: str) -> list[str]:
    return [memory.text for memory in bank.list(kinds=kind, limit=200)]


def test_session_of_the_readme_teaches_a_fact(work: Bank) -> None:
    shown = re.findall(r'session\.append\(observation="(.+?)", action="(.+?)"\)', (ROOT / "README.md").read_text())
    assert shown
    live(work, "Plan the trip", shown)
    assert any("Tokyo" in fact for fact in texts(work, "semantic"))


def test_reported_wish_is_a_fact_about_the_user(work: Bank) -> None:
    live(work, "Plan a cure", [("User says they prefer thermal baths without music", "Noted it")])
    assert texts(work, "semantic") == ["The user prefers thermal baths without music"]


def test_plain_statements_of_work_are_facts(work: Bank) -> None:
    live(work, "Import the parcels", [(said, "Went on") for said in STATED])
    assert set(STATED) <= set(texts(work, "semantic"))


def test_output_of_tests_is_no_fact(work: Bank) -> None:
    live(work, "Import the parcels", [(said, "Opened the test") for said in OUTPUT])
    assert texts(work, "semantic") == []


def test_rule_is_one_fact_and_no_procedure(work: Bank) -> None:
    live(work, "Import the parcels", [("Always run the dry run before an import.", "Noted it"), ("Fine", "Went on")])
    assert texts(work, "semantic") == ["Always run the dry run before an import."]
    assert texts(work, "procedural") == []


def test_only_the_step_that_mended_is_a_procedure(work: Bank) -> None:
    live(work, "Free the disk of the ledger", SHIFT)
    assert texts(work, "procedural") == ["Ran pg_drop_replication_slot on it"]
    [learnt] = work.list(kinds="procedural")
    assert learnt.body["return_score"] > 0.9


def test_tags_are_no_numbers_units_or_verbs(work: Bank) -> None:
    said = ["We call define_zones with 8 zones, otherwise zone 1 is lost.", "The plan is to call Ruiz about 180 GB."]
    live(work, "Import the parcels", [*SHIFT, *((each, "call define_zones(8)") for each in (*said, *STATED))])
    tags = {tag.casefold() for tag in texts(work, "tag")}
    assert {"hansen", "slot"} <= tags
    assert {"1", "8", "180", "gb", "call", "define", "otherwise"} & tags == set()


def test_how_to_is_answered_by_the_step_that_did_it(work: Bank) -> None:
    live(work, "Free the disk of the ledger", SHIFT)
    found = list(work.recall("How do I drop a replication slot?", k=5))
    assert "pg_drop_replication_slot" in found[0].memory.text
    assert all(hit.score < min(0.7, found[0].score) for hit in found if hit.memory.text.startswith("Disk usage"))
