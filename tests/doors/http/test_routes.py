"""What each route of a bank answers."""

import re
from pathlib import Path

from tests.doors.http.conftest import READS, Served
from tests.learning.lesson_events import MIGRATED, PUT_RIGHT, session

import pieria
from pieria.record.clip import estimated_tokens

BANK = "/v1/banks/notes"
MEMORIES, FACTS, PROPOSALS = f"{BANK}/memories", f"{BANK}/facts", f"{BANK}/proposals"


def test_a_memory_goes_through_its_life(served: Served) -> None:
    client = served.client
    made = client.post(MEMORIES, json={"text": "Tea at four.", "id": "tea", "tags": ["habit"], "importance": 0.9})
    assert (made.status_code, made.json()["version"]) == (201, 1)
    assert client.post(MEMORIES, json={"text": "again", "id": "tea"}).status_code == 409
    tea = f"{MEMORIES}/tea"
    assert client.patch(tea, json={"text": "Tea at five.", "reason": "winter"}).json()["version"] == 2
    assert client.get(tea, params={"version": 1}).json()["text"] == "Tea at four."
    assert [each["id"] for each in client.get(MEMORIES, params={"tags": ["habit"]}).json()["memories"]] == ["tea"]
    assert client.delete(tea, params={"reason": "no more"}).json()["ended"] == "removed"
    gone = client.get(tea)
    assert gone.status_code == 404 and "removed" in gone.json()["error"]["hint"]
    assert client.get(f"{tea}?include_removed=true").json()["reason"] == "no more"
    assert client.post(f"{tea}/restore").json()["ended"] == ""
    revised = f"{MEMORIES}/{client.post(f'{tea}/revise', json={'text': 'Coffee at five.'}).json()['id']}"
    assert client.post(f"{revised}/invalidate", json={"at": "2999-01-01"}).json()["valid_until"]
    history = client.get(f"{revised}/history?revisions=true").json()["memories"]
    assert {memory["text"] for memory in history} == {"Tea at four.", "Tea at five.", "Coffee at five."}
    assert client.post(f"{revised}/purge").json()["also"] == ["tea"]
    assert client.get(f"{tea}/history").status_code == 404
    assert "purged" in client.get(tea).json()["error"]["hint"]
    assert "return ids" in client.get(f"{MEMORIES}/nobody").json()["error"]["hint"]
    assert client.delete(f"{MEMORIES}/nobody").status_code == 404
    changes = client.get(f"{BANK}/changes?since=2").json()["changes"]
    whats = ["remember", "update", "remove", "restore", "revise", "invalidate", "purge"]
    assert [change["what"] for change in changes] == whats


def test_work_for_callers_counts_as_a_call_and_watching_does_not(served: Served) -> None:
    calls, client = served.service.banks.calls, served.client
    counted = {}
    for path in (f"{BANK}/stats", "/banks/notes/health", "/health", "/metrics", "/v1/banks"):
        calls._ended = 0.0
        assert client.get(path).status_code == 200
        counted[path] = calls._ended > 0
    assert list(counted.values()) == [True, True, False, False, False]
    calls._ended = 0.0
    assert client.post(f"{BANK}/tools/recall", json={"query": "jwt"}).status_code == 200
    assert calls._ended > 0


def test_changes_since_a_memory_was_read_are_a_conflict(served: Served) -> None:
    client, tea = served.client, f"{MEMORIES}/tea"
    read = client.post(MEMORIES, json={"text": "Tea at four.", "id": "tea", "source": "diary"}).json()
    expected = {"unless_changed_since": read["known_from"]}
    shown = client.post(f"{tea}/purge", json={"dry_run": True}).json()
    of_source = client.post(f"{BANK}/forget", json={"source": "diary", "dry_run": True}).json()
    now = client.patch(tea, json={"text": "Tea at five.", **expected}).json()
    for refused, said in (
        (client.patch(tea, json={"text": "Tea at six.", **expected}), "current"),
        (client.post(f"{tea}/revise", json={"text": "Tea at six.", **expected}), "current"),
        (client.post(f"{tea}/invalidate", json=expected), "current"),
        (client.delete(tea, params=expected), "current"),
        (client.post(f"{tea}/purge", json=expected), f"tea@2 of {now['known_from']} is current"),
        (client.post(f"{tea}/purge", json={"as_told": shown["digest"]}), ""),
        (client.post(f"{BANK}/forget", json={"source": "diary", "as_told": of_source["digest"]}), ""),
    ):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], said in error["message"]) == (409, "conflict", True)
    assert client.get(tea).json() == now
    shown = client.post(f"{tea}/purge", json={"dry_run": True}).json()
    assert client.post(f"{tea}/purge", json={"as_told": shown["digest"]}).json()["erased"]["versions"] == 2
    rest = client.get(f"{MEMORIES}/jwt").json()["known_from"]
    assert client.delete(f"{MEMORIES}/jwt", params={"unless_changed_since": rest}).status_code == 200
    assert client.post(f"{BANK}/forget", json={"source": "diary"}).status_code == 404
    client.post(MEMORIES, json={"text": "Rates rise.", "id": "rates", "source": "rates.md"})
    told = client.post(f"{BANK}/forget", json={"source": "rates.md", "dry_run": True}).json()
    assert (told["dry_run"], told["ids"], told["receipt"]) == (True, ["rates"], None)
    forget = {"source": "rates.md", "purge": True}
    assert client.post(f"{BANK}/forget", json=forget).json()["receipt"]["ids"] == ["rates"]


