"""Mining again: unchanged, changed, missing and returned files, and memories edited in between."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mining import written
from tests.mining.conftest import GUIDE, OLD, just_before, shut, talk, write

from pieria import Bank
from pieria.errors import BusyError, InputError, NotFoundError
from pieria.mining import mine, passages, watch


def texts(bank: Bank, **asked: Any) -> list[str]:
    return [memory.text for memory in bank.list(order="oldest", limit=1_000, **asked)]


def guide(bank: Bank) -> str:
    return "".join(texts(bank, files="guide.md"))


def test_project_comes_in_as_drawers_with_their_source(bank: Bank, project: Path) -> None:
    report = mine(bank, project)
    assert (report.sources, report.memories, guide(bank)) == ({"new": 2}, {"new": 3}, GUIDE)
    assert {memory.place for memory in bank.list(files="guide.md")} == {"birds/general"}
    [nest] = bank.list(files="src/nest.py")
    assert (nest.kind, nest.title, nest.place, nest.trust) == ("drawer", "src/nest.py", "birds/src", 0.5)
    assert nest.source == str((project / "src" / "nest.py").resolve())
    assert nest.as_dict()["at"] == "2023-11-14T22:13:20Z"


def test_unchanged_file_is_not_read_again(bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine(bank, project)
    before = bank.changes()
    opened: list[str] = []
    real = Path.open

    def noted(path: Path, *given: Any, **more: Any) -> Any:
        opened.append(str(path))
        return real(path, *given, **more)

    monkeypatch.setattr(Path, "open", noted)
    report = mine(bank, project)
    assert (report.sources, report.memories) == ({"unchanged": 2}, {"unchanged": 3})
    assert [path for path in opened if "birds" in path and ".git" not in path] == []
    assert bank.changes() == before
    os.utime(project / "guide.md", (OLD + 9, OLD + 9))
    assert mine(bank, project).memories == {"unchanged": 3}
    mark = bank.sources.known(f"project:{(project / 'guide.md').resolve()}")
    assert [one["changed"] for one in mark.values()] == [(OLD + 9) * 10**9]


def test_change_within_the_same_instant_is_noticed(bank: Bank, tmp_path: Path) -> None:
    file = write(tmp_path / "notes" / "a.md", "one")
    # A future time: the file never counts as settled, even if mining is slow.
    at = time.time_ns() + 3_600 * 10**9
    os.utime(file, ns=(at, at))
    mine(bank, tmp_path / "notes")
    file.write_text("two")
    os.utime(file, ns=(at, at))
    assert mine(bank, tmp_path / "notes").memories == {"new": 1, "superseded": 1}
    assert texts(bank) == ["two"]


def test_changed_file_ends_only_what_it_no_longer_says(bank: Bank, project: Path) -> None:
    mine(bank, project)
    first, storks = texts(bank, files="guide.md")
    before = {memory.id for memory in bank.list(files="guide.md")}
    changed = GUIDE.replace("Storks clatter.", "Storks are silent.")
    write(project / "guide.md", changed, OLD + 60)
    assert mine(bank, project).memories == {"unchanged": 2, "new": 1, "superseded": 1}
    assert guide(bank) == changed
    [gone] = [memory for memory in bank.list(files="guide.md", include="invalid") if memory.text == storks]
    assert gone.reason == "its source says something else now"
    assert first in texts(bank, files="guide.md")
    # As it once was, it brings the same memories back.
    write(project / "guide.md", GUIDE, OLD + 120)
    assert mine(bank, project).memories == {"back": 1, "superseded": 1, "unchanged": 2}
    back = {memory.id: (memory.valid_until, memory.reason) for memory in bank.list(files="guide.md")}
    assert back == dict.fromkeys(before, (None, None))


def test_vanished_or_ignored_file_ends_until_it_is_back(bank: Bank, project: Path) -> None:
    mine(bank, project)
    (project / "guide.md").rename(project.parent / "guide.md")
    report = mine(bank, project)
    assert (report.sources["vanished"], report.memories["vanished"]) == (1, 2)
    assert (guide(bank), list(bank.recall("clatter"))) == ("", [])
    assert len(list(bank.recall("clatter", valid_at="2024-01-01"))) == 1
    marked = bank.list(files="guide.md", include="invalid")
    assert {memory.reason for memory in marked} == {"its source file is gone"}
    write(project / ".gitignore", "src/\n")
    assert mine(bank, project).memories["vanished"] == 1
    [nest] = bank.list(files="src/nest.py", include="invalid")
    assert nest.reason == "its source is left out now"
    (project / ".gitignore").unlink()
    assert mine(bank, project).memories["back"] == 1
    (project.parent / "guide.md").rename(project / "guide.md")
    report = mine(bank, project)
    assert (report.sources, report.memories) == ({"back": 1, "unchanged": 1}, {"back": 2, "unchanged": 1})
    assert guide(bank) == GUIDE


def test_folder_that_cannot_be_read_is_not_gone(bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine(bank, project)
    folder = (project / "src").resolve()
    just_before(monkeypatch, folder, shut(folder))
    report = mine(bank, project)
    reason = "cannot be looked into (Permission denied)"
    assert [(one.source, one.reason) for one in report.refused] == [(str(folder), reason)]
    assert report.memories == {"unchanged": 2}
    assert texts(bank, files="src/nest.py")


def test_purged_drawer_comes_back_only_by_force(bank: Bank, project: Path) -> None:
    mine(bank, project)
    [nest] = bank.list(files="src/nest.py")
    bank.purge(nest.id)
    write(project / "src" / "nest.py", nest.text, OLD + 60)
    for _ in range(2):
        again = mine(bank, project).memories
        assert (again["new"], again["back"]) == (0, 0)
    assert mine(bank, project, force=True).memories == {"new": 1, "unchanged": 2}
    assert texts(bank, files="src/nest.py") == [nest.text]


def test_dry_run_foretells_the_mine_and_writes_nothing(bank: Bank, project: Path) -> None:
    mine(bank, project)
    write(project / "guide.md", GUIDE.replace("clatter", "are silent"), OLD + 60)
    write(project / "new.md", "new\n")
    (project / "src" / "nest.py").unlink()
    before = bank.changes()
    foretold = mine(bank, project, dry_run=True)
    assert bank.changes() == before
    assert {(entry["source"].rpartition("/")[2], entry["what"]) for entry in foretold.plan} == {
        ("guide.md", "changed"), ("new.md", "new"), ("nest.py", "vanished"),
    }  # fmt: skip
    done = mine(bank, project)
    assert (foretold.sources, foretold.memories) == (done.sources, done.memories)


def test_passages_return_a_file_whole_in_its_order(bank: Bank, project: Path) -> None:
    mine(bank, project)
    changed = "# Before\n\n" + "Egrets wade.\n" * 150 + "\n" + GUIDE
    write(project / "guide.md", changed, OLD + 60)
    mine(bank, project)
    whole = passages(bank, project / "guide.md")
    assert "".join(memory.text for memory in whole) == changed
    assert [memory.row for memory in whole] != sorted(memory.row for memory in whole)
    bank.purge(whole[0].id)
    assert passages(bank, project / "guide.md") == whole[1:]
    with pytest.raises(NotFoundError):
        passages(bank, project / "other.md")


def test_file_name_that_is_no_text_is_refused(bank: Bank, project: Path) -> None:
    with open(os.fsencode(project) + b"/odd\xff.md", "w") as odd:
        odd.write("words")
    write(project / "/".join(["d" * 100] * 5) / "deep.md", "words")
    report = mine(bank, project)
    assert report.memories == {"new": 3, "refused": 2}
    assert [one.reason.partition(", got")[0] for one in report.refused] == [
        "source: expected at most 500 characters", "source: expected valid Unicode",
    ]  # fmt: skip
    with pytest.raises(InputError):
        mine(bank, os.fsdecode(os.fsencode(project) + b"/odd\xff.md"))


def test_wrong_arguments_are_refused(bank: Bank, project: Path) -> None:
    wrong: list[dict[str, Any]] = [
        {"path": "nowhere"}, {"path": ""}, {"path": 7}, {"format": "telegram"}, {"wing": "a", "place": "a/b"},
        {"wing": "a/b"}, {"place": "a"}, {"largest": 0}, {"conversations": "yes"}, {"force": 1}, {"dry_run": None},
    ]  # fmt: skip
    for given in wrong:
        with pytest.raises(InputError) as refused:
            mine(bank, **{"path": project, **given})
        assert refused.value.parameter == next(iter(given))
    assert bank.sources.known() == {}


def test_log_that_grows_gives_what_is_new_and_turns_outlive_it(bank: Bank, tmp_path: Path) -> None:
    logs = tmp_path / "projects"
    file = written.claude_code(logs)
    told: dict[str, Any] = {"session": written.SESSION, "author": "user", "author_type": "human"}
    bank.remember("Thanks.", id="captured", kind="turn", **told)
    assert talk(bank, logs).memories == {"told": 1, "new": 4}
    assert [turn.id for turn in bank.list(kinds="turn") if turn.text == "Thanks."] == ["captured"]
    more = written.claude_code_line(12, "assistant", [{"type": "text", "text": "You are welcome."}])
    with file.open("a") as log:
        log.write(json.dumps(more) + "\n" + '{"type": "user", "mess')
    report = talk(bank, file)
    assert report.memories == {"told": 1, "new": 1, "unchanged": 4}
    assert report.left["a last line that is still being written"] == 1
    kept = file.read_text()
    file.unlink()
    report = talk(bank, logs)
    assert (report.sources["vanished"], report.memories["vanished"]) == (1, 5)
    assert [turn.reason for turn in bank.list(kinds="turn", source=str(file))] == ["its source file is gone"] * 5
    file.write_text(kept)
    assert talk(bank, logs).memories == {"told": 1, "back": 5}
    assert {turn.reason for turn in bank.list(kinds="turn")} == {None}


def test_edited_message_is_the_next_version(bank: Bank, tmp_path: Path) -> None:
    folder = written.slack(tmp_path / "export")
    talk(bank, folder)
    day = folder / "billing" / "2026-03-03.json"
    day.write_text(day.read_text().replace("Reading it.", "Read it."))
    assert talk(bank, folder).memories == {"changed": 1, "unchanged": 3}
    [turn] = [one for one in bank.list(kinds="turn") if one.text == "Read it."]
    assert [one.text for one in bank.history(turn.id)] == ["Reading it.", "Read it."]
    # A correction by hand is not taken for a change of the source.
    corrected = bank.update(turn.id, text="Reading it now.", place="team/archive")
    day.write_text(day.read_text() + "\n")
    assert talk(bank, folder).memories == {"unchanged": 4}
    assert bank.get(turn.id) == corrected


def test_file_may_be_in_a_project_and_a_conversation(bank: Bank, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write(notes / "call.md", written.MARKED)
    for _ in range(2):
        mine(bank, notes)
        talk(bank, notes)
    assert bank.count(by="kind") == {"turn": 4, "drawer": 1}
    write(notes / "call.md", written.MARKED.replace("JWT", "mTLS"), OLD + 60)
    assert mine(bank, notes).memories == {"new": 1, "superseded": 1}
    assert talk(bank, notes).memories == {"unchanged": 3, "new": 1, "superseded": 1}
    assert [text for text in texts(bank, kinds="turn") if "JWT" in text] == []


def test_copied_conversation_is_foretold_once(bank: Bank, tmp_path: Path) -> None:
    first = written.claude_code(tmp_path / "projects")
    first.with_name("resumed.jsonl").write_text(first.read_text())
    foretold = talk(bank, tmp_path / "projects", dry_run=True)
    assert foretold.memories == talk(bank, tmp_path / "projects").memories == {"new": 5, "unchanged": 5}


def waiting(*steps: Callable[[], object]) -> Callable[[], bool]:
    """Return a function that takes a step each time it is called, and then says that the watch is over."""
    left: Iterator[Callable[[], object]] = iter(steps)

    def wait() -> bool:
        step = next(left, None)
        if step is not None:
            step()
        return step is None

    return wait


def test_watch_reports_changes_and_nothing_else(bank: Bank, project: Path) -> None:
    new, away = project / "new.md", project.with_name("away")
    nothing, begin = lambda: None, lambda: write(new, "new\n")
    wait = waiting(nothing, begin, nothing, new.unlink, lambda: project.rename(away), lambda: away.rename(project))
    told = [report.memories for report in watch(bank, project, wait=wait)]
    assert told == [{"new": 3}, {"unchanged": 3, "new": 1}, {"unchanged": 3, "vanished": 1}]


def test_watch_reports_a_refused_record_once(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    (file.parent / "odd.jsonl").write_text("odd\n")
    log = file.read_text() + "{}\n"
    wait = waiting(lambda: write(file, log), lambda: write(file, log))
    told = list(watch(bank, tmp_path / "projects", wait=wait, conversations=True))
    assert [[one.record for one in report.refused] for report in told] == [[1], [1, 15]]


def test_watch_outlasts_a_busy_bank(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, busy = bank.sources.known, iter([True, False])

    def known(prefix: str = "") -> dict[str, dict[str, Any]]:
        if next(busy):
            raise BusyError("writing", 5.0)
        return real(prefix)

    monkeypatch.setattr(bank.sources, "known", known)
    told = [report.memories for report in watch(bank, project, wait=waiting(lambda: None))]
    assert told == [{"new": 3}]
    assert "could not be mined just now" in caplog.text
