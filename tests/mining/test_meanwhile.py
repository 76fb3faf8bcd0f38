"""Files and folders that come, go and are written to while they are mined: a program that is running owns them."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.mining import written

from pieria import Bank
from pieria.mining import mine
from pieria.mining.conversations.discovery import find
from pieria.mining.said import Source, Turn, unheard


def said(bank: Bank) -> list[str]:
    return sorted(turn.text for turn in bank.list(kinds="turn"))


def sources(path: Path) -> list[Source]:
    return [found for found in find(path, None, lambda *_: None) if isinstance(found, Source)]


def just_before(monkeypatch: pytest.MonkeyPatch, folder: Path, happens: Callable[[], None]) -> None:
    """Whatever way a folder is looked into, this has happened by then."""

    def after(look: Callable[..., Any]) -> Callable[..., Any]:
        def looked(path: Any = ".") -> Any:
            if str(path) == str(folder):
                happens()
            return look(path)

        return looked

    monkeypatch.setattr(os, "scandir", after(os.scandir))
    monkeypatch.setattr(os, "listdir", after(os.listdir))


def shut(folder: Path) -> Callable[[], None]:
    def refuse() -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    return refuse


def test_a_folder_that_opencode_takes_away_takes_no_other_session_along(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = written.opencode_storage(tmp_path.resolve() / "opencode")
    gone = root / "storage" / "session" / "another project"
    gone.mkdir()
    just_before(monkeypatch, gone, lambda: shutil.rmtree(gone, ignore_errors=True))
    report = mine(bank, root, conversations=True)
    assert report.well, report.refused
    assert said(bank) == ["It is written as CSV now.", "Write the export as CSV."]


def test_a_message_that_opencode_takes_back_while_its_session_is_read_leaves_the_others(tmp_path: Path) -> None:
    storage = written.opencode_storage(tmp_path / "opencode") / "storage"
    written.document(storage / "message" / "ses_1" / "msg_3.json", {"id": "msg_3", "role": "user"})
    written.document(storage / "part" / "msg_3" / "prt_6.json", {"id": "prt_6", "type": "text", "text": "Thanks."})
    session = next(one for one in sources(storage) if one.name.endswith("ses_1.json"))
    reading = session.read(unheard)
    first = next(reading)
    (storage / "message" / "ses_1" / "msg_2.json").unlink()
    shutil.rmtree(storage / "part" / "msg_2")
    assert [one.text for one in (first, *reading) if isinstance(one, Turn)] == ["Write the export as CSV.", "Thanks."]


def test_a_session_that_opencode_takes_away_while_it_looks_is_passed_over(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = written.opencode_storage(tmp_path.resolve() / "opencode")
    messages = root / "storage" / "message" / "ses_2"
    session = root / "storage" / "session" / "p" / "ses_2.json"
    real = Path.stat

    def stat(path: Path, **how: Any) -> os.stat_result:
        if path == session:
            session.unlink(missing_ok=True)
            shutil.rmtree(messages, ignore_errors=True)
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    report = mine(bank, root, conversations=True)
    assert report.well, report.refused
    assert report.sources["new"] == 1


def test_a_reply_of_opencode_that_was_half_written_is_had_when_it_is_whole(bank: Bank, tmp_path: Path) -> None:
    storage = written.opencode_storage(tmp_path / "opencode") / "storage"
    part = storage / "part" / "msg_2" / "prt_5.json"
    message = storage / "message" / "ses_1" / "msg_2.json"
    whole = part.read_text()
    part.write_text(whole[:20])
    for path in (message, message.parent, storage / "session" / "p" / "ses_1.json"):
        os.utime(path, (1_000, 1_000))
    assert [one.reason for one in mine(bank, storage, conversations=True).refused]
    part.write_text(whole)
    # OpenCode writes the message anew when all of it is said; the folder is as it was.
    os.utime(message, (2_000, 2_000))
    report = mine(bank, storage, conversations=True)
    assert report.well, report.refused
    assert said(bank) == ["It is written as CSV now.", "Write the export as CSV."]


def test_a_reply_of_opencode_that_grew_within_the_same_instant_is_noticed(bank: Bank, tmp_path: Path) -> None:
    storage = written.opencode_storage(tmp_path / "opencode") / "storage"
    part = storage / "part" / "msg_2" / "prt_5.json"
    whole = part.read_text()
    part.write_text(whole.replace("It is written as CSV now.", "It is"))
    # However long the first look takes, its instant is not over.
    later = time.time() + 3_600
    os.utime(storage / "session" / "p" / "ses_1.json", (later, later))
    mine(bank, storage, conversations=True)
    part.write_text(whole)
    assert mine(bank, storage, conversations=True).memories["changed"] == 1
    assert said(bank) == ["It is written as CSV now.", "Write the export as CSV."]


def test_a_reply_in_the_database_of_opencode_is_had_anew_when_it_is_whole(bank: Bank, tmp_path: Path) -> None:
    file = written.opencode_database(tmp_path / "opencode")
    change = "UPDATE part SET data = replace(data, ?, ?) WHERE id = 'prt_5'"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("ALTER TABLE message ADD COLUMN time_updated INTEGER")
        database.execute(change, ["It is written as CSV now.", "It is"])
    mine(bank, file, conversations=True)
    assert said(bank) == ["It is", "Write the export as CSV."]
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(change, ["It is", "It is written as CSV now."])
        database.execute("UPDATE message SET time_updated = 1772561000000 WHERE id = 'msg_2'")
    mine(bank, file, conversations=True)
    assert said(bank) == ["It is written as CSV now.", "Write the export as CSV."]


@pytest.mark.parametrize("shown", ["session/p", "message/ses_1", "part/msg_2"])
def test_a_folder_of_opencode_that_cannot_be_looked_into_is_told_and_nothing_taken_for_gone(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    root = written.opencode_storage(tmp_path.resolve() / "opencode")
    mine(bank, root, conversations=True)
    folder = root / "storage" / shown
    just_before(monkeypatch, folder, shut(folder))
    report = mine(bank, root, conversations=True, force=True)
    assert [one.reason for one in report.refused if "Permission denied" in one.reason]
    assert not report.sources["vanished"]
    assert {turn.reason for turn in bank.list(kinds="turn")} == {None}


def test_a_folder_in_which_nothing_can_be_looked_at_takes_no_conversation_along(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written.claude_code(tmp_path)
    theirs = tmp_path.resolve() / "theirs"
    theirs.mkdir()
    refuse, real = shut(theirs), Path.stat

    def stat(path: Path, **how: Any) -> os.stat_result:
        if path.parent == theirs:
            refuse()
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    just_before(monkeypatch, theirs, refuse)
    report = mine(bank, tmp_path, conversations=True)
    assert [one.reason for one in report.refused] == ["cannot be looked into (Permission denied)"]
    assert report.memories["new"] == 5


def test_what_was_read_in_a_folder_that_is_shut_now_is_not_taken_for_gone(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written.claude_code(tmp_path.resolve() / "theirs")
    mine(bank, tmp_path, conversations=True)
    refuse, real = shut(file.parent), Path.stat

    def stat(path: Path, **how: Any) -> os.stat_result:
        if file.parent in path.parents:
            refuse()
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    just_before(monkeypatch, file.parent, refuse)
    assert not mine(bank, tmp_path, conversations=True).sources["vanished"]


def test_a_channel_of_slack_that_cannot_be_looked_into_is_told_and_not_taken_for_gone(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = written.slack(tmp_path.resolve() / "export")
    mine(bank, export, conversations=True)
    just_before(monkeypatch, export / "billing", shut(export / "billing"))
    report = mine(bank, export, conversations=True)
    assert [one.reason for one in report.refused] == ["cannot be looked into (Permission denied)"]
    assert not report.sources["vanished"]


def test_a_day_of_slack_that_goes_while_it_is_looked_at_is_passed_over(tmp_path: Path) -> None:
    export = written.slack(tmp_path / "export")
    (export / "billing" / "2026-03-09.json").symlink_to(tmp_path / "gone")
    assert [Path(one.name).name for one in sources(export)] == ["2026-03-03.json"]
