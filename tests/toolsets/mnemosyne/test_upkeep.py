"""Sleep, update, invalidate, forget: what they change, what they keep, and true reports."""

from pathlib import Path
from typing import Any

from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement

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


NOTHING_DUE = "nothing is due: there are no notes, observations or turns that no sleep has processed"


@requirement("sleep.summarises", "sleep.dry_run", "forget.cascades")
def test_sleep_summarizes_what_rests_and_keeps_it(ask: Ask, host: Host, clock: HandClock) -> None:
    nothing = ask("mnemosyne_sleep")
    assert (nothing["status"], nothing["result"].get("reasons", [])) == ("no_op", [NOTHING_DUE])
    ids = notes(host)
    clock.move(days=3)
    before = host.bank.changes()
    preview = ask("mnemosyne_sleep", dry_run=True)["result"]["summaries"]
    assert host.bank.changes() == before
    reply = ask("mnemosyne_sleep")
    result = reply["result"]
    assert (reply["status"], result["summaries_created"], result["items_consolidated"]) == ("consolidated", 1, 3)
    assert (result["method"], result["llm_used"], result["summaries"]) == ("rules", False, preview)
    assert sorted(result["consolidated_ids"]) == sorted(ids)
    working, episodic = reply["working"], reply["episodic"]
    assert (working["consolidated"], working["unconsolidated"], episodic["summaries"]) == (3, 0, 1)
    hits = {hit["id"]: hit["tier"] for hit in ask("mnemosyne_recall", query="billing service")["results"]}
    assert hits.items() >= dict.fromkeys(ids, "episodic").items()
    [summary] = host.bank.list(kinds="summary")
    assert summary.text == preview[0]["text"]
    assert ask("mnemosyne_forget", memory_id=summary.id)["deleted"]["memories"] == 1


@requirement("sleep.bank")
def test_sleep_of_another_bank_makes_none(ask: Ask, host: Host, clock: HandClock, refused: Refused) -> None:
    notes(host.having(bank_name="other"))
    clock.move(days=3)
    assert ask("mnemosyne_sleep", dry_run=True)["result"]["summaries_created"] == 0
    reply = ask("mnemosyne_sleep", bank="other")
    assert (reply["bank"], reply["result"]["summaries_created"]) == ("other", 1)
    said(ask)
    assert refused("mnemosyne_sleep", bank="x")["error"]["code"] == "not_found"
    assert ask("mnemosyne_get_stats")["stats"]["banks"] == ["notes", "other"]


@requirement("sleep.degrades")
def test_summaries_grow_shorter_and_keep_their_versions(ask: Ask, host: Host, clock: HandClock) -> None:
    for number in range(12):
        text = f"On day {number} the billing service of Maya's team answered {number} invoices from Lisbon in time."
        host.bank.remember(text, entities=["billing"])
    clock.move(days=3)
    [summary] = ask("mnemosyne_sleep")["result"]["summaries"]
    for days, shortened in ((31, (1, 0)), (150, (0, 1))):
        clock.move(days=days)
        result = ask("mnemosyne_sleep")["result"]
        told = result["degradation"]
        assert (result["status"], result["summaries_created"]) == ("consolidated", 0)
        assert (told["tier1_to_tier2"], told["tier2_to_tier3"]) == shortened
        assert told["texts"][0]["before"] in {memory.text for memory in host.bank.history(summary["id"])}


@requirement("forget.cascades", "invalidate.reaches", "sleep.audience")
def test_what_was_drawn_from_a_memory_ends_and_goes_with_it(ask: Ask, host: Host, clock: HandClock) -> None:
    first, *_ = notes(host, scope="session")
    host.bank.facts.add("billing", "answers", "invoices", memory=first)
    clock.move(days=3)
    [summary] = ask("mnemosyne_sleep")["result"]["summaries"]
    seen = [bool(found(ask, "billing", at=each)) for each in (host, host.having(session="tuesday"))]
    assert seen == [True, False], "a summary is seen by those who saw its sources"
    ask("mnemosyne_invalidate", memory_id=first)
    clock.move(seconds=1)
    assert ask("mnemosyne_triple_query", object="invoices")["results"] == []
    assert all("invoice 0" not in text for text in found(ask, "billing invoice 0", top_k=50))
    reply = ask("mnemosyne_forget", memory_id=first)
    assert (reply["status"], reply["memory_id"], reply["also"]) == ("deleted", first, [summary["id"]])
    assert (reply["deleted"]["memories"], reply["deleted"]["facts"] >= 1) == (2, True)


