"""Remembered texts, who sees them, that repetition removes nothing; and notes that are not remembered."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host

TEXT = "Maya works on billing."


def found(ask: Ask, query: str, **more: Any) -> list[str]:
    return [hit["content"] for hit in ask("mnemosyne_recall", query=query, **more)["results"]]


def kept(host: Host, id: str) -> Any:
    memory = host.bank.get(id)
    assert memory is not None
    return memory


@requirement("remember.keeps", "remember.scope", "remember.channel")
def test_memory_is_seen_in_its_scope(ask: Ask, refused: Refused, host: Host) -> None:
    other = host.having(session="tuesday")
    told = ask("mnemosyne_remember", content=TEXT)
    assert told["status"] == "stored"
    assert (told["bank"], told["session"], told["scope"]) == ("notes", "monday", "global")
    assert found(ask, "billing", at=other) == [TEXT]
    assert ask("mnemosyne_remember", content="x" * 300)["content_preview"] == "x" * 100
    ask("mnemosyne_remember", content="Maya sails.", scope="session")
    assert (found(ask, "sails"), found(ask, "sails", at=other)) == (["Maya sails."], [])
    ask("mnemosyne_remember", content="Maya swims.", scope="session", channel_id="money")
    assert (found(ask, "swims", at=other), found(ask, "swims", at=other, channel_id="money")) == ([], ["Maya swims."])
    reply = refused("mnemosyne_remember", at=host.having(session=None), content="Maya runs.", scope="session")
    assert reply["error"]["parameter"] == "scope"


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
    reply = refused("mnemosyne_remember", content="Maya runs.", valid_until="not-a-date")
    assert reply["error"]["parameter"] == "valid_until"
    assert found(ask, "runs") == []


@requirement("remember.author")
def test_author_says_how_far_to_believe(ask: Ask) -> None:
    for type, veracity in (("human", "stated"), ("agent", "inferred"), ("system", "tool"), (None, "unknown")):
        more = {} if type is None else {"author_type": type}
        id = ask("mnemosyne_remember", content=f"Billing, {type}.", author_id="maya", source="talk", **more)[
            "memory_id"
        ]
        [hit] = [hit for hit in ask("mnemosyne_recall", query="billing")["results"] if hit["id"] == id]
        told = (hit["author_id"], hit["author_type"], hit["veracity"], hit["source"])
        assert told == ("maya", type, veracity, "talk")


@requirement("remember.extract", "triple.extracted", "remember.extract_entities")
def test_facts_and_entities_come_back_from_the_graph(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content=TEXT, extract=True)
    drawn = told["extracted"]
    assert (drawn["engine"], drawn["queued"], drawn["entities"]) == ("rules", None, [])
    [row] = ask("mnemosyne_triple_query", subject="maya")["results"]
    assert row == drawn["facts"][0]
    assert (row["predicate"], row["object"], row["memory_id"]) == ("works_on", "billing", told["memory_id"])
    told = ask("mnemosyne_remember", content="Hm.", extract=True)
    assert told["extracted"]["facts"] == []
    assert "extracted" not in ask("mnemosyne_remember", content="Well.")
    told = ask("mnemosyne_remember", content="Project Orion is led by Carol.", extract_entities=True)
    rows = ask("mnemosyne_triple_query", subject=told["memory_id"], predicate="mentions")["results"]
    assert {row["object"] for row in rows} == set(told["extracted"]["entities"])
    [row] = ask("mnemosyne_triple_query", object="Carol")["results"]
    assert row["memory_id"] == told["memory_id"]


@requirement("remember.duplicate")
def test_same_words_are_the_same_memory(ask: Ask, host: Host) -> None:
    first = ask("mnemosyne_remember", content=TEXT)
    again = ask("mnemosyne_remember", content=TEXT)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert first["memory_id"] == again["memory_id"]
    assert found(ask, "billing") == [TEXT]
    ask("mnemosyne_invalidate", memory_id=first["memory_id"])
    anew = ask("mnemosyne_remember", content=TEXT)
    assert (anew["duplicate"], anew["memory_id"] == first["memory_id"]) == (False, False)
    own = ask("mnemosyne_remember", content="Maya sails.", scope="session")
    other = ask("mnemosyne_remember", at=host.having(session="tuesday"), content="Maya sails.")
    assert (other["duplicate"], other["memory_id"] == own["memory_id"]) == (False, False)
    mine = host.having(bank_name="@me")
    first = ask("mnemosyne_remember", at=mine, content="Maya swims.")
    again = ask("mnemosyne_remember", at=mine, content="Maya swims.", scope="session")
    assert (first["scope"], again["memory_id"]) == ("user", first["memory_id"])
    assert found(ask, "swims") == ["Maya swims."]


@requirement("remember.duplicate")
def test_repetition_takes_nothing_away(ask: Ask, host: Host) -> None:
    first = ask("mnemosyne_remember", content=TEXT, importance=0.7, source="call", author_id="maya")
    before = kept(host, first["memory_id"])
    again = ask(
        "mnemosyne_remember", content=TEXT, importance=0.2, scope="session", source="tool", author_id="bob",
        author_type="agent", channel_id="money", valid_until="2026-04-01",
    )  # fmt: skip
    assert again["memory_id"] == first["memory_id"]
    assert kept(host, first["memory_id"]) == before
    told = {warning.partition(":")[0] for warning in again["warnings"]}
    assert told == {"scope", "importance", "source", "author_id", "author_type", "channel_id", "valid_until"}


@requirement("remember.duplicate")
def test_repetition_raises_what_was_less(ask: Ask, host: Host) -> None:
    first = ask("mnemosyne_remember", content=TEXT, importance=0.2, scope="session", valid_until="2026-04-01")
    again = ask("mnemosyne_remember", content=TEXT, importance=0.9, valid_until="2026-05-01T00:00:00Z")
    assert again["memory_id"] == first["memory_id"]
    assert (again["scope"], again["importance"]) == ("global", 0.9)
    assert again["valid_until"] == "2026-05-01T00:00:00Z"
    assert again["warnings"] == []
    assert found(ask, "billing", at=host.having(session="tuesday")) == [TEXT]


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
        assert kept(host, told[0]["memory_id"]).importance == 0.8


@requirement("remember.secrets", "schema.validated")
def test_secrets_and_everything_wrong_are_reported(ask: Ask, refused: Refused) -> None:
    told = ask("mnemosyne_remember", content="password: tern-9Wq!fjord <private>and more</private>")
    assert [warning.partition(":")[0] for warning in told["warnings"]] == ["content", "content"]
    assert "and more" not in told["content_preview"]
    reply = refused("mnemosyne_remember", content=TEXT, importance="high", scope="planet", contnet="x")
    assert reply["status"] == "error"
    told = {one["parameter"]: one for one in reply["error"]["violations"]}
    assert told.keys() == {"importance", "scope", "contnet"}
    assert told["contnet"]["hint"] == "Did you mean content?"
    assert "session, global" in told["scope"]["expected"]
    for content in ("", "   "):
        assert refused("mnemosyne_remember", content=content)["error"]["parameter"] == "content"
    assert found(ask, "billing") == []


def read(ask: Ask, at: Host) -> list[str]:
    return [entry["content"] for entry in ask("mnemosyne_scratchpad_read", at=at)["entries"]]


@requirement("scratchpad.session")
def test_each_session_has_its_own_scratchpad(ask: Ask, host: Host, clock: HandClock) -> None:
    other = host.having(session="tuesday")
    ask("mnemosyne_scratchpad_write", content="First.")
    clock.move(seconds=1)
    ask("mnemosyne_scratchpad_write", content="Second.")
    ask("mnemosyne_scratchpad_write", at=other, content="Elsewhere.")
    assert read(ask, host) == ["Second.", "First."]
    assert ask("mnemosyne_scratchpad_clear", at=other)["cleared"] == 1
    assert (read(ask, host), read(ask, other)) == (["Second.", "First."], [])


@requirement("scratchpad.apart", "scratchpad.session", "errors.honest", "schema.validated")
def test_scratchpad_is_counted_and_not_remembered(ask: Ask, refused: Refused) -> None:
    assert ask("mnemosyne_scratchpad_clear")["cleared"] == 0
    ask("mnemosyne_scratchpad_write", content="Ask Maya about billing.")
    assert ask("mnemosyne_recall", query="Maya billing")["count"] == 0
    assert ask("mnemosyne_scratchpad_clear")["cleared"] == 1
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
