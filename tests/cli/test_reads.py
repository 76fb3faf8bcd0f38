"""`pieria get`, `list`, `count`, `history`, `changes` and `undo`."""

import json

import pytest
from tests.cli.conftest import Ask

from pieria import Bank


def ids(ask: Ask, *options: str) -> list[str]:
    return ask("list", "-q", *options).ids


def test_memory_is_shown_whole(ask: Ask, bank: Bank) -> None:
    bank.touch("jwt", accesses=3)
    memory = ask("get", "jwt").json
    assert (memory["text"], memory["usage"]["accesses"]) == ("We chose JWT for all new APIs.", 3)
    shown = ask("get", "jwt", "--no-json").out
    for part in (memory["text"], "jwt", "version 1", "auth", "importance 0.8", "default/note", "3 times"):
        assert part in shown
    shown = ask("get", "queue", "--no-json").out
    for name in ("tags", "author", "session", "meta", "used", "None"):
        assert name not in shown


def test_old_and_missing_memories_are_explained(ask: Ask, bank: Bank) -> None:
    bank.update("jwt", text="JWT, rotated daily.")
    assert ask("get", "jwt@1").json["text"] == "We chose JWT for all new APIs."
    assert "last version of jwt is 2" in ask("get", "jwt@3").failed(1)
    bank.remove("jwt", reason="we chose sessions instead")
    said = ask("get", "jwt").failed(1)
    for part in ("removed on 20", "just now", "we chose sessions instead", "pieria unforget jwt", "--removed jwt"):
        assert part in said
    assert ask("get", "jwt", "--removed").json["ended"] == "removed"
    bank.purge("maya")
    assert "purged" in ask("get", "maya").err
    assert "known it since" in ask("get", "queue", "--known-at", "2020-01-01").failed(1)
    for command in ("get", "history"):
        error = ask(command, "nowhere", "--json").error
        assert (error["code"], error["id"]) == ("not_found", "nowhere")


def test_session_and_cursor_limit_what_is_seen(ask: Ask, bank: Bank) -> None:
    id = ask("remember", "a secret", "--scope", "session", "--session", "s1").json["id"]
    assert ask("get", id).code == 1
    assert ask("get", id, "--session", "s1").json["text"] == "a secret"
    page = ask("list", "-n", "2").json
    rest = ask("list", "-n", "2", "--cursor", page["cursor"]).json
    assert {memory["id"] for memory in page["memories"] + rest["memories"]} == {"jwt", "maya", "queue"}
    assert rest["cursor"] is None
    said = ask("list", "--kind", "note", "--cursor", page["cursor"]).failed(2)
    assert "--cursor: expected" in said and "times in full" in said


def test_list_has_order_and_filters(ask: Ask, bank: Bank) -> None:
    bank.update("maya", importance=0.1)
    assert ids(ask, "--order", "oldest")[0] == "maya"
    assert ids(ask, "--order", "changed")[0] == "maya"
    assert ids(ask, "--order", "important") == ["jwt", "queue", "maya"]
    assert len(ids(ask, "--limit", "2")) == 2
    bank.remove("queue")
    bank.pin("maya")
    assert set(ids(ask)) == {"jwt", "maya"}
    assert set(ids(ask, "--include", "removed")) == {"jwt", "maya", "queue"}
    assert ids(ask, "--pinned") == ["maya"]
    assert ids(ask, "--not-pinned") == ids(ask, "--tag", "auth") == ["jwt"]


def test_memories_are_counted(ask: Ask, bank: Bank) -> None:
    assert ask("count").json == {"count": 3}
    assert ask("count", "--tag", "auth").json == {"count": 1}
    assert ask("count", "--by", "place").json == {"by": "place", "counts": {"default/note": 2, "billing/queue": 1}}
    assert "default/note" in ask("count", "--by", "place", "--no-json").out
    assert ask("count", "--no-json").out == "3 memories\n"
    assert ask("count", "-q").out == "3\n"


