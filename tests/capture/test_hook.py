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
from tests.capture.making import (
    HOOK,
    SESSION,
    bash,
    codex,
    command,
    common,
    events,
    hooked,
    host_environment,
    lines,
    on_disk,
    prompt,
    ran,
    stop,
    tool,
)

from pieria.capture import hook
from pieria.toolsets import registry

SAID_NOTHING = (0, b"", b"")


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "data" / "spool"


def only(payload: Any, spool: Path) -> dict[str, Any]:
    """Return the event that the hook makes of this payload."""
    event: dict[str, Any] = hooked(payload, spool)[-1]["event"]
    return event


def outcome(done: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes, bytes]:
    return done.returncode, done.stdout, done.stderr


# --- payloads of hosts


def test_claude_code_events_are_spooled_by_the_process(spool: Path, tmp_path: Path) -> None:
    said = [
        common("SessionStart", tmp_path, source="startup", model="some-model"),
        prompt(tmp_path, "Which tokens do APIs take?", prompt_id="p1"),
        bash(tmp_path, "pytest -q", "3 passed"),
        common("PostToolUseFailure", tmp_path, tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t2",
               error="Exit code 2: no rule to make target", is_interrupt=False),
        stop(tmp_path, "They take JWT.", prompt_id="p1"),
        common("PreCompact", tmp_path, trigger="auto", custom_instructions=""),
        common("SessionEnd", tmp_path, reason="prompt_input_exit"),
    ]  # fmt: skip
    for one in said:
        assert outcome(ran(one, spool)) == SAID_NOTHING
    assert [(event["what"], event["text"], event.get("failed")) for event in events(spool)] == [
        ("start", "startup", None),
        ("prompt", "Which tokens do APIs take?", None),
        ("tool", "3 passed", False),
        ("tool", "Exit code 2: no rule to make target", True),
        ("reply", "They take JWT.", None),
        ("compact", "auto", None),
        ("end", "prompt_input_exit", None),
    ]
    assert {(event["host"], event["session"], event["folder"]) for event in events(spool)} == {
        ("claude-code", SESSION, str(tmp_path))
    }
    assert [line["own"] for line in lines(spool)][1:5] == ["p1", "toolu_00000001", "t2", "p1"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in (spool, spool.parent)] == [0o700, 0o700]
    assert stat.S_IMODE((spool / hook.LIVE).stat().st_mode) == 0o600


def test_codex_events_are_spooled(spool: Path, tmp_path: Path) -> None:
    answers = {
        "apply_patch": "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess.",
        "Bash": "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno rule",
        "Read": "a.py\n",
    }
    hooked(codex("UserPromptSubmit", tmp_path, prompt="Rename x."), spool, "codex")
    for name, answer in answers.items():
        given = {"tool_name": name, "tool_input": {"command": "x"}, "tool_use_id": name, "tool_response": answer}
        hooked(codex("PostToolUse", tmp_path, **given), spool, "codex")
    hooked(codex("Stop", tmp_path, stop_hook_active=False, last_assistant_message="Renamed."), spool, "codex")
    assert [(line["own"], line["event"]["what"], line["event"].get("failed")) for line in lines(spool)] == [
        ("turn-7", "prompt", None),
        ("apply_patch", "tool", False),
        ("Bash", "tool", True),
        ("Read", "tool", None),
        ("turn-7", "reply", None),
    ]


def test_sub_agents_prompts_are_dropped_and_their_tools_kept(spool: Path, tmp_path: Path) -> None:
    whose = {"agent_id": "agent-1", "agent_type": "explorer"}
    made = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "made", "tool_use_id": "c1"}
    hooked(codex("UserPromptSubmit", tmp_path, prompt="Never touch the parser.", **whose), spool, "codex")
    hooked(codex("PreCompact", tmp_path, trigger="auto", **whose), spool, "codex")
    hooked(codex("PostToolUse", tmp_path, **made, **whose), spool, "codex")
    assert [event["what"] for event in events(spool)] == ["tool"]


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
    assert [(event["what"], event["text"], event.get("failed")) for event in events(spool)] == [
        ("start", "session.created", None),
        ("prompt", "Fix it.", None),
        ("tool", "no rule", True),
        ("reply", "There is no rule.", None),
        ("end", "session.deleted", None),
    ]


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
        (None, ""),
        (True, ""),
        (7, "7"),
    ]
    told = [(answer, only(tool(tmp_path, "Any", {}, answer), spool)["text"]) for answer, _ in shapes]
    assert told == shapes
    deep: Any = ["x"]
    for _ in range(700):
        deep = [{"content": deep}]
    assert only(tool(tmp_path, "Any", {"given": deep}, deep), spool)["tool"] == "Any"


