"""Export and import: whole histories, each mode, all or nothing, and nothing that was removed comes back."""

import copy
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.open_mem.conftest import NARRATIVE, Made
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host

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
    ids.append(ask("mem-create", at=host.having(session="tuesday"), title="T", type="change", narrative="Stork.")[
        "data"]["observation"]["id"])  # fmt: skip
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


@requirement("export.whole")
def test_history_order_lineage_and_summaries_are_the_same_after_a_move(
    ask: Ask, made: Made, host: Host, clock: HandClock
) -> None:
    ids = lived(ask, made, host, clock)
    exported = ask("mem-export")["data"]["payload"]
    copied = host.having(bank_name="copy")
    reply = ask("mem-import", at=copied, payload=exported)
    assert (reply["data"]["imported"], reply["data"]["skipped"]) == (len(exported["observations"]), 0)
    again = ask("mem-export", at=copied)["data"]["payload"]
    for section in ("observations", "revisions", "summaries"):
        assert exported[section] == again[section]
        assert exported[section]
    assert timeline(ask, copied) == timeline(ask, host)
    for id in ids:
        here, there = (ask("mem-get", at=at, ids=[id], includeHistory=True)["data"] for at in (host, copied))
        assert here == there
    anchored = [ask("mem-history", at=at, anchor=ids[0], depthBefore=20)["data"]["items"] for at in (host, copied)]
    assert anchored[0] == anchored[1]


@requirement("export.whole")
def test_into_a_bank_that_holds_something_order_lineage_and_reasons_are_the_same(
    ask: Ask, made: Made, host: Host, clock: HandClock
) -> None:
    ids = lived(ask, made, host, clock)
    exported = ask("mem-export")["data"]["payload"]
    other = host.having(bank_name="other")
    other.bank.remember("Something.", session="before", at="2020-01-01")
    ask("mem-import", at=other, payload=exported)
    for here, there in zip(timeline(ask, host), timeline(ask, other), strict=False):
        assert here[2] == there[2]
        assert here[1]["summary"] == there[1]["summary"]
    for id in ids:
        nodes = [
            [(node["id"], node["state"], node["reason"], node["revisionOf"]) for node in
             ask("mem-get", at=at, ids=[id], includeHistory=True)["data"]["history"][id]]
            for at in (host, other)
        ]  # fmt: skip
        assert nodes[0] == nodes[1]


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
def test_an_export_is_of_one_moment_whatever_is_written_meanwhile(
    ask: Ask, made: Made, host: Host, clock: Meddling
) -> None:
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


@requirement("export.part")
def test_a_limit_keeps_the_newest_and_says_so(ask: Ask, made: Made, clock: HandClock) -> None:
    ids = []
    for n in range(4):
        ids.append(made(f"Heron {n}.", title=f"Heron {n}", type="change" if n % 2 else "bugfix"))
        clock.move(minutes=1)
    reply = ask("mem-export", limit=2)
    exported = reply["data"]["payload"]
    assert [one["id"] for one in exported["observations"]] == ids[2:]
    assert (exported["truncated"], reply["meta"]["left"]) == (True, 2)
    exported = ask("mem-export", type="change")["data"]["payload"]
    assert [one["id"] for one in exported["observations"]] == ids[1::2]
    assert exported["truncated"] is False
    assert not ask("mem-export", limit=2**80)["data"]["payload"]["truncated"]
    assert ask("mem-export", type="bugfix", limit=1)["data"]["payload"]["observations"][0]["id"] == ids[2]


@requirement("export.part")
def test_of_a_part_only_its_own_history_and_sessions_come_along(
    ask: Ask, made: Made, host: Host, clock: HandClock
) -> None:
    ids = lived(ask, made, host, clock)
    exported = ask("mem-export", type="decision")["data"]["payload"]
    assert {one["id"] for one in exported["revisions"]} == {ids[0], ids[-2]}
    assert [one["sessionId"] for one in exported["summaries"]] == ["monday"]


@requirement("export.private")
def test_what_is_the_user_s_or_a_session_s_own_is_not_exported(ask: Ask, made: Made, host: Host) -> None:
    made(scope="user")
    host.bank.remember("To itself.", scope="session")
    assert ask("mem-export")["data"]["payload"]["observations"] == []


