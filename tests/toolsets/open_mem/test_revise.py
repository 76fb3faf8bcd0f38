"""Creating, opening, revising and removing: nothing is overwritten, nothing forks, nothing comes back."""

from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Refused, requirement
from tests.toolsets.open_mem.conftest import NARRATIVE, Made

from pieria.toolsets import Access, Host, registry

SECRET = "password: tern-9Wq!fjord"


@requirement("create.keeps")
def test_observation_is_kept_as_it_was_given(ask: Ask, made: Made) -> None:
    given = {"title": "The cache", "type": "bugfix", "narrative": NARRATIVE, "concepts": ["storage"]}
    created = ask("mem-create", **given, files=["src/a.py"])["data"]["observation"]
    [held] = ask("mem-get", ids=[created["id"]])["data"]["observations"]
    assert created == held == {**held, **given}
    assert (held["filesModified"], held["filesRead"], held["sessionId"]) == (["src/a.py"], [], "monday")
    ids = [made(f"Observation {importance}.", importance=importance) for importance in range(1, 6)]
    assert [each["importance"] for each in ask("mem-get", ids=ids)["data"]["observations"]] == [1, 2, 3, 4, 5]


@requirement("create.refused", "envelope.codes")
def test_invalid_observation_is_refused(refused: Refused, host: Host) -> None:
    said = {"title": "T", "type": "change", "narrative": "N."}
    for name, value in (("title", ""), ("narrative", " "), ("concepts", [""])):
        error = refused("mem-create", **{**said, name: value})["error"]
        assert error["code"] == "VALIDATION_ERROR"
        assert error["details"]["violations"][0]["parameter"].startswith(name)
    error = refused("mem-create", title="T", type="idea", narative="N.", importance=6)["error"]
    named = {each["parameter"] for each in error["details"]["violations"]}
    assert named == {"type", "narative", "narrative", "importance"}
    assert host.bank.count() == 0


@requirement("create.same")
def test_same_text_again_is_noted(ask: Ask, made: Made) -> None:
    for scope in ("project", "user"):
        first = made(scope=scope)
        reply = ask("mem-create", title="Again", type="change", narrative=NARRATIVE, scope=scope)
        assert reply["data"]["observation"]["id"] != first
        assert first in reply["meta"]["warnings"][0]


@requirement("privacy.redacted")
def test_secrets_are_redacted_on_every_way_in(ask: Ask, made: Made, host: Host, tmp_path: Path) -> None:
    made_ = ask("mem-create", title=f"Set {SECRET}", type="change", narrative=f"{SECRET} and <private>more</private>.")
    assert (made_["meta"]["redacted"], made_["meta"]["private"]) == (2, 1)
    id = made_["data"]["observation"]["id"]
    revised = ask("mem-revise", id=id, narrative=f"Now {SECRET}.", reason=SECRET)
    assert revised["meta"]["redacted"] == 2
    ask("mem-create", title="Mine", type="change", narrative=SECRET, scope="user")
    ask("mem-remove", id=revised["data"]["newId"], reason=SECRET)
    row = {"id": "x", "type": "change", "title": "T", "narrative": SECRET, "createdAt": "2026-01-01T00:00:00Z"}
    rows, counts = [row, {**row, "id": "y", "title": f"Set {SECRET}"}], []
    for payload in (rows[:1], rows[:1], rows):
        counts.append(ask("mem-import", payload={"version": 1, "observations": payload})["meta"]["redacted"])
    assert counts == [1, 0, 2], "only new ones are counted"
    host.banks.close()
    files = [path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file()]
    assert files
    assert not any(b"tern-9Wq" in content or b"more</private>" in content for content in files)


@requirement("privacy.redacted")
def test_import_is_screened_before_it_is_in_a_file(ask: Ask, host: Host, tmp_path: Path) -> None:
    seen: list[bool] = []

    def look(done: int, whole: int) -> None:
        files = [path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file()]
        seen.append(any(b"tern-9Wq" in content or b"door code" in content for content in files))

    row = {"id": "x", "type": "change", "title": "T", "createdAt": "2026-01-01T00:00:00Z"}
    rows = [{**row, "narrative": f"{SECRET} <private>the door code</private>"}]
    ask("mem-import", at=host.having(progress=look), payload={"version": 1, "observations": rows})
    assert seen and not any(seen)


