"""Remembered texts, who sees them, and that repetition removes nothing."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
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


@requirement("remember.keeps")
def test_what_is_remembered_is_found_in_another_session(ask: Ask, host: Host) -> None:
    told = ask("mnemosyne_remember", content=TEXT)
    assert told["status"] == "stored"
    assert (told["bank"], told["session"], told["scope"]) == ("notes", "monday", "global")
    assert found(ask, "billing", at=host.having(session="tuesday")) == [TEXT]


@requirement("remember.keeps")
def test_the_preview_is_the_beginning_of_the_text(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content="x" * 300)
    assert told["content_preview"] == "x" * 100


@requirement("remember.scope")
def test_what_is_of_a_session_is_seen_by_it_alone(ask: Ask, host: Host) -> None:
    ask("mnemosyne_remember", content=TEXT, scope="session")
    assert found(ask, "billing") == [TEXT]
    assert found(ask, "billing", at=host.having(session="tuesday")) == []


@requirement("remember.scope", "remember.channel")
def test_a_channel_is_shared_by_those_who_name_it(ask: Ask, host: Host) -> None:
    ask("mnemosyne_remember", content=TEXT, scope="session", channel_id="money")
    other = host.having(session="tuesday")
    assert found(ask, "billing", at=other) == []
    assert found(ask, "billing", at=other, channel_id="money") == [TEXT]


@requirement("remember.scope")
def test_what_nobody_could_see_again_is_refused(refused: Refused, host: Host) -> None:
    reply = refused("mnemosyne_remember", at=host.having(session=None), content=TEXT, scope="session")
    assert reply["error"]["parameter"] == "scope"


@requirement("remember.importance")
def test_what_is_important_is_settled_by_a_sleep(ask: Ask, host: Host, clock: HandClock) -> None:
    told = ask("mnemosyne_remember", content=TEXT, importance=0.9)
    small = ask("mnemosyne_remember", content="Tea is hot.", importance=0.3)
    clock.move(days=3)
    promoted = ask("mnemosyne_sleep")["result"]["promoted"]
    assert [one["id"] for one in promoted] == [told["memory_id"]]
    tiers = {hit["id"]: hit["tier"] for hit in ask("mnemosyne_recall", query="billing tea")["results"]}
    assert tiers == {told["memory_id"]: "semantic", small["memory_id"]: "working"}


@requirement("remember.validity")
def test_what_has_expired_is_not_recalled(ask: Ask, clock: HandClock) -> None:
    told = ask("mnemosyne_remember", content=TEXT, valid_until="2026-03-02T12:00:00Z")
    assert told["expires_in"] == 86_400
    assert found(ask, "billing") == [TEXT]
    clock.move(days=1)
    assert found(ask, "billing") == []


@requirement("remember.validity")
def test_what_is_over_already_is_kept_with_a_warning(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content=TEXT, valid_until="2020-01-01")
    assert told["expires_in"] == 0
    assert any("valid_until" in warning for warning in told["warnings"])


@requirement("remember.validity", "schema.validated")
def test_what_is_no_time_is_refused(ask: Ask, refused: Refused) -> None:
    reply = refused("mnemosyne_remember", content=TEXT, valid_until="not-a-date")
    assert reply["error"]["parameter"] == "valid_until"
    assert found(ask, "billing") == []


@requirement("remember.author")
@pytest.mark.parametrize(
    ("type", "veracity"), [("human", "stated"), ("agent", "inferred"), ("system", "tool"), (None, "unknown")]
)
def test_who_said_it_is_told_and_how_far_it_is_to_be_believed(ask: Ask, type: str | None, veracity: str) -> None:
    more = {} if type is None else {"author_type": type}
    ask("mnemosyne_remember", content=TEXT, author_id="maya", source="conversation", **more)
    [hit] = ask("mnemosyne_recall", query="billing")["results"]
    assert (hit["author_id"], hit["author_type"], hit["veracity"]) == ("maya", type, veracity)
    assert hit["source"] == "conversation"


@requirement("remember.extract", "triple.extracted")
def test_what_it_states_comes_back_from_the_graph(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content=TEXT, extract=True)
    drawn = told["extracted"]
    assert (drawn["engine"], drawn["queued"], drawn["entities"]) == ("rules", None, [])
    [row] = ask("mnemosyne_triple_query", subject="maya")["results"]
    assert row == drawn["facts"][0]
    assert (row["predicate"], row["object"], row["memory_id"]) == ("works_on", "billing", told["memory_id"])


@requirement("remember.extract_entities", "triple.extracted")
def test_whom_it_names_comes_back_from_the_graph(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content="Project Orion is led by Carol.", extract_entities=True)
    rows = ask("mnemosyne_triple_query", subject=told["memory_id"], predicate="mentions")["results"]
    assert {row["object"] for row in rows} == set(told["extracted"]["entities"])
    [row] = ask("mnemosyne_triple_query", object="Carol")["results"]
    assert row["memory_id"] == told["memory_id"]


@requirement("remember.extract")
def test_where_nothing_is_stated_the_reply_says_so(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content="Hm.", extract=True)
    assert told["extracted"]["facts"] == []
    assert "extracted" not in ask("mnemosyne_remember", content="Well.")


@requirement("remember.duplicate")
def test_the_same_words_are_the_same_memory(ask: Ask) -> None:
    first = ask("mnemosyne_remember", content=TEXT)
    again = ask("mnemosyne_remember", content=TEXT)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert first["memory_id"] == again["memory_id"]
    assert found(ask, "billing") == [TEXT]


@requirement("remember.duplicate")
def test_saying_it_again_never_takes_anything_away(ask: Ask, host: Host) -> None:
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
def test_saying_it_again_raises_what_was_less(ask: Ask, host: Host) -> None:
    first = ask("mnemosyne_remember", content=TEXT, importance=0.2, scope="session", valid_until="2026-04-01")
    again = ask("mnemosyne_remember", content=TEXT, importance=0.9, valid_until="2026-05-01T00:00:00Z")
    assert again["memory_id"] == first["memory_id"]
    assert (again["scope"], again["importance"]) == ("global", 0.9)
    assert again["valid_until"] == "2026-05-01T00:00:00Z"
    assert again["warnings"] == []
    assert found(ask, "billing", at=host.having(session="tuesday")) == [TEXT]


@requirement("remember.duplicate")
def test_of_many_who_say_it_at_once_one_is_first_and_the_highest_importance_stands(ask: Ask, host: Host) -> None:
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


@requirement("remember.duplicate")
def test_in_the_user_s_own_bank_it_is_the_same(ask: Ask, host: Host) -> None:
    mine = host.having(bank_name="@me")
    first = ask("mnemosyne_remember", at=mine, content=TEXT)
    again = ask("mnemosyne_remember", at=mine, content=TEXT, scope="session")
    assert (first["scope"], again["memory_id"]) == ("user", first["memory_id"])
    assert found(ask, "billing") == [TEXT]


@requirement("remember.duplicate")
def test_what_another_session_said_to_itself_is_no_duplicate(ask: Ask, host: Host) -> None:
    first = ask("mnemosyne_remember", content=TEXT, scope="session")
    other = ask("mnemosyne_remember", at=host.having(session="tuesday"), content=TEXT)
    assert (other["duplicate"], other["memory_id"] == first["memory_id"]) == (False, False)


@requirement("remember.duplicate")
def test_what_no_longer_held_is_remembered_anew(ask: Ask) -> None:
    first = ask("mnemosyne_remember", content=TEXT)
    ask("mnemosyne_invalidate", memory_id=first["memory_id"])
    again = ask("mnemosyne_remember", content=TEXT)
    assert (again["duplicate"], again["memory_id"] == first["memory_id"]) == (False, False)


@requirement("remember.kept_for_good")
def test_what_nobody_slept_on_is_there_ten_days_later(ask: Ask, clock: HandClock) -> None:
    ask("mnemosyne_remember", content=TEXT)
    clock.move(days=10)
    ask("mnemosyne_remember", content="Something else.")
    assert TEXT in found(ask, "billing")


@requirement("remember.secrets")
def test_a_secret_is_told_of(ask: Ask) -> None:
    told = ask("mnemosyne_remember", content="password: tern-9Wq!fjord <private>and more</private>")
    assert [warning.partition(":")[0] for warning in told["warnings"]] == ["content", "content"]
    assert "and more" not in told["content_preview"]


@requirement("schema.validated")
def test_all_that_is_wrong_is_told_at_once_and_nothing_is_kept(ask: Ask, refused: Refused) -> None:
    reply = refused("mnemosyne_remember", content=TEXT, importance="high", scope="planet", contnet="x")
    assert reply["status"] == "error"
    told = {one["parameter"]: one for one in reply["error"]["violations"]}
    assert told.keys() == {"importance", "scope", "contnet"}
    assert told["contnet"]["hint"] == "Did you mean content?"
    assert "session, global" in told["scope"]["expected"]
    assert found(ask, "billing") == []


@requirement("schema.validated")
@pytest.mark.parametrize("content", ["", "   "])
def test_a_blank_text_is_refused_by_the_name_the_caller_knows(refused: Refused, content: str) -> None:
    assert refused("mnemosyne_remember", content=content)["error"]["parameter"] == "content"