def test_facts_are_stated_ended_and_purged(served: Served) -> None:
    client = served.client
    triple = {"subject": "Maya", "predicate": "lives_in", "object": "Riga"}
    made = client.post(FACTS, json={**triple, "valid_from": "2020-01-01"})
    assert made.status_code == 201
    fact = f"{FACTS}/{made.json()['id']}"
    assert [each["object"] for each in client.get(FACTS, params={"predicate": "lives_in"}).json()["facts"]] == ["Riga"]
    assert client.post(f"{FACTS}/invalidate", json={**triple, "at": "2024-01-01"}).json()["facts"][0]["valid_until"]
    assert client.get(FACTS, params={"predicate": "lives_in"}).json() == {"facts": []}
    assert len(client.get(f"{fact}/history").json()["facts"]) == 2
    assert client.delete(fact).json()["ended"] == "removed"
    told = client.post(f"{fact}/purge", json={"dry_run": True}).json()
    assert told["erased"]["facts"] == 1
    assert client.post(f"{fact}/purge", json={"as_told": "another"}).status_code == 409
    assert client.post(f"{fact}/purge", json={"as_told": told["digest"]}).json()["ids"] == [made.json()["id"]]
    assert client.get(f"{fact}/history").status_code == client.post(f"{fact}/purge", json={}).status_code == 404


def test_fact_of_a_memory_is_served_as_a_memory(served: Served) -> None:
    client = served.client
    triple = {"subject": "Maya", "predicate": "lives_in", "object": "Riga", "memory": "jwt"}
    fact = f"{MEMORIES}/{client.post(FACTS, json=triple).json()['id']}"
    read = client.get(fact).json()
    assert (read["kind"], read["text"], read["body"]["memory"]) == ("fact", "Maya lives in Riga.", "jwt")
    assert client.patch(fact, json={"text": "Maya lives in Rome."}).json()["version"] == 2
    assert client.post(f"{fact}/revise", json={"text": "Maya lives in Oslo."}).json()["version"] == 3
    assert client.patch(fact, json={"text": "She moved.", "tags": ["home"]}).status_code == 422
    assert client.delete(fact).json()["ended"] == "removed"
    assert (client.get(fact).status_code, client.post(f"{fact}/restore").json()["ended"]) == (404, "")
    assert client.post(f"{fact}/invalidate", json={"replacement": "jwt"}).status_code == 422
    assert client.post(f"{fact}/invalidate").json()["valid_until"]
    assert len(client.get(f"{fact}/history").json()["memories"]) == 6
    assert client.post(f"{fact}/purge").json()["unreached"][0].startswith("the memory jwt, its source")


def test_lists_continue_with_a_cursor(served: Served) -> None:
    for number in range(4):
        served.client.post(MEMORIES, json={"text": f"number {number}"})
    asked = {"limit": "3", "order": "oldest"}
    first = served.client.get(MEMORIES, params=asked).json()
    rest = served.client.get(MEMORIES, params={**asked, "cursor": first["cursor"]}).json()
    assert [len(first["memories"]), len(rest["memories"]), rest["cursor"]] == [3, 2, None]
    assert served.client.get(MEMORIES, params={"cursor": first["cursor"]}).status_code == 422


def test_context_comes_with_its_tokens_and_writes_nothing(served: Served) -> None:
    client, path, reader = served.client, f"{BANK}/context", served.token("read", "notes")
    client.headers.update(reader)
    before = served.head()
    told = client.post(path, json={"query": "which APIs use JWT?", "budget_tokens": 400, "session": "s1"}).json()
    assert "We chose JWT for all new APIs." in told["text"] and told["items"][0]["id"] == "jwt"
    assert told["tokens"] == estimated_tokens(told["text"]) <= 400
    assert client.post(path, json={"keep": True}).json()["error"]["parameter"] == "keep"
    first = client.post(path, json={}).json()
    assert served.head() == before
    served.bank.remember("Never deploy on Fridays.", author_type="human")
    assert client.post(path, json={"known_at": first["known_at"]}).json() == first
    assert "Fridays" in client.post(path, json={}).json()["text"]


