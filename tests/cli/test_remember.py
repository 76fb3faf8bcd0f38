"""`pieria remember`: from the line, from a pipe, and many at once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.cli.conftest import Ask

from pieria import Bank


def test_text_meta_and_facts_are_remembered(ask: Ask) -> None:
    memory = ask("remember", "We chose JWT for all new APIs.").json
    assert ask("get", memory["id"]).json["text"] == "We chose JWT for all new APIs."
    first = ask("remember", "Once.").json
    assert ask("remember", "Once.", "--unless-exists", "text").json["id"] == first["id"]
    assert ask("remember", "Once.").json["id"] != first["id"]
    memory = ask("remember", "x", "--meta", "version=1.10", "--meta", "zip=01234", "--meta", "url=a=b").json
    assert memory["meta"] == {"version": "1.10", "zip": "01234", "url": "a=b"}
    kept = ask("remember", "Maya works on billing.", "--extract").json
    facts = ask("facts", "query", "Maya").json
    assert [(fact["predicate"], fact["memory"]) for fact in facts["facts"]] == [
        ("mentions", kept["id"]), ("works_on", kept["id"]),
    ]  # fmt: skip


def test_every_option_reaches_the_memory(ask: Ask) -> None:
    memory = ask(
        "remember", "The trial runs out.", "--id", "trial", "--title", "Trial", "--kind", "observation",
        "-t", "sales", "--tag", "dates", "--entity", "Acme", "--file", "a.md", "--importance", "0.9",
        "--confidence", "0.4", "--strength", "1.5", "--place", "sales/trials", "--at", "2026-01-10",
        "--valid-from", "2026-01-01",
        "--valid-until", "2026-01-31", "--source", "mail", "--context", "a call", "--sequence", "7", "--pin",
        "--meta", "owner=Maya", "--meta", "ticket:=4711", "--body", '{"type": "decision"}', "--scope", "session",
        "--session", "s1", "--channel", "c1", "--author", "Ben", "--author-type", "human",
    ).json  # fmt: skip
    wanted = {
        "id": "trial", "title": "Trial", "kind": "observation", "tags": ["sales", "dates"], "entities": ["Acme"],
        "files": ["a.md"], "importance": 0.9, "confidence": 0.4, "strength": 1.5, "place": "sales/trials",
        "at": "2026-01-10T00:00:00Z", "valid_from": "2026-01-01T00:00:00Z", "valid_until": "2026-02-01T00:00:00Z",
        "source": "mail", "context": "a call", "sequence": 7, "pinned": True, "meta": {"owner": "Maya", "ticket": 4711},
        "body": {"type": "decision"}, "scope": "session", "session": "s1", "channel": "c1", "author": "Ben",
        "author_type": "human",
    }  # fmt: skip
    assert {name: memory[name] for name in wanted} == wanted


def test_text_comes_from_the_line_or_a_pipe(ask: Ask) -> None:
    for arguments in ([], ["-"]):
        memory = ask("remember", *arguments, stdin="first line\n  second line\n\n").json
        assert memory["text"] == "first line\n  second line"
    assert ask("remember", "-", stdin=b"\xef\xbb\xbfHello").json["text"] == "Hello"
    assert ask("remember", "buy", "oat", "milk").json["text"] == "buy oat milk"
    assert ask("remember", "--", "- oat milk").json["text"] == "- oat milk"
    for piped in (b"caf\xe9", b"x" * (1 << 21)):
        assert "standard input" in ask("remember", stdin=piped).failed(2)
    assert "not blank" in ask("remember", "", stdin="something else").failed(2)


def test_wrong_values_are_named_and_lengths_need_a_direction(ask: Ask) -> None:
    refused = ask(
        "remember", "x", "--importance", "5", "--strength", "lots", "--kind", "noet", "--at", "last tuesday",
        "--meta", "?",
    )  # fmt: skip
    assert "Did you mean note?" in refused.failed(2)
    errors = [line for line in refused.err.splitlines() if line.startswith("error: ")]
    assert {line.split()[1] for line in errors} == {"--importance:", "--strength:", "--kind:", "--at:", "--meta:"}
    kept = ask("remember", "x", "--valid-until", "+30d").json["valid_until"]
    assert timedelta(days=29) < datetime.fromisoformat(kept) - datetime.now(UTC) < timedelta(days=31)


def test_people_see_bank_and_flags(ask: Ask) -> None:
    assert ask("remember", "x", "--no-json").out.endswith("  in default\n")
    assert ask("remember", "x", "--scope", "user", "--no-json").out.endswith("  in @me\n")
    both = lines("one", "two", {"text": "mine", "scope": "user"})
    shown = ask("remember", "--many", "-", "--no-json", stdin=both).out
    assert shown.splitlines() == ["remembered 2 memories  in default", "remembered 1 memory  in @me"]
    assert ask("remember", "--many", "-", "--no-json", stdin="").out == "remembered 0 memories  in default\n"
    assert "private:cut" in ask("remember", "Call <private>Maya</private> back.", "--no-json").out
    id = ask("remember", "x", "-q").ids[0]
    assert "private:cut" in ask("update", id, "Call <private>Maya</private> back.", "--no-json").out
    assert "private:cut" in ask("get", id, "--no-json").out


def lines(*items: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def test_many_come_from_a_file_with_shared_options(ask: Ask, tmp_path: Path, reopened: Callable[[], Bank]) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text(lines({"text": "a", "tags": ["own"]}, "b") + "\n")
    answer = ask("remember", "--many", str(file), "-t", "imported", "--place", "old/notes").json
    assert answer["remembered"] == 2
    with reopened() as bank:
        first, second = (bank.get(id) for id in answer["ids"])
    assert first and second
    assert (first.text, first.tags, first.place) == ("a", ("own",), "old/notes")
    assert (second.text, second.tags) == ("b", ("imported",))


def test_wrong_lines_are_all_named_and_nothing_is_kept(ask: Ask) -> None:
    said = ask("remember", "--many", "-", stdin=b'"fine"\nnot json\n[1]\n\xff\n{"text": "fine"}\n').failed(1)
    assert [f"line {number}:" in said for number in (1, 2, 3, 4, 5)] == [False, True, True, True, False]
    said = ask("remember", "--many", "-", stdin="broken\n" * 55).failed(1)
    assert ("line 20:" in said, "line 21:" in said, "35 more" in said) == (True, False, True)
    first, *others = [
        {"text": "x", "importance": 5}, "fine", {"text": "y", "kind": "nonsense"}, {"text": "z", "extract": "yes"},
        {"text": "x", "tag": ["y"]},
    ]  # fmt: skip
    said = ask("remember", "--many", "-", stdin=lines(first) + "\n\n" + lines(*others)).failed(1)
    for told in ("line 1: importance:", "line 5: kind:", "line 6: extract:", "line 7: tag", "Did you mean tags?"):
        assert told in said
    assert "line 4:" not in said and "items[" not in said
    assert ask("count").json == {"count": 0}


def test_many_of_a_pipe_are_kept_all_or_none(ask: Ask) -> None:
    assert len(ask("remember", "--many", "-", "-q", stdin=lines(*map(str, range(1100)))).ids) == 1100
    assert ask("count").json == {"count": 1100}
    ask("remember", "there already", "--id", "taken")
    refused = ask("remember", "--many", "-", stdin=lines(*map(str, range(1500)), {"text": "x", "id": "taken"}))
    assert "the id is taken" in refused.failed(1)
    assert ask("count").json == {"count": 1101}
