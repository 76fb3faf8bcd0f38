"""Export and import: whole histories, each mode, all or nothing, one head, and nothing removed comes back."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement
from tests.toolsets.open_mem.conftest import NARRATIVE, Made

ROW: dict[str, Any] = {
    "id": "obs-1", "sessionId": "mcp", "scope": "project", "type": "decision", "title": "Imported", "subtitle": "Sub",
    "facts": ["A fact."], "narrative": "Came from a file.", "concepts": ["storage"], "filesRead": ["src/a.py"],
    "filesModified": ["src/b.py"], "toolName": "mem-create", "createdAt": "2026-01-10T00:00:00.000Z", "tokenCount": 5,
    "discoveryTokens": 7, "importance": 4, "revisionOf": None, "deletedAt": None, "supersededBy": None,
    "supersededAt": None,
}  # fmt: skip
SUMMARY: dict[str, Any] = {
    "id": "sum-1", "sessionId": "mcp", "summary": "A day of caches.", "keyDecisions": ["SQLite"],
    "filesModified": ["src/b.py"], "concepts": ["storage"], "createdAt": "2026-01-10T01:00:00.000Z", "tokenCount": 4,
    "nextSteps": "Measure.",
}  # fmt: skip


def payload(*rows: Any, summaries: Any = (), **more: Any) -> dict[str, Any]:
    return {"version": 1, "exportedAt": "2026-01-11T00:00:00Z", "project": "theirs", "observations": list(rows),
            "summaries": list(summaries), **more}  # fmt: skip


def row(**changes: Any) -> dict[str, Any]:
    return {**ROW, **changes}


def held(ask: Ask, id: str, **more: Any) -> dict[str, Any]:
    [found] = ask("mem-get", ids=[id], **more)["data"]["observations"]
    return dict(found)


def timeline(ask: Ask, at: Host) -> list[Any]:
    """Return all that the timeline shows, session by session."""
    items = ask("mem-history", at=at, limit=20)["data"]["items"]
    return [[item["session"], item["summary"], item["observations"]] for item in items]


def lived(ask: Ask, made: Made, host: Host, clock: HandClock) -> list[str]:
    """Make a project with two sessions, revisions, a tombstone, another toolset's note and summaries."""
    ids = [made(f"Heron {n}.", title=f"Heron {n}", files=["src/a.py"], importance=n) for n in range(1, 5)]
    clock.move(hours=1)
    ids.append(made("Stork.", at=host.having(session="tuesday"), title="T", type="change"))
    second = ask("mem-revise", id=ids[0], narrative="A heron.", reason="shorter")["data"]["newId"]
    clock.move(minutes=1)
    ids.append(ask("mem-revise", id=second, title="The heron", reason="named")["data"]["newId"])
    ask("mem-remove", id=ids[1], reason="not there")
    note = ask("mnemosyne_remember", content="A note about herons.", importance=0.33, source="talk")["memory_id"]
    ask("mnemosyne_update", memory_id=note, content="A better note about herons.")
    host.bank.remember_many({"id": f"once{n}", "text": f"At once {n}.", "tags": ["flock"]} for n in range(5))
    ask("mem-remove", id="once1")
    ask("mem-revise", id="once3", title="Twice")
    clock.move(minutes=5)
    for session in ("monday", "tuesday"):
        host.bank.upkeep.summarize(session)
    return [*ids, second, note]


