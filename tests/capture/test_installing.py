"""Hooks in their hosts' files: everything else stays, and taking them away leaves every file as it was."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.capture.making import common, events, prompt

import pieria
from pieria.capture.install import actions as doing
from pieria.capture.install import entries, jsontext
from pieria.capture.install.actions import Where
from pieria.capture.install.commands import CAPTURE, CONTEXT, Commands, which_of_ours
from pieria.capture.install.files import write
from pieria.capture.install.hosts import HOSTS
from pieria.errors import ConfigError, ConflictError

CLAUDE, CODEX, OPENCODE = HOSTS.values()

BY_HAND = {
    "as the host writes it": '{\n  "model": "opus",\n  "permissions": {\n    "allow": [\n      "Bash"\n    ]\n  }\n}\n',
    "four spaces, no line end": '{\n    "env": {"KEY": "x"}\n}',
    "tabs": '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"command": "x"}]}\n\t\t]\n\t}\n}\n',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "a mark": '\ufeff{\n  "a": 1\n}\n',
    "one line": '{"a": 1, "hooks": {"Stop": [], "PreCompact": [{"hooks": []}]}}',
    "empty": "{}",
    "empty over lines": "{\n}\n",
    "empty parts": '{"hooks": {}}',
    "comments": '// mine\n{\n  // why\n  "a": 1, // here\n  /* and\n there */\n  "hooks": {\n    // none yet\n  }\n}\n',
    "commas at the end": '{\n  "a": [1, 2,],\n  "hooks": {\n    "Stop": [\n      {}, // mine\n    ],\n  },\n}\n',
    "a key that comes twice": '{"hooks": {"Stop": []}, "hooks": {"Stop": [ ]}}',
    "other scripts": '{\n  "название": "käse 🧀 \\u00e9",\n  "hooks": {"Notification": [{"hooks": []}]}\n}\n',
    "odd spaces": '  {\n\n\n"a" :1   ,\n      "hooks"  :  {   "Stop":[   ]  }\n\n }  \n\n',
}


@pytest.fixture
def where(tmp_path: Path) -> Where:
    for folder in (".claude", ".codex", ".config/opencode"):
        (tmp_path / folder).mkdir(parents=True)
    return Where(tmp_path / "data" / "spool", tmp_path, tmp_path / "project", {})


def put(where: Where, text: str) -> Path:
    file = where.file(CLAUDE)
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND)
def test_a_file_is_as_it_was_after_uninstalling(text: str, where: Where) -> None:
    file = put(where, text)
    assert doing.install(CLAUDE, where).state == "missing"
    found = doing.status(CLAUDE, where)
    assert (found.state, sorted(found.events)) == ("installed", sorted(CLAUDE.events))
    assert found.context == ["SessionStart", "UserPromptSubmit"]
    again = file.read_bytes()
    assert doing.install(CLAUDE, where).state == "installed"
    assert file.read_bytes() == again
    doing.uninstall(CLAUDE, where)
    assert file.read_bytes() == text.encode()
    assert doing.status(CLAUDE, where).state == "missing"


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND)
def test_nothing_else_in_a_file_changes(text: str, where: Where) -> None:
    before = jsontext.parsed(text.removeprefix("\ufeff")).value
    file = put(where, text)
    doing.install(CLAUDE, where)
    after = jsontext.parsed(file.read_text("utf-8").removeprefix("\ufeff")).value
    assert {name: value for name, value in after.items() if name != "hooks"} == {
        name: value for name, value in before.items() if name != "hooks"
    }
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups


def spelt(value: Any, space: str, indent: int | str | None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, separators=(f"{space},", f":{space} "))


GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.just({"type": "command", "command": "theirs"}), max_size=2)}),
    max_size=2,
)
SETTINGS = st.dictionaries(
    st.text(max_size=6).filter(lambda name: name != "hooks"),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)
HOOKS = st.dictionaries(st.sampled_from([*CLAUDE.events, "Notification", "SubagentStop"]), GROUPS, max_size=4)


CAPTURED = {event: (CAPTURE,) for event in CLAUDE.events}
TOLD = CAPTURED | {event: (CAPTURE, CONTEXT) for event in CLAUDE.telling}
LINE = Commands("claude-code", Path("/data/spool")).line


@given(
    settings=SETTINGS,
    hooks=st.none() | HOOKS,
    place=st.integers(0, 4),
    space=st.sampled_from(["", " ", "\n"]),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    ends=st.tuples(st.sampled_from(["", " ", "\n"]), st.sampled_from(["", "\n", "\n\n "])),
    steps=st.lists(st.sampled_from([CAPTURED, TOLD]), min_size=1, max_size=4),
)
def test_any_file_is_as_it_was(
    settings: dict[str, Any], hooks: Any, place: int, space: str, indent: Any, ends: tuple[str, str], steps: Any
) -> None:
    """However often it was installed, with the context and without."""
    items = list(settings.items())
    if hooks is not None:
        items.insert(place, ("hooks", hooks))
    text = ends[0] + spelt(dict(items), space, indent) + ends[1]
    now = text
    for wanted in steps:
        now = entries.installed(now, wanted, LINE)
        assert {event: tuple(found) for event, found in entries.found(now).items()} == wanted
        assert entries.installed(now, wanted, LINE) == now
    assert entries.uninstalled(now) == text


@given(
    hooks=st.none() | HOOKS,
    indent=st.sampled_from([None, 2]),
    gone=st.lists(st.sampled_from([(event, what) for event, done in TOLD.items() for what in done]), unique=True),
    wanted=st.sampled_from([CAPTURED, TOLD]),
)
def test_what_is_half_there_is_completed_and_can_be_taken_away(
    hooks: Any, indent: Any, gone: list[tuple[str, str]], wanted: Any
) -> None:
    """Somebody had taken some of the entries out by hand."""
    text = None if hooks is None else spelt({"hooks": hooks}, "", indent)
    held = json.loads(entries.installed(text, TOLD, LINE))
    for event, what in gone:
        groups = held["hooks"][event]
        groups[:] = [one for one in groups if [which_of_ours(each["command"]) for each in one["hooks"]] != [what]]
    now = entries.installed(json.dumps(held), wanted, LINE)
    assert {event: set(found) for event, found in entries.found(now).items()} == {
        event: set(done) for event, done in wanted.items()
    }
    left = entries.uninstalled(now)
    assert left is None or not entries.found(left)


@given(
    before=st.lists(st.sampled_from(["1", '"a"', "[]", "{ }"]), max_size=3),
    blanks=st.lists(st.sampled_from(["", " ", "\n  ", " /* c */ ", " // c\n"]), min_size=9, max_size=9),
    trailing=st.booleans(),
)
def test_an_entry_is_taken_out_of_any_list_to_the_byte(before: list[str], blanks: list[str], trailing: bool) -> None:
    body = "".join(f"{blanks[n]}{one}{blanks[n + 3]}," for n, one in enumerate(before))
    if not (trailing and before):
        body = body.removesuffix(",")
    text = f"[{body}{blanks[8]}]"
    now = jsontext.with_entry(text, jsontext.parsed(text), {"ours": True})
    node = jsontext.parsed(now)
    assert node.value == [*jsontext.parsed(text).value, {"ours": True}]
    assert jsontext.without_entry(now, node, node.entries[-1]) == text


def test_a_file_that_was_not_there_goes_again(where: Where) -> None:
    for host in HOSTS.values():
        assert doing.install(host, where).state == "missing"
        assert doing.status(host, where).state == "installed"
        doing.uninstall(host, where)
        assert not where.file(host).exists()


def test_what_was_written_into_it_meanwhile_stays(where: Where) -> None:
    doing.install(CLAUDE, where)
    file = where.file(CLAUDE)
    held = json.loads(file.read_text())
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    held["hooks"]["Stop"].append(theirs)
    held["hooks"]["PreCompact"][0]["hooks"].append(theirs["hooks"][0])
    file.write_text(json.dumps({"model": "opus", **held}))
    doing.uninstall(CLAUDE, where)
    assert json.loads(file.read_text()) == {"model": "opus", "hooks": {"Stop": [theirs], "PreCompact": [theirs]}}


def test_an_older_entry_is_brought_up_to_date_in_its_place(where: Where) -> None:
    text = BY_HAND["comments"]
    file = put(where, text)
    doing.install(CLAUDE, where)
    file.write_text(file.read_text().replace(str(where.spool), "/elsewhere/spool"))
    assert doing.status(CLAUDE, where).state == "outdated"
    doing.install(CLAUDE, where)
    assert doing.status(CLAUDE, where).state == "installed"
    doing.uninstall(CLAUDE, where)
    assert file.read_text() == text


def test_what_a_killed_process_of_the_same_number_left_is_in_nobodys_way(tmp_path: Path) -> None:
    """As in a container, where numbers come again with each start."""
    left = tmp_path / f".settings.json.{os.getpid()}.new"
    left.write_text("half of something longer")
    left.chmod(0o666)
    with left.open() as anybody:
        write(tmp_path / "settings.json", "{}")
        assert anybody.read() == "half of something longer"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"settings.json": "{}"}
    assert (tmp_path / "settings.json").stat().st_mode & 0o777 == 0o600


def test_a_dry_run_writes_nothing(where: Where) -> None:
    file = put(where, BY_HAND["tabs"])
    assert doing.install(CLAUDE, where, dry_run=True).state == "missing"
    assert file.read_text() == BY_HAND["tabs"]
    doing.install(CLAUDE, where)
    there = file.read_bytes()
    assert doing.uninstall(CLAUDE, where, dry_run=True).state == "installed"
    assert file.read_bytes() == there


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "[]", "7", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"a": 1', '{"a": 1} x', "{a: 1}", "{'a': 1}"],
)
def test_a_file_that_is_not_as_its_host_has_it_is_not_touched(text: str, where: Where) -> None:
    file = put(where, text)
    assert doing.status(CLAUDE, where).state == "unreadable"
    with pytest.raises(ConfigError, match=r"settings\.json"):
        doing.install(CLAUDE, where)
    with pytest.raises(ConfigError, match=r"settings\.json"):
        doing.uninstall(CLAUDE, where)
    assert file.read_text() == text


def test_a_file_that_is_no_utf_8_is_not_touched(where: Where) -> None:
    where.file(CLAUDE).write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(ConfigError, match="UTF-8"):
        doing.install(CLAUDE, where)
    assert where.file(CLAUDE).read_bytes() == b'{"a": "\xe9"}'


def test_a_link_stays_a_link_and_its_file_as_readable_as_it_was(where: Where, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}\n")
    kept.chmod(0o640)
    where.file(CLAUDE).symlink_to(kept)
    doing.install(CLAUDE, where)
    assert where.file(CLAUDE).is_symlink()
    assert len(json.loads(kept.read_text())["hooks"]) == len(CLAUDE.events)
    assert kept.stat().st_mode & 0o777 == 0o640


def test_a_plugin_of_somebody_else_is_not_touched(where: Where) -> None:
    file = where.file(OPENCODE)
    file.parent.mkdir()
    file.write_text("export const Mine = async () => ({})\n")
    assert doing.status(OPENCODE, where).state == "foreign"
    with pytest.raises(ConflictError):
        doing.install(OPENCODE, where)
    doing.uninstall(OPENCODE, where)
    assert file.read_text() == "export const Mine = async () => ({})\n"


def test_hosts_say_where_their_files_are(tmp_path: Path) -> None:
    named = {name: str(tmp_path / name) for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME")}
    where = Where(tmp_path, tmp_path, tmp_path, named)
    assert [where.file(host).relative_to(tmp_path).as_posix() for host in HOSTS.values()] == [
        "CLAUDE_CONFIG_DIR/settings.json",
        "CODEX_HOME/hooks.json",
        "XDG_CONFIG_HOME/opencode/plugins/pieria.js",
    ]


def test_without_a_name_those_are_meant_that_are_here(tmp_path: Path) -> None:
    where = Where(tmp_path, tmp_path, tmp_path, {})
    with pytest.raises(ConfigError, match="Claude Code, Codex, OpenCode"):
        doing.chosen((), where)
    (tmp_path / ".codex").mkdir()
    assert doing.chosen((), where) == [CODEX]
    assert doing.chosen(("opencode",), where) == [OPENCODE]


def test_it_is_told_where_a_host_runs_no_hooks(where: Where) -> None:
    put(where, '{"disableAllHooks": true}')
    doing.install(CLAUDE, where)
    assert doing.status(CLAUDE, where).problems == ["disableAllHooks is set, so Claude Code runs no hooks"]
    doing.install(CODEX, where)
    assert doing.status(CODEX, where).problems == []
    (where.home / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    assert "Codex runs no hooks" in doing.status(CODEX, where).problems[0]


def shell(line: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    """As a host runs a hook's command."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    return subprocess.run(["sh", "-c", line], input=given, capture_output=True, check=False, env=environ, timeout=30)


