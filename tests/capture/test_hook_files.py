"""Hooks in their hosts' files: all other content stays, and uninstalling restores every file."""

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.capture.payloads import common, events, host_environment, prompt

import pieria
from pieria.capture import context_hook
from pieria.capture.install import actions as doing
from pieria.capture.install import entries, jsontext
from pieria.capture.install.actions import Where
from pieria.capture.install.commands import CAPTURE, CONTEXT, Commands, which_of_ours
from pieria.capture.install.files import write
from pieria.capture.install.hosts import HOOKED, Host
from pieria.errors import ConfigError, ConflictError

CLAUDE, CODEX, OPENCODE, GEMINI = HOOKED.values()

BY_HAND = {
    "as the host writes it": '{\n  "model": "opus",\n  "permissions": {\n    "allow": [\n      "Bash"\n    ]\n  }\n}\n',
    "tabs": '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"command": "x"}]}\n\t\t]\n\t}\n}\n',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "a mark": '\ufeff{\n  "a": 1\n}\n',
    "empty over lines": "{\n}\n",
    "comments": '// mine\n{\n  // why\n  "a": 1, // here\n  /* and\n there */\n  "hooks": {\n    // none yet\n  }\n}\n',
    "comments beside": '{\n  "hooks": {\n    "Stop": [\n      {} // a\n    ] // b\n  } /* c */\n} // d\n',
    "comments after commas": '{\r\n  "hooks": {\r\n    "Stop": [{}], // a\r\n  }, // b\r\n}\r\n',
    "commas at the end": '{\n  "a": [1, 2,],\n  "hooks": {\n    "Stop": [\n      {}, // mine\n    ],\n  },\n}\n',
    "a key that comes twice": '{"hooks": {"Stop": []}, "hooks": {"Stop": [ ]}}',
    "other scripts": '{\n  "название": "käse 🧀 \\u00e9",\n  "hooks": {"Notification": [{"hooks": []}]}\n}\n',
    "odd spaces": '  {\n\n\n"a" :1   ,\n      "hooks"  :  {   "Stop":[   ]  }\n\n }  \n\n',
}


@pytest.fixture
def where(tmp_path: Path) -> Where:
    for folder in (".claude", ".codex", ".config/opencode", ".gemini"):
        (tmp_path / folder).mkdir(parents=True)
    return Where(tmp_path / "data" / "spool", tmp_path, tmp_path / "project", {})


def put(where: Where, text: str) -> Path:
    file = where.file(CLAUDE)
    file.write_bytes(text.encode())
    return file


def test_files_are_as_before_after_uninstalling(where: Where) -> None:
    for name, text in BY_HAND.items():
        before = jsontext.parsed(text.removeprefix("\ufeff")).value
        file = put(where, text)
        assert doing.install(CLAUDE, where).state == "missing", name
        found = doing.status(CLAUDE, where)
        assert (found.state, sorted(found.events)) == ("installed", sorted(CLAUDE.events)), name
        assert found.context == ["SessionStart", "UserPromptSubmit"]
        again = file.read_bytes()
        after = jsontext.parsed(again.decode().removeprefix("\ufeff")).value
        hooks = after.pop("hooks")
        for event, groups in before.pop("hooks", {}).items():
            assert hooks[event][: len(groups)] == groups, name
        assert after == before, name
        assert doing.install(CLAUDE, where).state == "installed"
        assert file.read_bytes() == again, name
        doing.uninstall(CLAUDE, where)
        assert file.read_bytes() == text.encode(), name
        assert doing.status(CLAUDE, where).state == "missing"


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
def test_any_file_is_as_before_after_any_installs(
    settings: dict[str, Any], hooks: Any, place: int, space: str, indent: Any, ends: tuple[str, str], steps: Any
) -> None:
    """Holds for any number of installs, with the context hook and without."""
    items = list(settings.items())
    if hooks is not None:
        items.insert(place, ("hooks", hooks))
    now = text = ends[0] + spelt(dict(items), space, indent) + ends[1]
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
def test_partly_removed_entries_are_completed_and_removed(
    hooks: Any, indent: Any, gone: list[tuple[str, str]], wanted: Any
) -> None:
    """A user had removed some of the entries by hand."""
    text = None if hooks is None else spelt({"hooks": hooks}, "", indent)
    held = json.loads(entries.installed(text, TOLD, LINE))
    for event, what in gone:
        groups = held["hooks"][event]
        groups[:] = [one for one in groups if [which_of_ours(each["command"]) for each in one["hooks"]] != [what]]
    now = entries.installed(json.dumps(held), wanted, LINE)
    found = {event: set(found) for event, found in entries.found(now).items()}
    assert found == {event: set(done) for event, done in wanted.items()}
    left = entries.uninstalled(now)
    assert left is None or not entries.found(left)


