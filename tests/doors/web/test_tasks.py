"""Long tasks: visible only to their starter, and reported once they succeed or fail."""

import shutil
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from pieria.doors.web import live as following
from pieria.doors.web.assets import STATIC, Assets
from pieria.doors.web.html import Templates
from pieria.doors.web.tasks import AT_ONCE, FILES, KEPT, Made, Task, Tasks
from pieria.errors import ConflictError, InputError, NotFoundError

PATIENCE = 10.0


def test_a_task_tells_how_far_it_is_and_what_came_of_it() -> None:
    tasks, halfway, go_on = Tasks(), threading.Event(), threading.Event()

    def work(progress):  # type: ignore[no-untyped-def]
        progress(1, 2)
        halfway.set()
        assert go_on.wait(PATIENCE)
        return {"kept": 3}

    task = tasks.begin("anybody", "notes", "Counting", "/", work)
    assert halfway.wait(PATIENCE)
    assert (task.done, task.whole, task.is_over) == (1, 2, False)
    go_on.set()
    assert task.wait(PATIENCE)
    assert (task.result, task.error) == ({"kept": 3}, None)
    assert tasks.found(task.id, "anybody", "notes") is task
    for owner, bank in (("token x", "notes"), ("anybody", "work")):
        with pytest.raises(NotFoundError):
            tasks.found(task.id, owner, bank)


def test_a_page_of_work_is_loaded_anew_where_no_script_follows_it(tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))
    task = Task("it", "anybody", "notes", "It", "/")
    head = Templates(Assets(tmp_path / "static")).part("task.html", "head", {"task": task})
    assert '<meta http-equiv="refresh" content="1">' in head and "<noscript>" not in head


def test_a_failure_is_told_and_not_raised() -> None:
    tasks = Tasks()

    def refused(_: object) -> None:
        raise InputError("at", "a day", "soon")

    def broken(_: object) -> None:
        raise RuntimeError("words of a memory")

    first, second = (tasks.begin("anybody", "notes", "It", "/", work) for work in (refused, broken))
    assert first.wait(PATIENCE) and second.wait(PATIENCE)
    assert isinstance(first.error, InputError)
    assert second.error is not None and "words of a memory" not in str(second.error)


def test_what_is_over_at_once_is_shown_by_whoever_began_it_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = Tasks()
    monkeypatch.setattr("pieria.doors.web.tasks.SOON", PATIENCE)
    task = tasks.begin("anybody", "notes", "It", "/", lambda _: "done")
    assert tasks.over_soon(task)
    assert (task.result, tasks.of("anybody", "notes")) == ("done", [])


def test_what_was_left_keeps_its_page_also_where_it_is_begun_again_and_over_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks, go_on = Tasks(), threading.Event()
    monkeypatch.setattr("pieria.doors.web.tasks.SOON", 0)

    def begin() -> Task:
        return tasks.begin("anybody", "notes", "It", "/", lambda _: go_on.wait(PATIENCE), about="this")

    task = begin()
    assert not tasks.over_soon(task) and begin() is task
    go_on.set()
    assert task.wait(PATIENCE) and tasks.over_soon(task)
    assert tasks.of("anybody", "notes") == [task]


def test_only_so_many_are_under_way_and_only_so_many_are_remembered() -> None:
    tasks, go_on = Tasks(), threading.Event()
    begun = [tasks.begin("anybody", "notes", "It", "/", lambda _: go_on.wait(PATIENCE)) for _ in range(AT_ONCE)]
    with pytest.raises(ConflictError):
        tasks.begin("anybody", "notes", "It", "/", lambda _: None)
    go_on.set()
    tasks.close(PATIENCE)
    assert all(each.is_over for each in begun)
    later = None
    for _ in range(KEPT):
        later = tasks.begin("anybody", "notes", "It", "/", lambda _: None)
        assert later.wait(PATIENCE)
    with pytest.raises(NotFoundError):
        tasks.found(begun[0].id, "anybody", "notes")


def test_what_the_system_gives_no_thread_for_is_not_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    tasks = Tasks()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(AT_ONCE):
            with pytest.raises(RuntimeError):
                tasks.begin("anybody", "notes", "It", "/", lambda _: None)
    assert tasks.of("anybody", "notes") == []
    assert tasks.begin("anybody", "notes", "It", "/", lambda _: None).wait(PATIENCE)
    tasks.close(PATIENCE)


def test_only_so_many_files_are_kept(tmp_path: Path) -> None:
    begun = threading.Semaphore(0)

    def made(_: object) -> Made:
        assert begun.acquire(timeout=PATIENCE)
        folder = TemporaryDirectory(dir=tmp_path)
        Path(folder.name, "file").write_text("words")
        return Made(Path(folder.name, "file"), "text/plain", folder)

    tasks = Tasks()
    for _ in range(FILES + 2):
        task = tasks.begin("anybody", "notes", "It", "/", made)
        begun.release()
        assert task.wait(PATIENCE)
    assert len(tasks.of("anybody", "NOTES")) == len([*tmp_path.iterdir()]) == FILES + 1
    tasks.close(PATIENCE)
    assert [*tmp_path.iterdir()] == []


def test_of_what_is_about_the_same_thing_one_is_under_way_and_whoever_began_it_is_led_back() -> None:
    tasks, go_on = Tasks(), threading.Event()

    def begun(owner: str, bank: str = "notes", about: str | None = "session s") -> Task:
        return tasks.begin(owner, bank, "It", "/", lambda _: go_on.wait(PATIENCE), about=about)

    first = begun("ada")
    assert begun("ada") is first and tasks.under_way("notes", "session s") is first
    with pytest.raises(ConflictError, match="task on the session s is running"):
        begun("ben")
    assert begun("ben", bank="work") is not first and begun("ada", about=None) is not first
    go_on.set()
    tasks.close(PATIENCE)
    assert tasks.under_way("notes", "session s") is None and begun("ben") is not first


def test_the_steps_of_a_task_are_events_until_it_is_over() -> None:
    tasks = Tasks()
    task = tasks.begin("anybody", "notes", "It", "/", lambda progress: progress(1, 1))
    assert task.wait(PATIENCE)

    async def heard() -> list[bytes]:
        return [event async for event in following.steps(task)]

    assert anyio.run(heard) == [b"event: over\ndata: .\n\n"]