@requirement("forget.missing", "errors.one_shape")
def test_unknown_ids_are_reported_with_where_they_are(ask: Ask, refused: Refused, host: Host, tmp_path: Path) -> None:
    for tool, status, more in (
        ("mnemosyne_forget", "not_found", {}),
        ("mnemosyne_update", "not_found", {"content": "x"}),
        ("mnemosyne_invalidate", "memory_not_found", {}),
    ):
        reply = refused(tool, memory_id="nobody", **more)
        assert (reply["status"], reply["memory_id"], reply["error"]["code"]) == (status, "nobody", "not_found")
        assert reply["error"]["hint"] == "mnemosyne_recall returns the ids."
    id = said(ask, at=host.having(bank_name="other"))
    (tmp_path / "data" / "junk.db").write_bytes(b"junk" * 2_000)
    assert "in the bank other" in refused("mnemosyne_forget", memory_id=id)["error"]["hint"]
    hidden = host.having(covers=lambda name: name == "notes")
    assert "other" not in str(refused("mnemosyne_forget", at=hidden, memory_id=id)["error"]["hint"])
    own = said(ask, scope="session")
    reply = refused("mnemosyne_forget", at=host.having(session="tuesday"), memory_id=own)
    assert reply["status"] == "not_found"
    ask("mnemosyne_forget", memory_id=own)
    assert "purged" in refused("mnemosyne_forget", memory_id=own)["error"]["hint"]


@requirement("update.versions", "update.only_given", "update.rederives", "errors.honest")
def test_update_changes_what_is_given_and_keeps_the_old_text(ask: Ask, host: Host, refused: Refused) -> None:
    id = said(ask, importance=0.4)
    reply = ask("mnemosyne_update", memory_id=id, content="Maya works on search.", importance=0.6)
    assert (reply["status"], reply["version"]) == ("updated", 2)
    assert reply["changed"]["content"] == {"before": TEXT, "after": "Maya works on search."}
    assert reply["changed"]["importance"] == {"before": 0.4, "after": 0.6}
    assert (found(ask, "billing"), found(ask, "search")) == ([], ["Maya works on search."])
    assert host.bank.get(f"{id}@1").text == TEXT  # type: ignore[union-attr]
    id = said(ask, importance=0.4, source="call", extract=True)
    ask("mnemosyne_update", memory_id=id, importance=0.9)
    memory = host.bank.get(id)
    assert memory is not None
    assert (memory.text, memory.importance, memory.source, memory.version) == (TEXT, 0.9, "call", 1)
    assert ask("mnemosyne_update", memory_id=id, content=TEXT)["status"] == "unchanged"
    assert refused("mnemosyne_update", memory_id=id)["error"]["parameter"] == "content"
    ask("mnemosyne_update", memory_id=id, content="Maya works on search.")
    rows = ask("mnemosyne_triple_query", subject="Maya")["results"]
    assert [row["object"] for row in rows] == ["search"]


@requirement("invalidate.replaces", "invalidate.reversible", "errors.honest")
def test_invalidation_is_done_once_replaced_and_undone(ask: Ask, host: Host, refused: Refused) -> None:
    old, new = said(ask), said(ask, "Maya works on search.")
    reply = ask("mnemosyne_invalidate", memory_id=old, replacement_id=new)
    assert (reply["status"], reply["already"], reply["replacement_id"]) == ("invalidated", False, new)
    assert found(ask, "billing") == []
    id = said(ask)
    for other in ("nobody", id):
        error = refused("mnemosyne_invalidate", memory_id=id, replacement_id=other)["error"]
        assert error["parameter"] == "replacement_id"
    first = ask("mnemosyne_invalidate", memory_id=id)
    before = host.bank.changes()
    again = ask("mnemosyne_invalidate", memory_id=id)
    assert (again["already"], again["valid_until"], "undo" in again) == (True, first["valid_until"], False)
    assert host.bank.changes() == before
    assert first["undo"]["command"] == f"pieria undo {first['undo']['change']} --bank notes"
    host.bank.undo(first["undo"]["change"])
    assert TEXT in found(ask, "billing")


@requirement("sleep.summarises")
def test_great_sleep_is_listed_in_part(ask: Ask, host: Host, clock: HandClock) -> None:
    begun = clock()
    host.bank.remember_many(
        {
            "text": f"Turn {n} of talk {talk} is about the heron by the mill.",
            "kind": "turn",
            "session": f"talk-{talk}",
            "at": begun,
        }
        for talk in range(30)
        for n in range(4)
    )
    clock.move(days=3)
    result = ask("mnemosyne_sleep")["result"]
    assert (result["summaries_created"], result["items_consolidated"]) == (30, 120)
    assert (len(result["summaries"]), len(result["consolidated_ids"])) == (20, 50)
    assert (result["more"]["summaries"], result["more"]["consolidated_ids"]) == (10, 70)
