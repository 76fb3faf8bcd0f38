"""`pieria setup`: what it writes for each agent, what it leaves alone, and that removal restores every byte."""

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import mcp.client.stdio  # noqa: F401 - it keeps the stderr of its first import, which must not be a runner's
import pytest
from tests.cli.conftest import SOURCE, Answer, Ask

from pieria import Workspace
from pieria.capture.install import jsontext
from pieria.capture.install.hosts import HOSTS
from pieria.capture.install.servers import wanted_launch
from pieria.doors.cli.commands.setup import NAMES
from pieria.doors.cli.host_setup import RESTART, UNSEEN_MODELS, Plan, Setup
from pieria.doors.cli.host_trial import Trials
from pieria.doors.mcp.trial import try_out
from pieria.hermes.trial import try_out as try_out_hermes

MARK = "\ufeff"
FILES = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "opencode": ".config/opencode/opencode.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "gemini": ".gemini/settings.json",
    "zed": ".config/zed/settings.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
}
FOLDERS = {
    **{"claude-code": ".claude", "codex": ".codex", "opencode": ".config/opencode", "cursor": ".cursor"},
    **{"vscode": ".config/Code", "windsurf": ".codeium/windsurf", "gemini": ".gemini", "zed": ".config/zed"},
    **{"claude-desktop": ".config/Claude", "hermes": ".hermes"},
}
KEYS = {host: HOSTS[host].servers.key for host in FILES}  # type: ignore[union-attr]
PROGRAM = {"command": sys.executable}
TEXTS: dict[str, tuple[str | None, str | None]] = {
    "missing": (None, None),
    "empty": ("", ""),
    "a mark alone": (MARK, MARK),
    "no server": ('{\n  "a": 1\n}\n', "# mine\na = 1\n"),
    "one line": ('{"KEY": {"other": {"command": "x"}}, "z": 1}', 'KEY.other.command = "x"'),
    "empty container": ('{\n    "KEY": {}\n}', "[KEY]\n"),
    "servers around": (
        '{\n\t"KEY": {\n\t\t"a": {"command": "x"},\n\t\t"z": {"url": "https://a.example"}\n\t},\n\t"b": [1,\n2]\n}\n',
        '[KEY.a]\ncommand = "x"\n\n[KEY.a.env]\nA = "1"\n\n\n# the last\n[KEY.z]\nargs = [\n  "[KEY.pieria]",\n]\n\n',
    ),
    "an inline table": ('{"KEY": {"other": {"command": "x"}}}', '[KEY]\nother = { command = "x" }\n'),
    "windows": (
        '{\r\n  "KEY": {\r\n    "a": {"command": "x"}\r\n  }\r\n}\r\n',
        '[KEY.a]\r\ncommand = "x"\r\n\r\n[b]\r\nc = """\r\n[d]\r\n"""',
    ),
    "a mark": (MARK + '{"KEY": {}}', MARK + "a = 1\n\n[[b]]\nc = 1\n"),
    "comments and commas": (
        '// mine\n{\n  /* why\n */\n  "KEY": {\n    "a": {"command": "x",}, // here\n  },\n  "z": [1,],\n  // end\n}\n',
        'a = 1 # here\n  [ KEY . "a" ] # mine\n  command = "x"\n  # end',
    ),
    "odd spaces": ('  {\n\n"a" :1   ,\n   "KEY"  :  {   "b":{  } }\n\n }  \n\n', "\n\n   a=1   \n\t\n"),
}


def parsed(file: Path) -> Any:
    text = file.read_bytes().decode().removeprefix(MARK)
    return tomllib.loads(text) if file.suffix == ".toml" else jsontext.parsed(text or "{}").value


def tree(home: Path) -> dict[str, bytes | None]:
    """Return every file's bytes, and the folders, but for the data folder."""
    paths = (path for path in home.rglob("*") if not path.is_relative_to(home / "data"))
    return {str(path.relative_to(home)): None if path.is_dir() else path.read_bytes() for path in paths}


@pytest.fixture
def agents(home: Path) -> Path:
    """Return the home of someone who has every agent."""
    for folder in FOLDERS.values():
        (home / folder).mkdir(parents=True)
    return home


