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
from tests.capture.making import SESSION, bash, codex, drained, hooked, prompt, ran, stop, turns
from tests.trust import trusted_project

import pieria
from pieria.capture import hook
from pieria.capture.drain import Drain, DrainBehind
from pieria.capture.spool import Spool, spool_of
from pieria.errors import StorageError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def spool(data: Path) -> Path:
    return data / "spool"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose project settings name its bank."""
    return a_project(tmp_path / "app", "app")


def a_project(folder: Path, bank: str, *more: str) -> Path:
    folder.mkdir()
    trusted_project(folder, "\n".join([f'bank = "{bank}"', *more, ""]))
    return folder


def spooled(spool: Path, *lines: Any) -> None:
    """Write lines to the spool like hooks, without the processes."""
    spool.mkdir(parents=True, exist_ok=True)
    with (spool / hook.LIVE).open("ab") as live:
        for line in lines:
            live.write(b"\n" + (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")


def said(text: str, own: str, folder: Path, what: str = "prompt", session: str = SESSION) -> dict[str, Any]:
    event = {"host": "claude-code", "at": "2026-05-01T10:00:00Z", "what": what, "session": session, "text": text}
    return {"own": own, "event": {**event, "folder": str(folder)}}


def empty(spool: Path) -> bool:
    return not any(path.suffix in (".jsonl", ".taken", ".at") for path in spool.iterdir())


# --- events and their banks


def test_what_was_said_becomes_turns_in_the_projects_bank(data: Path, spool: Path, project: Path) -> None:
    hooked(prompt(project, "Which tokens?", prompt_id="p1"), spool)
    hooked(stop(project, "JWT.", prompt_id="p1"), spool)
    assert drained(data).banks == {"app": 2}
    with pieria.open("app", data=data) as bank:
        found = bank.list(kinds="turn", order="oldest")
    assert [(one.text, one.author_type, one.session, one.source) for one in found] == [
        ("Which tokens?", "human", SESSION, "claude-code"),
        ("JWT.", "agent", SESSION, "claude-code"),
    ]
    assert empty(spool)


def test_an_environment_may_name_the_bank(data: Path, spool: Path, project: Path) -> None:
    hooked(prompt(project, "Hello"), spool, env={"PIERIA_BANK": "notes"})
    assert drained(data).banks == {"notes": 1}


def test_the_environment_of_the_drain_names_no_bank_for_others(
    data: Path, spool: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIERIA_BANK", "mine")
    monkeypatch.setenv("PIERIA_SESSION", "mine")
    hooked(prompt(project, "Hello"), spool)
    assert drained(data).banks == {"app": 1}
    with pieria.open("app", data=data) as bank:
        assert [one.session for one in bank.list(kinds="turn")] == [SESSION]


def test_a_worktree_shares_its_repositorys_bank(data: Path, spool: Path, tmp_path: Path) -> None:
    repository, tree = tmp_path / "app", tmp_path / "tree"
    (repository / ".git" / "worktrees" / "tree").mkdir(parents=True)
    kept = repository / ".git" / "worktrees" / "tree"
    (kept / "commondir").write_text("../..\n")
    (kept / "gitdir").write_text(f"{tree / '.git'}\n")
    tree.mkdir()
    tree.joinpath(".git").write_text(f"gitdir: {kept}\n")
    spooled(spool, said("one", "1", repository), said("two", "2", tree))
    [(bank, number)] = drained(data).banks.items()
    assert (bank.startswith("app-"), number) == (True, 2)


def test_a_project_with_banks_of_its_own_gets_what_happened_there(
    data: Path, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks do not know the project's data folder: they write to the user's data folder."""
    project = a_project(tmp_path / "own", "ours", 'data = "memory"')
    monkeypatch.setenv("PIERIA_DATA", str(data))
    spooled(spool, said("Hello", "1", project))
    monkeypatch.delenv("PIERIA_DATA")
    monkeypatch.setattr("pieria.settings.DATA", data)
    monkeypatch.setattr("pieria.settings.folders.DATA", data)
    monkeypatch.chdir(project)
    with pieria.Workspace() as workspace:
        assert spool_of(workspace).folder == spool
        assert Drain(workspace).drain().banks == {"ours": 1}
    assert turns(project / "memory", "ours") == ["Hello"]


