"""A bank behind HTTP is a `Bank`: what is not a plain call, from opening to closing."""

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.doors.http.conftest import Served
from tests.remote.conftest import Opened

import pieria
from pieria import Bank, Change
from pieria.doors.cli.root import cli
from pieria.errors import ClosedError, ForkedError, InputError, TransferError, UnavailableError
from pieria.record.draft import NewMemory
from pieria.sessions import Session, SessionState


def test_a_bank_behind_http_is_a_bank(behind: Opened, at: tuple[Served, str]) -> None:
    bank = behind("notes", author="maya", channel="team", session="monday")
    assert isinstance(bank, Bank) and (bank.name, bank.author, str(bank.zone)) == ("notes", "maya", "UTC")
    memory = bank.remember("We chose JWT.", tags=["auth"], meta={"a": [1, {"b": None}]})
    assert (memory.author, memory.channel, memory.session) == ("maya", "team", "monday")
    assert bank.recall("JWT")[0].memory == memory == bank.get(memory.id)
    assert bank.graph.everything.latest(1, ["semantic"])[0][0].id == memory.id
    assert [change.who for change in bank.changes()] == ["http"]
    for name in ("core", "mind"):
        with pytest.raises(UnavailableError):
            getattr(bank, name)
    with pytest.raises(UnavailableError):
        bank.jobs.worker()
    assert at[1] in repr(bank)


def test_what_cannot_travel_is_refused_by_name(behind: Opened) -> None:
    bank = behind()
    with pytest.raises(UnavailableError) as refused:
        bank.recall("x", policy=lambda **features: 0.5)
    assert refused.value.parameter == "policy"
    with pytest.raises(UnavailableError) as refused:
        bank.session("Bake", llm=lambda messages: "")
    assert refused.value.parameter == "llm"