@pytest.fixture
def workspace(agents: Path) -> Iterator[Workspace]:
    with Workspace(by_door=True) as opened:
        yield opened


def put(home: Path, name: str) -> None:
    for host, file in FILES.items():
        text = TEXTS[name][host == "codex"]
        path = home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_bytes(text.replace("KEY", KEYS[host]).encode())


def written(workspace: Workspace, *names: str) -> dict[str, Plan]:
    work = Setup(workspace, names, remove=False)
    work.write()
    return {plan.host.name: plan for plan in work.plans}


def removed(workspace: Workspace, *names: str) -> None:
    Setup(workspace, names, remove=True).remove()


def test_each_agent_gets_an_entry_of_its_own_form(agents: Path, workspace: Workspace) -> None:
    args = ["-P", "-m", "pieria", "mcp", "--data", str(agents / "data")]
    usual = {**PROGRAM, "args": args}
    files = {**FILES, "opencode": ".config/opencode/opencode.jsonc"}
    (agents / files["opencode"]).write_text("{} // mine")
    plans = written(workspace)
    found = {host: parsed(agents / file)[KEYS[host]]["pieria"] for host, file in files.items()}
    assert found == {
        "claude-code": {"type": "stdio", **usual},
        "codex": usual,
        "opencode": {"type": "local", "command": [sys.executable, *args], "enabled": True},
        "cursor": {"type": "stdio", **usual},
        "vscode": {"type": "stdio", **usual},
        "windsurf": usual,
        "gemini": usual,
        "zed": {"source": "custom", **usual, "env": {}},
        "claude-desktop": usual,
    }
    assert tuple(plans) == tuple(HOSTS) == NAMES
    assert not [plan for plan in plans.values() if plan.problems or plan.warnings != [UNSEEN_MODELS]]
    hooks = [".claude/settings.json", ".codex/hooks.json", ".config/opencode/plugins/pieria.js"]
    hermes = [".hermes/plugins/pieria/__init__.py", ".hermes/plugins/pieria/plugin.yaml"]
    assert all((agents / file).is_file() for file in (*hooks, *hermes))
    assert json.loads((agents / ".hermes/pieria.json").read_text()) == {"data": str(agents / "data")}
    assert (agents / "data").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", TEXTS)
def test_setup_keeps_all_else_and_removal_every_byte(name: str, agents: Path, workspace: Workspace) -> None:
    put(agents, name)
    before = tree(agents)
    said = {host: parsed(agents / file) if (agents / file).exists() else {} for host, file in FILES.items()}
    written(workspace)
    wanted = wanted_launch(str(agents / "data"))
    for host, file in FILES.items():
        now = parsed(agents / file)
        servers = HOSTS[host].servers
        assert servers is not None
        assert servers.launch(now[KEYS[host]].pop("pieria")) == wanted, host
        if host == "gemini":
            assert set(now.pop("hooks")) == set(HOSTS[host].events), "its file has both"
        assert now == {KEYS[host]: {}} | said[host] if KEYS[host] in said[host] else {**said[host], KEYS[host]: {}}, (
            host
        )
    after = tree(agents)
    assert not any(plan.todo for plan in written(workspace).values())
    assert tree(agents) == after
    removed(workspace)
    assert tree(agents) == before
    assert not (agents / "data" / "setup.json").exists()
    assert Setup(workspace, (), remove=True).plans == []


def test_removal_from_changed_files_takes_our_entry_alone(agents: Path, workspace: Workspace) -> None:
    for name in ("missing", "no server", "servers around", "windows"):
        put(agents, name)
        said = {host: parsed(agents / file) if (agents / file).exists() else {} for host, file in FILES.items()}
        written(workspace)
        for host, file in FILES.items():
            path = agents / file
            if host == "codex":
                path.write_bytes(path.read_bytes() + b'\n# theirs\n[later]\nb = "1"\n')
            else:
                path.write_text(json.dumps({**parsed(path), "later": {"b": "1"}}, indent=2))
        removed(workspace)
        for host, file in FILES.items():
            assert parsed(agents / file) == {**said[host], "later": {"b": "1"}}, (name, host)
    text = "\ufeff" + '# theirs\n[later]\nb = "1"\n'
    assert (agents / FILES["codex"]).read_text().endswith(text.removeprefix("\ufeff"))