# --- import


@requirement("import.forms")
@pytest.mark.parametrize(
    "form",
    [
        json.dumps, lambda it: it, lambda it: {"data": {"payload": it, "format": "json"}},
        lambda it: json.dumps({"data": {"payload": it}, "error": None, "meta": {}}), lambda it: {"payload": it},
        lambda it: json.dumps(json.dumps(it)),
    ],
)  # fmt: skip
def test_a_payload_comes_as_text_as_object_or_in_its_reply(ask: Ask, form: Any) -> None:
    data = ask("mem-import", payload=form(payload(ROW, summaries=[SUMMARY])))["data"]
    assert (data["imported"], data["skipped"], data["summaries"]) == (1, 0, {"imported": 1, "skipped": 0})
    found = held(ask, "obs-1")
    told = {"tokenCount", "createdAt", "kind"}
    assert {name: found[name] for name in ROW if name not in told} == {
        name: ROW[name] for name in ROW if name not in told
    }
    assert found["createdAt"] == "2026-01-10T00:00:00Z"
    [item] = ask("mem-history")["data"]["items"]
    assert (item["session"]["id"], item["session"]["startedAt"]) == ("mcp", "2026-01-10T00:00:00Z")
    assert (item["summary"]["summary"], item["summary"]["keyDecisions"]) == ("A day of caches.", ["SQLite"])


@requirement("import.forms")
@pytest.mark.parametrize(
    "wrong",
    ["{", "[]", "5", '"x"', "{}", json.dumps({"version": 2, "observations": []}), json.dumps({"observations": []}),
     json.dumps({"version": 1, "observations": {}}), json.dumps({"version": 1, "observations": [], "summaries": 5})],
)  # fmt: skip
def test_what_is_no_payload_is_refused_and_makes_no_bank(refused: Refused, host: Host, wrong: str) -> None:
    error = refused("mem-import", payload=wrong)["error"]
    assert error["code"] == "VALIDATION_ERROR"
    assert error["details"]["parameter"].startswith("payload")
    assert not host.banks.has("notes")


@requirement("import.atomic")
@pytest.mark.parametrize("empty", [True, False])
def test_a_half_bad_payload_leaves_nothing_behind_and_names_every_bad_record(
    ask: Ask, refused: Refused, made: Made, host: Host, empty: bool
) -> None:
    if not empty:
        made()
    before = host.bank.count()
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
    assert host.bank.count() == before


@requirement("import.atomic")
@pytest.mark.parametrize("section", ["observations", "revisions", "summaries"])
@pytest.mark.parametrize(("name", "value"), [("body", [1]), ("body", "x"), ("untyped", "no"), ("untitled", 1)])
def test_what_stands_beside_a_record_is_checked_as_well(refused: Refused, section: str, name: str, value: Any) -> None:
    record = {**(SUMMARY if section == "summaries" else ROW), "also": {name: value}}
    error = refused("mem-import", payload={**payload(), section: [record]})["error"]
    assert error["code"] == "VALIDATION_ERROR"
    told = [(one["section"], one["parameter"]) for one in error["details"]["problems"]]
    assert told == [(section, f"also.{name}")]


@requirement("import.skip")
def test_skip_keeps_what_is_here_by_id_or_by_content(ask: Ask, made: Made) -> None:
    own = made(NARRATIVE, title="The cache")
    ask("mem-import", payload=payload(ROW))
    same = row(id="elsewhere", title="The cache", narrative=NARRATIVE)
    changed = row(narrative="Another text.")
    data = ask("mem-import", payload=payload(changed, same, row(id="new", title="New")))["data"]
    assert (data["imported"], data["skipped"], data["updated"]) == (1, 2, 0)
    assert held(ask, "obs-1")["narrative"] == "Came from a file."
    assert ask("mem-get", ids=["elsewhere"])["data"]["missing"] == ["elsewhere"]
    assert held(ask, own)["narrative"] == NARRATIVE


