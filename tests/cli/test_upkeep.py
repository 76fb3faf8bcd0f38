"""`pieria upkeep`, as a person and a script use it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.cli.conftest import Ask

from pieria import Bank
from pieria.graph import Changeset, Semantic, Tag

LONG_AGO = datetime(2024, 3, 2, tzinfo=UTC)


@pytest.fixture
def talk(bank: Bank) -> Bank:
    bank.remember_many(
        [
            {
                "text": f"Heron number {n} nests by the mill.",
                "id": f"h{n}",
                "kind": "turn",
                "session": "s",
                "author": "Maya",
                "at": LONG_AGO + timedelta(minutes=n),
            }
            for n in range(5)
        ]
    )
    return bank


def test_sleep_is_shown_then_done(ask: Ask, talk: Bank) -> None:
    shown = ask("upkeep", "sleep", "--dry-run")
    assert shown.json["consolidated"] == 5
    assert talk.count(kinds="summary") == 0
    told = ask("upkeep", "sleep", "--dry-run", "--no-json").out
    assert "would summarize 5 of" in told
    assert " ".join(shown.json["summaries"][0]["text"].split()) in " ".join(told.split())
    done = ask("upkeep", "sleep")
    assert done.json["summaries"] == shown.json["summaries"]
    assert ask("upkeep", "sleep", "-q").out == ""


def test_collection_is_a_dry_run_by_default(ask: Ask, bank: Bank) -> None:
    bank.remember("a passing remark", id="r")
    assert ask("upkeep", "gc", "--threshold", "1").json["dry_run"] is True
    assert "would be removed" in ask("upkeep", "gc", "--threshold", "1", "--no-json").out
    assert ask("upkeep", "gc", "--threshold", "0").json["faded"] == []


def test_ids_are_promoted_and_wrong_options_refused(ask: Ask, bank: Bank) -> None:
    bank.remember("worth keeping", id="w")
    assert ask("upkeep", "promote", "w", "-q").out == "w\n"
    assert ask("upkeep", "promote", "--dry-run").json["promoted"] == []
    refused = ask("upkeep", "promote", "nobody")
    assert (refused.code, "nobody" in refused.err) == (1, True)
    for line in (["sleep", "--limit", "0"], ["gc", "--threshold", "2"], ["archive", "--limit", "x"]):
        assert ask("upkeep", *line).code == 2


def test_validation_exits_with_one_if_a_check_fails(ask: Ask, talk: Bank) -> None:
    assert ask("upkeep", "validate").code == 0
    [summary] = talk.upkeep.sleep().summaries
    for n in range(5):
        talk.remove(f"h{n}")
    found = ask("upkeep", "validate")
    assert found.code == 1
    assert [problem["id"] for problem in json.loads(found.out)["problems"]] == [summary.id]
    assert "some checks failed" in ask("upkeep", "validate", "--no-json").out
    assert ask("upkeep", "repair", "--dry-run").code == 1
    assert ask("upkeep", "repair").json["repaired"] == [summary.id]
    assert ask("upkeep", "validate", "--no-json").out.endswith("all checks passed\n")


def test_clusters_are_shown_and_merged_by_their_ids(ask: Ask) -> None:
    for text in ("Deploys run Fridays at noon.", "Deploys run Fridays at noon!", "Maya prefers tea."):
        ask("remember", text)
    assert "similarity 1.00" in ask("upkeep", "clusters", "--no-json").out
    [cluster] = ask("upkeep", "clusters", "-q").out.split()
    assert ask("upkeep", "duplicates").json["whole"] == 1
    assert ask("upkeep", "merge", cluster, "--dry-run").json["change"] is None
    merged = ask("upkeep", "merge", cluster, "--text", "Deploys run at noon.").json
    assert ask("get", merged["id"]).json["text"] == "Deploys run at noon."
    assert ask("upkeep", "clusters").json["clusters"] == []
    assert ask("undo", str(merged["change"])).code == 0
    assert ask("upkeep", "clusters", "-q").out.split() == [cluster]
    assert "cluster-of-nothing" in ask("upkeep", "merge", "cluster-of-nothing").err


def test_graph_is_kept_in_order(ask: Ask, bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([Tag(id="lonely", label="on nothing"), Semantic(id="a", proposition="So.")]))
    shown = ask("upkeep", "graph", "repair", "--dry-run").json
    assert shown["dry_run"] is True and shown["orphan_ids"] == ["lonely"]
    assert "nothing was changed" in ask("upkeep", "graph", "prune", "--dry-run", "--no-json").out
    assert ask("upkeep", "graph", "validate").json["orphaned"] == 1
    assert ask("upkeep", "graph", "prune", "--type", "episodic", "-q").out == "lonely\n"
    assert ask("upkeep", "graph", "consolidate").json["deleted"] == 0
    assert [memory.id for memory in bank.list(status="archived")] == ["lonely"]