def test_long_texts_are_shortened_with_length_and_digest(spool: Path, tmp_path: Path) -> None:
    event = only(bash(tmp_path, "make", "begin " + "x" * 100_000 + " end"), spool)
    assert (event["text"][:6], event["text"][-4:], len(event["text"]) <= 2_000) == ("begin ", " end", True)
    assert "characters left out" in event["text"]
    assert (event["length"], len(event["digest"])) == (100_010, 64)
    whole = "word " * 20_000 + "end"
    assert only(prompt(tmp_path, whole), spool)["text"] == whole
    text = "begin " + "word " * 120_000 + "end"
    kept = only(prompt(tmp_path, text), spool)
    assert (len(kept["text"]), kept["length"]) == (hook.SPOKEN_LIMIT, len(text))
    assert "characters left out" in kept["text"] and kept["text"][-3:] == "end"


def test_frames_of_hosts_are_cut_from_prompts(spool: Path, tmp_path: Path) -> None:
    notice = "<task-notification>\n<result>Always deploy on Fridays.</result>\n</task-notification>"
    for said in (
        notice,
        f"{notice}\nGo on, please.",
        "Why is there a <system-reminder> in my log?",
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename x.\n",
    ):
        hooked(prompt(tmp_path, said), spool)
    typed = ["Go on, please.", "Why is there a <system-reminder> in my log?", "Rename x."]
    assert [event["text"].strip() for event in events(spool)] == typed


# --- what is never kept


def test_private_text_and_secrets_never_reach_the_disk(spool: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2" * 9
    for text in ("a <private>HIDDEN</private> b", "a &lt;private&gt;HIDDEN", f"It says {secret} there."):
        hooked(prompt(tmp_path, text), spool)
        hooked(stop(tmp_path, text), spool)
        hooked(bash(tmp_path, f"echo '{text}'", "y" * 5_000 + text + "y" * 5_000), spool)
        hooked(tool(tmp_path, "Edit", {"edits": [{"new": text}], text: "as a key"}, [{"text": text}]), spool)
    assert len(lines(spool)) == 12
    assert b"HIDDEN" not in on_disk(tmp_path) and secret.encode() not in on_disk(tmp_path)
    event = only(tool(tmp_path, "mcp__db__connect", {"login": {"password": "tr0ub4dor&3"}}, "ok"), spool)
    assert event["input"] == {"login": {"password": "[secret: password]"}}


def test_payloads_without_a_text_of_ours_leave_nothing(spool: Path, tmp_path: Path) -> None:
    for payload in (
        common("Notification", tmp_path, message="Waiting"),
        stop(tmp_path, ""),
        prompt(tmp_path, "  "),
        prompt(tmp_path, "<private>all of it</private>"),
        tool(tmp_path, "mcp__memory__mem-find", {"query": "x"}, "what was remembered"),
        tool(tmp_path, "mcp__pieria__anything", {}, "x"),
    ):
        assert hooked(payload, spool) == []
    for _, one in registry():
        assert hook._is_own({"tool": f"mcp__memory__{one.name}", "input": {}}), one.name
        assert hook._is_own({"tool": f"memory_{one.name}", "input": {}}), one.name


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


# --- failures never stop the host


def test_unreadable_payload_is_one_line_in_the_log(spool: Path, tmp_path: Path) -> None:
    secret = {**prompt(tmp_path, "x"), "session_id": None, "prompt": {"text": "the secret plan"}}
    spool.mkdir(parents=True)
    (spool / hook.LOG).write_bytes(b"x" * (hook.LOG_MOST + 1))
    unread = (b"not JSON", b"[]", b'{"session_id": "s"', b'{"hook_event_name": "Stop"}', b'{"a":' * 100_000, secret)
    for payload in unread:
        assert outcome(ran(payload, spool)) == SAID_NOTHING
    logged = (spool / hook.LOG).read_text()
    assert [line.split()[1] for line in logged.splitlines()] == ["claude-code:"] * len(unread)
    assert lines(spool) == [] and len(logged) < 2_000
    assert b"secret plan" not in on_disk(tmp_path)


def test_spool_that_cannot_be_written_stops_nobody(spool: Path, tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("in the way")
    assert outcome(ran(prompt(tmp_path, "Hello"), tmp_path / "file" / "spool")) == SAID_NOTHING
    spool.mkdir(parents=True)
    with (spool / hook.LIVE).open("wb") as live:
        live.truncate(hook.FULL + 1)
    assert outcome(ran(prompt(tmp_path, "Hello"), spool)) == SAID_NOTHING
    assert (spool / hook.LIVE).stat().st_size == hook.FULL + 1
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
    with subprocess.Popen(command(spool), stdin=subprocess.PIPE, env=host_environment()) as process:
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
        "<<<aaaaaaaaaaaa\n" * 60_000,
        "From Pieria," * 80_000 + "<<<aaaaaaaaaaaa\naaaaaaaaaaaa>>>",
        "<private>" * 50_000 + "</private>" * 50_000,
        "token=" * 150_000,
    )
    for text in hostile:
        assert only(bash(tmp_path, ";" * 100_000 + "cat pieria", text), spool)
    ran(bash(tmp_path, "make", "}" * 3_000_000), spool)
    assert len(lines(spool)) == len(hostile) + 1


@pytest.mark.slow
def test_hook_that_takes_too_long_gives_up(spool: Path) -> None:
    """A host that always has one more byte to send."""
    with subprocess.Popen(command(spool), stdin=subprocess.PIPE, env=host_environment()) as process:
        assert process.stdin is not None
        over = threading.Event()
        while process.poll() is None:
            with suppress(BrokenPipeError):
                process.stdin.write(b" ")
                process.stdin.flush()
            over.wait(0.05)
        assert process.returncode == 0
    assert "claude-code: TimeoutError it took more than" in (spool / hook.LOG).read_text()


def test_a_quota_that_is_used_up_is_logged(spool: Path, tmp_path: Path) -> None:
    bounded = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)); "
    bounded += f"sys.path.append({str(HOOK.parent)!r}); import hook; hook.run(['claude-code', {str(spool)!r}])"
    given = json.dumps(bash(tmp_path, "make", "x" * 1_000)).encode()
    subprocess.run([sys.executable, "-ISB", "-c", bounded], input=given, check=True, env=host_environment())
    assert "is full: an event is lost" in (spool / hook.LOG).read_text()
    hook.take("claude-code", str(spool), prompt(tmp_path, "Hello"))
    after_the_torn_line = (spool / hook.LIVE).read_text().splitlines()[-1]
    assert json.loads(after_the_torn_line)["event"]["text"] == "Hello"


