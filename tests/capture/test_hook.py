"""The hook: the events it makes of hosts' payloads, what it leaves out, and its process, which never delays a host."""

import json
import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.capture import payloads
from tests.capture.payloads import bash, common, events, hooked, lines, prompt, ran, stop, tool

from pieria.capture import hook
from pieria.toolsets import registry


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "data" / "spool"


def only(payload: Any, spool: Path) -> dict[str, Any]:
    """Return the event that the hook makes of this payload."""
    event: dict[str, Any] = hooked(payload, spool)[-1]["event"]
    return event


def shown(spool: Path) -> list[tuple[str, str, bool | None]]:
    """Return what happened, the text, and whether it failed, for each event in the spool."""
    return [(event["what"], event["text"], event.get("failed")) for event in events(spool)]


def check_silent(payload: Any, spool: Path) -> None:
    """Check that the hook's process ends well and prints nothing."""
    done = ran(payload, spool)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_claude_code_events_are_spooled_by_the_process(spool: Path, tmp_path: Path) -> None:
    failing: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t2"}
    happened = {
        ("start", "startup", None): common("SessionStart", tmp_path, source="startup", model="some-model"),
        ("prompt", "Which tokens?", None): prompt(tmp_path, "Which tokens?", prompt_id="p1"),
        ("tool", "3 passed", False): bash(tmp_path, "pytest -q", "3 passed"),
        ("tool", "Exit code 2", True): common("PostToolUseFailure", tmp_path, **failing, error="Exit code 2"),
        ("reply", "They take JWT.", None): stop(tmp_path, "They take JWT.", prompt_id="p1"),
        ("compact", "auto", None): common("PreCompact", tmp_path, trigger="auto", custom_instructions=""),
        ("end", "prompt_input_exit", None): common("SessionEnd", tmp_path, reason="prompt_input_exit"),
    }
    for payload in happened.values():
        check_silent(payload, spool)
    assert shown(spool) == list(happened)
    wanted = {("claude-code", payloads.SESSION, str(tmp_path))}
    assert {(event["host"], event["session"], event["folder"]) for event in events(spool)} == wanted
    assert [line["own"] for line in lines(spool)][1:5] == ["p1", "toolu_00000001", "t2", "p1"]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (spool, spool.parent, spool / hook.LIVE)]
    assert modes == [0o700, 0o700, 0o600]


