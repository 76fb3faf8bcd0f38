"""One memory, many voices: each toolset finds, opens, corrects and forgets the other's memories."""

import pytest
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.open_mem.conftest import NARRATIVE, Made
from tests.toolsets.requirements import requirement

from pieria.record.memory import LISTED_KINDS
from pieria.toolsets import Host


@requirement("across.theirs")
def test_what_mnemosyne_remembered_is_found_opened_revised_and_removed_here(
    ask: Ask, refused: Refused, made: Made
) -> None:
    id = ask("mnemosyne_remember", content="SQLite keeps the notes.", importance=0.5)["memory_id"]
    assert made.found("sqlite notes") == [id]
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["type"], held["kind"]) == ("SQLite keeps the notes.", "discovery", "note")
    assert ask("mem-history", anchor=id)["data"]["items"][0]["observations"][0]["id"] == id
    new = ask("mem-revise", id=id, narrative="SQLite keeps all notes.", type="decision", reason="more")["data"]["newId"]
    [hit] = ask("mnemosyne_recall", query="sqlite notes")["results"]
    assert (hit["id"], hit["content"]) == (new, "SQLite keeps all notes.")
    assert refused("mnemosyne_update", memory_id=id, content="x")["error"]["code"] == "conflict"
    ask("mem-remove", id=new)
    assert ask("mnemosyne_recall", query="sqlite notes")["results"] == []


@requirement("across.ours")
def test_what_was_created_here_is_recalled_updated_and_forgotten_there(ask: Ask, made: Made) -> None:
    id = made()
    [hit] = ask("mnemosyne_recall", query="sqlite cache")["results"]
    assert (hit["id"], hit["content"]) == (id, NARRATIVE)
    ask("mnemosyne_update", memory_id=id, content="SQLite keeps two files of the cache.", importance=1.0)
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["importance"], held["type"]) == (
        "SQLite keeps two files of the cache.",
        5,
        "decision",
    )
    ask("mnemosyne_invalidate", memory_id=id)
    assert made.found("sqlite cache") == []
    other = made("Redis keeps the queue.")
    ask("mnemosyne_forget", memory_id=other)
    assert ask("mem-get", ids=[other])["data"]["missing"] == [other]


@requirement("across.theirs")
def test_what_is_filed_in_the_palace_is_found_opened_revised_and_removed_here(
    ask: Ask, refused: Refused, made: Made
) -> None:
    filed = {"wing": "api", "room": "decisions", "content": "We chose JWT for the gateway."}
    id = ask("mempalace_add_drawer", **filed)["drawer_id"]
    [hit] = ask("mem-find", query="gateway JWT", types=["decision"])["data"]["results"]
    assert (hit["id"], hit["summary"]) == (id, "We chose JWT for the gateway.")
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["kind"]) == ("We chose JWT for the gateway.", "drawer")
    new = ask("mem-revise", id=id, narrative="We chose passkeys for the gateway.", reason="safer")["data"]["newId"]
    [told] = ask("mempalace_search", query="gateway", wing="api", room="decisions")["results"]
    assert (told["drawer_id"], told["text"]) == (new, "We chose passkeys for the gateway.")
    assert ask("mempalace_get_drawer", drawer_id=id)["metadata"]["superseded_by"] == new
    late = refused("mempalace_update_drawer", drawer_id=id, content="The gateway takes cookies.")
    assert (late["error_class"], new in late["hint"]) == ("conflict", True)
    ask("mempalace_update_drawer", drawer_id=new, content="The gateway takes OIDC.")
    texts = [node["observation"]["narrative"] for node in
             ask("mem-get", ids=[id], includeHistory=True)["data"]["history"][id]]  # fmt: skip
    assert texts == ["We chose JWT for the gateway.", "We chose passkeys for the gateway.", "The gateway takes OIDC."]
    ask("mem-remove", id=new, reason="retired")
    assert ask("mempalace_search", query="gateway")["results"] == []
    assert refused("mempalace_get_drawer", drawer_id=new)["error_class"] == "not_found"
    # Filing the same again is deliberate: it makes another drawer, and the removed one stays removed.
    again = ask("mempalace_add_drawer", **filed)["drawer_id"]
    assert made.found("gateway") == [again] != [id]
    assert ask("mem-get", ids=[id, new])["data"]["deleted"] == [id, new]


