"""The hook as a process: the events it makes of hosts' payloads, and that it never delays the host."""

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
    common,
    events,
    hooked,
    lines,
    on_disk,
    prompt,
    ran,
    stop,
    tool,
)

from pieria.capture import hook
from pieria.toolsets import registry


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "data" / "spool"


def only(payload: Any, spool: Path, host: str = "claude-code") -> dict[str, Any]:
    [line] = hooked(payload, spool, host)
    event: dict[str, Any] = line["event"]
    return event


# --- payloads of hosts


def test_claude_code_says_what_happened(spool: Path, tmp_path: Path) -> None:
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
        hooked(one, spool)
    kept = [(event["what"], event["text"], event.get("failed")) for event in events(spool)]
    assert kept == [
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


def test_codex_says_it_in_its_words(spool: Path, tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"
    for one in (
        codex("UserPromptSubmit", tmp_path, prompt="Rename x."),
        codex("PostToolUse", tmp_path, tool_name="apply_patch", tool_input={"command": patch}, tool_use_id="call_1",
              tool_response="Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess."),
        codex("PostToolUse", tmp_path, tool_name="Bash", tool_input={"command": "make"}, tool_use_id="call_2",
              tool_response="Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno rule"),
        codex("PostToolUse", tmp_path, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="call_3",
              tool_response="a.py\n"),
        codex("Stop", tmp_path, stop_hook_active=False, last_assistant_message="Renamed."),
    ):  # fmt: skip
        hooked(one, spool, "codex")
    kept = [(event["what"], event.get("tool"), event.get("failed")) for event in events(spool)]
    assert kept == [
        ("prompt", None, None),
        ("tool", "apply_patch", False),
        ("tool", "Bash", True),
        ("tool", "Bash", None),
        ("reply", None, None),
    ]
    assert [line["own"] for line in lines(spool)] == ["turn-7", "call_1", "call_2", "call_3", "turn-7"]


def test_opencode_says_it_by_its_plugin(spool: Path, tmp_path: Path) -> None:
    def told(name: str, given: dict[str, Any], out: dict[str, Any] | None = None) -> None:
        hooked({"hook": name, "directory": str(tmp_path), "input": given, "output": out}, spool, "opencode")

    parts = [{"type": "text", "text": "Fix it."}, {"type": "text", "text": "a file's text", "synthetic": True}]
    told("session.created", {"sessionID": "ses_1"})
    told("chat.message", {"sessionID": "ses_1", "messageID": "msg_1"}, {"parts": parts})
    given = {"sessionID": "ses_1", "callID": "call_1", "tool": "bash", "args": {"command": "make"}}
    told("tool.execute.after", given, {"output": "no rule", "metadata": {"exit": 2}})
    told("reply", {"sessionID": "ses_1", "messageID": "msg_2"}, {"text": "There is no rule."})
    told("session.deleted", {"sessionID": "ses_1"})
    told("something.new", {"sessionID": "ses_1"})
    kept = [(event["what"], event["text"], event.get("failed")) for event in events(spool)]
    assert kept == [
        ("start", "session.created", None),
        ("prompt", "Fix it.", None),
        ("tool", "no rule", True),
        ("reply", "There is no rule.", None),
        ("end", "session.deleted", None),
    ]


def test_any_other_agent_says_events_as_they_are_kept(spool: Path, tmp_path: Path) -> None:
    said = {"what": "tool", "session": "s", "id": "17", "tool": "make", "input": {"target": "all"}, "failed": True}
    hooked({**said, "text": "no rule", "at": "2026-05-01T10:00:00Z", "folder": str(tmp_path)}, spool, "my-agent")
    [line] = lines(spool)
    assert (line["own"], line["event"]["host"], line["event"]["at"]) == ("17", "my-agent", "2026-05-01T10:00:00Z")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("as it is", "as it is"),
        ({"type": "text", "file": {"filePath": "a.py", "content": "x = 1", "numLines": 1}}, "x = 1"),
        ({"mode": "files_with_matches", "filenames": ["a.py", "b.py"], "numFiles": 2}, "a.py\nb.py"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ({"content": [{"type": "text", "text": "a report"}], "totalDurationMs": 9}, "a report"),
        ({"bytes": 10, "code": 200, "result": "a page", "url": "https://example.org"}, "a page"),
        (None, ""),
        (True, ""),
        (7, "7"),
    ],
)
def test_a_tools_answer_may_have_any_shape(answer: Any, text: str, spool: Path, tmp_path: Path) -> None:
    assert only(tool(tmp_path, "Any", {}, answer), spool)["text"] == text


def test_what_we_do_not_listen_to_leaves_nothing(spool: Path, tmp_path: Path) -> None:
    assert hooked(common("Notification", tmp_path, message="Waiting"), spool) == []
    assert hooked(stop(tmp_path, ""), spool) == []
    assert hooked(prompt(tmp_path, "  "), spool) == []


def test_a_long_output_is_kept_at_both_ends_with_its_length_and_digest(spool: Path, tmp_path: Path) -> None:
    event = only(bash(tmp_path, "make", "begin " + "x" * 100_000 + " end"), spool)
    assert event["text"].startswith("begin ")
    assert event["text"].endswith(" end")
    assert len(event["text"]) <= 2_000
    assert "characters left out" in event["text"]
    assert (event["length"], len(event["digest"])) == (100_010, 64)


def test_a_prompt_is_kept_whole(spool: Path, tmp_path: Path) -> None:
    text = "word " * 20_000 + "end"
    assert only(prompt(tmp_path, text), spool)["text"] == text


def test_a_prompt_that_is_too_long_says_what_is_left_out(spool: Path, tmp_path: Path) -> None:
    text = "begin " + "word " * 120_000 + "end"
    kept = only(prompt(tmp_path, text), spool)
    assert len(kept["text"]) == hook.SPOKEN_LIMIT
    assert "characters left out" in kept["text"]
    assert (kept["text"][:6], kept["text"][-3:], kept["length"]) == ("begin ", "end", len(text))


NOTICE = "<task-notification>\n<task-id>b1</task-id>\n<result>Always deploy on Fridays.</result>\n</task-notification>"


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        (NOTICE, None),
        (f"{NOTICE}\nGo on, please.", "Go on, please."),
        ("<agent-message from='reviewer'>Never run the tests.</agent-message>", None),
        ("Why is there a <system-reminder> in my log?", "Why is there a <system-reminder> in my log?"),
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename x.\n", "Rename x."),
    ],
)
def test_what_a_host_says_in_the_place_of_a_person_is_no_prompt(
    said: str, typed: str | None, spool: Path, tmp_path: Path
) -> None:
    hooked(prompt(tmp_path, said), spool)
    assert [event["text"].strip() for event in events(spool)] == ([] if typed is None else [typed])


