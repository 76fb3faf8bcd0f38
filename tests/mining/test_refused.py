"""An unreadable record is reported with its place and beginning, and all others are imported."""

import json
from pathlib import Path

import pytest
from tests.mining import written
from tests.mining.conftest import talk, write

import pieria
from pieria import Bank
from pieria.mining import Report, mine


def refused(report: Report) -> list[tuple[str, int | None, str]]:
    return [(Path(one.source).name, one.record, one.reason) for one in report.refused]


def with_line(path: Path, number: int, line: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[: number - 1], line + "\n", *lines[number - 1 :]]))


def test_claude_code(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path)
    with_line(file, 5, '{"type": "user", "sessionId": "s", "message": {"role": "user"}}')
    with_line(file, 6, "not JSON at all")
    with_line(file, 7, "[1, 2]")
    report = mine(bank, tmp_path, format="claude-code")
    assert report.memories == {"new": 5, "refused": 3}
    assert refused(report) == [
        (file.name, 5, "expected a message with content, a text or a list"),
        (file.name, 6, "expected JSON (Expecting value: line 1 column 1 (char 0))"),
        (file.name, 7, "expected an object with a type"),
    ]
    assert report.refused[0].excerpt == '{"type": "user", "sessionId": "s", "message": {"role": "user"}}'
    assert "record 6" in str(report.refused[1])


def test_codex(bank: Bank, tmp_path: Path) -> None:
    file = written.codex(tmp_path)
    with_line(file, 2, '{"type": "response_item", "payload": {"type": "message", "role": "user", "content": "plain"}}')
    with_line(file, 3, '{"type": "response_item", "payload": "text"}')
    with_line(file, 4, '{"neither": "this nor that"}')
    report = mine(bank, tmp_path, format="codex")
    assert report.memories == {"new": 2, "refused": 3}
    assert [reason.removeprefix("expected ") for _, _, reason in refused(report)] == [
        "a message with a list of content", "a payload that is an object", "an object with a type",
    ]  # fmt: skip


def test_claude_ai(bank: Bank, tmp_path: Path) -> None:
    good = written.claude_message(1, "human", "Hello.")
    odd = {"uuid": "m", "sender": "nobody", "text": "?"}
    after = written.claude_conversation("c", [written.claude_message(2, "assistant", "Good day.")], uuid="c")
    told = [written.claude_conversation("a", [good, odd, 7]), {"uuid": "b"}, "text", after]
    report = mine(bank, written.document(tmp_path / "conversations.json", told), conversations=True)
    assert report.memories == {"new": 2, "refused": 4}
    assert [record for _, record, _ in refused(report)] == [1, 1, 2, 3]


def test_chatgpt(bank: Bank, tmp_path: Path) -> None:
    good = written.chatgpt_conversation()
    odd = json.loads(json.dumps(good))
    odd["conversation_id"] = "talk-2"
    odd["mapping"]["ask"]["message"] |= {"id": "other", "content": "Draw a heron."}
    odd["mapping"]["second"]["message"]["content"]["parts"] = "no list"
    told = [good, odd, {"mapping": [], "id": "x"}]
    report = mine(bank, written.document(tmp_path / "conversations.json", told), conversations=True)
    assert report.memories == {"new": 4, "unchanged": 2, "refused": 3}
    assert refused(report)[0] == ("conversations.json", 2, "expected a message with author and content")


def test_slack(bank: Bank, tmp_path: Path) -> None:
    folder = written.slack(tmp_path / "export")
    day = folder / "billing" / "2026-03-03.json"
    day.write_text(json.dumps([{"type": "message", "text": "no time"}, 3, *json.loads(day.read_text())]))
    (folder / "groups.json").write_text('[{"id": "C2"')
    report = mine(bank, folder, conversations=True)
    assert report.memories == {"new": 4, "refused": 3}
    assert refused(report)[1:] == [(day.name, number, "expected a message with a ts") for number in (1, 2)]


BROKEN_OPENCODE = {
    "part/msg_2/prt_5.json": '{"type": "te',
    "message/ses_1/msg_2.json": '{"id": "msg_2", "role": "tool"}',
    "session/p/ses_3.json": "[]",
}


def test_opencode(bank: Bank, tmp_path: Path) -> None:
    for number, (name, text) in enumerate(BROKEN_OPENCODE.items()):
        root = written.opencode_storage(tmp_path / str(number))
        (root / "storage" / name).write_text(text)
        assert len(mine(bank, root, conversations=True).refused) == 1
    assert ("user", "Write the export as CSV.") in [(turn.author, turn.text) for turn in bank.list(kinds="turn")]