def of_ours(held: dict[str, Any], event: str, what: str) -> str:
    commands = [str(one["command"]) for group in held[event] for one in group["hooks"]]
    return next(line for line in commands if which_of_ours(line) == what)


def test_what_is_installed_captures(where: Where, tmp_path: Path) -> None:
    """The very line that stands in the file, run as a host runs it."""
    doing.install(CLAUDE, where)
    held = json.loads(where.file(CLAUDE).read_text())["hooks"]
    for payload in (common("SessionStart", tmp_path, source="startup"), prompt(tmp_path, "Hello")):
        line = of_ours(held, payload["hook_event_name"], CAPTURE)
        done = shell(line, json.dumps(payload).encode())
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [event["text"] for event in events(where.spool)] == ["startup", "Hello"]


def test_what_is_installed_tells_what_is_remembered(where: Where, tmp_path: Path) -> None:
    """The very lines that stand in the file, beside those that capture, in a folder that is nobody's usual one."""
    with pieria.open("default", data=tmp_path / "data") as bank:
        bank.remember("Always answer in metric units.", author_type="human")
        bank.remember("JWT keys are rotated daily by the deploy job, which runs at noon.", files=["deploy.py"])
    doing.install(CLAUDE, replace(where, data=tmp_path / "data"))
    held = json.loads(where.file(CLAUDE).read_text())["hooks"]
    told = {}
    for payload in (common("SessionStart", tmp_path, source="startup"), prompt(tmp_path, "when are JWT keys rotated?")):
        event = payload["hook_event_name"]
        done = shell(of_ours(held, event, CONTEXT), json.dumps(payload).encode())
        assert (done.returncode, done.stderr) == (0, b"")
        told[event] = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "metric units" in told["SessionStart"]
    assert "metric units" not in told["UserPromptSubmit"]