@requirement("across.ours")
def test_what_was_created_here_is_a_drawer_of_the_palace(ask: Ask, refused: Refused, made: Made) -> None:
    old = made()
    id = ask("mem-revise", id=old, narrative="SQLite keeps the cache in two files.")["data"]["newId"]
    [told] = ask("mempalace_search", query="sqlite cache")["results"]
    assert (told["drawer_id"], told["wing"], told["room"]) == (id, "notes", "observation")
    assert ask("mempalace_get_drawer", drawer_id=old)["content"] == NARRATIVE
    ask("mempalace_update_drawer", drawer_id=id, content="SQLite keeps the cache in memory.", wing="app", room="cache")
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["type"], held["title"]) == (
        "SQLite keeps the cache in memory.",
        "decision",
        "The cache",
    )
    newest = ask("mem-revise", id=f"{id}@1", title="The cache, again")["data"]["newId"]
    assert ask("mempalace_get_drawer", drawer_id=newest)["room"] == "cache"
    ask("mempalace_delete_drawer", drawer_id=newest)
    assert made.found("sqlite cache") == []
    gone = ask("mem-get", ids=[newest])["data"]
    assert (gone["observations"], gone["missing"]) == ([], [newest])
    assert refused("mem-revise", id=newest, title="T")["error"]["details"]["hint"].startswith("The memory was purged")


@requirement("across.theirs")
def test_what_was_saved_in_mnemex_is_found_opened_revised_and_removed_here(
    ask: Ask, refused: Refused, made: Made
) -> None:
    id = ask("save_memory", content="Kestrels nest on the tower.", tags=["birds"])["memory_id"]
    assert made.found("kestrels tower") == [id]
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["concepts"], held["kind"]) == ("Kestrels nest on the tower.", ["birds"], "note")
    assert ask("mem-history", anchor=id)["data"]["items"][0]["observations"][0]["id"] == id
    new = ask("mem-revise", id=id, narrative="Kestrels left.", type="change", reason="seen")["data"]["newId"]
    [told] = ask("search_memory", query="kestrels")["results"]
    assert (told["id"], told["content"]) == (new, "Kestrels left.")
    assert new in refused("edit_memory", memory_id=id, content="Kestrels came.")["hint"]
    ask("mem-remove", id=new)
    assert ask("search_memory", query="kestrels")["results"] == []
    assert ask("open_memories", memory_ids=new)["not_found"] == [new]
    # Recovery needs the removed id, and restores the removed version, not the one before.
    assert ask("recover_memory", memory_id=id)["changed"] is False
    assert made.found("kestrels") == []
    ask("recover_memory", memory_id=new)
    assert made.found("kestrels") == [new]


@requirement("across.ours")
def test_what_was_created_here_is_saved_touched_edited_and_put_away_in_mnemex(ask: Ask, made: Made) -> None:
    id = made(concepts=["storage"])
    [told] = ask("search_memory", query="sqlite cache", tags=["storage"])["results"]
    assert (told["id"], told["content"]) == (id, NARRATIVE)
    assert ask("touch_memory", memory_id=id)["use_count"] == 1
    ask("edit_memory", memory_id=id, content="SQLite keeps the cache in memory.")
    [held] = ask("mem-get", ids=[id])["data"]["observations"]
    assert (held["narrative"], held["type"], held["revisionOf"]) == (
        "SQLite keeps the cache in memory.", "decision", f"{id}@1",
    )  # fmt: skip
    ask("forget_memory", memory_id=id)
    assert made.found("sqlite cache") == []
    assert ask("mem-get", ids=[id])["data"]["archived"] == [id]
    revised = ask("mem-revise", id=id, title="Put away")
    assert "archived" in revised["meta"]["warnings"][0]
    new = revised["data"]["newId"]
    ask("recover_memory", memory_id=new)
    assert made.found("sqlite cache") == [new]