def test_database_of_another_program_is_left_out(bank: Bank, tmp_path: Path) -> None:
    with pieria.open("other", data=tmp_path) as other:
        other.remember("something else")
    (tmp_path / "opencode.db").write_bytes((tmp_path / "other.db").read_bytes())
    report = mine(bank, tmp_path / "opencode.db", conversations=True)
    assert report.left == {"files of other kinds": 1}
    (tmp_path / "opencode.db").write_bytes(b"SQLite format 3\0" + b"x" * 4_000)
    report = mine(bank, tmp_path / "opencode.db", conversations=True)
    assert len(report.refused) == 1
    assert "cannot be read" in report.refused[0].reason


UNKNOWN = [
    ("a.jsonl", '{"role": "user", "content": "hi"}\n', "expected a conversation of a known format"),
    ("a.jsonl", "plain words\n", "expected JSON"),
    ("a.json", '{"messages": []}', "expected a conversation of a known format"),
    ("a.json", '[["x"]]', "expected a conversation of a known format"),
    ("a.json", "{", "expected an element that ends"),
    ("a.txt", "Nobody says anything here.\nNor here.\n", "expected speakers, by name or marked with >"),
    ("a.txt", "# A page\n\n> that quotes somebody\n\nand goes on.\n", "expected speakers, by name or marked with >"),
    ("a.txt", "# A page\n\nNote: one thing.\n\nTodo: another.\n", "expected speakers, by name or marked with >"),
]


@pytest.mark.parametrize("named", [False, True])
def test_unknown_shape_is_reported_with_its_first_record(bank: Bank, tmp_path: Path, named: bool) -> None:
    """Texts without speakers are refused only if they are named: notes often lie beside logs."""
    for number, (name, text, reason) in enumerate(UNKNOWN):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text)
        report = mine(bank, folder / name if named else folder, conversations=True)
        if not named and name == "a.txt":
            assert (report.refused, report.left["texts without speakers"]) == ([], 1)
            continue
        [one] = report.refused
        assert one.record == 1
        assert reason in one.reason
        assert one.source == str((folder / name).resolve())
    (tmp_path / "call.txt").write_bytes("Zoë: hé\nMaya: ja\nZoë: bon\n".encode("latin-1"))
    report = mine(bank, tmp_path / "call.txt", conversations=True)
    assert [one.reason for one in report.refused] == ["cannot be read (byte 2 is not UTF-8)"]
    assert bank.count() == 0


def test_files_beside_conversations_are_only_counted(bank: Bank, tmp_path: Path) -> None:
    written.claude_code(tmp_path / "projects")
    for name in ("sessions-index.json", "x/tool-results/a.txt", "x/photo.png", "x/empty.jsonl"):
        write(tmp_path / "projects" / name, "" if "empty" in name else "words")
    left = talk(bank, tmp_path / "projects").left
    kinds = ("files beside conversations that contain none", "files of other kinds", "empty files")
    assert [left[kind] for kind in kinds] == [1, 1, 1]


def test_refused_turn_keeps_no_other_away(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    file = written.claude_code(tmp_path / "projects")
    with file.open("a") as log:
        log.write(json.dumps(written.claude_code_line(12, "user", f"the key is {key}")) + "\n")
        log.write(json.dumps(written.claude_code_line(13, "user", "later", timestamp="yesterday")) + "\n")
    with pieria.open("strict", data=tmp_path / "data", settings={"secrets": "refuse"}) as bank:
        report = mine(bank, file, conversations=True)
        assert report.memories == {"new": 5, "refused": 2}
        assert report.refused[0].reason == "text: refused, since it seems to contain a secret (github_token)"
        assert report.refused[1].reason.startswith("at: expected a date")
        assert key not in str(report.as_dict())
        assert mine(bank, file, conversations=True).memories == {"unchanged": 7}


def test_private_parts_are_cut_and_secrets_flagged(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "call.txt"
    file.write_text("Maya: hello <private>my salary</private> there\nOmar: ghp_" + "a1B2" * 9 + "\nMaya: well\n")
    mine(bank, file, conversations=True)
    turns = list(bank.list(kinds="turn"))
    assert "salary" not in str([turn.text for turn in turns])
    assert [turn.flags for turn in turns if turn.author == "Omar"] == [("secret:github_token",)]


def test_what_a_bank_cannot_hold_is_made_to_fit(bank: Bank, tmp_path: Path) -> None:
    long = "word " * 100_000
    line = written.claude_code_line(1, "user", "half \ud800 and nul \0 " + long, sessionId="a\nb")
    talk(bank, written.lines(tmp_path / "a.jsonl", [line]))
    turns = bank.list(kinds="turn", order="oldest")
    assert [turn.sequence for turn in turns] == [1] * 3
    assert "".join(turn.text for turn in turns).startswith("half \ufffd and nul \ufffd word")
    assert {turn.session for turn in turns} == {"a b"}