@requirement("privacy.redacted")
@pytest.mark.parametrize("settings", [{"secrets": "refuse"}])
def test_refused_secrets_are_named_by_their_parameter(refused: Refused, made: Made) -> None:
    said = {"title": "T", "type": "change", "narrative": "N."}
    for name, value in (("narrative", SECRET), ("concepts", [SECRET]), ("files", [SECRET])):
        error = refused("mem-create", **{**said, name: value})["error"]
        [violation] = error["details"]["violations"]
        assert (error["code"], error["details"]["parameter"]) == ("VALIDATION_ERROR", violation["parameter"])
        assert error["message"].startswith(f"{name}: refused")
        assert (violation["expected"], violation["received"]) == ("a text without secrets", "what looks like password")
    id = made()
    assert refused("mem-revise", id=id, narrative=SECRET)["error"]["details"]["parameter"] == "narrative"


@requirement("privacy.redacted")
@pytest.mark.parametrize("settings", [{"secrets": "flag"}])
def test_setting_for_secrets_rules(ask: Ask) -> None:
    reply = ask("mem-create", title="T", type="change", narrative=SECRET)
    assert reply["data"]["observation"]["narrative"] == SECRET
    assert (reply["meta"]["redacted"], reply["meta"]["secretsKept"]) == (0, ["password"])


@requirement("revise.keeps")
def test_revision_keeps_what_is_not_given(ask: Ask, made: Made, clock: HandClock) -> None:
    old = made(files=["src/a.py"], concepts=["storage"], importance=5)
    clock.move(minutes=1)
    data = ask("mem-revise", id=old, narrative="In WAL mode.", reason="measured")["data"]
    assert (data["previousId"], data["observation"]["revisionOf"]) == (old, old)
    [held] = ask("mem-get", ids=[data["newId"]])["data"]["observations"]
    assert (held["title"], held["narrative"], held["filesModified"]) == ("The cache", "In WAL mode.", ["src/a.py"])
    assert (held["concepts"], held["importance"], held["type"]) == (["storage"], 5, "decision")
    assert held["tokenCount"] < 12
    before, after = ask("mem-get", ids=[old], includeHistory=True)["data"]["history"][old]
    assert (before["state"], before["supersededBy"]) == ("superseded", data["newId"])
    assert (before["observation"]["narrative"], after["revisionOf"]) == (NARRATIVE, old)
    assert (after["state"], after["reason"], after["changedFields"]) == ("current", "measured", ["narrative"])


@requirement("revise.type", "get.reported")
def test_revised_and_ended_observations_keep_the_rest(ask: Ask, host: Host, made: Made, clock: HandClock) -> None:
    body = {"type": "decision", "subtitle": "Once more", "facts": ["One file."]}
    host.bank.remember("Said.", id="x", kind="observation", body=body)
    held = ask("mem-revise", id="x", type="change")["data"]["observation"]
    assert (held["type"], held["subtitle"], held["facts"]) == ("change", "Once more", ["One file."])
    old, new, plain = made(), made("Redis keeps it."), made("Nothing changed.")
    host.bank.invalidate(old, replacement=new)
    host.bank.update(plain, valid_until="2030-01-01")
    data = ask("mem-get", ids=[old, new, plain])["data"]
    assert data["ended"] == {old: "2026-03-01T12:00:00Z"}
    assert data["observations"][0]["supersededBy"] == new