def test_files_of_every_host_come_and_go(where: Where) -> None:
    for host in HOOKED.values():
        assert doing.install(host, where, dry_run=True).state == "missing"
        assert not where.file(host).exists()
        assert doing.install(host, where).state == "missing"
        there = where.file(host).read_bytes()
        found = doing.status(host, where)
        assert (found.state, bool(found.context)) == ("installed", True)
        assert doing.uninstall(host, where, dry_run=True).state == "installed"
        assert where.file(host).read_bytes() == there
        assert doing.install(host, where, context=False).state == "installed"
        found = doing.status(host, where)
        assert (found.state, found.context) == ("installed", [])
        assert b"context --hook" not in where.file(host).read_bytes()
        doing.uninstall(host, where)
        assert not where.file(host).exists()


def test_entries_of_others_stay(where: Where) -> None:
    file = where.file(CLAUDE)
    doing.install(CLAUDE, where)
    held = json.loads(file.read_text())
    theirs = {"hooks": [{"type": "command", "command": "pieria context --hook claude-code"}]}
    held["hooks"]["Stop"].append(theirs)
    held["hooks"]["PreCompact"][0]["hooks"].extend(theirs["hooks"])
    file.write_text(json.dumps({"model": "opus", **held}))
    doing.uninstall(CLAUDE, where)
    assert json.loads(file.read_text()) == {"model": "opus", "hooks": {"Stop": [theirs], "PreCompact": [theirs]}}


def test_outdated_entries_are_replaced_in_their_place(where: Where) -> None:
    def renewed(host: Host) -> None:
        assert doing.status(host, where).state == "outdated"
        doing.install(host, where)
        assert doing.status(host, where).state == "installed"

    text = BY_HAND["comments"]
    file = put(where, text)
    doing.install(CLAUDE, where)
    file.write_text(file.read_text().replace(str(where.spool), "/elsewhere/spool"))
    renewed(CLAUDE)
    doing.uninstall(CLAUDE, where)
    assert file.read_text() == text
    doing.install(CODEX, where)
    held = json.loads(where.file(CODEX).read_text())
    del held["hooks"]["SessionStart"][1]
    where.file(CODEX).write_text(json.dumps(held))
    renewed(CODEX)


def test_half_written_file_of_a_killed_process_is_replaced(tmp_path: Path) -> None:
    """In a container, process numbers repeat with each start."""
    file, left = tmp_path / "settings.json", tmp_path / f".settings.json.{os.getpid()}.new"
    left.write_text("half of something longer")
    left.chmod(0o666)
    with left.open() as anybody:
        write(file, "{}")
        assert anybody.read() == "half of something longer"
    assert list(tmp_path.iterdir()) == [file]
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("{}", 0o600)


def test_files_in_another_format_are_not_touched(where: Where) -> None:
    broken = (
        b"", b"  \n", b"[]", b"7", b'{"hooks": []}', b'{"hooks": {"Stop": {}}}', b'{"a": 1', b'{"a": 1} x', b"{a: 1}",
        b'{"a": "\xe9"}',
    )  # fmt: skip
    for text in broken:
        where.file(CLAUDE).write_bytes(text)
        assert doing.status(CLAUDE, where).state == "unreadable", text
        for deed in (doing.install, doing.uninstall):
            with pytest.raises(ConfigError, match=r"settings\.json|UTF-8"):
                deed(CLAUDE, where)
        assert where.file(CLAUDE).read_bytes() == text
    plugin, theirs = where.file(OPENCODE), "export const Mine = async () => ({})\n"
    plugin.parent.mkdir()
    plugin.write_text(theirs)
    assert doing.status(OPENCODE, where).state == "foreign"
    with pytest.raises(ConflictError):
        doing.install(OPENCODE, where)
    doing.uninstall(OPENCODE, where)
    assert plugin.read_text() == theirs


def test_links_and_modes_of_files_are_kept(where: Where, tmp_path: Path) -> None:
    kept, file = tmp_path / "dotfiles.json", where.file(CLAUDE)
    kept.write_text("{}\n")
    kept.chmod(0o640)
    file.symlink_to(kept)
    doing.install(CLAUDE, where)
    assert (file.is_symlink(), kept.stat().st_mode & 0o777) == (True, 0o640)
    assert len(json.loads(kept.read_text())["hooks"]) == len(CLAUDE.events)


def test_hosts_are_found_by_their_variables_and_folders(tmp_path: Path) -> None:
    files = {
        "CLAUDE_CONFIG_DIR": "settings.json", "CODEX_HOME": "hooks.json",
        "XDG_CONFIG_HOME": "opencode/plugins/pieria.js",
    }  # fmt: skip
    where = Where(tmp_path, tmp_path, tmp_path, {name: str(tmp_path / name) for name in files})
    found = [*(tmp_path / name / file for name, file in files.items()), tmp_path / ".gemini" / "settings.json"]
    assert [where.file(host) for host in HOOKED.values()] == found
    where = Where(tmp_path, tmp_path, tmp_path, {})
    with pytest.raises(ConfigError, match="Claude Code, Codex, OpenCode"):
        doing.chosen((), where)
    (tmp_path / ".codex").mkdir()
    assert doing.chosen((), where) == [CODEX]
    assert doing.chosen(("opencode",), where) == [OPENCODE]