def test_files_travel_both_ways(behind: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.remote.bank.CHUNK", 100)
    bank, other = behind(), behind("other")
    bank.remember_many([f"memory {number}" for number in range(20)])
    report = bank.export(tmp_path)
    assert report.path.parent == tmp_path and report.path.stat().st_size == report.bytes
    steps: list[tuple[int, int]] = []
    imported = other.import_(report.path, progress=lambda done, whole: steps.append((done, whole)))
    assert imported.path == report.path and other.count() == 20 and steps[-1] == (2 * report.bytes,) * 2
    with report.path.open("rb") as file:
        assert not other.import_(file).added
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(InputError):
        bank.export(tmp_path / "own.txt")
    with pytest.raises(TransferError) as refused:
        other.import_(tmp_path / "own.txt")
    assert refused.value.path == str(tmp_path / "own.txt")
    backup = bank.backup(tmp_path / "notes.backup")
    assert pieria.restore(backup, tmp_path / "data", name="back").bytes == backup.stat().st_size


def test_progress_is_reported_and_may_stop_the_verb(behind: Opened) -> None:
    bank = behind()
    steps: list[tuple[int, int]] = []
    bank.remember_many([f"memory {number}" for number in range(2_000)], lambda *step: steps.append(step))
    assert steps and steps == sorted(steps)

    def stop(done: int, whole: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bank.remember_many([f"further {number}" for number in range(2_000)], stop)
    assert bank.count() >= 2_000, "and the bank can still be used"


def test_a_long_verb_keeps_the_connection_alive(behind: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer comes line by line, and an error in it is still the error."""
    monkeypatch.setattr("pieria.doors.http.verbs.PATIENCE", 0.0)
    bank = behind()
    assert bank.remember("x", id="m").id == "m"
    with pytest.raises(pieria.errors.NotFoundError):
        bank.history("nothing")


def test_changes_are_followed_as_they_happen(behind: Opened) -> None:
    bank, other = behind(), behind()
    assert not bank.wait(0, 0.05)
    bank.remember("first")
    assert bank.wait(0, 5) and not bank.wait(1, 0.05)
    found: list[Change] = []
    follower = bank.follow()

    def follow() -> None:
        found.extend([next(follower), next(follower)])

    thread = threading.Thread(target=follow)
    thread.start()
    other.remember("second")
    other.remember("third")
    thread.join(30)
    assert [change.seq for change in found] == [2, 3]
    assert [change.seq for change in bank.follow(0, seconds=0)] == [1, 2, 3]
    with pytest.raises(InputError):
        bank.follow(99)


def test_a_session_is_recorded_behind_http(behind: Opened) -> None:
    bank = behind()
    with bank.session("Plan the trip") as session:
        session.append("User wants Tokyo in March", "Asked about dates")
        assert isinstance(session, Session) and session.state == "collecting"
        assert session.goal == "Plan the trip" and len(session.steps) == 1 and session.fault is None
    assert session.state == "idle" and session.node_ids
    with pytest.raises(ZeroDivisionError), bank.session("Fail") as failed:
        failed.append("a", "b")
        raise ZeroDivisionError
    status = bank.sessions.status(failed.id)
    assert status is not None and status.state is SessionState.COLLECTING, "the steps stay, uncommitted"
    words: list[Any] = []
    done = threading.Event()

    def note(word: Any) -> None:
        words.append(word)
        if len(words) == 3:
            done.set()

    third = bank.session("Bake")
    third.append_async("dough", "kneaded", note)
    third.append_async("dough", 5, note)  # type: ignore[arg-type]
    third.close_async(note)
    assert done.wait(30) and (words[0], words[2]) == ("appended", "closed") and isinstance(words[1], InputError)


def test_an_intake_remembers_what_it_has_seen(behind: Opened) -> None:
    bank = behind()
    intake, rehearsed = bank.sources.intake(), bank.sources.intake(dry_run=True)
    items = [NewMemory("dough", id="a", source="recipe")]
    assert [*rehearsed.take(items).outcomes, *rehearsed.take(items).outcomes] == ["new", "unchanged"]
    assert intake.take(items).outcomes == ["new"] and intake.unknown(["a", "b"]) == {"b"}


def test_a_closed_bank_is_closed(behind: Opened) -> None:
    bank = behind()
    bank.close()
    bank.close()
    for use in (bank.count, lambda: bank.zone, lambda: bank.wait(0, 1)):
        with pytest.raises(ClosedError):
            use()
    assert behind().count() == 0, "and stays open on the server"


def test_a_workspace_lists_and_closes_banks_behind_http(at: tuple[Served, str]) -> None:
    _, url = at
    with pieria.Workspace(url) as workspace:
        bank = workspace.open("notes")
        assert workspace.banks() == ["notes"] and str(workspace.place) == url
        for use in (lambda: workspace.remove_bank("notes"), lambda: pieria.copy("notes", data=url, to=workspace.data)):
            with pytest.raises(UnavailableError):
                use()
    with pytest.raises(ClosedError):
        bank.count()


def test_the_address_may_come_from_the_environment(at: tuple[Served, str], monkeypatch: pytest.MonkeyPatch) -> None:
    served, url = at
    token = served.token("write")["Authorization"].removeprefix("Bearer ")
    monkeypatch.setenv("PIERIA_DATA", f"{url}/")
    monkeypatch.setenv("PIERIA_TOKEN", token)
    with pieria.open("notes") as bank, pieria.open(f"{url}/other", token=token) as other:
        assert (bank.name, other.name) == ("notes", "other")
        assert bank.count() == other.count() == 0


def test_asyncio_mirrors_a_bank_behind_http(at: tuple[Served, str]) -> None:
    _, url = at

    async def main() -> tuple[bool, int]:
        async with pieria.aio.open("notes", data=url) as bank:
            memory = await bank.remember("We chose JWT.")
            async with bank.session("Bake") as session:
                await session.append("dough", "kneaded")
            await bank.facts.add("Maya", "works_on", "billing")
            return (await bank.recall("JWT"))[0].memory == memory, await bank.facts.stats() is not None

    assert asyncio.run(main()) == (True, True)


@pytest.mark.slow
def test_a_forked_child_opens_its_own(behind: Opened) -> None:
    bank = behind()
    child = os.fork()
    if child == 0:
        try:
            bank.count()
        except ForkedError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_threads_share_a_bank_behind_http(behind: Opened) -> None:
    bank = behind()
    threads = [threading.Thread(target=bank.remember, args=(f"memory {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert bank.count() == 8


def test_wrong_arguments_are_refused_like_embedded_ones(behind: Opened) -> None:
    bank = behind()
    memory = bank.remember("Maya likes tea.", meta={"n": 1})
    with pytest.raises(TypeError, match="cannot be changed"):
        memory.meta["n"] = 2  # type: ignore[index]
    wrong: dict[str, Any] = {"colour": "red"}
    with pytest.raises(TypeError, match=r"recall\(\) got an unexpected keyword argument 'colour'"):
        bank.recall("tea", **wrong)
    with pytest.raises(InputError, match=r"\.id"):
        bank.facts.add("Maya", "likes", "tea", memory=memory)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="via"):
        bank.sources.intake(via="accepted")


def test_commands_reach_a_bank_behind_http(at: tuple[Served, str]) -> None:
    def run(*words: str) -> Any:
        done = CliRunner().invoke(cli, ["--data", at[1], "--json", *words], catch_exceptions=False)
        assert (done.exit_code, done.stderr) == (0, "")
        return json.loads(done.stdout)

    memory = run("remember", "Maya prefers an aisle seat.")
    found = run("recall", "where does Maya sit?")
    assert [hit["memory"]["id"] for hit in found["hits"]] == [memory["id"]]
    with pieria.open(data=at[1]) as bank:
        assert [one.text for one in bank.list()] == ["Maya prefers an aisle seat."]
        assert {change.who for change in bank.changes()} == {"http"}
