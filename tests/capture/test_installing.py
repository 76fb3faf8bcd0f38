"""Hooks in their hosts' files: everything else stays, and taking them away leaves every file as it was."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.capture.making import common, events, prompt

from pieria.capture.installing import doing, entries, jsontext
from pieria.capture.installing.commands import is_ours
from pieria.capture.installing.doing import Where
from pieria.capture.installing.hosts import HOSTS
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


@given(
    settings=SETTINGS,
    hooks=st.none() | HOOKS,
    place=st.integers(0, 4),
    space=st.sampled_from(["", " ", "\n"]),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    ends=st.tuples(st.sampled_from(["", " ", "\n"]), st.sampled_from(["", "\n", "\n\n "])),
)
def test_any_file_is_as_it_was(
    settings: dict[str, Any], hooks: Any, place: int, space: str, indent: Any, ends: tuple[str, str]
) -> None:
    items = list(settings.items())
    if hooks is not None:
        items.insert(place, ("hooks", hooks))
    text = ends[0] + spelt(dict(items), space, indent) + ends[1]
    now = entries.installed(text, CLAUDE.events, lambda made: f"import hook; x/pieria/capture made={made}")
    assert set(CLAUDE.events) <= set(entries.found(now))
    assert entries.uninstalled(now) == text


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


def test_what_is_installed_captures(where: Where, tmp_path: Path) -> None:
    """The very line that stands in the file, run as a host runs it."""
    doing.install(CLAUDE, where)
    held = json.loads(where.file(CLAUDE).read_text())["hooks"]
    for payload in (common("SessionStart", tmp_path, source="startup"), prompt(tmp_path, "Hello")):
        [group] = held[payload["hook_event_name"]]
        line = group["hooks"][0]["command"]
        assert is_ours(line)
        done = shell(line, json.dumps(payload).encode())
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [event["text"] for event in events(where.spool)] == ["startup", "Hello"]


def test_a_hook_whose_python_or_file_is_gone_stops_nobody(where: Where, tmp_path: Path) -> None:
    """A missing file ends Python with 2, which is how a hook of Claude Code refuses a prompt."""
    doing.install(CLAUDE, where)
    line = json.loads(where.file(CLAUDE).read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    for gone in (line.replace("pieria/capture", "pieria/gone"), line.replace("python", "no-python", 1)):
        assert gone != line
        done = shell(gone, b"{}")
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
