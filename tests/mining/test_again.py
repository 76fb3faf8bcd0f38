"""Mining again: unchanged, changed, missing and returned files, and memories edited in between."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ask, ask
from tests.mining import written

from pieria import Bank
from pieria.errors import BusyError, InputError, NotFoundError
from pieria.mining import mine, passages, watch

__all__ = ["ask"]

GUIDE = "# Guide\n\n" + "Herons stand still.\n" * 80 + "\n## Storks\n\n" + "Storks clatter.\n" * 80
OLD = 1_700_000_000
"""A time long past, so that the file counts as settled."""


def write(path: Path, text: str, at: int = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "birds"
    write(folder / "guide.md", GUIDE)
    write(folder / "src" / "nest.py", "def nest():\n    return 'reeds'\n")
    return folder


def texts(bank: Bank, **asked: object) -> list[str]:
    return [memory.text for memory in bank.list(order="oldest", limit=1_000, **asked)]  # type: ignore[arg-type]


def test_a_project_comes_in_as_drawers_that_say_where_they_are_from(bank: Bank, project: Path) -> None:
    report = mine(bank, project)
    assert (report.sources, report.memories) == ({"new": 2}, {"new": 3})
    guide = bank.list(files="guide.md", order="oldest")
    assert "".join(memory.text for memory in guide) == GUIDE
    nest = bank.list(files="src/nest.py")[0]
    assert (nest.kind, nest.title, nest.place, nest.trust) == ("drawer", "src/nest.py", "birds/src", 0.5)
    assert nest.source == str((project / "src" / "nest.py").resolve())
    assert nest.as_dict()["at"] == "2023-11-14T22:13:20Z"
    assert guide[0].place == "birds/general"


def test_what_has_not_changed_is_not_read_again(bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_file_that_was_only_touched_is_as_it_was(bank: Bank, project: Path) -> None:
    mine(bank, project)
    os.utime(project / "guide.md", (OLD + 9, OLD + 9))
    assert mine(bank, project).memories == {"unchanged": 3}
    mark = bank.sources.known(f"project:{(project / 'guide.md').resolve()}")
    assert [one["changed"] for one in mark.values()] == [(OLD + 9) * 10**9]


def test_a_file_that_was_changed_within_the_same_instant_is_noticed(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "notes" / "a.md"
    file.parent.mkdir()
    file.write_text("one")
    # A future time: the file never counts as settled, even if mining is slow.
    at = time.time_ns() + 3_600 * 10**9
    os.utime(file, ns=(at, at))
    mine(bank, tmp_path / "notes")
    file.write_text("two")
    os.utime(file, ns=(at, at))
    assert mine(bank, tmp_path / "notes").memories == {"new": 1, "superseded": 1}
    assert texts(bank) == ["two"]


def test_of_a_changed_file_only_what_it_says_no_more_ends(bank: Bank, project: Path) -> None:
    mine(bank, project)
    first, storks = texts(bank, files="guide.md")
    changed = GUIDE.replace("Storks clatter.", "Storks are silent.")
    write(project / "guide.md", changed, OLD + 60)
    report = mine(bank, project)
    assert report.memories == {"unchanged": 2, "new": 1, "superseded": 1}
    assert "".join(texts(bank, files="guide.md")) == changed
    ended = bank.list(files="guide.md", include="invalid")
    assert storks in {memory.text for memory in ended}
    gone = next(memory for memory in ended if memory.text == storks)
    assert gone.reason == "its source says something else now"
    assert first in texts(bank, files="guide.md")


def test_a_file_that_is_as_it_once_was_brings_the_same_memories_back(bank: Bank, project: Path) -> None:
    mine(bank, project)
    ids = {memory.id for memory in bank.list(files="guide.md")}
    write(project / "guide.md", "# Nothing\n", OLD + 60)
    mine(bank, project)
    write(project / "guide.md", GUIDE, OLD + 120)
    assert mine(bank, project).memories == {"back": 2, "superseded": 1, "unchanged": 1}
    assert {memory.id for memory in bank.list(files="guide.md")} == ids
    assert all(memory.valid_until is None and memory.reason is None for memory in bank.list(files="guide.md"))


def test_what_a_vanished_file_said_holds_no_longer_and_is_back_with_it(bank: Bank, project: Path) -> None:
    mine(bank, project)
    (project / "guide.md").rename(project.parent / "guide.md")
    report = mine(bank, project)
    assert (report.sources["vanished"], report.memories["vanished"]) == (1, 2)
    assert texts(bank, files="guide.md") == []
    assert list(bank.recall("clatter")) == []
    assert len(list(bank.recall("clatter", valid_at="2024-01-01"))) == 1
    marked = bank.list(files="guide.md", include="invalid")
    assert {memory.reason for memory in marked} == {"its source file is gone"}
    assert mine(bank, project).memories == {"unchanged": 1}
    (project.parent / "guide.md").rename(project / "guide.md")
    report = mine(bank, project)
    assert (report.sources, report.memories) == ({"back": 1, "unchanged": 1}, {"back": 2, "unchanged": 1})
    assert "".join(texts(bank, files="guide.md")) == GUIDE


def test_what_git_is_told_to_ignore_from_now_on_holds_no_longer(bank: Bank, project: Path) -> None:
    mine(bank, project)
    write(project / ".gitignore", "src/\n")
    assert mine(bank, project).memories["vanished"] == 1
    [nest] = bank.list(files="src/nest.py", include="invalid")
    assert nest.reason == "its source is left out now"
    (project / ".gitignore").unlink()
    assert mine(bank, project).memories["back"] == 1


def test_a_folder_that_cannot_be_looked_into_is_not_gone(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine(bank, project)
    real = os.scandir

    def locked(path: Any) -> Any:
        if str(path).endswith("/src"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", locked)
    report = mine(bank, project)
    [refused] = report.refused
    assert (refused.source, refused.reason) == (
        str((project / "src").resolve()), "cannot be looked into (Permission denied)",
    )  # fmt: skip
    assert report.memories == {"unchanged": 2}
    assert texts(bank, files="src/nest.py")


def test_what_was_said_stays_when_its_log_is_gone(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    mine(bank, tmp_path / "projects", conversations=True)
    file.unlink()
    report = mine(bank, tmp_path / "projects", conversations=True)
    assert (report.sources["vanished"], report.memories["vanished"]) == (1, 5)
    found = bank.list(kinds="turn")
    assert len(found) == 5
    assert {turn.reason for turn in found} == {"its source file is gone"}
    written.claude_code(tmp_path / "projects")
    assert mine(bank, tmp_path / "projects", conversations=True).memories == {"back": 5}
    assert {turn.reason for turn in bank.list(kinds="turn")} == {None}


def test_a_log_that_grew_gives_what_is_new_in_it(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    mine(bank, file, conversations=True)
    more = written.claude_code_line(12, "assistant", [{"type": "text", "text": "You are welcome."}])
    with file.open("a") as log:
        log.write(json.dumps(more) + "\n" + '{"type": "user", "mess')
    report = mine(bank, file, conversations=True)
    assert report.well, report.refused
    assert report.memories == {"new": 1, "unchanged": 5}
    assert report.left["a last line that is still being written"] == 1


def test_an_edited_message_is_the_next_version_and_the_one_before_is_kept(bank: Bank, tmp_path: Path) -> None:
    folder = written.slack(tmp_path / "export")
    mine(bank, folder, conversations=True)
    day = folder / "billing" / "2026-03-03.json"
    day.write_text(day.read_text().replace("Reading it.", "Read it."))
    assert mine(bank, folder, conversations=True).memories == {"changed": 1, "unchanged": 3}
    [turn] = [one for one in bank.list(kinds="turn") if one.text == "Read it."]
    assert turn.version == 2
    assert [one.text for one in bank.history(turn.id)] == ["Reading it.", "Read it."]


def test_a_line_of_a_transcript_that_was_put_right_takes_the_place_of_the_wrong_one(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "call.txt"
    file.write_text(written.MARKED)
    mine(bank, file, conversations=True)
    file.write_text(written.MARKED.replace("Since May.", "Since June."))
    assert mine(bank, file, conversations=True).memories == {"unchanged": 3, "new": 1, "superseded": 1}
    assert "Since May." not in texts(bank)


def test_what_was_purged_is_not_brought_back_unless_forced(bank: Bank, project: Path) -> None:
    mine(bank, project)
    [nest] = bank.list(files="src/nest.py")
    bank.purge(nest.id)
    write(project / "src" / "nest.py", nest.text, OLD + 60)
    assert mine(bank, project).memories["new"] == 0
    assert mine(bank, project).memories["back"] == 0
    report = mine(bank, project, force=True)
    assert report.memories == {"new": 1, "unchanged": 2}
    assert texts(bank, files="src/nest.py") == [nest.text]


def test_what_was_purged_of_a_conversation_stays_away_when_it_is_read_again(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    mine(bank, file, conversations=True)
    bank.purge(bank.list(kinds="turn", order="oldest")[0].id)
    file.write_text(file.read_text() + "\n")
    assert mine(bank, file, conversations=True).memories == {"purged": 1, "unchanged": 4}


def test_a_file_may_be_part_of_a_project_and_a_conversation(bank: Bank, tmp_path: Path) -> None:
    write(tmp_path / "notes" / "call.md", written.MARKED)
    for _ in range(2):
        mine(bank, tmp_path / "notes")
        mine(bank, tmp_path / "notes", conversations=True)
    assert bank.count(by="kind") == {"turn": 4, "drawer": 1}
    write(tmp_path / "notes" / "call.md", written.MARKED.replace("JWT", "mTLS"), OLD + 60)
    assert mine(bank, tmp_path / "notes").memories == {"new": 1, "superseded": 1}
    assert mine(bank, tmp_path / "notes", conversations=True).memories == {"unchanged": 3, "new": 1, "superseded": 1}


def test_what_somebody_removed_stays_away(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    mine(bank, file, conversations=True)
    removed = bank.list(kinds="turn", order="oldest")[0]
    bank.remove(removed.id, reason="nobody's business")
    file.write_text(file.read_text() + "\n")
    assert mine(bank, file, conversations=True).memories == {"removed": 1, "unchanged": 4}
    assert mine(bank, file, conversations=True, force=True).memories == {"back": 1, "unchanged": 4}


def test_what_a_palace_took_out_with_its_file_is_back_with_it(
    bank: Bank, project: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIERIA_PATHS", str(project.parent))
    mine(bank, project)
    (project / "guide.md").rename(project.parent / "guide.md")
    asked = ("--bank", "talk", "--data", str(bank.data))
    given = json.dumps({"dry_run": False, "project_dir": str(project)})
    assert ask("call", "mempalace_sync", given, *asked).json["removed"] == 2
    assert texts(bank, files="guide.md") == []
    mine(bank, project)
    (project.parent / "guide.md").rename(project / "guide.md")
    assert mine(bank, project).memories == {"back": 2, "unchanged": 1}
    assert "".join(texts(bank, files="guide.md")) == GUIDE


def test_a_correction_by_hand_is_not_taken_for_a_change_of_the_source(bank: Bank, tmp_path: Path) -> None:
    folder = written.slack(tmp_path / "export")
    mine(bank, folder, conversations=True)
    turn = next(one for one in bank.list(kinds="turn") if one.text == "Reading it.")
    bank.update(turn.id, text="Reading it now.")
    bank.update(turn.id, place="team/archive")
    day = folder / "billing" / "2026-03-03.json"
    day.write_text(day.read_text() + "\n")
    assert mine(bank, folder, conversations=True).memories == {"unchanged": 4}
    kept = bank.get(turn.id)
    assert kept is not None
    assert (kept.text, kept.place) == ("Reading it now.", "team/archive")


def test_what_was_captured_while_it_was_said_is_not_taken_in_once_more(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    captured = bank.remember(
        "Thanks.", id="captured", kind="turn", session=written.SESSION, author="user", author_type="human"
    )
    assert mine(bank, file, conversations=True).memories == {"told": 1, "new": 4}
    assert [turn.id for turn in bank.list(kinds="turn") if turn.text == "Thanks."] == [captured.id]
    file.write_text(file.read_text() + "\n")
    assert mine(bank, file, conversations=True).memories == {"told": 1, "unchanged": 4}


def test_a_dry_run_tells_exactly_what_the_mine_then_does_and_writes_nothing(bank: Bank, project: Path) -> None:
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


def test_what_two_sources_tell_is_foretold_once(bank: Bank, tmp_path: Path) -> None:
    first = written.claude_code(tmp_path / "projects")
    copied = first.with_name("resumed.jsonl")
    copied.write_text(first.read_text())
    foretold = mine(bank, tmp_path / "projects", conversations=True, dry_run=True)
    assert foretold.memories == mine(bank, tmp_path / "projects", conversations=True).memories
    assert foretold.memories == {"new": 5, "unchanged": 5}


def test_watching_tells_of_what_changes_and_of_nothing_else(bank: Bank, project: Path) -> None:
    steps: Iterator[Callable[[], object]] = iter(
        [
            lambda: None,
            lambda: write(project / "new.md", "new\n"),
            lambda: None,
            (project / "new.md").unlink,
            lambda: project.rename(project.with_name("away")),
            lambda: project.with_name("away").rename(project),
        ]
    )

    def wait() -> bool:
        step = next(steps, None)
        if step is not None:
            step()
        return step is None

    told = [report.memories for report in watch(bank, project, wait=wait)]
    assert told == [{"new": 3}, {"unchanged": 3, "new": 1}, {"unchanged": 3, "vanished": 1}]


def test_watching_tells_of_what_is_refused_once(bank: Bank, tmp_path: Path) -> None:
    file = written.claude_code(tmp_path / "projects")
    (file.parent / "odd.jsonl").write_text("odd\n")
    log = file.read_text()
    steps = iter([log + "{}\n", log + "{}\n", None])

    def wait() -> bool:
        step = next(steps)
        if step is not None:
            write(file, step)
        return step is None

    told = list(watch(bank, tmp_path / "projects", wait=wait, conversations=True))
    assert [[one.record for one in report.refused] for report in told] == [[1], [1, 15]]


def test_watching_outlasts_a_bank_that_is_busy(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, waits = bank.sources.known, iter([False, True])
    busy = iter([True, False])

    def known(prefix: str = "") -> dict[str, dict[str, Any]]:
        if next(busy):
            raise BusyError("writing", 5.0)
        return real(prefix)

    monkeypatch.setattr(bank.sources, "known", known)
    assert [report.memories for report in watch(bank, project, wait=lambda: next(waits))] == [{"new": 3}]
    assert "could not be mined just now" in caplog.text


def test_a_file_can_be_had_whole_in_its_order_whenever_its_passages_came_in(bank: Bank, project: Path) -> None:
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


def test_a_name_that_is_no_text_is_refused_and_keeps_no_other_away(bank: Bank, project: Path) -> None:
    with open(os.fsencode(project) + b"/odd\xff.md", "w") as odd:
        odd.write("words")
    deep = project / "/".join(["d" * 100] * 5)
    write(deep / "deep.md", "words")
    report = mine(bank, project)
    assert report.memories == {"new": 3, "refused": 2}
    assert [one.reason.partition(", got")[0] for one in report.refused] == [
        "source: expected at most 500 characters", "source: expected valid Unicode",
    ]  # fmt: skip
    with pytest.raises(InputError):
        mine(bank, os.fsdecode(os.fsencode(project) + b"/odd\xff.md"))


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"path": "nowhere"}, "path"),
        ({"path": ""}, "path"),
        ({"path": 7}, "path"),
        ({"format": "telegram"}, "format"),
        ({"wing": "a", "place": "a/b"}, "wing"),
        ({"wing": "a/b"}, "wing"),
        ({"place": "a"}, "place"),
        ({"largest": 0}, "largest"),
        ({"conversations": "yes"}, "conversations"),
        ({"force": 1}, "force"),
        ({"dry_run": None}, "dry_run"),
    ],
)
def test_what_cannot_be_mined_is_refused(bank: Bank, project: Path, given: dict[str, object], parameter: str) -> None:
    with pytest.raises(InputError) as refused:
        mine(bank, **{"path": project, **given})  # type: ignore[arg-type]
    assert refused.value.parameter == parameter
    assert bank.sources.known() == {}