def test_without_the_context_a_host_is_told_nothing(where: Where) -> None:
    file = put(where, BY_HAND["comments"])
    for host in HOSTS.values():
        doing.install(host, where)
        assert doing.status(host, where).context
        assert doing.install(host, where, context=False).state == "installed"
        found = doing.status(host, where)
        assert (found.state, found.context) == ("installed", [])
    assert "context --hook" not in file.read_text()
    doing.uninstall(CLAUDE, where)
    assert file.read_text() == BY_HAND["comments"]


def test_a_context_that_is_half_there_is_outdated(where: Where) -> None:
    doing.install(CODEX, where)
    held = json.loads(where.file(CODEX).read_text())
    del held["hooks"]["SessionStart"][1]
    where.file(CODEX).write_text(json.dumps(held))
    assert doing.status(CODEX, where).state == "outdated"
    doing.install(CODEX, where)
    assert doing.status(CODEX, where).state == "installed"


def test_a_command_that_somebody_wrote_by_hand_is_theirs(where: Where) -> None:
    text = spelt({"hooks": {"Stop": [{"hooks": [{"command": "pieria context --hook claude-code"}]}]}}, "", 2)
    file = put(where, text)
    doing.install(CLAUDE, where)
    doing.uninstall(CLAUDE, where)
    assert file.read_text() == text


