"""Counts and checks: of the right banks, and without any remembered text."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Host, Refused, requirement

from pieria.bank import Bank


@requirement("stats.banks", "stats.counts")
def test_stats_count_all_banks_together_and_each_by_itself(ask: Ask, host: Host) -> None:
    other = host.having(bank_name="other")
    ask("mnemosyne_remember", content="One.", source="call", extract=True)
    ask("mnemosyne_remember", content="Maya lives in Berlin.", source="call", extract=True)
    ask("mnemosyne_remember", at=other, content="Two.", source="letter")
    stats = ask("mnemosyne_get_stats")["stats"]
    assert (stats["total_memories"], stats["banks"]) == (3, ["notes", "other"])
    assert stats["sources"] == {"call": 2, "letter": 1}
    assert stats["bytes"] == sum(each["bytes"] for each in stats["by_bank"].values()) > 0
    assert stats["by_bank"]["notes"]["beam"]["triples"]["total"] == stats["beam"]["triples"]["total"] == 1
    assert stats["beam"]["working_memory"]["unconsolidated"] == 3
    ask("mnemosyne_remember", content="Between us.", scope="session")
    stats = ask("mnemosyne_get_stats", at=host.having(session="tuesday"))["stats"]
    assert stats["total_memories"] == 3, "memories of other sessions are not counted"


@requirement("stats.counts")
def test_each_count_is_asked_for_once(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("mnemosyne_remember", content="One.")
    asked: list[str] = []
    for verb in ("stats", "count"):
        counting = getattr(Bank, verb)

        def noted(bank: Bank, counting: Any = counting, **values: Any) -> Any:
            asked.append(repr((counting.__name__, values)))
            return counting(bank, **values)

        monkeypatch.setattr(Bank, verb, noted)
    ask("mnemosyne_get_stats")
    assert len(asked) == len(set(asked)) == 5


@requirement("stats.banks")
def test_named_bank_is_counted_alone_within_reach(ask: Ask, refused: Refused, host: Host) -> None:
    ask("mnemosyne_remember", content="One.")
    ask("mnemosyne_remember", at=host.having(bank_name="other"), content="Two.")
    reply = ask("mnemosyne_stats", bank="other")
    assert (reply["bank"], reply["stats"]["banks"], reply["stats"]["total_memories"]) == ("other", ["other"], 1)
    reply = ask("mnemosyne_get_stats", at=host.having(is_named=True))
    assert (reply["bank"], reply["stats"]["banks"]) == ("notes", ["notes"])
    assert "bank" not in ask("mnemosyne_get_stats")
    confined = host.having(covers=lambda name: name == "notes")
    assert ask("mnemosyne_get_stats", at=confined)["stats"]["banks"] == ["notes"]
    assert refused("mnemosyne_get_stats", at=confined, bank="other")["error"]["code"] == "access"
    assert refused("mnemosyne_get_stats", bank="x")["error"]["hint"].startswith("Banks here: notes, other.")


@requirement("stats.banks")
def test_file_that_is_no_bank_is_noted_and_left_out(ask: Ask, refused: Refused, host: Host, tmp_path: Path) -> None:
    ask("mnemosyne_remember", content="One.")
    (tmp_path / "data" / "junk.db").write_bytes(b"junk" * 2_000)
    reply = ask("mnemosyne_get_stats")
    assert (reply["stats"]["banks"], reply["stats"]["total_memories"]) == (["notes"], 1)
    [warning] = reply["warnings"]
    assert "bank junk" in warning and str(tmp_path) not in warning
    refused("mnemosyne_get_stats", bank="junk")
    refused("mnemosyne_get_stats", at=host.having(bank_name="junk"))


def entries(reply: Any) -> dict[str, Any]:
    return {entry["check"]: entry for entry in reply["entries"]}


@requirement("diagnose.checks")
def test_sound_bank_passes_and_damage_fails_with_a_remedy(ask: Ask, host: Host, tmp_path: Path) -> None:
    ask("mnemosyne_remember", content="One.")
    reply = ask("mnemosyne_diagnose")
    assert (reply["checks_failed"], reply["fixable"]) == (0, [])
    assert reply["checks_total"] == reply["checks_passed"] == len(reply["entries"])
    assert all(entry["category"] != "other" for entry in reply["entries"])
    assert reply["settings"]["durability"] == "environment PIERIA_DURABILITY"
    for place in ("Berlin", "Porto"):
        ask("mnemosyne_triple_add", subject="Maya", predicate="studies_in", object=place)
    host.bank.facts.declare("studies_in")
    entry = entries(ask("mnemosyne_diagnose"))["conflicts"]
    assert (entry["status"], "mnemosyne_triple_query" in entry["remedy"]) == ("fail", True)
    with sqlite3.connect(tmp_path / "data" / "notes.db") as connection:
        connection.execute("DELETE FROM terms")
    reply = ask("mnemosyne_diagnose")
    assert reply["checks_failed"] >= 2
    assert {entries(reply)[one["check"]]["status"] for one in reply["fixable"]} == {"fail"}


@requirement("diagnose.private")
def test_no_word_of_a_memory_and_no_place_is_shown(ask: Ask, host: Host, tmp_path: Path) -> None:
    ask("mnemosyne_remember", content="Zanzibar crabapple.", author_id="Quentin", source="Xylophone")
    ask("mnemosyne_triple_add", subject="Quentin", predicate="likes", object="crabapple")
    ask("mnemosyne_scratchpad_write", content="Ulysses.")
    told = str(ask("mnemosyne_diagnose"))
    for word in ("Zanzibar", "crabapple", "Quentin", "Xylophone", "Ulysses", str(tmp_path), str(Path.home())):
        assert word not in told
