"""`pieria update`, `revise`, `invalidate`, `pin`, `unpin`, `forget` and `unforget`."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.capture.payloads import on_disk
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


def test_texts_scopes_and_pins_are_changed_once(ask: Ask, bank: Bank) -> None:
    id = ask("remember", "x", "--scope", "session", "--session", "s1").json["id"]
    ask("update", id, "--scope", "bank", "--session", "s1")
    assert ask("get", id).json["scope"] == "bank"
    assert ask("update", "jwt", "--importance", "0.1", stdin="piped").json["text"].startswith("We chose JWT")
    assert ask("update", "jwt", "--reason", "why", stdin="piped").json["text"] == "piped"
    assert ask("update", "jwt", "-", "--importance", "0.2", stdin="again").json["text"] == "again"
    assert [memory["id"] for memory in ask("pin", "jwt", "maya").json["pinned"]] == ["jwt", "maya"]
    assert ask("unpin", "jwt", "-q").ids == ["jwt"]
    assert ask("list", "--pinned", "-q").ids == ["maya"]
    for done, *line in (
        ("pinned", "pin", "jwt"), ("unpinned", "unpin", "jwt"), ("updated", "update", "jwt", "--importance", "0.3"),
        ("updated", "update", "jwt", "We chose PASETO."),
    ):  # fmt: skip
        assert ask(*line, "--no-json").out.startswith(f"{done} jwt")
        assert ask(*line, "--no-json").out.startswith("unchanged jwt")


def test_revision_has_a_new_id_and_takes_the_old_place(ask: Ask, bank: Bank) -> None:
    memory = ask(
        "revise", "jwt", "PASETO for all new APIs.", "--reason", "security review", "--at", "2026-02-01",
        "--author", "Ben", "--author-type", "human",
    ).json  # fmt: skip
    wanted = {"at": "2026-02-01T00:00:00Z", "author": "Ben", "author_type": "human", "tags": ["auth"]}
    assert memory.items() >= wanted.items() and memory["id"] != "jwt"
    assert ask("get", "jwt").json.items() >= {"ended": "revised", "superseded_by": memory["id"]}.items()
    assert memory["id"] in ask("update", "jwt", "--importance", "0.1").failed(1)
    told = ask("revise", "jwt", "--place", "a/b", "--valid-from", "2026-01-02", "--valid-until", "2096-01-03").json
    wanted = {"place": "a/b", "valid_from": "2026-01-02T00:00:00Z", "valid_until": "2096-01-04T00:00:00Z"}
    assert told.items() >= wanted.items()
    assert ask("revise", told["id"], "--clear", "valid_until").json["valid_until"] is None


def test_invalid_and_changed_memories_are_kept_apart(ask: Ask, bank: Bank) -> None:
    read = ask("get", "jwt").json["known_from"]
    ask("update", "jwt", "JWT, rotated daily.", "--unless-changed-since", read)
    for command in (
        ("update", "jwt", "Mine."), ("revise", "jwt", "Mine."), ("invalidate", "jwt"), ("forget", "jwt"),
        ("forget", "jwt", "--purge", "--yes"),
    ):  # fmt: skip
        said = ask(*command, "--unless-changed-since", read).failed(1)
        assert f"jwt@1 of {read} was expected, and jwt@2" in said and "as --unless-changed-since" in said
    assert ask("get", "jwt").json["text"] == "JWT, rotated daily."
    memory = ask("invalidate", "maya", "--at", "2026-03-01", "--replacement", "jwt", "--reason", "moved").json
    assert (memory["valid_until"], memory["superseded_by"]) == ("2026-03-01T00:00:00Z", "jwt")
    assert ask("recall", "Maya", "-q").ids == []
    assert ask("recall", "Maya", "--valid-at", "2026-02-01", "-q").ids == ["maya"]


def test_forgotten_memories_come_back_beside_unknown_ids(ask: Ask, bank: Bank) -> None:
    removed = ask("forget", "jwt", "maya", "--reason", "clutter").json["removed"]
    assert [(memory["ended"], memory["reason"]) for memory in removed] == [("removed", "clutter")] * 2
    assert ask("list", "-q").ids == ["queue"]
    ask("unforget", "jwt")
    assert set(ask("list", "-q").ids) == {"queue", "jwt"}
    answer = ask("forget", "nowhere", "jwt", "neither", "--json")
    assert answer.failed(1).count("error: ") == 2
    assert [memory["id"] for memory in json.loads(answer.out)["removed"]] == ["jwt"]
    assert [error["id"] for error in answer.error["errors"]] == ["nowhere", "neither"]
    for command in (("forget", "jwt"), ("update", "jwt", "x"), ("pin", "jwt")):
        assert "pieria unforget" in ask(*command).failed(1)


def test_fact_of_a_memory_is_corrected_and_forgotten_by_id(ask: Ask, bank: Bank) -> None:
    id = bank.facts.add("Maya", "works_on", "billing", memory="maya").id
    told = ask("get", id).json
    assert (told["text"], told["body"]["memory"], told["usage"]["accesses"]) == ("Maya works on billing.", "maya", 0)
    assert "drawn from" in ask("get", id, "--no-json").out
    said = "The memory maya, from which it was drawn, is unchanged."
    assert said in ask("update", id, "Maya works on search.", "--no-json").out
    assert 'Write "Maya works on …"' in ask("revise", id, "She left.").failed(2)
    assert ask("history", id, "-q").ids == [f"{id}@1", f"{id}@2"]
    assert "This works only on memories: use maya." in ask("pin", id).failed(1)
    for command, ended in (("forget", "removed"), ("unforget", "")):
        assert next(iter(ask(command, id).json.values()))[0]["ended"] == ended
    assert ask("invalidate", id).json["valid_until"]
    assert "the memory maya, its source" in str(ask("forget", id, "--purge", "--yes").json["unreached"])
    assert ask("get", "maya", "-q").ids == ["maya"]


def test_purge_asks_the_person_at_the_terminal(terminal: Callable[..., Answer], ask: Ask, bank: Bank) -> None:
    bank.remember("APIs use JWT.", id="drawn", kind="summary")
    bank.link("drawn", "jwt", "provenance")
    for typed, code, left in (("n\n", 1, 4), ("\n", 1, 4), ("y\n", 0, 2)):
        answer = terminal("forget", "--purge", "jwt", typed=typed)
        assert all(part in answer.out for part in ("We chose JWT", "1 derived from them: drawn", "[y/N]"))
        assert (answer.code, ask("count").json) == (code, {"count": left})
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
    said = ask("forget", "--purge", "jwt", "--as-told", told["digest"]).failed(1)
    assert "--dry-run" in said and "--as-told" in said
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


def test_purge_erases_the_files_and_names_what_it_cannot_reach(ask: Ask, bank: Bank, home: Path) -> None:
    written = Path(ask("backup", "-q").out.strip())
    shown = ask("forget", "--purge", "maya", "--no-json").out
    assert "erased for good" in shown and written.name in shown
    written.unlink()
    bank.update("jwt", text="JWT with a nightingale.")
    bank.close()
    receipt = ask("forget", "--purge", "jwt").json
    assert (receipt["ids"], receipt["erased"]["versions"], receipt["unreached"]) == (["jwt"], 2, [])
    assert ask("get", "jwt", "--removed").code == 1
    assert b"nightingale" not in on_disk(home / "data")
