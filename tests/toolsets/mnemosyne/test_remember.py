"""Remembered texts, who sees them, that repetition removes nothing; triples; and notes that are not remembered."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.models.scripted import Scripted
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement

from pieria.toolsets.mnemosyne.memories import _is_tied

TEXT = "Maya works on billing."


def found(ask: Ask, query: str, **more: Any) -> list[str]:
    return [hit["content"] for hit in ask("mnemosyne_recall", query=query, **more)["results"]]


@requirement("remember.keeps", "remember.scope", "remember.channel")
def test_memory_is_seen_in_its_scope(ask: Ask, refused: Refused, host: Host) -> None:
    other = host.having(session="tuesday")
    told = ask("mnemosyne_remember", content=TEXT)
    assert (told["status"], told["bank"], told["session"], told["scope"]) == ("stored", "notes", "monday", "global")
    assert found(ask, "billing", at=other) == [TEXT]
    assert ask("mnemosyne_remember", content="x" * 300)["content_preview"] == "x" * 100
    ask("mnemosyne_remember", content="Maya sails.", scope="session")
    assert (found(ask, "sails"), found(ask, "sails", at=other)) == (["Maya sails."], [])
    ask("mnemosyne_remember", content="Maya swims.", scope="session", channel_id="money")
    assert (found(ask, "swims", at=other), found(ask, "swims", at=other, channel_id="money")) == ([], ["Maya swims."])
    error = refused("mnemosyne_remember", at=host.having(session=None), content="Maya runs.", scope="session")["error"]
    assert error["parameter"] == "scope"


@requirement("remember.validity", "remember.kept_for_good", "schema.validated")
def test_expired_memory_is_not_recalled(ask: Ask, refused: Refused, clock: HandClock) -> None:
    told = ask("mnemosyne_remember", content=TEXT, valid_until="2026-03-02T12:00:00Z")
    assert told["expires_in"] == 86_400
    assert found(ask, "billing") == [TEXT]
    ask("mnemosyne_remember", content="Maya sails.")
    clock.move(days=10)
    assert (found(ask, "billing"), found(ask, "sails")) == ([], ["Maya sails."])
    told = ask("mnemosyne_remember", content="Maya swims.", valid_until="2020-01-01")
    assert (told["expires_in"], "valid_until" in told["warnings"][0]) == (0, True)
    error = refused("mnemosyne_remember", content="Maya runs.", valid_until="not-a-date")["error"]
    assert error["parameter"] == "valid_until"


@requirement("remember.author")
def test_author_says_how_far_to_believe(ask: Ask) -> None:
    for type, veracity in (("human", "stated"), ("agent", "inferred"), ("system", "tool"), (None, "unknown")):
        more = {} if type is None else {"author_type": type}
        ask("mnemosyne_remember", content=f"Billing, {type}.", author_id="maya", source="talk", **more)
        hit = ask("mnemosyne_recall", query=f"billing {type}")["results"][0]
        told = (hit["author_id"], hit["author_type"], hit["veracity"], hit["source"])
        assert told == ("maya", type, veracity, "talk")


@requirement("remember.extract", "triple.extracted", "remember.extract_entities")
def test_facts_and_entities_come_back_from_the_graph(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content=TEXT, extract=True)
    drawn = told["extracted"]
    assert (drawn["engine"], "queued" in drawn) == ("rules", False)
    [row] = ask("mnemosyne_triple_query", subject="maya")["results"]
    assert {name: value for name, value in row.items() if value is not None} == drawn["facts"][0]
    assert (row["predicate"], row["object"], row["memory_id"]) == ("works_on", "billing", told["memory_id"])
    assert "extracted" not in ask("mnemosyne_remember", content="Well.")
    told = ask("mnemosyne_remember", content="Project Orion is led by Carol.", extract_entities=True)
    rows = ask("mnemosyne_triple_query", subject=told["memory_id"], predicate="mentions")["results"]
    assert {row["object"] for row in rows} == set(told["extracted"]["entities"])


@requirement("remember.duplicate")
def test_same_words_are_the_same_memory(ask: Ask, host: Host) -> None:
    def again(id: str | None, content: str, at: Host = host, **more: Any) -> str:
        told = ask("mnemosyne_remember", at=at, content=content, **more)
        assert (told["duplicate"], told["memory_id"] == id) == (id is not None, id is not None)
        return str(told["memory_id"])

    first = again(None, TEXT)
    again(first, TEXT)
    assert found(ask, "billing") == [TEXT]
    ask("mnemosyne_invalidate", memory_id=first)
    again(None, TEXT)
    again(None, "Maya sails.", scope="session")
    again(None, "Maya sails.", at=host.having(session="tuesday"))
    mine = host.having(bank_name="@me")
    again(again(None, "Maya swims.", at=mine), "Maya swims.", at=mine, scope="session")
    assert found(ask, "swims") == ["Maya swims."]


@requirement("remember.duplicate")
def test_repetition_raises_what_was_less_and_takes_nothing(ask: Ask, host: Host) -> None:
    ask("mnemosyne_remember", content=TEXT, importance=0.2, scope="session", valid_until="2026-04-01")
    more = {"importance": 0.9, "valid_until": "2026-05-01T00:00:00Z"}
    told = ask("mnemosyne_remember", content=TEXT, **more)
    assert {**told, **more, "scope": "global", "duplicate": True} == told
    assert "warnings" not in told
    assert found(ask, "billing", at=host.having(session="tuesday")) == [TEXT]
    before = host.bank.changes()
    told = ask(
        "mnemosyne_remember", content=TEXT, importance=0.2, scope="session", source="tool", author_id="bob",
        author_type="agent", channel_id="money", valid_until="2026-04-01",
    )  # fmt: skip
    assert host.bank.changes() == before
    assert {warning.partition(":")[0] for warning in told["warnings"]} == {
        "scope", "importance", "source", "author_id", "author_type", "channel_id", "valid_until",
    }  # fmt: skip


@requirement("remember.duplicate")
def test_first_of_many_at_once_makes_the_memory(ask: Ask, host: Host) -> None:
    for round in range(5):
        with ThreadPoolExecutor(8) as threads:
            asked = [
                threads.submit(ask, "mnemosyne_remember", content=f"Round {round}.", importance=tenths / 10)
                for tenths in range(1, 9)
            ]
        told = [each.result() for each in asked]
        assert len({reply["memory_id"] for reply in told}) == 1
        assert [reply["duplicate"] for reply in told].count(False) == 1
        [memory] = host.bank.list(limit=1)
        assert (memory.id, memory.importance) == (told[0]["memory_id"], 0.8)


@requirement("remember.secrets", "schema.validated")
def test_secrets_and_everything_wrong_are_reported(ask: Ask, refused: Refused) -> None:
    told = ask("mnemosyne_remember", content="password: tern-9Wq!fjord <private>and more</private>")
    assert [warning.partition(":")[0] for warning in told["warnings"]] == ["content", "content"]
    assert "and more" not in told["content_preview"]
    reply = refused("mnemosyne_remember", content=TEXT, importance="high", scope="planet", contnet="x")
    assert reply["status"] == "error"
    assert {one["parameter"] for one in reply["error"]["violations"]} == {"importance", "scope", "contnet"}
    for content in ("", "   "):
        assert refused("mnemosyne_remember", content=content)["error"]["parameter"] == "content"
    assert found(ask, "billing") == []


@requirement("scratchpad.session", "scratchpad.apart", "errors.honest", "schema.validated")
def test_each_session_has_its_own_scratchpad(ask: Ask, refused: Refused, host: Host, clock: HandClock) -> None:
    def read(at: Host) -> list[str]:
        return [entry["content"] for entry in ask("mnemosyne_scratchpad_read", at=at)["entries"]]

    other = host.having(session="tuesday")
    ask("mnemosyne_scratchpad_write", content="First.")
    clock.move(seconds=1)
    ask("mnemosyne_scratchpad_write", content="Second.")
    ask("mnemosyne_scratchpad_write", at=other, content="Elsewhere.")
    assert [ask("mnemosyne_scratchpad_clear", at=other)["cleared"] for _ in range(2)] == [1, 0]
    assert (read(host), read(other)) == (["Second.", "First."], [])
    assert ask("mnemosyne_recall", query="second first")["count"] == 0, "it is not remembered"
    assert refused("mnemosyne_scratchpad_write", content=" ")["error"]["parameter"] == "content"


@requirement("remember.importance")
def test_important_memory_is_settled_by_a_sleep(ask: Ask, host: Host, clock: HandClock) -> None:
    told = ask("mnemosyne_remember", content=TEXT, importance=0.9)
    small = ask("mnemosyne_remember", content="Tea is hot.", importance=0.3)
    clock.move(days=3)
    promoted = ask("mnemosyne_sleep")["result"]["promoted"]
    assert [one["id"] for one in promoted] == [told["memory_id"]]
    tiers = {hit["id"]: hit["tier"] for hit in ask("mnemosyne_recall", query="billing tea")["results"]}
    assert tiers == {told["memory_id"]: "semantic", small["memory_id"]: "working"}


def add(ask: Ask, subject: str, predicate: str, object: str) -> dict[str, Any]:
    added: dict[str, Any] = ask("mnemosyne_triple_add", subject=subject, predicate=predicate, object=object)
    return added


def objects(ask: Ask, **asked: str) -> list[str]:
    return [row["object"] for row in ask("mnemosyne_triple_query", **asked)["results"]]


@requirement("triple.idempotent", "triple.closes_nothing")
def test_same_triple_is_one_and_another_value_ends_nothing(ask: Ask, host: Host) -> None:
    first = add(ask, "Maya", "works_on", "billing")
    before = host.bank.changes()
    again = add(ask, "maya", "works on", "BILLING")
    assert (first["status"], again["status"]) == ("added", "exists")
    assert first["triple_id"] == again["triple_id"]
    assert host.bank.changes() == before
    add(ask, "Omar", "speaks", "English")
    added = add(ask, "Omar", "speaks", "Portuguese")
    assert [row["object"] for row in added["others"]] == ["English"]
    assert not {"closed", "conflicts"} & added.keys()
    assert sorted(objects(ask, subject="Omar")) == ["English", "Portuguese"]


@requirement("triple.closes_nothing", "triple.conflicts", "triple.as_of")
def test_declared_predicate_has_one_value_at_a_time(ask: Ask, host: Host, clock: HandClock) -> None:
    add(ask, "Maya", "lives_in", "Berlin")
    clock.move(days=1)
    added = add(ask, "Maya", "lives_in", "Porto")
    assert [row["object"] for row in added["closed"]] == ["Berlin"]
    assert objects(ask, subject="Maya") == ["Porto"]
    assert objects(ask, subject="Maya", as_of="2026-03-01T13:00:00Z") == ["Berlin"]
    for place in ("Rome", "Oslo"):
        add(ask, "Omar", "works_in", place)
    host.bank.facts.declare("works_in")
    added = add(ask, "Omar", "works_in", "Oslo")
    assert [row["object"] for row in added["conflicts"]] == ["Rome"]


@requirement("triple.closes_nothing", "triple.conflicts", "triple.as_of")
def test_successor_of_one_value_closes_it_and_days_are_whole(ask: Ask, clock: HandClock) -> None:
    def state(object: str, **times: Any) -> dict[str, Any]:
        maya = {"subject": "Maya", "predicate": "reports_to", "object": object}
        told: dict[str, Any] = ask("mnemosyne_triple_add", **maya, **times)
        return told

    state("Carol")
    clock.move(days=1)
    [closed] = state("Dana")["closed"]
    assert (closed["object"], closed["valid_from"]) == ("Carol", "2026-03-01T12:00:00Z")
    assert (objects(ask), objects(ask, as_of="1999-01-01"), objects(ask, as_of="2026-03-01")) == (
        ["Dana"],
        [],
        ["Carol"],
    )
    day = {"valid_from": "2026-02-01", "valid_until": "2026-02-01"}
    told = state("Erin", **day)
    assert {name: told["triple"][name] for name in day} == day
    assert [objects(ask, as_of=at) for at in ("2026-01-31", "2026-02-01", "2026-02-02")] == [[], ["Erin"], []]
    add(ask, "Omar", "speaks", "English")
    told = ask("mnemosyne_triple_add", subject="Omar", predicate="speaks", object="Dutch", supersede=True)
    assert ([row["object"] for row in told["closed"]], objects(ask, subject="Omar")) == (["English"], ["Dutch"])


@requirement("triple.query", "triple.as_of", "schema.validated")
def test_triples_are_found_from_either_end(ask: Ask, refused: Refused, host: Host) -> None:
    added = add(ask, "Bob", "reports_to", "Carol")
    add(ask, "Carol", "leads", "platform")
    [row] = ask("mnemosyne_triple_query", predicate="reports_to", object="carol")["results"]
    assert (row["subject"], row["id"]) == ("Bob", added["triple_id"])
    assert (objects(ask, subject="Carol"), objects(ask, subject="nobody")) == (["platform"], [])
    for number in range(201):
        host.bank.facts.add("Maya", "knows", f"number {number}")
    reply = ask("mnemosyne_triple_query", subject="Maya")
    assert (reply["results_count"], reply["truncated"]) == (200, True)
    assert "truncated" not in ask("mnemosyne_triple_query", object="number 7")
    for name, wrong in (("as_of", "yesterday-ish"), ("subject", " "), ("predicate", "_")):
        assert refused("mnemosyne_triple_query", **{name: wrong})["error"]["parameter"] == name


TRIPLE = {"subject": "Maya", "predicate": "works_on", "object": "billing", "confidence": 0.8}
ANSWER = json.dumps({"triples": [{**TRIPLE, "since": None, "until": None}]})


@requirement("remember.extract", "triple.extracted")
@pytest.mark.parametrize("models", [{"llm": Scripted(ANSWER)}])
def test_model_extracts_in_a_job_that_the_reply_names(ask: Ask, host: Host) -> None:
    told = ask("mnemosyne_remember", content="Maya works on billing.", extract=True)
    [job] = host.bank.jobs.list()
    drawn = told["extracted"]
    assert (drawn["engine"], drawn["queued"], drawn["facts"]) == ("scripted-1", job.id, [])
    assert ask("mnemosyne_triple_query", subject="Maya")["results"] == []
    assert dict(host.bank.jobs.worker().run(once=True)) == {"done": 1}
    [row] = ask("mnemosyne_triple_query", subject="Maya")["results"]
    assert (row["object"], row["memory_id"]) == ("billing", told["memory_id"])


@requirement("remember.metadata")
def test_metadata_and_veracity_come_along_and_bank_is_another(ask: Ask, refused: Refused, host: Host) -> None:
    other = host.having(bank_name="other")
    other.bank.remember("Elsewhere.")
    asked = {"content": "Maya likes tea.", "metadata": {"ticket": 7}, "veracity": "tool", "bank": "other"}
    told = ask("mnemosyne_remember", **asked, force=True)
    assert (told["bank"], told["veracity"], len(told["warnings"])) == ("other", "tool", 1)
    kept = other.bank.get(told["memory_id"])
    assert kept is not None and (kept.meta["ticket"], kept.trust) == (7, other.bank.remember("Plain.").trust)
    assert ask("mnemosyne_recall", query="tea", bank="other")["results"][0]["veracity"] == "tool"
    again = ask("mnemosyne_remember", **{**asked, "veracity": "stated"})
    assert again["duplicate"] and again["warnings"][0].startswith("metadata: it was remembered before")
    odd = ask("mnemosyne_remember", content="Odd.", veracity="sworn")
    assert (odd["veracity"], odd["warnings"][0][:9]) == ("unknown", "veracity:")
    assert refused("mnemosyne_remember", content="x", bank="nowhere")["error"]["code"] == "not_found"


@requirement("recall.tied")
@pytest.mark.parametrize("settings", [{"embedder": "hashing"}])
def test_hits_beside_the_point_are_left_out_if_others_are_not(ask: Ask, host: Host) -> None:
    assert [_is_tied(why) for why in ({"dense": 0.1, "lexical": 0.5}, {"dense": 0.2}, {"dense": 0.1, "when": 1.0})] == [
        False, True, True,
    ]  # fmt: skip
    assert (_is_tied({"lexical": 0.5, "recency": 1.0}), _is_tied({"recency": 1.0})) == (True, False)
    ask("mnemosyne_remember", content="The database adapter waits 30 seconds for replicas.")
    ask("mnemosyne_remember", content="Orchid dashboards are based on adaptive water data.")
    assert host.bank.sync(20)
    reply = ask("mnemosyne_recall", query="database adapter")
    assert (reply["count"], reply["warnings"][0][:17]) == (1, "query: left out 1")
    none = ask("mnemosyne_recall", query="Zwxq")
    assert (none["count"], [warning[:17] for warning in none["warnings"] if "left out" in warning]) == (
        0, ["query: left out 2"],
    )  # fmt: skip
    assert not any(warning.startswith("confidence") for warning in none["warnings"]), "there is no hit to doubt"
