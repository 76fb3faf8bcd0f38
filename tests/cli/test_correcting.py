"""`pieria update`, `revise`, `invalidate`, `pin`, `unpin`, `forget` and `unforget`."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Answer, Ask

from pieria import Bank


def test_update_changes_what_is_given(ask: Ask, bank: Bank) -> None:
    memory = ask("update", "jwt", "JWT, rotated daily.", "-t", "auth", "-t", "keys", "--reason", "review").json
    assert (memory["id"], memory["version"], memory["text"]) == ("jwt", 2, "JWT, rotated daily.")
    assert (memory["tags"], memory["importance"]) == (["auth", "keys"], 0.8)
    memory = ask(
        "update", "jwt", "--title", "T", "--entity", "E", "--file", "f.md", "--context", "C",
        "--meta", "a=b", "--body", "c=d", "--importance", "0.1",
        "--confidence", "0.2", "--strength", "0.3", "--place", "a/b",
        "--status", "archived", "--tier", "kept", "--at", "2026-01-01",
        "--valid-from", "2026-01-02", "--valid-until", "2026-01-03",
    ).json  # fmt: skip
    wanted = {
        "title": "T", "entities": ["E"], "files": ["f.md"], "context": "C", "meta": {"a": "b"}, "body": {"c": "d"},
        "importance": 0.1, "confidence": 0.2, "strength": 0.3, "place": "a/b", "status": "archived",
        "tier": "kept", "at": "2026-01-01T00:00:00Z",
        "valid_from": "2026-01-02T00:00:00Z", "valid_until": "2026-01-04T00:00:00Z",
    }  # fmt: skip
    assert {name: memory[name] for name in wanted} == wanted
    names = ("title", "tags", "confidence", "meta", "valid_until")
    memory = ask("update", "jwt", *(f"--clear={name}" for name in names)).json
    assert [memory[name] for name in names] == [None, [], None, {}, None]
    for options in (("--clear", "text"), ("--clear", "title", "--title", "T"), ("--clear", "colour")):
        assert ask("update", "jwt", *options).code == 2, options


def test_texts_scopes_and_pins_are_changed_once(ask: Ask, bank: Bank) -> None:
    id = ask("remember", "x", "--scope", "session", "--session", "s1").json["id"]
    ask("update", id, "--scope", "bank", "--session", "s1")
    assert ask("get", id).json["scope"] == "bank"
    assert ask("update", "jwt", "--importance", "0.1", stdin="piped").json["text"].startswith("We chose JWT")
    assert ask("update", "jwt", "--reason", "why", stdin="piped").json["text"] == "piped"
    assert ask("update", "jwt", "-", "--importance", "0.2", stdin="again").json["text"] == "again"
    assert [memory["id"] for memory in ask("pin", "jwt", "maya").json["pinned"]] == ["jwt", "maya"]
    assert set(ask("list", "--pinned", "-q").ids) == {"jwt", "maya"}
    assert ask("unpin", "jwt", "-q").ids == ["jwt"]
    assert ask("list", "--pinned", "-q").ids == ["maya"]
    for arguments, done in (
        (("pin", "jwt"), "pinned"),
        (("unpin", "jwt"), "unpinned"),
        (("update", "jwt", "--importance", "0.3"), "updated"),
        (("update", "jwt", "We chose PASETO."), "updated"),
    ):
        assert ask(*arguments, "--no-json").out.startswith(f"{done} jwt")
        assert ask(*arguments, "--no-json").out.startswith("unchanged jwt")


def test_revision_has_a_new_id_and_takes_the_old_place(ask: Ask, bank: Bank) -> None:
    memory = ask(
        "revise", "jwt", "PASETO for all new APIs.", "--reason", "security review", "--at", "2026-02-01",
        "--author", "Ben", "--author-type", "human",
    ).json  # fmt: skip
    assert (memory["at"], memory["author"], memory["author_type"]) == ("2026-02-01T00:00:00Z", "Ben", "human")
    assert memory["id"] != "jwt"
    assert memory["tags"] == ["auth"]
    old = ask("get", "jwt").json
    assert (old["ended"], old["superseded_by"]) == ("revised", memory["id"])
    refused = ask("update", "jwt", "--importance", "0.1")
    assert refused.code == 1
    assert memory["id"] in refused.err
    told = ask("revise", "jwt", "--place", "a/b", "--valid-from", "2026-01-02", "--valid-until", "2096-01-03").json
    wanted = ("a/b", "2026-01-02T00:00:00Z", "2096-01-04T00:00:00Z")
    assert (told["place"], told["valid_from"], told["valid_until"]) == wanted
    assert ask("revise", told["id"], "--clear", "valid_until").json["valid_until"] is None


def test_invalid_and_changed_memories_are_kept_apart(ask: Ask, bank: Bank) -> None:
    read = ask("get", "jwt").json["known_from"]
    ask("update", "jwt", "JWT, rotated daily.", "--unless-changed-since", read)
    for command in (
        ("update", "jwt", "Mine."), ("revise", "jwt", "Mine."), ("invalidate", "jwt"), ("forget", "jwt"),
        ("forget", "jwt", "--purge", "--yes"),
    ):  # fmt: skip
        refused = ask(*command, "--unless-changed-since", read)
        assert refused.code == 1
        assert f"jwt@1 of {read} was expected, and jwt@2" in refused.err
        assert "as --unless-changed-since" in refused.err
    assert ask("get", "jwt").json["text"] == "JWT, rotated daily."
    assert ask("forget", "--source", "x", "--unless-changed-since", read).code == 2
    memory = ask("invalidate", "maya", "--at", "2026-03-01", "--replacement", "jwt", "--reason", "moved").json
    assert memory["valid_until"] == "2026-03-01T00:00:00Z"
    assert memory["superseded_by"] == "jwt"
    assert ask("recall", "Maya", "-q").ids == []
    assert ask("recall", "Maya", "--valid-at", "2026-02-01", "-q").ids == ["maya"]


# --- forgetting


def test_forgotten_memories_come_back_beside_unknown_ids(ask: Ask, bank: Bank) -> None:
    removed = ask("forget", "jwt", "maya", "--reason", "clutter").json["removed"]
    assert [(memory["ended"], memory["reason"]) for memory in removed] == [("removed", "clutter")] * 2
    assert ask("list", "-q").ids == ["queue"]
    ask("unforget", "jwt")
    assert set(ask("list", "-q").ids) == {"queue", "jwt"}
    answer = ask("forget", "nowhere", "jwt", "neither", "--json")
    assert answer.code == 1
    assert [memory["id"] for memory in json.loads(answer.out)["removed"]] == ["jwt"]
    assert answer.err.count("error: ") == 2
    told = json.loads(answer.err.splitlines()[-1])["error"]
    assert [error["id"] for error in told["errors"]] == ["nowhere", "neither"]
    for command in (("forget", "jwt"), ("update", "jwt", "x"), ("pin", "jwt")):
        refused = ask(*command)
        assert refused.code == 1
        assert "pieria unforget" in refused.err


def test_purge_says_what_it_could_not_reach(ask: Ask, bank: Bank) -> None:
    written = ask("backup", "-q").out.strip()
    answer = ask("forget", "--purge", "jwt", "--no-json")
    assert "erased for good" in answer.out
    assert Path(written).name in answer.out


def test_purge_asks_the_person_at_the_terminal(terminal: Callable[..., Answer], ask: Ask, bank: Bank) -> None:
    bank.remember("APIs use JWT.", id="drawn", kind="summary")
    bank.link("drawn", "jwt", "provenance")
    for typed, code, left in (("n\n", 1, 4), ("\n", 1, 4), ("y\n", 0, 2)):
        answer = terminal("forget", "--purge", "jwt", typed=typed)
        assert "We chose JWT" in answer.out and "1 derived from them: drawn" in answer.out
        assert "[y/N]" in answer.out
        assert answer.code == code
        assert ask("count").json == {"count": left}
    assert "[y/N]" not in terminal("forget", "--purge", "--yes", "maya").out
    assert ask("count").json == {"count": 1}
    bank.remember("Rates rise in May.", source="rates.md")
    assert terminal("forget", "--purge", "--source", "rates.md", typed="n\n").code == 1
    answer = terminal("forget", "--purge", "--source", "rates.md", typed="y\n")
    assert "Rates rise" in answer.out and "erased for good" in answer.out
    assert ask("count").json == {"count": 1}


def test_purge_erases_what_was_shown_or_nothing(ask: Ask, bank: Bank) -> None:
    told = ask("forget", "--purge", "jwt", "--dry-run").json
    assert ask("count").json == {"count": 3} and told["erased"]["memories"] == 1
    assert told["digest"] in ask("forget", "--purge", "jwt", "--dry-run", "--no-json").out
    bank.remember("APIs use JWT.", id="drawn", kind="summary")
    bank.link("drawn", "jwt", "provenance")
    refused = ask("forget", "--purge", "jwt", "--as-told", told["digest"])
    assert refused.code == 1 and "--dry-run" in refused.err and "--as-told" in refused.err
    told = ask("forget", "--purge", "jwt", "--dry-run").json
    assert ask("forget", "--purge", "jwt", "--as-told", told["digest"]).json["also"] == ["drawn"]


def test_source_is_forgotten_and_undone_at_once(ask: Ask, bank: Bank) -> None:
    for text in ("Rates rise in May.", "Rates fall in June."):
        bank.remember(text, source="rates.md")
    told = ask("forget", "--source", "rates.md", "--dry-run").json
    assert (told["dry_run"], len(told["ids"]), ask("count").json) == (True, 2, {"count": 5})
    done = ask("forget", "--source", "rates.md").json
    assert (done["ids"], ask("count").json) == (told["ids"], {"count": 3})
    ask("undo", str(done["seq"]))
    assert ask("count").json == {"count": 5}
    assert "pieria count" in ask("forget", "--source", "rate.md").err


def test_purge_of_ids_erases_and_gives_a_receipt(ask: Ask, bank: Bank, home: Path) -> None:
    for wrong in (
        (),
        ("jwt", "--source", "x"),
        ("jwt", "--dry-run"),
        ("jwt", "--as-told", "x"),
        ("--source", "x", "--purge", "--reason", "y"),
        ("--purge", "--reason", "x", "jwt"),
    ):
        assert ask("forget", *wrong).code == 2, wrong
    assert ask("count").json == {"count": 3}
    bank.update("jwt", text="JWT with a nightingale.")
    bank.close()
    receipt = ask("forget", "--purge", "jwt").json
    assert receipt["ids"] == ["jwt"]
    assert receipt["erased"]["versions"] == 2
    assert receipt["unreached"] == []
    assert ask("get", "jwt", "--removed").code == 1
    for file in (home / "data").rglob("*"):
        assert b"nightingale" not in file.read_bytes()
