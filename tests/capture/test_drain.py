"""The drain hands over each event once, to the right bank, with several drains and repeated runs."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.capture.payloads import SESSION, a_project, bash, codex, drained, hooked, prompt, said, spooled, stop, turns
from tests.trust import trusted_project

import pieria
from pieria.capture import hook, reminder_hook
from pieria.capture.drain import Drain, DrainBehind, Drained
from pieria.capture.hook import note
from pieria.capture.spool import Spool, spool_of
from pieria.doors.http.service import service
from pieria.doors.http.tokens import Tokens
from pieria.errors import StorageError
from pieria.toolsets import registry


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def spool(data: Path) -> Path:
    return data / "spool"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return a_project(tmp_path / "app", "app")


def empty(spool: Path) -> bool:
    return not any(path.suffix in (".jsonl", ".taken", ".at") for path in spool.iterdir())


def test_a_missing_data_folder_is_made_private(tmp_path: Path) -> None:
    """Each of these may be the first that needs the folder."""
    makers: dict[str, Callable[[Path], object]] = {
        "hook.log": lambda data: note(str(data / "spool"), "a line"),
        "refused event": lambda data: Spool(data / "spool").refuse(b"{}", "no event"),
        "token": lambda data: Tokens(data).create("laptop", "read"),
        "server": lambda data: service(pieria.Workspace(data), registry()),
    }
    modes = {}
    for name, make in makers.items():
        make(data := tmp_path / name)
        modes[name] = {oct(folder.stat().st_mode & 0o777) for folder in (data, *data.iterdir()) if folder.is_dir()}
    assert modes == {name: {"0o700"} for name in makers}


def test_turns_reach_their_project(data: Path, spool: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "deep").mkdir()
    hooked(prompt(project / "deep", "Which tokens?", prompt_id="p1"), spool)
    hooked(stop(project, "JWT.", prompt_id="p1"), spool)
    # The environment of the drain names no bank or session for others.
    for name in ("PIERIA_BANK", "PIERIA_SESSION"):
        monkeypatch.setenv(name, "mine")
    assert drained(data).banks == {"app": 2}
    with pieria.open("app", data=data) as bank:
        found = bank.list(kinds="turn", order="oldest")
    assert [(one.text, one.author_type) for one in found] == [("Which tokens?", "human"), ("JWT.", "agent")]
    assert {(one.session, one.source) for one in found} == {(SESSION, "claude-code")}
    assert empty(spool)
    hooked(prompt(project, "Hello"), spool)
    assert drained(data).banks == {"mine": 1}, "the environment of a hook does name the bank"


def test_a_project_with_its_own_data_folder_gets_its_events(
    data: Path, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks do not know the project's data folder: they write to the user's data folder."""
    project = a_project(tmp_path / "own", "ours", 'data = "memory"')
    spooled(spool, said("Hello", "1", project))
    monkeypatch.delenv("PIERIA_DATA")
    for module in ("pieria.settings", "pieria.settings.folders"):
        monkeypatch.setattr(f"{module}.DATA", data)
    monkeypatch.chdir(project)
    with pieria.Workspace() as workspace:
        assert spool_of(workspace).folder == spool
        assert Drain(workspace).drain().banks == {"ours": 1}
    assert turns(project / "memory", "ours") == ["Hello"]


def test_repeated_and_purged_events_are_not_kept_again(data: Path, spool: Path, project: Path) -> None:
    def again(*texts: str) -> Drained:
        for text in texts:
            hooked(codex("UserPromptSubmit", project, prompt=text), spool, "codex")
        return drained(data)

    assert again("Hello", "And hurry", "Hello", "Hello").repeated == 2
    assert again("Hello").repeated == 1
    assert turns(data, "app") == ["Hello", "And hurry"]
    with pieria.open("app", data=data) as bank:
        bank.purge(bank.list(kinds="turn", order="oldest")[0].id)
    assert again("Hello").refused == 0
    assert turns(data, "app") == ["And hurry"]


def test_unreadable_lines_are_set_aside(data: Path, spool: Path, project: Path) -> None:
    spooled(
        spool, b'{"own": "1", "event": {"wh', b"\xff\xfe not ours", b"[1]", {"event": "x"}, {"bank": 7, "event": {}},
        {"own": "2", "event": {"what": "dance", "host": "h", "session": "s", "at": "2026-05-01"}},
        said("This", "3", project),
    )  # fmt: skip
    done = drained(data)
    assert (done.kept, done.refused) == (1, 6)
    aside = spool / "refused.jsonl"
    told = [json.loads(line) for line in aside.read_text().splitlines()]
    assert told[0]["line"].startswith('{"own": "1", "event"') and all(line["reason"] for line in told)
    assert aside.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in spool.glob("*.jsonl")) == ["refused.jsonl"]
    os.truncate(aside, hook.FULL + 1)
    spooled(spool, b"not ours")
    assert drained(data).refused == 1
    assert aside.stat().st_size == hook.FULL + 1
    assert "a line is dropped" in (spool / hook.LOG).read_text()