def test_lists_are_tables_or_lines(ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    bank.remove("queue")
    shown = ask("list", "--no-json", "--include", "removed").out.splitlines()
    assert shown[0].split() == ["id", "when", "kind", "text"]
    assert any("(removed)" in line and "queue" in line for line in shown)
    assert shown[-1] == "3 memories"
    assert "Nothing" in ask("list", "--no-json", "--tag", "none").out
    answer = ask("list", "--jsonl", "-n", "1")
    assert len([json.loads(line)["id"] for line in answer.out.splitlines()]) == 1
    assert "--cursor" in answer.err
    id = "observation" + "k" * 40
    bank.remember("Invoices go out on Mondays.", id=id)
    monkeypatch.setenv("COLUMNS", "80")
    said, below, *_ = ask("list", "--no-json", "--order", "changed").out.splitlines()[1:]
    assert "Invoices go out on Mondays." in said and below.strip() == id


def test_history_shows_what_changed_and_why(ask: Ask, bank: Bank) -> None:
    bank.update("jwt", text="JWT, rotated daily.", importance=0.9, reason="security review")
    bank.pin("jwt")
    bank.remove("jwt", reason="we moved on")
    bank.restore("jwt")
    assert [stretch["version"] for stretch in ask("history", "jwt").json["history"]] == [1, 2, 2, 2, 2]
    shown = ask("history", "jwt", "--no-json").out
    assert -1 not in [shown.find(part) for part in (
        "remembered", "JWT, rotated daily.", "0.8 -> 0.9", "security review", "False -> True", "removed", "we moved on",
        "restored",
    )]  # fmt: skip
    assert ask("history", "jwt", "-q").ids == ["jwt@1", "jwt@2"]
    assert len(ask("history", "jwt", "--jsonl").out.splitlines()) == 5


def test_history_leads_from_a_revised_memory_to_its_heir(ask: Ask, bank: Bank) -> None:
    heir = bank.revise("jwt", text="PASETO for all new APIs.")
    assert f"revised as {heir.id}" in ask("history", "jwt", "--no-json").out
    assert "PASETO" not in ask("history", "jwt", "--no-json").out
    assert "PASETO" in ask("history", "jwt", "--revisions", "--no-json").out
    assert set(ask("history", heir.id, "--revisions", "-q").ids) == {"jwt@1", f"{heir.id}@1"}


def test_changes_show_the_last_or_those_since_a_number(ask: Ask, bank: Bank) -> None:
    for number in range(25):
        bank.pin("jwt", number % 2 == 0)
    every = ask("changes", "--since", "0").json["changes"]
    assert [change["seq"] for change in every] == list(range(1, 29))
    assert ask("changes").json["changes"] == every[-20:]
    assert "last 20: --last NUMBER shows more" in ask("changes").err
    assert ask("changes", "-q").err == ask("changes", "-n", "3").err == ask("changes", "--since", "0").err == ""
    assert ask("changes", "-n", "3").json["changes"] == every[-3:]
    assert ask("changes", "--since", "5", "--limit", "2").json["changes"] == every[5:7]
    assert ask("changes", "--since", "5").json["changes"] == every[5:]
    assert len(ask("changes", "--jsonl", "--last", "2").out.splitlines()) == 2
    shown = ask("changes", "-n", "2", "--no-json").out.splitlines()
    assert [line.split()[-4:] for line in shown[1:]] == [["python", verb, "1", "jwt"] for verb in ("unpin", "pin")]
    bank.remember_many({"text": str(n)} for n in range(1_000))
    rows = ask("changes", "-n", "1", "--no-json").out.splitlines()
    assert rows[0].split() == ["seq", "when", "who", "what", "of", "ids"]
    assert "remember  1,000  " in rows[1]
    ask("pin", "maya")
    assert ask("changes", "-n", "1").json["changes"][0]["who"] == "cli"


def test_change_is_undone_unless_others_depend_on_it(ask: Ask, bank: Bank) -> None:
    bank.update("jwt", text="JWT, rotated daily.")
    assert "pieria changes" in ask("undo", "1").failed(1)
    seq = ask("changes", "-n", "1").json["changes"][0]["seq"]
    assert ask("undo", str(seq)).json["seq"] == seq + 1
    assert ask("get", "jwt").json["text"] == "We chose JWT for all new APIs."
