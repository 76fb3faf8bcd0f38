"""Every format of conversations, from the host's files to turns."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.mining import written
from tests.mining.conftest import talk, write

import pieria
from pieria import Bank, Memory
from pieria.capture.spool_line import event_of
from pieria.mining import FORMATS, mine


def turns(bank: Bank) -> list[Memory]:
    return list(bank.list(kinds="turn", order="oldest", limit=1_000))


def said(bank: Bank) -> list[tuple[str | None, str]]:
    return [(turn.author, turn.text) for turn in turns(bank)]


def in_order(bank: Bank) -> list[tuple[str | None, str]]:
    """Return the turns in the order of their numbers."""
    return [(turn.author, turn.text) for turn in sorted(turns(bank), key=lambda turn: turn.sequence or 0)]


def when(memory: Memory) -> str:
    return str(memory.as_dict()["at"])


def test_claude_code(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    report = talk(bank, tmp_path / "projects")
    assert said(bank) == [
        ("user", "Why do payments fail on Fridays?"), ("assistant", "I look at the retry queue."),
        ("assistant", "The clock was in local time; it is UTC now."), ("user", "/review the last commit"),
        ("user", "Thanks."),
    ]  # fmt: skip
    first, _, fixed, *_ = turns(bank)
    assert (first.session, first.sequence, first.author_type) == (written.SESSION, 1, "human")
    assert (first.source, when(first)) == (str(file.resolve()), "2026-03-02T09:02:00Z")
    assert (fixed.author_type, fixed.files, fixed.place) == ("agent", ("src/queue.py",), "billing/claude-code")
    assert report.left == {"written by the host itself": 3, "said to or by sub-agents": 1}


def test_agent_in_a_subfolder_worked_in_its_repository(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "billing" / ".git").mkdir(parents=True)
    (tmp_path / "billing" / "src").mkdir()
    where = str(tmp_path / "billing" / "src")
    tool = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": f"{where}/queue.py"}}
    line = written.claude_code_line(1, "assistant", [tool, {"type": "text", "text": "Done."}], cwd=where)
    mine(bank, written.lines(tmp_path / "a.jsonl", [line]), format="claude-code")
    [turn] = turns(bank)
    assert (turn.place, turn.files) == ("billing/claude-code", ("src/queue.py",))


def test_codex_with_envelopes_and_without(bank: Bank, tmp_path: Path) -> None:
    written.codex(tmp_path / "sessions")
    written.old_codex(tmp_path / "sessions")
    report = talk(bank, tmp_path / "sessions")
    assert report.formats == {"codex": 2}
    found = {turn.text: turn for turn in turns(bank)}
    assert set(found) == {"Which rates change in May?", "Only the reduced rate.", "Hello, old friend."}
    reply = found["Only the reduced rate."]
    assert (reply.session, reply.files, reply.place) == (written.SESSION, ("src/rates.py",), "billing/codex")
    assert found["Hello, old friend."].session == "old-session"


def test_prompts_typed_while_an_agent_works_are_turns(bank: Bank, tmp_path: Path) -> None:
    def queued(number: int, prompt: object, **more: object) -> dict[str, object]:
        about = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", **more}
        line = written.claude_code_line(number, "attachment", "")
        del line["message"]
        return {**line, "attachment": about}

    records = [
        written.claude_code_line(1, "user", "Write the export."),
        queued(2, "As CSV, please.", origin={"kind": "human"}, source_uuid="typed-2"),
        queued(3, [{"type": "text", "text": "With a head."}]),
        queued(4, "Never use CSV.", origin={"kind": "peer"}),
        queued(5, "<task-notification>done</task-notification>", commandMode="task-notification"),
        {**queued(6, ""), "attachment": {"type": "todo_reminder"}},
        written.claude_code_line(7, "assistant", [{"type": "text", "text": "It is written."}]),
    ]
    report = mine(bank, written.lines(tmp_path / "a.jsonl", records), format="claude-code")
    assert report.well, report.refused
    assert said(bank) == [
        ("user", "Write the export."), ("user", "As CSV, please."), ("user", "With a head."),
        ("assistant", "It is written."),
    ]  # fmt: skip


def test_words_between_agents_of_codex_are_left_out(bank: Bank, tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": written.SESSION, "depth": 1}}}
    records = [
        written.codex_line("session_meta", {"id": "child", "cwd": written.FOLDER, "source": spawned}),
        written.codex_said("user", "Never touch the parser."),
        written.codex_said("assistant", "I did not."),
    ]
    report = mine(bank, written.lines(tmp_path / "rollout-child.jsonl", records), conversations=True)
    assert (said(bank), report.left) == ([], {"said to or by sub-agents": 2})


def test_opencode_in_all_its_ways_to_keep_a_session(bank: Bank, tmp_path: Path) -> None:
    for way in ("storage", "database", "export"):
        kept = getattr(written, f"opencode_{way}")(tmp_path / way)
        with pieria.open(way, data=tmp_path / "data") as own:
            talk(own, kept)
            assert said(own) == [("user", "Write the export as CSV."), ("assistant", "It is written as CSV now.")]
            ask, reply = turns(own)
            assert (ask.session, ask.context, when(ask)) == ("ses_1", "Exports", "2026-03-03T17:48:20Z")
            assert (reply.files, reply.place) == (("export.py",), "billing/opencode")
        assert talk(bank, kept).memories == {"new" if way == "storage" else "unchanged": 2}
    assert len(turns(bank)) == 2


def test_opencode_before_and_after_its_move_comes_in_once(bank: Bank, tmp_path: Path) -> None:
    root = written.opencode_storage(tmp_path / "opencode")
    written.opencode_database(root)
    with closing(sqlite3.connect(root / "opencode.db")) as database, database:
        database.execute("INSERT INTO session VALUES ('ses_5', 'p', NULL, '/home/maya/web', 'New', 1, 2)")
        database.execute("""INSERT INTO message VALUES ('msg_7', 'ses_5', 1772570000000, '{"role": "user"}')""")
        part = """('prt_8', 'msg_7', 'ses_5', 1, '{"type": "text", "text": "Later."}')"""
        database.execute(f"INSERT INTO part VALUES {part}")
    report = talk(bank, root)
    assert report.memories == {"new": 3, "unchanged": 2}
    assert talk(bank, root).memories == {"unchanged": 5}
    with closing(sqlite3.connect(root / "opencode.db")) as database, database:
        database.execute("DELETE FROM session WHERE id = 'ses_5'")
    assert talk(bank, root).memories == {"unchanged": 4, "vanished": 1}


def test_claude_ai(bank: Bank, tmp_path: Path) -> None:
    talk(bank, written.claude(tmp_path / "export"))
    assert said(bank) == [("user", "Sum this up.\n\n[paste.txt]\nline one\nline two"), ("assistant", "Two lines.")]
    assert {(turn.context, turn.place) for turn in turns(bank)} == {("Summing up", "claude/claude")}


@pytest.mark.parametrize("single", [False, True])
def test_chatgpt(bank: Bank, tmp_path: Path, single: bool) -> None:
    told = written.chatgpt_conversation()
    file = written.document(tmp_path / "export" / "conversations.json", told if single else [told])
    report = talk(bank, file)
    assert in_order(bank) == [
        ("user", "Draw a heron."), ("assistant", "Here is a heron."), ("user", "And in blue?"),
        ("assistant", "In blue, then."),
    ]  # fmt: skip
    assert report.left == {"in branches that were not taken": 1}


def test_chatgpt_without_ids(bank: Bank, tmp_path: Path) -> None:
    told = written.chatgpt_conversation()
    for name in ("id", "conversation_id"):
        told.pop(name, None)
    for node in told["mapping"].values():
        if node.get("message"):
            del node["message"]["id"]
    file = written.document(tmp_path / "conversations.json", [told])
    talk(bank, file)
    assert [text for _, text in in_order(bank)][:2] == ["Draw a heron.", "Here is a heron."]
    assert len({turn.session for turn in turns(bank)}) == 1
    # The conversation grows, and stays one conversation.
    last = told["current_node"]
    more = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Thanks."]}, "create_time": 1.8e9}
    told["mapping"]["more"] = {"parent": last, "message": more}
    told["current_node"] = "more"
    written.document(file, [told])
    assert talk(bank, file).memories == {"unchanged": 4, "new": 1}
    assert len({turn.session for turn in turns(bank)}) == 1


def test_gemini_activity_keeps_questions_with_their_answers(bank: Bank, tmp_path: Path) -> None:
    report = talk(bank, written.gemini(tmp_path / "Takeout"))
    assert report.left == {"records of other activity": 2}
    day = [turn for turn in turns(bank) if turn.session == "gemini-2026-03-05"]
    assert [(turn.sequence, turn.author, turn.text) for turn in day] == [
        (1, "user", "When do herons nest?"), (2, "assistant", "From March & April on."),
        (5, "user", "And how many eggs?"),
        (6, "assistant", "Three to five.\n- Grey heron: four\n- Night heron: three"),
    ]  # fmt: skip
    assert {turn.place for turn in day} == {"gemini/gemini"}
    assert ("user", "Wie heißt der Reiher auf Latein?") in said(bank)
    hits = list(bank.recall("When do herons nest?"))
    shown = [hit.memory.text for hit in hits] + [hit.reply.text for hit in hits if hit.reply]
    assert {"When do herons nest?", "From March & April on."} <= set(shown)


def test_gemini_cli(bank: Bank, tmp_path: Path) -> None:
    written.gemini_cli(tmp_path / "tmp")
    report = talk(bank, tmp_path / "tmp")
    assert said(bank) == [
        ("user", "Hello."), ("assistant", "Hello, Maya."), ("user", "Why is the queue slow?"),
        ("assistant", "It waits for the lock."), ("user", "Shorten the lock."),
    ]  # fmt: skip
    assert report.left == {"taken back by the person": 2, "files of other kinds": 1}
    reply = next(turn for turn in turns(bank) if turn.text.startswith("It waits"))
    assert (reply.place, reply.files, reply.sequence) == ("billing/gemini", ("src/queue.py",), 2)


def test_continue(bank: Bank, tmp_path: Path) -> None:
    talk(bank, written.continue_dev(tmp_path / "sessions"))
    asked, answered = turns(bank)
    assert [asked.text, answered.text] == ["How do we round?", "Half to even."]
    assert (asked.session, asked.context, asked.place) == ("c0ffee", "Rounding", "billing/continue")
    assert when(asked) == "2026-03-05T08:40:00Z"


def test_transcripts_lie_under_their_project_and_day(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "billing" / ".git").mkdir(parents=True)
    write(tmp_path / "billing" / "calls" / "call-2026-03-04.md", written.NAMED)
    write(tmp_path / "letters" / "chat.txt", written.MARKED)
    talk(bank, tmp_path)
    assert {turn.place for turn in turns(bank)} == {"billing/2026-03-04", "letters/2023-11-14"}


def test_captured_and_mined_turns_lie_in_one_wing(bank: Bank, tmp_path: Path) -> None:
    folder = tmp_path / "billing" / "src"
    folder.mkdir(parents=True)
    (tmp_path / "billing" / ".git").mkdir()
    told = {
        "host": "claude-code",
        "session": "s",
        "folder": str(folder),
        "what": "prompt",
        "at": "2026-03-02T09:00:00Z",
    }
    bank.observe([event_of({**told, "text": "Captured."})])
    line = written.claude_code_line(1, "user", "Mined.", cwd=str(folder))
    mine(bank, written.lines(tmp_path / "a.jsonl", [line]), format="claude-code")
    assert {turn.text: turn.place for turn in turns(bank)} == dict.fromkeys(
        ("Captured.", "Mined."), "billing/claude-code"
    )


def test_slack(bank: Bank, tmp_path: Path) -> None:
    report = talk(bank, written.slack(tmp_path / "export"), wing="team")
    assert said(bank) == [
        ("Maya", "@Omar Haddad see #billing & the page (https://x.example/a)"), ("Omar Haddad", "Reading it."),
        ("deploy", "Deployed 1.4 to production"), ("Guest", "Hi"),
    ]  # fmt: skip
    asked, answered, deployed, hi = turns(bank)
    assert asked.session == answered.session == "billing:1772530100.000200"
    assert deployed.session == hi.session == "billing:2026-03-03"
    assert (asked.author_type, deployed.author_type, asked.channel) == ("human", "system", "billing")
    assert {turn.place for turn in turns(bank)} == {"team/billing"}
    assert report.left == {"notices such as who joined": 1}


def test_transcript_with_names(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "call-2026-03-04.md"
    file.write_text(written.NAMED)
    report = talk(bank, file)
    assert [(author, text.split("\n")[0]) for author, text in in_order(bank)] == [
        ("Maya", "We move the queue on Friday."), ("Omar", "Note: the old one stays up."), ("Maya", "Good."),
    ]  # fmt: skip
    note = next(turn for turn in turns(bank) if turn.author == "Omar")
    assert "not said by anybody" in note.text
    assert {when(turn) for turn in turns(bank)} >= {"2026-03-04T14:05:00Z", "2026-03-04T14:07:00Z"}
    assert report.left == {"before anybody speaks": 1}


def test_transcript_with_marks(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(written.MARKED)
    talk(bank, file)
    assert in_order(bank) == [
        ("user", "How do we\nauthenticate?"), ("assistant", "With JWT, rotated daily."), ("user", "Since when?"),
        ("assistant", "Since May."),
    ]  # fmt: skip


def test_all_formats_lie_in_one_folder(bank: Bank, tmp_path: Path) -> None:
    everything = tmp_path / "all"
    hosts = (
        written.claude_code,
        written.codex,
        written.opencode_storage,
        written.claude,
        written.slack,
        written.chatgpt,
        written.gemini,
        written.continue_dev,
    )
    for number, make in enumerate(hosts):
        make(everything / str(number))
    (everything / "call.txt").write_text(written.MARKED)
    report = talk(bank, everything)
    assert set(report.formats) == set(FORMATS)
    assert talk(bank, everything).memories == {"unchanged": report.memories["new"]}


def test_one_format_alone_leaves_the_others_out(bank: Bank, tmp_path: Path) -> None:
    written.claude_code(tmp_path / "all")
    written.codex(tmp_path / "all")
    (tmp_path / "all" / "call.txt").write_text(written.MARKED)
    report = mine(bank, tmp_path / "all", format="text")
    assert report.formats == {"text": 1}
    assert report.left == {"files of other kinds": 2}


def test_people_in_conversations_connect_rooms(bank: Bank, tmp_path: Path) -> None:
    for wing, said in (("a", "Maya moved to Lisbon."), ("b", "We should ask Maya about the export.")):
        talk(bank, write(tmp_path / f"{wing}.txt", f"Omar: {said}\nEva: Yes.\n"), place=f"{wing}/talk-{wing}")
    assert bank.places.naming("Maya") == {"a/talk-a": 1, "b/talk-b": 1}