@requirement("across.theirs")
def test_what_a_session_went_through_is_found_opened_revised_and_removed_here(
    ask: Ask, refused: Refused, made: Made
) -> None:
    session = ask("sessions_start", goal="Find out where birds nest")["session_id"]
    ask("sessions_append", session_id=session, observation="Kestrels nest on the tower.", action="Noted the tower.")
    learnt = ask("sessions_close", session_id=session)["node_ids"]
    [step] = made.found("kestrels tower")
    assert step in learnt
    [held] = ask("mem-get", ids=[step])["data"]["observations"]
    assert (held["kind"], held["sessionId"]) == ("episodic", session)
    assert ask("mem-history", sessionId=session)["data"]["items"][0]["observations"][-1]["id"] == step
    new = ask("mem-revise", id=step, narrative="Kestrels left the tower.", reason="seen")["data"]["newId"]
    assert ask("sessions_node", node_id=new)["node"]["observation"] == "Kestrels left the tower."
    nodes = [one["id"] for one in ask("sessions_nodes", types=["episodic"])["nodes"]]
    assert nodes == [new]
    ask("mem-remove", id=new)
    assert refused("sessions_node", node_id=new)["error"]["reason"] == "not_found"
    assert ask("sessions_nodes", types=["episodic"])["nodes"] == []


@requirement("across.ours")
def test_what_was_created_here_is_a_node_that_sessions_recall(ask: Ask, refused: Refused, made: Made) -> None:
    def recalled() -> list[str]:
        return [one["id"] for one in ask("sessions_recall", query="Where does SQLite keep the cache?")["touched_nodes"]]

    id = made()
    assert recalled() == [id]
    assert ask("sessions_node", node_id=id)["node"]["proposition"] == NARRATIVE
    new = ask("mem-revise", id=id, narrative="SQLite keeps the cache in two files.")["data"]["newId"]
    assert recalled() == [new]
    assert refused("sessions_node", node_id=id)["error"]["reason"] == "not_found"
    ask("mem-remove", id=new)
    assert recalled() == []


@requirement("across.kinds")
@pytest.mark.parametrize("kind", LISTED_KINDS)
def test_every_kind_is_found_opened_revised_and_removed(ask: Ask, host: Host, made: Made, kind: str) -> None:
    id = host.bank.remember("The heron nests by the mill.", kind=kind).id
    assert made.found("heron mill") == [id]
    assert ask("mem-get", ids=[id])["data"]["observations"][0]["kind"] == kind
    new = ask("mem-revise", id=id, title="Heron", type="bugfix", concepts=["birds"], importance=5)["data"]["newId"]
    [held] = ask("mem-get", ids=[new])["data"]["observations"]
    assert (held["title"], held["type"], held["importance"], held["kind"]) == ("Heron", "bugfix", 5, kind)
    assert ask("mem-remove", id=new)["data"]["tombstoned"] is True
    assert made.found("heron mill") == []


@requirement("across.worktrees")
def test_worktrees_of_a_repository_share_one_memory(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json
    import os
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("trees")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]
    for command in (
        [*git, "init", "-q", "main"], [*git, "-C", "main", "commit", "-q", "--allow-empty", "-m", "x"],
        [*git, "-C", "main", "worktree", "add", "-q", "../tree"],
    ):  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    def call(where: str, tool: str, **arguments: object) -> dict[str, dict[str, list[object]]]:
        line = [sys.executable, "-m", "pieria", "call", tool, json.dumps(arguments)]
        environment = {**os.environ, "PIERIA_DATA": str(folder / "data")}
        done = subprocess.run(line, cwd=folder / where, env=environment, capture_output=True, text=True, check=True)
        reply: dict[str, dict[str, list[object]]] = json.loads(done.stdout)
        return reply

    made = call("main", "mem-create", title="T", type="change", narrative="A heron.", files=["src/a.py"])
    found = call("tree", "mem-find", query="heron")
    assert len(found["data"]["results"]) == 1
    assert found["meta"]["bank"] == made["meta"]["bank"]
    call("tree", "mem-maintenance", action="folderContextRebuild")
    assert (folder / "tree" / "AGENTS.md").exists()
    assert not (folder / "main" / "AGENTS.md").exists()