def test_what_a_sub_agent_is_asked_is_no_prompt_and_its_tools_are_kept(spool: Path, tmp_path: Path) -> None:
    whose = {"agent_id": "agent-1", "agent_type": "explorer"}
    hooked(codex("UserPromptSubmit", tmp_path, prompt="Never touch the parser.", **whose), spool, "codex")
    hooked(codex("PreCompact", tmp_path, trigger="auto", **whose), spool, "codex")
    ran_by_it = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "made", "tool_use_id": "c1"}
    hooked(codex("PostToolUse", tmp_path, **ran_by_it, **whose), spool, "codex")
    assert [event["what"] for event in events(spool)] == ["tool"]


# --- what is never kept

PRIVATE = (
    "a <private>HIDDEN</private> b",
    "a <PRIVATE reason='x'>HIDDEN</PRIVATE> b",
    "a &lt;private&gt;HIDDEN&lt;/private&gt; b",
    "a &amp;lt;private&amp;gt;HIDDEN&amp;lt;/private&amp;gt; b",
    "a &#60;private&#62;HIDDEN&#60;/private&#62; b",
    "a \\u003cprivate\\u003eHIDDEN\\u003c\\/private\\u003e b",
    "a %3Cprivate%3EHIDDEN%3C/private%3E b",
    "a <private>HIDDEN <private>HIDDEN</private> HIDDEN</private> b",
    "a <private>HIDDEN",
)
SECRETS = (
    "sk-ant-api03-" + "a1B2" * 8,
    "ghp_" + "A1b2" * 9,
    "xoxb-123456789012-abcDEF",
    "AKIA" + "Q3EGTR5WZ7YXVB2N",
    "postgres://app:s3cr3tpw@db.internal/app",
    "password: hunter2xyz",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
)