@requirement("export.whole", "import.summaries")
def test_move_keeps_history_order_lineage_and_summaries(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    ids = lived(ask, made, host, clock)
    exported = ask("mem-export")["data"]["payload"]
    copied, other = (host.having(bank_name=name) for name in ("copy", "other"))
    reply = ask("mem-import", at=copied, payload=exported)
    assert (reply["data"]["imported"], reply["data"]["skipped"]) == (len(exported["observations"]), 0)
    again = ask("mem-export", at=copied)["data"]["payload"]
    for section in ("observations", "revisions", "summaries"):
        assert exported[section] == again[section] != []
    for mode in ("merge", "replace"):
        data = ask("mem-import", at=copied, payload=exported, mode=mode)["data"]
        assert (data["imported"], data["revisions"]) == (0, 0)
    assert timeline(ask, copied) == timeline(ask, host)
    other.bank.remember("Something.", session="before", at="2020-01-01")
    ask("mem-import", at=other, payload=exported)
    for here, there in zip(timeline(ask, host), timeline(ask, other), strict=False):
        assert (here[1]["summary"], here[2]) == (there[1]["summary"], there[2])
    for id in ids:
        here, there = (ask("mem-get", at=at, ids=[id], includeHistory=True)["data"] for at in (host, copied))
        assert here == there
        assert made.states(id) == made.states(id, at=other)
    assert copied.bank.purge(ids[2]).also, "a summary goes with what is purged"


class Meddling(HandClock):
    """A clock that lets another writer write while the time is read."""

    def __init__(self) -> None:
        super().__init__()
        self.then: list[Callable[[], object] | None] = []

    def __call__(self) -> datetime:
        now = super().__call__()
        if self.then and (meanwhile := self.then.pop(0)) is not None:
            meanwhile()
        return now


@requirement("export.whole")
@pytest.mark.parametrize("clock", [Meddling()])
def test_export_is_of_one_moment(ask: Ask, made: Made, host: Host, clock: Meddling) -> None:
    changed, removed, purged = (made(f"Heron {n}.", title=f"Heron {n}") for n in range(3))
    ask("mem-revise", id=purged, title="Anew")
    host.bank.upkeep.summarize("monday")
    wanted = ask("mem-export")["data"]["payload"]
    meanwhile = [lambda: host.bank.revise(changed, text="Later."), lambda: host.bank.remove(removed)]
    for place, step in enumerate((*meanwhile, lambda: made("New."))):
        clock.then = [*[None] * (place + 1), step]
        told = ask("mem-export")["data"]["payload"]
        assert clock.then == []
        for section in ("observations", "revisions"):
            assert told[section] == wanted[section], section
        assert [one["summary"] for one in told["summaries"]] == [one["summary"] for one in wanted["summaries"]]
        ask("mem-import", at=host.having(bank_name=f"copy{place}"), payload=told)
        wanted = ask("mem-export")["data"]["payload"]


@requirement("export.part", "export.private")
def test_export_of_a_part_keeps_the_newest(ask: Ask, made: Made, host: Host) -> None:
    made(scope="user")
    host.bank.remember("To itself.", scope="session")
    ids = [made(f"Heron {n}.", title=f"Heron {n}", type="change" if n % 2 else "bugfix") for n in range(4)]
    reply = ask("mem-export", limit=2)
    exported = reply["data"]["payload"]
    assert [one["id"] for one in exported["observations"]] == ids[2:]
    assert (exported["truncated"], reply["meta"]["left"]) == (True, 2)
    exported = ask("mem-export", type="change")["data"]["payload"]
    assert ([one["id"] for one in exported["observations"]], exported["truncated"]) == (ids[1::2], False)
    assert ask("mem-export", type="bugfix", limit=1)["data"]["payload"]["observations"][0]["id"] == ids[2]
    whole = ask("mem-export", limit=2**80)["data"]["payload"]
    assert ([one["id"] for one in whole["observations"]], whole["truncated"]) == (ids, False)


@requirement("export.part")
def test_part_comes_with_its_own_history_and_sessions(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    ids = lived(ask, made, host, clock)
    exported = ask("mem-export", type="decision")["data"]["payload"]
    assert {one["id"] for one in exported["revisions"]} == {ids[0], ids[-2]}
    assert [one["sessionId"] for one in exported["summaries"]] == ["monday"]


@requirement("import.forms")
def test_payload_is_text_an_object_or_a_reply(ask: Ask, host: Host) -> None:
    whole = payload(ROW, summaries=[SUMMARY])
    for number, form in enumerate((
        json.dumps(whole), whole, {"data": {"payload": whole, "format": "json"}}, {"payload": whole},
        json.dumps({"data": {"payload": whole}, "error": None, "meta": {}}), json.dumps(json.dumps(whole)),
    )):  # fmt: skip
        at = host.having(bank_name=f"bank{number}")
        data = ask("mem-import", at=at, payload=form)["data"]
        assert (data["imported"], data["skipped"], data["summaries"]) == (1, 0, {"imported": 1, "skipped": 0})
        found = held(ask, "obs-1", at=at)
        assert found == {**found, **ROW, "tokenCount": found["tokenCount"], "createdAt": "2026-01-10T00:00:00Z"}
        [item] = ask("mem-history", at=at)["data"]["items"]
        assert (item["session"]["id"], item["session"]["startedAt"]) == ("mcp", "2026-01-10T00:00:00Z")
        assert (item["summary"]["summary"], item["summary"]["keyDecisions"]) == ("A day of caches.", ["SQLite"])


@requirement("import.forms", "import.atomic")
def test_invalid_payload_is_refused_and_makes_no_bank(refused: Refused, host: Host) -> None:
    for wrong in (
        "{", "[]", '"x"', {}, {"version": 2, "observations": []}, {"version": 1, "observations": {}},
        {"version": 1, "observations": [], "summaries": 5},
    ):  # fmt: skip
        error = refused("mem-import", payload=wrong)["error"]
        assert error["code"] == "VALIDATION_ERROR"
        assert error["details"]["parameter"].startswith("payload")
    error = refused("mem-import", payload="open-mem-export.json")["error"]
    assert error["details"]["hint"] == "Give the content of an export file, not its name."
    for section in ("observations", "revisions", "summaries"):
        for name, value in (("body", [1]), ("body", "x"), ("untyped", "no"), ("untitled", 1)):
            record = {**(SUMMARY if section == "summaries" else ROW), "also": {name: value}}
            error = refused("mem-import", payload={**payload(), section: [record]})["error"]
            told = [(one["section"], one["parameter"]) for one in error["details"]["problems"]]
            assert (error["code"], told) == ("VALIDATION_ERROR", [(section, f"also.{name}")])
    assert not host.banks.has("notes")


@requirement("import.atomic")
def test_half_bad_payload_leaves_nothing_behind(refused: Refused, made: Made, host: Host) -> None:
    made()
    bad = payload(
        row(id="good"), row(id="b", type="idea"), row(id="c", createdAt="yesterday"),
        row(id="d", title="", narrative=""), row(id="e", concepts=["x" * 501]), row(id="good"), 5,
        row(id="f", importance=7),
    )  # fmt: skip
    first = refused("mem-import", payload=bad)["error"]
    assert first["code"] == "VALIDATION_ERROR"
    problems = first["details"]["problems"]
    assert [(one["index"], one["parameter"]) for one in problems] == [
        (1, "type"), (2, "createdAt"), (3, "narrative"), (6, "arguments"), (7, "importance"), (5, "id"),
    ]  # fmt: skip
    half = payload(row(id="good"), row(id="h", narrative="Half \ud800."), row(id="i", facts=["\udfff"]))
    told = refused("mem-import", payload=json.dumps(half))["error"]["details"]["problems"]
    assert [(one["id"], one["parameter"]) for one in told] == [("h", "narrative"), ("i", "facts")]
    # Errors that only the bank can find also name their record.
    deep = payload(row(id="good"), row(id="e", concepts=["x" * 501]), row(id="g", sessionId="a\nb"))
    told = refused("mem-import", payload=deep)["error"]["details"]["problems"]
    assert {(one["id"], one["parameter"]) for one in told} == {("e", "concepts"), ("g", "sessionId")}
    assert host.bank.count() == 1


@requirement("import.skip")
def test_skip_keeps_what_is_here_and_no_mode_revives(ask: Ask, made: Made) -> None:
    made(NARRATIVE, title="The cache")
    ask("mem-import", payload=payload(ROW))
    same = row(id="elsewhere", title="The cache", narrative=NARRATIVE)
    changed = row(narrative="Another text.")
    data = ask("mem-import", payload=payload(changed, same, row(id="new", title="New")))["data"]
    assert (data["imported"], data["skipped"], data["updated"]) == (1, 2, 0)
    assert held(ask, "obs-1")["narrative"] == "Came from a file."
    assert ask("mem-get", ids=["elsewhere"])["data"]["missing"] == ["elsewhere"]
    ask("mem-remove", id="obs-1", reason="wrong")
    for mode in ("skip", "merge", "replace"):
        data = ask("mem-import", payload=payload(ROW, row(id="again")), mode=mode)["data"]
        assert (data["imported"], data["skipped"]) == (0, 2)
        assert ask("mem-get", ids=["obs-1", "again"])["data"]["deleted"] == ["obs-1"]


@requirement("import.merge")
def test_merge_joins_lists_and_takes_the_later_text(ask: Ask, made: Made) -> None:
    ask("mem-import", payload=payload(row(createdAt="2026-01-10T00:00:00Z")))
    later = row(narrative="Later.", title="Later", concepts=["cache"], filesModified=["src/c.py"], filesRead=[],
                facts=["A later fact."], createdAt="2026-06-01T00:00:00Z")  # fmt: skip
    data = ask("mem-import", payload=payload(later), mode="merge")["data"]
    assert (data["imported"], data["updated"]) == (1, 1)
    found = held(ask, "obs-1")
    assert (found["narrative"], found["title"]) == ("Later.", "Later")
    assert set(found["concepts"]) == {"storage", "cache"}
    assert (found["filesRead"], set(found["filesModified"])) == (["src/a.py"], {"src/b.py", "src/c.py"})
    assert found["facts"] == ["A later fact.", "A fact."]
    assert made.states("obs-1") == [("obs-1@1", "superseded"), ("obs-1", "current")]
    earlier = row(narrative="Earlier.", concepts=["old"], createdAt="2020-01-01T00:00:00Z")
    ask("mem-import", payload=payload(earlier), mode="merge")
    found = held(ask, "obs-1")
    assert (found["narrative"], "old" in found["concepts"]) == ("Later.", True)


@requirement("import.merge")
def test_merge_takes_the_later_of_two_imported_texts(ask: Ask, made: Made) -> None:
    """All of them were written before the first import, as exports of one day and of the next are."""
    made()
    for day, text, kept in (("10", "First.", "First."), ("12", "Third.", "Third."), ("11", "Second.", "Third.")):
        told = row(narrative=text, createdAt=f"2026-02-{day}T00:00:00Z")
        ask("mem-import", payload=payload(told), mode="merge")
        assert held(ask, "obs-1")["narrative"] == kept
    ask("mem-import", payload=payload(row(narrative="Fourth.", createdAt="2026-02-13T00:00:00Z")), mode="merge")
    assert held(ask, "obs-1")["narrative"] == "Fourth."
    here = ask("mnemosyne_update", memory_id="obs-1", content="Written here.")
    ask("mem-import", payload=payload(row(narrative="Fifth.", createdAt="2026-02-14T00:00:00Z")), mode="merge")
    assert (here["status"], held(ask, "obs-1")["narrative"]) == ("updated", "Written here.")


@requirement("export.private", "import.forms", "remove.no_resurrection")
def test_removed_text_is_in_no_export(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    first = made("The door code is swordfish.", title="Swordfish", concepts=["swordfish"], files=["swordfish.txt"])
    stays = made("Herons nest by the mill.")
    host.bank.upkeep.summarize("monday")
    clock.move(minutes=1)
    second = ask("mem-revise", id=first, narrative="The code is swordfish no more.")["data"]["newId"]
    ask("mem-remove", id=second, reason="never keep codes")
    reply = ask("mem-export")
    exported = reply["data"]["payload"]
    assert "swordfish" not in json.dumps(exported).casefold()
    assert [(one["id"], one["endReason"]) for one in exported["revisions"]] == [
        (first, None), (second, "never keep codes"),
    ]  # fmt: skip
    assert (exported["summaries"], "summaries: 1" in reply["meta"]["warnings"][0]) == ([], True)
    copied, twin = (host.having(bank_name=name) for name in ("copy", "twin"))
    ask("mem-import", at=copied, payload=exported)
    assert ask("mem-get", at=copied, ids=[second, stays])["data"]["deleted"] == [second]
    again = ask("mem-export", at=copied)["data"]["payload"]
    assert (again["observations"], again["revisions"]) == (exported["observations"], exported["revisions"])
    # Where the text still is, the removal arrives, and can be taken back with the text.
    ask("mem-import", at=twin, payload=payload(row(id=second, narrative="Kept there.")))
    ask("mem-import", at=twin, payload=exported, mode="merge")
    assert ask("mem-get", at=twin, ids=[second])["data"]["deleted"] == [second]
    twin.bank.restore(second)
    assert held(ask, second, at=twin)["narrative"] == "Kept there."


@requirement("export.whole")
def test_export_leaves_turns_out_and_says_so(ask: Ask, made: Made, host: Host) -> None:
    noted = made()
    host.bank.remember_many({"text": f"Thanks {n}!", "kind": "turn"} for n in range(2))
    reply = ask("mem-export")
    assert [one["id"] for one in reply["data"]["payload"]["observations"]] == [noted]
    assert reply["meta"]["warnings"] == ["observations: 2 turns are left out; `pieria export` takes them along."]


@requirement("import.replace", "import.forms", "import.ignored", "import.heads")
def test_replace_and_odd_records_keep_what_can_be_kept(ask: Ask) -> None:
    ask("mem-import", payload=payload(ROW))
    data = ask("mem-import", payload=payload(row(narrative="Replaced.", concepts=[])), mode="replace")["data"]
    assert (data["imported"], data["updated"], data["skipped"]) == (1, 1, 0)
    found = held(ask, "obs-1")
    assert (found["narrative"], found["concepts"]) == ("Replaced.", [])
    old, new = ask("mem-get", ids=["obs-1"], includeHistory=True)["data"]["history"]["obs-1"]
    assert (old["observation"]["narrative"], new["state"]) == ("Came from a file.", "current")
    again = ask("mem-import", payload=payload(row(narrative="Replaced.", concepts=[])), mode="replace")["data"]
    assert (again["imported"], again["skipped"]) == (0, 1)
    bare = row(id="bare", narrative="", facts=None, concepts=None, importance=None, sessionId=None)
    tombstone = row(id="gone", deletedAt="2026-02-01T00:00:00Z", rawToolOutput="Long.", also={"mood": 1})
    alone = row(id="old", supersededBy="new", supersededAt="2026-02-01T00:00:00Z")
    reply = ask("mem-import", payload=payload(bare, tombstone, alone))
    found = held(ask, "bare")
    assert (found["narrative"], found["facts"], found["importance"]) == ("Imported", [], 3)
    assert reply["meta"]["warnings"] == ["narrative: 1 had none; their titles are used instead."]
    assert reply["meta"]["ignored"] == ["also.mood", "rawToolOutput"]
    data = ask("mem-get", ids=["gone", "old"])["data"]
    assert (data["deleted"], data["missing"]) == (["gone"], ["old"])


@requirement("import.heads")
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
def test_two_histories_come_to_one_head(ask: Ask, made: Made, host: Host, clock: HandClock, mode: str) -> None:
    first = made()
    begun = ask("mem-export")["data"]["payload"]
    copied = host.having(bank_name="copy")
    ask("mem-import", at=copied, payload=begun)
    clock.move(minutes=1)
    here = ask("mem-revise", id=first, narrative="SQLite here.")["data"]["newId"]
    clock.move(minutes=1)
    ask("mem-revise", at=copied, id=first, narrative="SQLite there.")
    ask("mem-import", payload=ask("mem-export", at=copied)["data"]["payload"], mode=mode)
    assert made.found("sqlite", limit=50) == [here]
    assert held(ask, here)["narrative"] == ("SQLite here." if mode == "skip" else "SQLite there.")
    assert made.states(first)[0] == (first, "superseded")


@requirement("import.forms")
def test_times_at_the_ends_of_all_times_are_imported(ask: Ask, made: Made, host: Host) -> None:
    for bank, time in (("first", "0001-01-01T00:00:00Z"), ("last", "9999-12-31T23:59:59.999999Z")):
        at = host.having(bank_name=bank)
        old = row(id="old", createdAt=time, knownFrom=time, supersededBy="obs-1", supersededAt=time)
        gone = row(id="gone", createdAt=time, knownFrom=time, deletedAt=time, endedAt=time)
        told = payload(row(createdAt=time, knownFrom=time, revisionOf="old"), revisions=[old, gone], writer="pieria")
        assert ask("mem-import", at=at, payload=told)["data"]["imported"] == 1
        assert held(ask, "obs-1", at=at)["createdAt"] == time
        assert ask("mem-get", at=at, ids=["gone"])["data"]["deleted"] == ["gone"]
        assert ask("mem-revise", at=at, id=made(at=at), title="After")["data"]["newId"]


@requirement("import.summaries")
def test_summary_is_of_its_session_and_meets_the_mode(ask: Ask, host: Host) -> None:
    ask("mem-import", payload=payload(ROW, summaries=[SUMMARY]))
    other = {**SUMMARY, "id": "sum-2", "summary": "Another day.", "createdAt": "2026-06-01T00:00:00Z"}
    data = ask("mem-import", payload=payload(ROW, summaries=[other]))["data"]
    assert data["summaries"] == {"imported": 0, "skipped": 1}
    ask("mem-import", payload=payload(ROW, summaries=[other]), mode="replace")
    [item] = ask("mem-history")["data"]["items"]
    assert (item["summary"]["id"], item["summary"]["summary"]) == ("sum-1", "Another day.")
    assert host.bank.count(kinds="summary") == 1


@requirement("import.summaries")
def test_grown_session_is_summarized_anew(ask: Ask, host: Host, clock: HandClock) -> None:
    host.bank.remember("The cache is kept by SQLite.")
    host.bank.upkeep.summarize("monday")
    more = row(id="more", sessionId="monday", narrative="The budget moved to Lisbon.")
    ask("mem-import", payload=payload(more, row(id="new", sessionId="of theirs")))
    assert host.bank.jobs.counts() == {"later": 1}
    clock.move(minutes=2)
    host.bank.jobs.worker().run(once=True)
    [item] = [item for item in ask("mem-history")["data"]["items"] if item["session"]["id"] == "monday"]
    assert (item["summary"]["stale"], "Lisbon" in item["summary"]["summary"]) == (False, True)
    told = {**SUMMARY, "sessionId": "monday", "createdAt": "2026-12-01T00:00:00Z"}
    again = row(id="again", sessionId="monday", narrative="And back.")
    ask("mem-import", payload=payload(again, summaries=[told]), mode="replace")
    assert "later" not in host.bank.jobs.counts()


@requirement("import.summaries")
def test_other_summaries_do_not_replace_the_sessions_own(ask: Ask, made: Made, host: Host) -> None:
    made()
    others = [
        host.bank.remember("Slept over it.", kind="summary", session="monday", body={"type": "summary"}).id,
        host.bank.remember("Summed up by hand.", kind="summary", session="monday").id,
    ]
    exported = ask("mem-export")["data"]["payload"]
    for mode in ("skip", "merge", "replace"):
        copied = host.having(bank_name=f"copy-{mode}")
        ask("mem-create", at=copied, title="There", type="change", narrative="Something else.")
        own = copied.bank.upkeep.summarize("monday")
        data = ask("mem-import", at=copied, payload=exported, mode=mode)["data"]
        assert data["summaries"] == {"imported": 2, "skipped": 0}
        assert own in [*copied.bank.list(kinds="summary")]
        here, there = ([*map(copy.bank.get, others)] for copy in (host, copied))
        assert [(one.text, one.body) for one in there if one] == [(one.text, one.body) for one in here if one]


GONE = {"supersededBy": "new", "supersededAt": "2026-02-01T00:00:00Z"}


def said(id: str, of: str | None = None, at: str = "2026-01-10T00:00:00Z", **more: Any) -> dict[str, Any]:
    return row(id=id, narrative=f"The heron of {id}.", revisionOf=of, createdAt=at, **more)


@requirement("import.heads")
def test_revised_record_of_a_payload_is_history(ask: Ask, made: Made, host: Host) -> None:
    for bank, more in (("plain", {}), ("superseded", GONE)):
        at = host.having(bank_name=bank)
        ask("mem-import", at=at, payload=payload(said("old", **more), said("new", "old")))
        assert made.states("old", at=at) == [("old", "superseded"), ("new", "current")]
    chain = [said(f"r{n}", f"r{n - 1}" if n else None) for n in range(200)]
    data = ask("mem-import", payload=payload(chain[-1], revisions=chain[:-1]))["data"]
    assert (data["imported"], data["revisions"], len(made.states("r0"))) == (1, 199, 200)
    assert made.found("heron", limit=50) == ["r199"]


@requirement("import.heads")
def test_later_of_two_revisions_stands(ask: Ask, made: Made, host: Host) -> None:
    revisions = [said("root", **{**GONE, "supersededBy": "one"})]
    for year, last, first in (("2026", "two", "one"), ("2025", "one", "two")):
        at = host.having(bank_name=f"of-{year}")
        two = said("two", "root", at=f"{year}-05-01T00:00:00Z")
        reply = ask("mem-import", at=at, payload=payload(said("one", "root"), two, revisions=revisions))
        wanted = [("root", "superseded"), (first, "superseded"), (last, "current")]
        assert (made.found("heron", at=at), made.states("root", at=at)) == ([last], wanted)
        assert first in reply["meta"]["warnings"][0]


@requirement("import.heads", "remove.no_resurrection")
def test_revision_replaces_what_is_here_and_revives_nothing(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    """As the original exports it: only the newest, with the id of the revised one."""
    for mode in ("skip", "merge", "replace"):
        kept, removed, purged = (host.having(bank_name=f"{mode}-{what}") for what in ("kept", "removed", "purged"))
        for at in (kept, removed, purged):
            ask("mem-import", at=at, payload=payload(said("old")))
        ask("mem-remove", at=removed, id="old")
        purged.bank.purge("old")
        clock.move(days=1)
        ask("mem-import", at=kept, payload=payload(said("new", "old")), mode=mode)
        if mode == "skip":
            assert made.found("heron", at=kept) == ["old"]
        else:
            ask("mem-import", at=kept, payload=payload(said("newest", "new")), mode=mode)
            assert made.found("heron", at=kept) == ["newest"]
            history = [("old", "superseded"), ("new", "superseded"), ("newest", "current")]
            assert made.states("old", at=kept) == history
        for at, revisions in ((removed, []), (purged, []), (purged, [said("old", **GONE)])):
            reply = ask("mem-import", at=at, payload=payload(said("new", "old"), revisions=revisions), mode=mode)
            assert (reply["data"]["imported"], reply["data"]["skipped"]) == (0, 1)
            assert at is removed or reply["meta"]["left"]["histories"] == {"purged here": 1}
            assert made.found("heron", at=at) == []


@requirement("import.heads", "import.ignored")
def test_circles_and_the_users_observations_are_imported(ask: Ask, made: Made) -> None:
    round_ = payload(said("one", "two"), said("two", "one"), said("self", "self"))
    ask("mem-import", payload=round_)
    assert len(made.found("heron")) == 2
    reply = ask("mem-import", payload=payload(revisions=[said("a", "b"), said("b", "a"), said("c")]))
    assert reply["meta"]["left"] == {"revisions": {"lead to nothing in the payload": 3}}
    assert ask("mem-get", ids=["a", "b", "c"])["data"]["missing"] == ["a", "b", "c"]
    reply = ask("mem-import", payload=payload(said("mine", scope="user")))
    assert reply["meta"]["warnings"] == ["scope: 1 of the user's observations now belong to the project."]