def test_switched_off_hooks_of_a_host_are_reported(where: Where) -> None:
    put(where, '{"disableAllHooks": true}')
    for host, problems in ((CLAUDE, ["disableAllHooks is set, so Claude Code runs no hooks"]), (CODEX, [])):
        doing.install(host, where)
        assert doing.status(host, where).problems == problems
    where.file(GEMINI).write_text('{"hooksConfig": {"enabled": false}}')
    doing.install(GEMINI, where)
    assert "Gemini CLI runs no hooks" in doing.status(GEMINI, where).problems[0]
    [group] = json.loads(where.file(GEMINI).read_text())["hooks"]["AfterTool"]
    assert group["hooks"][0]["timeout"] == 10_000, "in milliseconds"
    (where.home / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    assert "Codex runs no hooks" in doing.status(CODEX, where).problems[0]


def shell(line: str | list[str], given: Any) -> bytes:
    """Run a hook's command like a host; return its output."""
    command = ["sh", "-c", line] if isinstance(line, str) else line
    payload = json.dumps(given).encode()
    done = subprocess.run(command, input=payload, capture_output=True, check=True, env=host_environment(), timeout=600)
    assert done.stderr == b""
    return done.stdout


def of_ours(where: Where, event: str, what: str) -> str:
    held = json.loads(where.file(CLAUDE).read_text())["hooks"]
    commands = [str(one["command"]) for group in held[event] for one in group["hooks"]]
    return next(line for line in commands if which_of_ours(line) == what)


def constant(where: Where, name: str) -> list[str]:
    """Return the command that OpenCode's plugin has under this name."""
    [line] = re.findall(f"^const {name} = (.*)$", where.file(OPENCODE).read_text(), re.MULTILINE)
    return list(json.loads(line))


def test_installed_commands_capture_and_tell_the_context(
    where: Where, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the exact lines from the files like a host, in an unusual data folder, on a machine of any speed."""
    monkeypatch.setattr(context_hook, "SECONDS", 600)
    with pieria.open("default", data=tmp_path / "data") as bank:
        bank.remember("Always answer in metric units.", author_type="human")
        bank.remember("JWT keys are rotated daily by the deploy job, which runs at noon.", files=["deploy.py"])
    for host in (CLAUDE, OPENCODE):
        doing.install(host, replace(where, data=tmp_path / "data"))
    asked = common("SessionStart", tmp_path, source="startup"), prompt(tmp_path, "when are JWT keys rotated?")
    for payload in asked:
        assert shell(of_ours(where, payload["hook_event_name"], CAPTURE), payload) == b""
    given = {"hook": "chat.message", "directory": str(tmp_path), "input": {"sessionID": "ses_1", "messageID": "msg_1"}}
    shell(constant(where, "HOOK"), {**given, "output": {"parts": [{"type": "text", "text": "Fix it."}]}})
    spooled = [(event["host"], event["text"]) for event in events(where.spool)]
    assert spooled[:2] == [("claude-code", "startup"), ("claude-code", "when are JWT keys rotated?")]
    assert spooled[2:] == [("opencode", "Fix it.")]
    answer = json.loads(shell(constant(where, "CONTEXT"), {"event": "start", "session": "s", "folder": str(tmp_path)}))
    assert "metric units" in answer["context"]
    told = [json.loads(shell(of_ours(where, payload["hook_event_name"], CONTEXT), payload)) for payload in asked]
    assert ["metric units" in one["hookSpecificOutput"]["additionalContext"] for one in told] == [True, False]


def test_hooks_whose_python_or_file_is_gone_stop_nobody(where: Where) -> None:
    """A missing file ends Python with status 2, with which a Claude Code hook refuses a prompt."""
    doing.install(CLAUDE, where)
    for what in (CAPTURE, CONTEXT):
        line = of_ours(where, "SessionStart", what)
        for was, now in (("pieria/capture", "pieria/gone"), ("-m pieria", "-m pieria_gone"), ("python", "no-python")):
            if was in line:
                assert shell(line.replace(was, now, 1), {}) == b""


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
await said("main", '"A quotation."')
process.argv.push("run")
await said("main", '"Say \\\\"tidy\\\\" again."')
await hooks.dispose()
"""


@pytest.mark.slow
def test_opencode_plugin_leaves_out_what_sub_agents_say(where: Where, tmp_path: Path) -> None:
    doing.install(OPENCODE, where, context=False)
    plugin = tmp_path / "plugin.mjs"
    plugin.write_text(where.file(OPENCODE).read_text())
    played = PLAYED.format(plugin=json.dumps(str(plugin)), folder=json.dumps(str(tmp_path)))
    shell(["node", "--input-type=module", "-e", played], {})
    told = events(where.spool)
    said = ["session.created", "Tidy up.", "made", "It is tidy.", '"A quotation."', 'Say "tidy" again.']
    assert [event["text"] for event in told] == said
    assert [event["what"] for event in told] == ["start", "prompt", "tool", "reply", "prompt", "prompt"]
    assert {event["session"] for event in told} == {"main"}