def test_a_line_set_aside_during_a_retry_is_not_lost(spool: Path) -> None:
    class TriedAgainMeanwhile(Spool):
        """A spool whose file of refused events another process removes just before the lock."""

        @contextmanager
        def _locked(self) -> Iterator[None]:
            (self.folder / "refused.jsonl").unlink(missing_ok=True)
            with super()._locked():
                yield

    TriedAgainMeanwhile(spool).refuse(b"{}", "no event")
    assert Spool(spool).standing().refused == 1


def test_a_line_is_set_aside_whole_or_not_at_all(spool: Path) -> None:
    """A full disk writes part of a line and fails."""
    Spool(spool).refuse(b"{}", "no event")
    before = (spool / "refused.jsonl").read_bytes()
    refuses = (
        "import resource, sys; from pathlib import Path; from pieria.capture.spool import Spool; "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 50},) * 2); "
        "Spool(Path(sys.argv[1])).refuse(b'word ' * 100, 'no event')"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(pieria.__file__).parents[1])}
    command = [sys.executable, "-B", "-c", refuses, str(spool)]
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert b"File too large" in done.stderr
    assert (spool / "refused.jsonl").read_bytes() == before
    Spool(spool).refuse(b"{}", "no event")
    assert Spool(spool).again() == 2


@pytest.mark.parametrize("left", [b'{"reason": "x", "line": "{\\"ev', b"\0\0\0", b"[7]", b'{"line": 7}', b"\xff"])
def test_spoilt_refused_lines_keep_no_other_from_a_retry(spool: Path, left: bytes) -> None:
    aside = spool / "refused.jsonl"
    Spool(spool).refuse(b"heron", "no event")
    with aside.open("ab") as file:
        file.write(left)
    Spool(spool).refuse(b"wren", "no event")
    assert Spool(spool).again() == 2
    assert aside.read_bytes() == left + b"\n" and aside.stat().st_mode & 0o777 == 0o600
    assert "1 lines in refused.jsonl cannot be read" in str(Spool(spool).standing().last_problem)
    assert [batch.lines for claim in Spool(spool).claims() for batch in claim.batches()] == [[b"heron", b"wren"]]
    assert Spool(spool).again() == 0
    assert aside.read_bytes() == left + b"\n"


@pytest.mark.parametrize("left", [b"", b"\0\0\0"])
def test_files_that_a_power_cut_spoiled_stop_no_drain(data: Path, spool: Path, project: Path, left: bytes) -> None:
    spooled(spool, said("one", "1", project))
    next(claims := Spool(spool).claims())
    claims.close()
    [taken] = spool.glob("*.taken")
    old, fresh = spool / "1.new", spool / "2.new"
    for spoilt in (taken.with_suffix(".at"), spool / hook.ASKING, old, fresh):
        spoilt.write_bytes(left)
    os.utime(old, (1, 1))
    assert drained(data).kept == 1
    assert empty(spool)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_project_with_wrong_settings_holds_up_no_other(data: Path, spool: Path, project: Path, tmp_path: Path) -> None:
    wrong = a_project(tmp_path / "wrong", "../x")
    off = a_project(tmp_path / "off", "off", "capture = false")
    spooled(spool, said("There", "1", wrong), said("Not this", "2", off), said("Here", "3", project))
    done = drained(data)
    assert (done.kept, done.refused, done.dropped) == (1, 1, 1)
    assert not (data / "off.db").exists()
    trusted_project(wrong, 'bank = "right"\n')
    with pieria.Workspace(data) as workspace:
        drain = Drain(workspace)
        assert drain.spool.again() == 1
        assert drain.drain().banks == {"right": 1}
        assert drain.spool.standing().refused == 0 and empty(spool)


def test_a_bank_that_cannot_be_opened_holds_up_no_other(data: Path, spool: Path, project: Path, tmp_path: Path) -> None:
    other = a_project(tmp_path / "other", "damaged")
    data.mkdir()
    (data / "damaged.db").write_bytes(b"no database" * 1_000)
    spooled(spool, said("There", "x", other), *(said(f"n {each}", str(each), project) for each in range(300)))
    for _ in range(2):
        with pytest.raises(StorageError):
            drained(data)
        assert len(turns(data, "app")) == 300
    (data / "damaged.db").unlink()
    with pieria.open("damaged", data=data) as bank:
        assert bank.hooks.last() is None, "no marker moves before the events are kept"
    assert drained(data).banks == {"damaged": 1}
    assert empty(spool)


def test_links_and_pipes_are_not_drained(data: Path, spool: Path) -> None:
    spool.mkdir(parents=True)
    live = spool / hook.LIVE
    for make in (os.mkfifo, lambda path: path.symlink_to("/etc/hostname")):
        make(live)
        with pytest.raises(StorageError, match="is not a file"):
            drained(data)
        assert [path.name for path in spool.iterdir()] == [hook.LIVE]
        live.unlink()