@pytest.mark.parametrize("text", PRIVATE)
def test_what_is_private_never_reaches_the_disk(text: str, spool: Path, tmp_path: Path) -> None:
    hooked(prompt(tmp_path, text), spool)
    hooked(stop(tmp_path, text), spool)
    hooked(bash(tmp_path, f"echo '{text}'", text), spool)
    hooked(tool(tmp_path, "Write", {"file_path": "a.md", "content": text}, {"content": text}), spool)
    assert len(lines(spool)) == 4
    assert b"HIDDEN" not in on_disk(tmp_path)


def test_what_is_private_as_a_whole_is_no_prompt(spool: Path, tmp_path: Path) -> None:
    assert hooked(prompt(tmp_path, "<private>all of it</private>"), spool) == []


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_ever_reaches_the_disk(secret: str, spool: Path, tmp_path: Path) -> None:
    text = f"It says {secret} there."
    hooked(prompt(tmp_path, text), spool)
    hooked(stop(tmp_path, text), spool)
    hooked(bash(tmp_path, f"export X='{secret}'", "y" * 5_000 + text + "y" * 5_000), spool)
    hooked(tool(tmp_path, "Edit", {"edits": [{"new": text}], secret: "as a key"}, [{"text": text}]), spool)
    assert len(lines(spool)) == 4
    hidden = secret.split("\n")[1] if "\n" in secret else secret.removeprefix("password: ")
    hidden = "s3cr3tpw" if "s3cr3tpw" in hidden else hidden
    assert hidden.encode() not in on_disk(tmp_path)


def test_a_name_may_say_that_its_value_is_a_secret(spool: Path, tmp_path: Path) -> None:
    event = only(tool(tmp_path, "mcp__db__connect", {"login": {"password": "tr0ub4dor&3"}}, "ok"), spool)
    assert event["input"] == {"login": {"password": "[secret: password]"}}


# --- our own tools


def test_no_tool_of_ours_is_captured(spool: Path, tmp_path: Path) -> None:
    for _, one in registry():
        assert hook._is_own({"tool": f"mcp__memory__{one.name}", "input": {}}), one.name
        assert hook._is_own({"tool": f"memory_{one.name}", "input": {}}), one.name
    hooked(tool(tmp_path, "mcp__memory__mem-find", {"query": "x"}, "what was remembered"), spool)
    hooked(tool(tmp_path, "mcp__pieria__anything", {}, "x"), spool)
    assert lines(spool) == []


@pytest.mark.parametrize(
    "command",
    [
        "pieria recall 'which tokens?'",
        "cd app && pieria recall x | head",
        "PIERIA_BANK=a pieria list",
        "uv run pieria context",
        "uvx pieria stats",
        "/usr/local/bin/pieria recall x",
        "python3 -m pieria recall x",
        "echo $(pieria recall x)",
        "make\npieria recall x",
    ],
)
def test_no_command_of_ours_is_captured(command: str, spool: Path, tmp_path: Path) -> None:
    assert hooked(bash(tmp_path, command, "what was remembered"), spool) == []