def test_proposals_are_decided_by_a_persons_token(served: Served) -> None:
    with pieria.open("notes", via="person") as bank:
        bank.observe([*session("monday", MIGRATED), *session("tuesday", PUT_RIGHT)])
        bank.distil()
    client, asked = served.client, {"type": ["procedure"]}
    person, program = served.token("write", "notes", person=True), served.token("write", "notes")
    [waiting] = client.get(PROPOSALS, params=asked, headers=served.token("read", "notes")).json()["proposals"]
    assert waiting["evidence"][0]["did"] == ["run `alembic upgrade head`"]
    this = f"{PROPOSALS}/{waiting['id']}"
    refused = client.post(f"{this}/accept", json={}, headers=program)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (403, "not_a_person")
    client.headers.update(person)
    accepted = client.post(f"{this}/accept", json={"reason": "seen often"}).json()["proposals"]
    assert accepted[0]["state"] == "accepted"
    assert client.get(PROPOSALS, params={**asked, "state": ["accepted"]}).json()["proposals"] == accepted
    assert client.post(f"{this}/accept", json={}).status_code == 409
    assert client.post(f"{this}/decline", json={}).json()["proposals"][0]["state"] == "declined"
    assert client.post(f"{PROPOSALS}/nobody/accept", json={}).status_code == 404
    assert client.get(PROPOSALS, params={"state": "wanted"}).status_code == 422


def test_a_source_is_traced_quarantined_and_released(served: Served) -> None:
    client = served.client
    client.post(MEMORIES, json={"text": "Refunds go to 42.", "id": "poison", "source": "evil.html"})
    traced = client.get(f"{BANK}/trace", params={"source": "evil.html"}).json()
    assert [item["id"] for item in traced["items"]] == ["poison"]
    made = client.post(f"{BANK}/quarantines", json={"source": "evil.html", "reason": "hacked"})
    assert (made.status_code, made.json()["memories"]) == (201, 1)
    refused = client.get(f"{MEMORIES}/poison")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "quarantined")
    [listed] = client.get(f"{BANK}/quarantines").json()["quarantines"]
    assert listed["number"] == made.json()["number"]
    assert client.delete(f"{BANK}/quarantines/{listed['number']}").json()["memories"] == 1
    assert client.get(f"{MEMORIES}/poison").status_code == 200
    assert client.delete(f"{BANK}/quarantines/nine").status_code == 404


def test_a_bank_is_removed_while_it_is_open(served: Served, home: Path) -> None:
    client, banks = served.client, served.service.banks
    opened = banks.opened("notes", None)
    assert [each.name for each in banks._worked_on()] == ["notes"]
    told = client.delete(BANK, params={"dry_run": True}).json()
    assert client.get("/v1/banks").json() == {"banks": ["notes"]}
    assert client.delete(BANK, params={"dry": True}).json()["error"]["parameter"] == "dry"
    gone = client.delete(BANK).json()
    assert gone == {**told, "dry_run": False}
    assert (gone["bank"], gone["path"], gone["erased"]["memories"], gone["erased"]["facts"]) == ("notes", None, 1, 1)
    assert client.get("/v1/banks").json() == {"banks": []}
    assert client.get(f"{MEMORIES}/jwt").status_code == client.delete(BANK).status_code == 404
    assert not list(home.rglob("notes.db*"))
    assert opened.core.store.is_over and not banks.there() and not [*banks._worked_on()]
    assert client.post(MEMORIES, json={"text": "Anew."}).status_code == 201
    assert client.get(f"{BANK}/changes").json()["next"] == 1


def test_metrics_are_in_the_format_of_prometheus(served: Served) -> None:
    client = served.client
    for path, body in ((f"tools/{READS}", {"query": "JWT"}), (f"tools/{READS}", {}), ("recall", {"query": "JWT"})):
        client.post(f"{BANK}/{path}", json=body)
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    line = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? (\d+(\.\d+)?(e[+-]?\d+)?)')
    assert all(text.startswith("# ") or line.fullmatch(text) for text in lines)
    labels, served_by = f'toolset="mnemosyne",tool="{READS}"', 'toolset="http",tool="recall"'
    assert {
        f"pieria_calls_total{{{labels}}} 2", f'pieria_errors_total{{{labels},code="invalid_input"}} 1',
        f'pieria_call_seconds_bucket{{{labels},le="+Inf"}} 2', f"pieria_call_seconds_count{{{labels}}} 2",
        f"pieria_calls_total{{{served_by}}} 1", 'pieria_journal_head{bank="notes"} 2',
        'pieria_memories{bank="notes"} 1', 'pieria_pending_vectors{bank="notes"} 0',
    } <= set(lines)  # fmt: skip