@pytest.mark.parametrize("what", [CAPTURE, CONTEXT])
def test_a_hook_whose_python_or_file_is_gone_stops_nobody(what: str, where: Where) -> None:
    """A missing file ends Python with 2, which is how a hook of Claude Code refuses a prompt."""
    doing.install(CLAUDE, where)
    line = of_ours(json.loads(where.file(CLAUDE).read_text())["hooks"], "SessionStart", what)
    for was, now in (("pieria/capture", "pieria/gone"), ("-m pieria", "-m pieria_gone"), ("python", "no-python")):
        if was in line:
            done = shell(line.replace(was, now, 1), b"{}")
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_the_plugin_of_opencode_runs_captures(where: Where, tmp_path: Path) -> None:
    doing.install(OPENCODE, where)
    [line] = [line for line in where.file(OPENCODE).read_text().splitlines() if line.startswith("const HOOK = ")]
    command = json.loads(line.removeprefix("const HOOK = "))
    given = {"hook": "chat.message", "directory": str(tmp_path), "input": {"sessionID": "ses_1", "messageID": "msg_1"}}
    written = json.dumps({**given, "output": {"parts": [{"type": "text", "text": "Fix it."}]}}).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    subprocess.run(command, input=written, check=True, env=environ, timeout=30)
    assert [(event["host"], event["text"]) for event in events(where.spool)] == [("opencode", "Fix it.")]


