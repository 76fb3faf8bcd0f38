"""Files and folders that appear, disappear and change during mining, because a running program owns them."""

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.mining import written
from tests.mining.conftest import just_before, shut, talk

from pieria import Bank
from pieria.mining import mine
from pieria.mining.conversations.discovery import find
from pieria.mining.said import Source, Turn, unheard

SAID = ["It is written as CSV now.", "Write the export as CSV."]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder of OpenCode."""
    return written.opencode_storage(tmp_path.resolve() / "opencode")


def said(bank: Bank) -> list[str]:
    return sorted(turn.text for turn in bank.list(kinds="turn"))


def sources(path: Path) -> list[Source]:
    return [found for found in find(path, None, lambda *_: None) if isinstance(found, Source)]


def test_vanishing_folder_of_opencode_loses_no_session(bank: Bank, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = root / "storage" / "session" / "another project"
    gone.mkdir()
    just_before(monkeypatch, gone, lambda: shutil.rmtree(gone, ignore_errors=True))
    talk(bank, root)
    assert said(bank) == SAID


def test_vanishing_message_of_opencode_leaves_the_others(root: Path) -> None:
    storage = root / "storage"
    written.document(storage / "message" / "ses_1" / "msg_3.json", {"id": "msg_3", "role": "user"})
    written.document(storage / "part" / "msg_3" / "prt_6.json", {"id": "prt_6", "type": "text", "text": "Thanks."})
    session = next(one for one in sources(storage) if one.name.endswith("ses_1.json"))
    reading = session.read(unheard)
    first = next(reading)
    (storage / "message" / "ses_1" / "msg_2.json").unlink()
    shutil.rmtree(storage / "part" / "msg_2")
    assert [one.text for one in (first, *reading) if isinstance(one, Turn)] == ["Write the export as CSV.", "Thanks."]


def test_vanishing_session_of_opencode_is_passed_over(bank: Bank, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = root / "storage" / "message" / "ses_2"
    session = root / "storage" / "session" / "p" / "ses_2.json"
    real = Path.stat

    def stat(path: Path, **how: Any) -> os.stat_result:
        if path == session:
            session.unlink(missing_ok=True)
            shutil.rmtree(messages, ignore_errors=True)
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    report = talk(bank, root)
    assert report.sources["new"] == 1


def test_half_written_reply_of_opencode_is_read_again(bank: Bank, root: Path) -> None:
    storage = root / "storage"
    part = storage / "part" / "msg_2" / "prt_5.json"
    message = storage / "message" / "ses_1" / "msg_2.json"
    whole = part.read_text()
    part.write_text(whole[:20])
    for path in (message, message.parent, storage / "session" / "p" / "ses_1.json"):
        os.utime(path, (1_000, 1_000))
    assert mine(bank, storage, conversations=True).refused
    part.write_text(whole.replace(SAID[0], "It is"))
    # OpenCode rewrites a message once it is complete; the folder does not change.
    os.utime(message, (2_000, 2_000))
    # The session's time is in the future, so the read does not settle it.
    later = time.time() + 3_600
    os.utime(storage / "session" / "p" / "ses_1.json", (later, later))
    talk(bank, storage)
    part.write_text(whole)
    assert mine(bank, storage, conversations=True).memories["changed"] == 1
    assert said(bank) == SAID


def test_reply_in_the_database_of_opencode_is_read_again(bank: Bank, tmp_path: Path) -> None:
    file = written.opencode_database(tmp_path / "opencode")
    change = "UPDATE part SET data = replace(data, ?, ?) WHERE id = 'prt_5'"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("ALTER TABLE message ADD COLUMN time_updated INTEGER")
        database.execute(change, [SAID[0], "It is"])
    talk(bank, file)
    assert said(bank) == ["It is", SAID[1]]
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(change, ["It is", SAID[0]])
        database.execute("UPDATE message SET time_updated = 1772561000000 WHERE id = 'msg_2'")
    talk(bank, file)
    assert said(bank) == SAID


@pytest.mark.parametrize("shown", ["session/p", "message/ses_1", "part/msg_2"])
def test_unreadable_folder_of_opencode_is_not_gone(
    bank: Bank, root: Path, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    mine(bank, root, conversations=True)
    folder = root / "storage" / shown
    just_before(monkeypatch, folder, shut(folder))
    report = mine(bank, root, conversations=True, force=True)
    assert [one.reason for one in report.refused if "Permission denied" in one.reason]
    assert not report.sources["vanished"]
    assert {turn.reason for turn in bank.list(kinds="turn")} == {None}


def test_unreadable_folder_hides_no_other_talk(bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the folder can be looked at, not even with `stat`. What was read there before is not gone."""
    export = written.slack(tmp_path.resolve() / "export")
    theirs = written.claude_code(tmp_path.resolve() / "theirs").parent
    assert mine(bank, tmp_path, conversations=True).memories == {"new": 9}
    written.codex(tmp_path / "mine")
    refuse, real = shut(theirs), Path.stat

    def stat(path: Path, **how: Any) -> os.stat_result:
        if theirs in path.parents:
            refuse()
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    just_before(monkeypatch, theirs, refuse)
    just_before(monkeypatch, export / "billing", shut(export / "billing"))
    report = mine(bank, tmp_path, conversations=True)
    assert [one.reason for one in report.refused] == ["cannot be looked into (Permission denied)"] * 2
    assert not report.sources["vanished"]
    assert report.memories["new"] == 2


def test_vanishing_day_of_slack_is_passed_over(tmp_path: Path) -> None:
    export = written.slack(tmp_path / "export")
    (export / "billing" / "2026-03-09.json").symlink_to(tmp_path / "gone")
    assert [Path(one.name).name for one in sources(export)] == ["2026-03-03.json"]
