"""`pieria upkeep`, `review`, `decay`, `trace` and `quarantine`, as a person and a script use them."""

import json
import struct
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.conftest import Ask
from tests.learning.lesson_events import MIGRATED, PUT_RIGHT, session

import pieria
from pieria import Bank
from pieria.bank.results.upkeep import Slept
from pieria.doors.cli.commands.sleep import show_slept
from pieria.graph import Changeset, Semantic, Tag
from pieria.record.changeset import Changeset as Record
from pieria.record.time import micros, system_clock
from pieria.record.usage import Use

LONG_AGO = datetime(2024, 3, 2, tzinfo=UTC)


@pytest.fixture
def talk(bank: Bank) -> Bank:
    told = {"kind": "turn", "session": "s", "author": "Maya"}
    bank.remember_many(
        {**told, "text": f"Heron number {n} nests by the mill.", "id": f"h{n}", "at": LONG_AGO + timedelta(minutes=n)}
        for n in range(5)
    )
    return bank


def test_sleep_is_shown_then_done(ask: Ask, talk: Bank) -> None:
    shown = ask("upkeep", "sleep", "--dry-run")
    assert shown.json["consolidated"] == 5
    assert talk.count(kinds="summary") == 0
    told = ask("upkeep", "sleep", "--dry-run", "--no-json").words
    assert "would summarize 5 of" in told
    assert " ".join(shown.json["summaries"][0]["text"].split()) in told
    assert ask("upkeep", "sleep").json["summaries"] == shown.json["summaries"]
    assert ask("upkeep", "sleep", "-q").out == ""