@pytest.mark.parametrize(
    "command", ["cd pieria && make", "ls src/pieria", "git clone https://example.org/pieria.git", "grep -rn pieria ."]
)
def test_work_on_something_called_pieria_is(command: str, spool: Path, tmp_path: Path) -> None:
    assert len(hooked(bash(tmp_path, command, "ok"), spool)) == 1


def test_what_we_told_the_agent_is_cut_where_it_is_said_again(spool: Path, tmp_path: Path) -> None:
    block = "From Pieria, your long-term memory. Data.\n<<<5b0e6c1f22aa\n- [2026-01-10] Use JWT.\n5b0e6c1f22aa>>>"
    hooked(prompt(tmp_path, f"{block}\nAnd now?"), spool)
    hooked(bash(tmp_path, "cat AGENTS.md", f"# Notes\n{block}\nmore"), spool)
    said, put_out = events(spool)
    assert said["text"].strip() == "And now?"
    assert (put_out["text"].split(), "JWT" in put_out["text"]) == (["#", "Notes", "more"], False)


# --- failures never stop the host


@pytest.mark.parametrize(
    "payload",
    [b"", b"not JSON", b"[]", b'{"session_id": "s"', b'{"hook_event_name": "Stop"}', b"\xff\xfe", b'{"a":' * 100_000],
)
def test_what_cannot_be_read_is_one_line_in_the_log(payload: bytes, spool: Path) -> None:
    assert hooked(payload, spool) == []
    [said] = (spool / hook.LOG).read_text().splitlines()
    assert "claude-code: " in said


def test_the_log_holds_nothing_of_what_was_said(spool: Path, tmp_path: Path) -> None:
    hooked({**prompt(tmp_path, "the secret plan"), "session_id": None, "prompt": {"text": "the secret plan"}}, spool)
    assert b"secret plan" not in on_disk(tmp_path)
    assert (spool / hook.LOG).exists()


def test_the_log_does_not_grow_for_ever(spool: Path) -> None:
    spool.mkdir(parents=True)
    (spool / hook.LOG).write_bytes(b"x" * (hook.LOG_MOST + 1))
    hooked(b"not JSON", spool)
    assert (spool / hook.LOG).stat().st_size < 200


def test_a_spool_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("in the way")
    done = ran(prompt(tmp_path, "Hello"), tmp_path / "file" / "spool")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_spool_that_nobody_drains_takes_no_more(spool: Path, tmp_path: Path) -> None:
    spool.mkdir(parents=True)
    with (spool / hook.LIVE).open("wb") as live:
        live.truncate(hook.FULL + 1)
    done = ran(prompt(tmp_path, "Hello"), spool)
    assert (done.returncode, (spool / hook.LIVE).stat().st_size) == (0, hook.FULL + 1)
    assert "the spool is full" in (spool / hook.LOG).read_text()


def test_a_host_that_never_closes_the_pipe_does_not_hold_it_up(spool: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(HOOK), "claude-code", str(spool)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(prompt(tmp_path, "Hello")).encode())
        process.stdin.flush()
        assert process.wait(20) == 0
    assert [event["text"] for event in events(spool)] == ["Hello"]


def test_a_payload_that_comes_in_parts_is_read_to_its_end(spool: Path, tmp_path: Path) -> None:
    """One part ends like a whole object."""
    written = json.dumps(tool(tmp_path, "Write", {"content": {"a": {}}}, "x" * 300_000)).encode()
    assert b'{"a": {}}' in written
    cut = written.index(b'{"a": {}}') + len(b'{"a": {}}')
    command = [sys.executable, "-I", "-S", str(HOOK), "claude-code", str(spool)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ) as process:
        assert process.stdin is not None
        for part in (written[:cut], written[cut:]):
            process.stdin.write(part)
            process.stdin.flush()
        process.stdin.close()
        assert process.wait(20) == 0
    assert [event["length"] for event in events(spool)] == [300_000]


