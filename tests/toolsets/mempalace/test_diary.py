"""Diaries, the settings of hooks, and the check for missing parts."""

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement


@requirement("diary.whole", "schema.validated")
def test_entries_are_whole_and_newest_first(ask: Ask, refused: Refused, clock: HandClock) -> None:
    long = "MAY|harbour|" + "a long entry " * 400
    for entry in ("First.", long, "Third."):
        written = ask("mempalace_diary_write", agent_name="Code Reviewer", entry=entry, topic="reviews")
        clock.move(minutes=5)
    ask("mempalace_diary_write", agent_name="helper", content="Elsewhere.")
    assert (written["agent"], written["topic"], written["wing"]) == ("code reviewer", "reviews", "wing_code_reviewer")
    assert written["timestamp"] == "2026-03-01T12:10:00Z"
    told = ask("mempalace_diary_read", agent_name="CODE REVIEWER", last_n=2)
    assert [entry["content"] for entry in told["entries"]] == ["Third.", long]
    assert (told["total"], told["showing"]) == (3, 2)
    assert (told["entries"][0]["date"], told["entries"][0]["topic"]) == ("2026-03-01", "reviews")
    assert ask("mempalace_list_rooms", wing="wing_helper")["rooms"] == {"diary": 1}
    empty = ask("mempalace_diary_read", agent_name="nobody")
    assert (empty["entries"], empty["total"], bool(empty["message"])) == ([], 0, True)
    ids = {ask("mempalace_diary_write", agent_name="helper", entry="All quiet.")["entry_id"] for _ in range(2)}
    assert len(ids) == 2
    assert ask("mempalace_diary_read", agent_name="helper")["entries"][0]["topic"] == "general"
    for name, value in (("agent_name", "a/b"), ("entry", " "), ("topic", ".."), ("content", "twice")):
        told = refused("mempalace_diary_write", **{"agent_name": "helper", "entry": "x", name: value})
        assert told["violations"][0]["parameter"] == name


@requirement("diary.whole")
def test_diary_is_one_however_its_agent_is_spelt(ask: Ask, clock: HandClock) -> None:
    for name in ("Code Reviewer", "code_reviewer", "CODE REVIEWER"):
        ask("mempalace_diary_write", agent_name=name, entry=f"I am {name}.")
        clock.move(minutes=1)
    spelt = ["I am CODE REVIEWER.", "I am code_reviewer.", "I am Code Reviewer."]
    told = ask("mempalace_diary_read", agent_name="Code_Reviewer")
    assert ([entry["content"] for entry in told["entries"]], told["total"]) == (spelt, 3)
    ask("mempalace_rename_room", wing="wing_code_reviewer", room="diary", new_wing="old", new_room="days")
    told = ask("mempalace_diary_read", agent_name="code reviewer")
    assert ([entry["content"] for entry in told["entries"]], told["total"]) == ([spelt[0], spelt[2]], 2)


@requirement("hooks.truth")
def test_settings_and_checkpoints_of_hooks_are_kept(ask: Ask, host: Host) -> None:
    settings = {"silent_save": True, "desktop_toast": False}
    assert ask("mempalace_hook_settings") == {"success": True, **settings, "settings": settings}
    told = ask("mempalace_hook_settings", silent_save=False)
    assert (told["silent_save"], told["updated"]) == (False, ["silent_save: true → false"])
    assert "updated" not in ask("mempalace_hook_settings", silent_save=False)
    assert host.bank.hooks.settings().silent_save is False
    quiet = ask("mempalace_memories_filed_away")
    assert (quiet["filed"], quiet["status"], quiet["message_count"], quiet["timestamp"]) == (False, "quiet", 0, None)
    host.bank.hooks.checkpoint(15)
    for _ in range(2):
        told = ask("mempalace_memories_filed_away")
        assert (told["filed"], told["status"], told["message_count"], told["count"]) == (True, "ok", 15, 15)
        assert told["timestamp"] == "2026-03-01T12:00:00Z"


@requirement("reconnect.honest")
@pytest.mark.parametrize(("settings", "disabled"), [({}, True), ({"embedder": "hashing"}, False)])
def test_reconnection_reports_the_state_of_the_palace(ask: Ask, refused: Refused, host: Host, disabled: bool) -> None:
    missing = refused("mempalace_reconnect", at=host.having(bank_name="nowhere", is_named=True))
    assert (missing["success"], missing["drawers"], missing["vector_disabled"]) == (False, 0, False)
    assert missing["message"] == missing["error"] == "bank 'nowhere' not found"
    assert ask("mempalace_reconnect")["drawers"] == 0
    ask("mempalace_add_drawer", wing="w", room="r", content="One.")
    host.bank.sync()
    told = ask("mempalace_reconnect")
    assert (told["success"], told["drawers"], told["vector_disabled"]) == (True, 1, disabled)
    assert ("vector_disabled_reason" in told) is disabled


@requirement("diary.whole")
def test_entries_go_to_any_wing_and_are_read_from_all(ask: Ask, refused: Refused) -> None:
    ask("mempalace_diary_write", agent_name="Scout", entry="At home.")
    assert ask("mempalace_diary_write", agent_name="Scout", entry="At work.", wing="api")["wing"] == "api"
    ask("mempalace_diary_write", agent_name="Other", entry="Beside it.", wing="api")
    for wing in ({}, {"wing": ""}):
        told = ask("mempalace_diary_read", agent_name="scout", **wing)
        assert (sorted(one["content"] for one in told["entries"]), told["total"]) == (["At home.", "At work."], 2)
    told = ask("mempalace_diary_read", agent_name="scout", wing="api")
    assert ([one["content"] for one in told["entries"]], told["total"]) == (["At work."], 1)
    assert refused("mempalace_diary_write", agent_name="Scout", entry="x", wing="a/b")["success"] is False