def test_broken_entries_are_mended_and_others_left(agents: Path, workspace: Workspace) -> None:
    gone = {"command": "/gone/python", "args": ["-P", "-m", "pieria", "mcp"], "always": ["recall"]}
    by_hand = {"command": "/gone/pieria", "args": ["mcp", "--toolset", "mnemosyne"], "env": {"A": "1"}}
    elsewhere = {"command": "/gone/python", "args": [*gone["args"], "--data", "/else", "--bank", "work"], "env": {}}
    edited = {**PROGRAM, "args": [*gone["args"], "--toolset", "mnemex", "--data=/else"]}
    own = agents / "bin" / "pieria"
    own.parent.mkdir()
    own.touch(0o700)
    put(agents, "missing")
    texts = {
        "claude-code": '{"mcpServers": {"pieria": {"command": "${userHome}/bin/pieria"}}}',
        "opencode": '{"mcp": {"pieria": {"command": ["~/bin/pieria", "mcp"]}}}',
        "vscode": json.dumps({"servers": {"pieria": edited}}),
        "zed": json.dumps({"context_servers": {"pieria": elsewhere}}),
        "cursor": json.dumps({"mcpServers": {"pieria": gone}}, indent=3),
        "windsurf": json.dumps({"mcpServers": {"pieria": by_hand}}),
        "gemini": json.dumps({"mcpServers": {"pieria": {**by_hand, **PROGRAM}}}),
        "claude-desktop": '{"mcpServers": {"pieria": {"url": "http://127.0.0.1:7411/mcp"}}}',
        "codex": '[mcp_servers.pieria] # mine\nargs = [\n  "mcp", # all\n]\ncommand = "/gone/pieria"\n'
        'since = 2026-01-10\n\n[mcp_servers.pieria.env]\nA = "1"\n',
    }
    for host, text in texts.items():
        (agents / FILES[host]).write_text(text)
    states = {host: plan.found[0].state for host, plan in written(workspace, *texts).items()}
    left_alone = dict.fromkeys(("claude-code", "opencode", "claude-desktop"), "by hand")
    # Gemini's hooks are missing in the same file.
    assert states == {**dict.fromkeys(texts, "broken"), **left_alone, "vscode": "installed", "gemini": "missing"}
    args = list(wanted_launch(str(agents / "data")).args)
    found = {host: parsed(agents / FILES[host])[KEYS[host]]["pieria"] for host in texts}
    assert found == {
        "cursor": {"type": "stdio", **PROGRAM, "args": args, "always": ["recall"]},
        "windsurf": {**PROGRAM, "args": [*args, "--toolset", "mnemosyne"], "env": {"A": "1"}},
        "zed": {**elsewhere, **PROGRAM, "source": "custom"},
        **{host: json.loads(texts[host])[KEYS[host]]["pieria"] for host in ("claude-code", "opencode", "vscode")},
        "codex": {**PROGRAM, "args": args, "since": date(2026, 1, 10), "env": {"A": "1"}},
        "gemini": {**by_hand, **PROGRAM},
        "claude-desktop": {"url": "http://127.0.0.1:7411/mcp"},
    }
    (agents / FILES["windsurf"]).write_text(json.dumps(parsed(agents / FILES["windsurf"]), indent=1))
    removed(workspace)
    left = {host: (agents / FILES[host]).read_text() for host in texts}
    emptied = {
        "cursor": '{\n   "mcpServers": {\n   }\n}',
        "vscode": '{"servers": {}}',
        "zed": '{"context_servers": {}}',
    }

    assert left == {**texts, **emptied, "windsurf": left["windsurf"]}
    assert json.loads(left["windsurf"]) == {"mcpServers": {"pieria": by_hand}}