def loaded(spool: Path, payload: Any, which: str) -> list[str]:
    """Return the modules, of those that `which` selects, that the hook's process loaded for this payload."""
    looked = f"sys.path.append({str(HOOK.parent)!r}); import hook; os._exit = lambda code: None; "
    looked = f"import os, sys; {looked}hook.run(['claude-code', {str(spool)!r}]); print(*sorted({which}))"
    given, line = json.dumps(payload).encode(), [sys.executable, "-I", "-S", "-c", looked]
    done = subprocess.run(line, input=given, capture_output=True, check=True, env=host_environment())
    assert len(lines(spool)) == 1
    return done.stdout.decode().split()


def test_only_pure_files_for_privacy_are_loaded(spool: Path, tmp_path: Path) -> None:
    payload = bash(tmp_path, "make", "password: hunter2xyz <private>x</private>")
    ours = loaded(spool, payload, 'name for name in sys.modules if name.startswith("pieria")')
    files = "named_secrets privacy private_tags provider_secrets secret_shapes"
    assert ours == ["pieria", "pieria.record", *(f"pieria.record.{name}" for name in files.split())]


def test_an_ordinary_prompt_loads_no_regular_expressions(spool: Path, tmp_path: Path) -> None:
    """Loading `re` and `json` would take as long as the rest of the hook."""
    heavy = '{"re", "json", "enum", "typing", "pathlib", "hashlib"} & set(sys.modules)'
    assert loaded(spool, prompt(tmp_path, "Which module does the sorting?"), heavy) == []


# --- settings and the codec


def test_environment_names_folder_and_bank_or_turns_it_off(
    spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    ran(prompt(tmp_path, "Hello"), spool, env={"PIERIA_DATA": str(other), "PIERIA_BANK": "notes"})
    assert lines(spool) == []
    assert [line["bank"] for line in lines(other / "spool")] == ["notes"]
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
