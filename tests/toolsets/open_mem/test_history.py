"""The timeline: sessions and their summaries, one session in full, and the neighbours of an observation."""

from typing import Any

from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement
from tests.toolsets.open_mem.conftest import Made


@requirement("history.recent")
def test_sessions_come_last_begun_first(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    old = made()
    clock.move(hours=2)
    new = [host.having(session="tuesday").bank.remember(f"Said {n}.").id for n in range(12)]
    [tuesday, monday] = ask("mem-history")["data"]["items"]
    told = {"id": "tuesday", "status": "active", "endedAt": None, "observationCount": 12}
    assert (tuesday["session"].items() >= told.items(), tuesday["more"]) == (True, 2)
    assert [row["id"] for row in tuesday["observations"]] == new[2:]
    assert (monday["session"]["status"], monday["session"]["endedAt"]) == ("completed", "2026-03-01T12:00:00Z")
    assert [row["id"] for row in monday["observations"]] == [old]


@requirement("history.recent")
def test_words_of_a_session_are_no_observations(ask: Ask, made: Made, host: Host) -> None:
    noted = made()
    host.bank.remember("Thanks!", kind="turn", author_type="human")
    [item] = ask("mem-history")["data"]["items"]
    assert (item["session"]["observationCount"], [row["id"] for row in item["observations"]]) == (1, [noted])
    host.having(session="tuesday").bank.remember("Good morning.", kind="turn", author_type="human")
    assert len(ask("mem-history")["data"]["items"]) == 1
    [words] = ask("mem-history", sessionId="tuesday")["data"]["items"]
    assert (words["session"]["observationCount"], words["observations"]) == (0, [])


@requirement("history.recent")
def test_session_is_completed_by_its_hosts_end(ask: Ask, host: Host, clock: HandClock) -> None:
    def observe(what: str, **more: str) -> None:
        clock.move(seconds=5)
        at = host.bank.clock().isoformat()
        host.bank.observe([{"host": "claude-code", "session": "work", "folder": "/w", "what": what, "at": at, **more}])

    def status() -> str:
        host.bank.distil()
        [item] = [one for one in ask("mem-history")["data"]["items"] if one["session"]["id"] == "work"]
        return str(item["session"]["status"])

    observe("prompt", text="Remember: deploys go only through the release branch.")
    assert status() == "active"
    observe("end", text="exit")
    assert status() == "completed"
    observe("prompt", text="We decided to keep the cache in SQLite, because it needs no server.")
    assert status() == "active"


@requirement("history.recent")
def test_memories_without_a_session_are_listed(ask: Ask, host: Host, clock: HandClock) -> None:
    ids = [host.having(session=None).bank.remember(f"Nobody's {n}.").id for n in range(12)]
    clock.move(minutes=1)
    host.bank.remember_many({"text": f"Later {n}."} for n in range(1_200))
    [_, item] = ask("mem-history")["data"]["items"]
    assert (item["session"]["id"], [row["id"] for row in item["observations"]]) == (None, ids[2:])
    assert item["more"] == 2


@requirement("history.cursor")
def test_import_into_the_past_moves_no_session(ask: Ask, host: Host, clock: HandClock) -> None:
    for n in range(5):
        host.having(session=f"s{n}").bank.remember("Said.")
        clock.move(minutes=1)
    first = ask("mem-history", limit=2)["data"]
    early = {"type": "change", "title": "T", "narrative": "Long ago.", "createdAt": "2020-01-01T00:00:00Z"}
    rows = [{**early, "id": f"early{n}", "sessionId": f"s{n}"} for n in (4, 1)]
    ask("mem-import", payload={"version": 1, "observations": rows})
    host.bank.remove("early1")
    rest = ask("mem-history", limit=20, cursor=first["nextCursor"])["data"]["items"]
    assert [item["session"]["id"] for item in (*first["items"], *rest)] == [f"s{n}" for n in reversed(range(5))]
    assert [item["session"]["id"] for item in ask("mem-history")["data"]["items"]] == ["s3", "s2", "s0", "s4", "s1"]


@requirement("history.session")
def test_session_is_shown_in_full_oldest_first(ask: Ask, refused: Refused, host: Host) -> None:
    ids = [memory.id for memory in host.bank.remember_many({"text": f"Said {n}."} for n in range(130))]
    other = host.having(session="other")
    other.bank.remember("To itself.", scope="session")
    shared = other.bank.remember("To all.").id
    first = ask("mem-history", sessionId="monday")["data"]
    rest = ask("mem-history", sessionId="monday", cursor=first["nextCursor"])["data"]
    [begun], [ended] = first["items"], rest["items"]
    assert [row["id"] for row in (*begun["observations"], *ended["observations"])] == ids
    assert (begun["session"]["observationCount"], rest["nextCursor"]) == (130, None)
    [item] = ask("mem-history", sessionId="other")["data"]["items"]
    assert ([row["id"] for row in item["observations"]], item["session"]["observationCount"]) == ([shared], 1)
    [own] = ask("mem-history", at=other, sessionId="other")["data"]["items"]
    assert len(own["observations"]) == 2
    around = ask("mem-history", anchor=shared, sessionId="other")["data"]["items"][0]["observations"]
    assert [row["id"] for row in around] == [shared]
    assert refused("mem-history", sessionId="nowhere")["error"]["code"] == "NOT_FOUND"


@requirement("history.anchor")
def test_anchor_is_shown_with_its_neighbours(ask: Ask, made: Made, host: Host) -> None:
    ids = [memory.id for memory in host.bank.remember_many({"text": f"Said {n}."} for n in range(9))]
    for before, after in ((0, 0), (3, 2), (20, 20)):
        [item] = ask("mem-history", anchor=ids[4], depthBefore=before, depthAfter=after)["data"]["items"]
        assert [row["id"] for row in item["observations"]] == ids[max(0, 4 - before) : 5 + after]
    mine = [made(scope="user", title=f"Mine {n}") for n in range(2)]
    [item] = ask("mem-history", anchor=mine[1])["data"]["items"]
    assert [row["id"] for row in item["observations"]] == mine


@requirement("history.anchor")
def test_anchor_leads_to_its_head_or_is_refused(ask: Ask, made: Made, refused: Refused) -> None:
    old = made()
    new = ask("mem-revise", id=old, title="Anew")["data"]["newId"]
    reply = ask("mem-history", anchor=old)
    assert [row["id"] for row in reply["data"]["items"][0]["observations"]] == [new]
    assert reply["meta"]["resolved"] == {old: new}
    assert "resolved" not in ask("mem-history", anchor=new)["meta"]
    id = new
    assert refused("mem-history", anchor=id, sessionId="other")["error"]["code"] == "VALIDATION_ERROR"
    assert refused("mem-history", anchor=id, cursor="x")["error"]["details"]["parameter"] == "cursor"
    ask("mem-remove", id=id)
    assert refused("mem-history", anchor=id)["error"]["code"] == "CONFLICT"
    assert refused("mem-history", anchor="nope")["error"]["code"] == "NOT_FOUND"


@requirement("history.summaries")
def test_session_is_summarized_anew_as_it_goes_on(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    def shown() -> dict[str, Any]:
        [item] = ask("mem-history")["data"]["items"]
        assert item["session"]["summaryId"] == item["summary"]["id"]
        return dict(item["summary"])

    def work() -> None:
        clock.move(minutes=2)
        host.bank.jobs.worker().run(once=True)

    made("The cache is kept by SQLite.", title="Cache decision", files=["src/cache.py"])
    assert ask("mem-history")["data"]["items"][0]["summary"] is None
    work()
    first = shown()
    assert (first["summary"], first["keyDecisions"]) == ("Decided: The cache is kept by SQLite.", ["Cache decision"])
    assert (first["filesModified"], first["stale"]) == (["src/cache.py"], False)
    second = made("The budget moved to Lisbon.", type="change")
    assert shown()["stale"] is True
    work()
    assert (shown()["id"], shown()["stale"], "Lisbon" in shown()["summary"]) == (first["id"], False, True)
    ask("mem-remove", id=second)
    work()
    assert "Lisbon" not in shown()["summary"]


@requirement("history.summaries")
def test_summary_is_stale_once_its_texts_change(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    def stale(**asked: Any) -> bool:
        [item] = ask("mem-history", **asked)["data"]["items"]
        return bool(item["summary"]["stale"])

    id = made()
    host.bank.upkeep.summarize("monday")
    clock.move(minutes=1)
    host.bank.remember("A drawer is no part of it.", kind="drawer")
    host.bank.remember("Nor is what a session keeps to itself.", scope="session")
    mine = made(scope="user")
    assert not any(stale(**asked) for asked in ({}, {"sessionId": "monday"}, {"anchor": id}, {"anchor": mine}))
    ask("mnemosyne_update", memory_id=id, content="Another text of the same memory.")
    assert all(stale(**asked) for asked in ({}, {"sessionId": "monday"}, {"anchor": id}))
    other = host.having(bank_name="other")
    made(at=other, scope="user")
    assert other.bank.jobs.counts() == {}