def test_what_is_told_twice_is_kept_once(data: Path, spool: Path, project: Path) -> None:
    for _ in range(2):
        hooked(codex("UserPromptSubmit", project, prompt="Hello"), spool, "codex")
        hooked(codex("UserPromptSubmit", project, prompt="And hurry"), spool, "codex")
        drained(data)
    hooked(codex("UserPromptSubmit", project, prompt="Hello"), spool, "codex")
    hooked(codex("UserPromptSubmit", project, prompt="Hello"), spool, "codex")
    assert drained(data).repeated == 2
    assert turns(data, "app") == ["Hello", "And hurry"]


def test_what_was_purged_stays_away(data: Path, spool: Path, project: Path) -> None:
    spooled(spool, said("Forget this", "1", project))
    drained(data)
    with pieria.open("app", data=data) as bank:
        bank.purge(bank.list(kinds="turn")[0].id)
    spooled(spool, said("Forget this", "1", project), said("Keep this", "2", project))
    assert drained(data).refused == 0
    assert turns(data, "app") == ["Keep this"]


def test_where_capture_is_off_it_is_dropped(data: Path, spool: Path, project: Path, tmp_path: Path) -> None:
    off = a_project(tmp_path / "off", "off", "capture = false")
    spooled(spool, said("Not this", "1", off), said("This", "2", project))
    done = drained(data)
    assert (done.kept, done.dropped) == (1, 1)
    assert not (data / "off.db").exists()
    assert empty(spool)


# --- events that cannot be handed over


def test_what_cannot_be_read_is_set_aside_and_stops_nobody(data: Path, spool: Path, project: Path) -> None:
    spooled(
        spool, b'{"own": "1", "event": {"wh', b"\xff\xfe not ours", b"[1]", {"event": "x"}, {"bank": 7, "event": {}},
        {"own": "2", "event": {"what": "dance", "host": "h", "session": "s", "at": "2026-05-01"}},
        said("This", "3", project),
    )  # fmt: skip
    done = drained(data)
    assert (done.kept, done.refused) == (1, 6)
    told = [json.loads(line) for line in (spool / "refused.jsonl").read_text().splitlines()]
    assert [line["line"][:20] for line in told][:1] == ['{"own": "1", "event"']
    assert all(line["reason"] for line in told)
    assert (spool / "refused.jsonl").stat().st_mode & 0o777 == 0o600
    assert empty(Path(spool)) or sorted(path.name for path in spool.glob("*.jsonl")) == ["refused.jsonl"]


def test_what_is_set_aside_while_others_are_tried_again_is_not_lost(spool: Path) -> None:
    class TriedAgainMeanwhile(Spool):
        """A spool whose file of refused events another process removes just before the lock."""

        @contextmanager
        def _locked(self) -> Iterator[None]:
            (self.folder / "refused.jsonl").unlink(missing_ok=True)
            with super()._locked():
                yield

    TriedAgainMeanwhile(spool).refuse(b"{}", "no event")
    assert Spool(spool).standing().refused == 1