def test_what_the_plugin_of_opencode_runs_tells_what_is_remembered(where: Where, tmp_path: Path) -> None:
    with pieria.open("default", data=tmp_path / "data") as bank:
        bank.remember("Always answer in metric units.", author_type="human")
    doing.install(OPENCODE, replace(where, data=tmp_path / "data"))
    [line] = [line for line in where.file(OPENCODE).read_text().splitlines() if line.startswith("const CONTEXT = ")]
    given = json.dumps({"event": "start", "session": "ses_1", "folder": str(tmp_path)}).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    command = json.loads(line.removeprefix("const CONTEXT = "))
    done = subprocess.run(command, input=given, check=True, env=environ, timeout=30, capture_output=True)
    assert "metric units" in json.loads(done.stdout)["context"]


PLAYED = """
import {{ Pieria }} from {plugin}
const hooks = await Pieria({{ directory: {folder} }})
const said = (sessionID, text) =>
  hooks["chat.message"]({{ sessionID, messageID: `msg_${{sessionID}}` }}, {{ parts: [{{ type: "text", text }}] }})
const told = (type, properties) => hooks.event({{ event: {{ type, properties }} }})
await told("session.created", {{ info: {{ id: "main" }} }})
await said("main", "Tidy up.")
await told("message.updated", {{ info: {{ id: "msg_2", sessionID: "main", parentID: "msg_main" }}, sessionID: "main" }})
await told("session.created", {{ info: {{ id: "child", parentID: "main" }} }})
await said("child", "Never touch the parser.")
await hooks["tool.execute.after"]({{ sessionID: "child", callID: "c1", tool: "bash", args: {{ command: "make" }} }},
  {{ output: "made", metadata: {{ exit: 0 }} }})
await hooks["experimental.text.complete"]({{ sessionID: "child", messageID: "m3" }}, {{ text: "I did not." }})
await told("session.idle", {{ sessionID: "child" }})
await hooks["experimental.text.complete"]({{ sessionID: "main", messageID: "m4" }}, {{ text: "It is tidy." }})
await told("session.idle", {{ sessionID: "main" }})
await hooks.dispose()
"""


@pytest.mark.slow
def test_what_is_said_to_a_sub_agent_of_opencode_is_not_captured_and_what_it_does_is(
    where: Where, tmp_path: Path
) -> None:
    doing.install(OPENCODE, where, context=False)
    plugin = tmp_path / "plugin.mjs"
    plugin.write_text(where.file(OPENCODE).read_text())
    played = PLAYED.format(plugin=json.dumps(str(plugin)), folder=json.dumps(str(tmp_path)))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    subprocess.run(["node", "--input-type=module", "-e", played], check=True, env=environ, timeout=60)
    assert [(event["what"], event["session"], event["text"]) for event in events(where.spool)] == [
        ("start", "main", "session.created"),
        ("prompt", "main", "Tidy up."),
        ("tool", "main", "made"),
        ("reply", "main", "It is tidy."),
    ]