@requirement("revise.heads", "remove.newest")
def test_any_named_revision_leads_to_one_head(ask: Ask, made: Made, refused: Refused) -> None:
    first = made()
    second = ask("mem-revise", id=first, title="Second")["data"]["newId"]
    reply = ask("mem-revise", id=first, title="Third")
    third = reply["data"]["newId"]
    assert (reply["data"]["previousId"], reply["meta"]["resolved"]) == (second, {first: second})
    assert [state for _, state in made.states(second)] == ["superseded", "superseded", "current"]
    error = refused("mem-remove", id=first)["error"]
    assert (error["code"], error["details"]["ids"]) == ("CONFLICT", [third])
    assert made.found("sqlite cache") == [third]
    ask("mem-remove", id=third)
    for tool, more in (("mem-remove", {}), ("mem-revise", {"title": "T"})):
        assert refused(tool, id=third, **more)["error"]["code"] == "CONFLICT"


@requirement("revise.refused")
def test_revision_of_nothing_or_of_a_secret_is_refused(refused: Refused, made: Made, host: Host, ask: Ask) -> None:
    id = made()
    said: dict[str, Any] = {"title": "The cache", "narrative": NARRATIVE, "type": "decision", "concepts": []}
    for nothing in ({"reason": "just so"}, *({name: value} for name, value in said.items()), said):
        assert refused("mem-revise", id=id, **nothing)["error"]["code"] == "VALIDATION_ERROR"
    assert refused("mem-revise", id="nope", title="T")["error"]["code"] == "NOT_FOUND"
    said = {"title": "Key", "narrative": f"It is {SECRET}, {SECRET}.", "concepts": [f"at {SECRET}"]}
    secret = ask("mem-create", type="change", **said)["data"]["observation"]["id"]
    told = {"narrative": f"<private>psst</private>{said['narrative']}"}
    for same in (*({name: value} for name, value in said.items()), told):
        assert refused("mem-revise", id=secret, **same)["error"]["code"] == "VALIDATION_ERROR"
    assert [len(host.bank.history(each, revisions=True)) for each in (id, secret)] == [1, 1]


@requirement("remove.tombstone")
def test_removed_observation_is_gone_but_for_its_history(ask: Ask, made: Made) -> None:
    first = made()
    second = ask("mem-revise", id=first, title="Second", reason="better")["data"]["newId"]
    assert ask("mem-remove", id=second, reason="wrong")["data"]["tombstoned"] is True
    assert made.found("sqlite cache") == []
    assert ask("mem-history")["data"]["items"] == []
    data = ask("mem-get", ids=[first, second], includeHistory=True)["data"]
    assert (data["observations"], data["deleted"]) == ([], [first, second])
    old, gone = data["history"][second]
    assert (old["state"], gone["state"], gone["reason"]) == ("superseded", "tombstoned", "wrong")
    assert gone["deletedAt"] is not None
    assert "observation" not in gone
    assert ask("mem-export")["data"]["payload"]["observations"] == []


@requirement("get.reported")
def test_missing_superseded_deleted_and_left_ids_are_named(ask: Ask, made: Made) -> None:
    old, gone, plain = made(), made(title="Gone"), made(title="Plain")
    new = ask("mem-revise", id=old, title="New")["data"]["newId"]
    ask("mem-remove", id=gone)
    reply = ask("mem-get", ids=[plain, old, "nope", gone, plain, new], limit=4)
    data = reply["data"]
    assert [each["id"] for each in data["observations"]] == [plain, old]
    assert (data["missing"], data["superseded"], data["deleted"]) == (["nope"], {old: new}, [gone])
    assert reply["meta"]["left"] == [new]
    assert "history" not in data