def test_a_replaced_python_is_mended_and_forgotten(
    agents: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(agents, "comments and commas")
    before = tree(agents)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/gone/python")
        written(workspace)
    again = written(workspace)
    states = {entry["what"]: entry["state"] for plan in again.values() for entry in plan.as_dict()["entries"]}
    broken = dict.fromkeys(("MCP server", "hooks", "MCP server and hooks"), "broken")
    assert states == {**broken, "memory provider": "installed", "option": "installed"}
    assert all("/gone" not in (agents / file).read_text() for file in FILES.values())
    assert not any(plan.todo for plan in written(workspace).values())
    removed(workspace)
    assert tree(agents) == before


def test_comments_stay_beside_their_entries(agents: Path, workspace: Workspace) -> None:
    file = agents / FILES["zed"]
    for text in ('{\n  "a": 1 // why\n}\n', '{\n  "a": 1, // why\n}\n', '{\r\n  "a": 1, /* why */\r\n}\r\n'):
        file.write_bytes(text.encode())
        written(workspace, "zed")
        assert '"a": 1, // why' in file.read_text() or '"a": 1, /* why */' in file.read_text()
        (agents / "data" / "setup.json").unlink()
        removed(workspace, "zed")
        assert jsontext.parsed(file.read_bytes().decode()).value == {"a": 1, "context_servers": {}}


def test_hooks_that_were_there_stay_as_chosen(agents: Path, workspace: Workspace, ask: Ask) -> None:
    (agents / ".claude/settings.json").write_text('{\n  "model": "opus"\n}\n')
    before = tree(agents)
    ask("hooks", "install", "--no-context")
    hooks = tree(agents)
    plans = written(workspace, "claude-code", "codex", "opencode")
    assert {plan.todo.get(plan.found[1].part.file) for plan in plans.values()} == {None}
    assert hooks.items() <= tree(agents).items()
    removed(workspace)
    assert tree(agents) == {**before, ".config/opencode/plugins": None}


def test_unreadable_files_are_left_and_named(agents: Path, ask: Ask) -> None:
    texts = {
        "claude-code": b'{"a": 1',
        "codex": b"a = [",
        "opencode": b'{"mcp": []}',
        "cursor": b"[]",
        "windsurf": b"\xff\xfe{}",
        "zed": b"{} and more",
    }
    for host, text in texts.items():
        (agents / FILES[host]).write_bytes(text)
    plugin = agents / ".hermes/plugins/pieria/notes.md"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("mine")
    (agents / FILES["gemini"]).write_text(json.dumps({"mcpServers": {"pieria": PROGRAM}}))
    hosts = [option for host in (*texts, "hermes", "gemini") for option in ("--host", host)]
    answer = ask("setup", "--yes", *hosts)
    assert answer.code == 1
    told = {each["host"]: each for each in json.loads(answer.out)["hosts"]}
    assert [host for host, each in told.items() if each["problems"]] == [*texts, "hermes"]
    assert {told[host]["next"] for host in texts} == {None}
    assert told["gemini"]["check"]["worked"] is None
    assert {host: (agents / FILES[host]).read_bytes() for host in texts} == texts
    assert [file.name for file in plugin.parent.iterdir()] == ["notes.md"]
    assert (agents / ".claude/settings.json").exists(), "the hooks have a file of their own"
    assert ask("setup", "--remove", "--yes", *hosts).code == 1
    assert {host: (agents / FILES[host]).read_bytes() for host in texts} == texts


def test_setup_says_what_is_wrong_and_what_agents_do_not_see(agents: Path, workspace: Workspace) -> None:
    (agents / FILES["cursor"]).write_text('{"mcpServers": {}\n')
    plans = written(workspace, "cursor", "zed")
    assert "line 2: expected a comma or }, got the end of the file" in plans["cursor"].problems[0]
    assert (plans["cursor"].next_step, plans["zed"].next_step) == (None, RESTART)
    assert plans["zed"].warnings == [UNSEEN_MODELS]


def test_a_misspelt_agent_is_refused_as_it_was_typed(ask: Ask) -> None:
    for command in (("setup",), ("hooks", "install")):
        said = ask(*command, "--host", "codx").failed(2)
        assert "error: --host: expected one of claude-code, codex" in said and "Did you mean codex?" in said


def test_tables_on_one_line_stop_no_other_file(agents: Path, workspace: Workspace, ask: Ask) -> None:
    launch = '{ command = "/gone/python", args = ["-P", "-m", "pieria", "mcp"] }'
    before = tree(agents)
    for text in (f"[mcp_servers]\npieria = {launch}\n", f"mcp_servers = {{ pieria = {launch} }}", "mcp_servers = {}"):
        (agents / FILES["codex"]).write_text(text)
        plans = written(workspace, "codex", "cursor")
        assert [len(plan.problems) for plan in plans.values()] == [1, 0], text
        assert "expected a table [mcp_servers.pieria]" in plans["codex"].problems[0]
        answer = ask("setup", "--remove", "--yes")
        assert answer.code == (1 if "pieria" in text else 0), text
        assert tree(agents) == {**before, FILES["codex"]: text.encode()}


def test_another_data_folder_changes_nothing(agents: Path, workspace: Workspace, ask: Ask) -> None:
    written(workspace)
    before = tree(agents)
    answer = ask("setup", "--dry-run", "--data", str(agents / "other"))
    assert {entry["change"] for each in answer.json["hosts"] for entry in each["entries"]} == {None}
    files = [".claude.json", ".claude/settings.json", ".config/opencode/plugins/pieria.js"]
    for file in files:
        (agents / file).write_text((agents / file).read_text().replace(sys.executable, "/gone/python"))
    with Workspace(agents / "other", by_door=True) as other:
        assert [str(file) for plan in written(other).values() for file in plan.done] == [
            str(agents / each) for each in files
        ]
    shutil.rmtree(agents / "other")
    assert tree(agents) == before
    plugin = agents / files[-1]
    plugin.write_text(plugin.read_text().replace('["', '["" "'))
    assert written(workspace, "opencode")["opencode"].done == [plugin]
    assert tree(agents) == before


def test_removal_does_not_need_the_address(agents: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(by_door=True) as workspace:
        written(workspace, "zed")
    monkeypatch.setenv("PIERIA_DATA", "postgresql://maya:secret@127.0.0.1:1/pieria")
    assert "password" in ask("setup", "--host", "zed").failed(2)
    assert ask("uninstall", "--dry-run").json["agents"] == [str(agents / FILES["zed"])]
    assert ask("setup", "--remove", "--yes").code == 0
    assert parsed(agents / FILES["zed"]) == {"context_servers": {}}


def test_nothing_changes_without_a_yes(agents: Path, ask: Ask, terminal: Any) -> None:
    put(agents, "servers around")
    before = tree(agents)
    answers: dict[str, Answer] = {
        option: ask("setup", *option.split()) for option in ("", "--dry-run", "--yes --dry-run")
    }
    for option, answer in answers.items():
        assert {entry["change"] for each in answer.json["hosts"] for entry in each["entries"]} == {"add"}, option
        assert answer.json["dry_run"] is True
    assert "--yes" in answers[""].err
    said = terminal("setup", "--host", "zed", typed="n\n", width=200)
    assert said.code == 1
    assert "Zed: add MCP server (context_servers.pieria)" in said.out
    assert tree(agents) == before
    with Workspace(by_door=True) as workspace:
        written(workspace)
        after = tree(agents)
        assert [each["host"] for each in ask("setup", "--remove").json["hosts"]] == list(NAMES)
        assert tree(agents) == after
    assert ask("setup", "--remove", "--yes").json["hosts"][0]["entries"][0]["changed"] is True
    assert tree(agents) == before


def test_setup_without_agents_says_what_to_do(home: Path, ask: Ask) -> None:
    assert "Name a host with --host" in ask("setup", "--yes").failed(2)
    assert "Did you mean cursor?" in ask("setup", "--host", "cursr").failed(2)


def test_past_sessions_are_offered(agents: Path, workspace: Workspace) -> None:
    folders = {"claude-code": ".claude/projects/a/1.jsonl", "codex": ".codex/sessions/2026/01/rollout-1.jsonl"}
    for file in (*folders.values(), ".local/share/opencode/opencode.db"):
        (agents / file).parent.mkdir(parents=True)
        (agents / file).touch()
    found = {each.host.name: each.as_dict()["command"] for each in Setup(workspace, (), remove=False).sessions()}
    assert found == {
        "claude-code": f"pieria mine {agents}/.claude/projects --conversations",
        "codex": f"pieria mine {agents}/.codex/sessions --conversations",
        "opencode": f"pieria mine {agents}/.local/share/opencode --conversations",
    }


def test_the_default_data_folder_is_not_written(agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIERIA_DATA")
    with Workspace(by_door=True) as workspace:
        written(workspace, "cursor", "hermes")
    entry = parsed(agents / FILES["cursor"])["mcpServers"]["pieria"]
    assert entry["args"] == ["-P", "-m", "pieria", "mcp"]
    assert not (agents / ".hermes/pieria.json").exists()


def test_a_trial_reads_the_entry_back(agents: Path, workspace: Workspace) -> None:
    work = Setup(workspace, ("cursor", "zed"), remove=False)
    trials = Trials(work.where)
    assert trials.of(HOSTS["zed"]).worked is False
    work.write()
    ours = {**parsed(agents / FILES["cursor"])["mcpServers"]["pieria"], "command": "/gone/python"}
    (agents / FILES["cursor"]).write_text(json.dumps({"mcpServers": {"pieria": ours}}))
    found = trials.of(HOSTS["cursor"])
    assert (found.worked, "/gone/python" in found.detail) == (False, True)


def test_a_trial_starts_the_command_as_hosts_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_SHELL", "1")
    told = "import os; exit(' '.join(name for name in ('HOME', 'OF_THE_SHELL', 'OF_THE_ENTRY') if name in os.environ))"
    said = try_out(sys.executable, ["-c", told], {"OF_THE_ENTRY": "1"}, "", "")[1]
    assert str(said).endswith("(HOME OF_THE_ENTRY)")
    plugin = home / ".hermes/plugins/pieria/__init__.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(told.replace("exit", "raise SystemExit"))
    said = try_out_hermes(plugin, "trial", "", "", {"HOME": str(home)})[1]
    assert said == "the provider ended with status 1: HOME"


@pytest.mark.slow
def test_setup_tries_out_every_agent(agents: Path, workspace: Workspace, ask: Ask) -> None:
    put(agents, "servers around")
    written(workspace)
    for host, file in FILES.items():  # The tested source may not be what this Python has installed.
        path = str(SOURCE)
        if host == "codex":
            with (agents / file).open("a") as config:
                config.write(f'\n[mcp_servers.pieria.env]\nPYTHONPATH = "{path}"\n')
            continue
        held = parsed(agents / file)
        held[KEYS[host]]["pieria"]["environment" if host == "opencode" else "env"] = {"PYTHONPATH": path}
        (agents / file).write_text(json.dumps(held))
    checks = {each["host"]: each["check"] for each in ask("setup", "--yes").json["hosts"]}
    assert checks == {name: {"worked": True, "detail": "remembered and recalled"} for name in NAMES}
    assert workspace.banks() == []
    entry = parsed(agents / FILES["cursor"])
    entry["mcpServers"]["pieria"]["env"]["PIERIA_DURABILITY"] = "sometimes"
    entry["mcpServers"]["pieria"]["args"] += ["--toolset", "mnemosyne"]
    (agents / FILES["cursor"]).write_text(json.dumps(entry))
    answer = ask("setup", "--yes", "--host", "cursor", "--host", "zed")
    assert answer.code == 1
    told = {each["host"]: each["check"] for each in json.loads(answer.out)["hosts"]}
    assert (told["cursor"]["worked"], told["zed"]["worked"]) == (False, True)
    assert json.loads(answer.out)["hosts"][0]["next"] is None
    assert told["cursor"]["detail"].startswith("remember: configuration: PIERIA_DURABILITY: expected")


@pytest.mark.slow
def test_a_person_may_mine_past_sessions(home: Path, terminal: Any) -> None:
    file = home / ".claude/projects/shop/one.jsonl"
    file.parent.mkdir(parents=True)
    said = {"type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/srv/shop"}
    file.write_text(json.dumps({**said, "message": {"role": "user", "content": "We chose JWT for the shop."}}) + "\n")
    answer = terminal("setup", typed="y\ny\n", width=300, env={"NO_COLOR": "1", "TERM": "dumb"})
    assert answer.code == 0
    assert "Claude Code  works" in answer.out
    assert "into default: 1 new" in answer.words
    with Workspace(by_door=True) as workspace, workspace.open("default") as bank:
        assert [each.text for each in bank.list()] == ["We chose JWT for the shop."]
