"""Long tasks: visible only to their starter, and reported once they succeed or fail."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock

import pytest

from pieria.doors.web.assets import STATIC, Assets
from pieria.doors.web.html import Templates
from pieria.doors.web.tasks import AT_ONCE, FILES, KEPT, Made, Task, Tasks
from pieria.errors import ConflictError, InputError, NotFoundError

PATIENCE = 10.0


def begin(tasks: Tasks, work: Callable[[Any], Any], owner: str = "ada", bank: str = "notes", **more: Any) -> Task:
    return tasks.begin(owner, bank, "It", "/", work, **more)


def test_a_task_reports_its_progress_and_result_to_its_owner() -> None:
    tasks, halfway, go_on = Tasks(), threading.Event(), threading.Event()

    def work(progress: Any) -> dict[str, int]:
        progress(1, 2)
        halfway.set()
        assert go_on.wait(PATIENCE)
        return {"kept": 3}

    task = begin(tasks, work)
    assert halfway.wait(PATIENCE) and (task.done, task.whole, task.is_over) == (1, 2, False)
    go_on.set()
    assert task.wait(PATIENCE) and (task.result, task.error) == ({"kept": 3}, None)
    assert tasks.found(task.id, "ada", "notes") is task
    for owner, bank in (("ben", "notes"), ("ada", "work")):
        with pytest.raises(NotFoundError):
            tasks.found(task.id, owner, bank)


def test_a_page_of_a_task_reloads_itself_without_scripts(tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))
    task = Task("it", "ada", "notes", "It", "/")
    head = Templates(Assets(tmp_path / "static")).part("task.html", "head", {"task": task})
    assert '<meta http-equiv="refresh" content="1">' in head and "<noscript>" not in head


def test_failures_are_reported_and_unforeseen_ones_without_words() -> None:
    errors = (InputError("at", "a day", "soon"), RuntimeError("words of a memory"))
    first, second = (begin(Tasks(), Mock(side_effect=error)) for error in errors)
    assert first.wait(PATIENCE) and second.wait(PATIENCE)
    assert isinstance(first.error, InputError)
    assert second.error is not None and "words of a memory" not in str(second.error)


def test_quick_tasks_are_forgotten_and_slow_ones_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, go_on = Tasks(), threading.Event()
    monkeypatch.setattr("pieria.doors.web.tasks.SOON", PATIENCE)
    quick = begin(tasks, lambda _: "done")
    assert tasks.over_soon(quick)
    assert (quick.result, tasks.of("ada", "notes")) == ("done", [])
    monkeypatch.setattr("pieria.doors.web.tasks.SOON", 0)
    slow = begin(tasks, lambda _: go_on.wait(PATIENCE), about="this")
    assert not tasks.over_soon(slow) and begin(tasks, lambda _: None, about="this") is slow
    go_on.set()
    assert slow.wait(PATIENCE) and tasks.over_soon(slow)
    assert tasks.of("ada", "notes") == [slow]


def test_running_and_remembered_tasks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, go_on = Tasks(), threading.Event()

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        for _ in range(AT_ONCE):
            with pytest.raises(RuntimeError):
                begin(tasks, lambda _: None)
    assert tasks.of("ada", "notes") == []
    begun = [begin(tasks, lambda _: go_on.wait(PATIENCE)) for _ in range(AT_ONCE)]
    with pytest.raises(ConflictError):
        begin(tasks, lambda _: None)
    go_on.set()
    tasks.close(PATIENCE)
    assert all(each.is_over for each in begun)
    for _ in range(KEPT):
        assert begin(tasks, lambda _: None).wait(PATIENCE)
    with pytest.raises(NotFoundError):
        tasks.found(begun[0].id, "ada", "notes")


def test_only_the_latest_files_are_kept(tmp_path: Path) -> None:
    begun = threading.Semaphore(0)

    def made(_: object) -> Made:
        assert begun.acquire(timeout=PATIENCE)
        folder = TemporaryDirectory(dir=tmp_path)
        Path(folder.name, "file").write_text("words")
        return Made(Path(folder.name, "file"), "text/plain", folder)

    tasks = Tasks()
    for _ in range(FILES + 2):
        task = begin(tasks, made)
        begun.release()
        assert task.wait(PATIENCE)
    assert len(tasks.of("ada", "NOTES")) == len([*tmp_path.iterdir()]) == FILES + 1
    tasks.close(PATIENCE)
    assert [*tmp_path.iterdir()] == []