def test_codex_events_are_spooled_but_no_sub_agents_prompts(spool: Path, tmp_path: Path) -> None:
    def told(name: str, **more: Any) -> None:
        hooked(payloads.codex(name, tmp_path, **more), spool, "codex")

    told("UserPromptSubmit", prompt="Rename x.")
    for name, answer in (
        ("apply_patch", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess."),
        ("Bash", "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno rule"),
        ("Read", "a.py\n"),
    ):
        told("PostToolUse", tool_name=name, tool_input={"command": "x"}, tool_use_id=name, tool_response=answer)
    told("Stop", stop_hook_active=False, last_assistant_message="Renamed.")
    whose = {"agent_id": "agent-1", "agent_type": "explorer"}
    told("UserPromptSubmit", prompt="Never touch the parser.", **whose)
    told("PreCompact", trigger="auto", **whose)
    told("PostToolUse", tool_name="Bash", tool_input={}, tool_response="made", tool_use_id="c1", **whose)
    assert [(line["own"], line["event"]["what"], line["event"].get("failed")) for line in lines(spool)] == [
        ("turn-7", "prompt", None), ("apply_patch", "tool", False), ("Bash", "tool", True), ("Read", "tool", None),
        ("turn-7", "reply", None), ("c1", "tool", None),
    ]  # fmt: skip


def test_opencode_events_are_spooled(spool: Path, tmp_path: Path) -> None:
    def told(name: str, given: dict[str, Any], out: dict[str, Any] | None = None) -> None:
        given = {"sessionID": "ses_1", **given}
        hooked({"hook": name, "directory": str(tmp_path), "input": given, "output": out}, spool, "opencode")

    parts = [{"type": "text", "text": "Fix it."}, {"type": "text", "text": "a file's text", "synthetic": True}]
    told("session.created", {})
    told("chat.message", {"messageID": "msg_1"}, {"parts": parts})
    given = {"callID": "call_1", "tool": "bash", "args": {"command": "make"}}
    told("tool.execute.after", given, {"output": "no rule", "metadata": {"exit": 2}})
    told("reply", {"messageID": "msg_2"}, {"text": "There is no rule."})
    told("session.deleted", {})
    told("something.new", {})
    assert shown(spool) == [
        ("start", "session.created", None), ("prompt", "Fix it.", None), ("tool", "no rule", True),
        ("reply", "There is no rule.", None), ("end", "session.deleted", None),
    ]  # fmt: skip


def test_gemini_events_are_spooled_by_the_process(spool: Path, tmp_path: Path) -> None:
    """In the process, the reader is a file that only this host loads."""
    at = iter(f"2026-11-27T10:00:0{n}.000Z" for n in range(9))

    def told(name: str, **more: Any) -> None:
        of_session = {"session_id": "g1", "transcript_path": "", "cwd": str(tmp_path), "timestamp": next(at)}
        done = ran({**of_session, "hook_event_name": name, **more}, spool, "gemini")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    told("SessionStart", source="startup")
    told("BeforeAgent", prompt="Run the tests.")
    for content, error in (
        ("Output: no rule\nExit Code: 2\nProcess Group PGID: 7", None),
        ([{"text": "3 passed"}], None),
        ("no such file", {"message": "no such file"}),
    ):
        answer = {"llmContent": content, "returnDisplay": "", "error": error}
        told("AfterTool", tool_name="run_shell_command", tool_input={"command": "make"}, tool_response=answer)
    told("AfterTool", tool_name="mcp_pieria_recall", tool_input={}, tool_response={"llmContent": "ours"})
    told("AfterAgent", prompt="Run the tests.", prompt_response="They pass.", stop_hook_active=False)
    told("BeforeModel", llm_request={})
    told("SessionEnd", reason="exit")
    assert shown(spool) == [
        ("start", "startup", None), ("prompt", "Run the tests.", None),
        ("tool", "Output: no rule\nExit Code: 2\nProcess Group PGID: 7", True), ("tool", "3 passed", False),
        ("tool", "no such file", True), ("reply", "They pass.", None), ("end", "exit", None),
    ]  # fmt: skip
    assert {(event["host"], event["session"], event["folder"]) for event in events(spool)} == {
        ("gemini", "g1", str(tmp_path))
    }
    assert len({line["own"] for line in lines(spool)}) == 7


def test_other_agents_send_events_as_they_are_kept(spool: Path, tmp_path: Path) -> None:
    said = {"what": "tool", "session": "s", "id": "17", "tool": "make", "input": {"target": "all"}, "failed": True}
    hooked({**said, "text": "no rule", "at": "2026-05-01T10:00:00Z", "folder": str(tmp_path)}, spool, "my-agent")
    [line] = lines(spool)
    assert (line["own"], line["event"]["host"], line["event"]["at"]) == ("17", "my-agent", "2026-05-01T10:00:00Z")


def test_text_is_found_in_answers_of_any_shape(spool: Path, tmp_path: Path) -> None:
    shapes: list[tuple[Any, str]] = [
        ("as it is", "as it is"),
        ({"type": "text", "file": {"filePath": "a.py", "content": "x = 1", "numLines": 1}}, "x = 1"),
        ({"mode": "files_with_matches", "filenames": ["a.py", "b.py"], "numFiles": 2}, "a.py\nb.py"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ({"content": [{"type": "text", "text": "a report"}], "totalDurationMs": 9}, "a report"),
        ({"bytes": 10, "code": 200, "result": "a page", "url": "https://example.org"}, "a page"),
        (None, ""), (True, ""), (7, "7"),
    ]  # fmt: skip
    told = [(answer, only(tool(tmp_path, "Any", {}, answer), spool)["text"]) for answer, _ in shapes]
    assert told == shapes
    deep: Any = ["x"]
    for _ in range(700):
        deep = [{"content": deep}]
    assert only(tool(tmp_path, "Any", {"given": deep}, deep), spool)["tool"] == "Any"


def test_long_texts_are_shortened_with_length_and_digest(spool: Path, tmp_path: Path) -> None:
    event = only(bash(tmp_path, "make", "begin " + "x" * 100_000 + " end"), spool)
    assert (event["text"][:6], event["text"][-4:], len(event["text"]) <= 2_000) == ("begin ", " end", True)
    assert (event["length"], len(event["digest"])) == (100_010, 64)
    whole = "word " * 20_000 + "end"
    assert only(prompt(tmp_path, whole), spool)["text"] == whole
    text = "begin " + "word " * 120_000 + "end"
    kept = only(prompt(tmp_path, text), spool)
    assert (len(kept["text"]), kept["length"], kept["text"][-3:]) == (hook.SPOKEN_LIMIT, len(text), "end")
    assert "characters left out" in kept["text"] and "characters left out" in event["text"]


def test_frames_of_hosts_are_cut_from_prompts(spool: Path, tmp_path: Path) -> None:
    notice = "<task-notification>\n<result>Always deploy on Fridays.</result>\n</task-notification>"
    asked = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename x.\n"
    typed = {f"{notice}\nGo on, please.": "Go on, please.", asked: "Rename x."}
    typed |= {"Why is there a <system-reminder> in my log?": "Why is there a <system-reminder> in my log?"}
    for said in (notice, *typed):
        hooked(prompt(tmp_path, said), spool)
    assert [event["text"].strip() for event in events(spool)] == list(typed.values())


def test_private_text_and_secrets_never_reach_the_disk(spool: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2" * 9
    for text in ("a <private>HIDDEN</private> b", "a &lt;private&gt;HIDDEN", f"It says {secret} there."):
        hooked(prompt(tmp_path, text), spool)
        hooked(stop(tmp_path, text), spool)
        hooked(bash(tmp_path, f"echo '{text}'", "y" * 5_000 + text + "y" * 5_000), spool)
        hooked(tool(tmp_path, "Edit", {"edits": [{"new": text}], text: "as a key"}, [{"text": text}]), spool)
    assert len(lines(spool)) == 12
    assert b"HIDDEN" not in payloads.on_disk(tmp_path) and secret.encode() not in payloads.on_disk(tmp_path)
    event = only(tool(tmp_path, "mcp__db__connect", {"login": {"password": "tr0ub4dor&3"}}, "ok"), spool)
    assert event["input"] == {"login": {"password": "[secret: password]"}}


def test_payloads_without_a_text_of_ours_leave_nothing(spool: Path, tmp_path: Path) -> None:
    for payload in (
        common("Notification", tmp_path, message="Waiting"), stop(tmp_path, ""), prompt(tmp_path, "  "),
        prompt(tmp_path, "<private>all of it</private>"),
        tool(tmp_path, "mcp__memory__mem-find", {"query": "x"}, "what was remembered"),
        tool(tmp_path, "mcp__pieria__anything", {}, "x"),
    ):  # fmt: skip
        assert hooked(payload, spool) == []
    common_words = {"context", "get", "correct", "forget", "undo", "facts"}
    for name in {*registry().names} - common_words:
        assert hook._is_own({"tool": f"mcp__memory__{name}", "input": {}}), name
        assert hook._is_own({"tool": f"memory_{name}", "input": {}}), name


def test_commands_of_pieria_are_told_from_work_on_it() -> None:
    own = [
        "pieria recall 'which tokens?'", "cd app && pieria recall x | head", "PIERIA_BANK=a pieria list",
        "uv run pieria context", "uvx pieria stats", "/usr/local/bin/pieria recall x", "python3 -m pieria recall x",
        "echo $(pieria recall x)", "make\npieria recall x",
    ]  # fmt: skip
    others = ["cd pieria && make", "ls src/pieria", "git clone https://example.org/pieria.git", "grep -rn pieria ."]
    taken = [line for line in own + others if not hook._is_own({"tool": "Bash", "input": {"command": line}})]
    assert taken == others


def test_blocks_of_context_are_cut_where_they_are_quoted(spool: Path, tmp_path: Path) -> None:
    block = "From Pieria, your long-term memory. Data.\n<<<5b0e6c1f22aa\n- [2026-01-10] Use JWT.\n5b0e6c1f22aa>>>"
    assert only(prompt(tmp_path, f"{block}\nAnd now?"), spool)["text"].strip() == "And now?"
    put_out = only(bash(tmp_path, "cat AGENTS.md", f"# Notes\n{block}\nmore"), spool)["text"]
    assert (put_out.split(), "JWT" in put_out) == (["#", "Notes", "more"], False)


def test_unreadable_payload_is_one_line_in_the_log(spool: Path, tmp_path: Path) -> None:
    secret = {**prompt(tmp_path, "x"), "session_id": None, "prompt": {"text": "the secret plan"}}
    spool.mkdir(parents=True)
    (spool / hook.LOG).write_bytes(b"x" * (hook.LOG_MOST + 1))
    unread = (b"not JSON", b"[]", b'{"session_id": "s"', b'{"hook_event_name": "Stop"}', b'{"a":' * 100_000, secret)
    for payload in unread:
        check_silent(payload, spool)
    logged = (spool / hook.LOG).read_text()
    assert [line.split()[1] for line in logged.splitlines()] == ["claude-code:"] * len(unread)
    assert lines(spool) == [] and len(logged) < 2_000
    assert b"secret plan" not in payloads.on_disk(tmp_path)


def test_spool_that_cannot_be_written_stops_nobody(spool: Path, tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("in the way")
    check_silent(prompt(tmp_path, "Hello"), tmp_path / "file" / "spool")
    spool.mkdir(parents=True)
    live = spool / hook.LIVE
    live.touch()
    os.truncate(live, hook.FULL + 1)
    check_silent(prompt(tmp_path, "Hello"), spool)
    assert live.stat().st_size == hook.FULL + 1
    assert "the spool is full" in (spool / hook.LOG).read_text()


@pytest.mark.parametrize("make", ["link", "pipe"])
def test_links_and_pipes_in_place_of_spool_files_are_refused(make: str, spool: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    spool.mkdir(parents=True)
    for name in (hook.LIVE, hook.LOG):
        (spool / name).symlink_to(theirs) if make == "link" else os.mkfifo(spool / name)
        with pytest.raises((BufferError, OSError)):
            hooked(prompt(tmp_path, "Hello"), spool) if name == hook.LIVE else hook.note(str(spool), "nonsense")
    assert theirs.read_text() == "theirs"


def test_host_that_keeps_the_pipe_open_is_not_waited_for(spool: Path, tmp_path: Path) -> None:
    """The first part of the payload ends like a whole object."""
    written = json.dumps(tool(tmp_path, "Write", {"content": {"a": {}}}, "x" * 300_000)).encode()
    cut = written.index(b'{"a": {}}') + len(b'{"a": {}}')
    with payloads.started(spool) as process:
        assert process.stdin is not None
        for part in (written[:cut], written[cut:]):
            process.stdin.write(part)
            process.stdin.flush()
        assert process.wait(20) == 0
    assert [event["length"] for event in events(spool)] == [300_000]


@pytest.mark.slow
def test_no_text_keeps_the_hook_busy_for_long(spool: Path, tmp_path: Path) -> None:
    """A slow pattern would take hours."""
    hostile = (
        "<<<aaaaaaaaaaaa\n" * 60_000, "From Pieria," * 80_000 + "<<<aaaaaaaaaaaa\naaaaaaaaaaaa>>>",
        "<private>" * 50_000 + "</private>" * 50_000, "token=" * 150_000,
    )  # fmt: skip
    for text in hostile:
        assert only(bash(tmp_path, ";" * 100_000 + "cat pieria", text), spool)
    ran(bash(tmp_path, "make", "}" * 3_000_000), spool)
    assert len(lines(spool)) == len(hostile) + 1


@pytest.mark.slow
def test_hook_that_takes_too_long_gives_up(spool: Path) -> None:
    """A host that always has one more byte to send."""
    with payloads.started(spool) as process:
        assert process.stdin is not None
        over = threading.Event()
        while process.poll() is None:
            with suppress(BrokenPipeError):
                process.stdin.write(b" ")
                process.stdin.flush()
            over.wait(0.05)
        assert process.returncode == 0
    assert "claude-code: TimeoutError it took more than" in (spool / hook.LOG).read_text()


def inside(spool: Path, before: str, payload: Any, after: str = "pass") -> list[str]:
    """Run code before and after the hook in its process. Return what the code prints, word by word."""
    code = f"import os, resource, sys; sys.path.append({str(payloads.HOOK.parent)!r}); import hook; {before}; "
    code += f"hook.run(['claude-code', {str(spool)!r}]); {after}"
    given, line = json.dumps(payload).encode(), [sys.executable, "-ISB", "-c", code]
    done = subprocess.run(line, input=given, capture_output=True, check=True, env=payloads.host_environment())
    return done.stdout.decode().split()


def test_a_quota_that_is_used_up_is_logged(spool: Path, tmp_path: Path) -> None:
    inside(spool, "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))", bash(tmp_path, "make", "x" * 1_000))
    assert "is full: an event is lost" in (spool / hook.LOG).read_text()
    hook.take("claude-code", str(spool), prompt(tmp_path, "Hello"))
    after_the_torn_line = (spool / hook.LIVE).read_text().splitlines()[-1]
    assert json.loads(after_the_torn_line)["event"]["text"] == "Hello"


def test_an_event_loads_no_more_than_its_text_needs(spool: Path, tmp_path: Path) -> None:
    """Loading `re` and `json` would take as long as the rest of the hook."""
    goes_on = "os._exit = lambda code: None"
    heavy = 'print(*{"re", "json", "enum", "typing", "pathlib", "hashlib"} & set(sys.modules))'
    assert inside(spool, goes_on, prompt(tmp_path, "Which module does the sorting?"), heavy) == []
    ours = 'print(*sorted(name for name in sys.modules if name.startswith("pieria")))'
    payload = bash(tmp_path, "make", "password: hunter2xyz <private>x</private>")
    files = "named_secrets privacy private_tags provider_secrets secret_shapes"
    loaded = ["pieria", "pieria.record", *(f"pieria.record.{name}" for name in files.split())]
    assert inside(spool, goes_on, payload, ours) == loaded
    assert len(lines(spool)) == 2


def test_environment_names_a_bank_or_turns_it_off(spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    ran(prompt(tmp_path, "Hello"), spool, env={"PIERIA_DATA": str(other), "PIERIA_BANK": "notes"})
    assert (lines(spool), [line["bank"] for line in lines(other / "spool")]) == ([], ["notes"])
    monkeypatch.setenv("PIERIA_DATA", "postgresql://db.example/memory")
    assert hook._folder(str(spool)) == str(spool)
    for off in ("false", "0", "off", "NO"):
        monkeypatch.setenv("PIERIA_CAPTURE", off)
        hook.main(["claude-code", "nowhere"])


def test_json_is_read_and_written_as_by_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both with the fast codec and without it."""
    text = 'naïve \u2603 🧀 "quoted" \\ \n\t\x01 \ud83e half'
    payload = tool(tmp_path, "Any", {"n": [1, -2.5, 1e300, True, None, {}, []], "deep": {"t": text}}, text)
    indented = json.dumps(payload, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    for way in (json.dumps(payload).encode(), indented):
        assert hook._object(way, whole=True) == json.loads(way)
    torn = json.dumps({"text": "before QQ after"}).encode().replace(b"QQ", b"\xff\x80")
    assert hook._object(torn, whole=True) == {"text": "before \ufffd\ufffd after"}
    held = {"own": "1", "event": payload}
    fast = hook._written(held)
    assert json.loads(fast) == held
    for name in ("make_scanner", "make_encoder"):
        monkeypatch.delattr(f"_json.{name}")
    assert hook._written(held) == fast
    assert hook._object(json.dumps(payload).encode(), whole=True) == payload
    with pytest.raises(ValueError, match="Expecting"):
        hook._object(b"{", whole=True)
    assert hook._object(b"{", whole=False) is None


def test_answers_plans_and_findings_are_kept_in_one_form(spool: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"question": "Which?", "options": [{"label": "A, or so"}, {"label": "B"}, {"label": "C"}]}

    def told(name: str, given: dict[str, Any], answer: Any) -> dict[str, Any] | None:
        before = len(lines(spool))
        hooked(tool(tmp_path, name, given, answer), spool)
        return (
            None if len(lines(spool)) == before else {key: events(spool)[-1][key] for key in ("tool", "input", "text")}
        )

    def answered(answer: Any, **more: Any) -> list[Any]:
        event = told("AskUserQuestion", {"questions": [asked], "answers": answer}, {"answers": answer, **more})
        assert event is not None
        [question] = event["input"]["questions"]
        assert question.pop("options") == ["A, or so", "B", "C"] and question.pop("question") == "Which?"
        return list(question.values())

    assert answered({"Which?": "B, C"}) == ["B, C", False]
    assert answered({"Which?": "A, or so"}) == ["A, or so", False]
    assert answered({"Which?": "B, but later"}) == ["B, but later", True]
    assert answered({"Which?": "B"}, annotations={"Which?": {"notes": "not now"}}) == ["B", False, "not now"]
    assert answered([["B", "C"]]) == ["B, C", False]
    assert answered({"Which?": {"answers": ["B", "user_note: not now"]}}) == ["B", False, "not now"]
    asked["isSecret"] = True
    assert answered({"Which?": "hunter2"}) == ["[secret]", True]
    del asked["isSecret"]
    assert answered({}) == ["", False]
    plan = "# Plan\n" + "a step\n" * 1_000
    assert told("ExitPlanMode", {"plan": plan}, {"plan": plan, "isAgent": False}) == {
        "tool": "ExitPlanMode", "input": {}, "text": plan,
    }  # fmt: skip
    assert told("ExitPlanMode", {"plan": plan}, {"plan": plan, "isAgent": True}) is None
    failure = common(
        "PostToolUseFailure", tmp_path, tool_input={"plan": plan, "questions": [asked]}, error="Interrupted"
    )
    before = len(lines(spool))
    for name in ("ExitPlanMode", "AskUserQuestion"):
        hooked({**failure, "tool_name": name, "tool_use_id": name}, spool)
    assert len(lines(spool)) == before
    assert told("multi_agent_v1wait_agent", {}, '{"status": {}, "timed_out": true}') is None
    assert told("wait_agent", {}, "interrupted") is None
    notice = "<task-notification>\n<tool-use-id>t1</tool-use-id>\n<result>It is so.</result>\n</task-notification>"
    hooked(prompt(tmp_path, notice), spool)
    assert (lines(spool)[-1]["own"], events(spool)[-1]["text"]) == ("t1 found", "It is so.")


def test_only_a_shells_patch_that_fits_the_files_is_an_edit(spool: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")

    def before(command: str, name: str = "Bash") -> None:
        more = {"tool_name": name, "tool_input": {"command": command}, "tool_use_id": command}
        hooked(payloads.codex("PreToolUse", tmp_path, **more), spool, "codex")

    def patch(*changes: str) -> str:
        return "\n".join(["apply_patch <<'EOF'", "*** Begin Patch", *changes, "*** End Patch", "EOF"])

    moved = ("*** Update File: a.py", "*** Move to: b.py", "@@", "-x = 1", "+x = 2")
    fitting = [patch("*** Update File: a.py", "@@", "-x = 1", "+x = 2"), patch(*moved), patch("*** Delete File: a.py")]
    for command in (
        *fitting, patch("*** Update File: a.py", "@@", "-x = 3", "+x = 2"), patch("*** Delete File: c.py"),
        patch("*** Update File: c.py", "@@", "-x", "+y"), patch(), "pytest -q",
    ):  # fmt: skip
        before(command)
    before(fitting[0], "apply_patch")
    assert [line["own"] for line in lines(spool)] == fitting
    assert {event["tool"] for event in events(spool)} == {"apply_patch"}