HOSTILE = {
    "fences that nothing closes": "<<<aaaaaaaaaaaa\n" * 60_000,
    "heads without an end": "From Pieria," * 80_000 + "<<<aaaaaaaaaaaa\naaaaaaaaaaaa>>>",
    "private parts": "<private>" * 50_000 + "</private>" * 50_000,
    "what may be a secret": "token=" * 150_000,
    "what ends like an object": "}" * 10_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_output_takes_it_long(text: str, spool: Path, tmp_path: Path) -> None:
    """A slow pattern would make the hook give up and log it."""
    assert hooked(bash(tmp_path, ";" * 100_000 + "cat pieria", text), spool) != []
    assert not (spool / hook.LOG).exists()


@pytest.mark.slow
def test_what_takes_too_long_is_let_go(spool: Path) -> None:
    """A host that always has one more byte to send."""
    command = [sys.executable, "-I", "-S", str(HOOK), "claude-code", str(spool)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ) as process:
        assert process.stdin is not None
        over = threading.Event()
        while process.poll() is None:
            with suppress(BrokenPipeError):
                process.stdin.write(b" ")
                process.stdin.flush()
            over.wait(0.05)
        assert process.returncode == 0
    assert "claude-code: TimeoutError it took more than" in (spool / hook.LOG).read_text()


@pytest.mark.parametrize("deep", [{"content": "x"}, ["x"]])
def test_an_answer_may_be_as_deep_as_it_likes(deep: Any, spool: Path, tmp_path: Path) -> None:
    for _ in range(700):
        deep = {"content": deep} if isinstance(deep, dict) else [deep]
    assert only(tool(tmp_path, "Any", {"given": deep}, deep), spool)["tool"] == "Any"


def test_bytes_that_are_no_text_cost_a_character_and_not_the_event(spool: Path, tmp_path: Path) -> None:
    written = json.dumps(bash(tmp_path, "cat it", "before QQ after")).encode().replace(b"QQ", b"\xff\x80")
    [line] = hooked(written, spool)
    assert line["event"]["text"] == "before \ufffd\ufffd after"


@pytest.mark.parametrize("name", [hook.LIVE, hook.LOG])
@pytest.mark.parametrize("make", ["link", "pipe"])
def test_nothing_is_written_through_what_somebody_put_in_the_place_of_a_file(
    name: str, make: str, spool: Path, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    spool.mkdir(parents=True)
    if make == "link":
        (spool / name).symlink_to(theirs)
    else:
        os.mkfifo(spool / name)
    done = ran(prompt(tmp_path, "Hello") if name == hook.LIVE else b"nonsense", spool)
    assert (done.returncode, done.stdout, done.stderr, theirs.read_text()) == (0, b"", b"", "theirs")
    if name == hook.LIVE:
        assert "claude-code: " in (spool / hook.LOG).read_text()


def test_a_quota_that_is_used_up_is_said(spool: Path, tmp_path: Path) -> None:
    bounded = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)); "
    bounded += f"sys.path.append({str(HOOK.parent)!r}); import hook; hook.run(['claude-code', {str(spool)!r}])"
    given = json.dumps(bash(tmp_path, "make", "x" * 1_000)).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", bounded], input=given, check=True, env=environ)
    assert "is full: an event is lost" in (spool / hook.LOG).read_text()
    ran(prompt(tmp_path, "Hello"), spool)
    assert json.loads((spool / hook.LIVE).read_text().splitlines()[-1])["event"]["text"] == "Hello"


def test_it_needs_nothing_of_what_is_installed(spool: Path, tmp_path: Path) -> None:
    """Load no site packages, and of the package only the pure `record` files that privacy needs."""
    looked = f"""
import sys, runpy, os
sys.argv = [{str(HOOK)!r}, "claude-code", {str(spool)!r}]
os._exit = lambda code: None
runpy.run_path({str(HOOK)!r}, run_name="__main__")
print(*sorted(name for name in sys.modules if name.startswith("pieria")))
"""
    given = json.dumps(bash(tmp_path, "make", "password: hunter2xyz <private>x</private>")).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    command = [sys.executable, "-I", "-S", "-c", looked]
    done = subprocess.run(command, input=given, capture_output=True, check=True, env=environ)
    files = "named_secrets privacy private_tags provider_secrets secret_shapes"
    expected = ["pieria", "pieria.record", *(f"pieria.record.{name}" for name in files.split())]
    assert done.stdout.decode().split() == expected
    assert len(lines(spool)) == 1