@requirement("import.skip")
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
def test_no_mode_brings_back_what_was_removed(ask: Ask, made: Made, mode: str) -> None:
    ask("mem-import", payload=payload(ROW))
    ask("mem-remove", id="obs-1", reason="wrong")
    data = ask("mem-import", payload=payload(ROW, row(id="again")), mode=mode)["data"]
    assert (data["imported"], data["skipped"]) == (0, 2)
    assert ask("mem-get", ids=["obs-1", "again"])["data"]["deleted"] == ["obs-1"]


@requirement("import.merge")
def test_merge_joins_the_lists_and_takes_the_later_text(ask: Ask, clock: HandClock) -> None:
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
    states = ask("mem-get", ids=["obs-1"], includeHistory=True)["data"]["history"]["obs-1"]
    assert [(node["id"], node["state"]) for node in states] == [("obs-1@1", "superseded"), ("obs-1", "current")]
    earlier = row(narrative="Earlier.", concepts=["old"], createdAt="2020-01-01T00:00:00Z")
    ask("mem-import", payload=payload(earlier), mode="merge")
    found = held(ask, "obs-1")
    assert found["narrative"] == "Later."
    assert "old" in found["concepts"]


@requirement("import.replace")
def test_replace_puts_the_payload_s_in_place_and_keeps_the_old_in_the_history(ask: Ask) -> None:
    ask("mem-import", payload=payload(ROW))
    data = ask("mem-import", payload=payload(row(narrative="Replaced.", concepts=[])), mode="replace")["data"]
    assert (data["imported"], data["updated"], data["skipped"]) == (1, 1, 0)
    found = held(ask, "obs-1")
    assert (found["narrative"], found["concepts"]) == ("Replaced.", [])
    old, new = ask("mem-get", ids=["obs-1"], includeHistory=True)["data"]["history"]["obs-1"]
    assert (old["observation"]["narrative"], new["state"]) == ("Came from a file.", "current")
    again = ask("mem-import", payload=payload(row(narrative="Replaced.", concepts=[])), mode="replace")["data"]
    assert (again["imported"], again["skipped"]) == (0, 1)


@requirement("import.heads")
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
def test_two_histories_of_one_observation_come_to_one_head(
    ask: Ask, made: Made, host: Host, clock: HandClock, mode: str
) -> None:
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
    texts = [node["observation"]["narrative"] for node in
             ask("mem-get", ids=[first], includeHistory=True)["data"]["history"][first]]  # fmt: skip
    assert texts[:2] == [NARRATIVE, "SQLite here."]


@requirement("import.heads")
@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_a_history_that_went_on_elsewhere_goes_on_here(
    ask: Ask, made: Made, host: Host, clock: HandClock, mode: str
) -> None:
    first = made()
    copied = host.having(bank_name="copy")
    ask("mem-import", at=copied, payload=ask("mem-export")["data"]["payload"])
    clock.move(minutes=1)
    there = ask("mem-revise", at=copied, id=first, title="On", reason="went on")["data"]["newId"]
    exported = ask("mem-export", at=copied)["data"]["payload"]
    assert ask("mem-import", payload=copy.deepcopy(exported))["data"]["imported"] == 0
    ask("mem-import", payload=exported, mode=mode)
    assert made.found("sqlite", limit=50) == [there]
    nodes = ask("mem-get", ids=[first], includeHistory=True)["data"]["history"][first]
    assert [(node["id"], node["state"]) for node in nodes] == [(first, "superseded"), (there, "current")]
    assert nodes[1]["reason"] == "went on"


@requirement("import.heads")
def test_a_revision_without_its_successor_does_not_stand_for_it(ask: Ask, made: Made) -> None:
    gone = row(id="old", supersededBy="new", supersededAt="2026-02-01T00:00:00Z")
    data = ask("mem-import", payload=payload(gone, ROW))["data"]
    assert (data["imported"], data["skipped"]) == (1, 1)
    assert ask("mem-get", ids=["old"])["data"]["missing"] == ["old"]


@requirement("import.forms")
@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_times_at_the_ends_of_all_times_come_in_and_what_is_written_after_is_known_later(
    ask: Ask, made: Made, time: str
) -> None:
    old = row(id="old", createdAt=time, knownFrom=time, supersededBy="obs-1", supersededAt=time)
    gone = row(id="gone", createdAt=time, knownFrom=time, deletedAt=time, endedAt=time)
    told = payload(row(createdAt=time, knownFrom=time, revisionOf="old"), revisions=[old, gone], writer="pieria")
    assert ask("mem-import", payload=told)["data"]["imported"] == 1
    assert held(ask, "obs-1")["createdAt"] == time
    assert ask("mem-get", ids=["gone"])["data"]["deleted"] == ["gone"]
    assert ask("mem-revise", id=made(), title="After")["data"]["newId"]