@requirement("get.versions")
def test_versions_are_opened_and_taken_by_every_tool(ask: Ask, made: Made, refused: Refused) -> None:
    id = made()
    ask("mnemosyne_update", memory_id=id, content="Updated.")
    old = f"{id}@1"
    data = ask("mem-get", ids=[id, old], includeHistory=True)["data"]
    assert [each["narrative"] for each in data["observations"]] == ["Updated.", NARRATIVE]
    assert data["superseded"] == {old: id}
    assert made.states(id) == [(old, "superseded"), (id, "current")]
    assert data["history"][id][1]["revisionOf"] == old
    around = ask("mem-history", anchor=old)
    assert (around["meta"]["anchor"], around["meta"]["resolved"]) == (id, {old: id})
    assert refused("mem-remove", id=old)["error"]["details"]["ids"] == [id]
    revised = ask("mem-revise", id=old, title="Anew")
    assert (revised["data"]["previousId"], revised["meta"]["resolved"]) == (id, {old: id})
    new = revised["data"]["newId"]
    assert ask("mem-remove", id=f"{new}@1")["data"]["id"] == new
    for tool, more in (("mem-revise", {"title": "T"}), ("mem-remove", {}), ("mem-history", {})):
        name = "anchor" if tool == "mem-history" else "id"
        assert refused(tool, **{name: f"{id}@7"}, **more)["error"]["code"] == "NOT_FOUND"


@requirement("scope.user")
def test_users_observations_live_in_every_project(ask: Ask, made: Made, host: Host) -> None:
    id = made(scope="user")
    elsewhere = host.having(bank_name="another")
    elsewhere.bank.remember("Something.")
    assert made.found("sqlite", at=elsewhere, scope="all") == [id]
    new = ask("mem-revise", at=elsewhere, id=id, title="Anew", reason="better")["data"]["newId"]
    assert made.found("sqlite cache", scope="user") == [new]
    history = ask("mem-get", ids=[id], includeHistory=True)["data"]["history"][id]
    assert [node["reason"] for node in history] == [None, "better"]
    assert ask("mem-get", ids=[new])["data"]["observations"][0]["scope"] == "user"
    ask("mem-remove", id=new, reason="done")
    assert made.found("sqlite cache", scope="all") == []


@requirement("scope.user")
def test_unreachable_user_scope_is_reported(ask: Ask, refused: Refused, made: Made, host: Host) -> None:
    made(scope="user")
    ours = made()
    at = host.having(covers=lambda name: name == "notes", opened=("notes",))
    create = {"title": "T", "type": "change", "narrative": "N.", "scope": "user"}
    for tool, arguments in (("mem-create", create), ("mem-find", {"query": "sqlite", "scope": "user"})):
        error = refused(tool, at=at, **arguments)["error"]
        assert (error["code"], "@me" in error["details"]["hint"]) == ("LOCKED_BY_ENV", True)
    everything = ask("mem-find", at=at, query="sqlite", scope="all")
    assert [hit["id"] for hit in everything["data"]["results"]] == [ours]
    assert everything["meta"]["warnings"][0].startswith("scope")
    assert "scope" not in str(ask("mem-find", query="sqlite", scope="all")["meta"].get("warnings"))


@requirement("envelope.codes")
def test_every_failure_has_one_of_five_codes(ask: Ask, refused: Refused, made: Made, host: Host) -> None:
    id = made()
    ask("mem-remove", id=id)
    reader = host.having(access=Access.read)
    seen = {
        refused("mem-get", ids=[])["error"]["code"],
        refused("mem-remove", id="nope")["error"]["code"],
        refused("mem-remove", id=id)["error"]["code"],
        refused("mem-remove", at=reader, id=id)["error"]["code"],
    }
    host.banks.workspace.close()
    reply = refused("mem-get", ids=[id])
    seen.add(reply["error"]["code"])
    assert seen == {"VALIDATION_ERROR", "NOT_FOUND", "CONFLICT", "LOCKED_BY_ENV", "INTERNAL_ERROR"}
    assert (reply.keys(), reply["data"]) == ({"data", "error", "meta"}, None)
    assert reply["error"].keys() == {"code", "message", "details"}


@requirement("help.short")
def test_guide_names_the_listed_tools_in_few_words(ask: Ask, host: Host) -> None:
    for access in (Access.read, Access.admin):
        guide = ask("mem-help", at=host.having(access=access))["data"]["guide"]
        for tool in registry().toolsets["open-mem"].tools:
            assert (f"{tool.name}(" in guide) is (tool.access <= access)
        assert len(guide) / 3.5 <= 400