def test_a_drain_goes_on_where_the_last_one_stopped(data: Path, spool: Path, project: Path) -> None:
    """The first drains' time is up; later events wait in another file."""
    spooled(spool, *(said(f"n {each}", str(each), project) for each in range(600)))
    answers = iter([False, False, True])
    with pieria.Workspace(data) as workspace:
        none = Drain(workspace).drain(seconds=0)
        assert (none.kept, none.left, spool_of(workspace).is_waiting) == (0, True, True)
        first = Drain(workspace).drain(stopping=lambda: next(answers))
        assert (0 < first.kept < 600, first.left) == (True, True)
        spooled(spool, said("later", "x", project))
        rest = Drain(workspace).drain()
    assert (first.kept + rest.kept, rest.repeated) == (601, 0)
    assert empty(spool)


def test_a_file_that_another_drain_holds_is_left_to_it(data: Path, spool: Path, project: Path) -> None:
    spooled(spool, said("one", "1", project))
    before = os.open(spool / hook.LIVE, os.O_WRONLY | os.O_APPEND)
    holder = Spool(spool).claims()
    next(holder)
    # A hook that opened the live file just before the drain took it writes to the new one.
    assert not hook._is_at(str(spool / hook.LIVE), os.fstat(before))
    os.close(before)
    hooked(prompt(project, "two"), spool)
    assert drained(data).kept == 1
    assert turns(data, "app") == ["two"]
    holder.close()
    assert drained(data).kept == 1
    assert empty(spool)


def test_a_file_that_vanishes_during_the_scan_is_passed_over(
    data: Path, spool: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another drain has just finished it."""
    spooled(spool, said("one", "1", project))
    done_with, real = spool / "0.taken", os.scandir

    def scandir(path: Any) -> Any:
        if str(path) != str(spool):
            return real(path)
        done_with.touch()
        entries = list(real(path))
        done_with.unlink()
        return nullcontext(entries)

    monkeypatch.setattr(os, "scandir", scandir)
    assert drained(data).kept == 1


def test_a_process_that_stays_drains_by_itself(data: Path, spool: Path, project: Path) -> None:
    told = threading.Event()
    spooled(spool, said("Hello", "1", project))
    with pieria.Workspace(data) as workspace:
        behind = DrainBehind(workspace, lambda done: told.set())
        behind.start()
        assert told.wait(60)
        behind.close()
        behind.close()
    assert turns(data, "app") == ["Hello"]


def test_a_session_that_rests_leaves_a_checkpoint(data: Path, spool: Path, project: Path) -> None:
    hooked(prompt(project, "Which tokens?"), spool)
    drained(data)
    with pieria.open("app", data=data) as bank:
        assert bank.hooks.last() is None
        for payload in (stop(project, "JWT."), bash(project, "make", "ok")):
            hooked(payload, spool)
        drained(data)
        last = bank.hooks.last()
        assert last is not None and (last.session, last.messages) == (SESSION, 2)
        drained(data)
        assert bank.hooks.last() == last


def test_a_desktop_notice_is_shown_where_the_bank_wants_one(
    data: Path, spool: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, notifier = tmp_path / "shown", tmp_path / "notify-send"
    notifier.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {shown}\n')
    notifier.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for is_wanted in (False, True):
        with pieria.open("app", data=data) as bank:
            bank.hooks.set(desktop_toast=is_wanted)
        assert not shown.exists()
        spooled(spool, said("asked", f"{is_wanted}", project), said("told", f"{is_wanted}", project, "reply"))
        drained(data)
    assert shown.read_text().splitlines() == ["--app-name", "Pieria", "--", "Pieria", "4 messages of app are saved."]


def test_an_agent_is_asked_to_save_where_the_bank_wants_that(
    data: Path, spool: Path, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def talked(prompts: int, **more: Any) -> list[str]:
        """Return what the hook prints for so many prompts and for two replies after them."""
        for number in range(prompts):
            hooked(prompt(project, f"n {number}"), spool)
        told = [capfd.readouterr().out]
        for _ in range(2):
            hooked(stop(project, "Done.", **more), spool)
            told.append(capfd.readouterr().out)
        return told

    nothing = ["", "", ""]
    assert talked(reminder_hook.EVERY + 1) == nothing
    with pieria.open("app", data=data) as bank:
        bank.hooks.set(silent_save=False)
        drained(data)
        assert talked(reminder_hook.EVERY - 1) == nothing
        assert talked(1, stop_hook_active=True) == nothing
        before, told, then = talked(0)
        assert (json.loads(told)["decision"], before, then) == ("block", "", "")
        assert f"{reminder_hook.EVERY} prompts came" in json.loads(told)["reason"]
        bank.hooks.set(silent_save=True)
    drained(data)
    assert talked(reminder_hook.EVERY) == nothing