# --- the file and its owner


def test_the_spool_is_the_users_alone(spool: Path, tmp_path: Path) -> None:
    hooked(prompt(tmp_path, "Hello"), spool)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (spool, spool.parent)] == [0o700, 0o700]
    assert stat.S_IMODE((spool / hook.LIVE).stat().st_mode) == 0o600


def test_a_line_after_a_torn_one_is_whole(spool: Path, tmp_path: Path) -> None:
    spool.mkdir(parents=True)
    (spool / hook.LIVE).write_bytes(b'{"own": "x", "eve')
    ran(prompt(tmp_path, "Hello"), spool)
    torn, whole = (line for line in (spool / hook.LIVE).read_text().splitlines() if line)
    assert torn == '{"own": "x", "eve'
    assert json.loads(whole)["event"]["text"] == "Hello"


def test_the_environment_says_where_and_for_which_bank(spool: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    hooked(prompt(tmp_path, "Hello"), spool, env={"PIERIA_DATA": str(other), "PIERIA_BANK": "notes"})
    assert lines(spool) == []
    assert [line["bank"] for line in lines(other / "spool")] == ["notes"]
    hooked(prompt(tmp_path, "Hello"), spool, env={"PIERIA_DATA": "postgresql://db.example/memory"})
    assert len(lines(spool)) == 1


@pytest.mark.parametrize("said", ["false", "0", "off", "NO"])
def test_the_environment_may_switch_it_off(said: str, spool: Path, tmp_path: Path) -> None:
    assert hooked(prompt(tmp_path, "Hello"), spool, env={"PIERIA_CAPTURE": said}) == []


def test_json_is_read_and_written_as_python_does(spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both with the fast codec and without it."""
    text = 'naïve \u2603 🧀 "quoted" \\ \n\t\x01 \ud83e half'
    payload = tool(tmp_path, "Any", {"n": [1, -2.5, 1e300, True, None, {}, []], "deep": {"t": text}}, text)
    for way in (
        json.dumps(payload),
        json.dumps(payload, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode(),
    ):
        assert hook._object(way.encode(), whole=True) == json.loads(way)
    held = {"own": "1", "event": payload}
    assert json.loads(hook._written(held)) == held
    shorter = hook._written(held)
    for name in ("make_scanner", "make_encoder"):
        monkeypatch.delattr(f"_json.{name}")
    assert hook._written(held) == shorter
    assert hook._object(json.dumps(payload).encode(), whole=True) == payload
    with pytest.raises(ValueError, match="Expecting"):
        hook._object(b"{", whole=True)
    assert hook._object(b"{", whole=False) is None


def test_what_holds_nothing_suspicious_is_spooled_without_regular_expressions(spool: Path, tmp_path: Path) -> None:
    """Loading `re` and `json` would take as long as the rest of the hook."""
    looked = f"""
import sys, os
sys.path.append({str(HOOK.parent)!r})
import hook
os._exit = lambda code: None
hook.run(["claude-code", {str(spool)!r}])
print(*sorted({{"re", "json", "enum", "typing", "pathlib", "hashlib"}} & set(sys.modules)))
"""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    given = json.dumps(prompt(tmp_path, "Which module does the sorting?")).encode()
    command = [sys.executable, "-I", "-S", "-c", looked]
    done = subprocess.run(command, input=given, capture_output=True, check=True, env=environ)
    assert done.stdout.split() == []
    assert len(lines(spool)) == 1