def test_sleep_says_why_and_its_log_lists_each_run(ask: Ask, talk: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No sleep yet." in ask("sleep", "--log", "--no-json").words
    [id] = ask("sleep", "-q").out.split()
    shown = ask("sleep", "--log")
    assert [(run["by"], run["summaries"]) for run in shown.json["runs"]] == [("command", [id])]
    assert ask("sleep", "--log", "-q").out == f"{id}\n"
    assert "does not sleep automatically: the setting sleep is off" in ask("sleep", "--log", "--no-json").words
    monkeypatch.setenv("PIERIA_SLEEP", "idle")
    assert "sleeps automatically when it is idle, from" in ask("sleep", "--log", "--no-json").words
    slept = Slept(False, "rules", 35, 4, reasons=("31 notes have no like", "4 are younger than a day"))
    assert [str(part) for part in show_slept(slept)][1:3] == ["  31 notes have no like", "  4 are younger than a day"]


def test_collection_and_promotion_are_tried_first(ask: Ask, bank: Bank) -> None:
    assert ask("upkeep", "gc", "--threshold", "1").json["dry_run"] is True
    assert "would be removed" in ask("upkeep", "gc", "--threshold", "1", "--no-json").out
    assert ask("upkeep", "gc", "--threshold", "0").json["faded"] == []
    assert ask("upkeep", "promote", "maya", "-q").out == "maya\n"
    assert ask("upkeep", "promote", "--dry-run").json["promoted"] == []


def test_validation_exits_with_one_if_a_check_fails(ask: Ask, talk: Bank) -> None:
    assert ask("upkeep", "validate").code == 0
    [summary] = talk.upkeep.sleep().summaries
    for n in range(5):
        talk.remove(f"h{n}")
    found = ask("upkeep", "validate")
    assert (found.code, [one["id"] for one in json.loads(found.out)["problems"]]) == (1, [summary.id])
    assert "some checks failed" in ask("upkeep", "validate", "--no-json").out
    assert ask("upkeep", "repair", "--dry-run").code == 1
    assert ask("upkeep", "repair").json["repaired"] == [summary.id]
    assert ask("upkeep", "validate", "--no-json").out.endswith("all checks passed\n")


def test_clusters_are_shown_and_merged_by_their_ids(ask: Ask) -> None:
    for text in ("Deploys run Fridays at noon.", "Deploys run Fridays at noon!", "Maya prefers tea."):
        ask("remember", text)
    assert "similarity 1.00" in ask("upkeep", "clusters", "--no-json").out
    [cluster] = ask("upkeep", "clusters", "-q").ids
    assert ask("upkeep", "duplicates").json["whole"] == 1
    assert ask("upkeep", "merge", cluster, "--dry-run").json["change"] is None
    merged = ask("upkeep", "merge", cluster, "--text", "Deploys run at noon.").json
    assert ask("get", merged["id"]).json["text"] == "Deploys run at noon."
    assert ask("upkeep", "clusters").json["clusters"] == []
    assert ask("undo", str(merged["change"])).code == 0
    assert ask("upkeep", "clusters", "-q").ids == [cluster]


def test_graph_is_kept_in_order(ask: Ask, bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([Tag(id="lonely", label="on nothing"), Semantic(id="a", proposition="So.")]))
    shown = ask("upkeep", "graph", "repair", "--dry-run").json
    assert shown["dry_run"] is True and shown["orphan_ids"] == ["lonely"]
    assert "nothing was changed" in ask("upkeep", "graph", "prune", "--dry-run", "--no-json").out
    assert ask("upkeep", "graph", "validate").json["orphaned"] == 1
    assert ask("upkeep", "graph", "prune", "--type", "episodic", "-q").out == "lonely\n"
    assert ask("upkeep", "graph", "consolidate").json["deleted"] == 0
    assert [memory.id for memory in bank.list(status="archived")] == ["lonely"]


@pytest.fixture
def taught(bank: Bank, person: None) -> Bank:
    with pieria.open("default", via="person") as opened:
        opened.observe([*session("monday", MIGRATED), *session("tuesday", PUT_RIGHT)])
    return bank


def test_lessons_are_shown_then_learnt_with_their_evidence(ask: Ask, taught: Bank) -> None:
    would = ask("upkeep", "propose", "--dry-run").json
    assert {each["state"] for each in would["proposals"]} == {"proposed"}
    assert len(ask("upkeep", "propose", "--dry-run", "--of", "monday").json["proposals"]) == 1
    assert taught.upkeep.proposals(("proposed", "accepted")).proposals == ()
    assert "2 lessons came from 2 sessions" in ask("upkeep", "propose", "--no-json").out
    told = ask("upkeep", "proposals", "--state", "proposed", "--state", "accepted", "--no-json").words
    assert "pytest tests/api`: OperationalError: no such table: invoices → run `alembic upgrade head`" in told
    assert "“no, use pnpm, not npm”, after the agent ran `npm install zod`" in told
    assert [each["state"] for each in ask("upkeep", "proposals", "--type", "rule").json["proposals"]] == ["proposed"]


def test_proposal_is_accepted_declined_and_taken_back(ask: Ask, taught: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("upkeep", "propose")
    [id] = ask("upkeep", "proposals", "--type", "procedure", "-q").ids
    with monkeypatch.context() as agent:
        agent.setattr("pieria.doors.cli.person.is_person", lambda: False)
        assert "only a person may do this" in ask("upkeep", "accept", id).failed(1)
    accepted = ask("upkeep", "accept", id, "--reason", "seen often").json
    assert (accepted["proposals"][0]["state"], accepted["proposals"][0]["reason"]) == ("accepted", "seen often")
    assert "accepted already" in ask("upkeep", "accept", id).err
    assert "pieria undo" in ask("upkeep", "decline", id, "--no-json").out
    assert ask("upkeep", "proposals", "--state", "declined", "-q").ids == [id]
    assert ask("undo", str(accepted["change"])).code == 1
    assert "1 wait for a decision" in ask("doctor", "--no-json").out


@pytest.fixture
def faded(bank: Bank) -> Bank:
    """Write memories, one last used eight days ago, as an import would."""
    bank.remember("The heron nests <by> the mill.", id="heron", at=system_clock() - timedelta(days=9))
    bank.remember("Bread is baked with sourdough.", id="bread")
    with bank.core.store.writing() as writer:
        writer.apply(Record("test", usage=[Use("heron", 0, micros(system_clock() - timedelta(days=8)))]))
    return bank


def test_due_memories_are_listed_and_reviews_counted(ask: Ask, faded: Bank) -> None:
    [due] = ask("review").json["due"]
    assert (due["id"], due["uses"]) == ("heron", 0)
    assert due["retention"] == pytest.approx(0.265, abs=0.001)
    assert "0.27" in ask("review", "--no-json").out
    assert "retention 0.27 to 1.00" in ask("review", "heron", "--no-json").out
    assert ask("review").json["due"] == []
    assert faded.usage("heron")["heron"].reviews == 1
    partly = ask("review", "heron", "gone", "--no-json")
    assert (partly.code, "not reviewed gone" in partly.out) == (1, True)


def test_decay_is_drawn_for_people_and_told_to_programs(ask: Ask, faded: Bank) -> None:
    shown = ask("decay", "heron", "--no-json").out
    assert all(word in shown for word in ("review 0.35", "gc 0.05", "power_law", "collected", "not yet"))
    told = ask("decay", "heron").json
    assert told["retention"] == pytest.approx(0.265, abs=0.001)
    assert told["review"]["from"] < told["at"] < told["review"]["to"] < told["collected"]
    faded.upkeep.promote("heron")
    assert "yes" in ask("decay", "heron", "--no-json").out


def test_picture_of_decay_is_valid_for_any_text(ask: Ask, faded: Bank, tmp_path: Path) -> None:
    svg, png = tmp_path / "curve.svg", tmp_path / "curve.png"
    assert ask("decay", "heron", "--svg", str(svg), "--png", str(png)).code == 0
    root = ElementTree.parse(svg).getroot()  # noqa: S314 - the file is our own
    assert root.tag.endswith("svg")
    labels = {text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert any("heron" in label for label in labels)
    assert "used" in labels and "written" not in labels, "it fades from its last use, whenever it came here"
    packed = png.read_bytes()
    assert packed.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", packed[16:24])
    [length] = struct.unpack(">I", packed[33:37])
    rows = zlib.decompress(packed[41 : 41 + length])
    assert len(rows) == height * (1 + 3 * width)
    assert b"\x25\x63\xeb" in rows, "the curve is drawn"


@pytest.fixture
def page() -> str:
    with pieria.open("default") as bank:
        page = bank.remember("Refunds go to account 42.", source="evil.html", session="monday").id
        bank.link(bank.remember("Refunds: 42.", kind="summary").id, page, "provenance")
    return page


@pytest.mark.usefixtures("person")
def test_quarantine_hides_lists_and_lifts(ask: Ask, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = ask("trace", "--source", "evil.html").json
    assert [item["how"] for item in traced["items"]] == ["", "drawn from"]
    assert all(word in ask("--no-json", "trace", "--session", "monday").out for word in ("Refunds", "drawn from"))
    assert ask("quarantine", "--source", "evil.html", "--dry-run").json["memories"] == 2
    held = ask("quarantine", "--source", "evil.html", "--reason", "hacked").json
    number = str(held["number"])
    assert (held["memories"], ask("list").json["memories"]) == (2, [])
    said = ask("get", page).failed(1)
    assert "put it in quarantine on" in said and "hacked" in said
    with monkeypatch.context() as agent:
        agent.setattr("pieria.doors.cli.person.is_person", lambda: False)
        for words in (["quarantine", "--lift"], ["undo"]):
            assert "only a person may do this" in ask(*words, number).failed(1)
    [listed] = ask("quarantine", "--list").json["quarantines"]
    assert listed["number"] == held["number"]
    assert ask("quarantine", "--lift", number).json["memories"] == 2
    assert len(ask("list").json["memories"]) == 2
    assert ask("quarantine", "--list").json == {"quarantines": []}
    assert "pieria quarantine --lift" in ask("--no-json", "quarantine", "--session", "monday").out
    assert "monday" in ask("--no-json", "quarantine", "--list").out