def test_what_cannot_be_set_aside_whole_is_not_set_aside_in_part(spool: Path) -> None:
    """A full disk writes part of a line and fails."""
    Spool(spool).refuse(b"{}", "no event")
    before = (spool / "refused.jsonl").read_bytes()
    sets = "import sys, resource; from pathlib import Path; from pieria.capture.spool import Spool; "
    sets += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 50}, {len(before) + 50})); "
    sets += "Spool(Path(sys.argv[1])).refuse(b'word ' * 100, 'no event')"
    environ = {**os.environ, "PYTHONPATH": str(Path(pieria.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-B", "-c", sets, str(spool)], env=environ, capture_output=True, check=False)
    assert b"File too large" in done.stderr
    assert (spool / "refused.jsonl").read_bytes() == before
    Spool(spool).refuse(b"{}", "no event")
    assert Spool(spool).again() == 2


@pytest.mark.parametrize("left", [b'{"reason": "x", "line": "{\\"ev', b"\0\0\0", b"[7]", b'{"line": 7}', b"\xff"])
def test_what_a_power_cut_spoiled_keeps_nothing_else_from_being_tried_again(spool: Path, left: bytes) -> None:
    aside = spool / "refused.jsonl"
    Spool(spool).refuse(b"heron", "no event")
    with aside.open("ab") as file:
        file.write(left)
    Spool(spool).refuse(b"wren", "no event")
    assert Spool(spool).again() == 2
    assert aside.read_bytes() == left + b"\n"
    assert aside.stat().st_mode & 0o777 == 0o600
    assert "1 lines in refused.jsonl cannot be read" in str(Spool(spool).standing().last_problem)
    assert [batch.lines for claim in Spool(spool).claims() for batch in claim.batches()] == [[b"heron", b"wren"]]
    assert Spool(spool).again() == 0
    assert aside.read_bytes() == left + b"\n"


@pytest.mark.parametrize("left", [b"", b"\0\0\0"])
def test_what_a_power_cut_left_empty_holds_no_drain_up(data: Path, spool: Path, project: Path, left: bytes) -> None:
    spooled(spool, said("one", "1", project))
    next(claims := Spool(spool).claims())
    claims.close()
    [taken] = spool.glob("*.taken")
    taken.with_suffix(".at").write_bytes(left)
    (spool / hook.ASKING).write_bytes(left)
    assert drained(data).kept == 1
    assert empty(spool)


def test_what_a_killed_drain_wrote_aside_does_not_lie_about_for_ever(data: Path, spool: Path) -> None:
    spool.mkdir(parents=True, exist_ok=True)
    old, fresh = spool / "1.new", spool / "2.new"
    for aside in (old, fresh):
        aside.write_text("what was said")
    os.utime(old, (1, 1))
    drained(data)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_a_project_that_is_wrong_keeps_no_other_waiting_and_can_be_tried_again(
    data: Path, spool: Path, project: Path, tmp_path: Path
) -> None:
    wrong = a_project(tmp_path / "wrong", "../x")
    spooled(spool, said("There", "1", wrong), said("Here", "2", project))
    done = drained(data)
    assert (done.kept, done.refused) == (1, 1)
    trusted_project(wrong, 'bank = "right"\n')
    with pieria.Workspace(data) as workspace:
        drain = Drain(workspace)
        assert drain.spool.again() == 1
        assert drain.drain().banks == {"right": 1}
        assert drain.spool.standing().refused == 0


def test_a_bank_that_cannot_be_opened_leaves_everything_where_it_is(data: Path, spool: Path, project: Path) -> None:
    spooled(spool, said("Hello", "1", project))
    (data / "app.db").mkdir()
    with pytest.raises(StorageError):
        drained(data)
    (data / "app.db").rmdir()
    assert drained(data).kept == 1
    assert turns(data, "app") == ["Hello"]


def test_a_bank_that_cannot_be_opened_keeps_no_other_waiting(
    data: Path, spool: Path, project: Path, tmp_path: Path
) -> None:
    other = a_project(tmp_path / "other", "damaged")
    data.mkdir()
    (data / "damaged.db").write_bytes(b"no database" * 1_000)
    spooled(spool, said("There", "1", other), *[said(f"n {number}", f"n{number}", project) for number in range(500)])
    for _ in range(2):
        with pytest.raises(StorageError):
            drained(data)
        assert len(turns(data, "app")) == 500
    (data / "damaged.db").unlink()
    assert drained(data).banks == {"damaged": 1}
    assert empty(spool)


def test_a_disk_that_is_full_loses_nothing(data: Path, spool: Path, project: Path) -> None:
    """The limit is on the size of a file, like a quota."""
    spooled(spool, *[said(f"n {number} " + "word " * 200, str(number), project) for number in range(300)])
    drains = "import sys, resource, pieria; from pieria.capture.drain import Drain; "
    drains += "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)); "
    drains += "Drain(pieria.Workspace(sys.argv[1])).drain()"
    environ = {**os.environ, "PYTHONPATH": str(Path(pieria.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-B", "-c", drains, str(data)], env=environ, capture_output=True, check=False
    )
    assert b"Error" in done.stderr
    drained(data)
    assert len(turns(data, "app")) == 300


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/etc/hostname", path)])
def test_what_is_no_file_of_ours_is_told_and_not_touched(make: Callable[[Path], None], data: Path, spool: Path) -> None:
    spool.mkdir(parents=True)
    make(spool / hook.LIVE)
    with pytest.raises(StorageError, match="is not a file"):
        drained(data)
    assert [path.name for path in spool.iterdir()] == [hook.LIVE]


def test_what_is_set_aside_does_not_grow_for_ever(data: Path, spool: Path) -> None:
    spooled(spool, b"not ours")
    with (spool / "refused.jsonl").open("wb") as aside:
        aside.truncate(hook.FULL + 1)
    assert drained(data).refused == 1
    assert (spool / "refused.jsonl").stat().st_size == hook.FULL + 1
    assert "a line is dropped" in (spool / hook.LOG).read_text()


# --- several drains, at once and in turn


def test_a_drain_goes_on_where_another_one_ended(data: Path, spool: Path, project: Path) -> None:
    """The first drain's time is up in the middle; later events wait in another file."""
    spooled(spool, *[said(f"n {number}", str(number), project) for number in range(900)])
    answers = iter([False, False, True])
    with pieria.Workspace(data) as workspace:
        first = Drain(workspace).drain(stopping=lambda: next(answers))
        assert (0 < first.kept < 900, first.left) == (True, True)
        spooled(spool, said("later", "x", project))
        rest = Drain(workspace).drain()
    assert (first.kept + rest.kept, rest.repeated) == (901, 0)
    assert empty(spool)


def test_time_that_is_up_leaves_the_rest(data: Path, spool: Path, project: Path) -> None:
    spooled(spool, *[said(f"n {number}", str(number), project) for number in range(900)])
    with pieria.Workspace(data) as workspace:
        done = Drain(workspace).drain(seconds=0)
        assert (done.kept, done.left, spool_of(workspace).is_waiting) == (0, True, True)


def test_a_file_that_another_drain_holds_is_left_to_it(data: Path, spool: Path, project: Path) -> None:
    spooled(spool, said("one", "1", project))
    holder = Spool(spool).claims()
    next(holder)
    spooled(spool, said("two", "2", project))
    assert drained(data).kept == 1
    assert turns(data, "app") == ["two"]
    holder.close()
    assert drained(data).kept == 1
    assert empty(spool)


def test_a_file_that_another_drain_is_through_with_takes_no_other_along(
    data: Path, spool: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spooled(spool, said("one", "1", project))
    done_with = spool / "0.taken"
    real = os.scandir

    def scandir(path: Any) -> Any:
        if str(path) != str(spool):
            return real(path)
        done_with.touch()
        entries = list(real(path))
        done_with.unlink()
        return nullcontext(entries)

    monkeypatch.setattr(os, "scandir", scandir)
    assert drained(data).kept == 1


def test_a_hook_that_comes_between_finds_the_new_file(data: Path, spool: Path, project: Path) -> None:
    """The hook opened the live file just before the drain took it."""
    spooled(spool, said("one", "1", project))
    before = os.open(spool / hook.LIVE, os.O_WRONLY | os.O_APPEND)
    holder = Spool(spool).claims()
    next(holder)
    assert not hook._is_at(str(spool / hook.LIVE), os.fstat(before))
    os.close(before)
    hooked(prompt(project, "two"), spool)
    holder.close()
    assert drained(data).kept == 2


def test_hooks_and_drains_at_once_lose_nothing(data: Path, spool: Path, project: Path) -> None:
    """Two agents send events while three drains take turns."""
    over = threading.Event()

    def speaks(session: str) -> None:
        for number in range(12):
            ran(prompt(project, f"{session} {number}", session), spool)

    def drains() -> None:
        with pieria.Workspace(data) as workspace:
            while not over.is_set():
                Drain(workspace).drain()
                over.wait(0.01)

    agents = [threading.Thread(target=speaks, args=(name,)) for name in ("a", "b")]
    drainers = [threading.Thread(target=drains) for _ in range(3)]
    for thread in (*agents, *drainers):
        thread.start()
    for thread in agents:
        thread.join()
    over.set()
    for thread in drainers:
        thread.join()
    drained(data)
    assert sorted(turns(data, "app")) == sorted(f"{name} {number}" for name in "ab" for number in range(12))
    assert empty(spool)


def test_a_process_that_stays_drains_by_itself(data: Path, spool: Path, project: Path) -> None:
    told = threading.Event()
    with pieria.Workspace(data) as workspace:
        behind = DrainBehind(workspace, lambda done: told.set())
        spooled(spool, said("Hello", "1", project))
        behind.start()
        assert told.wait(60)
        behind.close()
        behind.close()
    assert turns(data, "app") == ["Hello"]


# --- what hooks save and report


def test_a_session_that_rests_leaves_a_checkpoint(data: Path, spool: Path, project: Path) -> None:
    hooked(prompt(project, "Which tokens?"), spool)
    drained(data)
    with pieria.open("app", data=data) as bank:
        assert bank.hooks.last() is None
        hooked(stop(project, "JWT."), spool)
        hooked(bash(project, "make", "ok"), spool)
        drained(data)
        last = bank.hooks.last()
        assert last is not None
        assert (last.session, last.messages) == (SESSION, 2)
        before = last.at
        drained(data)
        after = bank.hooks.last()
        assert after is not None
        assert after.at == before


@pytest.fixture
def notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the desktop's notifier by one that writes to a file."""
    shown = tmp_path / "shown"
    tool = tmp_path / "bin" / "notify-send"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {shown}\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    return shown


def test_a_notice_is_shown_where_the_bank_wants_one(data: Path, spool: Path, project: Path, notices: Path) -> None:
    spooled(spool, said("one", "1", project), said("two", "2", project, "reply"))
    drained(data)
    assert not notices.exists()
    with pieria.open("app", data=data) as bank:
        bank.hooks.set(desktop_toast=True)
    spooled(spool, said("three", "3", project), said("four", "4", project, "reply"))
    drained(data)
    assert notices.read_text().splitlines() == ["--app-name", "Pieria", "--", "Pieria", "4 messages of app are saved."]


def test_an_agent_is_told_to_save_where_the_bank_wants_that(data: Path, spool: Path, project: Path) -> None:
    def talked(prompts: int, **more: Any) -> list[bytes]:
        for number in range(prompts):
            assert ran(prompt(project, f"n {number}"), spool).stdout == b""
        return [ran(stop(project, "Done.", **more), spool).stdout for _ in range(2)]

    assert talked(hook.EVERY + 1) == [b"", b""]
    with pieria.open("app", data=data) as bank:
        bank.hooks.set(silent_save=False)
    drained(data)
    assert talked(hook.EVERY - 1) == [b"", b""]
    assert talked(1, stop_hook_active=True) == [b"", b""]
    told, then = talked(0)
    assert json.loads(told)["decision"] == "block"
    assert f"{hook.EVERY} prompts came" in json.loads(told)["reason"]
    assert then == b""
    with pieria.open("app", data=data) as bank:
        bank.hooks.set(silent_save=True)
    drained(data)
    assert talked(hook.EVERY) == [b"", b""]