@requirement("import.forms")
def test_what_the_original_leaves_empty_comes_in(ask: Ask) -> None:
    bare = row(id="bare", narrative="", facts=None, concepts=None, importance=None, sessionId=None)
    reply = ask("mem-import", payload=payload(bare))
    found = held(ask, "bare")
    assert (found["narrative"], found["facts"], found["importance"]) == ("Imported", [], 3)
    assert reply["meta"]["warnings"] == ["narrative: 1 had none; their titles are used instead."]


@requirement("import.forms")
def test_a_tombstone_comes_in_as_one(ask: Ask) -> None:
    ask("mem-import", payload=payload(row(deletedAt="2026-02-01T00:00:00Z")))
    assert ask("mem-get", ids=["obs-1"])["data"]["deleted"] == ["obs-1"]


@requirement("import.summaries")
def test_a_summary_is_of_its_session_and_meets_the_mode(ask: Ask, host: Host) -> None:
    ask("mem-import", payload=payload(ROW, summaries=[SUMMARY]))
    other = {**SUMMARY, "id": "sum-2", "summary": "Another day.", "createdAt": "2026-06-01T00:00:00Z"}
    data = ask("mem-import", payload=payload(ROW, summaries=[other]))["data"]
    assert data["summaries"] == {"imported": 0, "skipped": 1}
    ask("mem-import", payload=payload(ROW, summaries=[other]), mode="replace")
    [item] = ask("mem-history")["data"]["items"]
    assert (item["summary"]["id"], item["summary"]["summary"]) == ("sum-1", "Another day.")
    assert host.bank.count(kinds="summary") == 1


@requirement("import.summaries")
def test_a_session_that_grows_by_an_import_is_summed_up_anew_unless_its_summary_comes_along(
    ask: Ask, host: Host, clock: HandClock
) -> None:
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
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
def test_other_summaries_of_a_session_do_not_take_the_place_of_its_own(
    ask: Ask, made: Made, host: Host, mode: str
) -> None:
    made()
    others = [
        host.bank.remember("Slept over it.", kind="summary", session="monday", body={"type": "summary"}).id,
        host.bank.remember("Summed up by hand.", kind="summary", session="monday").id,
    ]
    exported = ask("mem-export")["data"]["payload"]
    copied = host.having(bank_name="copy")
    ask("mem-create", at=copied, title="There", type="change", narrative="Something else.")
    own = copied.bank.upkeep.summarize("monday")
    assert own is not None
    data = ask("mem-import", at=copied, payload=exported, mode=mode)["data"]
    assert data["summaries"] == {"imported": 2, "skipped": 0}
    assert copied.bank.get(own.id) == own
    for id in others:
        here, there = host.bank.get(id), copied.bank.get(id)
        assert here is not None and there is not None
        assert (there.text, dict(there.body)) == (here.text, dict(here.body))


@requirement("import.summaries")
def test_a_purge_takes_a_summary_along_that_came_with_what_is_purged(
    ask: Ask, made: Made, host: Host, clock: HandClock
) -> None:
    ids = lived(ask, made, host, clock)
    copied = host.having(bank_name="copy")
    ask("mem-import", at=copied, payload=ask("mem-export")["data"]["payload"])
    assert copied.bank.purge(ids[2]).also


@requirement("import.ignored")
def test_what_nobody_here_knows_is_named(ask: Ask) -> None:
    reply = ask("mem-import", payload=payload(row(rawToolOutput="Long.", also={"mood": 1})))
    assert reply["meta"]["ignored"] == ["also.mood", "rawToolOutput"]


@requirement("import.forms")
def test_the_name_of_a_file_in_place_of_its_text_is_told_for_what_it_is(refused: Refused) -> None:
    error = refused("mem-import", payload="open-mem-export.json")["error"]
    assert error["details"]["hint"] == "Give the content of an export file, not its name."
