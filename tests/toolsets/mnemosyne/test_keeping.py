"""Sleep, update, invalidate, forget: what they change, what they keep, and true reports."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host

TEXT = "Maya works on billing."


def said(ask: Ask, content: str = TEXT, **more: Any) -> str:
    id: str = ask("mnemosyne_remember", content=content, **more)["memory_id"]
    return id


def found(ask: Ask, query: str, **more: Any) -> list[str]:
    return [hit["content"] for hit in ask("mnemosyne_recall", query=query, **more)["results"]]


def notes(host: Host, **more: Any) -> list[str]:
    """Write three notes on one subject and return their ids."""
    texts = [f"The billing service answers invoice {number} of the billing team." for number in range(3)]
    return [host.bank.remember(text, entities=["billing"], **more).id for text in texts]


# --- sleep


@requirement("sleep.summarises")
def test_what_has_come_to_rest_is_summed_up_and_stays(ask: Ask, host: Host, clock: HandClock) -> None:
    ids = notes(host)
    clock.move(days=3)
    reply = ask("mnemosyne_sleep")
    result = reply["result"]
    assert (reply["status"], result["summaries_created"], result["items_consolidated"]) == ("consolidated", 1, 3)
    assert (result["method"], result["llm_used"]) == ("rules", False)
    assert sorted(result["consolidated_ids"]) == sorted(ids)
    assert (reply["working"]["consolidated"], reply["working"]["unconsolidated"]) == (3, 0)
    assert reply["episodic"]["summaries"] == 1
    hits = ask("mnemosyne_recall", query="billing service")["results"]
    assert {hit["id"] for hit in hits} >= set(ids)
    assert {hit["tier"] for hit in hits} == {"episodic"}


@requirement("sleep.summarises")
def test_a_sleep_that_finds_nothing_to_do_says_so(ask: Ask) -> None:
    said(ask)
    assert ask("mnemosyne_sleep")["status"] == "no_op"


@requirement("sleep.dry_run")
def test_a_dry_run_shows_the_very_texts_and_writes_nothing(ask: Ask, host: Host, clock: HandClock) -> None:
    notes(host)
    clock.move(days=3)
    before = host.bank.changes()
    preview = ask("mnemosyne_sleep", dry_run=True)["result"]["summaries"]
    assert host.bank.changes() == before
    assert ask("mnemosyne_sleep")["result"]["summaries"] == preview
    [summary] = host.bank.list(kinds="summary")
    assert summary.text == preview[0]["text"]


@requirement("sleep.bank")
def test_another_bank_is_put_to_sleep(ask: Ask, host: Host, clock: HandClock) -> None:
    notes(host.having(bank_name="other"))
    clock.move(days=3)
    assert ask("mnemosyne_sleep", dry_run=True)["result"]["summaries_created"] == 0
    reply = ask("mnemosyne_sleep", bank="other")
    assert (reply["bank"], reply["result"]["summaries_created"]) == ("other", 1)


@requirement("sleep.bank")
def test_a_bank_that_is_not_there_is_not_made(ask: Ask, refused: Refused) -> None:
    said(ask)
    error = refused("mnemosyne_sleep", bank="nowhere")["error"]
    assert (error["code"], error["hint"]) == (
        "not_found",
        "Banks here: notes. What is first written to a bank makes it.",
    )
    assert ask("mnemosyne_get_stats")["stats"]["banks"] == ["notes"]


@requirement("sleep.audience")
def test_a_summary_is_seen_by_those_alone_who_saw_what_it_sums_up(ask: Ask, host: Host, clock: HandClock) -> None:
    notes(host, scope="session")
    clock.move(days=3)
    ask("mnemosyne_sleep")
    other = host.having(session="tuesday")
    assert found(ask, "billing") != []
    assert found(ask, "billing", at=other) == []


@requirement("sleep.degrades")
def test_summaries_grow_shorter_and_the_longer_wording_is_kept(ask: Ask, host: Host, clock: HandClock) -> None:
    for number in range(12):
        text = f"On day {number} the billing service of Maya's team answered {number} invoices from Lisbon in time."
        host.bank.remember(text, entities=["billing"])
    clock.move(days=3)
    [summary] = ask("mnemosyne_sleep")["result"]["summaries"]
    clock.move(days=31)
    result = ask("mnemosyne_sleep")["result"]
    assert result["status"] == "consolidated"
    degradation = result["degradation"]
    assert (degradation["tier1_to_tier2"], degradation["tier2_to_tier3"], result["summaries_created"]) == (1, 0, 0)
    assert degradation["texts"][0]["before"] == summary["text"]
    versions = {memory.text for memory in host.bank.history(summary["id"])}
    assert summary["text"] in versions
    clock.move(days=150)
    assert ask("mnemosyne_sleep")["result"]["degradation"]["tier2_to_tier3"] == 1


# --- forget


@requirement("forget.cascades")
def test_what_is_forgotten_is_gone_with_all_that_was_drawn_from_it(ask: Ask, host: Host, clock: HandClock) -> None:
    first, *_ = notes(host)
    host.bank.extract(first)
    host.bank.facts.add("billing", "answers", "invoices", memory=first)
    clock.move(days=3)
    [summary] = ask("mnemosyne_sleep")["result"]["summaries"]
    reply = ask("mnemosyne_forget", memory_id=first)
    assert (reply["status"], reply["memory_id"], reply["also"]) == ("deleted", first, [summary["id"]])
    assert reply["deleted"]["memories"] == 2
    assert reply["deleted"]["facts"] >= 1
    assert all("invoice 0" not in text for text in found(ask, "billing invoice 0", top_k=50))
    assert ask("mnemosyne_triple_query", object="invoices")["results"] == []
    assert "invoice 0" not in json.dumps([memory.as_dict() for memory in host.bank.list(include="removed")])


@requirement("forget.cascades")
def test_a_summary_can_be_forgotten_by_itself(ask: Ask, host: Host, clock: HandClock) -> None:
    notes(host)
    clock.move(days=3)
    [summary] = ask("mnemosyne_sleep")["result"]["summaries"]
    assert ask("mnemosyne_forget", memory_id=summary["id"])["deleted"]["memories"] == 1


@requirement("forget.missing", "errors.one_shape")
@pytest.mark.parametrize(
    ("tool", "status"),
    [
        ("mnemosyne_forget", "not_found"),
        ("mnemosyne_update", "not_found"),
        ("mnemosyne_invalidate", "memory_not_found"),
    ],
)
def test_an_id_that_is_nobody_s_is_told_as_such(refused: Refused, tool: str, status: str) -> None:
    more = {"content": "x"} if tool == "mnemosyne_update" else {}
    reply = refused(tool, memory_id="nobody", **more)
    assert (reply["status"], reply["memory_id"], reply["error"]["code"]) == (status, "nobody", "not_found")
    assert reply["error"]["hint"] == "mnemosyne_recall returns the ids."


@requirement("forget.missing")
def test_an_id_of_another_bank_is_told_where_it_is(ask: Ask, refused: Refused, host: Host) -> None:
    id = said(ask, at=host.having(bank_name="other"))
    assert "in the bank other" in refused("mnemosyne_forget", memory_id=id)["error"]["hint"]
    hidden = host.having(covers=lambda name: name == "notes")
    assert "other" not in str(refused("mnemosyne_forget", at=hidden, memory_id=id)["error"]["hint"])


@requirement("forget.missing")
def test_a_broken_bank_elsewhere_does_not_answer_for_this_one(
    ask: Ask, refused: Refused, host: Host, tmp_path: Path
) -> None:
    id = said(ask, at=host.having(bank_name="other"))
    (tmp_path / "data" / "junk.db").write_bytes(b"junk" * 2_000)
    assert refused("mnemosyne_forget", memory_id="nobody")["error"]["code"] == "not_found"
    assert "in the bank other" in refused("mnemosyne_forget", memory_id=id)["error"]["hint"]


@requirement("forget.missing")
def test_what_another_session_said_to_itself_is_not_found(ask: Ask, refused: Refused, host: Host) -> None:
    id = said(ask, scope="session")
    reply = refused("mnemosyne_forget", at=host.having(session="tuesday"), memory_id=id)
    assert reply["status"] == "not_found"
    assert found(ask, "billing") == [TEXT]


@requirement("forget.missing")
def test_what_was_forgotten_stays_forgotten(ask: Ask, refused: Refused) -> None:
    id = said(ask)
    ask("mnemosyne_forget", memory_id=id)
    assert "purged" in refused("mnemosyne_forget", memory_id=id)["error"]["hint"]


# --- update


@requirement("update.versions")
def test_an_update_tells_what_was_and_keeps_it(ask: Ask, host: Host) -> None:
    id = said(ask, importance=0.4)
    reply = ask("mnemosyne_update", memory_id=id, content="Maya works on search.", importance=0.6)
    assert (reply["status"], reply["version"]) == ("updated", 2)
    assert reply["changed"]["content"] == {"before": TEXT, "after": "Maya works on search."}
    assert reply["changed"]["importance"] == {"before": 0.4, "after": 0.6}
    assert found(ask, "billing") == []
    assert found(ask, "search") == ["Maya works on search."]
    assert host.bank.get(f"{id}@1").text == TEXT  # type: ignore[union-attr]


@requirement("update.only_given")
def test_only_what_is_given_is_changed(ask: Ask, host: Host) -> None:
    id = said(ask, importance=0.4, source="call")
    ask("mnemosyne_update", memory_id=id, importance=0.9)
    memory = host.bank.get(id)
    assert memory is not None
    assert (memory.text, memory.importance, memory.source, memory.version) == (TEXT, 0.9, "call", 1)
    ask("mnemosyne_update", memory_id=id, content="New.")
    assert host.bank.get(id).importance == 0.9  # type: ignore[union-attr]


@requirement("update.only_given", "errors.honest")
def test_an_update_without_a_change_says_so(ask: Ask, refused: Refused) -> None:
    id = said(ask)
    assert ask("mnemosyne_update", memory_id=id, content=TEXT)["status"] == "unchanged"
    assert refused("mnemosyne_update", memory_id=id)["error"]["parameter"] == "content"


@requirement("update.rederives")
def test_what_was_drawn_follows_the_new_text(ask: Ask) -> None:
    id = said(ask, extract=True)
    ask("mnemosyne_update", memory_id=id, content="Maya works on search.")
    rows = ask("mnemosyne_triple_query", subject="Maya")["results"]
    assert [row["object"] for row in rows] == ["search"]


# --- invalidate


@requirement("invalidate.replaces")
def test_what_no_longer_holds_is_not_recalled_and_leads_to_what_does(ask: Ask, host: Host) -> None:
    old, new = said(ask), said(ask, "Maya works on search.")
    reply = ask("mnemosyne_invalidate", memory_id=old, replacement_id=new)
    assert (reply["status"], reply["already"], reply["replacement_id"]) == ("invalidated", False, new)
    assert found(ask, "billing") == []
    held = host.bank.get(old)
    assert held is not None
    assert held.superseded_by == new


@requirement("invalidate.replaces")
def test_a_replacement_that_is_not_there_is_refused_and_nothing_is_done(ask: Ask, refused: Refused) -> None:
    id = said(ask)
    for other in ("nobody", id):
        assert refused("mnemosyne_invalidate", memory_id=id, replacement_id=other)["error"]["parameter"] == (
            "replacement_id"
        )
    assert found(ask, "billing") == [TEXT]


@requirement("invalidate.reversible")
def test_what_was_invalidated_can_be_brought_back(ask: Ask, host: Host) -> None:
    id = said(ask)
    reply = ask("mnemosyne_invalidate", memory_id=id)
    assert reply["undo"]["command"] == f"pieria undo {reply['undo']['change']} --bank notes"
    host.bank.undo(reply["undo"]["change"])
    assert found(ask, "billing") == [TEXT]


@requirement("invalidate.reversible", "errors.honest")
def test_twice_is_once_and_says_so(ask: Ask, host: Host) -> None:
    id = said(ask)
    first = ask("mnemosyne_invalidate", memory_id=id)
    before = host.bank.changes()
    again = ask("mnemosyne_invalidate", memory_id=id)
    assert (again["already"], again["valid_until"], again["undo"]) == (True, first["valid_until"], None)
    assert host.bank.changes() == before


@requirement("invalidate.reaches")
def test_what_follows_from_it_is_not_told_either(ask: Ask, host: Host, clock: HandClock) -> None:
    first, *_ = notes(host)
    host.bank.facts.add("billing", "answers", "invoices", memory=first)
    clock.move(days=3)
    ask("mnemosyne_sleep")
    ask("mnemosyne_invalidate", memory_id=first)
    clock.move(seconds=1)
    assert ask("mnemosyne_triple_query", object="invoices")["results"] == []
    assert all("invoice 0" not in text for text in found(ask, "billing invoice 0", top_k=50))


@requirement("sleep.summarises")
def test_an_agent_is_told_of_a_great_sleep_in_part(ask: Ask, host: Host, clock: HandClock) -> None:
    begun = clock()
    host.bank.remember_many(
        {"text": f"Turn {n} of talk {talk}.", "kind": "turn", "session": f"talk-{talk}", "at": begun}
        for talk in range(30)
        for n in range(4)
    )
    clock.move(days=3)
    result = ask("mnemosyne_sleep")["result"]
    assert (result["summaries_created"], result["items_consolidated"]) == (30, 120)
    assert (len(result["summaries"]), len(result["consolidated_ids"])) == (20, 50)
    assert (result["more"]["summaries"], result["more"]["consolidated_ids"]) == (10, 70)
